//! `surefit record` on commands that only begin the program that is meant.

use std::process::Output;

use surefit_trace::Trace;
use tempfile::TempDir;

use crate::record::{folder, program, record};

/// Events that only the program has, not what begins it.
const MANY: u64 = 50_000;

/// Records `sh -c begin`, with our program as `$0`.
fn wrapped(folder: &TempDir, begin: &str) -> Output {
    let mut command = record(folder, &["--", "sh", "-c", begin]);
    command.arg(program()).output().expect("the command runs")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_trace_is_of_the_program_that_a_wrapper_becomes_or_starts() {
    for (begin, how) in [
        ("exec env X=1 \"$0\" many", "which sh became"),
        ("\"$0\" many; true", "which sh started"),
        ("nice timeout 60 \"$0\" many; true", "which sh started"),
    ] {
        let folder = folder();
        let output = wrapped(&folder, begin);
        let said = said(&output);
        assert_eq!(output.status.code(), Some(0), "{said}");
        let trace = Trace::load(folder.path().join("a.sft.zst")).expect("sound");
        assert!(trace.events().len() as u64 >= MANY, "{begin}");
        let line = said.lines().nth(1).expect("a second line");
        assert!(
            line.contains("recorded, ") && line.contains(how),
            "{begin}: {said}"
        );
    }
}

#[test]
fn a_program_that_is_started_without_the_recorder_is_an_error_and_leaves_no_trace() {
    for (begin, how) in [
        ("exec env -i \"$0\" many", "env replaced itself by"),
        (
            "exec env -u LD_PRELOAD \"$0\" many",
            "env replaced itself by",
        ),
        (
            "exec env -u SUREFIT_RECORD \"$0\" many",
            "env replaced itself by",
        ),
        ("env -i \"$0\" many; true", "sh only started"),
    ] {
        let folder = folder();
        let output = wrapped(&folder, begin);
        let said = said(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        let last = said.lines().last().expect("a line");
        let name = program().display().to_string();
        for part in [how, &name, "LD_PRELOAD and SUREFIT_RECORD", "`env -i`"] {
            assert!(last.contains(part), "{begin}: {said}");
        }
        assert_eq!(said.matches(&name).count(), 1, "{said}");
        assert!(!folder.path().join("a.sft.zst").exists(), "{begin}");
    }
}

#[test]
fn what_did_much_before_it_gave_way_to_a_program_without_the_recorder_keeps_its_trace() {
    let folder = folder();
    let much = "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done; exec env -i \"$0\" many";
    let output = wrapped(&folder, much);
    let said = said(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("env replaced itself by"), "{said}");
    assert!(!folder.path().join("a.sft.zst").exists(), "{said}");
    let mut kept = folder.path().read_dir().expect("a folder");
    let kept = kept.next().expect("a trace").expect("a file").path();
    let trace = Trace::load(&kept).expect("sound");
    assert!(trace.events().len() >= 1000, "{}: {said}", kept.display());
}

#[test]
fn a_program_that_could_not_be_begun_is_none_that_is_missing() {
    let folder = folder();
    let output = wrapped(&folder, "exec env -i ./no-such-program");
    let said = said(&output);
    assert_eq!(output.status.code(), Some(127), "{said}");
    assert!(!said.contains("SUREFIT_RECORD"), "{said}");
    assert!(folder.path().join("a.sft.zst").exists());
}

#[test]
fn a_copy_that_only_frees_what_it_inherited_has_no_trace() {
    let folder = folder();
    let mut command = record(&folder, &["--"]);
    let output = command.arg(program()).arg("child-frees").output();
    let output = output.expect("the command runs");
    assert_eq!(output.status.code(), Some(0));
    assert!(!said(&output).contains("a-2"), "{}", said(&output));
    assert_eq!(folder.path().read_dir().expect("a folder").count(), 1);
}
