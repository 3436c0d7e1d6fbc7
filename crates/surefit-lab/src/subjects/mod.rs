//! The allocators under measurement: a file for each family, a line for each in `registry`.

pub(crate) mod compact;
pub(crate) mod dlmalloc;
pub(crate) mod null;
pub(crate) mod pointer;
pub(crate) mod raw;
pub(crate) mod rlsf;
pub(crate) mod system;
pub(crate) mod talc;
