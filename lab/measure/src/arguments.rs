//! Reads a command line. Help and version go to standard output; a mistake is reported in one line.

use std::ffi::OsString;
use std::io::{self, IsTerminal};

use anyhow::{Result, anyhow};
use clap::error::{Error, ErrorKind};
use clap::{Command, CommandFactory, FromArgMatches, Parser};

use crate::error::say;
use crate::{output, wrap};

/// Reads the command line of this process; `None` if it asks for help or the version, which are
/// printed here. `help VERB` is `VERB --help`. Without any argument, the usage goes to standard
/// error.
///
/// # Errors
/// One line about the first mistake, with the word that may have been meant; standard output cannot
/// be written.
pub fn read<C: Parser>() -> Result<Option<C>> {
    match parsed(asking(std::env::args_os().collect())) {
        Ok(cli) => Ok(Some(cli)),
        Err(usage) if usage.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            say(&usage.render().to_string());
            Err(anyhow!("name a command"))
        }
        Err(error) if error.use_stderr() => {
            Err(anyhow!("{}; try --help", in_one_line(&error.to_string())))
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

/// What the words say; help fits the terminal.
fn parsed<C: CommandFactory + FromArgMatches>(words: Vec<OsString>) -> Result<C, Error> {
    let mut command = flowing(C::command()).term_width(wrap::width());
    let matches = command.try_get_matches_from_mut(words)?;
    C::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

/// The command, and those below it, with each paragraph after their options in one line: the
/// terminal's width breaks it, not the source's.
#[must_use]
pub fn flowing(command: Command) -> Command {
    let after = command.get_after_help().map(ToString::to_string);
    let command = match after {
        Some(text) => command.after_help(in_paragraphs(&text)),
        None => command,
    };
    command.mut_subcommands(flowing)
}

/// The text with the lines of each paragraph joined. Lines that are indented, items of lists, and
/// what follows a colon stay lines of their own.
fn in_paragraphs(text: &str) -> String {
    let mut joined = String::new();
    let mut goes_on = false;
    for line in text.lines() {
        let is_prose = line.starts_with(|first: char| first.is_alphanumeric() || first == '`');
        if !joined.is_empty() {
            joined.push(if goes_on && is_prose { ' ' } else { '\n' });
        }
        joined += line;
        goes_on = is_prose && !line.ends_with(':');
    }
    joined
}

/// The words of a command line, the program's name first: `help VERB` becomes `VERB --help`.
fn asking(mut words: Vec<OsString>) -> Vec<OsString> {
    if words.get(1).is_some_and(|word| word == "help") {
        words.remove(1);
        words.push("--help".into());
    }
    words
}

/// The message in one line: its first paragraph without the prefix `error:`, then the tips of later
/// paragraphs.
fn in_one_line(message: &str) -> String {
    let mut paragraphs = message.split("\n\n").map(joined);
    let first = paragraphs.next().unwrap_or_default();
    let first = first.strip_prefix("error: ").unwrap_or(&first).to_owned();
    let tips = paragraphs.filter_map(|text| Some(text.strip_prefix("tip: ")?.to_owned()));
    let tips = tips.chain(program_tip(&first, message));
    tips.fold(first, |line, tip| format!("{line}; {tip}"))
}

/// What is missing where a verb that runs a program finds it among its own arguments.
fn program_tip(first: &str, message: &str) -> Option<String> {
    let stray = first.strip_prefix("unexpected argument '")?;
    if stray.starts_with("--pid'") && message.contains("-- <COMMAND>") {
        let tip = "a program that already runs cannot be recorded: start it by surefit";
        return Some(tip.to_owned());
    }
    let is_program = !stray.starts_with('-') && message.contains("-- <COMMAND>");
    is_program.then(|| "write -- before the program and its arguments".to_owned())
}

/// The lines of a paragraph, joined to one line.
fn joined(paragraph: &str) -> String {
    let lines = paragraph.lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::{asking, in_one_line, in_paragraphs};

    #[test]
    fn help_may_be_the_first_word() {
        let asked = |words: &[&str]| {
            let words = asking(words.iter().map(Into::into).collect());
            words.join(" ".as_ref()).into_string().expect("plain")
        };
        assert_eq!(asked(&["surefit", "help"]), "surefit --help");
        let help = ["surefit", "help", "gc", "replay"];
        assert_eq!(asked(&help), "surefit gc replay --help");
        assert_eq!(asked(&["surefit", "gc", "help"]), "surefit gc help");
        assert_eq!(asked(&["surefit"]), "surefit");
    }

    #[test]
    fn lines_of_a_paragraph_are_joined_and_examples_are_not() {
        let text = "One\ntwo\nthree:\nfour\n\nExamples:\n  a\n  b\n- c\n- d\nfive";
        let expected = "One two three:\nfour\n\nExamples:\n  a\n  b\n- c\n- d\nfive";
        assert_eq!(in_paragraphs(text), expected);
    }

    #[test]
    fn a_message_is_its_first_paragraph_and_its_tips() {
        let message = "error: the following is missing:\n  --allocator <SPEC>\n\nUsage: …";
        assert_eq!(
            in_one_line(message),
            "the following is missing: --allocator <SPEC>"
        );
        let message =
            "error: no such verb 'compar'\n\n  tip: a similar one exists: 'compare'\n\nUsage: …";
        assert_eq!(
            in_one_line(message),
            "no such verb 'compar'; a similar one exists: 'compare'"
        );
    }

    #[test]
    fn a_program_without_the_dashes_before_it_is_named() {
        let usage = "\n\nUsage: surefit record --output <FILE> [-- <COMMAND>...]";
        let line = in_one_line(&format!("error: unexpected argument 'redis' found{usage}"));
        let tip = "write -- before the program and its arguments";
        assert_eq!(line, format!("unexpected argument 'redis' found; {tip}"));
        let line = in_one_line(&format!("error: unexpected argument '--fro' found{usage}"));
        assert_eq!(line, "unexpected argument '--fro' found");
        let line = in_one_line(&format!("error: unexpected argument '--pid' found{usage}"));
        assert!(line.contains("already runs cannot be recorded"), "{line}");
        let line = in_one_line("error: unexpected argument 'x' found\n\nUsage: surefit trace");
        assert_eq!(line, "unexpected argument 'x' found");
    }
}
