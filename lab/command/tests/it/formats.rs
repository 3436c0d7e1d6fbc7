//! `surefit trace import` and the formats of `surefit trace export`, as a user runs them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use surefit_testkit::{broken, schema, small_trace_with_call_sites};
use surefit_trace::Trace;

/// A recording of heaptrack, and what its own programs say of it: see the README beside it.
const RECORDING: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../formats/tests/it/recordings/raw.zst"
);

/// The folder of the hook in C.
const HOOK: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../crates/surefit-c/adapters"
);

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_surefit"));
    command.args(arguments).output().expect("the command runs")
}

fn printed(arguments: &[&str]) -> String {
    let output = run(arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Exports a trace into a file.
fn export(trace: &str, to: &str, file: &str) {
    printed(&["trace", "export", trace, "--to", to, "-o", file]);
}

/// The one line on standard error of a run that must be refused.
fn refused(arguments: &[&str]) -> String {
    let output = run(arguments);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
    assert!(
        output.stdout.is_empty() && errors.lines().count() == 1,
        "{arguments:?}: {errors}"
    );
    errors
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

#[test]
fn a_recording_of_heaptrack_is_imported() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = |name: &str| folder.path().join(name);
    let trace = place("lists.sft.zst");
    let said = printed(&["trace", "import", RECORDING, "-o", text(&trace)]);
    assert!(said.contains("538 events, 270 objects, 1 thread"), "{said}");
    assert!(said.contains("from heaptrack, raw"), "{said}");
    assert!(printed(&["trace", "check", text(&trace)]).contains("sound"));
    let json = printed(&[
        "trace",
        "import",
        RECORDING,
        "-o",
        text(&trace),
        "--format",
        "json",
    ]);
    let document: Value = serde_json::from_str(&json).expect("JSON");
    let schema = schema("import.json");
    assert_eq!(broken(&schema, &schema, &document, "import"), None);
    assert_eq!(document["from"], "heaptrack-raw");
    assert_eq!(document["stacks"], 22);
    assert_eq!(document["trace"]["name"], "lists");
    assert_eq!(document["trace"]["peak_live_bytes"], 78_742);
}

#[test]
fn what_was_imported_from_heaptrack_is_exported_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = |name: &str| folder.path().join(name);
    let trace = place("lists.sft.zst");
    printed(&["trace", "import", RECORDING, "-o", text(&trace)]);
    let packed = place("again.gz");
    printed(&[
        "trace",
        "export",
        text(&trace),
        "--to",
        "heaptrack",
        "-o",
        text(&packed),
    ]);
    assert!(
        std::fs::read(&packed)
            .expect("written")
            .starts_with(&[0x1f, 0x8b])
    );
    let again = place("again.sft");
    let said = printed(&["trace", "import", text(&packed), "-o", text(&again)]);
    assert!(
        said.contains("538 events") && said.contains("interpreted"),
        "{said}"
    );
    let plain = printed(&["trace", "export", text(&trace), "--to", "heaptrack"]);
    assert!(plain.starts_with("v 10400 3\nX lists\n"), "{plain}");

    let profile = place("profile.pb.gz");
    printed(&[
        "trace",
        "export",
        text(&trace),
        "--to",
        "pprof",
        "-o",
        text(&profile),
    ]);
    assert!(
        std::fs::read(&profile)
            .expect("written")
            .starts_with(&[0x1f, 0x8b])
    );
}

/// The frames of each event's stack, by function or else module and offset.
fn stacks(trace: &Trace) -> Vec<Vec<String>> {
    let sites = trace.sites().expect("call sites");
    let name = |frame: surefit_trace::Frame<'_>| match frame.function {
        Some(function) => function.to_owned(),
        None => format!("{}+{}", frame.module, frame.offset),
    };
    let events = 0..trace.events().len();
    events
        .map(|event| sites.frames(trace.stack(event)).map(name).collect())
        .collect()
}

#[test]
fn call_sites_go_to_heaptrack_and_come_back() {
    let trace = small_trace_with_call_sites(51);
    let (there, back) = (
        trace.path.with_extension("gz"),
        trace.path.with_extension("back.sft"),
    );
    let file = text(&trace.path);
    export(file, "heaptrack", text(&there));
    let said = printed(&["trace", "import", text(&there), "-o", text(&back)]);
    assert!(said.contains("with call sites: "), "{said}");
    let [before, after] = [&trace.path, &back].map(|file| Trace::load(file).expect("sound"));
    let allocated = |trace: &Trace| {
        let mut stacks = stacks(trace);
        stacks.retain(|stack| !stack.is_empty());
        stacks.sort();
        stacks.dedup();
        stacks
    };
    assert_eq!(allocated(&before), allocated(&after));
    assert!(allocated(&before).len() > 15);
    // A trace without them comes back without them.
    let plain = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/python-a.sft.zst");
    export(plain, "heaptrack", text(&there));
    let said = printed(&["trace", "import", text(&there), "-o", text(&back)]);
    assert!(!said.contains("call sites"), "{said}");
}

#[test]
fn a_profile_has_the_stacks_and_the_fragmentation_of_a_trace_with_call_sites() {
    let trace = small_trace_with_call_sites(52);
    let profile = trace.path.with_extension("pb.gz");
    let file = text(&trace.path);
    export(file, "pprof", text(&profile));
    let mut bytes = Vec::new();
    let packed = std::fs::File::open(&profile).expect("written");
    let mut decoder = flate2::read::GzDecoder::new(packed);
    std::io::Read::read_to_end(&mut decoder, &mut bytes).expect("gzip");
    let has = |text: &str| bytes.windows(text.len()).any(|it| it == text.as_bytes());
    for text in [
        "fragmentation_space",
        "operator new(unsigned long)",
        "(not known)",
    ] {
        assert!(has(text), "{text}");
    }
    assert!(has("/usr/lib/libshop-core.so.2") && !has("thread 0"));
}

#[test]
fn a_profile_that_cannot_say_fragmentation_says_why_and_has_the_rest() {
    // A request that no heap of these serves.
    let mut builder = surefit_trace::SitesBuilder::default();
    let frame = surefit_trace::Frame {
        module: "a",
        offset: 1,
        function: Some("huge"),
    };
    let stack = builder.stack(&[frame]);
    let (id, size, call) = (0, 1 << 40, surefit_trace::Call::Malloc);
    let op = surefit_trace::Op::Alloc { id, size, call };
    let trace = Trace::new("huge", vec![surefit_trace::Event::new(0, op)]).expect("sound");
    let trace = trace.with_sites(builder.finish(), vec![stack]);
    let folder = tempfile::tempdir().expect("a folder");
    let (file, profile) = (folder.path().join("h.sft"), folder.path().join("h.pb.gz"));
    std::fs::write(&file, trace.expect("known").to_bytes()).expect("written");
    let arguments = ["trace", "export", text(&file), "--to", "pprof", "-o"];
    let output = run(&[&arguments[..], &[text(&profile)]].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success() && said.lines().count() == 1,
        "{said}"
    );
    assert!(
        said.contains("h.sft: the profile has no fragmentation: "),
        "{said}"
    );
    assert!(std::fs::metadata(&profile).expect("written").len() > 100);
}

#[test]
fn what_cannot_be_imported_or_exported_is_one_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("x.sft");
    let import = |file: &str| refused(&["trace", "import", file, "-o", text(&out)]);
    assert!(import("/nonexistent").contains("/nonexistent: cannot be opened"));
    assert!(import("/").contains("/: cannot be read"));
    assert!(import("/dev/null").contains("/dev/null: is empty"));
    assert!(
        import(env!("CARGO_BIN_EXE_surefit")).contains("is neither a recording of heaptrack nor")
    );
    let trace = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/emacs.sft.zst");
    assert!(import(trace).contains("is a trace of surefit already"));
    let nowhere = ["trace", "import", RECORDING, "-o", "/nonexistent/x"];
    assert!(refused(&nowhere).contains("cannot be written"));
    let long = "n".repeat(5000);
    let named = [
        "trace",
        "import",
        RECORDING,
        "-o",
        text(&out),
        "--name",
        &long,
    ];
    assert!(refused(&named).contains("claims a name of 5000 bytes"));
    assert!(!out.exists());
    let zst = ["trace", "export", trace, "--to", "heaptrack", "-o", "x.zst"];
    assert!(refused(&zst).contains("ends in .gz or in neither"));
}

/// A program that calls the C library's heap 12,000 times, and sends each call to standard output.
const PROGRAM: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include "trace.h"

void surefit_trace_put(unsigned char byte) { putchar(byte); }

int main(void) {
    static void *objects[64];
    unsigned random = 1;
    surefit_trace_begin();
    for (int call = 0; call < 12000; call++) {
        random = random * 1103515245U + 12345U;
        unsigned place = random >> 16 & 63;
        size_t size = random >> 22;
        if (objects[place] == NULL) {
            objects[place] = malloc(size);
            surefit_trace_malloc(objects[place], size);
        } else if (random >> 31) {
            uintptr_t old = (uintptr_t)objects[place];
            objects[place] = realloc(objects[place], size + 1);
            surefit_trace_realloc(old, objects[place], size + 1);
        } else {
            surefit_trace_free(objects[place]);
            free(objects[place]);
            objects[place] = NULL;
        }
    }
    return 0;
}
"#;

/// The bytes that the program sends.
fn sent(folder: &Path) -> Vec<u8> {
    let (source, program) = (folder.join("main.c"), folder.join("program"));
    std::fs::write(&source, PROGRAM).expect("written");
    let hook = PathBuf::from(HOOK).join("trace.c");
    let built = Command::new("cc")
        .args([
            "-std=c99",
            "-Wall",
            "-Wextra",
            "-Wpedantic",
            "-Wconversion",
            "-Werror",
            "-I",
            HOOK,
        ])
        .args([&hook, &source])
        .arg("-o")
        .arg(&program)
        .output();
    let built = built.expect("a C compiler is here");
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    let ran = Command::new(&program).output().expect("the program runs");
    assert!(ran.status.success());
    ran.stdout
}

#[test]
fn a_program_in_c_records_itself_and_lost_bytes_are_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut bytes = sent(folder.path());
    let recording = folder.path().join("sensor.bytes");
    let trace = folder.path().join("sensor.sft.zst");
    let import = || {
        std::fs::write(&recording, &bytes).expect("written");
        let arguments = [
            "trace",
            "import",
            text(&recording),
            "-o",
            text(&trace),
            "--format",
            "json",
        ];
        let document: Value = serde_json::from_str(&printed(&arguments)).expect("JSON");
        let schema = schema("import.json");
        assert_eq!(broken(&schema, &schema, &document, "import"), None);
        document
    };
    let whole = import();
    assert_eq!(whole["trace"]["name"], "sensor");
    assert_eq!(whole["trace"]["events"], 12_000);
    assert_eq!(whole["board"]["arrived_events"], 12_000);
    assert_eq!(whole["board"]["lost_events"], 0);
    // The same again without a thousand bytes from the middle.
    let middle = bytes.len() / 2;
    bytes.drain(middle..middle + 1000);
    std::fs::write(&recording, &bytes).expect("written");
    let arguments = ["trace", "import", text(&recording), "-o", text(&trace)];
    let said = printed(&arguments);
    assert!(said.contains("from a board"), "{said}");
    assert!(
        said.contains(" events arrived, ") && said.contains(" events did not"),
        "{said}"
    );
    printed(&["trace", "check", text(&trace)]);

    let mut child = Command::new(env!("CARGO_BIN_EXE_surefit"));
    child
        .args(["trace", "import", "-", "-o", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = child.spawn().expect("the command runs");
    let mut input = child.stdin.take().expect("a pipe");
    std::io::Write::write_all(&mut input, &bytes).expect("it reads");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success() && output.stdout.starts_with(b"SFT1"));
}
