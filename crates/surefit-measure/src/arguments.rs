//! Reading a command line: help and version go to standard output, a mistake is one line.

use std::io::{self, IsTerminal};

use anyhow::{Result, anyhow};
use clap::Parser;

use crate::output;

/// Reads this process's command line; `None` if it asked for help or the version, which are printed here.
///
/// # Errors
/// One line about the first thing that is wrong; standard output cannot be written.
pub fn read<C: Parser>() -> Result<Option<C>> {
    match C::try_parse() {
        Ok(cli) => Ok(Some(cli)),
        Err(error) if error.use_stderr() => {
            let first = first_paragraph(&error.to_string());
            Err(anyhow!("{first}; try --help"))
        }
        Err(help) => {
            let text = help.render();
            let text = if io::stdout().is_terminal() {
                text.ansi().to_string()
            } else {
                text.to_string()
            };
            output::print(&text).map(|()| None)
        }
    }
}

/// The first paragraph of a message in one line, without the word before it.
fn first_paragraph(message: &str) -> String {
    let lines = message
        .lines()
        .map(str::trim)
        .take_while(|line| !line.is_empty());
    let text = lines.collect::<Vec<_>>().join(" ");
    text.strip_prefix("error: ").unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::first_paragraph;

    #[test]
    fn a_message_is_its_first_paragraph() {
        let message = "error: the following is missing:\n  --allocator <SPEC>\n\nUsage: …";
        assert_eq!(
            first_paragraph(message),
            "the following is missing: --allocator <SPEC>"
        );
    }
}
