//! `surefit trace` and `surefit gen` as a user runs them.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

const EMACS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/emacs.sft.zst");

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_surefit"));
    command.args(arguments);
    command
}

fn run(arguments: &[&str]) -> Output {
    command(arguments).output().expect("the command runs")
}

/// What a run that must succeed printed.
fn printed(arguments: &[&str]) -> String {
    let output = run(arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&printed(arguments)).expect("JSON")
}

/// The one line on standard error of a run that must be refused.
fn refused(arguments: &[&str]) -> String {
    let output = run(arguments);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
    assert!(output.stdout.is_empty(), "{arguments:?} printed something");
    assert_eq!(errors.lines().count(), 1, "{arguments:?}: {errors}");
    errors
}

fn in_directory(directory: &Path, name: &str) -> (PathBuf, String) {
    let path = directory.join(name);
    let text = path.to_str().expect("a plain path").to_owned();
    (path, text)
}

fn names(directory: &Path) -> Vec<String> {
    let entries = directory.read_dir().expect("a directory");
    let name = |entry: std::io::Result<std::fs::DirEntry>| {
        entry
            .expect("an entry")
            .file_name()
            .to_string_lossy()
            .into_owned()
    };
    entries.map(name).collect()
}

#[test]
fn stats_say_what_a_trace_holds() {
    let text = printed(&["trace", "stats", EMACS]);
    for figure in ["864,775", "31,281,530", "15,252", "1000: 19.4"] {
        assert!(text.contains(figure), "{figure}: {text}");
    }
    assert!(
        text.lines().all(|line| line.chars().count() <= 100),
        "{text}"
    );
    let document = json(&[
        "trace",
        "stats",
        "--format",
        "json",
        "--sizes",
        "1",
        "bundled:emacs",
    ]);
    let trace = &document["traces"][0];
    assert_eq!(trace["peak_event"], 803_406);
    assert_eq!(trace["top_sizes"][0]["size_bytes"], 1000);
    assert_eq!(trace["alignments"][0]["align_bytes"], 1024);
}

#[test]
fn check_names_every_file_that_is_not_sound() {
    let directory = tempfile::tempdir().expect("a directory");
    let (cut, cut_text) = in_directory(directory.path(), "cut.sft.zst");
    let whole = std::fs::read(EMACS).expect("the bundled trace");
    std::fs::write(&cut, &whole[..150_000]).expect("a writable directory");
    let (empty, empty_text) = in_directory(directory.path(), "empty.sft");
    std::fs::write(&empty, b"").expect("a writable directory");

    let output = run(&["trace", "check", &cut_text, EMACS, &empty_text]);
    assert_eq!(output.status.code(), Some(2));
    let errors = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<_> = errors.lines().collect();
    assert_eq!(lines.len(), 2, "{errors}");
    assert!(lines[0].contains("cut.sft.zst: event "), "{errors}");
    assert!(lines[1].contains("empty.sft: is empty; give a"), "{errors}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("sound, 864,775 events"));

    let output = run(&["trace", "check", "--format", "json", &cut_text]);
    assert_eq!(output.status.code(), Some(2));
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(document["files"][0]["sound"], false);
    assert!(document["files"][0]["error"]["event"].is_u64());
}

#[test]
fn head_shows_the_first_events() {
    let text = printed(&["trace", "head", "-n", "2", EMACS]);
    let below = text.lines().skip_while(|line| !line.starts_with("event"));
    assert_eq!(below.count(), 3, "{text}");
    assert!(text.contains("72,704"), "{text}");
    let document = json(&["trace", "head", "-n", "5", "--format", "json", EMACS]);
    let events = document["traces"][0]["first_events"]
        .as_array()
        .expect("an array");
    assert_eq!(events.len(), 5);
    assert_eq!(events[4]["call"], "calloc");
    assert_eq!(events[4]["size_bytes"], 208);
}

#[test]
fn export_writes_a_row_for_each_event() {
    let text = printed(&["trace", "export", EMACS]);
    assert_eq!(text.lines().count(), 864_776);
    assert!(
        text.starts_with("event,thread,call,object,size_bytes,align_bytes\n0,0,malloc,0,37,\n")
    );
    let objects = printed(&["trace", "export", "--to", "jsonl", EMACS]);
    let last: Value = serde_json::from_str(objects.lines().last().unwrap_or("")).expect("JSON");
    assert_eq!(last["event"], 864_774);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = command(&["trace", "export", EMACS])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command runs");
    let mut first = [0; 5];
    let mut stdout = child.stdout.take().expect("a pipe");
    stdout.read_exact(&mut first).expect("a header line");
    drop(stdout);
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success());
    assert!(output.stderr.is_empty());
}

#[test]
fn gen_writes_the_same_sound_trace_for_the_same_seed() {
    let directory = tempfile::tempdir().expect("a directory");
    let (one, one_text) = in_directory(directory.path(), "one.sft.zst");
    let (two, two_text) = in_directory(directory.path(), "two.sft.zst");
    let make = [
        "gen",
        "emacs-paper",
        "--allocations",
        "5000",
        "--live",
        "64K",
        "--seed",
        "7",
        "-o",
    ];
    let text = printed(&[&make[..], &[&one_text]].concat());
    assert!(text.contains("5,000 objects"), "{text}");
    printed(&[&make[..], &[&two_text]].concat());
    let (one, two) = (std::fs::read(one), std::fs::read(two));
    assert_eq!(one.expect("written"), two.expect("written"));
    let document = json(&["trace", "check", "--format", "json", &one_text]);
    assert_eq!(document["files"][0]["trace"]["objects"], 5000);
    let mut left = names(directory.path());
    left.sort();
    assert_eq!(left, ["one.sft.zst", "two.sft.zst"]);
}

#[test]
fn gen_writes_plain_files_and_standard_output() {
    let directory = tempfile::tempdir().expect("a directory");
    let (path, text) = in_directory(directory.path(), "phase.sft");
    printed(&["gen", "phase", "--live", "64K", "-o", &text]);
    let streamed = run(&["gen", "phase", "--live", "64K", "-o", "-"]).stdout;
    assert_eq!(std::fs::read(path).expect("written"), streamed);
    assert!(streamed.starts_with(b"SFT1"));
}

#[test]
fn gen_replaces_the_file_behind_a_link() {
    let directory = tempfile::tempdir().expect("a directory");
    let (path, _) = in_directory(directory.path(), "trace.sft");
    let (link, link_text) = in_directory(directory.path(), "link.sft");
    std::fs::write(&path, b"old").expect("a writable directory");
    std::os::unix::fs::symlink("trace.sft", &link).expect("links");
    printed(&["gen", "phase", "--live", "64K", "-o", &link_text]);
    assert!(link.is_symlink());
    assert!(std::fs::read(&path).expect("written").starts_with(b"SFT1"));
}

#[test]
fn what_cannot_be_made_or_written_is_one_line() {
    let refuse = |arguments: &[&str], says: &str| {
        let line = refused(arguments);
        assert!(line.contains(says), "{line}");
    };
    refuse(
        &["gen", "phase", "--allocations", "9", "-o", "x"],
        "leave their number out",
    );
    refuse(
        &["gen", "emacs-paper", "--live", "10", "-o", "x"],
        "give at least 1024",
    );
    refuse(
        &[
            "gen",
            "emacs-paper",
            "--allocations",
            "9",
            "-o",
            "/nonexistent/x.sft",
        ],
        "/nonexistent/x.sft: cannot be written: No such file",
    );
    refuse(
        &[
            "gen",
            "emacs-paper",
            "--allocations",
            "9999",
            "-o",
            "/dev/full",
        ],
        "/dev/full: cannot be written: No space left",
    );
    refuse(
        &["trace", "stats", "/nonexistent"],
        "/nonexistent: cannot be opened",
    );
    refuse(&["trace", "head", "/dev/null"], "/dev/null: is empty");
    refuse(
        &["trace", "export", env!("CARGO_BIN_EXE_surefit")],
        "is not a trace",
    );
}

/// Scripts read them.
#[test]
fn a_file_has_one_line_in_a_pipe_however_long_its_name_is() {
    let directory = tempfile::tempdir().expect("a directory");
    let (_, text) = in_directory(
        directory.path(),
        &format!("{}.sft", "long name ".repeat(12)),
    );
    let generated = printed(&["gen", "phase", "--live", "64K", "-o", &text]);
    let checked = printed(&["trace", "check", &text]);
    for said in [generated, checked] {
        assert!(said.starts_with(&text), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}
