//! Allocation: the fast path cuts an object from the open bump chunk and writes its kind.

use core::alloc::Layout;
use core::cell::{Cell, RefCell};
use core::fmt;

use surefit_core::Refused;
use surefit_freelist::{BumpChunk, Index};

use super::finalizable::Finalizable;
use super::full::Full;
use super::kinds::{Kind, Kinds};
use super::place::Place;
use super::supply::{ALIGNED, Source, Supply};

/// What a mutation allocates with. There the heap, `H`, is behind a pointer, so that programs do
/// not depend on its index.
pub(super) struct Allocator<'m, H: ?Sized> {
    bump: Cell<BumpChunk>,
    /// The address of granule 0.
    origin: usize,
    kinds: Kinds<'m>,
    finalizable: Finalizable,
    /// Why the last refused request was refused, and how many bytes it had.
    refused: Cell<Option<(Refused, usize)>>,
    refusals: Cell<u64>,
    source: RefCell<H>,
}

impl<'m, H> Allocator<'m, H> {
    pub(super) const fn new(source: H, origin: usize, kinds: Kinds<'m>) -> Self {
        Self {
            bump: Cell::new(BumpChunk::EMPTY),
            origin,
            kinds,
            finalizable: Finalizable::new(),
            refused: Cell::new(None),
            refusals: Cell::new(0),
            source: RefCell::new(source),
        }
    }
}

/// The layout of a value together with the words behind it.
const fn layout_for(kind: &Kind, value: Layout) -> Option<Layout> {
    match value.size().checked_add(kind.behind()) {
        Some(bytes) => match Layout::from_size_align(bytes, value.align()) {
            Ok(layout) => Some(layout),
            Err(_) => None,
        },
        None => None,
    }
}

/// The bytes of a value's chunk, header included.
pub(super) const fn chunk_bytes(kind: &Kind, value: Layout) -> usize {
    match layout_for(kind, value) {
        Some(layout) if layout.size() <= LARGE => {
            BumpChunk::granules_for(layout.size()) as usize * 8
        }
        _ => usize::MAX,
    }
}

/// The largest payload that the fast path cuts from the bump chunk, in bytes.
const LARGE: usize = u32::MAX as usize;

impl<H: Supply + ?Sized> Allocator<'_, H> {
    /// Allocates an object for a value of this layout and kind. Returns its place and the number of
    /// its kind.
    ///
    /// The object is [`UNFINISHED`] until `finish` is called for it.
    #[inline]
    pub(super) fn claim(&self, kind: &'static Kind, value: Layout) -> Result<(Place, u32), Full> {
        let Some(number) = self.kinds.number(kind) else {
            return Err(self.refuse(Refused::NoKind, value.size()));
        };
        match self.place(kind, value) {
            Some(place) => Ok((place, number)),
            None => self.place_slowly(kind, value).map(|place| (place, number)),
        }
    }

    /// Cuts an object from the bump chunk.
    #[inline]
    fn place(&self, kind: &Kind, value: Layout) -> Option<Place> {
        let layout = layout_for(kind, value)?;
        if layout.align() > ALIGNED || layout.size() > LARGE {
            return None;
        }
        let (mut bump, granules) = (self.bump.get(), BumpChunk::granules_for(layout.size()));
        // SAFETY: S1, S3: the bump chunk in the cell is the one that `source` left, and this copy
        // replaces it. S2: `granules_for`.
        let object = unsafe { bump.take(granules) }?;
        self.bump.set(bump);
        let bytes = granules as usize * 8 - 4;
        Some(Place { object, bytes })
    }

    #[cold]
    #[inline(never)]
    fn place_slowly(&self, kind: &Kind, value: Layout) -> Result<Place, Full> {
        let Some(layout) = layout_for(kind, value) else {
            let limit = isize::MAX as usize;
            return Err(self.refuse(Refused::TooLarge { limit }, limit));
        };
        // The index calls code of the caller (its fit), which may unwind. So the cell must not hold
        // a bump chunk that was closed meanwhile.
        let mut bump = self.bump.replace(BumpChunk::EMPTY);
        // SAFETY: S1: the bump chunk in the cell was the one that `source` left; it is replaced
        // below.
        let claimed = unsafe { self.source.borrow_mut().allocate(&mut bump, layout) };
        self.bump.set(bump);
        claimed.map_err(|refused| self.refuse(refused, layout.size()))
    }

    /// Writes the kind of an object whose value was written.
    ///
    /// # Safety
    /// S1: `claim` returned the place and the number for the kind, and the value was written.
    #[inline]
    pub(super) unsafe fn finish(&self, place: &Place, kind: &Kind, number: u32) {
        // SAFETY: S1: live, and `claim` asked for room behind the value.
        unsafe { place.set_kind(number) };
        if kind.is_finalizable() {
            let object = self.number_of(place);
            // SAFETY: S1, as above; the number is the object's.
            unsafe { self.finalizable.add(object, place) };
        }
    }

    /// The address of granule 0.
    pub(super) const fn origin(&self) -> usize {
        self.origin
    }

    fn number_of(&self, place: &Place) -> u32 {
        ((place.object.addr().get() - self.origin) / 8) as u32
    }

    #[cold]
    fn refuse(&self, refused: Refused, bytes: usize) -> Full {
        self.refusals.set(self.refusals.get() + 1);
        self.refused.set(Some((refused, bytes)));
        Full(())
    }

    /// Why the last refused request was refused.
    pub(super) fn refused(&self) -> Option<Refused> {
        self.refused.get().map(|(refused, _)| refused)
    }

    /// The bytes of the last refused request, if no chunk was large enough for it.
    pub(super) fn wanted(&self) -> Option<usize> {
        let (refused, bytes) = self.refused.get()?;
        matches!(refused, Refused::NoChunk).then_some(bytes)
    }

    /// The number of refused requests.
    pub(super) fn refusals(&self) -> u64 {
        self.refusals.get()
    }

    /// Free bytes, headers included.
    pub(super) fn free_bytes(&self) -> usize {
        self.source.borrow().free_bytes() + self.bump.get().bytes()
    }
}

impl<'m, I: Index> Allocator<'m, Source<'m, I>> {
    /// Closes the bump chunk, so that the heap can be swept. Returns the heap, the kinds and the
    /// finalizable objects.
    pub(super) fn closed(&mut self) -> (&mut Source<'m, I>, &Kinds<'m>, &Finalizable) {
        let source = self.source.get_mut();
        // SAFETY: S1: the bump chunk in the cell is the one that `source` left, and is empty then.
        unsafe { source.close(self.bump.get_mut()) };
        (source, &self.kinds, &self.finalizable)
    }
}

impl<H: ?Sized> fmt::Debug for Allocator<'_, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Allocator")
            .field("kinds", &self.kinds)
            .field("refusals", &self.refusals)
            .finish_non_exhaustive()
    }
}
