//! `cf-block-table` from outside: replays, parts, certificates, real programs, and what its moves
//! copy.

use std::path::Path;

use crate::common::{result, small_trace, surefit};
use serde_json::Value;

const SPECS: [&str; 6] = [
    "cf-block-table",
    "cf-block-table:k=1",
    "cf-block-table:k=inf",
    "cf-block-table:holes=32,frac=0",
    "cf-block-table:frame=16,page=1K",
    "cf-block-table:frame=1K,page=16K",
];

fn bundled(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../traces")
        .join(name)
}

fn number(row: &Value, key: &str) -> u64 {
    row[key].as_u64().unwrap_or_else(|| panic!("{key}: {row}"))
}

fn parts_add_up(row: &Value, heap_bytes: u64) {
    let parts = row["at_peak"].as_object().expect("an account");
    let sum: u64 = parts.values().filter_map(Value::as_u64).sum();
    assert_eq!(sum, heap_bytes, "{parts:?}");
}

#[test]
fn small_programs_replay_and_verify() {
    let trace = small_trace(21);
    for spec in SPECS {
        let row = result(&trace.path, spec, &["--heap", "2M"]);
        assert_eq!(row["completed"], true, "{spec}: {row}");
        assert_eq!(row["contiguous"], false, "{spec}");
        assert!(row["access_pair_ns_mean"].as_f64() > Some(0.0), "{spec}");
        parts_add_up(&row, 2 << 20);
        assert_eq!(row["at_peak"]["requested_bytes"], trace.peak_bytes);
    }
}

#[test]
fn a_program_completes_in_its_certificate() {
    let trace = small_trace(22);
    for spec in SPECS {
        let row = result(&trace.path, spec, &["--heap", "2M"]);
        let certified = number(&row, "certified_bytes");
        let row = result(&trace.path, spec, &["--heap", &certified.to_string()]);
        assert_eq!(row["completed"], true, "{spec}: {row}");
        let heap = number(&row, "heap_bytes");
        assert!(heap < certified + 8, "rounded to a word: {heap}");
    }
}

#[test]
fn real_programs_replay_and_moves_copy_table_words_only() {
    for name in ["python-a.sft.zst", "python-b.sft.zst"] {
        let row = result(&bundled(name), "cf-block-table", &["--heap", "3x"]);
        assert_eq!(row["completed"], true, "{name}: {row}");
        let (moves, bytes) = (
            number(&row, "moves_total"),
            number(&row, "moved_bytes_total"),
        );
        assert!(moves > 0 && bytes % 8 == 0, "{name}");
        assert!(bytes < 64 * moves, "{name}: {bytes} bytes in {moves} rows");
        assert!(number(&row, "moved_bytes_max_per_op") <= 2048, "{name}");
        let certified = number(&row, "certified_bytes");
        assert!(number(&row, "peak_footprint_bytes") <= certified, "{name}");
    }
}

#[test]
fn larger_frames_have_less_administrative_space_and_more_left_in_frames() {
    let trace = small_trace(23);
    let at_peak = |frame: &str| {
        let spec = format!("cf-block-table:frame={frame}");
        result(&trace.path, &spec, &["--heap", "2M"])["at_peak"].clone()
    };
    let (small, large) = (at_peak("16"), at_peak("256"));
    let key = "administrative_bytes";
    assert!(number(&small, key) > number(&large, key));
    let key = "page_block_internal_bytes";
    assert!(number(&small, key) < number(&large, key));
}

#[test]
fn a_wrong_frame_is_exit_status_2() {
    let trace = small_trace(24);
    for (spec, word) in [
        ("cf-block-table:frame=48", "power of two"),
        ("cf-block-table:frame=8", "power of two"),
        ("cf-block-table:page=3000", "page"),
        ("cf-block-table:k=0", "k=1"),
    ] {
        let output = surefit()
            .args(["replay", "--allocator", spec])
            .arg(&trace.path)
            .output()
            .expect("the command runs");
        let line = crate::common::error_line(&output, 2);
        assert!(line.contains(word), "{line}");
    }
}
