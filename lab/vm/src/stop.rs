//! Why a program, or an instruction, does not go on.

use std::io;

use surefit_core::Refused;
use thiserror::Error;

/// A program that cannot run, or not on.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Refusal {
    /// A class file is damaged, or uses what the machine does not run.
    #[error("class {}: {}", one_line(class), one_line(what))]
    Damaged {
        /// The class, as in its file: `java/lang/Object`.
        class: String,
        /// What is wrong with it.
        what: String,
    },
    /// A class, a method or a field is neither in the program nor in the class library.
    #[error("{}: neither the program nor the class library has it", one_line(.0))]
    Missing(String),
    /// A jar or a folder that cannot be read.
    #[error("{}: {}", one_line(path), one_line(what))]
    Unreadable {
        /// The file.
        path: String,
        /// Why.
        what: String,
    },
    /// The program took more branches and calls than it was allowed.
    #[error("the program took more steps than it was allowed")]
    Endless,
    /// No thread can run: each waits for another one.
    #[error("all threads wait: {}", one_line(.0))]
    Deadlock(String),
    /// Standard output cannot be written.
    #[error("standard output: {0}")]
    Output(#[from] io::Error),
    /// The heap is too small for the machine itself.
    #[error("the heap is too small to begin in: {0}")]
    NoRoom(Refused),
}

/// A name of a class file, which may have any character, without those that control a terminal.
fn one_line(name: &str) -> String {
    let mut line = String::with_capacity(name.len());
    for character in name.chars() {
        match character.is_control() {
            true => line.extend(character.escape_default()),
            false => line.push(character),
        }
    }
    line
}

impl Refusal {
    pub(crate) fn damaged(class: &str, what: &str) -> Self {
        Self::Damaged {
            class: class.to_owned(),
            what: what.to_owned(),
        }
    }

    pub(crate) fn unreadable(path: &std::path::Path, what: impl ToString) -> Self {
        Self::Unreadable {
            path: path.display().to_string(),
            what: what.to_string(),
        }
    }
}

/// What ends an instruction early.
#[derive(Debug)]
pub(crate) enum Trap {
    /// An exception, which is among the roots.
    Thrown,
    /// The program asked to end.
    Exit(i32),
    Refused(Box<Refusal>),
}

impl From<Refusal> for Trap {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(Box::new(refusal))
    }
}

impl From<io::Error> for Trap {
    fn from(error: io::Error) -> Self {
        Refusal::from(error).into()
    }
}
