//! Runs: elements that are one slice, with room at both ends, or without any.

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use surefit_core::{Corruption, Refused, ensure};

use super::elements::Vec;
use crate::heap::ByteHeap;
use crate::names::Names;
use crate::short::ShortName;

/// The slots of a run whose elements have no bytes. So many are never pushed.
const WITHOUT_BYTES: usize = usize::MAX / 8;

/// The bytes of a run where no object is in pieces.
const WITHOUT_PIECES: usize = 512;

/// Elements that are contiguous, with room before and behind them: a part of a deque. It is never
/// in pieces.
///
/// # Invariant
/// - C4 The slots from `start` to the end of `slots` hold elements, and no slot before them does.
pub(crate) struct Run<T, N: Names> {
    slots: Vec<MaybeUninit<T>, N>,
    start: usize,
}

impl<T, N: Names> Run<T, N> {
    /// A run without elements, and without an object.
    pub(crate) const fn new() -> Self {
        Self {
            slots: Vec::new(),
            start: 0,
        }
    }

    /// An empty run with so many slots, which are at most those of a piece.
    pub(crate) fn with_capacity<H: ByteHeap<Names = N>>(
        heap: &H,
        capacity: usize,
    ) -> Result<Self, Refused> {
        let slots = Vec::with_capacity(heap, capacity)?;
        Ok(Self { slots, start: 0 })
    }

    #[inline]
    pub(crate) const fn len(&self) -> usize {
        self.slots.len() - self.start
    }

    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.slots.len() == self.start
    }

    /// The slots before the first element.
    #[inline]
    pub(crate) const fn start(&self) -> usize {
        self.start
    }

    /// The slots up to the last element.
    #[inline]
    pub(crate) const fn end(&self) -> usize {
        self.slots.len()
    }

    /// The most slots of a run, in a heap with so long pieces.
    #[inline]
    pub(crate) const fn most(piece: usize) -> usize {
        let bytes = match piece {
            usize::MAX => WITHOUT_PIECES,
            piece => piece,
        };
        match bytes.checked_div(size_of::<T>()) {
            None => WITHOUT_BYTES,
            // What no piece holds is refused when the run is allocated.
            Some(0) => 1,
            Some(most) => most,
        }
    }

    /// All slots.
    #[inline]
    pub(crate) fn capacity(&self) -> usize {
        match (size_of::<T>(), &self.slots.bytes) {
            (0, _) => WITHOUT_BYTES,
            (size, Some(bytes)) => N::len(bytes) / size,
            (_, None) => 0,
        }
    }

    #[inline]
    pub(crate) fn is_of<H: ByteHeap<Names = N>>(&self, heap: &H) -> bool {
        self.slots.is_of(heap)
    }

    /// The place of the first slot; those of the others lie behind it.
    #[inline]
    fn first<H: ByteHeap<Names = N>>(&self, heap: &H) -> NonNull<T> {
        match &self.slots.bytes {
            Some(bytes) => block(heap, bytes),
            None => NonNull::dangling(),
        }
    }

    /// The elements.
    #[inline]
    pub(crate) fn as_slice<'a, H: ByteHeap<Names = N>>(&'a self, heap: &'a H) -> &'a [T] {
        // SAFETY: C4: the slots from `start` on hold elements, and lie in one block (C1). The run is
        // borrowed, and nothing moves (C3).
        unsafe {
            let first = self.first(heap).add(self.start);
            NonNull::slice_from_raw_parts(first, self.len()).as_ref()
        }
    }

    /// The elements, mutable.
    #[inline]
    pub(crate) fn as_slice_mut<'a, H: ByteHeap<Names = N>>(
        &'a mut self,
        heap: &'a H,
    ) -> &'a mut [T] {
        // SAFETY: as in `as_slice`, and the run is borrowed exclusively.
        unsafe {
            let first = self.first(heap).add(self.start);
            NonNull::slice_from_raw_parts(first, self.len()).as_mut()
        }
    }

    /// Makes room for so many slots in all. May move objects.
    pub(crate) fn reserve<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &mut H,
        capacity: usize,
    ) -> Result<(), Refused> {
        let more = capacity.saturating_sub(self.slots.len());
        self.slots.reserve_exact(heap, more)
    }

    /// Gives back the slots behind the last element. May move objects.
    pub(crate) fn shrink<H: ByteHeap<Names = N>>(&mut self, heap: &mut H) -> Result<(), Refused> {
        self.slots.shrink_to_fit(heap)
    }

    /// Moves the elements so that so many slots are before them.
    ///
    /// # Panics
    /// If there are not so many slots, or if the run belongs to another heap.
    pub(crate) fn shift<H: ByteHeap<Names = N>>(&mut self, heap: &H, start: usize) {
        let (former, len) = (self.start, self.len());
        let end = start.max(former) + len;
        self.slots.set_len(heap, end);
        // C4, without elements, if one of the calls below panics.
        self.start = end;
        let slots = self.slots.slice_at_mut(heap, start.min(former));
        match start < former {
            true => slots.rotate_left(former - start),
            false => slots.rotate_right(start - former),
        }
        self.slots.set_len(heap, start + len);
        self.start = start;
    }

    /// Appends an element. It comes back if there is no room behind the others, or if the run has
    /// an object of another heap.
    #[inline]
    pub(crate) fn push_back<H: ByteHeap<Names = N>>(&mut self, heap: &H, value: T) -> Result<(), T>
    where
        T: Send,
    {
        let end = self.slots.len;
        if end >= self.capacity() || !self.is_of(heap) {
            return Err(value);
        }
        // SAFETY: C1, C4: a slot of the run, which is borrowed exclusively, with no element.
        unsafe { self.first(heap).add(end).write(value) };
        self.slots.len = end + 1;
        Ok(())
    }

    /// Puts an element before the others. It comes back as from [`Run::push_back`].
    #[inline]
    pub(crate) fn push_front<H: ByteHeap<Names = N>>(&mut self, heap: &H, value: T) -> Result<(), T>
    where
        T: Send,
    {
        if self.start == 0 || !self.is_of(heap) {
            return Err(value);
        }
        let start = self.start - 1;
        // SAFETY: as in `push_back`.
        unsafe { self.first(heap).add(start).write(value) };
        self.start = start;
        Ok(())
    }

    /// Takes the last element out.
    #[inline]
    pub(crate) fn pop_back<H: ByteHeap<Names = N>>(&mut self, heap: &H) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        let last = self.slots.len - 1;
        // SAFETY: C4: it is the last slot, and holds an element; the length says that it does no
        // more.
        let value = unsafe { self.first(heap).add(last).read() };
        self.slots.len = last;
        Some(value)
    }

    /// Takes the first element out.
    #[inline]
    pub(crate) fn pop_front<H: ByteHeap<Names = N>>(&mut self, heap: &H) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        // SAFETY: C4: it is the first slot with an element; `start` says that it has none then.
        let value = unsafe { self.first(heap).add(self.start).read() };
        self.start += 1;
        Some(value)
    }

    /// Verifies that the slots are whole, as [`Vec::check`] does, and that no more of them are
    /// before the first element than there are.
    pub(crate) fn check<H: ByteHeap<Names = N>>(&self, heap: &H) -> Result<(), Corruption> {
        self.slots.check(heap)?;
        let is_inside = self.start <= self.slots.len();
        ensure(
            is_inside,
            "C4",
            "a run that begins behind its end",
            self.start,
        )
    }

    /// Frees the object of a run without elements. May move objects.
    pub(crate) fn free<H: ByteHeap<Names = N>>(mut self, heap: &mut H) {
        debug_assert!(self.is_empty(), "elements would leak");
        self.slots.set_len(heap, 0);
        // An object without elements is freed, which is not refused.
        let _ = self.slots.shrink_to_fit(heap);
    }
}

impl<T, N: Names> Default for Run<T, N> {
    fn default() -> Self {
        Self::new()
    }
}

/// The first byte of the object of a run, which is never in pieces.
#[inline]
fn block<T, H: ByteHeap>(heap: &H, bytes: &<H::Names as Names>::Bytes) -> NonNull<T> {
    heap.block(bytes).expect("a run is contiguous").cast()
}

/// A run whose slots all hold elements, as many as a run has at most: a name without a length.
///
/// # Invariant
/// - C5 The name is that of a run of [`Run::most`] slots in its own heap, all with elements (C1,
///   C2), and nothing else names it. There is none for elements without bytes.
pub(crate) struct FullRun<T, N: Names> {
    name: Option<N::Name>,
    elements: PhantomData<T>,
}

impl<T, N: Names> FullRun<T, N> {
    /// A run without room.
    ///
    /// # Panics
    /// If it has room, or fewer slots than a run has at most.
    pub(crate) fn new<H: ByteHeap<Names = N>>(heap: &H, run: Run<T, N>) -> Self {
        let most = Run::<T, N>::most(heap.piece_bytes());
        assert!(
            run.is_of(heap) && run.len() == most && run.capacity() == most,
            "the run is full"
        );
        Self {
            name: run.slots.bytes.map(N::into_name),
            elements: PhantomData,
        }
    }

    /// The run with its length, which has room as soon as an element is taken out.
    ///
    /// # Panics
    /// If it has an object of another heap, or none.
    pub(crate) fn into_run<H: ByteHeap<Names = N>>(self, heap: &H) -> Run<T, N> {
        let bytes = self.bytes(heap).expect("a run with elements");
        assert!(heap.owns(&bytes), "the run belongs to another heap");
        let mut slots = Vec::new();
        slots.len = Run::<T, N>::most(heap.piece_bytes());
        slots.bytes = Some(bytes);
        Run { slots, start: 0 }
    }

    /// Whether there is no run.
    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.name.is_none()
    }

    /// The object. Of another heap it may have a wrong length: it is only asked for its heap then.
    #[inline]
    fn bytes<H: ByteHeap<Names = N>>(&self, heap: &H) -> Option<N::Bytes> {
        let len = Run::<T, N>::most(heap.piece_bytes()) * size_of::<T>();
        // SAFETY: C5: the object has this length, if it is one of this heap. All callers compare
        // the heap before they use it otherwise. Those that borrow the run use the second name as
        // long as the borrow lasts; the other one takes the run.
        self.name.as_ref().map(|name| unsafe { name.with_len(len) })
    }

    /// The elements.
    #[inline]
    pub(crate) fn as_slice<'a, H: ByteHeap<Names = N>>(&'a self, heap: &'a H) -> &'a [T] {
        let Some(bytes) = self.bytes(heap) else {
            return &[];
        };
        let (first, count) = (block(heap, &bytes), N::len(&bytes) / size_of::<T>());
        // SAFETY: C5: so many slots hold elements, in one block, whose heap `block` has compared.
        // The run is borrowed, and nothing moves (C3).
        unsafe { NonNull::slice_from_raw_parts(first, count).as_ref() }
    }

    /// The elements, mutable.
    #[inline]
    pub(crate) fn as_slice_mut<'a, H: ByteHeap<Names = N>>(
        &'a mut self,
        heap: &'a H,
    ) -> &'a mut [T] {
        let Some(bytes) = self.bytes(heap) else {
            return &mut [];
        };
        let (first, count) = (block(heap, &bytes), N::len(&bytes) / size_of::<T>());
        // SAFETY: as in `as_slice`, and the run is borrowed exclusively.
        unsafe { NonNull::slice_from_raw_parts(first, count).as_mut() }
    }

    /// Verifies that the object is whole and belongs to the heap.
    pub(crate) fn check<H: ByteHeap<Names = N>>(&self, heap: &H) -> Result<(), Corruption> {
        let bytes = self.bytes(heap);
        ensure(
            bytes.is_none_or(|bytes| heap.is_whole(&bytes, align_of::<T>())),
            "C1",
            "the object of a run is not whole, or of another heap",
            size_of::<T>(),
        )
    }
}

impl<T, N: Names> Default for FullRun<T, N> {
    fn default() -> Self {
        Self {
            name: None,
            elements: PhantomData,
        }
    }
}
