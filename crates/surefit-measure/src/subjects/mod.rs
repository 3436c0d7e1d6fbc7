//! The allocators under measurement: a file for each family, a line for each in `registry`.
//!
//! An adapter adds nothing to what it measures. Ours are always inlined into the replay loop; those of the peers are left
//! to the compiler, because forced inlining was measured and makes talc slower (25 ns a pair instead of 19) and rlsf no
//! faster.

pub mod block_table;
mod cf_keys;
pub mod compact;
pub mod dlmalloc;
pub mod jamaica;
pub mod null;
pub mod pointer;
pub mod raw;
pub mod rlsf;
pub mod segregated;
pub mod sharded;
pub mod shared;
pub mod system;
pub mod talc;
