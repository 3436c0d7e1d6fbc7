//! Raw pointers from a region, and objects that never move: Compact-fit with κ = ∞.
//!
//! - [`DirectHeap`]: one owner. [`PooledHeap`] is its certified mode: [`certify`] computes how many
//!   bytes are enough for a demand.
//! - [`shared`]: many threads, each with an instance of its own.
//!
//! ```text
//! one_owner   pages of page-blocks, and runs of units, over one region
//! shared      the same, divided into an instance for each thread
//! ```
//! Neither uses the other: both partition pages by `surefit-classes`. The crate does not use
//! `alloc`. Heaps that compact are in `surefit-compact`.
//!
//! # Features
//! - `many-classes` (default): partitions of more than 32 size-classes, as [`Standard`].
#![cfg_attr(docsrs, feature(doc_cfg))]
#![no_std]
#![deny(
    clippy::std_instead_of_core,
    clippy::std_instead_of_alloc,
    clippy::alloc_instead_of_core
)]

mod one_owner;
#[cfg(target_has_atomic = "ptr")]
pub mod shared;

pub use one_owner::{
    DirectCertificate, DirectClassStats, DirectDemand, DirectHeap, DirectStats, FreeRuns,
    MAX_ALIGN, Partition, Partitioning, PooledHeap, Pools, Small, Standard, Tiny, certify,
    certify_blocks, certify_general, region_bytes,
};

/// The example of README.md compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
