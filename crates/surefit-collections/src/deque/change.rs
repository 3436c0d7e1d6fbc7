//! What a deque does by pushing, popping and exchanging elements.
#![deny(unsafe_code)]

use surefit_compact::Full;
use surefit_core::Refused;

use super::ends::End;
use super::queue::VecDeque;
use super::ring::Ring;
use crate::clone::TryClone;
use crate::heap::ByteHeap;
use crate::names::Names;
use crate::release::Release;
use crate::storage::Run;

impl<T, N: Names> VecDeque<T, N> {
    /// Appends values until there are no more. May move objects.
    ///
    /// # Errors
    /// The value for which there was no room, and why. Those before it are appended, and those
    /// behind it were not taken: pass `values.by_ref()` to keep them.
    pub fn extend<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &mut H,
        values: impl IntoIterator<Item = T>,
    ) -> Result<(), Full<T>>
    where
        T: Send,
    {
        for value in values {
            self.push_back(heap, value)?;
        }
        Ok(())
    }

    /// Inserts an element before that of an index; those on the shorter side of it move by one
    /// place. May move objects.
    ///
    /// # Errors
    /// As [`VecDeque::push_back`].
    ///
    /// # Panics
    /// If the index is above the length; the element is released.
    ///
    /// # Complexity
    /// O(elements on the shorter side).
    pub fn insert<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &mut H,
        index: usize,
        value: T,
    ) -> Result<(), Full<T>>
    where
        T: Release<H> + Send,
    {
        let len = self.len();
        if index > len {
            value.release(heap);
            panic!("{index} is above the length {len}");
        }
        if index < len / 2 {
            self.push_front(heap, value)?;
            self.carry(heap, 0, index);
        } else {
            self.push_back(heap, value)?;
            self.carry(heap, len, index);
        }
        Ok(())
    }

    /// Takes an element out, if it is there; those on the shorter side of it move by one place. May
    /// move objects.
    ///
    /// # Complexity
    /// O(elements on the shorter side).
    pub fn remove<H: ByteHeap<Names = N>>(&mut self, heap: &mut H, index: usize) -> Option<T> {
        let last = self.len().checked_sub(1)?;
        if index > last {
            return None;
        }
        if index < last / 2 {
            self.carry(heap, index, 0);
            self.pop_front(heap)
        } else {
            self.carry(heap, index, last);
            self.pop_back(heap)
        }
    }

    /// Moves an element from one place to another; those between them move by one place.
    fn carry<H: ByteHeap<Names = N>>(&mut self, heap: &H, from: usize, to: usize) {
        let mut at = from;
        while at != to {
            // To the end of its run on the way, and from there into the next run.
            let (run, place) = self.place(heap, at);
            let run = self.run_mut(heap, run);
            let next = if at < to {
                let steps = (run.len() - 1 - place).min(to - at);
                run[place..=place + steps].rotate_left(1);
                at += steps;
                at + 1
            } else {
                let steps = place.min(at - to);
                run[place - steps..=place].rotate_right(1);
                at -= steps;
                at.wrapping_sub(1)
            };
            if at != to {
                self.swap(heap, at, next);
                at = next;
            }
        }
    }

    /// Releases all elements from `len` on, the last first. May move objects.
    ///
    /// # Panics
    /// If the deque has an object of another heap. If the release of an element panics: those that
    /// are left are still there.
    pub fn truncate<H: ByteHeap<Names = N>>(&mut self, heap: &mut H, len: usize)
    where
        T: Release<H>,
    {
        assert!(self.is_of(heap), "the deque belongs to another heap");
        while self.len() > len {
            if let Some(value) = self.pop_back(heap) {
                value.release(heap);
            }
        }
    }

    /// Releases all elements. May move objects.
    ///
    /// # Panics
    /// As [`VecDeque::truncate`].
    pub fn clear<H: ByteHeap<Names = N>>(&mut self, heap: &mut H)
    where
        T: Release<H>,
    {
        self.truncate(heap, 0);
    }

    /// Keeps the elements for which `keep` returns `true`, in their order, and releases the others.
    /// May move objects.
    ///
    /// # Panics
    /// If `keep` or the release of an element panics: every element that was not released is still
    /// there, in some order.
    ///
    /// # Complexity
    /// O(elements).
    pub fn retain<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &mut H,
        mut keep: impl FnMut(&mut T) -> bool,
    ) where
        T: Release<H>,
    {
        let (mut kept, mut index) = (0, 0);
        while let Some(value) = self.get_mut(heap, index) {
            if keep(value) {
                if kept < index {
                    self.swap(heap, kept, index);
                }
                kept += 1;
            }
            index += 1;
        }
        self.truncate(heap, kept);
    }

    /// Reverses the order of the elements from `start` to `end`.
    pub(super) fn reverse<H: ByteHeap<Names = N>>(&mut self, heap: &H, start: usize, end: usize) {
        for offset in 0..(end - start) / 2 {
            self.swap(heap, start + offset, end - 1 - offset);
        }
    }

    /// Gives back room that is not needed: of the only run, or of the names of runs. May move
    /// objects.
    ///
    /// # Errors
    /// What was exhausted, or [`Refused::ForeignHandle`]: even a shorter object may be refused. The
    /// deque is unchanged.
    pub fn shrink_to_fit<H: ByteHeap<Names = N>>(&mut self, heap: &mut H) -> Result<(), Refused>
    where
        T: Send,
    {
        if !self.is_of(heap) {
            return Err(Refused::ForeignHandle);
        }
        if !self.is_one() {
            return self.ring.shrink(heap);
        }
        if self.last.capacity() > self.len {
            self.last.shift(heap, 0);
        }
        self.last.shrink(heap)
    }

    /// Frees the deque, and releases its elements, the first one first. May move objects.
    ///
    /// # Panics
    /// If the deque has an object of another heap: it leaks. If the release of an element panics:
    /// the others are released, and all objects are freed; a second panic ends the process.
    pub fn free<H: ByteHeap<Names = N>>(self, heap: &mut H)
    where
        T: Release<H>,
    {
        assert!(self.is_of(heap), "the deque belongs to another heap");
        let mut freed = Freed { deque: self, heap };
        while let Some(value) = freed.deque.pop_front(freed.heap) {
            value.release(freed.heap);
        }
    }

    /// A copy of the deque and of its elements. Moves nothing unless it is refused.
    ///
    /// # Errors
    /// What was exhausted, or [`Refused::ForeignHandle`]; what was copied before is released.
    ///
    /// # Panics
    /// If the copy of an element does: then what was copied before leaks.
    pub fn try_clone<H: ByteHeap<Names = N>>(&self, heap: &mut H) -> Result<Self, Refused>
    where
        T: TryClone<H, Partial: Release<H>> + Release<H> + Send,
    {
        crate::clone::try_clone(self, heap)
    }
}

/// A deque that is freed, also if the release of an element panics.
struct Freed<'a, T: Release<H>, H: ByteHeap> {
    deque: VecDeque<T, H::Names>,
    heap: &'a mut H,
}

impl<T: Release<H>, H: ByteHeap> Drop for Freed<'_, T, H> {
    fn drop(&mut self) {
        while let Some(value) = self.deque.pop_front(self.heap) {
            value.release(self.heap);
        }
        self.deque.ring.free(self.heap);
        core::mem::take(&mut self.deque.last).free(self.heap);
    }
}

impl<T: Release<H>, N: Names, H: ByteHeap<Names = N>> Release<H> for VecDeque<T, N> {
    fn release(self, heap: &mut H) {
        self.free(heap);
    }

    fn belongs_to(&self, heap: &H) -> bool {
        self.is_of(heap)
    }
}

impl<T, N, H> TryClone<H> for VecDeque<T, N>
where
    T: TryClone<H> + Send,
    N: Names,
    H: ByteHeap<Names = N>,
{
    /// The deque, and an element or what was copied of it.
    type Partial = (Self, (Option<T>, Option<T::Partial>));

    fn try_clone_in(&self, heap: &H) -> Result<Self, (Option<Self::Partial>, Refused)> {
        if !self.is_of(heap) {
            return Err((None, Refused::ForeignHandle));
        }
        let (mut copy, per) = (Self::new(), Self::per(heap.piece_bytes()));
        let runs = self.len.div_ceil(per);
        if runs > 2 {
            // The first and the last run are beside it.
            let ring = Ring::for_runs(heap, runs - 2);
            copy.ring = ring.map_err(|refused| (None, refused))?;
        }
        match Run::with_capacity(heap, self.len.min(per)) {
            Ok(run) => copy.last = run,
            Err(refused) => return Err((Some((copy, (None, None))), refused)),
        }
        for value in self.iter(heap) {
            let value = match value.try_clone_in(heap) {
                Ok(value) => value,
                Err((partial, refused)) => return Err((Some((copy, (None, partial))), refused)),
            };
            let pushed = match copy.push_within(heap, End::Back, value) {
                Ok(()) => Ok(()),
                Err(value) => copy.add_run(heap, End::Back, value),
            };
            if let Err(Full { value, refused }) = pushed {
                return Err((Some((copy, (Some(value), None))), refused));
            }
        }
        Ok(copy)
    }
}
