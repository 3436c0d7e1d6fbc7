//! The rules of docs/command.md, computed a second time, on what was measured of real programs:
//! `tests/answers` has the comparisons of all bundled traces, and of others.

use std::path::PathBuf;

use surefit_measure::results::{AllocatorResult, Comparison, TraceResults};
use surefit_measure::spec::Spec;

use super::words::short;
use super::{Notes, lines};

/// The bundled traces: each must be among the comparisons.
const BUNDLED: [&str; 5] = ["redis", "redis-drift", "emacs", "python-a", "python-b"];

fn comparisons() -> Vec<Comparison> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/answers");
    let files = folder.read_dir().expect("a folder");
    let mut files: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
    files.sort();
    let read = |path: &PathBuf| {
        let text = std::fs::read(path).expect("readable");
        serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    files.iter().map(read).collect()
}

/// What is said of a trace.
fn said(comparison: &Comparison, trace: &TraceResults) -> String {
    let names = trace.results.iter().map(|row| Spec::parse(&row.allocator));
    let specs: Vec<_> = names.map(|spec| spec.expect("an allocator")).collect();
    lines(trace, &Notes::new(&specs, &comparison.baseline)).join("\n")
}

fn ratio(row: &AllocatorResult) -> Option<f64> {
    row.ratio_to_baseline.map(|ratio| ratio.median)
}

/// The rows that lose to the row with the least median in every round, and all others.
fn fastest(trace: &TraceResults) -> Vec<String> {
    let timed: Vec<_> = trace
        .results
        .iter()
        .filter(|row| ratio(row).is_some())
        .collect();
    let best = timed
        .iter()
        .min_by(|a, b| ratio(a).partial_cmp(&ratio(b)).expect("numbers"))
        .expect("a time");
    let rounds = |row: &AllocatorResult| row.pair_ns_rounds.clone().expect("rounds");
    let loses = |row: &AllocatorResult| {
        let pairs: Vec<_> = rounds(row).into_iter().zip(rounds(best)).collect();
        pairs.iter().all(|(own, best)| own > best)
    };
    let all = timed.iter().filter(|row| !loses(row));
    all.map(|row| short(&row.allocator)).collect()
}

#[test]
fn every_bundled_trace_is_judged_and_more() {
    let comparisons = comparisons();
    let names: Vec<_> = comparisons
        .iter()
        .flat_map(|comparison| &comparison.traces)
        .map(|trace| trace.name.as_str())
        .collect();
    for bundled in BUNDLED {
        assert!(names.contains(&bundled), "{bundled}: {names:?}");
    }
    assert!(names.len() > BUNDLED.len(), "{names:?}");
}

#[test]
fn nobody_is_called_fastest_whom_one_round_contradicts() {
    for comparison in comparisons() {
        for trace in &comparison.traces {
            let (said, mut first) = (said(&comparison, trace), fastest(trace));
            let rounds = trace.rounds;
            if let [only] = first.as_slice() {
                let best = format!("{only} is fastest (");
                assert!(
                    said.lines().any(|line| line.starts_with(&best)),
                    "{first:?}: {said}"
                );
                assert!(
                    said.contains(&format!("in each of {rounds} rounds, then ")),
                    "{said}"
                );
                assert!(said.contains(&format!("{only} for speed")), "{said}");
            } else {
                let line = said
                    .lines()
                    .find(|line| line.contains("cannot be told apart in speed"));
                let line = line.unwrap_or_else(|| panic!("{first:?}: {said}"));
                let sentence = line.split(':').next().unwrap_or_default();
                first.retain(|name| !sentence.contains(name.as_str()));
                assert!(first.is_empty(), "{first:?} are left out: {said}");
                assert!(said.contains(" for speed"), "{said}");
            }
        }
    }
}

/// The recordings of the answers have one round of accesses, or three.
#[test]
fn with_accesses_nobody_is_named_whom_one_round_contradicts() {
    for comparison in comparisons() {
        for trace in &comparison.traces {
            let said = said(&comparison, trace);
            let rounds = |row: &AllocatorResult| row.access_pair_ns_rounds.clone();
            let all: Vec<_> = trace.results.iter().filter_map(rounds).collect();
            let beats = |own: &[f64], other: &[f64]| own.iter().zip(other).all(|(a, b)| a < b);
            let wins = |own: &Vec<f64>| {
                let others = all.iter().filter(|other| *other != own);
                own.len() >= 3 && others.into_iter().all(|other| beats(own, other))
            };
            let is_said = said.contains("with accesses");
            assert_eq!(is_said, all.iter().any(wins), "{}: {said}", trace.name);
        }
    }
}

/// Smallest heaps were looked for in the smaller traces: the search replays each many times.
#[test]
fn least_memory_and_the_lowest_bound_are_those_of_the_figures() {
    for comparison in comparisons() {
        for trace in &comparison.traces {
            let said = said(&comparison, trace);
            let least = |of: fn(&AllocatorResult) -> Option<u64>| {
                let with = trace.results.iter().filter_map(|row| Some((of(row)?, row)));
                with.min_by_key(|(bytes, _)| *bytes)
            };
            if let Some((bytes, row)) = least(|row| row.min_heap_bytes) {
                let needs = said.find(" least memory (").expect("a sentence");
                let times = bytes as f64 / trace.peak_live_bytes as f64;
                assert!(said[..needs].contains(&short(&row.allocator)), "{said}");
                assert!(
                    said[needs..].starts_with(&format!(" least memory ({times:.3}")),
                    "{said}"
                );
            } else {
                assert!(
                    said.contains("Smallest heaps were not looked for"),
                    "{said}"
                );
            }
            let (bytes, row) = least(|row| row.certified_bytes).expect("a bound");
            let times = bytes as f64 / trace.peak_live_bytes as f64;
            assert!(
                said.contains(&format!("{} has a bound", short(&row.allocator))),
                "{said}"
            );
            assert!(
                said.contains(&format!("({times:.3} x live) serve this demand")),
                "{said}"
            );
            assert!(
                said.contains("The platform's allocator (system) holds "),
                "{said}"
            );
        }
    }
}
