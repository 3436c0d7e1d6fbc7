//! Free-list systems over one region: [`Tlsf`], [`FirstFit`] and [`BestFit`]. No dependency but the core, no `alloc`.
//!
//! A region is tiled by *chunks*, each a four-byte header and a payload. All systems share one chunk layout and one
//! set of boundary tags ([`Heap`]); they differ only in the [`Index`] that remembers the free chunks.
//!
//! | file | holds |
//! | --- | --- |
//! | `memory` | the region as words; the only file that touches raw memory |
//! | `chunk` | headers, boundary tags, links of free chunks |
//! | `heap` | allocate, free, resize for every index: split, coalesce, align |
//! | `check` | the numbered invariants of the tiling, and where every byte is |
//! | `index` | what an index of free chunks must do |
//! | `two_level` | TLSF's index: two-level segregated fit |
//! | `list` | one list: first fit, best fit |
//!
//! # Examples
//! ```
//! use core::{alloc::Layout, mem::MaybeUninit};
//! use surefit_core::RawHeap;
//! use surefit_freelist::Tlsf;
//!
//! let mut memory = [MaybeUninit::uninit(); 65536];
//! let mut heap = Tlsf::new(&mut memory)?;
//! let layout = Layout::new::<[u64; 5]>();
//! let object = heap.allocate(layout)?;
//! // SAFETY: the object is live and has this layout.
//! unsafe { heap.free(object, layout) };
//! assert_eq!(heap.parts().total(), 65536);
//! # Ok::<(), surefit_core::Refused>(())
//! ```
#![no_std]
#![deny(
    clippy::std_instead_of_core,
    clippy::std_instead_of_alloc,
    clippy::alloc_instead_of_core
)]

mod check;
mod chunk;
mod heap;
mod index;
mod list;
mod memory;
mod two_level;

#[cfg(test)]
mod tests;

pub use heap::{Counters, Heap};
pub use index::Index;
pub use list::{Best, First, Fit, SingleList};
pub use two_level::TwoLevel;

/// Two-level segregated fit: constant time, good fit, immediate coalescing. See [`TwoLevel`].
pub type Tlsf<'m> = Heap<'m, TwoLevel>;
/// First fit over one list in the order in which chunks became free. See [`SingleList`].
pub type FirstFit<'m> = Heap<'m, SingleList<First>>;
/// Best fit over one list in the order in which chunks became free. See [`SingleList`].
pub type BestFit<'m> = Heap<'m, SingleList<Best>>;
