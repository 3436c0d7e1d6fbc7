//! The sentences below a table: who is best at what, which allocator to take, and where the moving
//! heap wins and loses.
//!
//! All are computed from the figures of one trace.

use surefit_measure::error::one_line;
use surefit_measure::results::{AllocatorResult, TraceResults};
use surefit_measure::sizes::{Size, counted};
use surefit_measure::spec::{is_called, is_preloaded};

use super::race::{ACCESS, Clock, Race, SURE, TIME, race};
use super::words::{listed, name, short};

/// The moving heap is compared with so many others.
const MOST_RIVALS: usize = 3;

/// Smallest heaps closer than this count as equal.
const EQUAL: f64 = 1.01;

/// Something that one allocator has less of than another.
enum Metric {
    Memory,
    /// A time, by its name.
    Time(&'static str, Clock),
}

/// What is won or lost, in the order of the sentence.
const METRICS: [Metric; 3] = [
    Metric::Memory,
    Metric::Time("time", TIME),
    Metric::Time("time with access", ACCESS),
];

impl Metric {
    const fn name(&self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Time(name, _) => name,
        }
    }

    /// What one has over what the other has; `None` if they are not told apart.
    fn over(&self, own: &AllocatorResult, rival: &AllocatorResult) -> Option<f64> {
        match self {
            Self::Memory => {
                let ratio = least_heap(own)? / least_heap(rival)?;
                (ratio * EQUAL < 1.0 || ratio > EQUAL).then_some(ratio)
            }
            Self::Time(_, clock) => clock.surely_over(own, rival),
        }
    }
}

/// The smallest heap in which the trace completes.
fn least_heap(row: &AllocatorResult) -> Option<f64> {
    row.min_heap_bytes.map(|bytes| bytes as f64)
}

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

/// The rows whose smallest heap is least, equals included.
fn leaders(rows: &[AllocatorResult]) -> Option<Vec<&AllocatorResult>> {
    let heaps = rows.iter().filter_map(|row| Some((row, least_heap(row)?)));
    let least = heaps.clone().map(|(_, heap)| heap).reduce(f64::min)?;
    let equal = heaps.filter(|(_, heap)| *heap <= least * EQUAL);
    Some(equal.map(|(row, _)| row).collect())
}

fn names(rows: &[&AllocatorResult]) -> Vec<String> {
    rows.iter().map(|row| short(&row.allocator)).collect()
}

fn is_or_are(rows: &[&AllocatorResult]) -> &'static str {
    if rows.len() == 1 { "is" } else { "are" }
}

/// The allocators that share the first place in time.
pub(crate) fn fastest_names(trace: &TraceResults) -> Vec<String> {
    race(&trace.results, &TIME).map_or_else(Vec::new, |race| names(&race.first))
}

/// `cf-direct is fastest (0.44 x rlsf) in each of 3 rounds, then tlsf (1.95 x [1.90-2.01] its
/// time); with accesses tlsf is fastest (0.80 x rlsf).`
fn fastest(rows: &[AllocatorResult], baseline: &str) -> Option<String> {
    let ran = race(rows, &TIME)?;
    let ratio = |ran: &Race<'_>| {
        let ratio = ran.over_baseline;
        ratio.map_or_else(String::new, |ratio| {
            format!(" ({ratio:.2} x {})", short(baseline))
        })
    };
    let place = place(&ran, &ratio(&ran));
    let with_access = race(rows, &ACCESS)
        .and_then(|race| Some((race.sure_winner()?, ratio(&race))))
        .map_or_else(String::new, |(winner, ratio)| {
            if let [only] = ran.first.as_slice() {
                if std::ptr::eq(*only, winner) {
                    return ", with accesses as well".to_owned();
                }
            }
            let who = short(&winner.allocator);
            format!("; with accesses {who} is fastest{ratio}")
        });
    Some(format!("{place}{with_access}."))
}

/// The first place in time, who has it, and how sure that is.
fn place(ran: &Race<'_>, ratio: &str) -> String {
    let (who, verb) = (listed(&names(&ran.first)), is_or_are(&ran.first));
    let rounds = counted(ran.rounds as u64, "round");
    if let ([best, others @ ..], true) = (ran.first.as_slice(), ran.rounds > 0) {
        if !others.is_empty() {
            let apart = others.iter().filter_map(|other| TIME.over(other, best));
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
    let Some(first) = leaders(&trace.results) else {
        return Some("Smallest heaps were not looked for: add --find-min-heap.".to_owned());
    };
    let live = trace.peak_live_bytes.max(1) as f64;
    let rest: Vec<_> = trace
        .results
        .iter()
        .filter(|row| !first.iter().any(|one| std::ptr::eq(*one, *row)))
        .cloned()
        .collect();
    let next = leaders(&rest).map_or_else(String::new, |next| {
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
        .filter_map(|row| Some(format!("{:.3}", least_heap(row)? / live)))
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
    let memory = leaders(rows).map(|rows| listed_or(&names(&rows)));
    let speed = race(rows, &TIME).map(|race| listed_or(&names(&race.first)));
    let bound = certified(rows).map(|(row, ..)| short(&row.allocator));
    let wishes = [(speed, "speed"), (memory, "memory"), (bound, "a bound")];
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
        let parts = METRICS
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
    let against = |rival: &&AllocatorResult| {
        let ratio = metric.over(own, rival)?;
        (wins == (ratio < 1.0)).then(|| format!("{ratio:.2} x {}", short(&rival.allocator)))
    };
    let parts: Vec<_> = rivals.iter().filter_map(against).collect();
    (!parts.is_empty()).then(|| format!("{} {}", metric.name(), parts.join(", ")))
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
