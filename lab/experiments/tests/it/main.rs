//! `surefit-experiments` from outside; one test binary, so that it is linked once.

mod experiment;
mod layers;
mod malloc;
mod quick;
mod record;
mod schemas;
mod threads;

use std::process::Command;

/// The command.
fn experiments() -> Command {
    Command::new(assert_cmd::cargo::cargo_bin!("surefit-experiments"))
}

/// What the command prints.
fn printed(args: &[&str]) -> String {
    let output = experiments().args(args).output();
    let output = output.expect("the command runs");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {complaint}");
    String::from_utf8(output.stdout).expect("text")
}
