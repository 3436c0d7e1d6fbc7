//! The access pass: as the timing pass, with eight accesses of seeded live objects after each event.
//!
//! An access looks an object up in the live table, reads its first word and writes it back. The same objects are chosen
//! for every allocator, and by the empty replay, so that what is left is the price of reaching an object through its
//! pointer or its handle.

use super::replay::{Hooks, Stop, Stopped, Table};
use super::timing::{FirstWord, measure};
use crate::steps::{Action, LEAST_ALIGN, Step, Steps};
use crate::subject::{Pass, Subject};

use std::alloc::Layout;

/// Accesses after each event.
pub const PER_EVENT: u64 = 8;

/// One replay with accesses; its output is its nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Access<'a> {
    /// The trace.
    pub steps: &'a Steps,
}

impl Pass for Access<'_> {
    type Output = Result<u64, Stopped>;

    fn run<S: Subject>(self, subject: S) -> Self::Output {
        measure(subject, self.steps, &mut Accesses::new(self.steps.slots()))
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
}

impl Accesses {
    fn new(slots: usize) -> Self {
        Self {
            live: Vec::with_capacity(slots),
            place: vec![u32::MAX; slots],
            size: vec![u32::MAX; slots],
            random: 0x9E37_79B9_7F4A_7C15,
        }
    }

    /// The next slot; the generator is xorshift, seeded alike for every allocator.
    #[inline]
    fn choose(&mut self) -> u32 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let at = ((self.random >> 32) * self.live.len() as u64) >> 32;
        self.live[at as usize]
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
        _event: usize,
    ) -> Result<(), Stop> {
        self.update(step);
        if self.live.is_empty() {
            return Ok(());
        }
        for _ in 0..PER_EVENT {
            let slot = self.choose();
            let size = self.size[slot as usize] as usize;
            // SAFETY: eight is a power of two, and a size below 2^32 cannot overflow.
            let layout = unsafe { Layout::from_size_align_unchecked(size, LEAST_ALIGN) };
            // SAFETY: the slot is in `live`, so the table holds its object (T1).
            let object = unsafe { table.get_mut(slot) };
            // SAFETY: the object is this subject's and has this size, all that an access looks at; its first word was
            // written when it was allocated or last resized.
            unsafe { subject.access_word(object, layout) };
        }
        Ok(())
    }
}
