//! The types that every part of surefit shares.
//!
//! - [`Region`]: a region of memory.
//! - [`Refused`]: why a heap refused a request.
//! - [`Usage`]: the account of where every byte of a region is.
//! - [`Corruption`] and [`ensure`]: what a check of invariants found.
//! - [`RawHeap`]: the interface of heaps that hand out raw pointers.
//! - [`Numbers`]: unique numbers on any target.
//!
//! The crate has no dependency and does not use `alloc`.
//!
//! # Features
//! - `portable-atomic`, for targets without compare-and-exchange (Cortex-M0, ARMv5, RISC-V without
//!   A): takes claims and numbers from the `portable-atomic` crate. The program chooses there how
//!   they work, by that crate's feature `critical-section` or `unsafe-assume-single-core`. Without
//!   this feature, claims and numbers use loads and stores alone; that is as sound, but it may
//!   refuse callers that call at the same moment. The feature does not change other targets.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![no_std]
#![deny(
    clippy::std_instead_of_core,
    clippy::std_instead_of_alloc,
    clippy::alloc_instead_of_core
)]

#[cfg(test)]
extern crate alloc;
#[cfg(test)]
extern crate std;

mod corruption;
mod equal;
#[cfg(any(target_has_atomic = "32", feature = "portable-atomic"))]
mod exchange;
mod fetch;
mod numbers;
mod once;
mod point;
mod raw;
mod refused;
mod region;
#[cfg(any(test, not(any(target_has_atomic = "32", feature = "portable-atomic"))))]
mod splitter;
mod usage;
mod zero;

pub use corruption::{Corruption, ensure};
#[doc(hidden)]
pub use equal::{AT_ONCE, equal};
#[doc(hidden)]
pub use fetch::fetch;
pub use numbers::Numbers;
#[doc(hidden)]
pub use point::point;
pub use raw::RawHeap;
pub use refused::Refused;
pub use region::{Page1K, Page4K, Page16K, Page64K, PageAlign, Region};
pub use usage::Usage;
pub use zero::zero;

/// The example of README.md compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
