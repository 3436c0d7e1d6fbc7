//! Histories: the same allocations and frees of the same sizes, in orders that matter.
//!
//! ```text
//! when      shuffled   an allocation or a free, as the seed has it; a free that has nothing of its size waits for it
//!           at once    all allocations, their sizes mixed; then all frees
//!           by size    all allocations, size after size; then all frees
//!           drift      size after size, up or down: its allocations, then its frees
//! whom      at random; the oldest; the newest; a comb: those that stay are evenly spread among those that go
//! ```
//! A program that frees the newest leaves one large place, one that leaves a comb none that is
//! larger than a tooth's gap: where nothing moves, the order decides. The counts are the same in
//! all of them.
#![deny(unsafe_code)]

use std::iter::repeat_n;

use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Allocations and frees of one size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    /// The size, in bytes.
    pub(super) bytes: usize,
    /// Objects allocated.
    pub(super) allocations: usize,
    /// Of these, objects freed.
    pub(super) frees: usize,
}

impl Group {
    /// Objects live at the end.
    pub(super) const fn left(&self) -> usize {
        self.allocations - self.frees
    }
}

/// One step: the place of a group, and the number of an object in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    /// It is allocated.
    Allocate(usize, usize),
    /// It is freed.
    Free(usize, usize),
}

/// When objects are allocated and freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    Shuffled,
    AtOnce,
    BySize,
    DriftUp,
    DriftDown,
}

/// Which objects are freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whom {
    Random,
    Oldest,
    Newest,
    Comb,
}

/// One order of the allocations and frees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct History {
    when: When,
    whom: Whom,
    seed: u64,
}

/// Shuffled histories: of a full run, and of a quick one. The others are the same in both.
const SHUFFLED: u64 = 20;
const QUICK: u64 = 4;

/// All histories.
pub(super) fn all(is_quick: bool) -> Vec<History> {
    let shuffled = (0..if is_quick { QUICK } else { SHUFFLED }).map(|seed| History {
        when: When::Shuffled,
        whom: Whom::Random,
        seed,
    });
    let phases = [When::AtOnce, When::BySize, When::DriftUp, When::DriftDown];
    let whom = [Whom::Random, Whom::Oldest, Whom::Newest, Whom::Comb];
    let phased = phases.into_iter().flat_map(|when| {
        whom.map(|whom| History {
            when,
            whom,
            seed: 0,
        })
    });
    shuffled.chain(phased).collect()
}

impl History {
    /// Its steps: every object of a group is allocated in the order of its number.
    pub(super) fn steps(self, groups: &[Group]) -> Vec<Step> {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let places: Vec<_> = (0..groups.len()).collect();
        let allocations =
            |at: usize| (0..groups[at].allocations).map(move |number| Step::Allocate(at, number));
        let mut frees = |at: usize| {
            let numbers = self.whom.freed(groups[at], &mut random);
            numbers
                .into_iter()
                .map(move |number| Step::Free(at, number))
        };
        match self.when {
            When::Shuffled => shuffled(groups, &mut random),
            When::AtOnce | When::BySize => {
                let freed: Vec<_> = places.iter().flat_map(|&at| frees(at)).collect();
                let mut steps: Vec<_> = places.iter().flat_map(|&at| allocations(at)).collect();
                if self.when == When::AtOnce {
                    mix(&mut steps, groups, &mut random);
                }
                steps.extend(freed);
                steps
            }
            When::DriftUp | When::DriftDown => {
                let mut steps = Vec::new();
                let mut places = places;
                if self.when == When::DriftDown {
                    places.reverse();
                }
                for at in places {
                    steps.extend(allocations(at));
                    steps.extend(frees(at));
                }
                steps
            }
        }
    }
}

impl Whom {
    /// The numbers of the objects that are freed, in order.
    fn freed(self, group: Group, random: &mut ChaCha8Rng) -> Vec<usize> {
        let Group {
            allocations, frees, ..
        } = group;
        match self {
            Self::Random => {
                let mut numbers: Vec<_> = (0..allocations).collect();
                numbers.shuffle(random);
                numbers.truncate(frees);
                numbers
            }
            Self::Oldest => (0..frees).collect(),
            Self::Newest => (allocations - frees..allocations).rev().collect(),
            Self::Comb => {
                let left = group.left();
                let stays =
                    |number: usize| (number + 1) * left / allocations > number * left / allocations;
                (0..allocations).filter(|number| !stays(*number)).collect()
            }
        }
    }
}

/// Allocations of all sizes in a random order, each size's in the order of its numbers.
fn mix(steps: &mut Vec<Step>, groups: &[Group], random: &mut ChaCha8Rng) {
    let sizes = groups.iter().enumerate();
    let mut order: Vec<_> = sizes
        .flat_map(|(at, group)| repeat_n(at, group.allocations))
        .collect();
    order.shuffle(random);
    let mut made = vec![0; groups.len()];
    *steps = order
        .into_iter()
        .map(|at| {
            made[at] += 1;
            Step::Allocate(at, made[at] - 1)
        })
        .collect();
}

fn shuffled(groups: &[Group], random: &mut ChaCha8Rng) -> Vec<Step> {
    let mut operations = Vec::new();
    for (at, group) in groups.iter().enumerate() {
        operations.extend(repeat_n((at, true), group.allocations));
        operations.extend(repeat_n((at, false), group.frees));
    }
    operations.shuffle(random);
    let (mut made, mut waiting) = (vec![0; groups.len()], vec![0_usize; groups.len()]);
    let mut live: Vec<Vec<usize>> = groups.iter().map(|_| Vec::new()).collect();
    let mut steps = Vec::with_capacity(operations.len());
    for (at, is_allocation) in operations {
        if is_allocation {
            steps.push(Step::Allocate(at, made[at]));
            live[at].push(made[at]);
            made[at] += 1;
        } else {
            waiting[at] += 1;
        }
        while waiting[at] > 0 && !live[at].is_empty() {
            waiting[at] -= 1;
            let victim = random.random_range(0..live[at].len());
            steps.push(Step::Free(at, live[at].swap_remove(victim)));
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::{Group, Step, Whom, all};
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    const GROUPS: [Group; 2] = [
        Group {
            bytes: 40,
            allocations: 20,
            frees: 15,
        },
        Group {
            bytes: 1000,
            allocations: 6,
            frees: 3,
        },
    ];

    #[test]
    fn all_histories_make_as_many_steps_of_each_kind_and_free_what_lives() {
        for history in all(false) {
            let steps = history.steps(&GROUPS);
            for (at, group) in GROUPS.iter().enumerate() {
                let mut live = std::collections::BTreeSet::new();
                let mut frees = 0;
                for step in &steps {
                    match *step {
                        Step::Allocate(of, number) if of == at => assert!(live.insert(number)),
                        Step::Free(of, number) if of == at => {
                            assert!(live.remove(&number), "{history:?}");
                            frees += 1;
                        }
                        _ => {}
                    }
                }
                assert_eq!(
                    (frees, live.len()),
                    (group.frees, group.left()),
                    "{history:?}"
                );
            }
            assert_eq!(steps.len(), 26 + 18, "{history:?}");
        }
    }

    #[test]
    fn a_comb_leaves_evenly_spread_objects_and_no_two_histories_are_the_same() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let freed = Whom::Comb.freed(GROUPS[0], &mut random);
        let left: Vec<_> = (0..20).filter(|number| !freed.contains(number)).collect();
        assert_eq!(left, [3, 7, 11, 15, 19]);
        let mut steps: Vec<_> = all(false).iter().map(|one| one.steps(&GROUPS)).collect();
        steps.sort();
        steps.dedup();
        assert_eq!(steps.len(), all(false).len());
        assert!(all(true).len() < all(false).len());
    }
}
