//! Programs in Rust that are recorded here, in memory.
#![deny(unsafe_code)]

use anyhow::{Result, anyhow};
use surefit_clients::programs::{Program, record};
use surefit_os::Reservation;

/// By how much a quick run makes the programs smaller, and so what lives in them.
const QUICK_DIVIDED_BY: u32 = 32;

/// Bytes that are allocated from one walk of a recording to the next: about as many as in the
/// bundled recordings of Java.
const EVERY: usize = 256 << 10;
const QUICK_EVERY: usize = 32 << 10;

/// Memory for all that a program allocates while it is recorded.
const MEMORY: usize = 1 << 30;

/// A program of a size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InRust {
    program: Program,
    pub(crate) size: u32,
    /// Bytes from one walk to the next.
    every: usize,
}

impl InRust {
    /// The program at its usual size, or at that of a quick run.
    pub(crate) const fn of(program: Program, quick: bool) -> Self {
        let (divided_by, every) = match quick {
            true => (QUICK_DIVIDED_BY, QUICK_EVERY),
            false => (1, EVERY),
        };
        Self {
            program,
            size: program.size() / divided_by,
            every,
        }
    }

    /// The name of the program.
    pub(crate) const fn name(&self) -> &'static str {
        self.program.name()
    }

    /// Runs it, and returns the recording.
    ///
    /// # Errors
    /// The operating system gives no memory, or the program allocates more than was asked for.
    pub(crate) fn record(&self) -> Result<Vec<u8>> {
        let mut memory = Reservation::new(MEMORY)?;
        let mut bytes = Vec::new();
        record(
            self.program,
            self.size,
            memory.memory(),
            self.every,
            &mut bytes,
        )
        .map_err(|error| anyhow!("{}: {error}", self.name()))?;
        Ok(bytes)
    }
}
