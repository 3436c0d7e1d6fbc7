//! A small Java virtual machine whose heap is a collector of `surefit-gc`, and nothing beside it.
//!
//! It runs class files that `javac --release 8` makes of programs without lambdas, by a loop over
//! their instructions. README.md says how it is built, and what it refuses.
//!
//! | file | holds |
//! | --- | --- |
//! | `program`, `jar` | where class files come from |
//! | `classfile`, `descriptor` | what a class file says |
//! | `decode`, `ops` | its code, as the interpreter runs it |
//! | `classes`, `lookup` | classes: their layout, their tables, what a name means |
//! | `world` | the collector's client: the roots, the references of objects |
//! | `heap`, `spaces` | any collector over any space |
//! | `vm` | the machine's state, and the objects that it makes |
//! | `strings`, `interned` | strings, and those of which there is only one for each text |
//! | `threads`, `switching` | threads, and which of them runs |
//! | `throw` | exceptions |
//! | `interpreter` | the loop |
//! | `native` | what the class library leaves to the machine |
//! | `run` | a run from the beginning to its end |
//! | `watch`, `meter` | what is noted of a run, and its clock |
//! | `nursery` | what a nursery would promote |
//! | `programs` | the programs that measure collectors |
//! | `stop` | why it ends |
#![forbid(unsafe_code)]

mod classes;
mod classfile;
mod decode;
mod descriptor;
mod heap;
mod interned;
mod interpreter;
mod jar;
mod lookup;
mod meter;
mod native;
mod nursery;
mod ops;
mod program;
mod programs;
mod run;
mod spaces;
mod stop;
mod strings;
mod switching;
mod threads;
mod throw;
mod vm;
mod watch;
mod world;
#[cfg(test)]
mod written;

pub use heap::OFFERED;
pub use nursery::{Minor, Promotions, Survivor};
pub use program::Program;
pub use programs::{Measuring, measuring};
pub use run::{Call, Least, Ran, clocked, least_heap, run, watch};
pub use spaces::Collecting;
pub use stop::Refusal;
pub use surefit_clients::java::{Sample, Space};
pub use watch::{Collected, Watched, Watching};
