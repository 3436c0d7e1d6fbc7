//! `cf:branded`: the same heap as `cf`, with handles of four bytes whose type names the heap.

use std::alloc::Layout;
use std::mem::MaybeUninit;
use std::ptr;

use surefit_compact::branded::{BrandedBytes, BrandedHeap, BrandedName, Scoped};
use surefit_core::{Corruption, Refused, Usage};

use super::figures::{classes, moves, usage};
use crate::subject::{Chosen, Classes, Moves, Subject, in_turns, increment_object};

/// A branded heap as the subject of a replay, for as long as its brand.
#[derive(Debug)]
pub(super) struct Branded<'h, 'm, 'b> {
    pub(super) heap: &'h mut BrandedHeap<'m, Scoped<'b>>,
    pub(super) piece_bytes: Option<usize>,
}

/// The name of an object; its length is in the step.
type Name<'b> = BrandedName<Scoped<'b>, MaybeUninit<u8>>;

/// The handle of a live object that the table goes on to name.
///
/// # Safety
/// The object has this length. The handle is another owner of the object: either it is not freed,
/// or the name is never used again.
#[inline(always)]
unsafe fn handle<'b>(name: &Name<'b>, len: usize) -> BrandedBytes<Scoped<'b>, MaybeUninit<u8>> {
    // SAFETY: the caller's promise; names have no destructor.
    unsafe { ptr::read(name).with_len(len) }
}

impl<'b> Subject for Branded<'_, '_, 'b> {
    type Object = Name<'b>;

    #[inline(always)]
    fn allocate(&mut self, layout: Layout, zeroed: bool) -> Result<Name<'b>, Refused> {
        if zeroed {
            return Ok(self.heap.alloc_zeroed(layout)?.into_uninit().into_name());
        }
        Ok(self.heap.alloc(layout)?.into_name())
    }

    #[inline(always)]
    unsafe fn free(&mut self, object: Name<'b>, layout: Layout) {
        // SAFETY: S1.
        let bytes = unsafe { object.with_len(layout.size()) };
        self.heap.free_bytes(bytes);
    }

    #[inline(always)]
    unsafe fn resize(
        &mut self,
        object: &mut Name<'b>,
        layout: Layout,
        new_size: usize,
    ) -> Result<(), Refused> {
        // SAFETY: the sizes of steps are below 2^32 and their alignments at most 2^30, far from
        // overflow.
        let new_layout = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        // SAFETY: S1; the name is that of the resized object, or stays as it is.
        let mut bytes = unsafe { handle(object, layout.size()) };
        self.heap.resize(&mut bytes, new_layout)?;
        *object = bytes.into_name();
        Ok(())
    }

    #[inline(always)]
    unsafe fn chunk<'a>(
        &'a mut self,
        object: &'a mut Name<'b>,
        layout: Layout,
        offset: usize,
    ) -> &'a mut [MaybeUninit<u8>] {
        // SAFETY: S1; the handle is not freed.
        let mut bytes = unsafe { handle(object, layout.size()) };
        let chunk = self.heap.chunk_mut(&mut bytes, offset);
        // SAFETY: the bytes belong to the object for as long as its name and the heap are borrowed.
        unsafe { &mut *ptr::from_mut(chunk) }
    }

    #[inline(always)]
    unsafe fn access_words(&mut self, turns: u64, chosen: &mut impl Chosen<Self::Object>) {
        let view = self.heap.view();
        in_turns!(turns, {
            let (object, layout) = chosen.next();
            // SAFETY: S1; the handle is not freed.
            let mut bytes = unsafe { handle(object, layout.size()) };
            // SAFETY: the caller wrote the word before.
            unsafe { increment_object!(view, &mut bytes) };
        });
    }

    fn usage(&self) -> Option<Usage> {
        Some(usage(self.heap.as_heap()))
    }

    fn classes(&self) -> Option<Classes> {
        let heap = self.heap.as_heap();
        Some(classes(heap, heap.config().geometry()))
    }

    fn check(&self) -> Result<(), Corruption> {
        self.heap.as_heap().check()
    }

    fn moves(&self) -> Option<Moves> {
        Some(moves(self.heap.as_heap()))
    }

    fn piece_bytes(&self) -> Option<usize> {
        self.piece_bytes
    }
}
