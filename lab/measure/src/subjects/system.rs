//! The platform's malloc, or a preloaded one. It does not use a region of ours.

use std::alloc::Layout;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use anyhow::Result;
use surefit_core::Refused;
use surefit_os::platform;

use super::pointer::Pointers;
use crate::keys::Keys;
use crate::pointer_heap::PointerHeap;
use crate::subject::{Allocator, Pass};

/// The platform's malloc.
#[derive(Debug)]
pub struct System;

impl Allocator for System {
    type Options = ();

    const IN_REGION: bool = false;

    fn options(_keys: &Keys) -> Result<()> {
        Ok(())
    }

    fn run<P: Pass>((): &(), _: &mut [MaybeUninit<u8>], pass: P) -> Result<P::Output, Refused> {
        Ok(pass.run(Pointers(Self)))
    }
}

// SAFETY: malloc allocates memory of its own, as long as asked, and aligned (`platform`).
unsafe impl PointerHeap for System {
    #[inline(always)]
    fn allocate(&mut self, layout: Layout) -> Result<NonNull<u8>, Refused> {
        platform::allocate(layout).ok_or(Refused::NoChunk)
    }

    #[inline(always)]
    fn allocate_zeroed(&mut self, layout: Layout) -> Result<NonNull<u8>, Refused> {
        platform::allocate_zeroed(layout).ok_or(Refused::NoChunk)
    }

    #[inline(always)]
    unsafe fn free(&mut self, object: NonNull<u8>, _layout: Layout) {
        // SAFETY: S1 and S2: the object is live and malloc's.
        unsafe { platform::free(object) };
    }

    #[inline(always)]
    unsafe fn resize(
        &mut self,
        object: NonNull<u8>,
        layout: Layout,
        new_layout: Layout,
    ) -> Result<NonNull<u8>, Refused> {
        // SAFETY: S1 and S2: the object is live, malloc's, and has this layout.
        unsafe { platform::resize(object, layout, new_layout.size()) }.ok_or(Refused::NoChunk)
    }
}
