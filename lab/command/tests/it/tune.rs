//! `surefit tune`: what it finds is a configuration that every verb takes, and one that serves the
//! traces in fewer bytes.

use std::path::Path;
use std::process::Output;

use crate::common::{SmallTrace, error_line, result, small_trace, surefit};
use serde_json::Value;
use surefit_testkit::{broken, schema};
use surefit_trace::{Call, Event, Op, Trace};

fn tune(arguments: &[&str], files: &[&SmallTrace]) -> Output {
    let mut command = surefit();
    command.arg("tune").args(arguments);
    for file in files {
        command.arg(&file.path);
    }
    command.output().expect("the command runs")
}

fn report(arguments: &[&str], files: &[&SmallTrace]) -> Value {
    let output = tune(&[&["--format", "json"], arguments].concat(), files);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn text(output: Output) -> String {
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}");
    String::from_utf8(output.stdout).expect("text")
}

/// A spec in few shapes, so that a test is quick.
const FEW: &str = "cf:page=4096,width=32,pieces=1024";

#[test]
fn several_traces_are_judged_in_turn_and_keep_to_the_schema() {
    let [one, other] = [small_trace(1), small_trace(2)];
    let document = report(&["--allocator", FEW], &[&one, &other]);
    let schema = schema("tune.json");
    assert_eq!(broken(&schema, &schema, &document, "tune"), None);
    let judged = document["judged"].as_array().expect("a list");
    assert_eq!(judged.len(), 2);
    for (judged, own) in judged.iter().zip([&one, &other]) {
        let tuned_on = judged["tuned_on"].as_array().expect("a list");
        let own = own.path.display().to_string();
        assert_eq!(judged["trace"], own);
        assert!(!tuned_on.contains(&Value::from(own)), "{judged}");
        let tuned = judged["tuned_min_heap_bytes"].as_u64().expect("served");
        let default = judged["default_min_heap_bytes"].as_u64().expect("served");
        assert!(tuned < default, "{tuned} {default}");
        let parts = judged["at_peak"].as_object().expect("parts");
        let sum: u64 = parts.values().filter_map(Value::as_u64).sum();
        assert_eq!(sum, tuned.next_multiple_of(8), "{judged}");
        let own = &judged["administration"];
        let [back, entries] = ["back_reference_bytes", "entry_bytes"].map(|it| own[it].as_u64());
        let own = back.expect("a figure") + entries.expect("a figure");
        assert!(own <= parts["administrative_bytes"].as_u64().expect("a figure"));
    }
}

#[test]
fn each_bound_is_shown_with_what_it_copies() {
    let document = report(&["--allocator", FEW, "--classes", "20"], &[&small_trace(3)]);
    let choices = document["choices"].as_array().expect("a list");
    let bounds = choices
        .iter()
        .filter(|it| it.get("moved_bytes_per_free").is_some());
    let moved: Vec<_> = bounds
        .map(|it| it["moved_bytes_per_free"].as_f64())
        .collect();
    assert_eq!(moved.len(), 4, "{document}");
    assert!(moved.first() <= moved.last(), "{moved:?}");
    assert!(document["classes"].as_array().expect("a list").len() <= 20);
}

/// Every verb takes what `tune` writes, and a key of the command line replaces one of the file.
#[test]
fn what_is_written_is_taken_by_every_verb() {
    let trace = small_trace(4);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("mine.toml");
    let name = file.display().to_string();
    text(tune(&["--allocator", FEW, "-o", &name], &[&trace]));
    let run = |arguments: &[&str]| {
        let output = surefit().args(arguments).arg(&trace.path).output();
        text(output.expect("the command runs"))
    };
    let config = ["--config", name.as_str()];
    let replayed = run(&[&["replay", "--rounds", "1", "--heap", "1M"], &config[..]].concat());
    assert!(
        replayed.contains(&format!("cf:config={name}")),
        "{replayed}"
    );
    let brief = [
        "compare",
        "--rounds",
        "1",
        "--heap",
        "1M",
        "--allocators",
        "tlsf",
    ];
    let compared = run(&[&brief, &config[..]].concat());
    assert!(
        compared.contains("tlsf") && compared.contains("config="),
        "{compared}"
    );
    let certified = run(&[&["certify"], &config[..], &["--format", "json", "--trace"]].concat());
    let certified: Value = serde_json::from_str(&certified).expect("JSON");
    assert_eq!(certified["allocator"], format!("cf:config={name}"));
    let row = result(
        &trace.path,
        &format!("cf:config={name},k=inf"),
        &["--heap", "1M"],
    );
    assert_eq!(row["moves_total"], 0, "{row}");
}

#[test]
fn each_language_is_printed_alone() {
    let trace = small_trace(5);
    for (language, begin) in [
        ("toml", "# Tuned"),
        ("rust", "//! Tuned"),
        ("c", "/* Tuned"),
    ] {
        let printed = text(tune(&["--allocator", FEW, "--emit", language], &[&trace]));
        assert!(printed.starts_with(begin), "{printed}");
    }
}

#[test]
fn one_half_of_the_objects_judges_the_other() {
    let table = text(tune(
        &["--allocator", FEW, "--judge-halves"],
        &[&small_trace(6)],
    ));
    assert!(
        table.contains("(other half)") && table.contains("Beside live bytes"),
        "{table}"
    );
    let unjudged = text(tune(&["--allocator", FEW], &[&small_trace(6)]));
    assert!(unjudged.contains("Not judged"), "{unjudged}");
    let longest = table.lines().map(|line| line.chars().count()).max();
    assert!(longest <= Some(80), "{table}");
}

/// The search on a program that is recorded twice: it must not get worse, and never better than
/// what is least.
#[test]
fn a_second_run_of_a_real_program_needs_what_the_first_one_did() {
    let arguments = ["--judge", "bundled:python-b", "bundled:python-a"];
    let document = report(&arguments, &[]);
    let judged = &document["judged"][0];
    let bytes = |of: &Value| of.as_u64().expect("a figure") as f64;
    let [tuned, live] = ["tuned_min_heap_bytes", "peak_live_bytes"].map(|it| bytes(&judged[it]));
    let least = bytes(&judged["least"]["bytes"]);
    assert!(tuned <= live * 1.106, "{judged}");
    assert!(least <= tuned && tuned <= least * 1.006, "{judged}");
    let parts = judged["least"]["parts"].as_object().expect("parts");
    assert_eq!(parts.values().map(bytes).sum::<f64>(), least, "{judged}");
    let text = text(tune(&arguments, &[]));
    let over = judged["over_better"].as_f64().expect("a ratio");
    assert_eq!(text.contains("missed"), over > 1.0, "{text}");
    assert_eq!(text.contains("the least is"), over > 1.0, "{text}");
}

/// A trace of some objects of each size, all live at the end.
fn trace_of(sizes: &[(u32, u64)]) -> tempfile::NamedTempFile {
    let mut events = Vec::new();
    for (count, size) in sizes {
        for _ in 0..*count {
            let (id, size) = (events.len() as u32, *size);
            let call = Call::Malloc;
            events.push(Event::new(0, Op::Alloc { id, size, call }));
        }
    }
    let trace = Trace::new("few", events).expect("a sound trace");
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), trace.to_bytes()).expect("room");
    file
}

#[test]
fn a_trace_without_live_bytes_is_refused() {
    for sizes in [&[][..], &[(3, 0)]] {
        let file = trace_of(sizes);
        let output = surefit().arg("tune").arg(file.path()).output();
        let line = error_line(&output.expect("the command runs"), 2);
        assert!(line.contains("nothing is ever live"), "{line}");
    }
    let one = trace_of(&[(1, 24)]);
    let mut command = surefit();
    command.args(["tune", "--judge-halves"]).arg(one.path());
    let line = error_line(&command.output().expect("the command runs"), 2);
    assert!(line.contains("record a longer run"), "{line}");
}

/// One object, one size, only objects over every page, and all of these: each is tuned and judged.
#[test]
fn traces_of_few_sizes_are_tuned() {
    for (sizes, most) in [
        (&[(1, 24)][..], 400.0),
        (&[(1, 1)], 8000.0),
        (&[(20_000, 40)], 1.2),
        (&[(30, 1 << 20)], 1.01),
        (&[(1, 1), (3, (1 << 22) + 1), (5000, 64)], 1.05),
    ] {
        let file = trace_of(sizes);
        let name = file.path().display().to_string();
        let document = report(&["--judge", &name, &name], &[]);
        let over_live = document["min_heap_over_live"].as_f64().expect("a ratio");
        assert!((1.0..most).contains(&over_live), "{sizes:?}: {document}");
        let judged = &document["judged"][0];
        let [tuned, least] = [&judged["tuned_min_heap_bytes"], &judged["least"]["bytes"]];
        assert!(least.as_u64() <= tuned.as_u64(), "{sizes:?}: {judged}");
        let shown = text(tune(&["--judge", &name, &name], &[]));
        assert!(shown.contains("Beside live bytes"), "{shown}");
    }
}

#[test]
fn the_number_of_lists_is_found_by_replays() {
    let document = report(&["--allocator", "segregated"], &[&small_trace(7)]);
    let choices = document["choices"].as_array().expect("a list");
    let least = choices
        .iter()
        .map(|it| it["over_live"].as_f64().expect("a ratio"));
    let least = least.fold(f64::INFINITY, f64::min);
    assert_eq!(document["min_heap_over_live"], least);
    assert_eq!(choices.len(), 9);
    assert!(document.get("classes").is_none());
}

#[test]
fn what_cannot_be_tuned_is_refused_in_one_line() {
    let trace = small_trace(8);
    for (arguments, expected) in [
        (vec!["--allocator", "tlsf"], "no parameter to tune"),
        (vec!["--allocator", "cf:spacing=1/8"], "leave spacing out"),
        (
            vec!["--allocator", "segregated:lists=64"],
            "leave lists out",
        ),
        (
            vec!["--allocator", "cf:page=1K,pieces=off"],
            "no configuration serves",
        ),
        (vec!["--classes", "2"], "3..=128"),
        (
            vec!["--emit", "c", "--allocator", "cf:k=inf,page=4K,width=32"],
            "no such bound",
        ),
        (vec!["-o", "/no/such/folder/x"], "cannot be written"),
        (vec!["--judge", "/no/such/file"], "/no/such/file"),
    ] {
        let line = error_line(&tune(&arguments, &[&trace]), 2);
        assert!(line.contains(expected), "{arguments:?}: {line}");
    }
    let missing = surefit().args(["tune"]).output().expect("the command runs");
    error_line(&missing, 2);
    let empty = Path::new("/dev/null");
    let output = surefit().arg("tune").arg(empty).output();
    error_line(&output.expect("the command runs"), 2);
}
