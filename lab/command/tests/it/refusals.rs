//! What cannot be done ends in one line that says what, where and how to mend it: files, numbers,
//! and places that cannot be written.

use std::fs::File;
use std::path::Path;
use std::process::Output;
#[cfg(target_os = "linux")]
use std::process::{Command, Stdio};

use crate::common::{error_line, small_trace, surefit};
use surefit_trace::{Call, Event, Op, Trace};

fn run(args: &[&str]) -> Output {
    surefit().args(args).output().expect("the command runs")
}

fn to_full_disk(args: &[&str]) -> Output {
    let full = File::options().write(true).open("/dev/full");
    let output = surefit().args(args).stdout(full.expect("Linux")).output();
    output.expect("the command runs")
}

#[cfg(target_os = "linux")]
#[test]
fn whatever_is_printed_to_a_full_disk_is_refused() {
    let trace = small_trace(11);
    let file = trace.path.to_str().expect("a plain name");
    let cases: [&[&str]; 8] = [
        &["--help"],
        &["--version"],
        &["replay", "--help"],
        &["gc", "replay", "--help"],
        &["trace", "stats", file],
        &["trace", "head", "--format", "json", file],
        &["trace", "check", file],
        &["certify", "--trace", file],
    ];
    for args in cases {
        let line = error_line(&to_full_disk(args), 2);
        assert!(line.contains("standard output: cannot be written: No space"));
        assert!(line.contains("free some space"), "{args:?}: {line}");
    }
}

#[cfg(all(target_os = "linux", feature = "lua"))]
#[test]
fn what_a_script_prints_to_a_full_disk_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let script = directory.path().join("print.lua");
    for (lines, size) in [(1, 10), (100, 5000)] {
        let text = format!("for i = 1, {lines} do print(('x'):rep({size})) end");
        std::fs::write(&script, text).expect("a file");
        let output = to_full_disk(&["gc", "lua", script.to_str().expect("a plain name")]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{errors}");
        let last = errors.lines().last().expect("a line");
        let says = "surefit: standard output: cannot be written: ";
        assert!(last.starts_with(says), "{last}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_complaint_that_cannot_be_printed_changes_no_exit_status() {
    let full = File::options().write(true).open("/dev/full");
    let mut command = surefit();
    command.args(["replay", "/no/such.sft", "--allocator", "tlsf"]);
    let status = command.stderr(full.expect("Linux")).status();
    assert_eq!(status.expect("the command runs").code(), Some(2));
}

fn classes(directory: &Path, text: &str) -> String {
    let file = directory.join("classes");
    std::fs::write(&file, text).expect("a file");
    file.to_str().expect("a plain name").to_owned()
}

#[test]
fn a_file_of_classes_that_names_none_is_refused() {
    let trace = small_trace(12);
    let file = trace.path.to_str().expect("a plain name");
    let directory = tempfile::tempdir().expect("a directory");
    for text in ["", "\n", "# 16 32\n", " , \t"] {
        let classes = classes(directory.path(), text);
        let spec = format!("cf:classes={classes}");
        for args in [
            &["gc", "replay", "bundled:raytrace", "--space", &spec][..],
            &["replay", file, "--allocator", &spec],
            &["certify", "--trace", file, "--allocator", &spec],
        ] {
            let line = error_line(&run(args), 2);
            assert!(line.contains(&classes), "{line}");
            assert!(line.contains("names no size; write sizes"), "{line}");
        }
    }
}

#[test]
fn a_collector_with_one_size_class_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let classes = classes(directory.path(), "16384\n");
    for name in ["cf", "compact-fit"] {
        let space = format!("{name}:classes={classes}");
        let line = error_line(
            &run(&["gc", "replay", "bundled:raytrace", "--space", &space]),
            2,
        );
        assert!(line.contains(&space), "{line}");
        assert!(line.contains("one size-class only"), "{line}");
        assert!(line.contains("name a smaller one"), "{line}");
    }
}

#[test]
fn many_files_that_are_not_sound_are_named_in_two_lines() {
    let directory = tempfile::tempdir().expect("a directory");
    let files = ["a", "b", "c", "d"].map(|name| {
        let path = directory.path().join(format!("{name}.sft"));
        std::fs::write(&path, b"").expect("a file");
        path
    });
    let output = surefit().args(["trace", "check"]).args(&files).output();
    let output = output.expect("the command runs");
    assert_eq!(output.status.code(), Some(2));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(errors.lines().count(), 2, "{errors}");
    for file in &files {
        assert!(errors.contains(&file.display().to_string()), "{errors}");
    }
    assert!(errors.contains("3 more files are not sound"), "{errors}");
    let json = ["trace", "check", "--format", "json"];
    let output = surefit().args(json).arg(&files[0]).output();
    assert!(error_line(&output.expect("the command runs"), 2).contains("a.sft"));
}

#[test]
fn what_never_ends_is_no_file_that_people_write() {
    let cases: [&[&str]; 3] = [
        &["certify", "--demand", "/dev/zero"],
        &[
            "certify",
            "--demand",
            "/dev/null",
            "--allocator",
            "cf:classes=/dev/zero",
        ],
        #[cfg(feature = "lua")]
        &["gc", "lua", "/dev/zero"],
    ];
    for args in cases {
        let line = error_line(&run(args), 2);
        assert!(line.contains("/dev/zero: has more than 16 MiB"), "{line}");
    }
}

#[test]
fn a_recording_that_would_take_hours_is_refused() {
    let record = |options: &[&str]| {
        let args = ["gc", "record", "trees", "-o", "/dev/null"];
        error_line(&run(&[&args, options].concat()), 2)
    };
    for size in ["0", "25", "4294967295"] {
        let line = record(&["--size", size]);
        assert!(line.contains("give 1 to 24"), "{line}");
    }
    assert!(record(&["--every", "1"]).contains("give at least 1024 bytes"));
}

/// The line by which the command refuses. A shell gives it so little address space, a gigabyte; a
/// machine with as little memory is the same to it.
#[cfg(target_os = "linux")]
fn limited(args: &[&str]) -> String {
    let mut command = Command::new("sh");
    let script = "ulimit -v 1000000; exec \"$0\" \"$@\"";
    let program = surefit().get_program().to_owned();
    command.args(["-c", script]).arg(program).args(args);
    error_line(
        &command.stdin(Stdio::null()).output().expect("sh starts"),
        2,
    )
}

#[cfg(target_os = "linux")]
#[test]
fn a_trace_that_there_is_no_memory_for_is_refused() {
    let make = ["gen", "emacs-paper", "-o", "/dev/null", "--allocations"];
    let line = limited(&[&make[..], &["4294967296"]].concat());
    assert!(line.contains("give at most 4293918720"), "{line}");
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("objects.sft");
    // the header of a trace of 2^27 events, each of which allocates an object that lives on
    let header =
        b"SFT1\x01\x00\x80\x80\x80\x40\x80\x80\x80\x40\x01\x00\x80\x80\x80\x40\x80\x80\x80\x40\x00";
    std::fs::write(&path, header).expect("a file");
    let file = path.to_str().expect("a plain name");
    for verb in ["stats", "check", "export"] {
        let line = limited(&["trace", verb, file]);
        assert!(
            line.contains("objects.sft: tables of the live objects"),
            "{line}"
        );
        assert!(line.contains("of memory left"), "{verb}: {line}");
    }
    let path = directory.path().join("long.sft");
    // the header of a trace of 2^27 events
    let header = b"SFT1\x01\x00\x80\x80\x80\x40\x00\x01\x00\x00\x00\x00";
    std::fs::write(&path, header).expect("a file");
    let file = path.to_str().expect("a plain name");
    for args in [
        &["replay", file, "--allocator", "tlsf"][..],
        &["certify", "--trace", file],
        &["tune", file],
    ] {
        let line = limited(args);
        assert!(
            line.contains("of memory left; give a smaller one"),
            "{line}"
        );
    }
}

#[test]
fn a_trace_without_live_bytes_is_refused_by_the_name_of_its_file() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("zero.sft");
    let file = path.to_str().expect("a plain name");
    let one = |size| {
        let (id, call) = (0, Call::Malloc);
        vec![Event::new(0, Op::Alloc { id, size, call })]
    };
    let page = directory.path().join("page.html");
    let page = page.to_str().expect("a plain name");
    let replay = ["replay", file, "--allocator", "tlsf"];
    let refused = |args: &[&str], mend: &str| {
        let line = error_line(&run(args), 2);
        let says = format!("{file}: nothing is ever live; there is nothing to replay: {mend}");
        assert!(line.contains(&says), "{args:?}: {line}");
    };
    for events in [Vec::new(), one(0)] {
        let trace = Trace::new("zero", events).expect("a sound trace");
        std::fs::write(&path, trace.to_bytes()).expect("a file");
        for args in [
            &replay[..],
            &[&replay[..], &["--stream"]].concat(),
            &["compare", "bundled:emacs", file],
            &["report", file, "-o", page],
        ] {
            refused(args, "record a longer run");
        }
    }
    let trace = Trace::new("zero", one(1000)).expect("a sound trace");
    std::fs::write(&path, trace.to_bytes()).expect("a file");
    let part = [&replay[..], &["--largest", "100"]].concat();
    refused(&part, "raise --largest");
}

#[test]
fn a_request_of_four_gibibytes_can_be_left_out_as_the_refusal_says() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("huge.sft");
    let event = |(id, size)| {
        let call = Call::Malloc;
        Event::new(0, Op::Alloc { id, size, call })
    };
    let events = [(0, 1000), (1, 4 << 30)].map(event).to_vec();
    let trace = Trace::new("huge", events).expect("a sound trace");
    std::fs::write(&path, trace.to_bytes()).expect("a file");
    let file = path.to_str().expect("a plain name");
    let replay = ["replay", file, "--rounds", "1", "--allocator", "tlsf"];
    let line = error_line(&run(&replay), 2);
    assert!(line.contains("event 1: ") && line.contains("--largest 1G"));
    let part = [&replay[..], &["--heap", "1M", "--largest", "1G"]].concat();
    assert!(run(&part).status.success());
}

#[test]
fn long_objects_as_lists_are_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("long.sft");
    let (call, size) = (Call::Malloc, 4 << 20);
    let events = vec![Event::new(0, Op::Alloc { id: 0, size, call })];
    let trace = Trace::new("long", events).expect("a sound trace");
    std::fs::write(&path, trace.to_bytes()).expect("a file");
    let file = path.to_str().expect("a plain name");
    let replay = ["replay", file, "--heap", "64M", "--allocator"];
    let line = error_line(&run(&[&replay[..], &["jamaica:arrays=off"]].concat()), 2);
    assert!(
        line.contains("takes hours") && line.contains("--largest 256K"),
        "{line}"
    );
    let arrays = [&replay[..], &["jamaica", "--rounds", "1"]].concat();
    assert!(run(&arrays).status.success());
}

/// Whatever memory this machine has.
#[cfg(target_os = "linux")]
#[test]
fn a_heap_larger_than_the_machine_is_refused() {
    let trace = small_trace(13);
    let file = trace.path.to_str().expect("a plain name");
    let cases: [&[&str]; 5] = [
        &["replay", file, "--allocator", "tlsf", "--heap", "1024G"],
        &["compare", file, "--allocators", "tlsf", "--heap", "1024G"],
        &["gc", "replay", "bundled:raytrace", "--heap", "1024G"],
        &[
            "gc",
            "record",
            "trees",
            "--memory",
            "1024G",
            "-o",
            "/dev/null",
        ],
        #[cfg(feature = "lua")]
        &["gc", "lua", "bundled:json", "--heap", "1024G"],
    ];
    for args in cases {
        let line = limited(args);
        assert!(line.contains("of memory left"), "{args:?}: {line}");
        assert!(line.contains("give a smaller one"), "{args:?}: {line}");
    }
}
