//! The sentences below a table: who is best at what, which allocator to take, and where the moving
//! heap wins and loses.
//!
//! All are computed from the figures of one trace.

use surefit_measure::error::one_line;
use surefit_measure::results::{AllocatorResult, TraceResults};
use surefit_measure::sizes::{Size, counted};
use surefit_measure::spec::{is_called, is_preloaded};

use super::race::{EQUAL, Race, SURE, over, race, time};
use super::words::{listed, name, short};

/// The moving heap is compared with so many others.
const MOST_RIVALS: usize = 3;

/// Something that one allocator has less of than another.
struct Metric {
    name: &'static str,
    of: fn(&AllocatorResult) -> Option<f64>,
}

const TIME: Metric = Metric {
    name: "time",
    of: time,
};

const ACCESS: Metric = Metric {
    name: "time with access",
    of: |row| row.access_pair_ns_mean,
};

const MEMORY: Metric = Metric {
    name: "memory",
    of: |row| row.min_heap_bytes.map(|bytes| bytes as f64),
};

/// Who is best at what and which one to take; then, where the moving heap wins and loses. Ratios of
/// time are to `baseline`, and `moving` is the row of the first heap of handles.
pub(super) fn sentences(
    trace: &TraceResults,
    baseline: &str,
    moving: Option<usize>,
) -> (String, Option<String>) {
    let rows = &trace.results;
    if rows.iter().all(|row| !row.completed) {
        return (
            "No allocator completed this trace in this heap.".to_owned(),
            None,
        );
    }
    let mut completed = rows.iter().filter(|row| row.completed);
    if let (Some(only), None, true) = (completed.next(), completed.next(), rows.len() > 1) {
        let only = short(&only.allocator);
        return (format!("Only {only} completed. {}", bounded(trace)), None);
    }
    if rows.len() == 1 {
        let alone = "Nothing is compared with it: name others with --allocators A,B.";
        return (format!("{} {alone}", bounded(trace)), None);
    }
    let best = [
        fastest(rows, baseline),
        smallest(trace),
        Some(bounded(trace)),
        choice(rows),
    ];
    let best: Vec<_> = best.into_iter().flatten().collect();
    (best.join(" "), moving.and_then(|row| duels(rows, row)))
}

/// The rows whose figure is least, equals included, and that figure.
fn leaders<'a>(
    rows: &'a [AllocatorResult],
    metric: &Metric,
) -> Option<(Vec<&'a AllocatorResult>, f64)> {
    let figures: Vec<_> = rows
        .iter()
        .filter_map(|row| Some((row, (metric.of)(row)?)))
        .collect();
    let least = figures.iter().map(|(_, figure)| *figure).reduce(f64::min)?;
    let equal = figures
        .iter()
        .filter(|(_, figure)| *figure <= least * EQUAL);
    Some((equal.map(|(row, _)| *row).collect(), least))
}

fn names(rows: &[&AllocatorResult]) -> Vec<String> {
    rows.iter().map(|row| short(&row.allocator)).collect()
}

fn is_or_are(rows: &[&AllocatorResult]) -> &'static str {
    if rows.len() == 1 { "is" } else { "are" }
}

/// The allocators that share the first place in time.
pub(crate) fn fastest_names(trace: &TraceResults) -> Vec<String> {
    race(&trace.results).map_or_else(Vec::new, |race| names(&race.first))
}

/// `cf-direct is fastest (0.44 x rlsf) in each of 3 rounds, then tlsf (1.95 x [1.90-2.01] its
/// time); with accesses tlsf is (0.80 x).`
fn fastest(rows: &[AllocatorResult], baseline: &str) -> Option<String> {
    let ran = race(rows)?;
    let base = rows.iter().find(|row| row.allocator == baseline);
    let ratio = |metric: &Metric, figure: f64| {
        let base = base.and_then(metric.of).filter(|base| *base > 0.0);
        base.map_or_else(String::new, |base| {
            format!(" ({:.2} x {})", figure / base, short(baseline))
        })
    };
    let with_access = leaders(rows, &ACCESS).map_or_else(String::new, |(leaders, figure)| {
        if names(&leaders) == names(&ran.first) {
            return ", with accesses as well".to_owned();
        }
        let verb = is_or_are(&leaders);
        let who = listed(&names(&leaders));
        format!("; with accesses {who} {verb}{}", ratio(&ACCESS, figure))
    });
    let place = place(&ran, &ratio(&TIME, ran.time));
    Some(format!("{place}{with_access}."))
}

/// The first place in time, who has it, and how sure that is.
fn place(ran: &Race<'_>, ratio: &str) -> String {
    let (who, verb) = (listed(&names(&ran.first)), is_or_are(&ran.first));
    let rounds = counted(ran.rounds as u64, "round");
    if let ([best, others @ ..], true) = (ran.first.as_slice(), ran.rounds > 0) {
        if !others.is_empty() {
            let apart = others.iter().filter_map(|other| over(other, best));
            let (least, most) = apart.fold((1.0_f64, 1.0_f64), |(least, most), ratio| {
                (least.min(ratio.min), most.max(ratio.max))
            });
            return format!(
                "{who} cannot be told apart in speed{ratio}: in {rounds} their times are {least:.2} to \
                 {most:.2} x {}'s",
                short(&best.allocator)
            );
        }
    }
    let sure = match ran.rounds {
        0 => String::new(),
        few if few < SURE => format!(", but {rounds} cannot be sure"),
        _ => format!(" in each of {rounds}"),
    };
    let next = match &ran.next {
        Some((next, Some(apart))) => format!(
            ", then {} ({:.2} x [{:.2}-{:.2}] its time)",
            short(&next.allocator),
            apart.median,
            apart.min,
            apart.max
        ),
        _ => String::new(),
    };
    format!("{who} {verb} fastest{ratio}{sure}{next}")
}

/// `cf needs least memory (1.074 x live), then tlsf (1.400).`
fn smallest(trace: &TraceResults) -> Option<String> {
    let Some((first, _)) = leaders(&trace.results, &MEMORY) else {
        return Some("Smallest heaps were not looked for: add --find-min-heap.".to_owned());
    };
    let live = trace.peak_live_bytes.max(1) as f64;
    let rest: Vec<_> = trace
        .results
        .iter()
        .filter(|row| !first.iter().any(|one| std::ptr::eq(*one, *row)))
        .cloned()
        .collect();
    let next = leaders(&rest, &MEMORY).map_or_else(String::new, |(next, _)| {
        format!(", then {} ({})", listed(&names(&next)), times(&next, live))
    });
    let verb = if first.len() == 1 { "needs" } else { "need" };
    let (who, times) = (listed(&names(&first)), times(&first, live));
    Some(format!("{who} {verb} least memory ({times} x live){next}."))
}

/// The smallest heaps of rows that count as equal, over the live bytes: `1.220 to 1.230`.
fn times(rows: &[&AllocatorResult], live: f64) -> String {
    let mut figures: Vec<_> = rows
        .iter()
        .filter_map(|row| Some(format!("{:.3}", (MEMORY.of)(row)? / live)))
        .collect();
    figures.sort_unstable();
    figures.dedup();
    match figures.as_slice() {
        [least, .., greatest] => format!("{least} to {greatest}"),
        other => other.concat(),
    }
}

/// The rows with a certificate, and the lowest one.
fn certified(rows: &[AllocatorResult]) -> Option<(&AllocatorResult, u64, usize)> {
    let bounds = rows
        .iter()
        .filter_map(|row| Some((row, row.certified_bytes?)));
    let (row, bytes) = bounds.clone().min_by_key(|(_, bytes)| *bytes)?;
    Some((row, bytes, bounds.count()))
}

/// `Only cf has a bound: 30.4 MB (1.218 x live) serve this demand in any order of calls.`
fn bounded(trace: &TraceResults) -> String {
    let Some((row, bytes, count)) = certified(&trace.results) else {
        return "None has a bound for this demand in any order of calls.".to_owned();
    };
    let who = short(&row.allocator);
    let who = match (count, trace.results.len()) {
        (1, 1) => format!("{who} has a bound"),
        (1, _) => format!("Only {who} has a bound"),
        (count, _) => format!("{count} have a bound, {who} the lowest"),
    };
    let times = bytes as f64 / trace.peak_live_bytes.max(1) as f64;
    let heap = Size(bytes);
    format!("{who}: {heap} ({times:.3} x live) serve this demand in any order of calls.")
}

/// `Take cf-direct for speed, cf for memory and a bound.`
fn choice(rows: &[AllocatorResult]) -> Option<String> {
    let best = |metric| Some(listed_or(&names(&leaders(rows, metric)?.0)));
    let speed = race(rows).map(|race| listed_or(&names(&race.first)));
    let bound = certified(rows).map(|(row, ..)| short(&row.allocator));
    let wishes = [
        (speed, "speed"),
        (best(&MEMORY), "memory"),
        (bound, "a bound"),
    ];
    let mut taken: Vec<(String, Vec<&str>)> = Vec::new();
    for (who, wish) in wishes {
        let Some(who) = who else { continue };
        match taken.iter_mut().find(|(known, _)| *known == who) {
            Some((_, wishes)) => wishes.push(wish),
            None => taken.push((who, vec![wish])),
        }
    }
    let parts: Vec<_> = taken
        .iter()
        .map(|(who, wishes)| format!("{who} for {}", listed(wishes)))
        .collect();
    (!parts.is_empty()).then(|| format!("Take {}.", parts.join(", ")))
}

fn listed_or(names: &[String]) -> String {
    names.join(" or ")
}

/// `cf wins: memory 0.77 x tlsf. cf loses: time 1.72 x tlsf, 1.49 x dlmalloc.`
fn duels(rows: &[AllocatorResult], moving: usize) -> Option<String> {
    let own = rows.get(moving).filter(|row| row.completed)?;
    let rivals = rivals(rows, own);
    if rivals.is_empty() {
        return None;
    }
    let side = |wins: bool| {
        let metrics = [MEMORY, TIME, ACCESS];
        let parts = metrics
            .iter()
            .filter_map(|metric| duel(own, &rivals, metric, wins));
        let parts: Vec<_> = parts.collect();
        if parts.is_empty() {
            "nothing".to_owned()
        } else {
            parts.join("; ")
        }
    };
    let name = short(&own.allocator);
    Some(format!(
        "{name} wins: {}. {name} loses: {}.",
        side(true),
        side(false)
    ))
}

/// `time 1.72 x tlsf, 1.49 x dlmalloc`: the rivals that the moving heap wins against, or loses to.
fn duel(
    own: &AllocatorResult,
    rivals: &[&AllocatorResult],
    metric: &Metric,
    wins: bool,
) -> Option<String> {
    let figure = (metric.of)(own)?;
    let against = |rival: &&AllocatorResult| {
        let ratio = figure / (metric.of)(rival).filter(|other| *other > 0.0)?;
        let counts = if wins {
            ratio * EQUAL < 1.0
        } else {
            ratio > EQUAL
        };
        counts.then(|| format!("{ratio:.2} x {}", short(&rival.allocator)))
    };
    let parts: Vec<_> = rivals.iter().filter_map(against).collect();
    (!parts.is_empty()).then(|| format!("{} {}", metric.name, parts.join(", ")))
}

/// What people use, if it is among the rows: a TLSF, dlmalloc, the system's malloc and preloaded
/// ones. Otherwise all rows that are no Compact-fit.
fn rivals<'a>(rows: &'a [AllocatorResult], own: &AllocatorResult) -> Vec<&'a AllocatorResult> {
    let named = |names: &[&str]| {
        let mut found = names
            .iter()
            .filter_map(|name| rows.iter().find(|row| is_called(&row.allocator, name)));
        found.next()
    };
    let usual = [&["tlsf", "rlsf"][..], &["dl", "dlmalloc"], &["system"]];
    let mut rivals: Vec<_> = usual.into_iter().filter_map(named).collect();
    rivals.extend(rows.iter().filter(|row| is_preloaded(&row.allocator)));
    if rivals.is_empty() {
        rivals.extend(rows.iter().filter(|row| !is_compact_fit(&row.allocator)));
    }
    rivals.retain(|row| row.allocator != own.allocator);
    rivals.truncate(MOST_RIVALS);
    rivals
}

fn is_compact_fit(allocator: &str) -> bool {
    let name = allocator.split(':').next().unwrap_or(allocator);
    matches!(
        name,
        "cf" | "cf-os"
            | "cf-direct"
            | "cf-cooperating"
            | "cf-paper"
            | "cf-block-table"
            | "indirect"
            | "1-cf"
            | "n-cf"
            | "n-cf-direct"
    )
}

/// What saves memory in the first Compact-fit heap: moves, or objects in pieces.
pub(super) fn saved(trace: &TraceResults) -> Option<String> {
    let ablation = trace.ablation.as_ref()?;
    let find = |name: &str| trace.results.iter().find(|row| row.allocator == name);
    let row = find(&ablation.allocator)?;
    let (with, unmoved) = (row.min_heap_bytes?, ablation.unmoved_min_heap_bytes);
    let live = trace.peak_live_bytes.max(1) as f64;
    let of_live = |bytes: u64| format!("{:.3}", bytes as f64 / live);
    let own_name = short(&row.allocator);
    let own = of_live(with);
    let or_cannot = |bytes: Option<u64>| {
        bytes.map_or_else(|| format!("it cannot serve {}", name(trace)), of_live)
    };
    let still = or_cannot(unmoved);
    let mut text = format!("{own_name} needs {own} x live; without moves {still}");
    let mut from_pieces = String::new();
    if !row.contiguous {
        text += "; without pieces ";
        text += &or_cannot(ablation.contiguous_min_heap_bytes);
        let direct = find("cf-direct").and_then(|row| row.min_heap_bytes);
        if let Some(neither) = ablation.unmoved_contiguous_min_heap_bytes {
            text += &format!("; without both {}", of_live(neither));
            from_pieces = unmoved.map_or_else(String::new, |unmoved| {
                let saved = saving(unmoved, neither);
                format!(" Memory that pieces saved: {saved}.")
            });
        } else if let Some(direct) = direct {
            // it has no handles either
            text += &format!(
                "; without both, and without handles (cf-direct), {}",
                of_live(direct)
            );
            from_pieces = unmoved.map_or_else(String::new, |unmoved| {
                let saved = saving(unmoved, direct);
                format!(" Memory that pieces saved, less the handles: {saved}.")
            });
        }
    }
    let from_moves = unmoved.map_or_else(String::new, |unmoved| {
        format!(" Memory that compaction saved: {}.", saving(with, unmoved))
    });
    Some(format!("{text}.{from_moves}{from_pieces}"))
}

/// How much less `with` is than `without`, in words: never less than nothing.
fn saving(with: u64, without: u64) -> String {
    let tenths = 1000.0 * (without as f64 - with as f64) / without.max(1) as f64;
    let percent = tenths.round() / 10.0;
    if percent > 0.0 {
        format!("{percent:.1} %")
    } else if percent < 0.0 {
        format!("nothing (a cost of {:.1} %)", -percent)
    } else {
        "nothing".to_owned()
    }
}

/// The allocators that did not complete, and why.
pub(super) fn failures(trace: &TraceResults) -> Vec<String> {
    let failed = trace
        .results
        .iter()
        .filter_map(|row| Some((row, row.error.as_ref()?)));
    failed
        .map(|(row, error)| {
            let (name, kind) = (short(&row.allocator), one_line(&error.kind));
            format!("{name} did not complete: {kind} at event {}.", error.event)
        })
        .collect()
}
