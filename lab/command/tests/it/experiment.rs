//! `surefit experiment` hands its words on: here to a script in the place of the other command.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::common::{error_line, surefit};

/// The command in a folder of its own, with a script beside it that stands for the experiments.
struct Beside {
    directory: TempDir,
    command: PathBuf,
}

impl Beside {
    fn new(script: Option<&str>) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let command = directory.path().join("surefit");
        fs::copy(surefit().get_program(), &command).expect("copied");
        if let Some(script) = script {
            let path = directory.path().join("surefit-experiments");
            fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("written");
            let may_run = fs::Permissions::from_mode(0o755);
            fs::set_permissions(&path, may_run).expect("executable");
        }
        Self { directory, command }
    }

    fn run(&self, words: &[&str]) -> Output {
        let mut command = Command::new(&self.command);
        command.arg("experiment").args(words);
        // nothing is found on the search path but what stands beside the command
        command.env("PATH", self.directory.path());
        command.output().expect("the command runs")
    }
}

#[test]
fn words_output_and_status_are_those_of_the_other_command() {
    let beside = Beside::new(Some("echo \"$@\"; echo complaint >&2; exit 1"));
    for words in [
        &["figure-10", "--format", "json"][..],
        &["--help"],
        &["all", "-o", "x", "--quick"],
        &[],
    ] {
        let output = beside.run(words);
        assert_eq!(output.status.code(), Some(1), "{words:?}");
        let printed = String::from_utf8(output.stdout).expect("text");
        assert_eq!(printed.trim_end(), words.join(" "));
        assert_eq!(output.stderr, b"complaint\n");
    }
    assert!(Beside::new(Some("exit 0")).run(&["list"]).status.success());
}

#[test]
fn an_absent_or_a_killed_command_is_one_line() {
    let absent = error_line(&Beside::new(None).run(&["list"]), 2);
    assert!(absent.contains("is not installed"), "{absent}");
    assert!(absent.contains("cargo install --path lab/experiments"));
    let killed = error_line(&Beside::new(Some("kill -9 $$")).run(&["list"]), 1);
    assert!(killed.contains("signal: 9"), "{killed}");
}
