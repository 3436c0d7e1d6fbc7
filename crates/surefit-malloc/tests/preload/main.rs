//! Programs in C under the preloaded library, which Cargo builds as an example beside the tests.
#![cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]

mod faults;
mod loading;
mod misuse;
mod program;
mod programs;
mod statistics;
