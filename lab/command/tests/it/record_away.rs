//! `surefit record` on processes that go where they cannot be recorded, or stay silent until the
//! recording has ended: of each there is a trace or a line.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde_json::Value;
use surefit_testkit::{broken, schema};
use tempfile::TempDir;

use crate::record::{compile, folder, record};

/// `away.c`, compiled once.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    &PROGRAM
        .get_or_init(|| {
            let folder = folder();
            let path = folder.path().join("away");
            let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
            let made = compile(Command::new(compiler), "away.c", &path).status();
            assert!(made.expect("a C compiler").success(), "it does not compile");
            (folder, path)
        })
        .1
}

/// The document of what our program does in this way; none if this user may not do it.
fn away(folder: &TempDir, what: &str) -> Option<Value> {
    let empty = folder.path().join("empty");
    fs::create_dir(&empty).expect("a folder");
    let said = folder.path().join("said");
    let mut command = record(folder, &["--format", "json", "--", "sh", "-c"]);
    command.arg(r#"cd empty && exec "$0" "$@""#);
    let mut child = command
        .arg(program())
        .arg(what)
        .stdin(Stdio::piped())
        .stdout(File::create(&said).expect("a file"))
        .stderr(Stdio::null())
        .spawn()
        .expect("the command runs");
    let _input = child.stdin.take();
    let status = child.wait().expect("it ends").code();
    if status == Some(77) {
        eprintln!("NOT RUN: {what}: this user may not change its root");
        return None;
    }
    assert_eq!(status, Some(0), "{what}");
    let text = fs::read(&said).expect("text");
    let document = serde_json::from_slice(&text).expect("JSON");
    let schema = schema("record.json");
    assert_eq!(broken(&schema, &schema, &document, what), None);
    Some(document)
}

/// The events of the forked processes that have a trace.
fn forked(document: &Value) -> Vec<u64> {
    let rows = document["recorded"].as_array().expect("rows").iter();
    let rows = rows.filter(|row| row["forked"] == true);
    rows.filter_map(|row| row["trace"]["events"].as_u64())
        .collect()
}

/// Why the one process has none that has none.
fn why(document: &Value) -> &str {
    let rows = document["not_recorded"].as_array().expect("rows");
    assert_eq!(rows.len(), 1, "{document}");
    let program = rows[0]["program"].as_str().expect("a name");
    assert!(program.ends_with("/away"), "{program}");
    rows[0]["reason"].as_str().expect("a reason")
}

#[test]
fn a_daemon_that_asked_for_nothing_yet_is_named() {
    let folder = folder();
    let document = away(&folder, "daemon").expect("anybody may");
    assert!(forked(&document).is_empty(), "{document}");
    let why = why(&document);
    assert!(
        why.contains("no malloc yet") && why.contains("runs on"),
        "{why}"
    );
}

#[test]
fn children_that_changed_their_root_are_recorded() {
    for what in ["roots", "roots-forks"] {
        let folder = folder();
        let Some(document) = away(&folder, what) else {
            return;
        };
        assert_eq!(forked(&document), [2000], "{what}");
        assert_eq!(document["not_recorded"], Value::Array(vec![]), "{what}");
    }
}

#[test]
fn children_that_can_begin_no_log_are_named_with_the_reason() {
    for (what, reason) in [
        ("roots-closes", "without a change of root"),
        ("takes", "ulimit -n"),
        ("clears", "cleared its environment"),
    ] {
        let folder = folder();
        let Some(document) = away(&folder, what) else {
            continue;
        };
        assert!(forked(&document).is_empty(), "{what}");
        assert!(why(&document).contains(reason), "{document}");
        assert!(document["no_trace"].is_null(), "{document}");
    }
}

#[test]
fn children_that_closed_their_descriptors_are_recorded() {
    for what in ["closes", "closes-forks"] {
        let folder = folder();
        let document = away(&folder, what).expect("anybody may");
        assert_eq!(forked(&document), [2000], "{what}");
    }
}
