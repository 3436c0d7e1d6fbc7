//! Real outputs keep to the committed schemas.

use crate::common::{result, small_trace, surefit};
use serde_json::Value;
use surefit_testkit::{broken, schema};

#[test]
fn a_replay_keeps_to_its_schema() {
    let trace = small_trace(1);
    let schema = schema("replay.json");
    for allocator in ["cf", "tlsf", "system"] {
        let row = result(&trace.path, allocator, &["--heap", "1M"]);
        assert_eq!(broken(&schema, &schema, &row, allocator), None);
    }
}

#[test]
fn a_comparison_keeps_to_its_schema() {
    let trace = small_trace(2);
    let output = surefit()
        .args([
            "compare",
            "--format",
            "json",
            "--rounds",
            "1",
            "--find-min-heap",
            "--heap",
            "1M",
        ])
        .args(["--allocators", "cf,tlsf,cf:pieces=off,page=1K,system"])
        .arg(&trace.path)
        .output()
        .expect("the command runs");
    let comparison: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let schema = schema("compare.json");
    assert_eq!(broken(&schema, &schema, &comparison, "compare"), None);
}

#[test]
fn certificates_keep_to_their_schema() {
    let schema = schema("certify.json");
    let runs = ["bundled:python-a", "bundled:python-b"];
    for options in [
        &["--allocator", "cf", "--margin", "auto"][..],
        &["--allocator", "1-cf", "--threads", "3", "--pins", "2"],
    ] {
        let mut command = surefit();
        command
            .args(["certify", "--format", "json", "--trace"])
            .args(runs);
        let output = command.args(options).output().expect("the command runs");
        let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(broken(&schema, &schema, &document, options[1]), None);
    }
}

#[test]
fn a_replay_on_a_collector_keeps_to_its_schema() {
    let schema = schema("gc-replay.json");
    for space in ["tlsf", "compact-fit"] {
        let mut command = surefit();
        command.args([
            "gc",
            "replay",
            "bundled:mtrt",
            "--heap",
            "4M",
            "--format",
            "json",
        ]);
        let output = command.args(["--space", space]).output();
        let output = output.expect("the command runs");
        let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(broken(&schema, &schema, &document, space), None);
    }
}

#[cfg(feature = "lua")]
#[test]
fn a_lua_script_keeps_to_its_schema_and_to_the_standard_error() {
    let schema = schema("gc-lua.json");
    for space in ["segregated:index=nht", "system"] {
        let mut command = surefit();
        command.args(["gc", "lua", "bundled:json", "--format", "json"]);
        command.args(["--space", space, "--", "12"]);
        let output = command.output().expect("the command runs");
        let document: Value = serde_json::from_slice(&output.stderr).expect("JSON");
        assert_eq!(broken(&schema, &schema, &document, space), None);
        assert_eq!(document["completed"], true);
        assert_eq!(document.get("lists").is_some(), space != "system");
        assert!(!output.stdout.is_empty(), "the script prints");
    }
}

#[test]
fn a_wrong_output_is_noticed() {
    let schema = schema("replay.json");
    let row = serde_json::json!({"allocator": "x", "completed": 1});
    assert!(broken(&schema, &schema, &row, "row").is_some());
    let trace = small_trace(3);
    let mut row = result(&trace.path, "tlsf", &["--heap", "1M"]);
    row["surprise"] = Value::from(1);
    assert!(broken(&schema, &schema, &row, "row").is_some());
}
