//! Free-list systems over one region: single lists ([`FirstFit`], [`NextFit`], [`BestFit`],
//! [`WorstFit`]), segregated lists ([`SegregatedFit`], [`HalfFit`], [`Tlsf`]), and a tree
//! ([`TreeFit`]), and DL's bins ([`BinnedFit`]). The crate depends only on the core and does not
//! use `alloc`.
//!
//! *Chunks* tile a region; each is a four-byte header and a payload. These systems share one chunk
//! layout and one set of boundary tags ([`Heap`]). They differ only in the [`Index`] that stores
//! the free chunks. Two other systems divide the region in their own way: [`Buddy`] into powers of
//! two, [`jamaica`] into blocks of one size.
//!
//! | file | holds |
//! | --- | --- |
//! | `memory` | the region as words; the only file that touches raw memory |
//! | `chunk` | headers, boundary tags, links of free chunks |
//! | `heap` | allocate, free, resize for every index: split, coalesce, align |
//! | `check` | the numbered invariants of the tiling, and the account of every byte |
//! | `counters` | what heaps and their indexes count |
//! | `index` | what an index of free chunks must do |
//! | `policy` | when free neighbours are merged: never, deferred, immediate |
//! | `coalesce` | merging free chunks that a policy left apart |
//! | `sweep` | for a collector: objects by number, and freeing all dead ones in one pass |
//! | `bump_chunk` | a free chunk from which objects are cut by a comparison and an addition |
//! | `floor` | where the large objects begin, and how many there are |
//! | `large` | large objects at the other end of the region, for a collector |
//! | `end` | where the lists' chunks end; this moves for large objects, and in heaps that grow |
//! | `two_level` | TLSF's index: two-level segregated fit |
//! | `half_fit` | Half-fit's index: one list per power of two |
//! | `list` | one list: first fit, next fit, best fit, worst fit |
//! | `segregated` | one list per small size, and a last list |
//! | `lookup` | finding a list that holds a chunk, by walking the heads |
//! | `next_hit_table` | the same by the Next Hit Table |
//! | `bitmap` | the same by a bitmap of two levels |
//! | `last_list` | the last list: its interface, and its form as a walked list |
//! | `trie` | the last list as a tree |
//! | `binned` | DL's bins: exact, sorted, and a queue before them |
//! | `tree_fit` | best fit over a balanced tree of all free chunks |
//! | `buddy` | the binary buddy system, a heap of its own |
//! | `jamaica` | objects in blocks of one size, a heap of handles |
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
//! assert_eq!(heap.usage().total(), 65536);
//! # Ok::<(), surefit_core::Refused>(())
//! ```
#![cfg_attr(docsrs, feature(doc_cfg))]
#![no_std]
#![deny(
    clippy::std_instead_of_core,
    clippy::std_instead_of_alloc,
    clippy::alloc_instead_of_core
)]

mod binned;
mod bitmap;
mod buddy;
mod bump_chunk;
mod check;
mod chunk;
mod coalesce;
mod counters;
mod end;
mod enough;
mod floor;
mod half_fit;
mod heap;
mod index;
pub mod jamaica;
mod large;
mod last_list;
mod list;
mod lookup;
mod memory;
mod next_hit_table;
mod policy;
mod segregated;
mod sweep;
mod tree_fit;
mod trie;
mod two_level;

#[cfg(test)]
mod tests;

pub use binned::Bins;
pub use bitmap::Bitmap;
pub use buddy::{Buddy, BuddyCounters};
pub use bump_chunk::BumpChunk;
pub use counters::Counters;
pub use half_fit::PowersOfTwo;
pub use heap::Heap;
pub use index::Index;
pub use last_list::{LastList, Linear};
pub use list::{Best, First, Fit, Next, SingleList, Worst};
pub use lookup::{Lookup, Scan};
pub use next_hit_table::NextHitTable;
pub use policy::{Coalescing, Deferred, Immediate, Never, When};
pub use segregated::Segregated;
pub use sweep::Swept;
pub use tree_fit::SizeTree;
pub use trie::Tree;
pub use two_level::TwoLevel;

/// Two-level segregated fit: constant time, good fit, immediate coalescing. See [`TwoLevel`].
pub type Tlsf<'m> = Heap<'m, TwoLevel>;
/// First fit over one list, in the order in which chunks became free. See [`SingleList`].
pub type FirstFit<'m> = Heap<'m, SingleList<First>>;
/// Best fit over one list, in the order in which chunks became free. See [`SingleList`].
pub type BestFit<'m> = Heap<'m, SingleList<Best>>;
/// Best fit over a balanced tree: the smallest chunk; of several, the one with the lowest address.
/// See [`SizeTree`].
///
/// # Examples
/// ```
/// use core::{alloc::Layout, mem::MaybeUninit};
/// use surefit_core::RawHeap;
/// use surefit_freelist::TreeFit;
///
/// let mut memory = [MaybeUninit::uninit(); 65536];
/// let mut heap = TreeFit::new(&mut memory)?;
/// let object = heap.allocate(Layout::new::<[u64; 5]>())?;
/// assert_eq!(heap.counters().visits, 1, "the tree had one chunk");
/// # Ok::<(), surefit_core::Refused>(())
/// ```
pub type TreeFit<'m> = Heap<'m, SizeTree>;
/// Doug Lea's malloc up to version 2.7: exact and sorted bins, and a queue of chunks that no bin
/// holds yet. See [`Bins`].
///
/// # Examples
/// ```
/// use core::{alloc::Layout, mem::MaybeUninit};
/// use surefit_core::RawHeap;
/// use surefit_freelist::BinnedFit;
///
/// let mut memory = [MaybeUninit::uninit(); 65536];
/// let mut heap = BinnedFit::new(&mut memory)?;
/// heap.allocate(Layout::new::<[u64; 5]>())?;
/// assert_eq!(heap.counters().visits, 2, "the queue had one chunk, and then its bin");
/// # Ok::<(), surefit_core::Refused>(())
/// ```
pub type BinnedFit<'m> = Heap<'m, Bins>;
/// Worst fit over one list, in the order in which chunks became free. See [`SingleList`].
pub type WorstFit<'m> = Heap<'m, SingleList<Worst>>;
/// Next fit over one list, in the order in which chunks became free. See [`SingleList`].
pub type NextFit<'m> = Heap<'m, SingleList<Next>>;
/// Half-fit: constant time, one list per power of two, immediate coalescing. See [`PowersOfTwo`].
///
/// # Examples
/// ```
/// use core::{alloc::Layout, mem::MaybeUninit};
/// use surefit_core::RawHeap;
/// use surefit_freelist::HalfFit;
///
/// let mut memory = [MaybeUninit::uninit(); 4096];
/// let mut heap = HalfFit::new(&mut memory)?;
/// // About 3900 bytes are free, but a request gets at most the greatest power of two.
/// assert_eq!(heap.largest_request(), 2048 - 4);
/// heap.allocate(Layout::new::<[u64; 5]>())?;
/// # Ok::<(), surefit_core::Refused>(())
/// ```
pub type HalfFit<'m> = Heap<'m, PowersOfTwo>;
/// Segregated lists: `N` lists of exact sizes in units of `UNIT` bytes, and a last list. See
/// [`Segregated`].
///
/// # Examples
/// The thesis's lists, found through its Next Hit Table, with a last list that is searched from end
/// to end:
/// ```
/// use core::{alloc::Layout, mem::MaybeUninit};
/// use surefit_core::RawHeap;
/// use surefit_freelist::{Deferred, Linear, NextHitTable, SegregatedFit};
///
/// let mut memory = [MaybeUninit::uninit(); 65536];
/// let mut heap = SegregatedFit::<NextHitTable, Deferred, Linear, 128>::new(&mut memory)?;
/// let layout = Layout::new::<[u64; 5]>();
/// let object = heap.allocate(layout)?;
/// // SAFETY: the object is live and has this layout.
/// unsafe { heap.free(object, layout) };
/// assert_eq!(heap.counters().table_updates, 1, "the list of its size got its first chunk");
/// assert_eq!(heap.coalesce(), 1, "nothing was merged before");
/// # Ok::<(), surefit_core::Refused>(())
/// ```
/// The default is what replays of programs favour: a bitmap, merging at once, and a tree:
/// ```
/// # use core::mem::MaybeUninit;
/// # use surefit_freelist::SegregatedFit;
/// let mut memory = [MaybeUninit::uninit(); 65536];
/// let heap: SegregatedFit<'_> = SegregatedFit::new(&mut memory)?;
/// assert!(heap.table_bytes() < 1100);
/// # Ok::<(), surefit_core::Refused>(())
/// ```
pub type SegregatedFit<
    'm,
    L = Bitmap,
    C = Immediate,
    T = Tree,
    const N: usize = 256,
    const UNIT: usize = 8,
> = Heap<'m, Segregated<L, C, T, N, UNIT>>;

/// The example of README.md compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
