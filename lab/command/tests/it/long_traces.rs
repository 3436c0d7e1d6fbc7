//! Ten million events, in less memory than they would take: the same as of a thousand million
//! (ci/extra/long-traces.sh).

use std::process::{Command, Output};

use serde_json::Value;
use surefit_trace::Reader;

use crate::common::{result, small_trace, surefit};

/// The trace in memory takes 160 MB, and 480 MB while it is loaded.
const EVENTS: u64 = 10_000_000;

/// What the command gets: of this some 30 MB are for itself, and 31 for a heap of four times what
/// is live.
const ADDRESS_SPACE_KIB: &str = "140000";

fn limited(args: &[&str]) -> Output {
    let mut command = Command::new("sh");
    let script = format!("ulimit -v {ADDRESS_SPACE_KIB}; exec \"$0\" \"$@\"");
    let program = surefit().get_program().to_owned();
    command.args(["-c", &script]).arg(program).args(args);
    command.output().expect("sh starts")
}

#[test]
fn ten_million_events_are_made_checked_and_replayed_in_the_memory_of_what_is_live() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("long.sft");
    let file = path.to_str().expect("a plain name");
    let done = |args: &[&str]| {
        let output = limited(args);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{args:?}: {errors}");
        output.stdout
    };
    done(&["gen", "emacs-paper", "--allocations", "5000000", "-o", file]);
    let header = Reader::open(&path).expect("a trace").header().clone();
    assert!(header.counts.events > EVENTS - 100_000);
    done(&["trace", "check", file]);
    let replay = ["replay", file, "--allocator", "cf", "--format", "json"];
    let row = done(&[&replay[..], &["--stream", "--no-touch"]].concat());
    let row: Value = serde_json::from_slice(&row).expect("JSON");
    assert_eq!(row["mallocs"], 5_000_000);
    assert_eq!(row["completed"], true);
    // Without it, the limit is too narrow.
    assert!(!limited(&replay).status.success());
}

#[test]
fn a_streamed_replay_says_what_one_in_memory_says() {
    let trace = small_trace(17);
    for allocator in ["cf", "tlsf", "jamaica", "1-cf"] {
        let of = |options: &[&str]| {
            let mut row = result_without_rounds(&trace.path, allocator, options);
            for key in [
                "heap_bytes",
                "peak_footprint_bytes",
                "mallocs",
                "frees",
                "reallocs",
            ] {
                assert!(row[key].is_u64(), "{key}: {row}");
            }
            row["resident_over_time"].take();
            row
        };
        let streamed = of(&["--heap", "1M", "--stream"]);
        let whole = result(&trace.path, allocator, &["--heap", "1M"]);
        let all = streamed.as_object().expect("an object");
        assert!(all.get("pair_ns_mean").is_none());
        for (key, figure) in all {
            if key != "resident_over_time" && key != "resident_over_live_mean" {
                assert_eq!(figure, &whole[key], "{allocator}: {key}");
            }
        }
    }
}

fn result_without_rounds(file: &std::path::Path, allocator: &str, options: &[&str]) -> Value {
    let output = surefit()
        .args(["replay", "--format", "json", "--allocator", allocator])
        .args(options)
        .arg(file)
        .output()
        .expect("the command runs");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{allocator}: {complaint}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn what_cannot_be_streamed_is_refused_in_one_line() {
    let trace = small_trace(18);
    let file = trace.path.to_str().expect("a plain name");
    let refused = |args: &[&str], says: &str| {
        let line = crate::common::error_line(&surefit().args(args).output().expect("it runs"), 2);
        assert!(line.contains(says), "{line}");
    };
    let replay = ["replay", file, "--stream", "--allocator"];
    refused(&[&replay[..], &["system"]].concat(), "choose an allocator");
    refused(
        &["replay", "/nowhere", "--stream", "--allocator", "cf"],
        "/nowhere",
    );
    let cut = std::fs::read(&trace.path).expect("a trace");
    let short = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(short.path(), &cut[..cut.len() / 2]).expect("written");
    let short = short.path().to_str().expect("a plain name");
    refused(
        &["replay", short, "--stream", "--allocator", "cf"],
        "cut short",
    );
}
