//! The screen of comparisons that are made by hand.

use surefit_measure::ratio::Ratio;
use surefit_measure::results::{Ablation, AllocatorResult, ReplayError, TraceResults};
use surefit_measure::sizes::HeapSize;
use surefit_measure::spec::Spec;

use super::{Notes, Setting, head_within, lines, title, trace_within};

const WIDTH: usize = 80;

fn head(about: &Setting, notes: &Notes, counts_instructions: bool) -> String {
    head_within(about, notes, counts_instructions, WIDTH)
}

fn trace(results: &TraceResults, notes: &Notes) -> String {
    trace_within(results, notes, WIDTH)
}

const SETTING: Setting = Setting {
    traces: 3,
    rounds: (3, 5),
    heap: HeapSize::DEFAULT,
};

/// A row: nanoseconds per pair, with accesses, and the smallest heap; the baseline takes 100 ns and
/// 250 ns. All rounds are alike.
fn row(allocator: &str, pair_ns: f64, access_ns: f64, min_heap: Option<u64>) -> AllocatorResult {
    AllocatorResult {
        allocator: allocator.to_owned(),
        completed: true,
        heap_bytes: (allocator != "system").then_some(4000),
        contiguous: !allocator.starts_with("cf") || allocator == "cf-direct",
        pair_ns_mean: Some(pair_ns),
        pair_ns_rounds: Some(vec![pair_ns; 3]),
        ratio_to_baseline: Ratio::of(&[pair_ns / 100.0]),
        access_pair_ns_mean: Some(access_ns),
        access_pair_ns_rounds: Some(vec![access_ns; 3]),
        access_ratio_to_baseline: Ratio::of(&[access_ns / 250.0]),
        min_heap_bytes: min_heap,
        ..AllocatorResult::default()
    }
}

/// A failed row.
fn failed(allocator: &str) -> AllocatorResult {
    AllocatorResult {
        allocator: allocator.to_owned(),
        error: Some(ReplayError {
            kind: "too_large".to_owned(),
            event: 17,
        }),
        heap_bytes: Some(4000),
        ..AllocatorResult::default()
    }
}

fn cf() -> AllocatorResult {
    AllocatorResult {
        certified_bytes: Some(1_250),
        ..row("cf", 150.0, 300.0, Some(1_074))
    }
}

fn results(results: Vec<AllocatorResult>) -> TraceResults {
    TraceResults {
        name: "redis".to_owned(),
        events: 20,
        objects: 10,
        threads: 1,
        threads_at_once: None,
        recorded_cpu_ns: None,
        timed_events: None,
        peak_live_bytes: 1000,
        left_out: None,
        beside_malloc: None,
        rounds: 3,
        ablation: None,
        hinted: None,
        results,
    }
}

fn notes(trace: &TraceResults) -> Notes {
    let names: Vec<_> = trace
        .results
        .iter()
        .map(|row| row.allocator.as_str())
        .collect();
    Notes {
        handles: names.iter().map(|name| *name == "cf").collect(),
        moving: names.iter().position(|name| *name == "cf").map(|row| {
            let cf = Spec::parse("cf").expect("an allocator");
            (row, cf.handles().expect("it has handles"))
        }),
        baseline: "peer-rlsf".to_owned(),
        without_region: vec!["system".to_owned()],
        is_wide: false,
    }
}

fn lines_of(rows: Vec<AllocatorResult>) -> Vec<String> {
    let trace = results(rows);
    lines(&trace, &notes(&trace))
}

/// The usual seven.
fn usual() -> Vec<AllocatorResult> {
    vec![
        cf(),
        row("cf-direct", 50.0, 220.0, Some(1419)),
        row("tlsf", 95.0, 210.0, Some(1400)),
        row("peer-rlsf", 100.0, 250.0, Some(1485)),
        row("peer-dlmalloc", 200.0, 300.0, Some(1403)),
        row("system", 160.0, 310.0, None),
    ]
}

#[test]
fn the_best_of_each_kind_is_named_and_taken() {
    let lines = lines_of(usual());
    assert_eq!(
        lines[0],
        "cf-direct is fastest (0.50 x rlsf) in each of 3 rounds, then tlsf (1.90 x [1.90-1.90] its \
         time); with accesses tlsf is fastest (0.84 x rlsf). \
         cf needs least memory (1.074 x live), then tlsf and dlmalloc (1.400 to 1.403). \
         Only cf has a bound: 1250 B (1.250 x live) serve this demand in any order of calls. \
         Take cf-direct for speed, cf for memory and a bound."
    );
}

#[test]
fn wins_stand_beside_losses_and_both_are_against_what_people_use() {
    let lines = lines_of(usual());
    assert_eq!(
        lines[1],
        "cf wins: memory 0.77 x tlsf, 0.77 x dlmalloc; time 0.75 x dlmalloc, 0.94 x system; \
         time with access 0.97 x system. \
         cf loses: time 1.58 x tlsf; time with access 1.43 x tlsf."
    );
}

/// A row whose rounds took this, without accesses and with them.
fn rounds(allocator: &str, pair_ns: &[f64], access_ns: &[f64]) -> AllocatorResult {
    AllocatorResult {
        pair_ns_rounds: Some(pair_ns.to_vec()),
        access_pair_ns_rounds: Some(access_ns.to_vec()),
        ..row(allocator, pair_ns[0], access_ns[0], Some(1100))
    }
}

#[test]
fn of_accesses_nothing_is_said_unless_every_round_agrees() {
    let said = |cf: &[f64], tlsf: &[f64]| {
        let rivals = |cf, tlsf| {
            let plain = vec![100.0; 3];
            vec![rounds("cf", &plain, cf), rounds("tlsf", &plain, tlsf)]
        };
        lines_of(rivals(cf, tlsf)).join("\n")
    };
    let agreed = said(&[300.0, 310.0, 290.0], &[200.0, 210.0, 190.0]);
    assert!(
        agreed.contains("; with accesses tlsf is fastest"),
        "{agreed}"
    );
    assert!(
        agreed.contains("loses: time with access 1.50 x tlsf"),
        "{agreed}"
    );
    for (cf, tlsf) in [
        (&[300.0, 310.0, 290.0][..], &[200.0, 210.0, 291.0][..]),
        (&[900.0, 900.0], &[200.0, 200.0]),
        (&[900.0], &[100.0]),
    ] {
        let silent = said(cf, tlsf);
        assert!(!silent.contains("access"), "{cf:?} {tlsf:?}: {silent}");
    }
}

#[test]
fn a_time_is_won_or_lost_only_if_every_round_agrees() {
    let said = |cf: &[f64]| {
        let (same, plain) = ([200.0; 3], [100.0; 3]);
        lines_of(vec![rounds("cf", cf, &same), rounds("tlsf", &plain, &same)]).join("\n")
    };
    assert!(said(&[110.0, 120.0, 130.0]).contains("cf loses: time 1.20 x tlsf."));
    let scattered = said(&[90.0, 120.0, 130.0]);
    assert!(
        scattered.contains("cf wins: nothing. cf loses: nothing."),
        "{scattered}"
    );
    let few = said(&[110.0, 120.0]);
    assert!(few.contains("cf loses: nothing."), "{few}");
}

#[test]
fn equal_figures_share_the_first_place() {
    let plain = [100.0, 101.0, 99.0];
    let lines = lines_of(vec![
        rounds("tlsf", &plain, &plain),
        AllocatorResult {
            min_heap_bytes: Some(1101),
            ..rounds("peer-rlsf", &[100.5; 3], &plain)
        },
    ]);
    assert_eq!(
        lines[0],
        "tlsf and rlsf cannot be told apart in speed (1.00 x rlsf): in 3 rounds their times are \
         1.00 to 1.02 x tlsf's. \
         tlsf and rlsf need least memory (1.100 to 1.101 x live). \
         None has a bound for this demand in any order of calls. \
         Take tlsf or rlsf for speed and memory."
    );
    assert_eq!(lines.len(), 1, "no moving heap, no wins: {lines:?}");
}

#[test]
fn a_moving_heap_that_is_best_at_nothing_wins_nothing() {
    let lines = lines_of(vec![
        row("cf", 200.0, 300.0, Some(1200)),
        row("tlsf", 100.0, 100.0, Some(1000)),
    ]);
    assert_eq!(
        lines[1],
        "cf wins: nothing. cf loses: memory 1.20 x tlsf; time 2.00 x tlsf; time with access 3.00 x tlsf."
    );
}

#[test]
fn an_allocator_that_failed_is_named_with_its_event() {
    let lines = lines_of(vec![
        cf(),
        failed("peer-talc"),
        row("system", 100.0, 100.0, None),
    ]);
    let text = lines.join("\n");
    assert!(
        text.contains("talc did not complete: too_large at event 17."),
        "{text}"
    );
    assert!(
        !text.contains("talc is") && text.contains("system is fastest"),
        "{text}"
    );
    let lines = lines_of(vec![failed("cf"), row("tlsf", 100.0, 100.0, None)]);
    assert!(!lines.join("\n").contains("cf wins"), "{lines:?}");
    let lines = lines_of(vec![failed("cf"), failed("tlsf")]);
    assert_eq!(lines[0], "No allocator completed this trace in this heap.");
}

#[test]
fn one_allocator_alone_is_compared_with_nothing() {
    let lines = lines_of(vec![cf()]);
    assert_eq!(
        lines,
        [
            "cf has a bound: 1250 B (1.250 x live) serve this demand in any order of calls. \
          Nothing is compared with it: name others with --allocators A,B."
        ]
    );
}

#[test]
fn memory_that_was_not_looked_for_is_not_judged() {
    let lines = lines_of(vec![
        row("tlsf", 100.0, 200.0, None),
        row("peer-talc", 90.0, 210.0, None),
    ]);
    assert_eq!(
        lines[0],
        "talc is fastest (0.90 x rlsf) in each of 3 rounds, then tlsf (1.11 x [1.11-1.11] its time); \
         with accesses tlsf is fastest (0.80 x rlsf). \
         Smallest heaps were not looked for: add --find-min-heap. \
         None has a bound for this demand in any order of calls. \
         Take talc for speed."
    );
}

#[test]
fn the_lowest_of_several_bounds_is_named() {
    let close = AllocatorResult {
        certified_bytes: Some(1_124),
        ..row("cf:k=1", 160.0, 310.0, Some(1_070))
    };
    let lines = lines_of(vec![cf(), close]);
    assert!(
        lines[0].contains("2 have a bound, cf:k=1 the lowest: 1124 B (1.124 x live)"),
        "{lines:?}"
    );
}

/// The line on what saves memory, for a heap that needs 1074 of 1000 live bytes.
fn saved(unmoved: u64, contiguous: Option<u64>, neither: Option<u64>) -> String {
    let mut trace = results(usual());
    trace.ablation = Some(Ablation {
        allocator: "cf".to_owned(),
        unmoved_min_heap_bytes: Some(unmoved),
        contiguous_min_heap_bytes: contiguous,
        unmoved_contiguous_min_heap_bytes: neither,
    });
    super::verdict::saved(&trace).expect("everything was measured")
}

#[test]
fn what_saves_memory_is_told_apart() {
    assert_eq!(
        saved(1164, None, None),
        "cf needs 1.074 x live; without moves 1.164; without pieces it cannot serve redis; \
         without both, and without handles (cf-direct), 1.419. Memory that compaction saved: 7.7 %. \
         Memory that pieces saved, less the handles: 18.0 %."
    );
    assert_eq!(
        saved(1164, Some(1200), Some(1300)),
        "cf needs 1.074 x live; without moves 1.164; without pieces 1.200; without both 1.300. \
         Memory that compaction saved: 7.7 %. Memory that pieces saved: 10.5 %."
    );
}

#[test]
fn no_saving_is_negative() {
    assert!(saved(1073, None, None).contains("compaction saved: nothing (a cost of 0.1 %)."));
    assert!(saved(1074, None, None).contains("compaction saved: nothing. "));
    assert!(
        saved(1164, Some(1100), Some(1100)).contains("pieces saved: nothing (a cost of 5.8 %).")
    );
    for (unmoved, neither) in [(1000, 900), (1073, 1072), (1074, 1164), (2000, 1500)] {
        let line = saved(unmoved, Some(neither), Some(neither));
        assert!(!line.contains('-') && !line.contains("0.0 %"), "{line}");
    }
}

#[test]
fn a_moving_heap_of_contiguous_objects_has_no_pieces_to_leave_out() {
    let mut trace = results(vec![AllocatorResult {
        contiguous: true,
        ..cf()
    }]);
    trace.ablation = Some(Ablation {
        allocator: "cf".to_owned(),
        unmoved_min_heap_bytes: Some(1164),
        ..Ablation::default()
    });
    assert_eq!(
        super::verdict::saved(&trace).as_deref(),
        Some("cf needs 1.074 x live; without moves 1.164. Memory that compaction saved: 7.7 %.")
    );
    trace.results[0].min_heap_bytes = None;
    assert_eq!(super::verdict::saved(&trace), None);
}

#[test]
fn a_title_says_threads_and_pieces() {
    let mut trace = results(usual());
    assert_eq!(title(&trace), "redis: 20 events, peak live 1000 B");
    trace.timed_events = Some(8_000_000);
    assert_eq!(
        title(&trace),
        "redis: 20 events, peak live 1000 B; times are of the first 8.0 M events"
    );
    trace.timed_events = None;
    trace.threads = 3;
    trace.results[0].bytes_in_pieces_at_peak = Some(830);
    assert_eq!(
        title(&trace),
        "redis: 20 events of 3 threads, peak live 1000 B; cf keeps 83 % of it in pieces, not contiguous"
    );
    let notes = notes(&trace);
    let text = lines(&trace, &notes).join("\n");
    assert!(
        text.contains("redis ran on 3 threads; here one thread makes all calls"),
        "{text}"
    );
    assert!(text.contains("--threads"), "{text}");
}

#[test]
fn a_library_is_shown_by_its_file() {
    let library = "preload:/usr/lib/x86_64-linux-gnu/libmimalloc.so.2";
    let mut rows = usual();
    rows.push(AllocatorResult {
        heap_bytes: None,
        ..row(library, 40.0, 50.0, None)
    });
    let trace = results(rows);
    let screen = trace_within(&trace, &notes(&trace), WIDTH);
    assert!(!screen.contains("/usr/lib"), "{screen}");
    assert!(screen.contains("libmimalloc.so.2 is fastest"), "{screen}");
}

#[test]
fn no_line_is_wider_than_the_screen() {
    let long = "cf:classes=/a/path/that/is/longer/than/any/line/of/a/terminal/should/ever/be/classes.txt,k=1,order=original";
    let mut rows = usual();
    rows.push(AllocatorResult {
        instructions_per_malloc: Some(1_234.0),
        instructions_per_free: Some(1_234.0),
        free_ns_p9999: Some(1_234_567),
        free_ns_max: Some(98_765_432),
        certified_bytes: Some(32_456),
        ..row(long, 1_234.0, 1_234.0, Some(12_345))
    });
    rows.push(failed(&format!("preload:/x/{}.so", "y".repeat(200))));
    let mut results = results(rows);
    results.name = "a program with a very long name ".repeat(20);
    results.threads = 37;
    results.ablation = Some(Ablation {
        allocator: long.to_owned(),
        unmoved_min_heap_bytes: Some(1),
        ..Ablation::default()
    });
    for baseline in ["peer-rlsf", long] {
        let notes = Notes {
            baseline: baseline.to_owned(),
            ..notes(&results)
        };
        let screen = [head(&SETTING, &notes, true), trace(&results, &notes)];
        for line in screen.concat().lines() {
            assert!(line.chars().count() <= WIDTH, "{line}");
            assert_eq!(line, line.trim_end());
        }
    }
}

#[test]
fn the_head_explains_handles_only_where_there_are_any() {
    let mut trace = results(usual());
    let with = head(&SETTING, &notes(&trace), false);
    // wherever lines break
    let with = with.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(with.starts_with("surefit compare: 3 recorded programs, 3 to 5 interleaved rounds"));
    assert!(
        with.contains("system has no region")
            && with.contains("8 B per object, included; 6 B where the region is short")
            && with.contains("over 4096 B, where it is shortest over 1024 B, lies in pieces")
            && with.contains("not contiguous"),
        "{with}"
    );
    trace.results.remove(0);
    assert!(!head(&SETTING, &notes(&trace), false).contains("handle"));
    let fixed = Setting {
        rounds: (2, 2),
        ..SETTING
    };
    assert!(head(&fixed, &notes(&trace), false).contains(", 2 interleaved rounds,"));
}

/// A column that is not on the screen is not explained: with instructions, what is resident is only
/// on the page.
#[test]
fn the_head_explains_what_is_resident_where_the_table_shows_it() {
    let mut results = results(usual());
    for row in &mut results.results {
        row.resident_over_live_mean = Some(1.25);
    }
    let notes = notes(&results);
    assert!(
        head(&SETTING, &notes, false).contains("\nresident: what is resident over what is live")
    );
    assert!(
        trace(&results, &notes).contains("resident") && trace(&results, &notes).contains("1.25")
    );
    for row in &mut results.results {
        row.instructions_per_free = Some(10.0);
    }
    assert!(!head(&SETTING, &notes, true).contains("resident"));
    assert!(!trace(&results, &notes).contains("resident"));
}
