//! The log of all tests: a line for each, and how many passed and failed.

use core::fmt::{self, Write};

use crate::bench::Tally;
use crate::failure::Failure;

/// The result of one test: what happened, moved objects, and the bytes of the heap.
pub type Outcome = Result<(Tally, u64, usize), Failure>;

/// Where the lines go, and how many tests passed and failed.
pub struct Log<'l> {
    to: &'l mut dyn Write,
    passed: u32,
    failed: u32,
}

impl<'l> Log<'l> {
    /// No test has run.
    pub fn new(to: &'l mut dyn Write) -> Self {
        Self {
            to,
            passed: 0,
            failed: 0,
        }
    }

    /// Logs the result of one test.
    ///
    /// # Errors
    /// If the log cannot be written.
    pub fn note(&mut self, name: &str, outcome: Outcome) -> fmt::Result {
        let (tally, moves, bytes) = match outcome {
            Ok(figures) => figures,
            Err(failure) => {
                self.failed += 1;
                return writeln!(self.to, "FAILED {name}: {failure}");
            }
        };
        self.passed += 1;
        let Tally {
            allocated,
            resized,
            refused,
            peak_bytes,
            ..
        } = tally;
        write!(
            self.to,
            "ok {name:<16} {bytes:>6} B: {allocated} allocated, {resized} resized, "
        )?;
        writeln!(
            self.to,
            "{refused} refused, {moves} moved, peak {peak_bytes} B"
        )
    }

    /// Logs how many tests passed and failed; false if one failed.
    ///
    /// # Errors
    /// If the log cannot be written.
    pub fn end(self) -> Result<bool, fmt::Error> {
        let Self { to, passed, failed } = self;
        writeln!(to, "{passed} passed; {failed} failed")?;
        Ok(failed == 0)
    }
}
