//! `surefit experiment` from outside.

mod common;

use common::{error_line, small_trace, surefit};
use serde_json::Value;

fn printed(args: &[&str]) -> String {
    let output = surefit().arg("experiment").args(args).output();
    let output = output.expect("the command runs");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {complaint}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn every_experiment_is_listed() {
    let list = printed(&["list"]);
    for name in ["automaton", "bounds", "small-heaps"] {
        assert!(list.lines().any(|line| line.starts_with(name)), "{list}");
    }
    let output = surefit().args(["experiment", "teleport"]).output();
    let line = error_line(&output.expect("the command runs"), 2);
    assert!(line.contains("teleport"), "{line}");
}

#[test]
fn the_automaton_is_a_diagram_for_graphviz() {
    let diagram = printed(&["automaton", "--pi", "4", "--k", "2"]);
    assert!(diagram.contains("digraph"), "{diagram}");
    assert!(diagram.trim_end().ends_with('}'), "{diagram}");
}

#[test]
fn small_heaps_stand_beside_the_bounds_of_heaps_that_never_move() {
    assert!(printed(&["small-heaps"]).contains("Robson"));
    let json: Value =
        serde_json::from_str(&printed(&["small-heaps", "--format", "json"])).expect("JSON");
    assert!(json["rows"].as_array().is_some_and(|rows| rows.len() > 10));
}

#[test]
fn bounds_cost_moves_and_save_certified_bytes() {
    let trace = small_trace(1);
    let file = trace.path.to_str().expect("a plain name");
    let text = printed(&["bounds", "--rounds", "1", "--format", "json", file]);
    let json: Value = serde_json::from_str(&text).expect("JSON");
    let rows = json["traces"][0]["bounds"].as_array().expect("rows");
    let names: Vec<_> = rows
        .iter()
        .filter_map(|row| row["allocator"].as_str())
        .collect();
    let expected = [
        "cf:k=1",
        "cf:k=8",
        "cf:k=8,order=original",
        "cf:k=inf",
        "cf:holes=32,frac=0",
        "cf",
    ];
    assert_eq!(names, expected);
    let of = |row: usize, key: &str| rows[row][key].as_f64().expect("measured");
    assert!(of(0, "moves_per_free") > of(5, "moves_per_free"));
    assert_eq!(of(3, "moves_per_free"), 0.0);
    assert!(of(0, "certified_bytes") < of(3, "certified_bytes"));
    for row in rows {
        assert!(
            row["certified_bytes"].as_u64() >= row["min_heap_bytes"].as_u64(),
            "{row}"
        );
    }
    let screen = printed(&["bounds", "--rounds", "1", file]);
    assert!(
        screen
            .lines()
            .all(|line| line.trim_end() == line && line.chars().count() <= 120),
        "{screen}"
    );
}
