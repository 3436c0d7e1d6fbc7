//! The vocabulary that every part of surefit shares.
//!
//! Regions of memory ([`Region`]), refusals ([`Refused`]), the account of where every byte of a region is
//! ([`Parts`]), what an invariant check found ([`Corruption`]), and the interface of heaps that hand out raw pointers
//! ([`RawHeap`]), and what happens once on any target ([`Numbers`]). No dependency, no `alloc`.
//!
//! # Features
//! - `portable-atomic`, for targets without compare-and-exchange (Cortex-M0, ARMv5, RISC-V without A): claims and
//!   numbers come from the `portable-atomic` crate. The program says there how: by its feature `critical-section` or
//!   `unsafe-assume-single-core`. Without it they come from loads and stores alone, which is as sound, and may refuse callers
//!   that meet. Other targets are not changed by it.
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
#[cfg(any(test, not(any(target_has_atomic = "32", feature = "portable-atomic"))))]
mod doorway;
#[cfg(any(target_has_atomic = "32", feature = "portable-atomic"))]
mod exchange;
mod numbers;
mod parts;
mod raw;
mod refused;
mod region;
mod zero;

/// What happens at most once: by compare-and-exchange where the target or `portable-atomic` has it, else without.
mod once {
    #[cfg(not(any(target_has_atomic = "32", feature = "portable-atomic")))]
    pub(crate) use crate::doorway::{Counter, claim};
    #[cfg(any(target_has_atomic = "32", feature = "portable-atomic"))]
    pub(crate) use crate::exchange::{Counter, claim};
}

pub use corruption::{Corruption, ensure};
pub use numbers::Numbers;
pub use parts::Parts;
pub use raw::RawHeap;
pub use refused::Refused;
pub use region::{Page1K, Page4K, Page16K, Page64K, PageAlign, Region};
pub use zero::zero;

/// The example of README.md compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
