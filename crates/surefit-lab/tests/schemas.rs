//! Real outputs keep to the committed schemas.

mod common;

use std::path::PathBuf;

use common::{result, small_trace, surefit};
use serde_json::Value;

fn schema(name: &str) -> Value {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../schemas")
        .join(name);
    let text = std::fs::read_to_string(path).expect("a committed schema");
    serde_json::from_str(&text).expect("JSON")
}

/// What a value breaks of a schema, in the part of JSON Schema that ours use.
fn broken(schema: &Value, root: &Value, value: &Value, at: &str) -> Option<String> {
    if let Some(name) = schema["$ref"].as_str() {
        let definition = root
            .pointer(name.trim_start_matches('#'))
            .expect("a definition");
        return broken(definition, root, value, at);
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        let fits = choices
            .iter()
            .any(|choice| broken(choice, root, value, at).is_none());
        return (!fits).then(|| format!("{at} fits no choice"));
    }
    if !has_type(&schema["type"], value) {
        return Some(format!("{at} is {value}, not {}", schema["type"]));
    }
    match value {
        Value::Object(_) => broken_object(schema, root, value, at),
        Value::Array(items) => items
            .iter()
            .find_map(|item| broken(&schema["items"], root, item, &format!("{at}[]"))),
        _ => None,
    }
}

fn broken_object(schema: &Value, root: &Value, value: &Value, at: &str) -> Option<String> {
    let required = schema["required"].as_array().into_iter().flatten();
    let mut missing = required
        .filter_map(Value::as_str)
        .filter(|key| value.get(key).is_none());
    if let Some(key) = missing.next() {
        return Some(format!("{at}.{key} is missing"));
    }
    value
        .as_object()?
        .iter()
        .find_map(|(key, part)| match schema["properties"].get(key) {
            Some(property) => broken(property, root, part, &format!("{at}.{key}")),
            None => Some(format!("{at}.{key} is not in the schema")),
        })
}

fn has_type(types: &Value, value: &Value) -> bool {
    let fits = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        _ => false,
    };
    match types {
        Value::String(name) => fits(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(fits),
        _ => true,
    }
}

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
fn an_experiment_keeps_to_its_schema() {
    let trace = small_trace(4);
    let output = surefit()
        .args(["experiment", "bounds", "--rounds", "1", "--format", "json"])
        .arg(&trace.path)
        .output()
        .expect("the command runs");
    let bounds: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let schema = schema("experiment-bounds.json");
    assert_eq!(broken(&schema, &schema, &bounds, "bounds"), None);
}

#[test]
fn every_report_keeps_to_the_schema() {
    let trace = small_trace(5);
    let schema = schema("experiment.json");
    for name in [
        "figure-10",
        "figure-11",
        "table-3",
        "table-4",
        "predict",
        "overview",
    ] {
        let mut command = surefit();
        // its grid needs no counts, which take long
        if name == "overview" {
            command.env("PATH", "");
        }
        command.args(["experiment", name, "--quick", "--format", "json"]);
        if name != "predict" {
            command.arg(&trace.path);
        }
        let output = command.output().expect("the command runs");
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(broken(&schema, &schema, &report, name), None);
        assert_eq!(report["name"], name);
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
