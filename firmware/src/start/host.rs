//! On an operating system: the same tests, for whoever changes them.

use std::fmt;
use std::io::Write;
use std::process::ExitCode;

/// The log, to standard output.
struct Log;

impl fmt::Write for Log {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        std::io::stdout()
            .write_all(text.as_bytes())
            .map_err(|_| fmt::Error)
    }
}

/// Runs the tests.
pub fn main() -> ExitCode {
    let damaged = std::env::args().any(|argument| argument == "damage");
    if crate::suite::tests(&mut Log, damaged) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
