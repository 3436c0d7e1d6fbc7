//! What `surefit record` says of the process, and `surefit trace` reads behind the trace.

use std::fs;
use std::process::{Command, Output};

use serde_json::Value;
use surefit_trace::Facts;

use crate::record::{folder, program, record, recorded};

fn trace(folder: &tempfile::TempDir, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_surefit"));
    command.arg("trace").args(arguments);
    command.current_dir(folder.path());
    command.output().expect("the command runs")
}

fn said(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn facts_lie_behind_the_trace_and_are_shown() {
    let folder = folder();
    let (_, document, _) = recorded(&folder, &[], "family");
    let process = &document["recorded"][0]["process"];
    let file = folder.path().join("a.sft.zst");
    let facts = Facts::load(&file).expect("sound").expect("facts");
    assert_eq!(process["cpu_ns"], Value::from(facts.cpu_ns));
    assert_eq!(process["is_beside_malloc"], false);
    assert_eq!(facts.is_whole, Some(true));
    assert!(facts.wall_ns > Some(0) && facts.grown_bytes.is_some());
    // A program with the C library is about as large as this, in any case less than its log.
    let resident = facts.peak_resident_bytes.expect("seen");
    assert!((200_000..100_000_000).contains(&resident), "{resident}");
    assert_eq!((facts.allocator, facts.own_allocator), (None, None));

    let shown = said(&trace(&folder, &["stats", "a.sft.zst"]).stdout);
    let version = env!("CARGO_PKG_VERSION");
    let line = format!("\nrecorded was recorded by surefit {version} record\n");
    assert!(shown.contains(&line), "{shown}");
    assert!(
        shown.contains("of processor time in") && shown.contains("peak resident"),
        "{shown}"
    );
    let json = trace(&folder, &["stats", "--format", "json", "a.sft.zst"]).stdout;
    let json: Value = serde_json::from_slice(&json).expect("a document");
    assert_eq!(&json["traces"][0]["process"], process);
}

#[test]
fn damaged_facts_are_named_and_the_trace_is_read() {
    let folder = folder();
    recorded(&folder, &[], "family");
    let file = folder.path().join("a.sft.zst");
    let whole = fs::read(&file).expect("a trace");
    fs::write(&file, &whole[..whole.len() - 3]).expect("written");
    let stats = trace(&folder, &["stats", "a.sft.zst"]);
    assert!(stats.status.success());
    assert!(!said(&stats.stdout).contains("was recorded by"));
    let line = "a.sft.zst: the facts behind the trace are damaged: they are cut short";
    let check = trace(&folder, &["check", "a.sft.zst"]);
    assert_eq!(check.status.code(), Some(2));
    for errors in [said(&stats.stderr), said(&check.stderr)] {
        assert!(
            errors.contains(line) && errors.lines().count() == 1,
            "{errors}"
        );
    }
}

#[test]
fn a_trace_that_is_not_compressed_has_none() {
    let folder = folder();
    let mut command = Command::new(env!("CARGO_BIN_EXE_surefit"));
    command.args(["record", "-o", "a.sft", "--"]).arg(program());
    let output = command.arg("family").current_dir(folder.path()).output();
    assert!(said(&output.expect("the command runs").stderr).contains("its process:"));
    assert!(
        Facts::load(folder.path().join("a.sft"))
            .expect("sound")
            .is_none()
    );
    assert!(trace(&folder, &["check", "a.sft"]).status.success());
}

#[test]
fn of_a_program_that_is_killed_the_time_is_known() {
    let folder = folder();
    let output = record(&folder, &["--", "sh", "-c", "kill -9 $$"]).output();
    assert_eq!(output.expect("the command runs").status.code(), Some(137));
    let facts = Facts::load(folder.path().join("a.sft.zst"))
        .expect("sound")
        .expect("facts");
    assert!(
        facts.cpu_ns.is_some() && facts.wall_ns > Some(0),
        "{facts:?}"
    );
    assert_eq!(facts.is_whole, Some(true));
}
