//! A flight: a quad-rotor, and the processes on its one processor. Each has a quota of memory and a
//! budget of heap work; one certificate says before take-off that nobody is refused who keeps to
//! his demand. docs/flight.md tells it.
//!
//! On an operating system, `cargo run` flies the same as the image on a board, without counting
//! instructions. `ci/flight.sh` runs the image on emulated boards.
//!
//! | file | holds |
//! | --- | --- |
//! | `load` | the load, which a text describes: `load.txt` |
//! | `plan` | its certificate |
//! | `fixed`, `vehicle`, `control` | numbers with a point; the vehicle in the wind; what flies it |
//! | `radio` | the handler of an interrupt, and its mailbox |
//! | `memory`, `pointers`, `collected` | one interface for heaps; that of instances; those of raw pointers; a collector |
//! | `kinds` | which of them a flight has |
//! | `port` | a process's budget, and what it has used |
//! | `processes` | controller, mission, telemetry, log, guest |
//! | `monitor`, `report` | a period; a flight and its log |
//! | `board` | a clock that counts instructions, critical sections, the image |
//! | `host`, `heaps`, `picture` | on an operating system: arguments, other heaps, the picture |
#![cfg_attr(target_os = "none", no_std, no_main)]

mod board;
#[cfg(feature = "collector")]
mod collected;
mod control;
mod fixed;
#[cfg(not(target_os = "none"))]
mod heaps;
#[cfg(not(target_os = "none"))]
mod host;
mod kinds;
mod load;
mod memory;
mod monitor;
#[cfg(not(target_os = "none"))]
mod picture;
mod plan;
mod pointers;
mod port;
mod processes;
mod radio;
mod report;
#[cfg(test)]
mod tests;
mod vehicle;

#[cfg(target_os = "none")]
#[path = "../../src/start/stack.rs"]
mod stack;
#[cfg(all(target_os = "none", target_feature = "mclass"))]
#[path = "../../src/start/cortex_m.rs"]
mod start;
#[cfg(all(target_os = "none", not(target_feature = "mclass")))]
#[path = "../../src/start/xscale.rs"]
mod start;

#[cfg(not(target_os = "none"))]
fn main() -> std::process::ExitCode {
    host::main()
}
