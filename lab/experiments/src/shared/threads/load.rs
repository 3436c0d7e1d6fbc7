//! What every thread does: a seeded script of allocations and frees.
//!
//! A call names one of the thread's slots at random: an empty slot gets a fresh object of a random
//! size, a full one loses its object. So about half of the slots are full, and allocations and
//! frees come in no order.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefit_compact::Geometry;

/// Calls of a script; a longer run repeats it.
const SCRIPT: usize = 1 << 14;

/// Sizes of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sizes {
    /// Evenly between two sizes, both included, in bytes.
    Between(u32, u32),
    /// All the same.
    All(u32),
}

impl Sizes {
    /// Those of figure 12: 16 B to 16 KiB.
    pub(crate) const FIGURE_12: Self = Self::Between(16, 16 << 10);

    fn draw(self, random: &mut ChaCha8Rng) -> u32 {
        match self {
            Self::Between(least, most) => random.random_range(least..=most),
            Self::All(size) => size,
        }
    }
}

/// What the threads do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    /// Slots for objects per thread; about half of them are full.
    pub(crate) slots: u32,
    /// Calls that each thread makes, allocations and frees together.
    pub(crate) calls: u64,
    /// Sizes of objects.
    pub(crate) sizes: Sizes,
    /// So many of a hundred frees are made by the next thread.
    pub(crate) foreign_percent: u32,
}

/// One call of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    /// The slot that it is about.
    pub(crate) slot: u32,
    /// The size of the object, if it is an allocation.
    pub(crate) bytes: u32,
    /// Whether another thread is to make it, if it is a free.
    pub(crate) is_foreign: bool,
}

impl Load {
    /// Calls that a thread makes before the measured ones.
    pub(crate) fn warm_up(&self) -> u64 {
        u64::from(self.slots) * 4
    }

    /// For each size-class, the most objects that a thread has live at once: a bound on what any
    /// heap holds for it.
    pub(crate) fn peaks(&self, thread: usize, geometry: &Geometry) -> Vec<u32> {
        let script = self.script(thread);
        let mut slots: Vec<Option<usize>> = vec![None; self.slots as usize];
        let mut live = vec![0_u32; geometry.class_count()];
        let mut peaks = live.clone();
        for calls in [self.warm_up(), self.calls] {
            for call in script
                .iter()
                .cycle()
                .take(usize::try_from(calls).unwrap_or(usize::MAX))
            {
                let slot = &mut slots[call.slot as usize];
                if let Some(class) = slot.take() {
                    live[class] -= 1;
                } else if let Some(class) = geometry.class_for_bytes(call.bytes as usize) {
                    *slot = Some(class.index());
                    live[class.index()] += 1;
                    peaks[class.index()] = peaks[class.index()].max(live[class.index()]);
                }
            }
        }
        peaks
    }

    /// The script of a thread.
    pub(crate) fn script(&self, thread: usize) -> Vec<Call> {
        let mut random = ChaCha8Rng::seed_from_u64(thread as u64);
        let call = |_| Call {
            slot: random.random_range(0..self.slots),
            bytes: self.sizes.draw(&mut random),
            is_foreign: random.random_range(0..100) < self.foreign_percent,
        };
        (0..SCRIPT).map(call).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Load, SCRIPT, Sizes};

    #[test]
    fn scripts_are_seeded_and_keep_to_the_load() {
        let load = Load {
            slots: 10,
            calls: 100,
            sizes: Sizes::FIGURE_12,
            foreign_percent: 50,
        };
        let script = load.script(3);
        assert_eq!(script, load.script(3));
        assert_ne!(script, load.script(4));
        assert!(
            script
                .iter()
                .all(|call| call.slot < 10 && (16..=16384).contains(&call.bytes))
        );
        let foreign = script.iter().filter(|call| call.is_foreign).count();
        assert!(
            (SCRIPT * 45 / 100..SCRIPT * 55 / 100).contains(&foreign),
            "{foreign}"
        );
    }
}
