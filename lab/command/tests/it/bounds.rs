//! Bounds and baselines of `surefit compare` from outside.

use std::path::Path;
use std::process::Output;

use crate::common::{SmallTrace, error_line, small_trace, surefit};
use serde_json::{Value, json};
use surefit_testkit::{broken, schema};

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
    ] {
        let output = compare(&trace, options);
        let line = error_line(&output, 2);
        assert!(line.contains(word), "{options:?}: {line}");
        assert!(output.stdout.is_empty());
    }
}

/// The document that a comparison prints, which keeps to its schema, and its exit status.
fn document(trace: &SmallTrace, options: &[&str]) -> (Value, Option<i32>) {
    let output = compare(trace, &[options, &["--format", "json"]].concat());
    let document = serde_json::from_slice(&output.stdout).expect("one JSON value");
    let schema = schema("compare.json");
    assert_eq!(broken(&schema, &schema, &document, "compare"), None);
    (document, output.status.code())
}

#[test]
fn json_says_what_was_asserted_and_what_was_found() {
    let trace = small_trace(46);
    let file = trace.path.with_extension("json");
    let name = file.to_str().expect("a plain name");
    let bound = "cf.completed == 1 and cf.min_heap_bytes < 10K";
    let options = ["--again", "--save", name, "--assert", bound];
    let (found, status) = document(&trace, &options);
    assert_eq!(status, Some(1));
    let asserted = found["asserted"].as_array().expect("two");
    assert_eq!(asserted.len(), 2);
    assert_eq!(asserted[0]["holds"], true);
    let row = &found["traces"][0]["results"][0];
    let expected = json!({
        "assertion": bound,
        "trace": "small",
        "value": row["min_heap_bytes"].as_f64(),
        "relation": "<",
        "bound": 10_240.0,
        "unit": "bytes",
        "holds": false,
    });
    assert_eq!(asserted[1], expected);
    assert_eq!(
        found["again"][0]["ratios"].as_array().map(Vec::len),
        Some(2)
    );
    assert_eq!(found.get("against"), None);
    // What is saved is what was measured.
    change(&file, |saved| {
        assert_eq!(saved.get("asserted"), None);
        saved["traces"][0]["results"][0]["min_heap_bytes"] = json!(1000);
    });
    let (found, status) = document(&trace, &["--against", name]);
    assert_eq!(status, Some(1));
    let worse = &found["against"]["worse"][0];
    let earlier = json!(["small", "cf", "min_heap_bytes", 1000.0]);
    assert_eq!(
        json!([
            worse["trace"],
            worse["allocator"],
            worse["figure"],
            worse["before"]
        ]),
        earlier
    );
    assert_eq!(found["against"]["file"], name);
    let (found, status) = document(&trace, &[]);
    assert_eq!((status, found.get("asserted")), (Some(0), None));
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
