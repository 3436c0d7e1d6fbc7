//! Allocation traces: what a program asked of its allocator, event by event.
//!
//! The format is SFT1: a header of seven counters, and one record per event, about two bits each
//! once compressed. The module [`mod@format`] describes it.
//!
//! - [`Reader`] streams a trace in bounded memory. [`CheckedReader`] also checks every rule of the
//!   format, in memory that follows the most objects live at once.
//! - [`Trace`] holds a whole trace, at 16 bytes per event, for programs that replay it many times.
//! - [`Writer`] writes a trace, [`Spool`] one whose counters are not known before its end.
//!   [`Stats`] summarises one. [`generate`] makes synthetic programs.
//! - [`Facts`] says what is known of the recorded process beside its calls.
//! - [`Sites`] holds who called, if that was recorded; [`Callers`] says who allocates.
//! - [`graph`] reads and writes the other kind of recording: what a program with a garbage
//!   collector allocated, and which object referred to which.
//!
//! # Errors
//! [`TraceError`] names the file, the event, the byte and the mend, and prints as one line.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(unsafe_code)]

mod callers;
mod checker;
mod codec;
mod error;
mod event;
mod facts;
pub mod format;
mod frame;
pub mod generate;
pub mod graph;
mod header;
mod live;
mod open;
mod reader;
mod sites;
mod source;
mod spool;
mod stack;
mod stats;
mod tally;
mod trace;
mod writer;

pub use callers::{Caller, Callers};
pub use checker::Checker;
pub use error::{Position, Problem, TraceError};
pub use event::{Align, Call, Event, MAX_SIZE, Op};
pub use facts::{Beside, Facts};
pub use frame::Compressor;
pub use header::{Counts, Header, Peak};
pub use live::Live;
pub use open::open_file;
pub use reader::{CheckedReader, Reader};
pub use sites::{Frame, Sites, SitesBuilder};
pub use spool::Spool;
pub use stack::Stack;
pub use stats::{Calls, PowerClass, SizeCount, Stats};
pub use trace::{Trace, check_bytes};
pub use writer::Writer;

/// The example of README.md compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
