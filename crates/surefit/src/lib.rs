//! surefit: memory management whose time and space are known before the program runs.
//!
//! This crate re-exports the others by feature and adds nothing.
//!
//! - [`compact`] (feature `compact`): Compact-fit. [`compact::Heap`] hands out handles and compacts
//!   when it frees, within a bound. [`compact::KeyHeap`] names objects by copyable keys.
//!   [`compact::shared`] is for many threads. [`compact::certify`] computes how many bytes are
//!   enough, and [`compact::bounds`] has the proofs.
//! - [`collections`] (feature `collections`): vectors, strings and hash maps that live in a handle
//!   heap, so that a whole data structure never fragments.
//! - [`direct`] (feature `direct`): the same size-classes without moves. [`direct::DirectHeap`]
//!   hands out raw pointers, [`direct::shared`] to many threads.
//! - [`freelist`] (feature `freelist`): free-list systems over one region, TLSF among them.
//! - [`gc`] (feature `gc`): a mark-sweep collector over them, for language implementers and for
//!   Rust programs with cycles.
//!
//! All of it is `no_std` without `alloc`.
//!
//! # Features
//! | feature | default | what it does | what it costs |
//! | --- | --- | --- | --- |
//! | `compact` | yes | the module [`compact`] | the crates `zerocopy` and `lock_api` |
//! | `collections` | no | the module [`collections`]; includes `compact` | one small crate |
//! | `direct` | yes | the module [`direct`] | the crate `lock_api` |
//! | `freelist` | yes | the module [`freelist`] | no other crate |
//! | `gc` | yes | the module [`gc`]; includes `freelist` | compiles Compact-fit too |
//! | `holes` | yes | bounds in holes, unbounded heaps, `Config::DEFAULT`; without it a bound is in pages | flash |
//! | `many-classes` | yes | up to 128 size-classes, as in `Config::DEFAULT` and `direct::Standard`; without it up to 32 | flash |
//! | `pieces` | yes | byte objects in pieces; without it they have at most a page | flash |
//! | `slack` | yes | `compact::Heap::with_slack`: bytes that the demand leaves over become fewer moves; includes `holes` | flash |
//! | `derive` | no | `#[derive(Immutable)]` for objects that are pinned, `#[derive(Trace)]` for collected ones, `#[derive(Release)]` for those in containers | procedural macros are built |
//! | `std` | no | `compact::Heap::boxed`, a heap that owns its memory; cursors as `std::io`; `compact::shared::PerThread`; `HashMap` and `HashSet` in collected objects; includes `alloc` | the crate `thread_local`; needs `std` |
//! | `os` | no | `compact::os`: a heap that grows and shrinks with its demand, between two limits | the crates `surefit-os` and `libc`; needs `std` and Linux |
//! | `locked` | no | [`Locked`]: a raw-pointer heap behind a lock, as `#[global_allocator]` | the crate `lock_api` |
//! | `allocator-api2` | no | collections in a `Locked` heap of their own: `Vec::new_in`; includes `locked` | the crate `allocator-api2` 0.2 |
//! | `alloc` | no | `Box`, `Vec` and `String` in collected objects | needs `alloc` |
//! | `critical-section` | no | `compact::shared::CriticalSection`, a lock for bare metal | the crate `critical-section` |
//! | `portable-atomic` | no | shared heaps on targets without compare-and-exchange | the crate `portable-atomic`, on these targets only |
//!
//! A small board turns `holes`, `many-classes`, `pieces` and `slack` off: `default-features =
//! false`, and `features = ["compact"]`. `gc` has them on.
//!
//! # Examples
//! ```
//! use surefit::compact::{Config, Heap};
//! use surefit::{Page16K, Region};
//!
//! static CONFIG: Config = Config::DEFAULT;
//! static MEMORY: Region<{ 1 << 20 }, Page16K> = Region::new();
//!
//! let mut heap: Heap = Heap::new(MEMORY.take().expect("taken once"), &CONFIG)?;
//! let handle = heap.insert([1_u32, 2, 3])?;
//! assert_eq!(heap.get(&handle)[1], 2);
//! heap.free(handle); // may move other objects; their handles stay valid
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![cfg_attr(docsrs, feature(doc_cfg))]
#![no_std]

#[cfg(feature = "collections")]
#[doc(inline)]
pub use surefit_collections as collections;
#[cfg(feature = "compact")]
#[doc(inline)]
pub use surefit_compact as compact;
pub use surefit_core::{
    Corruption, Page1K, Page4K, Page16K, Page64K, PageAlign, RawHeap, Refused, Region, Usage,
};
#[cfg(feature = "direct")]
#[doc(inline)]
pub use surefit_direct as direct;
#[cfg(feature = "freelist")]
#[doc(inline)]
pub use surefit_freelist as freelist;
#[cfg(feature = "gc")]
#[doc(inline)]
pub use surefit_gc as gc;
#[cfg(feature = "locked")]
pub use surefit_locked::{Locked, OneThread};

/// The example of README.md compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
