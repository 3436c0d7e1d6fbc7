//! `VecDeque`: elements in one run, or in a first one, a ring of runs, and a last one.
//!
//! ```text
//! up to a piece   one run, which grows by doubling, with room before and behind the elements
//! beyond          runs of a piece each; those between the first and the last are full
//! ```
//!
//! # Invariants
//! - D1 One run is `last`; `first` has no elements then. The ring has all runs but the first and
//!   the last one. If there are several, the last one has elements.
//! - D2 If there are several runs, each has [`VecDeque::per`] slots. All but the first begin in
//!   their first slot, all but the last end in their last one.
//! - D3 `len` is the number of all elements.
//! - D4 No user code runs while an element is in no run, except that it has the element itself.
#![deny(unsafe_code)]

use core::fmt;

use super::ring::Ring;
use crate::heap::ByteHeap;
use crate::names::{Checked, Names};
use crate::shown::Shown;
use crate::storage::Run;

/// A queue with two ends in a heap: what
/// [`VecDeque`](https://doc.rust-lang.org/std/collections/struct.VecDeque.html) of the standard
/// library is to the global allocator.
///
/// Up to the heap's piece size the elements are contiguous. Beyond it they are in runs of a piece,
/// which are allocated and freed at both ends one by one: no call copies the deque, and room is
/// kept in the first and the last run only. The names of the runs are in slots, at most four for
/// each of the most runs that there were: [`VecDeque::shrink_to_fit`] gives back what is not
/// needed, and all go when one run is left. An element has at most the bytes of a piece.
///
/// It is an owning name, as [`Vec`](crate::Vec) is: dropping it leaks the elements;
/// [`VecDeque::free`] frees it.
///
/// # Panics
/// Every access to an element panics if the deque has an object of another heap, except that what
/// returns [`Refused`](surefit_core::Refused) returns
/// [`Refused::ForeignHandle`](surefit_core::Refused::ForeignHandle). With
/// [`Branded`](crate::Branded) names another heap does not compile.
///
/// # Complexity
/// An access costs two look-ups ([`Vec`](crate::Vec)), of the run and of the element, and a
/// division unless an element has a power of two bytes. In the first and the last run it costs one.
///
/// # Examples
/// ```
/// use surefit_collections::VecDeque;
/// use surefit_compact::{Config, Heap};
///
/// static CONFIG: Config = Config::DEFAULT;
/// let mut memory = vec![core::mem::MaybeUninit::uninit(); 1 << 20];
/// let mut heap: Heap = Heap::new(&mut memory, &CONFIG)?;
/// let mut jobs = VecDeque::new();
/// for i in 0..10_000_u64 {
///     jobs.push_back(&mut heap, i)?;
///     if i % 2 == 1 {
///         assert_eq!(jobs.pop_front(&mut heap), Some(i / 2));
///     }
/// }
/// jobs.push_front(&mut heap, 7)?;
/// assert_eq!((jobs.len(), jobs.front(&heap)), (5001, Some(&7)));
/// assert_eq!(jobs.get(&heap, 5000), Some(&9999));
/// jobs.free(&mut heap);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "dropping a deque leaks its elements"]
pub struct VecDeque<T, N: Names = Checked> {
    pub(super) first: Run<T, N>,
    pub(super) ring: Ring<T, N>,
    pub(super) last: Run<T, N>,
    pub(super) len: usize,
}

impl<T, N: Names> VecDeque<T, N> {
    /// A deque without elements, and without an object.
    pub const fn new() -> Self {
        Self {
            first: Run::new(),
            ring: Ring::new(),
            last: Run::new(),
            len: 0,
        }
    }

    /// The number of elements.
    #[inline]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether the deque has no object of another heap.
    #[inline]
    pub(super) fn is_of<H: ByteHeap<Names = N>>(&self, heap: &H) -> bool {
        self.last.is_of(heap) && self.ring.is_of(heap)
    }

    /// The elements of a full run, in a heap with so long pieces.
    #[inline]
    pub(super) const fn per(piece: usize) -> usize {
        Run::<T, N>::most(piece)
    }

    /// Whether there is one run only.
    #[inline]
    pub(super) const fn is_one(&self) -> bool {
        self.first.is_empty()
    }

    /// The number of runs.
    #[inline]
    const fn runs(&self) -> usize {
        match self.is_one() {
            true => 1,
            false => self.ring.len() + 2,
        }
    }

    /// The elements of a run, by its number from the first one on, for who goes from run to run.
    #[inline(never)]
    fn run_in_turn<'a, H: ByteHeap<Names = N>>(&'a self, heap: &'a H, number: usize) -> &'a [T] {
        self.run(heap, number)
    }

    /// The elements of a run, by its number from the first one on.
    #[inline(always)]
    fn run<'a, H: ByteHeap<Names = N>>(&'a self, heap: &'a H, number: usize) -> &'a [T] {
        let run = match number {
            0 if !self.is_one() => &self.first,
            1.. if number <= self.ring.len() => {
                return self.ring.get(heap, number - 1).as_slice(heap);
            }
            _ => &self.last,
        };
        run.as_slice(heap)
    }

    /// The elements of a run, mutable.
    #[inline]
    pub(super) fn run_mut<'a, H: ByteHeap<Names = N>>(
        &'a mut self,
        heap: &'a H,
        number: usize,
    ) -> &'a mut [T] {
        let run = match number {
            0 if !self.is_one() => &mut self.first,
            1.. if number <= self.ring.len() => {
                return self.ring.get_mut(heap, number - 1).as_slice_mut(heap);
            }
            _ => &mut self.last,
        };
        run.as_slice_mut(heap)
    }

    /// The number of the run with an element, and which of its elements that is.
    #[inline]
    pub(super) fn place<H: ByteHeap<Names = N>>(&self, heap: &H, index: usize) -> (usize, usize) {
        let per = Self::per(heap.piece_bytes());
        match index.checked_sub(self.first.len()) {
            None => (0, index),
            Some(_) if self.is_one() => (0, index),
            // So is a run then: no division.
            Some(behind) if size_of::<T>().is_power_of_two() => {
                (1 + (behind >> per.ilog2()), behind & (per - 1))
            }
            Some(behind) => (1 + behind / per, behind % per),
        }
    }

    // ---- reading -------------------------------------------------------------------------------

    /// An element.
    #[inline]
    #[must_use]
    pub fn get<'a, H: ByteHeap<Names = N>>(&'a self, heap: &'a H, index: usize) -> Option<&'a T> {
        if index >= self.len {
            return None;
        }
        let (run, index) = self.place(heap, index);
        self.run(heap, run).get(index)
    }

    /// An element, mutable.
    #[inline]
    #[must_use]
    pub fn get_mut<'a, H: ByteHeap<Names = N>>(
        &'a mut self,
        heap: &'a H,
        index: usize,
    ) -> Option<&'a mut T> {
        if index >= self.len {
            return None;
        }
        let (run, index) = self.place(heap, index);
        self.run_mut(heap, run).get_mut(index)
    }

    /// The first element.
    #[must_use]
    pub fn front<'a, H: ByteHeap<Names = N>>(&'a self, heap: &'a H) -> Option<&'a T> {
        self.get(heap, 0)
    }

    /// The first element, mutable.
    #[must_use]
    pub fn front_mut<'a, H: ByteHeap<Names = N>>(&'a mut self, heap: &'a H) -> Option<&'a mut T> {
        self.get_mut(heap, 0)
    }

    /// The last element.
    #[must_use]
    pub fn back<'a, H: ByteHeap<Names = N>>(&'a self, heap: &'a H) -> Option<&'a T> {
        self.get(heap, self.len.checked_sub(1)?)
    }

    /// The last element, mutable.
    #[must_use]
    pub fn back_mut<'a, H: ByteHeap<Names = N>>(&'a mut self, heap: &'a H) -> Option<&'a mut T> {
        self.get_mut(heap, self.len.checked_sub(1)?)
    }

    /// All elements in order, one contiguous slice at a time. No slice is empty.
    ///
    /// # Complexity
    /// Two look-ups for each slice.
    #[inline]
    pub fn slices<'a, H: ByteHeap<Names = N>>(
        &'a self,
        heap: &'a H,
    ) -> impl DoubleEndedIterator<Item = &'a [T]> + use<'a, T, N, H> {
        let runs = if self.is_empty() { 0 } else { self.runs() };
        (0..runs).map(move |number| self.run_in_turn(heap, number))
    }

    /// All elements in order, one contiguous mutable slice at a time. No slice is empty.
    ///
    /// # Complexity
    /// O(runs) before the first slice: their names are put in order.
    pub fn slices_mut<'a, H: ByteHeap<Names = N>>(
        &'a mut self,
        heap: &'a H,
    ) -> impl Iterator<Item = &'a mut [T]> + use<'a, T, N, H> {
        let last = (self.len > 0).then_some(&mut self.last);
        let first = (!self.first.is_empty()).then_some(&mut self.first);
        let between = self.ring.iter_mut(heap);
        let first = first.map(|run| run.as_slice_mut(heap)).into_iter();
        let last = last.map(|run| run.as_slice_mut(heap));
        let between = between.map(move |run| run.as_slice_mut(heap));
        first.chain(between).chain(last)
    }

    /// All elements in order.
    #[inline]
    pub fn iter<'a, H: ByteHeap<Names = N>>(
        &'a self,
        heap: &'a H,
    ) -> impl DoubleEndedIterator<Item = &'a T> + use<'a, T, N, H> {
        self.slices(heap).flatten()
    }

    /// All elements in order, mutable.
    ///
    /// # Complexity
    /// As [`VecDeque::slices_mut`].
    #[inline]
    pub fn iter_mut<'a, H: ByteHeap<Names = N>>(
        &'a mut self,
        heap: &'a H,
    ) -> impl Iterator<Item = &'a mut T> + use<'a, T, N, H> {
        self.slices_mut(heap).flatten()
    }

    /// Exchanges two elements.
    ///
    /// # Panics
    /// If there are not so many elements.
    pub fn swap<H: ByteHeap<Names = N>>(&mut self, heap: &H, a: usize, b: usize) {
        assert!(
            a < self.len && b < self.len,
            "there are {} elements",
            self.len
        );
        let (a, b) = (a.min(b), a.max(b));
        let ((one, in_one), (two, in_two)) = (self.place(heap, a), self.place(heap, b));
        if one == two {
            return self.run_mut(heap, one).swap(in_one, in_two);
        }
        let in_ring = self.ring.len();
        if one > 0 && two <= in_ring {
            return self.ring.swap(heap, (one - 1, in_one), (two - 1, in_two));
        }
        // One of them is the first or the last run.
        let (first, last) = (&mut self.first, &mut self.last);
        let (of_one, of_two) = match one {
            0 if two <= in_ring => {
                let of_two = self.ring.get_mut(heap, two - 1).as_slice_mut(heap);
                (first.as_slice_mut(heap), of_two)
            }
            0 => (first.as_slice_mut(heap), last.as_slice_mut(heap)),
            _ => {
                let of_one = self.ring.get_mut(heap, one - 1).as_slice_mut(heap);
                (of_one, last.as_slice_mut(heap))
            }
        };
        core::mem::swap(&mut of_one[in_one], &mut of_two[in_two]);
    }

    /// The elements, for `{:?}`.
    pub fn debug<'a, H: ByteHeap<Names = N>>(
        &'a self,
        heap: &'a H,
    ) -> impl fmt::Debug + use<'a, T, N, H>
    where
        T: fmt::Debug,
    {
        Shown(move |f: &mut fmt::Formatter<'_>| f.debug_list().entries(self.iter(heap)).finish())
    }
}

impl<T, N: Names> Default for VecDeque<T, N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, N: Names> fmt::Debug for VecDeque<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VecDeque({} elements in {} runs)", self.len, self.runs())
    }
}
