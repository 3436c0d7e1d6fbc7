//! `cf-paper`: Compact-fit as the papers measured it in their comparison with TLSF, without moves
//! and without abstract addresses ([`surefit_papers::cf_paper`]).

use std::alloc::Layout;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use anyhow::{Result, bail};
use surefit_core::{Corruption, Refused, Usage};
use surefit_papers::cf_paper::{Classes, FROM_16, FROM_32, GRANULE, Published};

use crate::keys::Keys;
use crate::subject::{Allocator, Pass, Subject, less_control};

/// Compact-fit as published, without moves and without abstract addresses.
#[derive(Debug)]
pub struct CfPaper;

/// The smallest page-block.
#[derive(Clone, Copy, Debug, Default)]
pub enum Smallest {
    /// 16 bytes.
    #[default]
    Bytes16,
    /// 32 bytes.
    Bytes32,
}

impl Smallest {
    fn classes(self) -> &'static Classes {
        match self {
            Self::Bytes16 => &FROM_16,
            Self::Bytes32 => &FROM_32,
        }
    }
}

impl Allocator for CfPaper {
    type Options = Smallest;

    const KEYS: &'static [&'static str] = &["min=16|32"];

    const HAS_POINTERS: bool = false;

    fn options(keys: &Keys) -> Result<Smallest> {
        match keys.get("min") {
            None | Some("16") => Ok(Smallest::Bytes16),
            Some("32") => Ok(Smallest::Bytes32),
            Some(other) => bail!("min={other}: write 16 or 32"),
        }
    }

    fn run<P: Pass>(
        smallest: &Smallest,
        memory: &mut [MaybeUninit<u8>],
        pass: P,
    ) -> Result<P::Output, Refused> {
        let memory = less_control::<Published<'_>>(memory)?;
        Ok(pass.run(Replayed(Published::new(memory, smallest.classes())?)))
    }
}

/// The published heap as the subject of a replay.
#[derive(Debug)]
struct Replayed<'m>(Published<'m>);

impl Subject for Replayed<'_> {
    type Object = NonNull<u8>;

    #[inline(always)]
    fn allocate(&mut self, layout: Layout, zeroed: bool) -> Result<NonNull<u8>, Refused> {
        let object = self.0.allocate(layout.size())?;
        if zeroed {
            // SAFETY: the object is new and has as many bytes.
            unsafe { object.write_bytes(0, layout.size()) };
        }
        Ok(object)
    }

    #[inline(always)]
    unsafe fn free(&mut self, object: NonNull<u8>, layout: Layout) {
        // SAFETY: S1 and S2 of `Subject`.
        unsafe { self.0.free(object, layout.size()) };
    }

    #[inline(always)]
    unsafe fn resize(
        &mut self,
        object: &mut NonNull<u8>,
        layout: Layout,
        new_size: usize,
    ) -> Result<(), Refused> {
        // SAFETY: S1 and S2 of `Subject`.
        *object = unsafe { self.0.resize(*object, layout.size(), new_size) }?;
        Ok(())
    }

    #[inline(always)]
    unsafe fn chunk<'a>(
        &'a mut self,
        object: &'a mut NonNull<u8>,
        layout: Layout,
        offset: usize,
    ) -> &'a mut [MaybeUninit<u8>] {
        // SAFETY: a live object has `layout.size()` bytes of its own (S1 and S2 of `Subject`); it
        // is borrowed exclusively, and so is the heap.
        let bytes = unsafe {
            std::slice::from_raw_parts_mut(object.as_ptr().cast::<MaybeUninit<u8>>(), layout.size())
        };
        &mut bytes[offset..]
    }

    fn usage(&self) -> Option<Usage> {
        let mut usage = self.0.usage();
        usage.administrative_bytes += size_of::<Published<'_>>().next_multiple_of(8);
        Some(usage)
    }

    fn check(&self) -> Result<(), Corruption> {
        self.0.check()
    }

    fn most_align(&self) -> usize {
        GRANULE
    }
}
