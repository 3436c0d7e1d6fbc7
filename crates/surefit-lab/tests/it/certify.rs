//! `surefit certify` from outside.

use crate::common::{error_line, surefit};
use serde_json::Value;
use surefit_trace::{Call, Event, Op, Trace};

fn certify(options: &[&str]) -> Value {
    let output = surefit()
        .args(["certify", "--format", "json"])
        .args(options)
        .output()
        .expect("the command runs");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn bytes(value: &Value) -> u64 {
    value.as_u64().expect("a number of bytes")
}

#[test]
fn the_bundled_traces_are_certified_for_little_more_than_their_page_blocks() {
    for name in ["bundled:emacs", "bundled:redis-drift"] {
        let report = certify(&["--trace", name]);
        let [block_bytes, heap] =
            [&report["demand"]["block_bytes"], &report["heap_bytes"]].map(bytes);
        let parts = report["parts"].as_object().expect("parts");
        assert_eq!(
            parts.values().map(bytes).sum::<u64>(),
            heap,
            "the parts add up"
        );
        let handles = bytes(&parts["handle_bytes"]);
        assert!(
            (heap - handles) as f64 <= 1.3 * block_bytes as f64,
            "{report}"
        );
        assert!(bytes(&report["moved_bytes_max_per_op"]) <= 2 * 4096);
        let [joint, classes, both] =
            [0, 1, 2].map(|n| bytes(&report["certificates"][n]["heap_bytes"]));
        assert!(
            joint == heap && both <= joint && both <= classes,
            "{report}"
        );
    }
}

#[test]
fn a_replay_completes_in_a_heap_of_the_certified_size() {
    for spec in ["cf", "cf:k=1", "cf:holes=32,frac=0", "cf:width=24"] {
        let report = certify(&["--trace", "bundled:emacs", "--allocator", spec]);
        let heap = bytes(&report["heap_bytes"]).to_string();
        let options = [
            "replay",
            "bundled:emacs",
            "--no-touch",
            "--rounds",
            "1",
            "--allocator",
            spec,
        ];
        let status = surefit().args(options).args(["--heap", &heap]).output();
        assert!(
            status.expect("the command runs").status.success(),
            "{spec} in {heap} bytes"
        );
    }
}

#[test]
fn a_demand_comes_from_a_file_too() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let text = r#"{"objects": 100, "block_bytes": 10000, "largest_request_bytes": 64}"#;
    std::fs::write(file.path(), text).expect("writable");
    let path = file.path().to_str().expect("a plain name");
    let report = certify(&["--demand", path]);
    assert_eq!(report["certificates"][0]["demand"], "joint");
    assert!(bytes(&report["heap_bytes"]) < 10 * (16 << 10));
}

#[test]
fn what_has_no_certificate_is_one_line() {
    for (options, word) in [
        (
            ["--trace", "bundled:emacs", "--allocator", "tlsf"],
            "certificate",
        ),
        (
            ["--trace", "bundled:emacs", "--allocator", "cf:pieces=off"],
            "pieces",
        ),
        (
            [
                "--trace",
                "bundled:emacs",
                "--allocator",
                "cf:width=16,page=1K",
            ],
            "number",
        ),
        (
            ["--demand", "/nonexistent.json", "--allocator", "cf"],
            "/nonexistent.json",
        ),
    ] {
        let output = surefit().arg("certify").args(options).output();
        let line = error_line(&output.expect("the command runs"), 2);
        assert!(line.contains(word), "{line}");
    }
}

#[test]
fn an_object_larger_than_any_heap_is_one_line_that_names_its_event() {
    let directory = tempfile::tempdir().expect("a directory");
    for (log2, spec) in [
        (47, "cf"),
        (47, "cf:keys"),
        (40, "cf:pieces=64"),
        (56, "cf"),
    ] {
        let sizes = [100, 1 << log2, 100].into_iter().zip(0..);
        let events = sizes.map(|(size, id)| {
            Event::new(
                0,
                Op::Alloc {
                    id,
                    size,
                    call: Call::Malloc,
                },
            )
        });
        let trace = Trace::new("huge", events.collect()).expect("a sound trace");
        let path = directory.path().join("huge.sft");
        std::fs::write(&path, trace.to_bytes()).expect("a file");
        let options = ["certify", "--allocator", spec, "--trace"];
        let output = surefit().args(options).arg(&path).output();
        let line = error_line(&output.expect("the command runs"), 2);
        assert!(line.contains("huge: event 1: "), "{line}");
        assert!(line.contains("larger pieces"), "{line}");
    }
}
