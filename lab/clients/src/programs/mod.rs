//! Classic programs on garbage-collected objects. They use the collector's safe interface:
//! `#[derive(Trace)]` and no `unsafe`.
//!
//! | program | does | objects |
//! | --- | --- | --- |
//! | `trees` | builds binary trees and counts their nodes | small, of one size; most die young |
//! | `scheduler` | tasks of an operating system send packets | packets: some pass at once, some wait |
//! | `constraints` | solves one-way constraints incrementally | cycles; long chains |
//! | `loops` | finds the loops of a control-flow graph | a large graph, and union-find sets |
//! | `json` | reads documents, changes them, writes them | arrays and strings of all sizes |
//! | `rays` | traces rays through spheres and mirrors | vectors: most die at once, the picture's stay |
//! | `words` | counts words in a hash table of strings | strings; a growing array; long-lived lists |
//!
//! A program runs in steps. A step is a mutation: it allocates a little. The next step knows only
//! what this one left in the root. Between two steps [`Between`] decides whether to collect, or to
//! look at the objects.
//!
//! Each program can be recorded ([`record()`]) and replayed like a Java program.
//!
//! The result is a checksum that depends only on the program and its size.
#![deny(unsafe_code)]

mod between;
mod constraints;
mod json;
mod loops;
mod numbers;
mod program;
mod rays;
mod record;
mod scheduler;
mod trees;
mod words;

#[cfg(test)]
mod tests;

pub use between::{Between, Collecting, Stopped};
pub use program::Program;
pub use record::{RecordError, Recorded, record};
