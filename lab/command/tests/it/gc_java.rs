//! `surefit gc java` from outside.

use std::path::{Path, PathBuf};
use std::process::Output;

use crate::common::{error_line, surefit};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../vm/java")
}

fn java(args: &[&str]) -> Output {
    let jar = folder().join("programs.jar");
    let output = surefit().args(["gc", "java"]).arg(jar).args(args).output();
    output.expect("the command runs")
}

#[test]
fn a_program_prints_what_hotspot_printed_in_every_kind_of_space() {
    let expected = std::fs::read(folder().join("expected/Dispatch.txt")).expect("committed");
    for (space, collect) in [
        ("segregated:index=nht,coalesce=deferred", "full"),
        ("tlsf", "steps"),
        ("segregated:index=scan,coalesce=immediate", "generations"),
        ("compact-fit", "nursery"),
    ] {
        let output = java(&[
            "--main",
            "Dispatch",
            "--space",
            space,
            "--collect",
            collect,
            "--heap",
            "1M",
        ]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{space}: {stderr}");
        assert_eq!(output.stdout, expected, "{space}");
        assert!(stderr.contains("surefit gc java: Dispatch of "), "{stderr}");
    }
}

#[test]
fn a_heap_may_be_a_multiple_of_the_smallest() {
    let output = java(&["--main", "Dispatch", "--heap", "2x", "--format", "json"]);
    let document: serde_json::Value = serde_json::from_slice(&output.stderr).expect("JSON");
    let smallest = document["smallest_heap_bytes"].as_u64().expect("a number");
    let heap = document["heap_bytes"].as_u64().expect("a number");
    assert!(heap.abs_diff(2 * smallest) < 8, "{heap} of {smallest}");
    assert_eq!(document["was_full"], false);
}

/// Of a collector in steps, by what is counted: a step works for what it is offered, 1,024 units
/// after 4 KiB, and an object or a stride of references more.
#[test]
fn a_collector_in_steps_says_how_it_stopped_the_program() {
    let run = |collect| {
        let output = java(&[
            "--main",
            "Raytrace",
            "--space",
            "tlsf",
            "--collect",
            collect,
            "--heap",
            "512K",
            "--format",
            "json",
            "--",
            "24",
        ]);
        let document: serde_json::Value = serde_json::from_slice(&output.stderr).expect("JSON");
        document
    };
    let document = run("steps");
    let pauses = &document["pauses"];
    let number = |key: &str| pauses[key].as_u64().expect("a number");
    assert!(document["collections"].as_u64() > Some(3), "{document}");
    assert!(number("count") > document["collections"].as_u64().expect("a number"));
    assert!(
        (1024..1200).contains(&number("largest_step_units")),
        "{pauses}"
    );
    assert!(
        number("largest_roots_units") > 10 && number("forced") == 0,
        "{pauses}"
    );
    assert!(number("longest_ns") >= number("p99_ns") / 2);
    assert_eq!(run("steps")["pauses"]["count"], pauses["count"]);
    assert!(run("full")["pauses"].is_null());
}

#[test]
fn what_cannot_run_is_one_line() {
    assert!(error_line(&java(&[]), 2).contains("add --main CLASS"));
    assert!(error_line(&java(&["--main", "none.Such"]), 2).contains("class none/Such"));
    assert!(
        error_line(&java(&["--main", "Dispatch", "--collect", "nursery"]), 2)
            .contains("compact-fit")
    );
    assert!(error_line(&java(&["--main", "Dispatch", "--space", "buddy"]), 2).contains("buddy"));
    let missing = surefit().args(["gc", "java", "/no/such.jar"]).output();
    assert!(error_line(&missing.expect("the command runs"), 2).contains("/no/such.jar"));
}

#[test]
fn a_program_without_room_ends_as_one_that_throws() {
    let output = java(&["--main", "Dispatch", "--heap", "4096"]);
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&output.stderr);
    let first = stderr.lines().next().expect("a line");
    assert_eq!(
        first,
        "Exception in thread \"main\" java.lang.OutOfMemoryError"
    );
}
