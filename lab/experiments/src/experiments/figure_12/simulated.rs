//! Both incremental automata on the same calls: how much memory moves in flight keep from use.
//!
//! Every thread makes the calls of its script. In each turn a thread drawn at random runs one
//! section: the next one of its free if it is in one, else the first of its next call. Which object
//! of a size-class a free takes is drawn at random. Both automata get the same scripts and the same
//! random numbers. The simulation ends when a thread has made all its calls.
//!
//! ```text
//! papers'   per class Σ (π − u)·β over its source and emptying pages      allocations use none of it
//! ours      β for a class with a move in flight: the target
//! ```
//! Time is counted in turns, so nothing depends on a clock.

use anyhow::{Result, ensure};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefit_compact::automaton::incremental::steps_per_move;
use surefit_compact::{Bound, Geometry, PageOrder};
use surefit_models::papers::automaton::Counting;
use surefit_models::{Simulated, ours, papers};

use super::increments::THREADS;
use crate::shared::threads::load::{Call, Load};

/// What moves in flight keep from use, in bytes, over all turns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Transient {
    /// The mean of all turns.
    pub(super) mean: f64,
    /// The most after a turn.
    pub(super) most: u64,
}

/// The papers' automaton with κ = 1, in the order of their program.
///
/// # Errors
/// A state that breaks a rule of the automaton.
pub(super) fn papers_automaton(increment: Option<u32>, load: &Load) -> Result<Transient> {
    let rules = |blocks, steps| papers::Rules {
        counting: Counting::Original,
        most: 1,
        order: papers::Order::Original,
        blocks,
        steps,
        calls: THREADS as u16,
        live: u16::MAX,
        slip: papers::Slip::None,
    };
    simulate::<papers::Class>(increment, load, rules)
}

/// Our automaton with κ = 1.
///
/// # Errors
/// As [`papers_automaton`].
pub(super) fn our_automaton(increment: Option<u32>, load: &Load) -> Result<Transient> {
    let rules = |blocks, steps| ours::Rules {
        bound: Bound::Pages(1),
        order: PageOrder::Newest,
        blocks,
        steps,
        pins: 0,
        calls: THREADS as u16,
        compaction: 0,
        live: u16::MAX,
        parks: false,
        lends: 0,
        lingers: false,
        slip: ours::Slip::None,
    };
    simulate::<ours::Class>(increment, load, rules)
}

fn simulate<C: Simulated>(
    increment: Option<u32>,
    load: &Load,
    rules: impl Fn(u16, u16) -> C::Rules,
) -> Result<Transient> {
    let geometry = Geometry::DEFAULT;
    let classes = geometry.classes().map(|class| {
        let layout = geometry.layout(class);
        let increment = increment.and_then(|bytes| std::num::NonZeroUsize::new(bytes as usize));
        let steps = steps_per_move(layout.block_bytes as usize, increment);
        Ok(Pages {
            rules: rules(layout.blocks, u16::try_from(steps)?),
            class: C::default(),
            block_bytes: u64::from(layout.block_bytes),
            kept: 0,
        })
    });
    let classes: Result<Vec<_>> = classes.collect();
    let mut world = World {
        classes: classes?,
        threads: (0..THREADS)
            .map(|number| Thread::new(load, number))
            .collect(),
        random: ChaCha8Rng::seed_from_u64(0),
    };
    let (mut turns, mut sum, mut kept, mut most) = (0_u64, 0_u64, 0_u64, 0);
    while let Some(class) = world.turn(load.calls) {
        if let Some(class) = class {
            let pages = &mut world.classes[class];
            let fault = pages.class.fault(&pages.rules);
            ensure!(fault.is_none(), "{}", fault.unwrap_or_default());
            kept -= pages.kept;
            let found = pages.class.measured(&pages.rules);
            pages.kept = u64::from(found.transient) * pages.block_bytes;
            kept += pages.kept;
        }
        turns += 1;
        sum += kept;
        most = kept.max(most);
    }
    Ok(Transient {
        mean: sum as f64 / turns.max(1) as f64,
        most,
    })
}

/// A size-class.
struct Pages<C: Simulated> {
    rules: C::Rules,
    class: C,
    block_bytes: u64,
    /// Its transient fragmentation, in bytes.
    kept: u64,
}

/// What a thread does and has.
struct Thread {
    script: Vec<Call>,
    calls: u64,
    /// The size-class of the object in each slot.
    slots: Vec<Option<usize>>,
    /// The class in which it frees an object, if it is in a free.
    frees: Option<usize>,
}

impl Thread {
    fn new(load: &Load, number: usize) -> Self {
        Self {
            script: load.script(number),
            calls: 0,
            slots: vec![None; load.slots as usize],
            frees: None,
        }
    }

    /// The next call of the script.
    fn next(&mut self) -> Call {
        let call = self.script[self.calls as usize % self.script.len()];
        self.calls += 1;
        call
    }
}

struct World<C: Simulated> {
    classes: Vec<Pages<C>>,
    threads: Vec<Thread>,
    random: ChaCha8Rng,
}

impl<C: Simulated> World<C> {
    /// One section of a thread drawn at random: the class in which it ran, if there is one. `None`
    /// if the thread has made all its calls.
    fn turn(&mut self, calls: u64) -> Option<Option<usize>> {
        let number = self.random.random_range(0..self.threads.len());
        let thread = &mut self.threads[number];
        if let Some(class) = thread.frees {
            self.proceed(number, class);
            return Some(Some(class));
        }
        if thread.calls == calls {
            return None;
        }
        let call = thread.next();
        let slot = call.slot as usize;
        let Some(class) = thread.slots[slot].take() else {
            let class = Geometry::DEFAULT.class_for_bytes(call.bytes as usize);
            let class = class.map(|class| class.index());
            thread.slots[slot] = class;
            if let Some(class) = class {
                let Pages { class, rules, .. } = &mut self.classes[class];
                class.allocate(rules);
            }
            return Some(class);
        };
        self.free(number, class);
        Some(Some(class))
    }

    /// The first section of a free.
    fn free(&mut self, thread: usize, at: usize) {
        let Pages { class, rules, .. } = &mut self.classes[at];
        let before = class.measured(rules).calls;
        let nth = self.random.random_range(0..class.live());
        let random = &mut self.random;
        class.release(rules, nth, &mut |choices| random.random_range(0..choices));
        if class.measured(rules).calls > before {
            self.threads[thread].frees = Some(at);
        }
    }

    /// The next section of a free in progress. The frees of a class are alike, so a thread may run
    /// the section of any of them.
    fn proceed(&mut self, thread: usize, at: usize) {
        let Pages { class, rules, .. } = &mut self.classes[at];
        let before = class.measured(rules).calls;
        let call = self.random.random_range(0..before);
        class.proceed(rules, call);
        if class.measured(rules).calls < before {
            self.threads[thread].frees = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{our_automaton, papers_automaton};
    use crate::shared::threads::load::{Load, Sizes};

    #[test]
    fn only_moves_in_steps_keep_memory_and_the_papers_keep_more() {
        let load = Load {
            slots: 60,
            calls: 400,
            sizes: Sizes::FIGURE_12,
            foreign_percent: 0,
        };
        let both = |increment| {
            let papers = papers_automaton(increment, &load).expect("no fault");
            let ours = our_automaton(increment, &load).expect("no fault");
            [papers, ours]
        };
        assert!(
            both(None)
                .iter()
                .all(|found| found.most == 0 && found.mean == 0.0)
        );
        let [papers, ours] = both(Some(256));
        assert!(
            papers.mean > ours.mean && ours.mean > 0.0,
            "{papers:?} {ours:?}"
        );
        assert!(papers.most > ours.most, "{papers:?} {ours:?}");
        assert_eq!(both(Some(256)), [papers, ours]);
    }
}
