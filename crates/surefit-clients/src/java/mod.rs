//! Recorded Java programs, replayed on the collector: real headers and slots, real marking and sweeping.
//!
//! ```text
//! object   | id | class | slots | slot 0 | slot 1 | ... | the rest, as long as in the virtual machine |
//!          0    4       8       12 bytes
//!
//! replay:  for every walk of the recording:
//!              allocate what was given since the walk before: each a root until this walk ends
//!              the walk, whole: references, roots
//! store:   source and target must live in the space and carry the recording's ids
//! ```
//! The recording says what was allocated and what referred to what, never when an object dies: that the collector finds out
//! by marking, when a request cannot be served. An object that the collector freed although the recording still refers
//! to it is a *reference to a freed object*: every one is counted, and there must be none.
//!
//! | file | holds |
//! | --- | --- |
//! | `program` | a recording, ready for many replays |
//! | `mutator` | which object is where, and the roots: the collector's client |
//! | `replay` | one replay |
//! | `outcome` | what it did: counts, collections, samples, times |
//! | `clock` | the clock of the times, and what it costs |
//! | `space` | every space by its parameters |
//! | `min_heap` | the smallest heap in which a program completes |
//!
//! # Departures
//! Thread stacks are no objects here; what they refer to is among the recorded roots. References change in batches, when a
//! walk ends; until then every new object is a root, so up to the recording's interval of garbage floats.
//!
//! # Source
//! `graphs/FORMAT.md`; the thesis on free-list organisation, chapter 4.
#![deny(unsafe_code)]

mod clock;
mod min_heap;
mod mutator;
mod outcome;
mod program;
mod replay;
mod space;

#[cfg(test)]
mod tests;

pub use min_heap::{MinHeap, min_heap};
pub use outcome::{Collected, FirstFreed, Moves, Outcome, Sample, Stopped, Times, completed};
pub use program::Program;
pub use replay::{Clocking, Options};
pub use space::Space;

pub use crate::lists::{Finds, Lists};
