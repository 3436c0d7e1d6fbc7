//! Heaps that hand out raw pointers, behind a lock: [`Locked`].
//!
//! - As a **global allocator** ([`core::alloc::GlobalAlloc`]) over a static region: for programs
//!   without an operating system, and for whole Linux programs.
//! - As an **allocator of collections** (`Allocator` of the crate `allocator-api2`): vectors, boxes
//!   and hash tables in a heap of their own, beside the program's global one.
//!
//! The heap is any [`RawHeap`](surefit_core::RawHeap): `DirectHeap` of `surefit-direct`, TLSF and
//! every other free-list system of `surefit-freelist`. The lock is any [`lock_api::RawMutex`]: a
//! spin lock, `CriticalSection` of `surefit-compact` on a microcontroller, or [`OneThread`] where
//! no other thread uses the heap.
//!
//! # Features
//! - `allocator-api2`: implements `Allocator` of that crate, version 0.2, for `&Locked`.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![no_std]
#![deny(
    clippy::std_instead_of_core,
    clippy::std_instead_of_alloc,
    clippy::alloc_instead_of_core
)]

#[cfg(test)]
extern crate std;

#[cfg(feature = "allocator-api2")]
mod collections;
mod global;
mod locked;
mod one_thread;
mod unwinding;

pub use locked::Locked;
pub use one_thread::OneThread;

/// The example of README.md compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
