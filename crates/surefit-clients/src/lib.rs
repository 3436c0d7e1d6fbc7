//! Programs that live on the collector and on the free lists: what the laboratory measures beside recorded allocations.
//!
//! | module | holds |
//! | --- | --- |
//! | `java` | recorded Java programs, replayed: real headers, slots, marking and sweeping |
//! | `programs` | classic programs in Rust |
//! | `lua` | a Lua virtual machine in a region (feature `lua`) |

pub mod java;
#[cfg(feature = "lua")]
pub mod lua;
pub mod programs;
