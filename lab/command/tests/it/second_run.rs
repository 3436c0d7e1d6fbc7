//! A heap as large as one run's demand is certified for serves a second run of the same program,
//! whose input differs.

use std::path::{Path, PathBuf};

use crate::common::{result, surefit};
use serde_json::{Value, json};

/// How much more than the first run's demand is certified where a margin is asked for, in percent.
const MARGIN_PERCENT: u64 = 5;

/// A recording of `traces/`.
fn recording(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../traces/{name}.sft.zst"))
}

fn certify(from: &str, file: &Path, spec: &str) -> Value {
    let output = surefit()
        .args(["certify", "--format", "json", "--allocator", spec, from])
        .arg(file)
        .output()
        .expect("the command runs");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{spec}: {complaint}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn number(value: &Value) -> u64 {
    value.as_u64().expect("a number")
}

/// Page-blocks and their bytes, at most live at once.
fn demand(report: &Value) -> (u64, u64) {
    let [blocks, bytes] = ["objects", "block_bytes"].map(|name| number(&report["demand"][name]));
    (blocks, bytes)
}

/// Replays the second run, every byte written and verified, in a heap of at most this many bytes.
fn replay_second_run(spec: &str, heap_bytes: u64) {
    let heap_bytes = heap_bytes - heap_bytes % 8;
    let options = ["--heap", &heap_bytes.to_string()];
    let row = result(&recording("python-b"), spec, &options);
    assert_eq!(
        row["completed"], true,
        "{spec} in {heap_bytes} bytes: {row}"
    );
    assert_eq!(row["heap_bytes"], heap_bytes, "not a byte more");
}

#[test]
fn a_second_run_completes_in_the_bytes_certified_for_the_first() {
    for spec in ["cf", "cf:keys", "cf:k=1"] {
        let report = certify("--trace", &recording("python-a"), spec);
        replay_second_run(spec, number(&report["heap_bytes"]));
    }
}

#[test]
fn a_second_run_stays_within_a_margin_of_the_first_runs_demand() {
    let first = demand(&certify("--trace", &recording("python-a"), "cf"));
    let second = demand(&certify("--trace", &recording("python-b"), "cf"));
    assert_ne!(first, second, "the runs differ");
    let more = |demand: u64| (demand * (100 + MARGIN_PERCENT)).div_ceil(100);
    let allowed = (more(first.0), more(first.1));
    assert!(
        second.0 <= allowed.0 && second.1 <= allowed.1,
        "{second:?} against {allowed:?}"
    );
    let file = tempfile::NamedTempFile::new().expect("a file");
    let text = json!({"objects": allowed.0, "block_bytes": allowed.1});
    std::fs::write(file.path(), text.to_string()).expect("writable");
    let report = certify("--demand", file.path(), "cf");
    replay_second_run("cf", number(&report["heap_bytes"]));
}
