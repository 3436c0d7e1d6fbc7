//! `surefit compare` from outside.

use crate::common::{SmallTrace, error_line, small_trace, surefit};
use serde_json::Value;
use surefit_measure::held::Held;
use surefit_measure::results::{AllocatorResult, Comparison};
use surefit_trace::{Call, Event, Op, Trace};

fn compare(options: &[&str], seed: u64) -> Value {
    compare_small(&small_trace(seed), options)
}

fn compare_small(trace: &SmallTrace, options: &[&str]) -> Value {
    let output = surefit()
        .args([
            "compare", "--format", "json", "--rounds", "2", "--heap", "1M",
        ])
        .args(options)
        .arg(&trace.path)
        .output()
        .expect("the command runs");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn rows_come_in_the_order_given_and_ratios_to_the_baseline() {
    let names = "tlsf,cf:k=2,order=original,peer-rlsf";
    let comparison = compare(&["--allocators", names, "--baseline", "peer-rlsf"], 1);
    assert_eq!(comparison["baseline"], "peer-rlsf");
    assert_eq!(comparison["rounds"], 2);
    let rows = comparison["traces"][0]["results"].as_array().expect("rows");
    let given: Vec<_> = rows
        .iter()
        .map(|row| row["allocator"].as_str().expect("text"))
        .collect();
    assert_eq!(given, ["tlsf", "cf:k=2,order=original", "peer-rlsf"]);
    assert_eq!(rows[2]["ratio_to_baseline"]["median"], 1.0);
    assert_eq!(rows[0]["pair_ns_rounds"].as_array().map(Vec::len), Some(2));
}

/// What a table shows can be typed.
#[test]
fn a_baseline_is_named_as_tables_show_it() {
    let names = "tlsf,peer-talc";
    let comparison = compare(&["--allocators", names, "--baseline", "talc"], 1);
    assert_eq!(comparison["baseline"], "peer-talc");
    let trace = small_trace(1);
    let bound = ["--allocators", names, "--assert", "talc.completed == 1"];
    let said = screen(&trace, &[&bound[..], &["--rounds", "1"]].concat());
    assert!(said.contains(" talc ") && !said.contains("peer-"), "{said}");
}

#[test]
fn the_smallest_heap_lies_between_live_and_given() {
    let comparison = compare(&["--allocators", "cf,tlsf,peer-talc", "--find-min-heap"], 2);
    let trace = &comparison["traces"][0];
    let live = trace["peak_live_bytes"].as_u64().expect("bytes");
    for row in trace["results"].as_array().expect("rows") {
        let least = row["min_heap_bytes"].as_u64().expect("found");
        assert!((live..=1 << 20).contains(&least), "{row}");
    }
    let cf = &trace["results"][0];
    assert!(
        cf["certified_bytes"].as_u64() >= cf["min_heap_bytes"].as_u64(),
        "{cf}"
    );
}

#[test]
fn an_allocator_that_ran_out_is_a_row_and_no_failure() {
    let comparison = compare(&["--allocators", "tlsf,cf:pieces=off,page=4K"], 3);
    let rows = comparison["traces"][0]["results"].as_array().expect("rows");
    assert_eq!(rows[0]["completed"], true);
    assert_eq!(rows[1]["completed"], false);
    assert_eq!(rows[1]["error"]["kind"], "too_large");
    assert!(rows[1].get("pair_ns_mean").is_none());
}

#[test]
fn the_screen_names_every_allocator() {
    let trace = small_trace(4);
    let names = "cf,cf-direct,tlsf,system";
    let output = surefit()
        .args([
            "compare",
            "--rounds",
            "1",
            "--heap",
            "1M",
            "--find-min-heap",
            "--allocators",
            names,
        ])
        .arg(&trace.path)
        .output()
        .expect("the command runs");
    let screen = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success(), "{screen}");
    let said = words(&screen);
    for word in [
        "cf",
        "cf-direct",
        "tlsf",
        "system",
        " cf* ",
        "*: the program reaches the object through a handle",
        "Memory that compaction saved",
    ] {
        assert!(said.contains(word), "{word}: {screen}");
    }
}

#[test]
fn left_out_objects_are_counted_for_the_whole_trace() {
    let options = ["--allocators", "cf:pieces=off,system", "--largest", "1K"];
    let comparison = compare(&options, 6);
    let trace = &comparison["traces"][0];
    assert!(trace["left_out"]["objects"].as_u64() > Some(100), "{trace}");
    let rows = trace["results"].as_array().expect("rows");
    assert_eq!(
        rows[0]["mallocs"], rows[1]["mallocs"],
        "the child leaves out the same"
    );
    assert_eq!(rows[1]["completed"], true);
}

#[test]
fn a_row_that_ran_out_still_says_what_it_hands_out() {
    let trace = small_trace(7);
    let output = surefit()
        .args(["compare", "--rounds", "1", "--heap", "1M"])
        .args(["--allocators", "tlsf,cf:pieces=off,page=1K"])
        .arg(&trace.path)
        .output()
        .expect("the command runs");
    let screen = String::from_utf8(output.stdout).expect("text");
    let row = screen.lines().find(|line| line.contains("too_large"));
    assert!(
        row.is_some_and(|row| row.contains("cf:pieces=") && row.contains("K* ")),
        "{screen}"
    );
    assert!(
        screen.lines().all(|line| line.trim_end() == line),
        "{screen}"
    );
}

#[test]
fn a_report_is_one_whole_page() {
    let trace = small_trace(8);
    let page = trace.path.with_extension("html");
    let page_name = page.to_str().expect("a plain name");
    compare_small(&trace, &["--allocators", "cf,tlsf", "--report", page_name]);
    let html = std::fs::read_to_string(&page).expect("the page");
    assert!(html.starts_with("<!DOCTYPE html>") && html.ends_with("</html>\n"));
    assert!(
        html.matches("<svg").count() >= 3 && html.contains("tlsf"),
        "{html}"
    );
}

#[test]
fn a_report_that_cannot_be_written_is_refused_before_anything_is_measured() {
    for (path, word) in [
        ("/no/such/place/r.html", "cannot be written"),
        ("-", "a file"),
    ] {
        let output = surefit()
            .args(["compare", "bundled:emacs", "--report", path])
            .output()
            .expect("the command runs");
        assert!(error_line(&output, 2).contains(word));
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn words_of_two_bytes_say_that_their_heap_is_smaller() {
    let trace = small_trace(9);
    let output = surefit()
        .args(["compare", "--rounds", "1", "--heap", "16M"])
        .args(["--allocators", "tlsf,cf:width=16,page=1K"])
        .arg(&trace.path)
        .output()
        .expect("the command runs");
    let screen = String::from_utf8(output.stdout).expect("text");
    assert!(
        screen.contains("page=1K can name no more than 1.1 MB"),
        "{screen}"
    );
}

#[test]
fn an_unwritten_allocator_list_is_refused() {
    let output = surefit()
        .args(["compare", "--allocators", "k=1"])
        .output()
        .expect("the command runs");
    assert!(error_line(&output, 2).contains("k=1"));
}

#[test]
fn instructions_are_counted_alike_on_every_run() {
    if std::process::Command::new("valgrind")
        .arg("--version")
        .output()
        .is_err()
    {
        eprintln!("valgrind is not installed: nothing is counted");
        return;
    }
    let options = ["--allocators", "tlsf", "--count", "instructions"];
    let count = || {
        let comparison = compare(&options, 5);
        let row = &comparison["traces"][0]["results"][0];
        let both = (
            &row["instructions_per_malloc"],
            &row["instructions_per_free"],
        );
        (
            both.0.as_f64().expect("counted"),
            both.1.as_f64().expect("counted"),
        )
    };
    let first = count();
    assert!(first.0 > 5.0 && first.1 > 5.0, "{first:?}");
    assert_eq!(first, count());
}

/// The words of a text, wherever its lines break.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What `compare` prints; no line is wider than 80 columns.
fn screen(trace: &SmallTrace, options: &[&str]) -> String {
    let output = surefit()
        .args(["compare", "--heap", "1M"])
        .args(options)
        .arg(&trace.path)
        .output()
        .expect("the command runs");
    let screen = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success(), "{screen}");
    for line in screen.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    screen
}

#[test]
fn the_rounds_made_are_those_asked_for_or_three_to_five() {
    let trace = small_trace(10);
    let document = |options: &[&str]| -> Value {
        let output = surefit()
            .args(["compare", "--format", "json", "--allocators", "cf,tlsf"])
            .args(options)
            .arg(&trace.path)
            .output()
            .expect("the command runs");
        serde_json::from_slice(&output.stdout).expect("JSON")
    };
    for (options, least, most) in [(&["--rounds", "4"][..], 4, 4), (&[], 3, 5)] {
        let comparison = document(options);
        let rounds = comparison["rounds"].as_u64().expect("a number");
        assert!((least..=most).contains(&rounds), "{comparison}");
        assert_eq!(comparison["traces"][0]["rounds"], rounds);
        for row in comparison["traces"][0]["results"].as_array().expect("rows") {
            let made = row["pair_ns_rounds"].as_array().map(Vec::len);
            assert_eq!(made, usize::try_from(rounds).ok(), "{row}");
        }
    }
}

#[test]
fn a_table_is_printed_before_the_next_trace_is_measured() {
    let trace = small_trace(11);
    let output = surefit()
        .args([
            "compare",
            "--rounds",
            "1",
            "--allocators",
            "tlsf,jamaica:arrays=4M",
        ])
        .arg(&trace.path)
        .arg("bundled:emacs")
        .output()
        .expect("the command runs");
    let screen = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        error_line(&output, 2).contains("emacs"),
        "refused when its turn comes"
    );
    assert!(
        screen.starts_with("surefit compare: 2 recorded programs"),
        "{screen}"
    );
    assert!(
        screen.contains("small: ") && screen.contains("Take "),
        "{screen}"
    );
    assert!(!screen.contains("emacs"), "{screen}");
}

#[test]
fn what_saves_memory_is_in_the_document() {
    let comparison = compare(&["--allocators", "tlsf,cf:k=1", "--find-min-heap"], 12);
    let ablation = &comparison["traces"][0]["ablation"];
    assert_eq!(ablation["allocator"], "cf:k=1");
    let unmoved = ablation["unmoved_min_heap_bytes"].as_u64().expect("found");
    let own = comparison["traces"][0]["results"][1]["min_heap_bytes"].as_u64();
    assert!(
        Some(unmoved) >= own.map(|own| own - own / 100),
        "{comparison}"
    );
    let without = compare(&["--allocators", "tlsf", "--find-min-heap"], 12);
    assert!(without["traces"][0].get("ablation").is_none(), "{without}");
}

#[test]
fn sentences_below_the_table_name_the_best() {
    let trace = small_trace(13);
    let names = "cf,tlsf,cf:classes=default,k=3,page=16K,order=original,pieces=4096";
    let screen = words(&screen(
        &trace,
        &["--rounds", "1", "--find-min-heap", "--allocators", names],
    ));
    for word in [
        "fastest",
        "least memory",
        "a bound",
        "Take ",
        "cf wins:",
        "cf loses:",
    ] {
        assert!(screen.contains(word), "{word}: {screen}");
    }
    assert!(screen.contains("not contiguous"), "{screen}");
}

#[test]
fn a_page_is_no_wider_than_its_window() {
    let trace = small_trace(14);
    let page = trace.path.with_extension("html");
    let page_name = page.to_str().expect("a plain name");
    compare_small(&trace, &["--allocators", "cf,tlsf", "--report", page_name]);
    let html = std::fs::read_to_string(&page).expect("the page");
    for word in [
        "initial-scale=1",
        "svg,img{max-width:100%",
        ".wide{overflow-x:auto;",
    ] {
        assert!(html.contains(word), "{word}: {html}");
    }
    let pictures = html.matches("<svg ").count();
    assert_eq!(html.matches("viewBox=\"").count(), pictures, "{html}");
    assert_eq!(
        html.matches("tabindex=\"0\"><table>").count(),
        html.matches("<table>").count()
    );
}

#[test]
fn the_ablation_searches_heaps_larger_than_the_default() {
    let directory = tempfile::tempdir().expect("a directory");
    let trace = directory.path().join("p.sft");
    let made = surefit()
        .args(["gen", "phase", "--live", "200K", "-o"])
        .arg(&trace)
        .status();
    assert!(made.expect("the command runs").success());
    let output = surefit()
        .args([
            "compare",
            "--allocators",
            "cf:page=16K,tlsf",
            "--find-min-heap",
        ])
        .args(["--rounds", "1", "--format", "json"])
        .arg(&trace)
        .output()
        .expect("the command runs");
    let comparison: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let trace = &comparison["traces"][0];
    let live = trace["peak_live_bytes"].as_u64().expect("bytes");
    let unmoved = &trace["ablation"]["unmoved_min_heap_bytes"];
    assert!(
        unmoved.as_u64().is_some_and(|bytes| bytes > 4 * live),
        "{trace:#}"
    );
}

/// Small objects, of which every tenth stays while the others come and go twice.
#[cfg(target_os = "linux")]
fn drifting(directory: &std::path::Path) -> std::path::PathBuf {
    let call = Call::Malloc;
    let alloc = |id| Op::Alloc {
        id,
        size: 480,
        call,
    };
    let goes = |id: &u32| id % 10 > 0;
    let first = (0..20_000).map(alloc);
    let freed = (0..20_000).filter(goes).map(|id| Op::Free { id });
    let second = (20_000..35_000).map(alloc);
    let events = first.chain(freed).chain(second);
    let trace = Trace::new("drifting", events.map(|op| Event::new(0, op)).collect());
    let path = directory.join("drifting.sft");
    std::fs::write(&path, trace.expect("a sound trace").to_bytes()).expect("written");
    path
}

/// A malloc that gives nothing back creeps; what a hint would save has figures of its own.
#[test]
#[cfg(target_os = "linux")]
fn beside_a_malloc_that_creeps_stands_what_its_hint_would_save() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = drifting(directory.path());
    let hoarder = crate::resident::hoarder(directory.path());
    let allocators = format!("cf-direct,preload:{}", hoarder.display());
    let compared = |options: &[&str]| {
        let mut command = surefit();
        command.args(["compare", "--rounds", "1", "--allocators"]);
        let output = command.args(options).arg(&file).output();
        let output = output.expect("the command runs");
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{complaint}");
        String::from_utf8(output.stdout).expect("text")
    };
    let document = compared(&[&allocators, "--format", "json"]);
    let document: Comparison = serde_json::from_str(&document).expect("a document");
    let trace = &document.traces[0];
    let worst = |row: &AllocatorResult| {
        let held = Held::in_use(row).expect("samples");
        held.valley.expect("a valley").over_live()
    };
    let hinted = trace.hinted.as_deref().expect("a malloc creeps");
    assert_eq!(hinted.allocator, "cf-cooperating");
    let mean = Held::in_use(hinted).expect("samples").mean;
    let (hinted, direct) = (worst(hinted), worst(&trace.results[0]));
    assert!(hinted < 2.0 && direct > 2.0 * hinted, "{hinted}, {direct}");
    let said = compared(&[&allocators]);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("libhoarder.so holds"), "{said}");
    let would =
        format!("surefit_defrag_hint says so, {mean:.2} x live in the mean, {hinted:.2} x in its");
    assert!(said.contains(&would), "{would}: {said}");
    // Where no malloc creeps, nobody asks.
    let document = compared(&["cf-direct,tlsf", "--format", "json"]);
    let document: Comparison = serde_json::from_str(&document).expect("a document");
    assert!(document.traces[0].hinted.is_none());
}
