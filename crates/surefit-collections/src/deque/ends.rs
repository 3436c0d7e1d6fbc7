//! What is put at the ends of a deque, and taken from there.
#![deny(unsafe_code)]

use surefit_compact::Full;
use surefit_core::Refused;

use super::queue::VecDeque;
use crate::heap::ByteHeap;
use crate::names::Names;
use crate::storage::Run;

/// The fewest elements for which growing makes room.
pub(super) const LEAST: usize = 4;

/// An end of a deque.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Front,
    Back,
}

impl<T, N: Names> VecDeque<T, N> {
    /// Appends an element. May move objects.
    ///
    /// # Errors
    /// The element, and what was exhausted or [`Refused::ForeignHandle`]; [`Refused::TooLarge`] if
    /// a piece does not hold one element. The deque is unchanged.
    ///
    /// # Complexity
    /// O(1) in the mean. Moves at most the elements of a piece, those of the only run, and at most
    /// five names of runs.
    #[inline]
    pub fn push_back<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &mut H,
        value: T,
    ) -> Result<(), Full<T>>
    where
        T: Send,
    {
        self.push(heap, End::Back, value)
    }

    /// Puts an element before the others. May move objects.
    ///
    /// # Errors
    /// As [`VecDeque::push_back`].
    ///
    /// # Complexity
    /// As [`VecDeque::push_back`].
    #[inline]
    pub fn push_front<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &mut H,
        value: T,
    ) -> Result<(), Full<T>>
    where
        T: Send,
    {
        self.push(heap, End::Front, value)
    }

    #[inline]
    fn push<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &mut H,
        end: End,
        value: T,
    ) -> Result<(), Full<T>>
    where
        T: Send,
    {
        match self.push_within(heap, end, value) {
            Ok(()) => Ok(()),
            Err(value) => self.push_in_new_room(heap, end, value),
        }
    }

    /// Puts an element into the run at an end, if there is room, and the deque has no object of
    /// another heap.
    #[inline]
    pub(super) fn push_within<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &H,
        end: End,
        value: T,
    ) -> Result<(), T>
    where
        T: Send,
    {
        match end {
            End::Back => self.last.push_back(heap, value)?,
            End::Front if self.is_one() => self.last.push_front(heap, value)?,
            End::Front => self.first.push_front(heap, value)?,
        }
        self.len += 1;
        Ok(())
    }

    #[inline(never)]
    fn push_in_new_room<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &mut H,
        end: End,
        value: T,
    ) -> Result<(), Full<T>>
    where
        T: Send,
    {
        if !self.is_of(heap) {
            let refused = Refused::ForeignHandle;
            return Err(Full { value, refused });
        }
        match self.make_room(heap, end) {
            Ok(true) => {
                let pushed = self.push_within(heap, end, value);
                debug_assert!(pushed.is_ok(), "room was made");
                Ok(())
            }
            Ok(false) => {
                let added = self.add_run(heap, end, value);
                if self.ring.is_empty() {
                    self.ring.free(heap);
                }
                added
            }
            Err(refused) => Err(Full { value, refused }),
        }
    }

    /// Makes room in the only run, or in the ring for one more run if it gets one; whether it is in
    /// the only run.
    fn make_room<H: ByteHeap<Names = N>>(&mut self, heap: &mut H, end: End) -> Result<bool, Refused>
    where
        T: Send,
    {
        if self.is_one() {
            return self.widen(heap, end);
        }
        self.ring.make_room(heap)?;
        Ok(false)
    }

    /// Makes room in the only run; `false` if there must be a second one.
    fn widen<H: ByteHeap<Names = N>>(&mut self, heap: &mut H, end: End) -> Result<bool, Refused> {
        let per = Self::per(heap.piece_bytes());
        let (slots, len) = (self.last.capacity(), self.len);
        if 4 * len >= 3 * slots {
            if slots == per && size_of::<T>() == 0 {
                return Err(Refused::TooLarge { limit: per });
            }
            if slots == per {
                return Ok(false);
            }
            match self.grow(heap, per) {
                Ok(()) if end == End::Back => return Ok(true),
                Ok(()) => {
                    self.last.shift(heap, self.last.capacity() - len);
                    return Ok(true);
                }
                Err(refused) if slots == len => return Err(refused),
                Err(_) => {}
            }
        }
        // Half of what is free to each side: so many calls until this happens again.
        let free = slots - len;
        let before = match end {
            End::Back => free / 2,
            End::Front => free - free / 2,
        };
        self.last.shift(heap, before);
        Ok(true)
    }

    /// Makes the only run longer, which has fewer than `per` slots.
    fn grow<H: ByteHeap<Names = N>>(&mut self, heap: &mut H, per: usize) -> Result<(), Refused> {
        let slots = self.last.capacity();
        let doubled = (2 * slots).max(LEAST).min(per);
        match self.last.reserve(heap, doubled) {
            Ok(()) => Ok(()),
            Err(_) => self.last.reserve(heap, slots + 1),
        }
    }

    /// Adds a run at an end with one element. The ring has room.
    pub(super) fn add_run<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &H,
        end: End,
        value: T,
    ) -> Result<(), Full<T>>
    where
        T: Send,
    {
        let per = Self::per(heap.piece_bytes());
        let mut run = match Run::with_capacity(heap, per) {
            Ok(run) => run,
            Err(refused) => return Err(Full { value, refused }),
        };
        match end {
            End::Back => {
                let pushed = run.push_back(heap, value);
                debug_assert!(pushed.is_ok(), "it has slots");
                let full = core::mem::replace(&mut self.last, run);
                match self.is_one() {
                    true => self.first = full,
                    false => self.ring.push_back(heap, full),
                }
            }
            End::Front => {
                run.shift(heap, per);
                let pushed = run.push_front(heap, value);
                debug_assert!(pushed.is_ok(), "all its slots are before it");
                let full = core::mem::replace(&mut self.first, run);
                if !full.is_empty() {
                    self.ring.push_front(heap, full);
                }
            }
        }
        self.len += 1;
        Ok(())
    }

    /// Takes the last element out. May move objects.
    ///
    /// # Complexity
    /// O(1); of the last but one run, O(slots of the ring).
    #[inline(always)]
    pub fn pop_back<H: ByteHeap<Names = N>>(&mut self, heap: &mut H) -> Option<T> {
        let value = self.last.pop_back(heap)?;
        self.len -= 1;
        if self.last.is_empty() && !self.is_one() {
            self.drop_last(heap);
        }
        Some(value)
    }

    /// Frees the last run, which has no elements any more. There is another one.
    #[inline(never)]
    fn drop_last<H: ByteHeap<Names = N>>(&mut self, heap: &mut H) {
        let run = match self.ring.is_empty() {
            true => core::mem::take(&mut self.first),
            false => self.ring.pop_back(heap),
        };
        core::mem::replace(&mut self.last, run).free(heap);
        if self.ring.is_empty() {
            self.ring.free(heap);
        }
    }

    /// Takes the first element out. May move objects.
    ///
    /// # Complexity
    /// As [`VecDeque::pop_back`].
    #[inline(always)]
    pub fn pop_front<H: ByteHeap<Names = N>>(&mut self, heap: &mut H) -> Option<T> {
        // Two branches: a pointer to the one or the other run would wait for the last call's store.
        if self.is_one() {
            let value = self.last.pop_front(heap)?;
            self.len -= 1;
            return Some(value);
        }
        let value = self.first.pop_front(heap)?;
        self.len -= 1;
        if self.first.is_empty() {
            self.drop_first(heap);
        }
        Some(value)
    }

    /// Frees the first run, which has no elements any more. There is another one.
    #[inline(never)]
    fn drop_first<H: ByteHeap<Names = N>>(&mut self, heap: &mut H) {
        let run = match self.ring.is_empty() {
            true => Run::new(),
            false => self.ring.pop_front(heap),
        };
        core::mem::replace(&mut self.first, run).free(heap);
        if self.ring.is_empty() {
            self.ring.free(heap);
        }
    }
}
