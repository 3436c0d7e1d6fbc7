//! Programs on the collector and on the free lists. The laboratory measures them beside recorded
//! allocations.
//!
//! | module | holds |
//! | --- | --- |
//! | `bisect` | the boundary between what is too small and what suffices |
//! | `java` | replays of recorded Java programs: real headers, slots, marking and sweeping |
//! | `programs` | classic programs in Rust |
//! | `lists` | segregated lists by their parameters: values, and the dispatch to types |
//! | `lua` | a Lua virtual machine in a region (feature `lua`) |
//!
//! # Features
//! - `lua`: the module `lua`. It compiles Lua from its C source, which needs a C compiler. It is
//!   off by default.
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod bisect;
pub mod java;
pub mod lists;
#[cfg(feature = "lua")]
pub mod lua;
pub mod programs;

/// The example of README.md compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
