//! What the papers claim of scalability, beside what was timed and counted.
//!
//! The measure of scaling is what this machine gives to threads that share nothing: raw heaps, one
//! per thread, without locks, in the same run. With more threads than cores a time says how threads
//! take turns, so such a claim is not comparable.
//!
//! What the papers claim without compaction is judged twice: of n-CF with handles, which differs
//! from (a) in κ alone, and of the optimised one without abstract addresses, which is theirs.

use super::points::{
    Counts, Line, Point, RAW_OWN, SHARING, Sharing, THREADS, find, speedup, speedups,
};
use crate::kit::{Claim, Report, Verdict};
use crate::shared::threads::figures::{cores, ratio, timed_ratio, untimed};
use crate::shared::threads::heaps::{Scheme, Setup};
use surefit_measure::ratio::or_not_measured;
use surefit_measure::results::Ratio;

/// Threads that scaling is claimed for: two, and the most.
const SCALED: [usize; 2] = [2, THREADS[THREADS.len() - 1]];

/// Adds all claims.
pub(super) fn add_claims(report: &mut Report, lines: &[Line], sharing: &[(Setup, Point)]) {
    let cores = cores();
    let line = |scheme, kappa| {
        let is_it = |line: &&Line| line.setup.scheme == scheme && line.setup.kappa == kappa;
        lines.iter().find(is_it)
    };
    let raw = line(Scheme::DirectEach, None);
    let (full, none) = [Some(1), None]
        .map(|kappa| line(Scheme::Instances(1), kappa))
        .into();
    let optimised = line(RAW_OWN.scheme, RAW_OWN.kappa);
    let locks = line(Scheme::OneClassLocks, Some(1));
    for threads in SCALED {
        for (line, part) in [
            (full, "scalability (a)"),
            (none, "scalability (b)"),
            (optimised, "scalability (b)"),
        ] {
            let pair = line.zip(raw).into_iter();
            report
                .claims
                .extend(pair.map(|(line, raw)| scales(line, raw, part, threads, cores)));
        }
        let pair = locks.zip(raw).into_iter();
        report
            .claims
            .extend(pair.map(|(locks, raw)| does_not_scale(locks, raw, threads, cores)));
    }
    for (none, what) in [(none, ""), (optimised, ", without abstract addresses,")] {
        let pair = full.zip(none);
        report
            .claims
            .extend(pair.map(|(full, none)| constant_factor(full, none, what, cores)));
    }
    report
        .claims
        .extend(full.map(|full| nobody_waits(full, cores)));
    let of_all =
        corners().map(|(alone, together)| sharing_decides(sharing, &alone, &together, cores));
    report.claims.extend(of_all);
}

/// What part (c) is judged on: an instance for each thread, and one for all [`SHARING`] of them.
fn corners() -> [(Setup, Setup); 3] {
    let handles = |kappa| {
        [1, 8]
            .map(|each| Sharing::Handles(kappa).setup(each))
            .into()
    };
    let raw = (RAW_OWN, Sharing::RawGroups.setup(8));
    [handles(None), handles(Some(1)), raw]
}

/// Whether so many threads scale as those that share nothing do; `None` if there are fewer cores,
/// if not even raw heaps gain from more threads, or if rounds disagree.
fn follows(line: &Line, raw: &Line, threads: usize, cores: usize) -> Option<bool> {
    if threads > cores {
        return None;
    }
    let (own, of_raw) = speedups(line, threads).zip(speedups(raw, threads))?;
    let behind = timed_ratio(&of_raw, &own)?;
    let gains = timed_ratio(&of_raw, &vec![1.0; of_raw.len()]).and_then(Verdict::is_greater);
    let is_behind = Verdict::is_greater(behind);
    is_behind
        .filter(|_| gains == Some(true))
        .map(|is_behind| !is_behind)
}

fn follow_words(line: &Line, raw: &Line, threads: usize) -> String {
    let of = |line| or_not_measured(speedup(line, threads));
    let contended = line
        .on(threads)
        .map(|point| point.counts.contended_each() * 1e3);
    let contended = or_not_measured(contended.map(|each| format!("{each:.1}")));
    format!(
        "{threads} threads ÷ one: {}, of raw heaps {}; {contended} contended acquisitions in a thousand pairs",
        of(line),
        of(raw)
    )
}

fn follow_rule(threads: usize, cores: usize) -> String {
    format!(
        "{}; this machine has {cores} {} for {threads} threads",
        untimed(),
        if cores == 1 { "core" } else { "cores" }
    )
}

fn scales(line: &Line, raw: &Line, part: &str, threads: usize, cores: usize) -> Claim {
    Claim::that(format!("{} scales to {threads} threads", line.setup))
        .of(part)
        .of("question 1")
        .papers("n-CF scales (stated in words)")
        .ours(follow_words(line, raw, threads))
        .decide(
            follows(line, raw, threads, cores),
            format!(
                "it gains as much as raw heaps, which share nothing, or is behind them by 3 % at most in every round; not \
                 comparable with fewer cores than threads, or if raw heaps gain nothing; {}",
                follow_rule(threads, cores)
            ),
        )
}

fn does_not_scale(line: &Line, raw: &Line, threads: usize, cores: usize) -> Claim {
    Claim::that(format!(
        "global size-class locks do not scale to {threads} threads"
    ))
    .of("scalability (a)")
    .of("size-class concurrency")
    .of("question 1")
    .papers("stated in words")
    .ours(follow_words(line, raw, threads))
    .decide(
        follows(line, raw, threads, cores).map(|follows| !follows),
        format!(
            "they gain less than raw heaps, which share nothing, in every round and by over 3 % in the median; not \
             comparable with fewer cores than threads, or if raw heaps gain nothing; {}",
            follow_rule(threads, cores)
        ),
    )
}

fn constant_factor(full: &Line, none: &Line, what: &str, cores: usize) -> Claim {
    let factor = |threads: &usize| {
        let (full, none) = full.on(*threads).zip(none.on(*threads))?;
        (!full.per_second.is_empty()).then(|| {
            let shown = ratio(&none.per_second, &full.per_second);
            (
                *threads,
                shown,
                timed_ratio(&none.per_second, &full.per_second),
            )
        })
    };
    let factors: Vec<_> = THREADS
        .iter()
        .filter(|threads| **threads <= cores)
        .filter_map(factor)
        .collect();
    let words: Vec<_> = factors
        .iter()
        .map(|(threads, shown, _)| format!("{shown} on {threads}"))
        .collect();
    let timed: Option<Vec<_>> = factors.iter().map(|(.., timed)| *timed).collect();
    Claim::that(format!(
        "no compaction{what} is better than full compaction by a constant factor"
    ))
    .of("scalability (b)")
    .of("question 2")
    .papers("stated in words")
    .ours(format!(
        "{} ÷ {}, by threads: {}",
        none.setup,
        full.setup,
        words.join(", ")
    ))
    .decide(
        timed.and_then(|timed| is_constant(&timed)),
        format!(
            "κ=∞ is faster in every round, by over 3 % in the median, and some factor lies between the least and the \
             greatest of the rounds for every number of threads; not comparable with fewer than two numbers of \
             threads that have a core each (of {cores} cores); {}",
            untimed()
        ),
    )
}

/// Whether factors are all greater than 1, and may all be the same; `None` if there are fewer than
/// two, or if rounds disagree.
fn is_constant(factors: &[Ratio]) -> Option<bool> {
    if factors.len() < 2 {
        return None;
    }
    let greater = factors.iter().map(|one| Verdict::is_greater(*one));
    let most_of_least = factors.iter().map(|one| one.min).fold(0.0, f64::max);
    let least_of_most = factors
        .iter()
        .map(|one| one.max)
        .fold(f64::INFINITY, f64::min);
    let may_be_one = most_of_least <= least_of_most;
    Verdict::all_of(greater.chain([Some(may_be_one)]))
}

fn nobody_waits(full: &Line, cores: usize) -> Claim {
    let threads = THREADS
        .into_iter()
        .filter(|threads| *threads <= cores)
        .max();
    let point = threads
        .filter(|threads| *threads > 1)
        .and_then(|threads| full.on(threads));
    let counts = point.map(|point| point.counts);
    let counts = counts.filter(|counts| counts.calls.0 > 0);
    // one acquisition of each call is of its own size-class
    let pool = |locks: f64| locks - 1.0;
    let words = counts.map(|counts| {
        format!(
            "n-CF(1,∞), {} threads: of a thousand pairs {:.2} acquisitions contended, {:.1} of the pool of pages",
            threads.unwrap_or(0),
            counts.contended_each() * 1e3,
            (pool(counts.locks.0) + pool(counts.locks.1)) * 1e3
        )
    });
    Claim::that("with an instance per thread and no foreign frees, no thread waits for another's size-class")
        .of("complexity")
        .papers("O(1): no n in the times of n-CF")
        .measured(words)
        .decide(
            counts.map(|counts| {
                counts.contended.0 <= pool(counts.locks.0) && counts.contended.1 <= pool(counts.locks.1)
            }),
            format!(
                "of mallocs, and of frees, no more acquisitions are contended than there are beside that of the call's own \
                 size-class: those of the common pool of pages; counted on as many threads as have a core each; not \
                 comparable with one core (here {cores})"
            ),
        )
}

/// Part (c) of the paper does not compact; full compaction stands beside it.
///
/// `alone` has an instance for each thread, `together` one for all [`SHARING`] of them. Raw
/// pointers share by lock-free mail, so locks alone would not see it.
fn sharing_decides(
    sharing: &[(Setup, Point)],
    alone: &Setup,
    together: &Setup,
    cores: usize,
) -> Claim {
    let corners = [(alone, 0), (together, 0), (alone, 50)]
        .map(|(setup, foreign)| find(sharing, setup, foreign));
    let [own, shared @ ..] = corners;
    let gains = shared.map(|shared| gain(own?, shared?));
    let more = shared.map(|shared| Some(writes_more(&shared?.counts, &own?.counts)));
    let words = corners.map(|point| or_not_measured(point.map(in_words)));
    let ratios = gains.map(or_not_measured);
    Claim::that(format!("{alone}: the level of sharing determines scalability"))
        .of("scalability (c)")
        .of("sharing degree")
        .of("question 2")
        .papers("stated in words")
        .ours(format!(
            "alone {}; {SHARING} threads per instance {}; 50 % foreign frees {}; throughput alone ÷ shared: {}, {}",
            words[0], words[1], words[2], ratios[0], ratios[1]
        ))
        .decide(
            both(gains.map(|gain| gain.and_then(Verdict::is_greater)))
                .filter(|_| cores > 1)
                .and_then(|is_slower| Some(is_slower && both(more)?)),
            format!(
                "both kinds of sharing are slower than none, in every round and by over 3 % in the median, and make more \
                 atomic read-modify-writes (two for a lock that was counted, one for an entry: by construction) or contended \
                 acquisitions, by more than counts vary; not comparable with one core (here {cores}); {}",
                untimed()
            ),
        )
}

/// The throughput of one point over that of another; `None` with too few rounds.
fn gain(own: &Point, shared: &Point) -> Option<Ratio> {
    timed_ratio(&own.per_second, &shared.per_second)
}

/// Whether both hold; one that fails decides.
fn both([one, other]: [Option<bool>; 2]) -> Option<bool> {
    match (one, other) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (one, other) => one.zip(other).map(|_| true),
    }
}

/// Whether a point writes more to lines that threads share, or meets more threads at locks.
fn writes_more(shared: &Counts, own: &Counts) -> bool {
    is_more(shared.rmw_total(), own.rmw_total())
        || is_more(shared.contended_total(), own.contended_total())
}

fn in_words(point: &Point) -> String {
    let counts = &point.counts;
    let millions = point.per_second.iter().map(|each| each / 1e6);
    let millions: Vec<_> = millions.collect();
    let median = surefit_measure::ratio::median(&millions);
    format!(
        "{} M/s, {:.2} read-modify-writes and {:.2} contended acquisitions in a thousand pairs",
        or_not_measured(median.map(|median| format!("{median:.2}"))),
        counts.rmw_each() * 1e3,
        counts.contended_each() * 1e3
    )
}

/// Whether one count is greater than another by more than twice what their difference varies by.
fn is_more(count: f64, than: f64) -> bool {
    count - than > 2.0 * (count + than).sqrt()
}

#[cfg(test)]
mod tests {
    use super::{
        Line, constant_factor, corners, does_not_scale, nobody_waits, scales, sharing_decides,
    };
    use crate::experiments::scalability::points::{lines, point, sharing};
    use crate::kit::Verdict;

    /// A line whose throughput on n threads is `one` times n to the power of `exponent`.
    fn line(one: f64, exponent: f64) -> Line {
        let mut line = lines().remove(2);
        for point in &mut line.points {
            point.per_second = [1.0, 1.1, 1.05]
                .map(|noise| noise * one * (point.threads as f64).powf(exponent))
                .to_vec();
        }
        line
    }

    #[test]
    fn verdicts_on_scaling_follow_the_figures() {
        let both = |own, raw, threads, cores| {
            let (own, raw) = (line(1e6, own), line(1e7, raw));
            let scales = scales(&own, &raw, "scalability (a)", threads, cores);
            [scales, does_not_scale(&own, &raw, threads, cores)].map(|claim| claim.verdict)
        };
        let (yes, no, none) = (Verdict::Holds, Verdict::DoesNot, Verdict::NotComparable);
        assert_eq!(both(0.99, 1.0, 2, 2), [yes, no]);
        assert_eq!(both(0.5, 1.0, 2, 2), [no, yes]);
        // a machine on which nothing scales
        assert_eq!(both(0.0, 0.0, 2, 2), [none, none]);
        // fewer cores than threads
        assert_eq!(both(0.5, 1.0, 8, 2), [none, none]);
        assert_eq!(both(0.5, 1.0, 8, 8), [no, yes]);
        let mut few = line(1e6, 0.5);
        few.points
            .iter_mut()
            .for_each(|point| point.per_second.truncate(2));
        let claim = scales(&few, &line(1e7, 1.0), "scalability (a)", 2, 2);
        assert_eq!(claim.verdict, none);
    }

    #[test]
    fn a_factor_is_constant_if_rounds_allow_one() {
        let verdict = |full, none, cores| constant_factor(&full, &none, "", cores).verdict;
        let holds = verdict(line(1e6, 1.0), line(2e6, 1.0), 8);
        assert_eq!(holds, Verdict::Holds);
        let grows = verdict(line(1e6, 0.2), line(2e6, 1.0), 8);
        assert_eq!(grows, Verdict::DoesNot);
        let slower = verdict(line(2e6, 1.0), line(1e6, 1.0), 8);
        assert_eq!(slower, Verdict::DoesNot);
        let alone = verdict(line(1e6, 1.0), line(2e6, 1.0), 1);
        assert_eq!(alone, Verdict::NotComparable);
    }

    #[test]
    fn a_wait_beyond_the_pool_is_one_for_another_thread() {
        let mut full = line(1e6, 1.0);
        assert_eq!(nobody_waits(&full, 2).verdict, Verdict::NotComparable);
        for point in &mut full.points {
            point.counts.calls = (1000, 1000);
            point.counts.locks = (1.02, 1.02);
            point.counts.contended = (0.01, 0.0);
        }
        assert_eq!(nobody_waits(&full, 2).verdict, Verdict::Holds);
        assert_eq!(nobody_waits(&full, 1).verdict, Verdict::NotComparable);
        full.points[1].counts.contended.1 = 0.03;
        assert_eq!(nobody_waits(&full, 2).verdict, Verdict::DoesNot);
    }

    /// The verdicts on all three systems: throughput, read-modify-writes and contended acquisitions
    /// of a pair where 8 threads are together, and where half of the frees are foreign. Alone they
    /// are 10 M/s, 2 and .001.
    fn on_sharing(together: (f64, f64, f64), foreign: (f64, f64, f64), cores: usize) -> Verdict {
        let mut all = sharing();
        for (setup, point) in &mut all {
            let (millions, rmw, contended) = match (point.foreign_percent, setup.to_string()) {
                (50, _) => foreign,
                (_, setup) if setup.contains("8 threads") || setup.ends_with("of 8") => together,
                _ => (10.0, 2.0, 0.001),
            };
            point.per_second = vec![millions * 1e6; 3];
            point.counts.calls = (10_000, 10_000);
            point.counts.rmw.0 = rmw;
            point.counts.contended.0 = contended;
        }
        let [one, other, raw] = corners()
            .map(|(alone, together)| sharing_decides(&all, &alone, &together, cores).verdict);
        assert_eq!((one, other), (other, raw));
        one
    }

    #[test]
    fn verdicts_on_sharing_follow_throughput_and_counts() {
        let (slow, level) = ((5.0, 2.0, 0.02), (10.0, 2.0, 0.02));
        assert_eq!(on_sharing(slow, slow, 2), Verdict::Holds);
        assert_eq!(on_sharing(slow, level, 2), Verdict::DoesNot);
        // slower, but nothing is shared: 12 are not more than 10
        assert_eq!(on_sharing(slow, (5.0, 2.0, 0.0012), 2), Verdict::DoesNot);
        assert_eq!(on_sharing(slow, slow, 1), Verdict::NotComparable);
        let [(alone, together), ..] = corners();
        let nothing = sharing_decides(&[], &alone, &together, 2);
        assert_eq!(nothing.verdict, Verdict::NotComparable);
        assert!(point(1, 0).per_second.is_empty());
    }

    /// As printed before: with half of the frees foreign the raw system went from 25.64 to 7.96 M/s
    /// without a contended lock, and "did not" depend on sharing: its foreign frees go by mail.
    #[test]
    fn sharing_by_mail_is_sharing() {
        let mailed = (10.0 * 7.96 / 25.64, 2.0 + 2.0 / 32.0, 0.001);
        assert_eq!(on_sharing((4.0, 6.0, 0.5), mailed, 2), Verdict::Holds);
    }
}
