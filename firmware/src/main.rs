//! Tests of the heaps on a board without an operating system.
//!
//! The board's log goes to the debugger (semihosting), and so does its exit status: 0 if all tests
//! passed. `ci/boards.sh` builds the image for several boards and runs it in an emulator. On an
//! operating system, `cargo run` runs the same tests.
//!
//! | file | holds |
//! | --- | --- |
//! | `start` | the beginning of the program on each kind of processor |
//! | `suite`, `log` | all tests, one after another, and their log |
//! | `scale` | memory and operations of each test |
//! | `property` | random operations; everything is verified after each |
//! | `certified` | a heap in exactly its certified bytes |
//! | `replays`, `trace` | a recorded program, replayed on each heap where there is memory for it |
//! | `bench` | a heap beside the model of its objects |
//! | `contents` | the model of one object's bytes |
//! | `store`, `keys`, `pointers` | one interface for heaps of handles, of keys and of raw pointers |
//! | `random`, `failure` | seeded numbers; why a test failed |
#![cfg_attr(target_os = "none", no_std, no_main)]

mod bench;
mod certified;
mod contents;
mod failure;
mod keys;
mod log;
mod pointers;
mod property;
mod random;
#[cfg(not(small))]
mod replays;
mod scale;
mod start;
mod store;
mod suite;
#[cfg(not(small))]
mod trace;

#[cfg(not(target_os = "none"))]
fn main() -> std::process::ExitCode {
    start::host::main()
}
