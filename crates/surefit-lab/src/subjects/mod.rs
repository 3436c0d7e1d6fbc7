//! The allocators under measurement: a file for each family, a line for each in `registry`.
//!
//! An adapter adds nothing to what it measures. Ours are always inlined into the replay loop; those of the peers are left
//! to the compiler, because forced inlining was measured and makes talc slower (25 ns a pair instead of 19) and rlsf no
//! faster.

pub(crate) mod block_table;
pub(crate) mod compact;
pub(crate) mod dlmalloc;
pub(crate) mod jamaica;
pub(crate) mod null;
pub(crate) mod pointer;
pub(crate) mod raw;
pub(crate) mod rlsf;
pub(crate) mod segregated;
pub(crate) mod sharded;
pub(crate) mod shared;
pub(crate) mod system;
pub(crate) mod talc;
