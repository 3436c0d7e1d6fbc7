//! The experiment `malloc`, from outside: its children run here.

use std::process::Command;

use serde_json::Value;
use surefit_testkit::error_line;

use crate::experiments;

/// The experiment in its smallest form, on these libraries beside glibc.
fn malloc(only: &str) -> Command {
    let mut command = experiments();
    command.args(["malloc", "--quick", "--rounds", "1"]);
    for variable in ["SUREFIT_MALLOC_LIBRARY", "SUREFIT_MALLOC_MORE"] {
        command.env_remove(variable);
    }
    command.env("SUREFIT_MALLOC_ONLY", only);
    command
}

fn report(command: &mut Command) -> Value {
    let output = command.args(["--format", "json"]).output();
    let output = output.expect("the command runs");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn rows(report: &Value, table: usize) -> &Vec<Value> {
    report["tables"][table]["rows"].as_array().expect("rows")
}

#[test]
fn glibc_alone_plays_every_shape_and_judges_nothing() {
    let report = report(&mut malloc("glibc"));
    let summary = &rows(&report, 0)[0];
    assert_eq!(summary[0], "glibc");
    assert_eq!(
        summary[1], "12 of 12",
        "all shapes that are made, and one recorded"
    );
    for row in rows(&report, 1) {
        assert_eq!(row[1].as_f64(), Some(1.0), "glibc ÷ glibc: {row}");
    }
    for claim in report["claims"].as_array().expect("claims") {
        assert_eq!(claim["verdict"], "not_comparable", "{claim}");
    }
    let phases = summary[9].as_f64().expect("held ÷ live");
    assert!(phases > 0.0, "{phases}");
}

#[test]
fn a_library_that_cannot_be_loaded_fails_and_the_others_go_on() {
    let text = concat!("broken=", env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let mut command = malloc("broken");
    let report = report(command.env("SUREFIT_MALLOC_MORE", text));
    let summary = rows(&report, 0);
    assert_eq!(summary[0][1], "12 of 12");
    assert_eq!(
        (&summary[1][0], &summary[1][1]),
        (&"broken".into(), &"0 of 12".into())
    );
    let notes = report["notes"].as_array().expect("notes");
    let says = |note: &Value| note.as_str().is_some_and(|note| note.contains("preload"));
    assert!(notes.iter().any(says), "{notes:?}");
}

#[test]
fn what_is_installed_here_fits_eighty_columns() {
    let mut command = malloc("");
    let output = command.env_remove("SUREFIT_MALLOC_ONLY").output();
    let screen = String::from_utf8(output.expect("the command runs").stdout).expect("text");
    assert!(screen.starts_with("malloc"), "{screen}");
    let wide: Vec<_> = screen
        .lines()
        .filter(|line| line.chars().count() > 80)
        .collect();
    assert!(wide.is_empty(), "{wide:#?}");
}

#[test]
fn libraries_that_are_not_there_are_refused_in_one_line() {
    for (variable, value) in [
        ("SUREFIT_MALLOC_LIBRARY", "/no/such/lib.so"),
        ("SUREFIT_MALLOC_MORE", "mesh=/no/such/lib.so"),
        ("SUREFIT_MALLOC_MORE", "mesh"),
        ("SUREFIT_MALLOC_ONLY", "hoard"),
    ] {
        let output = malloc("glibc").env(variable, value).output();
        let line = error_line(&output.expect("the command runs"), 2);
        assert!(line.contains(variable), "{line}");
    }
}

#[test]
fn a_child_refuses_what_is_no_shape() {
    for args in [
        &["malloc-shape", "teleport", "--part", "1", "--threads", "2"][..],
        &["malloc-shape", "churn", "--part", "0", "--threads", "2"],
        &["malloc-shape", "churn", "--part", "1", "--threads", "1"],
        &["malloc-shape", "emacs", "--part", "1", "--threads", "2"],
        &[
            "malloc-shape",
            "emacs",
            "--part",
            "1",
            "--threads",
            "2",
            "--steps",
            "/no/such",
        ],
    ] {
        let output = experiments().args(args).output();
        error_line(&output.expect("the command runs"), 2);
    }
}
