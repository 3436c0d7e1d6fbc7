//! Replays of recorded Java programs on the collector: real headers and slots, real marking and
//! sweeping.
//!
//! ```text
//! object   | id | class | slots | slot 0 | slot 1 | ... | the rest, as long as in the recording |
//!          0    4       8       12 bytes
//!
//! replay:  for every walk of the recording:
//!              allocate the objects since the last walk: each is a root until this walk ends
//!              apply the whole walk: references, roots
//! store:   source and target must live in the space and carry the recording's ids
//! ```
//! The recording says what was allocated and which references there were, but never when an object
//! dies: the collector finds this out by marking, when a request cannot be served. If the recording
//! refers to an object that the collector has freed, this is a *reference to a freed object*. The
//! replay counts all of them; there must be none.
//!
//! | file | holds |
//! | --- | --- |
//! | `program` | a recording, ready for many replays |
//! | `mutator` | where each object is, and the roots: the collector's client |
//! | `roots` | the roots, and how a collector gets them |
//! | `replay` | one replay |
//! | `outcome` | the result of a replay: counts, collections, samples, times |
//! | `clock` | the clock that takes times, and its cost |
//! | `space` | every space by its parameters |
//! | `min_heap` | the smallest heap in which a program completes |
//! | `heap` | what the program needs of any collector |
//! | `scheduled` | one replay on the collector that works in steps, under a schedule |
//! | `log` | its clock, which notes when the collector worked |
//! | `stopwatch` | the processor time of a thread, for about the cost of a wall clock |
//!
//! # Departures
//! Thread stacks are not objects here; what they refer to is among the recorded roots. References
//! change in batches, at the end of a walk. Until then every new object is a root, so floating
//! garbage is at most the recording's interval between walks.
//!
//! # Source
//! [`surefit_trace::graph::format`]; the thesis on free-list organisation, chapter 4.
#![deny(unsafe_code)]

mod clock;
mod heap;
mod log;
mod min_heap;
mod mutator;
mod outcome;
mod program;
mod replay;
mod roots;
mod scheduled;
mod space;
mod stopwatch;

#[cfg(test)]
mod tests;

pub use clock::Clocking;
pub use log::{Log, Timing, WINDOWS_NS, utilisation};
pub use min_heap::{MinHeap, least_heap, min_heap};
pub use outcome::{Collected, FirstFreed, Moves, Outcome, Sample, Stopped, Times, completed};
pub use program::Program;
pub use replay::Options;
pub use scheduled::{Floating, Ran, Requests, Scheduled, Stepped};
pub use space::Space;

pub use crate::lists::{Finds, Lists};
