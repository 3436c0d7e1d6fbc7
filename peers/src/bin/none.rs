//! A process that allocates no tree: what resident memory and time are without any.

use std::process::ExitCode;

use surefit_peers::Trees;

/// No tree at all.
struct None;

impl Trees for None {
    fn build_and_count(&mut self, _depth: u32) -> Result<u64, String> {
        Ok(0)
    }

    fn build_and_keep(&mut self, _depth: u32) -> Result<(), String> {
        Ok(())
    }

    fn count_kept(&mut self) -> u64 {
        0
    }
}

fn main() -> ExitCode {
    surefit_peers::run(|_| Ok(None))
}
