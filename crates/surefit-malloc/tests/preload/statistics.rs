//! What the heap says of itself, and of variables that it does not understand.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::program::{compiled, library, preloaded, succeeds, text};

/// The number after a name in a line of JSON.
fn number(json: &str, name: &str) -> u64 {
    let (_, rest) = json.split_once(&format!("\"{name}\":")).expect("the name");
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().expect("a number")
}

#[test]
fn programs_can_ask_what_the_heap_holds() {
    let mut command = preloaded(&compiled("reports", "ask"));
    // Nothing goes back before it is asked for.
    let output = succeeds(command.env("SUREFIT_PURGE_MS", "-1"));
    assert_eq!(text(&output.stdout), "done\n");
    assert!(text(&output.stderr).starts_with("surefit-malloc: statistics of process "));
}

#[test]
fn statistics_are_written_at_the_end() {
    let program = compiled("misuse", "statistics");
    let output = succeeds(preloaded(&program).env("SUREFIT_STATS", "1"));
    let said = text(&output.stderr);
    assert!(
        said.contains("\n  allocated ") && said.contains("page-block"),
        "{said}"
    );
    let output = succeeds(preloaded(&program).env("SUREFIT_STATS", "json"));
    let json = text(&output.stderr);
    assert!(
        json.starts_with("{\"process\":") && json.ends_with("]}\n"),
        "{json}"
    );
    assert_eq!(json.lines().count(), 1);
    assert!(number(&json, "active") >= number(&json, "allocated"));
    assert_eq!(number(&json, "instances"), 1);
    // Records are made usable as they are needed, not for all the addresses.
    assert!(number(&json, "metadata") < 16 << 20);
}

/// The command of docs/guide.md, in a folder of its own.
#[test]
fn the_program_of_the_guide_says_what_it_held() {
    let guide = include_str!("../../../../docs/guide.md");
    let command = guide.lines().find(|line| line.contains("LD_PRELOAD="));
    let library = library().display().to_string();
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let command = command
        .expect("a line preloads the library")
        .replace("target/preload/examples/libsurefit_malloc.so", &library)
        .replace("README.md", readme);
    assert!(command.contains(&library) && command.contains(readme));
    let folder = env!("CARGO_TARGET_TMPDIR");
    let output = succeeds(
        Command::new("sh")
            .args(["-c", &command])
            .current_dir(folder),
    );
    let said = text(&output.stderr);
    assert!(said.contains("\n  allocated "), "{said}");
    let sorted = fs::metadata(Path::new(folder).join("sorted")).expect("it was written");
    assert_eq!(sorted.len(), fs::metadata(readme).expect("a file").len());
}

/// The copy of standard error has a number that the process may have.
#[test]
fn statistics_are_written_where_few_files_may_be_open() {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 64 && exec sort /dev/null"]);
    let output = succeeds(
        command
            .env("LD_PRELOAD", library())
            .env("SUREFIT_STATS", "1"),
    );
    let said = text(&output.stderr);
    assert!(said.contains("\n  allocated "), "{said}");
}

#[test]
fn statistics_are_appended_to_a_file() {
    let program = compiled("misuse", "statistics-file");
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("statistics.json");
    drop(fs::remove_file(&file));
    for lines in 1..=2 {
        let value = format!("file:{}", file.display());
        let output = succeeds(preloaded(&program).env("SUREFIT_STATS", value));
        assert_eq!(text(&output.stderr), "");
        let written = fs::read_to_string(&file).expect("it was written");
        assert_eq!(written.lines().count(), lines);
    }
    let output = succeeds(preloaded(&program).env("SUREFIT_STATS", "file:/no/such/folder/a"));
    assert_eq!(
        text(&output.stderr),
        "surefit-malloc: SUREFIT_STATS: the file cannot be opened\n"
    );
}

#[test]
fn a_variable_that_is_not_understood_is_named_in_one_line() {
    let program = compiled("misuse", "variables");
    for (name, value, said) in [
        (
            "SUREFIT_LIMIT",
            "12X",
            "bytes, as 500M or 2G; there is no limit",
        ),
        (
            "SUREFIT_SOFT_LIMIT",
            "",
            "bytes, as 500M or 2G; there is none",
        ),
        (
            "SUREFIT_PURGE_MS",
            "-2",
            "milliseconds, or -1 for never; it is 100",
        ),
        (
            "SUREFIT_SHARING",
            "0",
            "threads for each instance, from 1 on; it is 1",
        ),
        ("SUREFIT_CHECK", "yes", "0 or 1; it is 0"),
        ("SUREFIT_HUGE_PAGES", "2M", "0 or 1; it is 0"),
        ("SUREFIT_MISUSE", "shrug", "abort or ignore; it is abort"),
        (
            "SUREFIT_DEFRAG_PAGES",
            "0",
            "pages of a size-class, from 1 on; it is 4",
        ),
        (
            "SUREFIT_STATS",
            "xml",
            "1, json, or file: and a name; nothing is written",
        ),
    ] {
        let output = succeeds(preloaded(&program).env(name, value));
        let line = format!("surefit-malloc: {name}={value} should be {said}\n");
        assert_eq!(text(&output.stderr), line);
    }
}

#[test]
fn what_is_set_without_effect_is_said_in_one_line() {
    let program = compiled("misuse", "statistics-slips");
    let said = |variables: &[(&str, &str)]| {
        let output = succeeds(preloaded(&program).envs(variables.iter().copied()));
        text(&output.stderr).to_owned()
    };
    let needs = "should be 1M or more, which a program needs to begin; there is no limit";
    for little in ["0", "16K"] {
        let line = format!("surefit-malloc: SUREFIT_LIMIT={little} {needs}\n");
        assert_eq!(said(&[("SUREFIT_LIMIT", little)]), line);
    }
    assert_eq!(
        said(&[("SUREFIT_LIMIT", "64M"), ("SUREFIT_SOFT_LIMIT", "65M")]),
        "surefit-malloc: SUREFIT_SOFT_LIMIT should be below SUREFIT_LIMIT; there is no soft limit\n"
    );
    assert_eq!(
        said(&[("SUREFIT_LIMT", "64M")]),
        "surefit-malloc: SUREFIT_LIMT is no variable of it and does nothing; SUREFIT_LIMIT is one\n"
    );
    assert_eq!(said(&[("SUREFIT_STATS", "0"), ("SUREFIT_OTHER", "1")]), "");
}
