//! Containers that live wholly in one compacting heap, so that a whole data structure never
//! fragments: [`Vec`], [`VecDeque`], [`ByteString`], [`String`], [`HashMap`], [`BTreeMap`],
//! [`LruCache`].
//!
//! ```
//! use surefit_collections::{HashMap, String, Vec};
//! use surefit_compact::{Config, Heap};
//!
//! static CONFIG: Config = Config::DEFAULT;
//! let mut memory = vec![core::mem::MaybeUninit::uninit(); 1 << 20];
//! let mut heap: Heap = Heap::new(&mut memory, &CONFIG)?;
//!
//! // From a name to records of varied size.
//! let mut records = HashMap::with_hasher(std::hash::RandomState::new());
//! for i in 0..1000_u32 {
//!     let mut record = Vec::new();
//!     record.extend(&mut heap, 0..i % 50)?;
//!     let name = String::from_text(&heap, &format!("record {i}"))?;
//!     records.insert(&mut heap, name, record)?;
//! }
//! records.retain(&mut heap, |_, record| record.len() < 10);
//! assert_eq!(records.len(), 200);
//! let record = records.get(&heap, "record 203").expect("it was kept");
//! assert_eq!(record.as_slice(&heap), Some(&[0, 1, 2][..]));
//! records.free(&mut heap); // keys and values too
//! assert_eq!(heap.live_blocks().count(), 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How it works
//! **A container is an owning name**, as a handle is. It does not borrow the heap; its methods take
//! it. So containers lie in containers, and a program keeps as many as it likes in one heap. What
//! reads takes `&heap`, what may move objects `&mut heap`: the compiler refuses a reference that is
//! kept while objects may move. No closure gets the heap, so none can move what is borrowed.
//!
//! **Another heap is refused.** The object of a container carries the number of its heap. A method
//! of the wrong heap returns [`Refused::ForeignHandle`](surefit_core::Refused), or panics, and
//! nothing is lost. A container with [`Branded`] names does not compile with another heap.
//!
//! **Nothing is lost on a refusal.** Every growth returns a `Result`. A refused insertion gives the
//! value back ([`Full`](surefit_compact::Full)), and the container is as it was. A refused copy
//! releases what was copied.
//!
//! **What is discarded is released.** Elements may own objects of the heap: handles, other
//! containers. [`Release`] says how they give them back. Containers call it for what they discard,
//! and go on with the rest if it panics. A program that takes an element out owns it.
//!
//! **A type needs little.** Elements are [`Send`], as those of
//! [`Heap::insert`](surefit_compact::Heap::insert) are, and no larger than a piece (4 KiB in
//! [`Config::DEFAULT`](surefit_compact::Config)). To be discarded they need [`Release`], with an
//! empty implementation if they own nothing.
//!
//! # Costs
//! | container | bytes beside its elements | an access |
//! | --- | --- | --- |
//! | any object of the heap | 8 (an entry and a back-reference), and the rest of its page-block | a compare, a load, an add |
//! | [`Vec`], [`ByteString`], [`String`] | 24; up to twice the elements up to a large piece (16 KiB), at most one more beyond | in pieces one look-up per level of the spine |
//! | [`VecDeque`] | 112; as [`Vec`] up to a piece; beyond, two pieces that are not full and up to 128 per piece | a division, the run, then the element |
//! | [`HashMap`] | 128 per 10 to 64 entries; free slots for an eighth of a bucket's entries, below 4,096 entries for all of them | a bucket, then the entry |
//! | [`BTreeMap`] | 56 per node of 7 to 31 entries, which is at least half full; 48 per child | for each level a search in a node |
//! | [`LruCache`] | as [`HashMap`], and 20 per entry | as [`HashMap`]; a use changes four links |
//!
//! No insertion copies a whole container: a vector or deque beyond a piece grows by pieces, a map
//! by buckets. So a heap never needs room for two copies of a large container.
//!
//! # Drawbacks
//! - Dropping a container leaks its objects, as dropping a handle does. There is no way to free
//!   them without the heap.
//! - `index[i]`, `==` and `for x in &v` need the heap, so they are methods.
//! - [`String::as_str`] verifies the text.
//! - Containers do not live in heaps of keys, because whoever has a copy of a key removes the
//!   object, nor in those of many threads, because a reference there lasts as long as a guard.
//!
//! # Features
//! None is on by default; without them the crate is `no_std` and does not use `alloc`.
//!
//! - `derive`: `#[derive(Release)]`. A procedural macro is built (`syn`, `quote`).
//! - `std`: collections in a `BoxedHeap`, and `HashMap::new`. It needs `std`.
//! - `os`: collections in an `OsHeap`. It needs `std` and Linux.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![no_std]
#![deny(
    clippy::std_instead_of_core,
    clippy::std_instead_of_alloc,
    clippy::alloc_instead_of_core
)]

#[cfg(feature = "std")]
extern crate std;

mod btree;
mod clone;
mod compare;
mod demand;
mod deque;
mod drain;
mod heap;
mod lookup;
mod lru;
mod map;
mod names;
mod range;
mod release;
mod short;
mod shown;
mod storage;
mod text;
mod vec;

pub use btree::BTreeMap;
pub use clone::TryClone;
pub use compare::Compare;
pub use deque::{DrainDeque, VecDeque};
pub use drain::Drain;
pub use heap::ByteHeap;
pub use lookup::Lookup;
pub use lru::LruCache;
pub use map::{DrainMap, Entry, HashMap, OccupiedEntry, VacantEntry};
pub use names::{Branded, Checked, Names};
pub use release::Release;
pub use storage::{Slices, SlicesMut, Vec};
#[cfg(feature = "derive")]
#[cfg_attr(docsrs, doc(cfg(feature = "derive")))]
pub use surefit_collections_derive::Release;
pub use text::{ByteString, String};

/// What belongs to a [`BTreeMap`].
pub mod btree_map {
    pub use crate::btree::{Entry, OccupiedEntry, Range, RangeMut, VacantEntry};
}

/// The example of README.md compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
