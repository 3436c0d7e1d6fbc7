//! `cf-paper`: Compact-fit without moves and without abstract addresses, as the papers measured it
//! in their comparison with TLSF.
//!
//! `cf-direct` is our heap of this kind, with other pages, other size-classes and other free lists.
//! This one is for comparisons with the papers' figures only.
//!
//! ```text
//! allocate(bytes):
//!   c = class of bytes, by table          none: over 16,200 bytes, a run of whole pages
//!   p = oldest not-full page of c         none: a free page becomes one                      M1
//!       take p's first free page-block, by a bitmap of two levels; full: p leaves the list  M2, M3
//! free(object):
//!   p = page of the object's address, by shift; clear its bit
//!   p was full: now the newest not-full page of its class; p is empty: a free page     F1, F4, F5
//! ```
//! Pages have 16 KiB, of which a header takes 184 bytes: D = 16,200. Size-classes begin at 16 or 32
//! bytes (`min=`); each is an eighth larger than the one before, rounded up to four bytes, up to
//! 8000; the last one has a page-block per page. There is one instance, κ = ∞, and no
//! back-reference.
//!
//! # Invariants
//! - Q1 The bitmap of a page, its upper level and its count agree; its class exists.
//! - Q2 Each free page is in the free list; each page with a used and a free page-block is in the
//!   list of its class; no other page is in a list.
//! - Q3 A run covers as many pages as its first record says, and no others.
//!
//! M1 to M4 are those of `memory`.
//!
//! # Departures
//! 1. Objects over 16,200 bytes are runs of whole pages, found by a linear search. The papers leave
//!    such objects out. A run has no header; 8 bytes per page outside the pages describe it.
//! 2. There is no list of full pages: nothing reads it without moves.
//! 3. A request whose size is the size of a class is served by this class. In the published code it
//!    goes to the next one.
//! 4. There is no lock, because the tables are of one thread.
//!
//! # Drawbacks
//! Objects are aligned to four bytes, as on the papers' 32-bit machine, whatever a program asks
//! for. Replays need no more. Because of this, the heap hands out no pointers to programs.
//!
//! # Source
//! Craciunas et al. (2008), tables 3 and 4: "optimized, non-compacting CF". The size-classes, the
//! header and the order of the pages are those of the published code.

mod classes;
mod header;
mod heap;
mod memory;

use std::alloc::Layout;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use anyhow::{Result, bail};
use surefit_core::{Corruption, Parts, Refused};

use self::classes::{Classes, FROM_16, FROM_32, GRANULE};
use self::heap::Published;
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

    fn parts(&self) -> Option<Parts> {
        let mut parts = self.0.parts();
        parts.administrative_bytes += size_of::<Published<'_>>().next_multiple_of(8);
        Some(parts)
    }

    fn check(&self) -> Result<(), Corruption> {
        self.0.check()
    }

    fn most_align(&self) -> usize {
        GRANULE
    }
}
