//! Records what a program asks of malloc: every call, its thread, and one order of all of them.
//!
//! A library that is preloaded into the program stands in for malloc. It passes each call on, and
//! writes it into a log: a file that is mapped into the program, so that what was written stays
//! even if the program is killed. Each process has a log of its own. [`convert`](mod@convert) makes
//! a trace of one.
//!
//! | module | holds |
//! | --- | --- |
//! | [`log`] | the layout of a log |
//! | [`read`] | reading one |
//! | [`convert`](mod@convert) | from addresses to numbered objects |
//! | [`sites`] | the call sites of a log, with names |
//! | [`symbols`] | the functions of programs and libraries |
//! | [`program`] | whether a program can be recorded |
//! | [`begun`] | those that it begins and that cannot be |
//! | [`lost`] | processes that could not begin a log |
//! | [`living`] | processes that have the recorder in them |
//! | [`seen`] | what a process has taken |
//! | [`session`] | running it |
#![deny(unsafe_code)]

pub mod begun;
mod bytes;
pub mod convert;
pub mod living;
pub mod log;
pub mod lost;
mod own;
pub mod program;
pub mod read;
pub mod seen;
pub mod session;
pub mod sites;
pub mod symbols;
#[cfg(test)]
#[path = "../preload/tables/mod.rs"]
mod tables;

/// Errors of the operating system for which there is advice, by their numbers.
pub mod errors {
    use rustix::io::Errno;

    /// The process has as many files open as it may.
    pub const NO_DESCRIPTOR: i32 = Errno::MFILE.raw_os_error();
    /// There is no such file.
    pub const MISSING: i32 = Errno::NOENT.raw_os_error();
    /// The user may not open it.
    pub const ACCESS: i32 = Errno::ACCESS.raw_os_error();
}

/// The preloaded library; empty where recording is not supported.
pub static LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libsurefit_recorder.so"));
