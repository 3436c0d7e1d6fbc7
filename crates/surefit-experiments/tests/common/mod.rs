//! What the tests of the command share: how it is run.

use std::process::Command;

/// The command.
pub(crate) fn experiments() -> Command {
    Command::new(assert_cmd::cargo::cargo_bin!("surefit-experiments"))
}
