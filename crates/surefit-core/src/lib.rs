//! The vocabulary that every part of surefit shares.
//!
//! Regions of memory ([`Region`]), refusals ([`Refused`]), the account of where every byte of a region is
//! ([`Parts`]), what an invariant check found ([`Corruption`]), and the interface of heaps that hand out raw pointers
//! ([`RawHeap`]). No dependency, no `alloc`.
#![no_std]
#![deny(
    clippy::std_instead_of_core,
    clippy::std_instead_of_alloc,
    clippy::alloc_instead_of_core
)]

mod corruption;
mod parts;
mod raw;
mod refused;
mod region;
mod zero;

pub use corruption::Corruption;
pub use parts::Parts;
pub use raw::RawHeap;
pub use refused::Refused;
pub use region::{Page1K, Page4K, Page16K, Page64K, PageAlign, Region};
pub use zero::zero;
