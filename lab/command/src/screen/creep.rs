//! What answers "my memory creeps up": which malloc holds least over time, and what moves would
//! save.

use surefit_measure::held::{Held, Moment};
use surefit_measure::results::{AllocatorResult, TraceResults};
use surefit_measure::sizes::Size;
use surefit_measure::spec::is_malloc;

use super::words::{listed, short};

/// Means this close count as equal.
const EQUAL: f64 = 1.01;

/// With fewer mallocs than this, more are suggested.
const FEW: usize = 3;

/// How more mallocs are compared.
const MORE: &str = "--allocators system,jemalloc,mimalloc,tcmalloc,surefit-malloc";

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
        lines.extend(less(trace, &mallocs));
        if mallocs.len() < FEW {
            lines.push(format!(
                "More mallocs, of those that this machine has: {MORE}."
            ));
        }
    }
    lines
}

/// `Over time system holds least in the mean, of 3 mallocs: 1.91 x live, 2.37 x at the end, 3.65 x
/// in its worst valley (18.0 MB for 4.9 MB live); then jemalloc (2.62 x, 5.71 x, 5.80 x).`
fn ranked(mallocs: &[(&AllocatorResult, Held)]) -> Option<String> {
    let ((_, held), rest) = mallocs.split_first()?;
    let mut text = format!(
        "Over time {}{}{}",
        least(mallocs)?,
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

/// Who holds least in the mean, and how much; the first of those that are equal.
fn least(mallocs: &[(&AllocatorResult, Held)]) -> Option<String> {
    let (row, Held { mean, .. }) = mallocs.first()?;
    let first = short(&row.allocator);
    let equal = mallocs.iter().filter(|(_, it)| it.mean <= EQUAL * mean);
    let names: Vec<_> = equal.map(|(row, _)| short(&row.allocator)).collect();
    let (equal, all) = (names.len(), mallocs.len());
    let names = listed(&names);
    Some(match equal {
        _ if all == 1 => format!("{first} holds {mean:.2} x live in the mean"),
        1 => format!("{first} holds least in the mean, of {all} mallocs: {mean:.2} x live"),
        _ => {
            let what = if equal < all { "least" } else { "the same" };
            format!(
                "{names} hold {what} in the mean, within 1 %, of {all} mallocs: {first} {mean:.2} x live"
            )
        }
    })
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

/// What would hold less than every malloc, with pages that are empty given back: a heap that moves
/// objects, surefit-malloc's heap, and a program that moves objects on its hint.
fn less(trace: &TraceResults, mallocs: &[(&AllocatorResult, Held)]) -> Option<String> {
    let holds_less = |it: &Held| mallocs.iter().all(|(_, other)| is_less(it, other));
    let named = |name: &str| {
        let is_it = |row: &&AllocatorResult| row.allocator.split(':').next() == Some(name);
        trace.results.iter().find(is_it)
    };
    let in_use = |row: &AllocatorResult| Held::in_use(row).filter(holds_less);
    let cf = named("cf").filter(|row| row.moves_total > Some(0));
    let cf = cf
        .and_then(in_use)
        .map(|held| ("cf, which moves objects,", held));
    let direct = named("cf-direct").and_then(in_use);
    let direct = direct.map(|held| (DIRECT, held));
    let hinted = trace.hinted.as_deref().and_then(in_use);
    let hinted = hinted.map(|held| (HINTED, held));
    let parts: Vec<_> = [cf, direct, hinted]
        .into_iter()
        .flatten()
        .map(|(name, held)| format!("{name} {}", mean_and_most(&held)))
        .collect();
    (!parts.is_empty()).then(|| {
        format!(
            "With empty pages given back, these would hold less: {}.",
            parts.join("; ")
        )
    })
}

/// surefit-malloc's heap as the table names it.
const DIRECT: &str = "cf-direct (surefit-malloc's heap, on one thread)";

/// The same heap in a program that cooperates.
const HINTED: &str =
    "surefit-malloc's heap, if the program moves objects where surefit_defrag_hint says so,";

fn is_less(one: &Held, other: &Held) -> bool {
    let most = one.most().zip(other.most());
    one.mean < other.mean && most.is_none_or(|(one, other)| one < other)
}

fn mean_and_most(held: &Held) -> String {
    let most = held.most().map_or_else(String::new, |most| {
        format!(", {most:.2} x in its worst valley or at the end")
    });
    format!("{:.2} x live in the mean{most}", held.mean)
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
            live_bytes: live * 100_000,
            resident_bytes: held * 100_000,
            parts: Some(AtPeak {
                requested_bytes: live * 100_000,
                page_block_internal_bytes: 0,
                page_internal_bytes: 0,
                size_class_bytes: (held - live) * 50_000,
                transient_bytes: 0,
                large_tail_bytes: 0,
                administrative_bytes: 0,
                free_chunk_bytes: 0,
                free_page_bytes: (held - live) * 50_000,
            }),
        };
        AllocatorResult {
            allocator: allocator.to_owned(),
            completed: true,
            moves_total: Some(u64::from(allocator == "cf")),
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
            peak_live_bytes: 10_000_000,
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
                "Over time system holds least in the mean, of 2 mallocs: 1.21 x live, 1.25 x at the \
                 end, 2.00 x in its worst valley (10.0 MB for 5.0 MB live); then libjemalloc.so.2 \
                 (1.68 x, 2.00 x, 3.00 x).",
                "With empty pages given back, these would hold less: cf, which moves objects, 1.04 x \
                 live in the mean, 1.10 x in its worst valley or at the end; cf-direct \
                 (surefit-malloc's heap, on one thread) 1.19 x live in the mean, 1.70 x in its worst \
                 valley or at the end; surefit-malloc's heap, if the program moves objects where \
                 surefit_defrag_hint says so, 1.01 x live in the mean, 1.10 x in its worst valley or \
                 at the end.",
                "More mallocs, of those that this machine has: --allocators \
                 system,jemalloc,mimalloc,tcmalloc,surefit-malloc.",
            ]
        );
    }

    #[test]
    fn only_what_holds_less_than_every_malloc_is_listed() {
        let system = || row("system", [10, 100, 100, 100, 100]);
        let said = |rows| lines(&trace(rows)).join("\n");
        let more = said(vec![
            row("cf", [10, 100, 60, 200, 200]),
            row("cf-direct", [10, 100, 160, 160, 160]),
            system(),
        ]);
        assert!(
            !more.contains("cf, which") && !more.contains("cf-direct"),
            "{more}"
        );
        assert!(more.contains("surefit_defrag_hint"), "{more}");
        let unmoved = AllocatorResult {
            moves_total: Some(0),
            ..row("cf", [10, 100, 60, 100, 80])
        };
        let unmoved = said(vec![unmoved, system()]);
        assert!(!unmoved.contains("moves objects, "), "{unmoved}");
        let mut alone = trace(vec![system()]);
        alone.hinted = None;
        assert_eq!(lines(&alone).len(), 2);
    }

    #[test]
    fn means_within_a_percent_are_equal() {
        let said = |rows: &[(&str, u64)]| {
            let rows = rows.iter();
            lines(&trace(
                rows.map(|(name, last)| row(name, [10, 100, 100, 100, *last]))
                    .collect(),
            ))
            .swap_remove(0)
        };
        let both = said(&[
            ("preload:/x/je.so", 102),
            ("system", 100),
            ("preload:/x/tc.so", 150),
        ]);
        let words = "Over time system and je.so hold least in the mean, within 1 %, of 3 \
                     mallocs: system 1.21 x live, 1.25 x at the end";
        let both_then = "; then je.so (1.21 x, 1.27 x, 2.00 x), tc.so (1.35 x";
        assert!(
            both.starts_with(words) && both.contains(both_then),
            "{both}"
        );
        let all = said(&[("preload:/x/je.so", 102), ("system", 100)]);
        let words =
            "Over time system and je.so hold the same in the mean, within 1 %, of 2 mallocs";
        assert!(all.starts_with(words), "{all}");
    }

    #[test]
    fn a_malloc_that_does_not_creep_needs_no_sentence() {
        let steady = [10, 100, 60, 100, 85];
        assert!(lines(&trace(vec![row("system", steady), row("cf", steady)])).is_empty());
        let two = trace(vec![
            row("system", steady),
            row("preload:/x/je.so", [10, 100, 70, 100, 95]),
        ]);
        let said = lines(&two);
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(
            said[0].contains("holds least in the mean, of 2 mallocs"),
            "{said:?}"
        );
    }
}
