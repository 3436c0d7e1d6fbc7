//! The access pass: as the timing pass, with eight accesses of seeded live objects after each
//! event.
//!
//! An access looks an object up in the live table, reads its first word and writes it back. The
//! same objects are chosen for every allocator, and by the empty replay, so that what is left is
//! the price of reaching an object through its pointer or its handle.
//!
//! In that pass accesses also slow the allocator down, because they take its own tables out of the
//! caches. So the price of an access alone is measured apart: at the event where most is live, many
//! accesses follow one another.
//!
//! On a long trace most of the time is spent here. A first look may sample: it makes accesses in
//! windows of consecutive events only, evenly spread over the trace, so that within a window the
//! caches are used as in the whole pass. Only these windows are timed: the time of the events
//! between them would scatter more than what the accesses of a few windows take.

use super::replay::{Hooks, Stop, Stopped, Table, drain, replay};
use super::timing::FirstWord;
use crate::steps::{Action, LEAST_ALIGN, Step, Steps};
use crate::subject::{Chosen, PER_TURN, Pass, Subject};

use std::alloc::Layout;

use surefit_os::clock;

/// Accesses after each event: one turn.
pub const PER_EVENT: u64 = PER_TURN;

/// Consecutive events that have accesses, or have none.
const WINDOW: usize = 4096;

/// Accesses at the peak, in turns of [`PER_EVENT`].
pub const AT_PEAK: u64 = 1 << 20;

/// One replay with accesses.
#[derive(Clone, Copy, Debug)]
pub struct Access<'a> {
    /// The trace.
    pub steps: &'a Steps,
    /// The events that have accesses.
    pub sample: Sample,
}

/// What a replay with accesses took, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Took {
    /// The events that have accesses, and these.
    pub sample: u64,
    /// [`AT_PEAK`] accesses at the peak, one after the other.
    pub at_peak: u64,
}

/// Which events of a trace have accesses: those of every n-th window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    every: usize,
}

impl Sample {
    /// All events.
    pub const ALL: Self = Self { every: 1 };

    /// Windows of a trace of `events` events such that about `most` accesses are made; all of them
    /// if there are no more.
    #[must_use]
    pub fn of_at_most(most: u64, events: usize) -> Self {
        let every = (PER_EVENT * events as u64).div_ceil(most.max(1)).max(1);
        Self {
            every: usize::try_from(every).unwrap_or(usize::MAX),
        }
    }

    /// How many allocations and reallocations are among the events that have accesses.
    #[must_use]
    pub fn pairs(self, steps: &[Step]) -> u64 {
        let windows = steps.chunks(WINDOW).step_by(self.every).flatten();
        windows.filter(|step| step.action != Action::Free).count() as u64
    }

    #[inline]
    fn has(self, event: usize) -> bool {
        (event / WINDOW) % self.every == 0
    }
}

impl Pass for Access<'_> {
    type Output = Result<Took, Stopped>;

    fn run<S: Subject>(self, mut subject: S) -> Self::Output {
        let mut accesses = Accesses::new(self.steps, self.sample);
        let mut table = Table::new(self.steps.slots());
        replay(&mut subject, &mut table, self.steps, &mut accesses)?;
        accesses.enter_window(false);
        drain(&mut subject, table, self.steps);
        Ok(accesses.took)
    }
}

/// The slots of the live objects, to choose from.
struct Accesses {
    live: Vec<u32>,
    /// For each slot, where it is in `live`.
    place: Vec<u32>,
    /// For each slot, its object's size.
    size: Vec<u32>,
    random: u64,
    sample: Sample,
    /// The event with accesses of their own.
    peak: usize,
    /// When this window began, if its events have accesses; what is timed apart moves it on.
    since: Option<u64>,
    took: Took,
}

impl Accesses {
    fn new(steps: &Steps, sample: Sample) -> Self {
        let slots = steps.slots();
        Self {
            live: Vec::with_capacity(slots),
            place: vec![u32::MAX; slots],
            size: vec![u32::MAX; slots],
            random: 0x9E37_79B9_7F4A_7C15,
            sample,
            peak: steps.peak_event,
            since: None,
            took: Took::default(),
        }
    }

    /// The next window begins; `is_on` says whether its events have accesses.
    #[cold]
    fn enter_window(&mut self, is_on: bool) {
        if self.since.is_some() == is_on {
            return;
        }
        let now = clock::thread_cpu_ns();
        if let Some(since) = self.since.take() {
            self.took.sample += now - since;
        } else {
            self.since = Some(now);
        }
    }

    /// The accesses at the peak, which are timed apart.
    #[cold]
    fn at_peak<S: Subject>(&mut self, subject: &mut S, table: &mut Table<S::Object>) {
        let before = clock::thread_cpu_ns();
        self.turns(AT_PEAK / PER_TURN, subject, table);
        self.took.at_peak = clock::thread_cpu_ns() - before;
        self.since = self.since.map(|since| since + self.took.at_peak);
    }

    /// Accesses objects, `turns` times [`PER_TURN`].
    #[inline(always)]
    fn turns<S: Subject>(&mut self, turns: u64, subject: &mut S, table: &mut Table<S::Object>) {
        let mut live = Live {
            slots: &self.live,
            size: &self.size,
            random: self.random,
            table,
        };
        // SAFETY: the objects are this subject's and have these sizes, all that an access looks at;
        // their first words were written when they were allocated or last resized.
        unsafe { subject.access_words(turns, &mut live) };
        self.random = live.random;
    }

    #[inline]
    fn update(&mut self, step: Step) {
        let slot = step.slot as usize;
        match step.action {
            Action::Allocate | Action::AllocateZeroed => {
                self.place[slot] = self.live.len() as u32;
                self.live.push(step.slot);
            }
            Action::Resize => {}
            Action::Free => {
                let at = self.place[slot] as usize;
                self.live.swap_remove(at);
                if let Some(moved) = self.live.get(at) {
                    self.place[*moved as usize] = at as u32;
                }
            }
        }
        self.size[slot] = step.size;
    }
}

/// Live objects, chosen at random.
struct Live<'a, O> {
    slots: &'a [u32],
    size: &'a [u32],
    random: u64,
    table: &'a mut Table<O>,
}

impl<O> Chosen<O> for Live<'_, O> {
    /// The next object; the generator is xorshift, seeded alike for every allocator.
    #[inline(always)]
    fn next(&mut self) -> (&mut O, Layout) {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let at = ((self.random >> 32) * self.slots.len() as u64) >> 32;
        let slot = self.slots[at as usize];
        let size = self.size[slot as usize] as usize;
        // SAFETY: eight is a power of two, and a size below 2^32 cannot overflow.
        let layout = unsafe { Layout::from_size_align_unchecked(size, LEAST_ALIGN) };
        // SAFETY: the slot is live, so the table holds its object (T1).
        (unsafe { self.table.get_mut(slot) }, layout)
    }
}

impl<S: Subject> Hooks<S> for Accesses {
    #[inline]
    fn allocated(
        &mut self,
        subject: &mut S,
        object: &mut S::Object,
        step: Step,
    ) -> Result<(), Stop> {
        FirstWord.allocated(subject, object, step)
    }

    #[inline]
    fn resized(&mut self, subject: &mut S, object: &mut S::Object, step: Step) -> Result<(), Stop> {
        FirstWord.resized(subject, object, step)
    }

    #[inline]
    fn done(
        &mut self,
        subject: &mut S,
        table: &mut Table<S::Object>,
        step: Step,
        event: usize,
    ) -> Result<(), Stop> {
        self.update(step);
        if event % WINDOW == 0 {
            self.enter_window(self.sample.has(event));
        }
        if self.live.is_empty() {
            return Ok(());
        }
        if self.since.is_some() {
            self.turns(1, subject, table);
        }
        if event == self.peak {
            self.at_peak(subject, table);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use surefit_trace::{Call, Event, Op, Trace};

    use super::{PER_EVENT, Sample, WINDOW};
    use crate::steps::Steps;

    /// A trace that allocates and frees one object, again and again.
    fn steps(pairs: u32) -> Steps {
        let both = |id| {
            let (size, call) = (16, Call::Malloc);
            [Op::Alloc { id, size, call }, Op::Free { id }]
        };
        let events = (0..pairs).flat_map(both).map(|op| Event::new(0, op));
        Steps::new(&Trace::new("pairs", events.collect()).expect("sound")).expect("small")
    }

    #[test]
    fn a_sample_counts_the_pairs_that_it_has() {
        for pairs in [0, 1, WINDOW / 2, WINDOW, 10 * WINDOW + 7] {
            let steps = steps(pairs as u32);
            for every in [1, 2, 3, 7, 1000] {
                let sample = Sample { every };
                let events = 0..steps.steps().len();
                let counted = events.filter(|event| sample.has(*event) && event % 2 == 0);
                let counted = counted.count() as u64;
                assert_eq!(sample.pairs(steps.steps()), counted, "{pairs} by {every}");
            }
        }
    }

    #[test]
    fn a_short_trace_is_taken_whole() {
        assert_eq!(Sample::of_at_most(8000, 1000), Sample::ALL);
        assert_eq!(Sample::of_at_most(u64::MAX, 1 << 40), Sample::ALL);
        let none = Sample::of_at_most(0, 10);
        assert_eq!(none.pairs(steps(5).steps()), 5, "the first window");
    }

    #[test]
    fn a_long_trace_is_sampled_to_about_the_most() {
        let (most, events) = (4_000_000, 5_521_990);
        let sample = Sample::of_at_most(most, events);
        let accesses = PER_EVENT * (0..events).filter(|event| sample.has(*event)).count() as u64;
        assert!(
            (most * 9 / 10..=most + most / 10).contains(&accesses),
            "{accesses}"
        );
    }
}
