//! Names of files that are no UTF-8, and folders that go while the command works in them.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::ffi::OsStrExt as _;
use std::process::{Command, Stdio};

use surefit_trace::Trace;

use crate::common::{error_line, small_trace, surefit};
use crate::record::{folder, last_line, program};

#[test]
fn a_recording_goes_into_files_of_any_name() {
    let folder = folder();
    let name = OsStr::from_bytes(b"\xff\xe4.sft");
    let record = Command::new(env!("CARGO_BIN_EXE_surefit"))
        .args(["record", "-o"])
        .arg(name)
        .arg("--")
        .arg(program())
        .arg("forks")
        .current_dir(folder.path())
        .output()
        .expect("the command runs");
    assert_eq!(record.status.code(), Some(5), "{}", last_line(&record));
    let entries = fs::read_dir(folder.path()).expect("a folder");
    let mut names: Vec<_> = entries
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    names.sort();
    let further = [&b"\xff\xe4-2-recorded.sft"[..], b"\xff\xe4-3-recorded.sft"];
    let all: [OsString; 3] =
        [further[0], further[1], name.as_bytes()].map(|name| OsStr::from_bytes(name).to_owned());
    assert_eq!(names, all);
    Trace::load(folder.path().join(name)).expect("a sound trace");
}

#[test]
fn a_recording_that_can_hold_nothing_is_refused() {
    let cases = [
        ("--max-size", "1K", "give at least 8K"),
        ("--for", "0s", "give at least 1s"),
    ];
    for (option, value, mend) in cases {
        let record = ["record", "-o", "/dev/null", option, value, "--", "true"];
        let line = error_line(&surefit().args(record).output().expect("it runs"), 2);
        assert!(line.contains(option) && line.contains(mend), "{line}");
    }
}

#[test]
fn a_folder_of_logs_that_was_removed_is_named() {
    let folder = folder();
    let mut child = Command::new(env!("CARGO_BIN_EXE_surefit"))
        .args([
            "record",
            "-o",
            "a.sft",
            "--",
            "sh",
            "-c",
            "echo begun; read line",
        ])
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command runs");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    assert_eq!(lines.next().expect("a line").expect("text"), "begun");
    let mut entries = fs::read_dir(folder.path()).expect("a folder");
    let logs = entries.next().expect("one").expect("an entry").path();
    fs::remove_dir_all(&logs).expect("removed");
    drop(child.stdin.take());
    let line = error_line(&child.wait_with_output().expect("it ends"), 2);
    let name = logs.file_name().expect("a name").to_str().expect("plain");
    assert!(
        line.contains(name) && line.contains("was removed"),
        "{line}"
    );
}

#[test]
fn a_configuration_with_a_name_that_cannot_stand_in_a_key_is_refused() {
    let trace = small_trace(14);
    let folder = folder();
    let config = folder.path().join(OsStr::from_bytes(b"\xff.toml"));
    fs::write(&config, "allocator = \"cf\"\n").expect("a file");
    for verb in [
        &["replay"][..],
        &["compare"],
        &["certify", "--trace"],
        &["report", "-o", "/dev/null"],
    ] {
        let mut command = surefit();
        command
            .args(verb)
            .arg(&trace.path)
            .arg("--config")
            .arg(&config);
        let line = error_line(&command.output().expect("it runs"), 2);
        assert!(line.contains("must be UTF-8"), "{verb:?}: {line}");
    }
}
