//! n-CF as the allocator of a whole process: for Rust programs the global allocator, for all others
//! malloc.
//!
//! | module | holds |
//! | --- | --- |
//! | `global`, `collections` | the interfaces: `GlobalAlloc`, malloc's family; with the feature `allocator-api2` collections |
//! | `serve` | allocate, free, resize |
//! | `thread` | the instance of each thread |
//! | `process` | the one heap; its beginning, forks |
//! | `options` | what the environment says |
//! | `misuse`, `text` | lines on standard error |
//! | `soft_limit` | the program's function for it |
//! | `ask` | statistics, limits and hints |
//! | `report`, `finish`, `errors` | statistics, and how they are written at the end |
//! | `os`, `lock` | memory and locks of the operating system |
//!
//! The example `surefit_malloc` is the library to preload. README.md says how to use both.
#![cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
#![no_std]

mod ask;
#[cfg(feature = "allocator-api2")]
mod collections;
mod errors;
mod finish;
mod global;
mod lock;
mod misuse;
mod options;
mod os;
mod process;
mod report;
mod serve;
mod soft_limit;
mod text;
mod thread;
mod word;

pub use global::SurefitMalloc;
pub use process::prepare_forks;

/// Ends the process after a defect of this library, with a line on standard error that says where.
/// It is for the panic handler of a library that exports malloc, which cannot allocate any more.
pub fn end(why: &dyn core::fmt::Display) -> ! {
    misuse::defect(why)
}
