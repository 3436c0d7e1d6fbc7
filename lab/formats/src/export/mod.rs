//! From the events of a trace to files of other tools.
//!
//! ```text
//! frame      where an allocation came from: frames of a call stack, or its thread and size-class
//! live       what lives, and the stack that it came from
//! heaptrack  heaptrack's interpreted format, for heaptrack_print and heaptrack_gui
//! pprof      a profile for pprof, over protobuf
//! ```
//!
//! An exporter takes an event and the number of the stack that allocated; it asks once for the
//! frames of each number, and gives them to the other tool. Whoever has real call stacks hands them
//! over so, with [`UNKNOWN`] for those that nobody knows; [`without_call_sites`] stands in for
//! them.

mod frame;
mod heaptrack;
mod live;
mod pprof;
mod protobuf;

pub use frame::{Frame, UNKNOWN, frames_without_call_sites, without_call_sites};
pub use heaptrack::HeaptrackWriter;
pub(crate) use heaptrack::NO_CALL_SITES;
pub use pprof::PprofWriter;
