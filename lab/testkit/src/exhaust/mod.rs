//! All orders of calls within small demands on real heaps, each in exactly its certified bytes.

pub mod region;
pub mod search;
pub mod shape;
