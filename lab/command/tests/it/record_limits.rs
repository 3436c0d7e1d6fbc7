//! `surefit record` where the log may not grow, or the program takes what it needs for that.

use serde_json::Value;
use surefit_trace::{Facts, Trace};
use tempfile::TempDir;

use crate::record::{folder, program, record, recorded};

#[test]
fn a_log_that_may_not_grow_ends_the_recording_and_not_the_program() {
    let folder = folder();
    let (status, document, trace) = recorded(&folder, &["--max-size", "1M"], "many");
    assert_eq!(status, Some(0));
    let why = document["recorded"][0]["ended"].as_str().expect("it ended");
    assert!(why.contains("--max-size"), "{why}");
    let events = trace.header().counts.events;
    assert!((40_000..=43_690).contains(&events), "{events}");
    // What is known of the whole process would be set against a part of its calls.
    let facts = Facts::load(folder.path().join("a.sft.zst"));
    let facts = facts.expect("sound").expect("facts");
    assert_eq!((facts.cpu_ns, facts.wall_ns), (None, None));
    assert_eq!((facts.grown_bytes, facts.is_whole), (None, Some(false)));
    // The system refuses more: it has the same effect as a full disk.
    let folder = self::folder();
    let mut command = record(
        &folder,
        &[
            "--format",
            "json",
            "--",
            "sh",
            "-c",
            "ulimit -f 2048; exec \"$0\" many",
        ],
    );
    let output = command.arg(program()).output().expect("the command runs");
    assert_eq!(output.status.code(), Some(0));
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let why = document["recorded"][0]["ended"].as_str().expect("it ended");
    assert!(why.contains("choose another place"), "{why}");
    let trace = Trace::load(folder.path().join("a.sft.zst")).expect("sound");
    assert!(trace.header().counts.events > 10_000);
}

/// What is recorded of our program under limits of a shell's `ulimit`: the exit status, and the
/// document.
fn under_limit(limit: &str, what: &str) -> (TempDir, Option<i32>, Value) {
    let folder = folder();
    let script = format!("ulimit {limit}; exec \"$0\" {what}");
    let mut command = record(&folder, &["--format", "json", "--", "sh", "-c", &script]);
    let output = command.arg(program()).output().expect("the command runs");
    let document = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    (folder, output.status.code(), document)
}

#[test]
fn a_limit_of_addresses_leaves_most_of_them_to_the_program() {
    // 2 GB, of which the program takes more than a half at once.
    let (_folder, status, document) = under_limit("-v 2000000", "large");
    assert_eq!(status, Some(0), "{document}");
    assert!(document["recorded"][0]["ended"].is_null(), "{document}");
    // 64 MB: the log ends, the program does not.
    let (_folder, status, document) = under_limit("-v 65536", "more");
    assert_eq!(status, Some(0), "{document}");
    let why = document["recorded"][0]["ended"].as_str().expect("it ended");
    assert!(why.contains("ulimit -v"), "{why}");
    let events = document["recorded"][0]["trace"]["events"].as_u64();
    assert!(events.is_some_and(|events| events > 300_000), "{events:?}");
}

#[test]
fn a_log_grows_whatever_the_program_does_with_its_descriptors() {
    for what in ["descriptors", "closes", "closes-and-opens"] {
        let folder = folder();
        let (status, document, trace) = recorded(&folder, &["--stacks"], what);
        assert_eq!(status, Some(0), "{what}");
        assert!(
            document["recorded"][0]["ended"].is_null(),
            "{what}: {document}"
        );
        assert!(trace.header().counts.events >= 100_000, "{what}");
    }
    // It can neither be kept open nor opened again.
    let folder = folder();
    let (status, document, trace) = recorded(&folder, &[], "closes-and-takes");
    assert_eq!(status, Some(0));
    let why = document["recorded"][0]["ended"].as_str().expect("it ended");
    assert!(why.contains("ulimit -n"), "{why}");
    assert!(trace.header().counts.events > 8000);
}

#[test]
fn it_is_said_if_there_is_no_room_for_stacks() {
    let folder = folder();
    // One or two megabytes, as the shell counts: less than the file of the stacks has at its
    // beginning.
    let script = "ulimit -f 2048; exec \"$0\" killed";
    let mut command = record(&folder, &["--stacks", "--", "sh", "-c", script]);
    let output = command.arg(program()).output().expect("the command runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let trace = Trace::load(folder.path().join("a.sft.zst")).expect("sound");
    assert!(trace.sites().is_none());
    let lost = format!(
        "{} allocations without a stack",
        trace.header().counts.objects
    );
    assert!(said.contains(&lost) && said.contains("ulimit -f"), "{said}");
}
