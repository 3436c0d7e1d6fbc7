//! The claims, each over all programs.

use surefit_freelist::When;

use super::measured::{Counted, Found, InHeap, Kind};
use super::samples::{around_the_first, thirds};
use crate::kit::{Claim, OnProgram};
use crate::shared::merges::{MERGES, merges_name};

/// Visits of never, deferred and immediate coalescing in table 2-2.
pub(super) const PRINTED: [(f64, f64); 3] = [(15.0, 40.0), (17.0, 40.0), (50.0, 50.0)];

/// Several hundred visits of a single list: from this number on.
const SEVERAL_HUNDRED: f64 = 200.0;

/// "About 50" is read as 50 up to a tenth. A range needs no tolerance: it is taken as printed.
const ABOUT: f64 = 0.1;

/// How many of the intervals between collections must show it: nine of ten.
const MOST: f64 = 0.9;

/// Visits and expected heads are counted. On Compress they differ by 0.03 %, elsewhere by nothing.
const EXACT: f64 = 0.02;

/// All of them.
pub(super) fn all(found: &[Found]) -> Vec<Claim> {
    let mut claims: Vec<_> = (0..PRINTED.len())
        .map(|place| in_the_range(found, place))
        .collect();
    claims.extend([
        immediate_visits_most(found),
        single_visits_most(found),
        immediate_leaves_least(found),
        single_leaves_little(found),
        walks_all_heads_before(found),
        fast_start(found),
    ]);
    for merges in MERGES {
        claims.push(highest_before_the_first(found, merges));
        claims.push(low_after_a_collection(found, merges));
        claims.push(rises_between_collections(found, merges));
    }
    claims
}

/// A program's part of a claim.
fn on(found: &Found, test: Option<bool>, ratio: Option<f64>, shown: String) -> OnProgram {
    let timed = OnProgram::timed(found.name.as_str(), test, ratio.as_slice());
    OnProgram { shown, ..timed }
}

/// What stands where nothing is decided.
const NOTHING: &str = "does not complete, or never collects";

fn or_nothing(shown: Option<String>) -> String {
    shown.unwrap_or_else(|| NOTHING.to_owned())
}

/// Visits per allocation of a strategy whose heads are walked.
fn visits(in_heap: &InHeap, merges: When) -> Option<f64> {
    in_heap.of(Kind::scan(merges)).map(|counted| counted.visits)
}

fn in_the_range(found: &[Found], place: usize) -> Claim {
    let (least, most) = PRINTED[place];
    let merges = MERGES[place];
    let (range, tolerance) = match least < most {
        true => (format!("{least} to {most}"), 0.0),
        false => (format!("about {least}"), ABOUT),
    };
    let alike = least * (1.0 - tolerance)..=most * (1.0 + tolerance);
    let programs = found.iter().map(|one| {
        let visits = one
            .thesis
            .as_ref()
            .and_then(|in_heap| visits(in_heap, merges));
        let test = visits.map(|visits| alike.contains(&visits));
        on(
            one,
            test,
            None,
            or_nothing(visits.map(|visits| format!("{visits:.1}"))),
        )
    });
    Claim::that(format!(
        "{} coalescing visits {range} nodes per allocation in 6 MB",
        merges_name(merges)
    ))
    .of("table 2-2")
    .papers(range)
    .over(
        programs.collect(),
        format!(
            "counted, in 6 MiB, over the whole program; from {:.0} to {:.0}; not comparable where \
             the program does not complete in 6 MiB, or never collects",
            alike.start(),
            alike.end()
        ),
    )
}

/// Compares a figure of the strategies and of the single list in the heap of each program in which
/// they complete and collect: 6 MiB, or else its own.
fn first_heap<T>(found: &Found, of: impl Fn(&InHeap) -> Option<T>) -> Option<T> {
    found.heaps().find_map(of)
}

/// A figure of immediate and the figures of never and deferred, as far as they complete; `None`
/// unless immediate does and one of the others.
fn against_others(
    in_heap: &InHeap,
    figure: fn(&Counted) -> Option<f64>,
) -> Option<(f64, Vec<f64>)> {
    let of = |merges| in_heap.of(Kind::scan(merges)).and_then(figure);
    let others: Vec<_> = [When::Never, When::Deferred]
        .into_iter()
        .filter_map(of)
        .collect();
    let immediate = of(When::Immediate)?;
    (!others.is_empty()).then_some((immediate, others))
}

fn shown(figures: &[f64]) -> String {
    let figures: Vec<_> = figures
        .iter()
        .map(|figure| format!("{figure:.1}"))
        .collect();
    figures.join(", ")
}

fn percents(figures: &[f64]) -> String {
    let figures: Vec<_> = figures
        .iter()
        .map(|figure| format!("{figure:.2}"))
        .collect();
    figures.join(", ")
}

fn immediate_visits_most(found: &[Found]) -> Claim {
    let programs = found.iter().map(|one| {
        let both = first_heap(one, |in_heap| {
            against_others(in_heap, |counted| Some(counted.visits))
        });
        let most = |others: &[f64]| others.iter().copied().fold(0.0, f64::max);
        let test = both
            .as_ref()
            .map(|(immediate, others)| *immediate > most(others));
        let ratio = both
            .as_ref()
            .map(|(immediate, others)| immediate / most(others));
        let words =
            both.map(|(immediate, others)| format!("{immediate:.1}, others {}", shown(&others)));
        on(one, test, ratio, or_nothing(words))
    });
    Claim::that("immediate coalescing visits more nodes than never and deferred")
        .of("table 2-2")
        .of("figure 3-1")
        .papers("50 beside 15 to 40 and 17 to 40")
        .over(
            programs.collect(),
            "counted, in 6 MiB, or in the program's own heap where it does not complete in these; \
             compared with those of never and deferred that complete and collect there",
        )
}

fn single_visits_most(found: &[Found]) -> Claim {
    let programs = found.iter().map(|one| {
        let both = first_heap(one, |in_heap| {
            let single = in_heap.of(Kind::Single)?.visits;
            let lists: Vec<_> = MERGES
                .into_iter()
                .filter_map(|merges| visits(in_heap, merges))
                .collect();
            (!lists.is_empty()).then_some((single, lists))
        });
        let most = |lists: &[f64]| lists.iter().copied().fold(0.0, f64::max);
        let test = both
            .as_ref()
            .map(|(single, lists)| *single >= SEVERAL_HUNDRED && *single > most(lists));
        let ratio = both.as_ref().map(|(single, lists)| single / most(lists));
        let words = both.map(|(single, lists)| format!("{single:.1}, lists {}", shown(&lists)));
        on(one, test, ratio, or_nothing(words))
    });
    Claim::that("a single list takes several hundred visits, more than segregated lists")
        .of("table 2-2")
        .papers("several hundred")
        .over(
            programs.collect(),
            format!(
                "counted, in the same heaps; {SEVERAL_HUNDRED} or more, and more than each \
                 strategy of segregated lists that completes"
            ),
        )
}

fn immediate_leaves_least(found: &[Found]) -> Claim {
    let programs = found.iter().map(|one| {
        let both = first_heap(one, |in_heap| {
            against_others(in_heap, |counted| counted.percent_unused)
        });
        let least = |others: &[f64]| others.iter().copied().fold(f64::INFINITY, f64::min);
        let test = both
            .as_ref()
            .map(|(immediate, others)| *immediate < least(others));
        let words = both
            .map(|(immediate, others)| format!("{immediate:.2} %, others {} %", percents(&others)));
        on(one, test, None, or_nothing(words))
    });
    Claim::that(
        "external fragmentation is lower with immediate coalescing than with never and deferred",
    )
    .of("table 2-2")
    .papers("never and deferred high, immediate low")
    .over(
        programs.collect(),
        "counted: bytes that are free when a request cannot be served, in percent of the heap; \
             immediate leaves less than each of the others that completes and collects in the same \
             heap",
    )
}

fn single_leaves_little(found: &[Found]) -> Claim {
    let programs = found.iter().map(|one| {
        let both = first_heap(one, |in_heap| {
            let unused = |kind| in_heap.of(kind).and_then(|counted| counted.percent_unused);
            Some((unused(Kind::Single)?, unused(Kind::scan(When::Deferred))?))
        });
        let test = both.map(|(single, deferred)| single < deferred);
        let words =
            both.map(|(single, deferred)| format!("{single:.2} %, deferred {deferred:.2} %"));
        on(one, test, None, or_nothing(words))
    });
    Claim::that("external fragmentation is lower with a single list, first fit, than with deferred coalescing")
        .of("table 2-2")
        .papers("single first fit low, deferred high")
        .over(
            programs.collect(),
            "counted as before, in a heap in which both complete and collect",
        )
}

fn walks_all_heads_before(found: &[Found]) -> Claim {
    let programs = found.iter().map(|one| {
        let ratio = one.before.map(|before| before.visits / before.heads);
        let test = ratio.map(|ratio| (ratio - 1.0).abs() <= EXACT);
        let words = one
            .before
            .map(|before| format!("{:.1} of {:.1} expected", before.visits, before.heads));
        on(one, test, ratio, or_nothing(words))
    });
    Claim::that(
        "before the first collection every walk looks at all heads from its own list to the last",
    )
    .of("figure 3-1")
    .of("figure 3-2")
    .papers("one chunk, in the last list; lists are scanned from the smallest that fits upwards")
    .over(
        programs.collect(),
        format!(
            "counted with deferred coalescing, beside the heads above the list of each request \
                 and the chunk; the same within {:.0} %",
            100.0 * EXACT
        ),
    )
}

fn fast_start(found: &[Found]) -> Claim {
    let programs = found.iter().map(|one| {
        let around = |kind| Some(around_the_first(&one.own.of(kind)?.samples));
        let both = around(Kind::table(When::Deferred)).zip(around(Kind::scan(When::Deferred)));
        let both = both.and_then(|(table, scan)| Some((table.0?, scan.0?, scan.1?)));
        let test = both.map(|(table, _, later)| table <= later);
        let words = both
            .map(|(table, scan, later)| format!("{table:.1}, walk {scan:.1} and then {later:.1}"));
        on(
            one,
            test,
            both.map(|(table, scan, _)| scan / table),
            or_nothing(words),
        )
    });
    Claim::that("with the table a program starts fast: no more visits before the first collection than the walk makes after it")
        .of("fast start")
        .papers("the time before the first collection is short")
        .over(
            programs.collect(),
            "counted with deferred coalescing, in the program's own heap; the mean is of the walk's \
             visits before the first collection ÷ the table's",
        )
}

/// The samples of a strategy in every heap in which it completes and collects.
fn samples(found: &Found, merges: When) -> impl Iterator<Item = &Counted> {
    found
        .heaps()
        .filter_map(move |in_heap| in_heap.of(Kind::scan(merges)))
}

fn highest_before_the_first(found: &[Found], merges: When) -> Claim {
    let programs = found.iter().map(|one| {
        let around = samples(one, merges).filter_map(|counted| {
            let (before, after) = around_the_first(&counted.samples);
            before.zip(after)
        });
        let around: Vec<_> = around.collect();
        let test =
            (!around.is_empty()).then(|| around.iter().all(|(before, after)| before > after));
        let words: Vec<_> = around
            .iter()
            .map(|(before, after)| format!("{before:.1} then {after:.1}"))
            .collect();
        on(
            one,
            test,
            None,
            or_nothing((!words.is_empty()).then(|| words.join(" and "))),
        )
    });
    Claim::that(format!(
        "{}: visits are highest before the first collection",
        merges_name(merges)
    ))
    .of("figure 3-1")
    .papers("very high before it")
    .over(
        programs.collect(),
        "counted, in each heap in which it completes and collects",
    )
}

/// Of how many intervals between collections something is true, and of how many of all.
fn intervals(found: &Found, merges: When, is_so: impl Fn(f64, f64, f64) -> bool) -> (usize, usize) {
    let each = samples(found, merges).flat_map(|counted| {
        let (_, mean) = around_the_first(&counted.samples);
        thirds(&counted.samples)
            .into_iter()
            .zip(std::iter::repeat(mean))
    });
    let all: Vec<_> = each
        .filter_map(|((first, last), mean)| Some(is_so(first, last, mean?)))
        .collect();
    (all.iter().filter(|is_so| **is_so).count(), all.len())
}

fn of_intervals(
    found: &[Found],
    merges: When,
    is_so: impl Fn(f64, f64, f64) -> bool,
) -> Vec<OnProgram> {
    let programs = found.iter().map(|one| {
        let (some, all) = intervals(one, merges, &is_so);
        let test = (all > 0).then_some(some as f64 >= MOST * all as f64);
        on(one, test, None, format!("{some} of {all} intervals"))
    });
    programs.collect()
}

fn low_after_a_collection(found: &[Found], merges: When) -> Claim {
    Claim::that(format!(
        "{}: visits are low right after a collection",
        merges_name(merges)
    ))
    .of("figure 3-1")
    .papers("low after each collection")
    .over(
        of_intervals(found, merges, |first, _, mean| first < mean),
        "counted, in every heap in which it completes; in nine of ten intervals between \
             collections, the first third has fewer visits per allocation than the whole time \
             after the first collection; not comparable without an interval of six samples",
    )
}

fn rises_between_collections(found: &[Found], merges: When) -> Claim {
    Claim::that(format!(
        "{}: visits rise towards the next collection",
        merges_name(merges)
    ))
    .of("figure 3-1")
    .papers("rising sharply towards the next")
    .over(
        of_intervals(found, merges, |first, last, _| last > first),
        "counted, in every heap in which it completes; in nine of ten intervals between \
             collections, the last third has more visits per allocation than the first",
    )
}

#[cfg(test)]
mod tests;
