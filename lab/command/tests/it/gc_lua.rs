//! `surefit gc lua` from outside.

use std::path::Path;
use std::process::Output;

use crate::common::{error_line, surefit};

/// Every allocator of the registry that hands out raw pointers, and keys that change what it is.
const SPACES: [&str; 18] = [
    "cf-direct",
    "cf-direct:min=32",
    "first-fit",
    "best-fit",
    "worst-fit",
    "next-fit",
    "tree-fit",
    "segregated",
    "segregated:index=nht,coalesce=deferred,last=linear",
    "segregated:index=scan,coalesce=never,lists=16",
    "half-fit",
    "buddy",
    "dl",
    "tlsf",
    "peer-rlsf",
    "peer-talc",
    "peer-dlmalloc",
    "system",
];

fn lua(file: &str, args: &[&str]) -> Output {
    let output = surefit().args(["gc", "lua", file]).args(args).output();
    output.expect("the command runs")
}

fn in_file(source: &str, args: &[&str]) -> (Output, String) {
    let file = tempfile::NamedTempFile::with_suffix(".lua").expect("a file");
    std::fs::write(file.path(), source).expect("writable");
    let path = file.path().to_str().expect("a plain name").to_owned();
    (lua(&path, args), path)
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("text")
}

#[test]
fn a_program_prints_the_same_on_every_space() {
    for program in ["bundled:json", "bundled:deltablue"] {
        let printed = |space| {
            let output = lua(program, &["--space", space, "--heap", "1M", "--", "12"]);
            assert!(output.status.success(), "{space}: {}", stderr(&output));
            output.stdout
        };
        let expected = printed("system");
        assert!(!expected.is_empty());
        for space in SPACES {
            assert!(
                printed(space) == expected,
                "{program} on {space} prints something else"
            );
        }
    }
}

#[test]
fn what_was_counted_is_no_output() {
    let (output, _) = in_file(
        "io.write(table.concat({ ... }, ' '), ' ', #arg)",
        &["--", "a", "b"],
    );
    assert!(output.status.success());
    assert_eq!(output.stdout, b"a b 2");
    let text = stderr(&output);
    for word in ["requested:", "collections:", "table updates", "reserve:"] {
        assert!(text.contains(word), "{text}");
    }
}

#[test]
fn an_error_has_its_traceback_and_exhaustion_one_line() {
    let (output, path) = in_file("local function f() error('no more') end\nf()", &[]);
    assert_eq!(output.status.code(), Some(1));
    let text = stderr(&output);
    assert!(
        text.contains(&format!("surefit: {path}:1: no more\nstack traceback:")),
        "{text}"
    );
    let source = "print('begun') local t = {} while true do t[#t + 1] = {} end";
    let (output, _) = in_file(source, &["--heap", "256K", "--space", "tlsf"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(output.stdout, b"begun\n");
    let text = stderr(&output);
    let last = text.lines().last().expect("a line");
    assert!(
        last.contains("out of memory") && last.contains("--heap 262,144 on tlsf"),
        "{last}"
    );
}

#[test]
fn what_cannot_be_is_one_line() {
    for space in [
        "cf",
        "cf-os",
        "cf-paper",
        "jamaica",
        "1-cf",
        "cf-block-table",
    ] {
        let line = error_line(&lua("bundled:json", &["--space", space]), 2);
        assert!(line.contains("raw pointers"), "{line}");
    }
    assert!(error_line(&lua("bundled:tetris", &[]), 2).contains("binary_trees"));
    assert!(!Path::new("/no/such.lua").exists());
    assert!(error_line(&lua("/no/such.lua", &[]), 2).contains("cannot be read"));
}
