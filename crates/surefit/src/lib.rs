//! surefit: memory management whose time and space are known before the program runs.
//!
//! This crate is the face: it re-exports the others by feature and adds nothing.
//!
//! - [`compact`] (feature `compact`): Compact-fit. [`compact::Heap`] hands out handles and compacts as it frees, within a
//!   bound; [`compact::KeyHeap`] names objects by copyable keys; [`compact::DirectHeap`] hands out raw pointers and never
//!   moves; [`compact::shared`] is for many threads; [`compact::certify`] says how many bytes are
//!   enough.
//! - [`freelist`] (feature `freelist`): free-list systems over one region, TLSF among them.
//! - [`gc`] (feature `gc`): a mark-sweep collector over them, for language implementers.
//!
//! All of it is `no_std` without `alloc`.
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
//! heap.free(handle); // may move other objects; handles stay good
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![no_std]

#[cfg(feature = "compact")]
#[doc(inline)]
pub use surefit_compact as compact;
pub use surefit_core::{
    Corruption, Page1K, Page4K, Page16K, Page64K, PageAlign, Parts, RawHeap, Refused, Region,
};
#[cfg(feature = "freelist")]
#[doc(inline)]
pub use surefit_freelist as freelist;
#[cfg(feature = "gc")]
#[doc(inline)]
pub use surefit_gc as gc;
