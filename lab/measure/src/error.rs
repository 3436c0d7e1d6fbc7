//! How the command fails: with one line on stderr and an exit status.

use std::io::{self, Write};
use std::process::ExitCode;

/// Bad input: a file, name, number or configuration that is invalid.
const BAD_INPUT: u8 = 2;

/// A replay could not complete, or a measurement is above its proven bound.
pub const BROKEN: u8 = 1;

/// A replay that could not complete, a heap that broke an invariant, or a measurement above its
/// proven bound.
///
/// Every other error is bad input.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Broken(pub String);

/// Prints the error in one line and returns the exit status.
#[must_use]
pub fn report(error: &anyhow::Error) -> ExitCode {
    complain(&one_line(&format!("{error:#}")));
    ExitCode::from(status(error))
}

/// Prints an error to stderr, after the command's name. If stderr cannot be written, only the exit
/// status reports the error.
pub fn complain(text: &str) {
    say(&format!("surefit: {text}\n"));
}

/// Prints to stderr; if that fails, nothing is reported.
pub fn say(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// The exit status of an error.
#[must_use]
pub fn status(error: &anyhow::Error) -> u8 {
    if error.is::<Broken>() {
        BROKEN
    } else {
        BAD_INPUT
    }
}

/// The text without line breaks and other control characters, which file names and traces may
/// contain.
#[must_use]
pub fn one_line(text: &str) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    text.trim().chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::{Broken, one_line, status};

    #[test]
    fn an_error_is_one_line() {
        assert_eq!(one_line("a\nb\u{1b}[31m "), "a b [31m");
    }

    #[test]
    fn a_broken_bound_is_told_from_bad_input() {
        let broken = anyhow::Error::new(Broken("x".to_owned()));
        assert_eq!(status(&broken), 1);
        assert_eq!(status(&broken.context("while measuring")), 1);
        assert_eq!(status(&anyhow::anyhow!("x")), 2);
    }
}
