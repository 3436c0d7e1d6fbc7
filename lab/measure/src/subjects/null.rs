//! The empty replay: the same loop and table look-ups without an allocator. Its time is subtracted
//! from that of every allocator.

use std::alloc::Layout;
use std::hint::black_box;
use std::mem::MaybeUninit;

use surefit_core::Refused;

use crate::subject::Subject;

/// Allocates nothing and touches nothing.
#[derive(Debug, Default)]
pub struct Null {
    next: usize,
}

impl Subject for Null {
    type Object = usize;

    #[inline(always)]
    fn allocate(&mut self, layout: Layout, _zeroed: bool) -> Result<usize, Refused> {
        black_box(layout);
        self.next += 8;
        Ok(self.next)
    }

    #[inline(always)]
    unsafe fn free(&mut self, object: usize, layout: Layout) {
        black_box((object, layout));
    }

    #[inline(always)]
    unsafe fn resize(
        &mut self,
        object: &mut usize,
        layout: Layout,
        new_size: usize,
    ) -> Result<(), Refused> {
        black_box((layout, new_size));
        *object = black_box(*object);
        Ok(())
    }

    #[inline(always)]
    unsafe fn chunk<'a>(
        &'a mut self,
        object: &'a mut usize,
        _layout: Layout,
        _offset: usize,
    ) -> &'a mut [MaybeUninit<u8>] {
        black_box(*object);
        &mut []
    }
}
