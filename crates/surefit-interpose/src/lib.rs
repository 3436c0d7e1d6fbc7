//! Standing in for malloc in a program that was not built for it, by way of `LD_PRELOAD`.
//!
//! | module | holds |
//! | --- | --- |
//! | [`calls`] | the calls of malloc's family, and [`export!`], which makes a library export them |
//! | [`reports`] | the calls that ask what a heap holds, and [`export_reports!`] |
//! | [`next`] | the allocator that would have served them, and memory for calls before it is found |
//! | [`thread`] | words for each thread |
//! | [`fork`] | memory that a forked child finds zero; [`export_register_atfork!`], for who must be called first |
//! | [`kept`] | files that stay open in somebody else's program |
//! | [`streams`] | the lock that a fork takes before a malloc's locks |
//! | [`loading`] | libraries that are loaded later: [`export_dlopen!`]; a library that stays |
//!
//! Nothing here allocates, and nothing depends on another crate: the recorder is compiled without
//! Cargo. Linux with the GNU C library.
#![cfg(target_os = "linux")]
#![no_std]

pub mod calls;
pub mod fork;
pub mod kept;
pub mod loading;
pub mod next;
pub mod reports;
pub mod streams;
pub mod system;
pub mod thread;
