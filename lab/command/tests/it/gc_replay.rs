//! `surefit gc replay` and the statistics of object graphs, from outside.

use std::path::{Path, PathBuf};
use std::process::Output;

use crate::common::{error_line, surefit};
use serde_json::Value;

const SPACES: [&str; 12] = [
    "first-fit",
    "next-fit",
    "best-fit",
    "worst-fit",
    "tree-fit",
    "half-fit",
    "tlsf",
    "segregated",
    "segregated:index=scan,coalesce=deferred,last=linear",
    "segregated:index=nht,coalesce=immediate,lists=16,last=linear",
    "segregated:index=nht,coalesce=deferred",
    "segregated:index=bitmap,coalesce=immediate,lists=4096",
];

fn replay(file: &Path, options: &[&str]) -> Output {
    let mut command = surefit();
    command.args(["gc", "replay"]).arg(file).args(options);
    command.output().expect("the command runs")
}

fn document(file: &str, options: &[&str]) -> Value {
    let options: Vec<_> = options
        .iter()
        .chain(&["--format", "json"])
        .copied()
        .collect();
    let output = replay(Path::new(file), &options);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{options:?}: {complaint}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn every_space_replays_a_program_and_nothing_refers_to_a_freed_object() {
    let small = Small::new("small.sfg", b"R.D\x00");
    for space in SPACES {
        let heap = if space.contains("4096") { "34K" } else { "12K" };
        let all = document(small.name(), &["--space", space, "--heap", heap]);
        assert_eq!(all["completed"], true, "{space}");
        assert_eq!(all["counts"]["references_to_freed"], 0, "{space}");
        let collections = all["collections"].as_array().expect("a list").len() as u64;
        assert!(collections > 0, "{space}");
        assert_eq!(all["counts"]["collections"], collections, "{space}");
    }
}

#[test]
fn counts_are_the_same_in_every_run_and_times_are_beside_them() {
    let mut runs = [(); 2].map(|()| document("bundled:mtrt", &["--heap", "2M", "--clock", "each"]));
    for run in &mut runs {
        let times = run["times"].take();
        let clocks = [&times[0]["clock"], &times[1]["clock"]];
        assert_eq!(clocks, ["batch", "each"]);
        for row in times.as_array().expect("a list") {
            let ns = |key: &str| row[key].as_u64().expect("a number");
            assert_eq!(
                ns("management_ns"),
                ns("allocation_ns") + ns("collection_ns")
            );
            assert_eq!(ns("collection_ns"), ns("mark_ns") + ns("sweep_ns"));
        }
    }
    assert_eq!(runs[0], runs[1]);
}

#[test]
fn the_table_says_what_was_counted() {
    let output = replay(
        Path::new("bundled:mtrt"),
        &["--heap", "3M", "--sweep", "leap", "--check"],
    );
    let text = String::from_utf8(output.stdout).expect("text");
    for part in [
        "sweep by leap",
        "visits per allocation",
        "references to freed objects",
        "945,789",
    ] {
        assert!(text.contains(part), "{text}");
    }
    assert!(
        text.lines().all(|line| line.chars().count() <= 100),
        "{text}"
    );
}

#[test]
fn the_smallest_heap_is_found_and_is_enough() {
    let space = "segregated:coalesce=immediate";
    let all = document("bundled:mtrt", &["--space", space, "--find-min-heap"]);
    let least = all["min_heap_bytes"].as_u64().expect("found").to_string();
    let again = document("bundled:mtrt", &["--space", space, "--heap", &least]);
    assert_eq!(again["completed"], true);
}

#[test]
fn a_heap_that_is_too_small_is_exit_status_1() {
    let output = replay(Path::new("bundled:mtrt"), &["--heap", "1M"]);
    let line = error_line(&output, 1);
    assert!(
        line.contains("allocation") && line.contains("--find-min-heap"),
        "{line}"
    );
    let line = error_line(&replay(Path::new("bundled:mtrt"), &["--heap", "1K"]), 1);
    assert!(line.contains("too small"), "{line}");
}

#[test]
fn bad_input_is_one_line_and_exit_status_2() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str, bytes: &[u8]| {
        let path = directory.path().join(name);
        std::fs::write(&path, bytes).expect("a file");
        path
    };
    let graph = std::fs::read(graphs().join("mtrt.sfg.zst")).expect("a bundled recording");
    for file in [
        PathBuf::from("/no/such/file.sfg"),
        PathBuf::from("bundled:nothing"),
        path("cut.sfg.zst", &graph[..graph.len() / 2]),
        path("empty.sfg", b""),
        path("text.sfg", b"no object graph"),
    ] {
        let line = error_line(&replay(&file, &[]), 2);
        assert!(line.contains(&*file.to_string_lossy()), "{line}");
    }
    for options in [
        ["--space", "buddy"],
        ["--space", "segregated:coalesce=never,lists=16"],
        ["--heap", "0x"],
        ["--sweep", "fly"],
    ] {
        error_line(&replay(Path::new("bundled:mtrt"), &options), 2);
    }
}

#[test]
fn a_reference_to_a_freed_object_fails_the_run() {
    // the last object refers to object 2, zigzag; then it is a root
    let lost = Small::new("lost.sfg", b"E\xea\x07\x01\x07\xcf\x0fR+\xea\x07.D\x00");
    let line = error_line(
        &replay(&lost.path, &["--heap", "16K", "--space", "tlsf"]),
        1,
    );
    assert!(line.contains("object 1002 refers to object 2;"), "{line}");
    assert!(
        replay(&lost.path, &["--heap", "1M"]).status.success(),
        "nothing is freed there"
    );
}

#[test]
fn statistics_tell_object_graphs_apart() {
    let stats = |options: &[&str]| {
        let mut command = surefit();
        command.args([
            "trace",
            "stats",
            "bundled:raytrace",
            "bundled:emacs",
            "bundled:mtrt",
        ]);
        let output = command.args(options).output().expect("the command runs");
        assert!(output.status.success());
        String::from_utf8(output.stdout).expect("text")
    };
    let all: Value = serde_json::from_str(&stats(&["--format", "json"])).expect("JSON");
    assert_eq!(all["traces"].as_array().map(Vec::len), Some(1));
    assert_eq!(all["graphs"].as_array().map(Vec::len), Some(2));
    assert_eq!(all["graphs"][0]["allocations"], 793_971);
    assert_eq!(all["graphs"][0]["sizes_for_99_percent"], 1);
    let text = stats(&[]);
    assert!(
        text.contains("distinct sizes") && text.contains("793,971"),
        "{text}"
    );
}

fn graphs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../graphs")
}

#[test]
fn a_recorded_program_is_replayed_and_nothing_refers_to_a_freed_object() {
    let directory = tempfile::tempdir().expect("a directory");
    for (program, size) in [("json", "100"), ("words", "5000")] {
        for name in ["plain.sfg", "packed.sfg.zst"] {
            let file = directory.path().join(name);
            let mut command = surefit();
            command.args([
                "gc", "record", program, "--size", size, "--every", "8K", "--memory", "64M",
            ]);
            let output = command
                .arg("-o")
                .arg(&file)
                .output()
                .expect("the command runs");
            assert!(
                output.status.success(),
                "{}",
                String::from_utf8_lossy(&output.stderr)
            );
            let all = document(file.to_str().expect("a plain name"), &["--heap", "2x"]);
            assert_eq!(all["completed"], true, "{program}");
            assert_eq!(all["counts"]["references_to_freed"], 0, "{program}");
        }
    }
}

#[test]
fn a_program_that_needs_more_memory_is_not_recorded() {
    let mut command = surefit();
    command.args([
        "gc",
        "record",
        "rays",
        "--memory",
        "1M",
        "-o",
        "never-written.sfg",
    ]);
    let output = command.output().expect("the command runs");
    let line = error_line(&output, 2);
    assert!(
        line.contains("rays") && line.contains("smaller --size"),
        "{line}"
    );
    assert!(!Path::new("never-written.sfg").exists());
}

/// A recording of 1001 objects, of which none outlives the walk after it, unless the last walk says
/// so.
struct Small {
    _directory: tempfile::TempDir,
    path: PathBuf,
}

impl Small {
    fn new(name: &str, last: &[u8]) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join(name);
        let mut bytes = b"H\x01\x00\x60\x00C\x01\x01\x03LA;".to_vec();
        (1..=100).for_each(|count| walk(&mut bytes, count, 10, count * 10, b"R.D\x00"));
        walk(&mut bytes, 101, 1, 1001, last);
        std::fs::write(&path, bytes).expect("a file");
        Self {
            _directory: directory,
            path,
        }
    }

    fn name(&self) -> &str {
        self.path.to_str().expect("a plain name")
    }
}

/// So many allocations, and a walk.
fn walk(bytes: &mut Vec<u8>, count: u64, new: u64, allocations: u64, rest: &[u8]) {
    (0..new).for_each(|_| bytes.extend(b"A\x01\x18"));
    bytes.push(b'S');
    for value in [count, allocations, allocations * 24] {
        number(bytes, value);
    }
    bytes.extend(rest);
}

fn number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 128 {
        bytes.push(number as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
}
