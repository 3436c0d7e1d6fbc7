//! Bounds and baselines of `surefit compare` from outside.

use std::path::Path;
use std::process::Output;

use crate::common::{SmallTrace, error_line, small_trace, surefit};
use serde_json::Value;

fn compare(trace: &SmallTrace, options: &[&str]) -> Output {
    surefit()
        .args(["compare", "--rounds", "1", "--heap", "1M"])
        .args(["--allocators", "cf,tlsf", "--find-min-heap"])
        .args(options)
        .arg(&trace.path)
        .output()
        .expect("the command runs")
}

#[test]
fn bounds_that_hold_end_well_and_broken_ones_with_status_1() {
    let trace = small_trace(41);
    let holds = [
        "--assert",
        "cf.min_heap_over_live < 100 and tlsf.completed == 1",
    ];
    let output = compare(&trace, &holds);
    assert!(output.status.success(), "{output:?}");
    let screen = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(screen.contains("2 bounds hold."), "{screen}");
    let broken = ["--assert", "cf.min_heap_bytes <= cf.min_heap_bytes - 1"];
    let output = compare(&trace, &broken);
    let line = error_line(&output, 1);
    assert!(line.contains("small: cf.min_heap_bytes = "), "{line}");
    assert!(
        !output.stdout.is_empty(),
        "the table is printed all the same"
    );
}

#[test]
fn wrong_bounds_are_refused_before_anything_is_measured() {
    let trace = small_trace(42);
    for (bound, word) in [
        ("dl.completed == 1", "dl is not compared"),
        ("cf.speed < 1", "no figure `speed`"),
        ("cf.instructions_per_free < 1", "add --count instructions"),
        ("redis: cf.completed == 1", "no trace `redis`"),
        ("cf.min_heap_bytes < 20us", "bytes and a time"),
        ("", "ends where"),
    ] {
        let output = compare(&trace, &["--assert", bound]);
        let line = error_line(&output, 2);
        assert!(line.contains(word), "{bound}: {line}");
        assert!(output.stdout.is_empty(), "{bound}");
    }
    let output = compare(&trace, &["--assert", "tlsf.certified_bytes < 1G"]);
    let line = error_line(&output, 2);
    assert!(
        line.contains("tlsf.certified_bytes was not measured"),
        "{line}"
    );
}

/// Changes a saved comparison.
fn change(file: &Path, change: impl FnOnce(&mut Value)) {
    let text = std::fs::read(file).expect("a file");
    let mut saved: Value = serde_json::from_slice(&text).expect("JSON");
    change(&mut saved);
    std::fs::write(file, saved.to_string()).expect("writable");
}

#[test]
fn a_saved_comparison_is_a_baseline() {
    let trace = small_trace(43);
    let file = trace.path.with_extension("json");
    let name = file.to_str().expect("a plain name");
    assert!(compare(&trace, &["--save", name]).status.success());
    let same = compare(&trace, &["--against", name]);
    let screen = String::from_utf8_lossy(&same.stdout).into_owned();
    assert!(
        same.status.success() && screen.contains("0 worse, 0 better"),
        "{screen}"
    );
    assert!(
        screen.contains("times are not compared: 3 rounds"),
        "{screen}"
    );
    change(&file, |saved| {
        let row = &mut saved["traces"][0]["results"][0]["min_heap_bytes"];
        *row = Value::from(row.as_u64().expect("bytes") * 99 / 100);
    });
    let line = error_line(&compare(&trace, &["--against", name]), 1);
    assert!(
        line.contains("worse: small: cf: min_heap_bytes was "),
        "{line}"
    );
    let tolerant = compare(&trace, &["--against", name, "--tolerance", "2"]);
    assert!(tolerant.status.success(), "{tolerant:?}");
    change(&file, |saved| saved["traces"][0]["events"] = Value::from(1));
    let line = error_line(&compare(&trace, &["--against", name]), 2);
    assert!(line.contains("another recording"), "{line}");
}

#[test]
fn what_is_no_baseline_is_refused() {
    let trace = small_trace(44);
    let file = trace.path.with_extension("txt");
    std::fs::write(&file, "{\"schema\": 1}").expect("writable");
    let name = file.to_str().expect("a plain name");
    for (options, word) in [
        (&["--against", name][..], "is not a comparison"),
        (&["--against", "/no/such/file"], "cannot be read"),
        (&["--save", "/no/such/place/x.json"], "cannot be written"),
        (&["--save", "-"], "name a file"),
        (&["--tolerance", "1"], "--against"),
        (&["--again", "--format", "json"], "--again"),
    ] {
        let output = compare(&trace, options);
        let line = error_line(&output, 2);
        assert!(line.contains(word), "{options:?}: {line}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_second_run_says_what_it_confirms() {
    let trace = small_trace(45);
    let output = compare(&trace, &["--again"]);
    let screen = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{output:?}");
    assert!(screen.contains("small, second run: "), "{screen}");
    assert!(screen.contains("but 1 round cannot be sure"), "{screen}");
}
