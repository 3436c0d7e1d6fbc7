//! Real outputs keep to the committed schemas.

use serde_json::Value;
use surefit_testkit::{broken, schema, small_trace};

use crate::experiments;

#[test]
fn an_experiment_keeps_to_its_schema() {
    let trace = small_trace(4);
    let output = experiments()
        .args(["bounds", "--rounds", "1", "--format", "json"])
        .arg(&trace.path)
        .output()
        .expect("the command runs");
    let bounds: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let schema = schema("experiment.json");
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
        let mut command = experiments();
        // its grid needs no counts, which take long
        if name == "overview" {
            command.env("PATH", "");
        }
        command.args([name, "--quick", "--format", "json"]);
        if name != "predict" {
            command.arg(&trace.path);
        }
        let output = command.output().expect("the command runs");
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(broken(&schema, &schema, &report, name), None);
        assert_eq!(report["name"], name);
    }
}
