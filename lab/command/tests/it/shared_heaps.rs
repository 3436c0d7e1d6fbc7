//! `1-cf` and `n-cf` from outside: replays, parts, real programs, and what a section copies.

use std::path::{Path, PathBuf};

use crate::common::{error_line, result, small_trace, surefit};
use serde_json::Value;

const SPECS: [&str; 10] = [
    "1-cf",
    "1-cf:lock=heap,k=1",
    "1-cf:lock=page,k=8",
    "1-cf:k=inf,threads=4",
    "1-cf:k=1,increment=64",
    "1-cf:holes=2,frac=0,increment=16,page=4K",
    "1-cf:pieces=off,k=3,order=original",
    "n-cf",
    "n-cf:threads=8,threads-per-instance=2,k=1,increment=64",
    "n-cf:k=inf,lock=heap",
];

fn bundled(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../traces")
        .join(name)
}

fn number(row: &Value, key: &str) -> u64 {
    row[key].as_u64().unwrap_or_else(|| panic!("{key}: {row}"))
}

#[test]
fn small_programs_replay_and_verify() {
    let trace = small_trace(31);
    for spec in SPECS {
        let row = result(&trace.path, spec, &["--heap", "4M", "--largest", "16K"]);
        assert_eq!(row["completed"], true, "{spec}: {row}");
        assert!(row["access_pair_ns_mean"].as_f64() > Some(0.0), "{spec}");
        let parts = row["at_peak"].as_object().expect("an account");
        let sum: u64 = parts.values().filter_map(Value::as_u64).sum();
        assert_eq!(sum, 4 << 20, "{spec}: {parts:?}");
    }
}

#[test]
fn sections_copy_no_more_than_the_increment() {
    let trace = small_trace(32);
    for (spec, most) in [
        ("1-cf:k=1,increment=16", 16),
        ("1-cf:k=1,increment=256", 256),
        ("n-cf:k=1,increment=16", 16),
        ("1-cf:k=1,pieces=1K", 1024),
        ("1-cf:lock=page,k=1,pieces=1K", 1024),
    ] {
        let row = result(&trace.path, spec, &["--heap", "4M"]);
        assert!(number(&row, "moves_total") > 0, "{spec}");
        let copied = number(&row, "moved_bytes_max_per_section");
        assert!(copied > 0 && copied <= most, "{spec}: {copied}");
    }
    let row = result(&trace.path, "1-cf:k=inf", &["--heap", "4M"]);
    assert_eq!(number(&row, "moves_total"), 0);
    let row = result(&trace.path, "cf:k=1", &["--heap", "4M"]);
    assert!(row.get("moved_bytes_max_per_section").is_none(), "{row}");
}

#[test]
fn increments_and_locks_change_nothing_that_is_moved_by_one_thread() {
    let moves = |spec| {
        let row = result(&bundled("python-a.sft.zst"), spec, &["--heap", "3x"]);
        assert_eq!(row["completed"], true, "{spec}: {row}");
        (
            number(&row, "moves_total"),
            number(&row, "moved_bytes_total"),
        )
    };
    let whole = moves("1-cf:k=1");
    assert!(whole.0 > 0);
    for spec in ["1-cf:k=1,increment=64", "1-cf:k=1,lock=heap", "n-cf:k=1"] {
        assert_eq!(moves(spec), whole, "{spec}");
    }
}

#[test]
fn impossible_heaps_are_refused_in_one_line() {
    let trace = small_trace(33);
    for (spec, word) in [
        ("1-cf:lock=row", "heap, class or page"),
        ("1-cf:lock=page,increment=64", "one step"),
        ("1-cf:increment=24", "multiple of 16"),
        ("1-cf:threads=0", "at least one"),
        ("1-cf:keys", "no key"),
        ("n-cf:lock=page", "heap or class"),
        ("n-cf:threads-per-instance=0", "at least 1"),
    ] {
        let output = surefit()
            .args(["replay", "--allocator", spec])
            .arg(&trace.path)
            .output();
        let line = error_line(&output.expect("the command runs"), 2);
        assert!(line.contains(word), "{spec}: {line}");
    }
}
