//! The allocators under measurement: one file per family, and one line per allocator in `registry`.
//! An adapter adds nothing to what it measures. Adapters of our heaps are always inlined into the
//! replay loop. For peers the compiler decides: measurements showed that forced inlining makes talc
//! slower (25 ns per pair instead of 19) and rlsf no faster.

pub mod block_table;
mod branded;
mod cf_keys;
pub mod cf_paper;
pub mod compact;
pub mod cooperating;
pub mod dlmalloc;
mod figures;
pub mod indirect;
pub mod jamaica;
pub mod lean;
mod name;
pub mod null;
pub mod os;
pub mod pointer;
pub mod raw;
pub mod rlsf;
pub mod segregated;
pub mod sharded;
pub mod shared;
pub mod shared_direct;
pub mod system;
pub mod talc;
