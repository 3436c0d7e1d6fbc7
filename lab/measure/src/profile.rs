//! What a program asks for, whatever serves it: the sizes of its requests, and how long its objects
//! live. Both in powers of two.

use crate::steps::{Action, Step, Steps};

/// A histogram over powers of two.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// Element k counts what is above 2^(k-1) and at most 2^k; zero and one are in element 0.
    pub powers: Vec<Share>,
}

/// How many requests or objects, and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// How many.
    pub count: u64,
    /// The sum of their sizes.
    pub bytes: u64,
}

impl Share {
    fn add(&mut self, bytes: u64) {
        self.count += 1;
        self.bytes += bytes;
    }
}

impl Histogram {
    fn add(&mut self, value: u64, bytes: u64) {
        let power = value.max(1).next_power_of_two().ilog2() as usize;
        if self.powers.len() <= power {
            self.powers.resize(power + 1, Share::default());
        }
        self.powers[power].add(bytes);
    }

    /// The sum of all elements.
    #[must_use]
    pub fn total(&self) -> Share {
        let add = |sum: Share, share: &Share| Share {
            count: sum.count + share.count,
            bytes: sum.bytes + share.bytes,
        };
        self.powers.iter().fold(Share::default(), add)
    }
}

/// What a program asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// The sizes of allocations and reallocations, in bytes.
    pub sizes: Histogram,
    /// How many events lie between the allocation of an object and its free; the bytes are its last
    /// size.
    pub lives: Histogram,
    /// Objects that are never freed.
    pub never_freed: Share,
}

impl Profile {
    /// The profile of a trace. Linear in its events.
    #[must_use]
    pub fn new(steps: &Steps) -> Self {
        let mut profile = Self::default();
        let mut births = vec![0; steps.slots()];
        for (event, step) in steps.steps().iter().enumerate() {
            profile.add(event as u64, *step, &mut births);
        }
        for left in steps.left() {
            profile.never_freed.add(left.layout.size() as u64);
        }
        profile
    }

    fn add(&mut self, event: u64, step: Step, births: &mut [u64]) {
        let (size, slot) = (u64::from(step.size), step.slot as usize);
        match step.action {
            Action::Allocate | Action::AllocateZeroed => {
                births[slot] = event;
                self.sizes.add(size, size);
            }
            Action::Resize => self.sizes.add(size, size),
            Action::Free => self.lives.add(event - births[slot], size),
        }
    }
}

#[cfg(test)]
mod tests {
    use surefit_trace::{Call, Event, Op, Trace};

    use super::{Profile, Share};
    use crate::steps::Steps;

    fn alloc(id: u32, size: u64) -> Op {
        let call = Call::Malloc;
        Op::Alloc { id, size, call }
    }

    #[test]
    fn sizes_and_lives_are_counted_by_powers_of_two() {
        let ops = [
            alloc(0, 0),
            alloc(1, 8),
            alloc(2, 9),
            Op::Realloc { id: 1, size: 100 },
            Op::Free { id: 1 },
            alloc(3, 1),
            Op::Free { id: 3 },
        ];
        let events = ops.iter().map(|op| Event::new(0, *op)).collect();
        let steps = Steps::new(&Trace::new("t", events).expect("sound")).expect("small");
        let profile = Profile::new(&steps);
        let share = |count, bytes| Share { count, bytes };
        let sizes = &profile.sizes.powers;
        assert_eq!(sizes.len(), 8);
        assert_eq!(sizes[0], share(2, 1), "zero and one");
        assert_eq!((sizes[3], sizes[4]), (share(1, 8), share(1, 9)));
        assert_eq!(sizes[7], share(1, 100));
        assert_eq!(profile.sizes.total(), share(5, 118));
        // object 1 lives three events, object 3 one
        assert_eq!(
            profile.lives.powers,
            [share(1, 1), share(0, 0), share(1, 100)]
        );
        assert_eq!(profile.never_freed, share(2, 9));
    }
}
