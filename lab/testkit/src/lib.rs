//! The test kit: the tests of every surefit heap use it. It is not part of any program.
//!
//! | file | holds |
//! | --- | --- |
//! | `model` | [`ShadowModel`]: which objects live, their lengths, the bytes they must hold |
//! | `heap` | [`ShadowHeap`]: a raw-pointer heap beside the model; knows every byte's owner |
//! | `script` | [`Op`]: scripts of operations, from seeded generators and from arbitrary bytes |
//! | `region` | [`JunkRegion`]: memory full of junk; [`ExactMemory`]: exact length and place |
//! | `random` | [`Random`]: seeded numbers |
//! | `layout` | layouts of byte objects, aligned to eight |
//! | `extremes` | sizes and layouts at both ends, and around every power of two |
//! | `exhaust` | all orders of calls within a small demand on real heaps |
//! | `flips` | each word of a heap changed: the checker tells it, or a drive proves it harmless |
//! | `growth` | the instructions of calls beside few and many objects, as a table |
//! | `small_trace`, `printed` | with the feature `command`: a trace in a file; what a command printed |
//!
//! # Examples
//! ```
//! use surefit_core::RawHeap;
//! use surefit_testkit::{JunkRegion, Shape, run_script, script};
//!
//! fn claim_holds(heap: &mut impl RawHeap, region: core::ops::Range<usize>) {
//!     let ops = script(Shape::Sawtooth, 7, 1000, 512);
//!     let tally = run_script(heap, region, &ops, 100).expect("no fault");
//!     assert!(tally.allocated > 0);
//! }
//! let _region = JunkRegion::new(4096, 4096, 7);
//! ```

pub mod exhaust;
pub mod extremes;
pub mod flips;
pub mod growth;
mod heap;
mod layout;
mod model;
#[cfg(feature = "command")]
mod printed;
mod random;
mod region;
mod script;
#[cfg(feature = "command")]
mod small_trace;

#[cfg(test)]
mod tests;

pub use heap::{ShadowHeap, Tally, run_script};
pub use layout::layout;
pub use model::{Fault, ObjectId, ShadowModel};
#[cfg(feature = "command")]
pub use printed::{broken, error_line, schema};
pub use random::Random;
pub use region::{ExactMemory, JunkRegion};
pub use script::{Op, Shape, ops_from_bytes, script};
#[cfg(feature = "command")]
pub use small_trace::{SmallTrace, small_trace, small_trace_with_call_sites};
