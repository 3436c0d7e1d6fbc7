//! The command from outside: every allocator replays a small program, and bad input is one line and
//! exit status 2.

use crate::common::{error_line, result, small_trace, surefit};
use predicates_free::has;
use serde_json::Value;
use std::process::Command;
use surefit_trace::{Call, Event, Op, Trace};

/// Plain checks on text, so that no further crate is needed.
mod predicates_free {
    /// Whether the text holds every word.
    pub(crate) fn has(text: &str, words: &[&str]) -> bool {
        words.iter().all(|word| text.contains(word))
    }
}

const ALLOCATORS: [&str; 36] = [
    "cf",
    "cf:keys",
    "cf:branded",
    "cf:k=1",
    "cf:k=8,order=original",
    "cf:k=inf",
    "cf:holes=32,frac=0",
    "cf:page=4K,pieces=1K",
    "cf:width=16,page=1K",
    "cf:width=24",
    "cf-direct",
    "cf-cooperating",
    "cf-cooperating:ask=1,k=3",
    "cf-paper",
    "cf-paper:min=32",
    "n-cf-direct",
    "indirect",
    "first-fit",
    "best-fit",
    "worst-fit",
    "next-fit",
    "tree-fit",
    "dl-binned",
    "half-fit",
    "buddy",
    "jamaica",
    "jamaica:block=128,arrays=off",
    "jamaica:arrays=16,block=16",
    "segregated",
    "segregated:index=nht,coalesce=deferred,lists=16",
    "segregated:index=scan,coalesce=never,last=linear,lists=4096",
    "dl",
    "tlsf",
    "peer-rlsf",
    "peer-talc",
    "peer-dlmalloc",
];

#[test]
fn every_allocator_replays_and_verifies_a_small_program() {
    let trace = small_trace(1);
    for allocator in ALLOCATORS {
        let (heap, bytes) = match allocator {
            // a page of 16 KiB for each of 51 size-classes
            name if name.starts_with("cf-paper") => ("4M", 4 << 20),
            // a page of up to 128 KiB for each of 64
            "n-cf-direct" => ("4M", 4 << 20),
            _ => ("1M", 1 << 20),
        };
        let row = result(&trace.path, allocator, &["--heap", heap]);
        assert_eq!(row["completed"], true, "{allocator}: {row}");
        assert_eq!(row["allocator"], allocator);
        assert_eq!(row["heap_bytes"], bytes, "{allocator}");
        assert!(row["pair_ns_mean"].as_f64() >= Some(0.0), "{allocator}");
        assert!(
            row["peak_footprint_bytes"].as_u64() >= Some(trace.peak_bytes),
            "{allocator}"
        );
    }
}

#[test]
fn the_parts_at_the_peak_add_up_to_the_heap() {
    let trace = small_trace(2);
    for allocator in [
        "cf",
        "cf:k=1",
        "cf:branded",
        "cf-direct",
        "cf-cooperating",
        "indirect",
        "tlsf",
        "first-fit",
        "best-fit",
        "worst-fit",
        "next-fit",
        "tree-fit",
        "dl-binned",
        "half-fit",
        "buddy",
        "jamaica",
        "segregated:index=nht",
    ] {
        let row = result(&trace.path, allocator, &["--heap", "1M"]);
        let parts = row["at_peak"]
            .as_object()
            .expect("ours say where every byte is");
        let sum: u64 = parts.values().filter_map(Value::as_u64).sum();
        assert_eq!(sum, 1 << 20, "{allocator}: {parts:?}");
        assert_eq!(parts["requested_bytes"], trace.peak_bytes, "{allocator}");
    }
}

#[test]
fn the_platforms_malloc_has_no_region() {
    let trace = small_trace(3);
    let row = result(&trace.path, "system", &[]);
    assert_eq!(row["completed"], true);
    assert!(row.get("heap_bytes").is_none() && row.get("peak_footprint_bytes").is_none());
}

#[test]
fn a_heap_that_is_too_small_is_exit_status_1() {
    let trace = small_trace(4);
    let half = (trace.peak_bytes / 2).to_string();
    for allocator in [
        "cf",
        "cf-direct",
        "tlsf",
        "peer-rlsf",
        "peer-talc",
        "peer-dlmalloc",
    ] {
        let output = surefit()
            .args([
                "replay",
                "--allocator",
                allocator,
                "--heap",
                &half,
                "--format",
                "json",
            ])
            .arg(&trace.path)
            .output()
            .expect("the command runs");
        let line = error_line(&output, 1);
        assert!(has(&line, &["could not complete", allocator]), "{line}");
        let row: Value = serde_json::from_slice(&output.stdout).expect("the result all the same");
        assert_eq!(row["completed"], false);
        assert!(row["error"]["kind"].is_string() && row["error"]["event"].is_u64());
    }
}

#[test]
fn an_object_that_is_too_large_is_an_error_of_its_own() {
    let trace = small_trace(5);
    let args = ["--heap", "2M", "--format", "json"];
    let output = surefit()
        .args(["replay", "--allocator", "cf:pieces=off,page=4K"])
        .args(args)
        .arg(&trace.path)
        .output()
        .expect("the command runs");
    assert!(error_line(&output, 1).contains("too_large"));
}

#[test]
fn objects_that_are_too_large_for_a_page_can_be_left_out() {
    let trace = small_trace(5);
    let options = ["--heap", "2M", "--largest", "4K"];
    let row = result(&trace.path, "cf:pieces=off,page=4K", &options);
    assert_eq!(row["completed"], true, "{row}");
    assert_eq!(row["contiguous"], true);
    assert_eq!(row["left_out"]["larger_than_bytes"], 4096);
    let left_out = &row["left_out"]["objects"];
    assert!(left_out.as_u64() > Some(10), "{row}");
    let child = result(&trace.path, "tlsf", &options);
    assert_eq!(&child["left_out"]["objects"], left_out);
    assert_eq!(child["mallocs"], row["mallocs"]);
}

#[test]
fn words_of_two_bytes_take_the_part_of_a_region_that_they_can_name() {
    let trace = small_trace(9);
    let row = result(&trace.path, "cf:width=16,page=1K", &["--heap", "64M"]);
    assert_eq!(row["completed"], true, "{row}");
    let bytes = row["heap_bytes"].as_u64().expect("a region");
    assert!((1 << 20..2 << 20).contains(&bytes), "{bytes}");
    let parts = row["at_peak"].as_object().expect("an account");
    assert_eq!(parts.values().filter_map(Value::as_u64).sum::<u64>(), bytes);
}

#[test]
fn a_heap_over_the_systems_memory_is_what_its_child_measures() {
    let trace = small_trace(9);
    let row = result(&trace.path, "cf-os", &[]);
    assert_eq!(row["completed"], true, "{row}");
    assert_eq!(
        row["contiguous"], false,
        "objects over a piece, unlike malloc's"
    );
    assert!(row["moves_total"].as_u64() > Some(0), "{row}");
    assert!(row["peak_resident_bytes"].as_u64() > row["peak_live_bytes"].as_u64());
    let system = result(&trace.path, "system", &[]);
    assert!(system["moves_total"].is_null(), "{system}");
}

#[test]
fn keys_cost_four_bytes_an_object_more() {
    let trace = small_trace(10);
    let table = |allocator: &str| {
        let row = result(&trace.path, allocator, &["--heap", "1M"]);
        row["at_peak"]["administrative_bytes"]
            .as_u64()
            .expect("an account")
    };
    assert!(table("cf:keys,page=1K") > table("cf:page=1K"));
}

#[test]
fn bad_input_is_one_line_and_exit_status_2() {
    let trace = small_trace(6);
    let file = trace.path.to_str().expect("a plain name");
    let damaged = trace.damaged();
    let damaged = damaged.to_str().expect("a plain name");
    let cases: [(&[&str], &[&str]); 14] = [
        (
            &["replay", "/no/such.sft", "--allocator", "tlsf"],
            &["/no/such.sft", "opened"],
        ),
        (
            &["replay", damaged, "--allocator", "tlsf"],
            &["damaged.sft", ";"],
        ),
        (
            &["replay", "bundled:vim", "--allocator", "tlsf"],
            &["bundled:vim", "emacs"],
        ),
        (
            &["replay", file, "--allocator", "rpmalloc"],
            &["rpmalloc", "peer-rlsf", "preload:PATH, mimalloc"],
        ),
        (
            &["replay", file, "--allocator", "cf:k=0"],
            &["cf:k=0", "k=1"],
        ),
        (
            &["replay", file, "--allocator", "cf:page=3K"],
            &["cf:page=3K"],
        ),
        (
            &["replay", file, "--allocator", "cf:frac=2/3"],
            &["cf:frac=2/3", "1/2"],
        ),
        (
            &["replay", file, "--allocator", "preload:/no/lib.so"],
            &["/no/lib.so"],
        ),
        (
            &["replay", file, "--allocator", "tlsf", "--heap", "4Q"],
            &["4Q", "64K"],
        ),
        (
            &["replay", file, "--allocator", "tlsf", "--heap=-3x"],
            &["-3x"],
        ),
        (&["replay", file], &["--allocator"]),
        (
            &["compare", file, "--allocators", "tlsf", "--baseline", "cf"],
            &["baseline", "cf"],
        ),
        (&["compare", file, "--rounds", "0"], &["rounds"]),
        (&["frobnicate"], &["frobnicate"]),
    ];
    refused(&cases);
}

/// Each command line ends in one line that has these words.
fn refused(cases: &[(&[&str], &[&str])]) {
    for (args, words) in cases {
        let output = surefit().args(*args).output().expect("the command runs");
        let line = error_line(&output, 2);
        assert!(has(&line, words), "{args:?}: {line}");
        assert!(output.stdout.is_empty(), "{args:?}");
    }
}

#[test]
fn what_was_meant_is_said() {
    refused(&[
        (
            &["compare", "bundled:redis", "--heap", "1"],
            &["--heap", "1 B: no heap", "1x"],
        ),
        (
            &["gc", "replay", "bundled:raytrace", "--heap", "4"],
            &["4 B: no heap"],
        ),
        (
            &["certify", "run.sft.zst"],
            &["--trace run.sft.zst", "--demand"],
        ),
        (&["help", "frobnicate"], &["frobnicate"]),
    ]);
}

#[test]
fn help_of_a_verb_may_be_asked_for_in_two_ways() {
    let said = |args: &[&str]| {
        let output = surefit().args(args).output().expect("the command runs");
        assert!(output.status.success(), "{args:?}");
        String::from_utf8(output.stdout).expect("text")
    };
    assert_eq!(said(&["help", "certify"]), said(&["certify", "--help"]));
    assert_eq!(said(&["help", "gc", "lua"]), said(&["gc", "lua", "--help"]));
    assert!(said(&["help"]).contains("surefit help VERB"));
    let certify = said(&["help", "certify"]);
    assert!(!certify.contains("FILES"), "{certify}");
    let compare = said(&["help", "compare"]);
    assert!(compare.contains("by default peer-rlsf"), "{compare}");
}

#[test]
fn a_library_that_cannot_be_preloaded_is_one_line() {
    let trace = small_trace(7);
    let library = trace.path.to_str().expect("a plain name");
    let output = surefit()
        .args(["replay", "--allocator", &format!("preload:{library}")])
        .arg(&trace.path)
        .output()
        .expect("the command runs");
    assert!(error_line(&output, 2).contains("cannot preload"));
}

#[test]
fn threads_go_with_the_platforms_malloc_only() {
    let trace = small_trace(8);
    let output = surefit()
        .args(["replay", "--threads", "--allocator", "tlsf"])
        .arg(&trace.path)
        .output()
        .expect("the command runs");
    assert!(error_line(&output, 2).contains("replays on system and preload:PATH only"));
    let row = result(&trace.path, "system", &["--threads"]);
    assert_eq!(row["completed"], true);
}

/// Six hundred threads that live at once, in an address space that has no room for their stacks.
#[test]
#[cfg(target_os = "linux")]
fn threads_that_the_system_refuses_are_one_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("many.sft");
    let of = |thread: u16, op| Event::new(thread, op);
    let call = Call::Malloc;
    let alloc = |thread: u16| {
        let id = u32::from(thread);
        of(thread, Op::Alloc { id, size: 64, call })
    };
    let free = |thread: u16| {
        of(
            thread,
            Op::Free {
                id: u32::from(thread),
            },
        )
    };
    let events = (0..600).map(alloc).chain((0..600).map(free));
    let trace = Trace::new("many", events.collect()).expect("a sound trace");
    std::fs::write(&file, trace.to_bytes()).expect("written");
    let shell = "ulimit -v 400000; exec \"$0\" replay --threads --allocator system \"$1\"";
    let output = Command::new("sh")
        .args(["-c", shell])
        .arg(surefit().get_program())
        .arg(&file)
        .output()
        .expect("the command runs");
    let line = error_line(&output, 2);
    assert!(line.contains("thread"), "{line}");
}
