//! What the tests of the command share: how it is run.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

pub(crate) use surefit_testkit::{
    SmallTrace, error_line, small_trace, small_trace_with_call_sites,
};

/// The command.
pub(crate) fn surefit() -> Command {
    Command::new(assert_cmd::cargo::cargo_bin!("surefit"))
}

/// One allocator's result on a trace, as JSON.
pub(crate) fn result(file: &Path, allocator: &str, options: &[&str]) -> Value {
    let output = surefit()
        .args([
            "replay",
            "--format",
            "json",
            "--rounds",
            "1",
            "--allocator",
            allocator,
        ])
        .args(options)
        .arg(file)
        .output()
        .expect("the command runs");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{allocator}: {complaint}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}
