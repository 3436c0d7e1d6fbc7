//! What answers "my memory creeps up": which malloc holds least over time, and what moves would
//! save.

use surefit_measure::held::{Held, Moment};
use surefit_measure::results::{AllocatorResult, TraceResults};
use surefit_measure::sizes::Size;
use surefit_measure::spec::is_preloaded;

use super::words::short;

/// Whether an allocator is a malloc that can be preloaded, or the platform's.
pub(crate) fn is_malloc(allocator: &str) -> bool {
    allocator == "system" || is_preloaded(allocator)
}

/// What mallocs hold over time, and what would hold less if one of them creeps.
pub(super) fn lines(trace: &TraceResults) -> Vec<String> {
    let mallocs = trace.results.iter().filter(|row| is_malloc(&row.allocator));
    let mut mallocs: Vec<_> = mallocs
        .filter_map(|row| Some((row, Held::resident(row)?)))
        .collect();
    mallocs.sort_by(|(_, a), (_, b)| a.mean.total_cmp(&b.mean));
    let creeps = mallocs.iter().any(|(_, held)| held.creeps());
    if !creeps && mallocs.len() < 2 {
        return Vec::new();
    }
    let mut lines: Vec<_> = ranked(&mallocs).into_iter().collect();
    if creeps {
        lines.extend(less(trace));
    }
    lines
}

/// `Over time system holds least of 3 mallocs: 1.91 x live in the mean, 2.37 x at the end, 3.65 x
/// in its worst valley (18.0 MB for 4.9 MB live); then jemalloc (2.62 x, 5.71 x, 5.80 x).`
fn ranked(mallocs: &[(&AllocatorResult, Held)]) -> Option<String> {
    let ((first, held), rest) = mallocs.split_first()?;
    let name = short(&first.allocator);
    let least = match rest.len() {
        0 => String::new(),
        others => format!(" least of {} mallocs:", others + 1),
    };
    let mut text = format!(
        "Over time {name} holds{least} {:.2} x live in the mean{}{}",
        held.mean,
        said(held.end, " at the end"),
        said(held.valley, " in its worst valley")
    );
    if let Some(Moment {
        live_bytes,
        held_bytes,
        ..
    }) = held.valley
    {
        text += &format!(" ({} for {} live)", Size(held_bytes), Size(live_bytes));
    }
    let others: Vec<_> = rest
        .iter()
        .map(|(row, held)| format!("{} ({})", short(&row.allocator), figures(held)))
        .collect();
    if !others.is_empty() {
        text += &format!("; then {}", others.join(", "));
    }
    Some(text + ".")
}

fn said(moment: Option<Moment>, when: &str) -> String {
    moment.map_or_else(String::new, |moment| {
        format!(", {:.2} x{when}", moment.over_live())
    })
}

/// The mean, the end and the worst valley, over live.
fn figures(held: &Held) -> String {
    let moments = held.end.iter().chain(&held.valley).map(Moment::over_live);
    let figures = std::iter::once(held.mean).chain(moments);
    let figures: Vec<_> = figures.map(|figure| format!("{figure:.2} x")).collect();
    figures.join(", ")
}

/// What would hold less, with pages that are empty given back: a heap that moves objects, and a
/// program that moves them on a hint.
fn less(trace: &TraceResults) -> Option<String> {
    let in_use = |name: &str| {
        let named = |row: &&AllocatorResult| row.allocator.split(':').next() == Some(name);
        trace.results.iter().find(named).and_then(Held::in_use)
    };
    let hinted = trace.hinted.as_deref().and_then(Held::in_use);
    let both = |held: &Held| {
        format!(
            "{:.2} x live in the mean, {:.2} x at worst",
            held.mean,
            held.most()
        )
    };
    let mut parts = Vec::new();
    if let Some(cf) = in_use("cf") {
        parts.push(format!("cf, which moves objects, {}", both(&cf)));
    }
    if let Some(hinted) = hinted {
        let mut part = format!(
            "surefit-malloc {} if the program moves objects where surefit_defrag_hint says so",
            both(&hinted)
        );
        if let Some(direct) = in_use("cf-direct") {
            part += &format!(" ({:.2} x and {:.2} x if not)", direct.mean, direct.most());
        }
        parts.push(part);
    }
    (!parts.is_empty()).then(|| {
        format!(
            "With empty pages given back, these would hold: {}.",
            parts.join("; ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::lines;
    use surefit_measure::results::{AllocatorResult, AtPeak, ResidentSample, TraceResults};

    /// A row that held so many times these live bytes.
    fn row(allocator: &str, held: [u64; 5]) -> AllocatorResult {
        let live = [10, 100, 50, 100, 80];
        let sample = |((event, live), held): ((u64, u64), u64)| ResidentSample {
            event,
            live_bytes: live * 10_000,
            resident_bytes: held * 10_000,
            parts: Some(AtPeak {
                requested_bytes: live * 10_000,
                page_block_internal_bytes: 0,
                page_internal_bytes: 0,
                size_class_bytes: (held - live) * 5_000,
                transient_bytes: 0,
                large_tail_bytes: 0,
                administrative_bytes: 0,
                free_chunk_bytes: 0,
                free_page_bytes: (held - live) * 5_000,
            }),
        };
        AllocatorResult {
            allocator: allocator.to_owned(),
            completed: true,
            resident_over_time: Some((0..).zip(live).zip(held).map(sample).collect()),
            ..AllocatorResult::default()
        }
    }

    fn trace(results: Vec<AllocatorResult>) -> TraceResults {
        TraceResults {
            name: "drift".to_owned(),
            events: 20,
            objects: 10,
            threads: 1,
            threads_at_once: None,
            peak_live_bytes: 1_000_000,
            left_out: None,
            recorded_cpu_ns: None,
            beside_malloc: None,
            timed_events: None,
            rounds: 3,
            ablation: None,
            hinted: Some(Box::new(row("cf-cooperating", [10, 100, 60, 100, 80]))),
            results,
        }
    }

    #[test]
    fn the_malloc_that_holds_least_is_named_and_what_would_hold_less() {
        let said = lines(&trace(vec![
            row("cf", [10, 100, 60, 110, 90]),
            row("cf-direct", [10, 100, 120, 120, 120]),
            row(
                "preload:/usr/lib/libjemalloc.so.2",
                [10, 100, 150, 150, 160],
            ),
            row("system", [10, 100, 100, 100, 100]),
        ]));
        assert_eq!(
            said,
            [
                "Over time system holds least of 2 mallocs: 1.21 x live in the mean, 1.25 x at the \
                 end, 2.00 x in its worst valley (1.0 MB for 500.0 kB live); then libjemalloc.so.2 \
                 (1.68 x, 2.00 x, 3.00 x).",
                "With empty pages given back, these would hold: cf, which moves objects, 1.04 x live \
                 in the mean, 1.10 x at worst; surefit-malloc 1.01 x live in the mean, 1.10 x at \
                 worst if the program moves objects where surefit_defrag_hint says so (1.19 x and \
                 1.70 x if not).",
            ]
        );
    }

    #[test]
    fn a_malloc_that_does_not_creep_needs_no_sentence() {
        let steady = [10, 100, 60, 100, 85];
        assert!(lines(&trace(vec![row("system", steady), row("cf", steady)])).is_empty());
        let two = trace(vec![row("system", steady), row("jemalloc", steady)]);
        let said = lines(&two);
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].contains("holds least of 2 mallocs"), "{said:?}");
    }
}
