//! `surefit try` as a user runs it.

use std::process::{Command, Output};

use serde_json::Value;
use surefit_testkit::{broken, schema};
use tempfile::TempDir;

use crate::record::compiled;
use crate::resident::hoarder;

/// Tries a program beside glibc on a library of ours, once.
fn tried(folder: &TempDir, options: &[&str], program: &[&str]) -> Output {
    let library = hoarder(folder.path());
    let mut command = Command::new(env!("CARGO_BIN_EXE_surefit"));
    command.args(["try", "--only", "mine", "--rounds", "1", "--with"]);
    command.arg(format!("mine={}", library.display()));
    command.args(options).arg("--").args(program);
    command.current_dir(folder.path());
    command.output().expect("the command runs")
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

fn document(output: &Output) -> Value {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    let document: Value = serde_json::from_slice(&output.stdout).expect("a document");
    let schema = schema("try.json");
    assert_eq!(broken(&schema, &schema, &document, "try"), None);
    document
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A malloc that the program brings serves where nothing is preloaded, wherever its file lies, and
/// the C library's has a row; one that the user's shell preloads does not.
#[test]
fn a_linked_malloc_gives_its_name_to_the_first_row() {
    let folder = folder();
    let library = folder.path().join("libjemalloc.so.2");
    std::fs::copy(hoarder(folder.path()), &library).expect("a copy");
    let place = folder.path().display();
    let options = [
        format!("-L{place}"),
        format!("-Wl,-rpath,{place}"),
        "-Wl,--no-as-needed".to_owned(),
        "-l:libjemalloc.so.2".to_owned(),
    ];
    let options = options.each_ref().map(String::as_str);
    let program = compiled(folder.path(), "linked", &options);
    let rows = |program: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_surefit"));
        command.args(["try", "--only", "glibc", "--rounds", "1", "--"]);
        command.args(program);
        command.env("LD_PRELOAD", &library);
        let output = command.output().expect("the command runs");
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let linked = rows(&[program.to_str().expect("a plain name"), "pointer"]);
    let row = |name: &str| {
        linked
            .lines()
            .any(|line| line.trim_start().starts_with(name))
    };
    assert!(row("its own jemalloc") && row("system-glibc"), "{linked}");
    assert!(!row("glibc"), "{linked}");
    let other = rows(&["true"]);
    assert!(
        other.contains("glibc") && !other.contains("jemalloc") && !other.contains("system"),
        "{other}"
    );
}

#[test]
fn each_malloc_has_a_row_and_the_program_says_nothing() {
    let folder = folder();
    let shell = "echo loud; echo louder >&2; test -n \"$LD_PRELOAD\" || exit 0";
    let document = document(&tried(&folder, &["--format", "json"], &["sh", "-c", shell]));
    let mallocs = document["mallocs"].as_array().expect("mallocs");
    let names: Vec<_> = mallocs.iter().map(|one| one["name"].as_str()).collect();
    assert_eq!(names, [Some("glibc"), Some("mine")]);
    for one in mallocs {
        assert_eq!(one["wall_ns"].as_array().map(Vec::len), Some(1), "{one}");
        assert_eq!(one["failed"], Value::Null);
    }
    assert_eq!(mallocs[0]["library"], Value::Null);
    let table = tried(&folder, &[], &["sh", "-c", shell]);
    assert_eq!(said(&table), "");
    let table = String::from_utf8_lossy(&table.stdout).into_owned();
    assert!(
        table.starts_with("surefit try: sh -c echo loud;"),
        "{table}"
    );
    assert!(
        table.ends_with("No verdict: that takes five rounds or more.\n"),
        "{table}"
    );
    assert!(
        table.lines().all(|line| line.chars().count() <= 100),
        "{table}"
    );
}

#[test]
fn a_program_that_fails_under_one_malloc_has_a_row_that_says_so() {
    let folder = folder();
    let shell = "case \"$LD_PRELOAD\" in *hoarder*) echo it broke >&2; exit 3;; esac";
    let output = tried(&folder, &["--format", "json"], &["sh", "-c", shell]);
    let row = document(&output)["mallocs"][1].clone();
    let failed = row["failed"].as_str().unwrap_or_default().to_owned();
    assert_eq!(
        failed, "the program ended with exit status: 3: it broke",
        "{row}"
    );
    // One that fails with nothing preloaded cannot be compared.
    let output = tried(&folder, &[], &["sh", "-c", "echo no port >&2; exit 7"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        said(&output).contains("exit status: 7: no port"),
        "{}",
        said(&output)
    );
    let output = tried(&folder, &[], &["no-such-program-anywhere"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("no program no-such-program-anywhere"));
    let output = tried(&folder, &[], &["sh", "-c", "exit 0"]);
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn each_run_reads_the_input_from_its_beginning() {
    let folder = folder();
    std::fs::write(folder.path().join("input"), "one\ntwo\n").expect("written");
    let shell = "read word; test \"$word\" = one";
    let output = tried(
        &folder,
        &["--input", "input", "--format", "json"],
        &["sh", "-c", shell],
    );
    assert_eq!(document(&output)["mallocs"][1]["failed"], Value::Null);
    let output = tried(&folder, &["--input", "no-such-file"], &["sort"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("--input no-such-file: cannot be read"));
}

#[test]
fn a_server_runs_until_its_load_has_ended() {
    let folder = folder();
    let options = ["--format", "json", "--load", "echo load"];
    let output = tried(&folder, &options, &["sleep", "1000"]);
    assert_eq!(document(&output)["mallocs"][1]["failed"], Value::Null);
    let failing = ["--load", "echo no server >&2; exit 4"];
    let output = tried(&folder, &failing, &["sleep", "1000"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("no server"), "{}", said(&output));
    // Asked to end, a server may end in any way.
    let shell = "trap 'exit 143' TERM; while :; do sleep 0.01; done";
    let output = tried(&folder, &options, &["sh", "-c", shell]);
    assert_eq!(document(&output)["mallocs"][1]["failed"], Value::Null);
    // But not by another signal than the one that asked it.
    let shell = "trap 'kill -SEGV $$' TERM; : >ready; while :; do sleep 0.01; done";
    let shell =
        format!("case \"$LD_PRELOAD\" in *hoarder*) {shell};; esac; : >ready; exec sleep 1000");
    let load = "until test -e ready; do sleep 0.01; done; rm ready";
    let load = ["--format", "json", "--load", load];
    let output = tried(&folder, &load, &["sh", "-c", &shell]);
    let row = document(&output)["mallocs"][1].clone();
    let failed = row["failed"].as_str().unwrap_or_default().to_owned();
    assert!(
        failed.starts_with("the program ended with signal: 11"),
        "{row}"
    );
    // A server that has failed is why its load fails.
    let load = "until test -s pid; do sleep 0.01; done; \
                while kill -0 $(cat pid); do sleep 0.01; done; echo refused >&2; exit 4";
    let shell = "echo no port >&2; echo $$ >pid; exit 7";
    let output = tried(&folder, &["--load", load], &["sh", "-c", shell]);
    assert_eq!(output.status.code(), Some(2));
    let errors = said(&output);
    assert!(errors.contains("exit status: 7: no port"), "{errors}");
    assert!(!errors.contains("refused"), "{errors}");
}

/// A script's program, and a server in the background, go on when what was started has ended: they
/// are ended, and the figures are not those of the script.
#[test]
fn what_a_program_leaves_behind_is_ended_and_an_error() {
    let folder = folder();
    let load = "until test -s left; do sleep 0.01; done";
    for (options, shell) in [
        (&[][..], "sleep 1000 & echo $! >left"),
        (&["--load", load], "sleep 1000 & echo $! >left; wait"),
        (
            &["--load", load],
            "sh -c 'sleep 1000 & echo $! >left' & wait; sleep 1000",
        ),
    ] {
        let output = tried(&folder, options, &["sh", "-c", shell]);
        assert_eq!(output.status.code(), Some(2), "{shell}");
        let errors = said(&output);
        assert!(errors.contains("but sleep (process "), "{errors}");
        assert!(errors.contains("exec its program"), "{errors}");
        let left = std::fs::read_to_string(folder.path().join("left")).expect("its number");
        let gone = !std::path::Path::new("/proc").join(left.trim()).exists();
        assert!(gone, "{shell}: {left}");
        std::fs::remove_file(folder.path().join("left")).expect("removed");
    }
    // What ends soon by itself is no server.
    let output = tried(&folder, &[], &["sh", "-c", "sleep 0.1 & exit 0"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
}
