//! Traces from and for other tools.
//!
//! | module | holds |
//! | --- | --- |
//! | [`import`] | recordings of heaptrack, and of boards that send bytes as calls happen, as traces |
//! | [`export`] | traces as heaptrack and pprof read them |
//!
//! An importer recognises what it is given by its content. What a recording does not say, or lost,
//! is counted; what remains is a sound trace.
#![deny(unsafe_code)]

pub mod export;
pub mod import;
