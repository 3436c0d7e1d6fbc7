//! What is said of a program that frees what is no object.

use std::os::unix::process::ExitStatusExt;

use crate::program::{compiled, preloaded, succeeds, text};

const SIGABRT: i32 = 6;

/// Runs the program; the line on standard error, after the address.
fn said(what: &str, variables: &[(&str, &str)]) -> String {
    let program = compiled(
        "misuse",
        &format!("{}{}", what.replace(' ', "-"), variables.len()),
    );
    let mut command = preloaded(&program);
    command.arg(what).envs(variables.iter().copied());
    let output = command.output().expect("the program starts");
    assert_eq!(
        output.status.signal(),
        Some(SIGABRT),
        "{what}: {}",
        output.status
    );
    assert_eq!(text(&output.stdout), "");
    let line = text(&output.stderr);
    assert_eq!(line.lines().count(), 1, "{line}");
    let rest = line
        .strip_prefix("surefit-malloc: misuse at 0x")
        .expect("our line");
    let (_, rest) = rest.split_once(" by thread ").expect("a thread");
    let (thread, rest) = rest.split_once(": ").expect("what it was");
    assert!(thread.parse::<u32>().is_ok());
    rest.trim_end().to_owned()
}

const NO_OBJECT: &str = "no object begins at the address: it was freed, or lies inside an object";
const FOREIGN: &str = "the address is not in the heap";

#[test]
fn what_the_records_show_is_always_found() {
    assert_eq!(said("stack", &[]), FOREIGN);
    assert_eq!(said("static", &[]), FOREIGN);
    assert_eq!(said("resized", &[]), FOREIGN);
    assert_eq!(said("large twice", &[]), NO_OBJECT);
    assert_eq!(said("large inside", &[]), NO_OBJECT);
}

#[test]
fn the_rest_is_found_if_each_free_is_checked() {
    let checked = [("SUREFIT_CHECK", "1")];
    let twice = said("twice", &checked);
    assert_eq!(twice, "the object, of 112 bytes, is free already");
    for what in ["inside", "odd", "elsewhere"] {
        assert_eq!(said(what, &checked), NO_OBJECT);
    }
    assert_eq!(said("stack", &checked), FOREIGN);
}

#[test]
fn a_program_may_go_on_after_it() {
    let program = compiled("misuse", "ignored");
    for what in ["twice", "inside", "large twice", "stack", "resized"] {
        let mut command = preloaded(&program);
        command
            .arg(what)
            .env("SUREFIT_CHECK", "1")
            .env("SUREFIT_MISUSE", "ignore");
        let output = succeeds(&mut command);
        assert_eq!(text(&output.stdout), "went on\n");
        assert!(text(&output.stderr).starts_with("surefit-malloc: misuse at 0x"));
    }
}

#[test]
fn a_program_without_misuse_is_told_nothing() {
    let program = compiled("misuse", "none");
    let output = succeeds(preloaded(&program).env("SUREFIT_CHECK", "1"));
    assert_eq!(text(&output.stderr), "");
}

#[test]
fn a_second_free_is_found_at_once_whoever_frees() {
    let program = compiled("second_free", "");
    let mut command = preloaded(&program);
    command
        .env("SUREFIT_CHECK", "1")
        .env("SUREFIT_MISUSE", "ignore");
    let output = succeeds(&mut command);
    assert_eq!(text(&output.stdout), "64\n");
    // A line of the program after each second free: before it stands what was found.
    let said = text(&output.stderr);
    let mut found = false;
    let mut missed = Vec::new();
    for line in said.lines() {
        if line.starts_with("surefit-malloc: misuse at 0x") {
            found = true;
        } else if !core::mem::take(&mut found) {
            missed.push(line);
        }
    }
    assert!(missed.is_empty(), "{} missed: {missed:?}", missed.len());
}
