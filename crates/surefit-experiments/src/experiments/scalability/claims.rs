//! What the papers claim of scalability, beside what was timed and counted.

use super::points::{Line, Point, THREADS, TWO_THREADS, find, reaches, speedup};
use crate::kit::{Claim, Report, Verdict};
use crate::shared::threads::figures::{cores, ratio};
use crate::shared::threads::heaps::{Scheme, Setup};

/// Adds all claims.
pub(super) fn add_claims(report: &mut Report, lines: &[Line], sharing: &[(Setup, Point)]) {
    let cores = cores();
    let line = |scheme, kappa| {
        let is_it = |line: &&Line| line.setup.scheme == scheme && line.setup.kappa == kappa;
        lines.iter().find(is_it)
    };
    for kappa in [Some(1), None] {
        report
            .claims
            .extend(line(Scheme::Instances(1), kappa).map(|line| scales(line, cores)));
    }
    let full = line(Scheme::Instances(1), Some(1));
    let locks = line(Scheme::OneClassLocks, Some(1)).zip(full);
    report
        .claims
        .extend(locks.map(|(locks, full)| does_not_scale(locks, full, cores)));
    let none = line(Scheme::Instances(1), None);
    report.claims.extend(
        full.zip(none)
            .map(|(full, none)| constant_factor(full, none)),
    );
    report.claims.push(nobody_waits(sharing));
    report.claims.push(sharing_decides(sharing));
}

fn scales(line: &Line, cores: usize) -> Claim {
    let two = speedup(line, 2).filter(|_| cores >= 2);
    Claim::that(format!("{} scales", line.setup))
        .papers("n-CF scales (stated in words)")
        .ours(two.map_or_else(
            || "one core".to_owned(),
            |two| format!("two threads ÷ one: {}", two),
        ))
        .decide(
            two.and_then(reaches),
            format!(
                "two threads reach {TWO_THREADS} x one in the median of the rounds; not \
                 comparable if only some rounds do"
            ),
        )
}

fn does_not_scale(line: &Line, sharded: &Line, cores: usize) -> Claim {
    let pair = speedup(line, 2)
        .zip(speedup(sharded, 2))
        .filter(|_| cores >= 2);
    let behind = pair.map(|(two, of_sharded)| {
        let factors = |line: &Line| -> Vec<f64> {
            let of = |threads| line.points.iter().find(|point| point.threads == threads);
            let pairs = of(2).zip(of(1)).into_iter();
            pairs
                .flat_map(|(two, one)| {
                    two.per_second
                        .iter()
                        .zip(&one.per_second)
                        .map(|(two, one)| two / one)
                })
                .collect()
        };
        (two, of_sharded, ratio(&factors(sharded), &factors(line)))
    });
    let last = THREADS[THREADS.len() - 1];
    let contended = line.points.last().map_or(0.0, |point| {
        (point.counts.contended.0 + point.counts.contended.1) * 1e3
    });
    Claim::that("global size-class locks do not scale")
        .papers("stated in words")
        .ours(behind.map_or_else(
            || "one core".to_owned(),
            |(two, of_sharded, _)| {
                format!(
                    "two threads ÷ one: {}, of n-CF {}; {contended:.1} contended \
                     acquisitions in a thousand pairs on {last} threads",
                    two, of_sharded
                )
            },
        ))
        .decide(
            behind.and_then(|(two, _, ratio)| {
                if two.median < TWO_THREADS {
                    Verdict::is_greater(ratio)
                } else {
                    Some(false)
                }
            }),
            format!(
                "two threads stay below {TWO_THREADS} x one, and below those of n-CF in \
                 every round and by over 3 % in the median"
            ),
        )
}

fn constant_factor(full: &Line, none: &Line) -> Claim {
    // beyond the cores times tell how threads take turns
    let cores = cores().max(2);
    let factors = full.points.iter().zip(&none.points);
    let factors = factors.filter(|(full, _)| full.threads <= cores && !full.per_second.is_empty());
    let factors: Vec<_> = factors
        .map(|(full, none)| ratio(&none.per_second, &full.per_second).median)
        .collect();
    let words: Vec<_> = factors
        .iter()
        .map(|factor| format!("{factor:.2}"))
        .collect();
    let least = factors.iter().copied().fold(f64::INFINITY, f64::min);
    let most = factors.iter().copied().fold(0.0, f64::max);
    Claim::that("full compaction costs n-CF a constant factor")
        .papers("no compaction is better by a constant")
        .ours(format!(
            "κ=∞ ÷ κ=1 on 1 to {cores} threads: {}",
            words.join(", ")
        ))
        .decide(
            (!factors.is_empty()).then_some(least >= 1.0 && most <= 1.5 * least),
            "the factor is at least 1, and from the least to the greatest differs by \
             half at most",
        )
}

fn nobody_waits(sharing: &[(Setup, Point)]) -> Claim {
    let alone: Vec<_> = [Some(1), None]
        .iter()
        .filter_map(|kappa| find(sharing, *kappa, 1, 0))
        .collect();
    // the pool of pages is shared by all instances, so a few acquisitions may be contended
    let most = alone
        .iter()
        .map(|point| point.counts.contended.0.max(point.counts.contended.1))
        .fold(0.0, f64::max);
    Claim::that(
        "with an instance a thread and no foreign frees, no thread waits for \
         another",
    )
    .papers("O(1): no n in the times of n-CF")
    .ours(format!(
        "{:.2} contended acquisitions in a thousand calls, at most",
        most * 1e3
    ))
    .decide(
        (!alone.is_empty()).then_some(most <= 0.001),
        "counted on 8 threads: at most one call in a thousand, which meets the \
         pool of pages",
    )
}

fn sharing_decides(sharing: &[(Setup, Point)]) -> Claim {
    let contended = |each, foreign| {
        let point = find(sharing, Some(1), each, foreign)?;
        Some(point.counts.contended.0 + point.counts.contended.1)
    };
    let corners = [(1, 0), (8, 0), (1, 50)].map(|(each, foreign)| contended(each, foreign));
    let test = match corners {
        [Some(alone), Some(together), Some(foreign)] => Some(together > alone && foreign > alone),
        _ => None,
    };
    let words = corners.map(|corner| {
        corner.map_or_else(|| "-".to_owned(), |corner| format!("{:.2}", corner * 1e3))
    });
    Claim::that("the level of sharing determines scalability")
        .papers("stated in words")
        .ours(format!(
            "contended acquisitions in a thousand pairs, κ = 1: {} alone, {} with 8 \
             threads per instance, {} with 50 % foreign frees",
            words[0], words[1], words[2]
        ))
        .decide(
            test,
            "both kinds of sharing make more acquisitions contended than none",
        )
}

#[cfg(test)]
mod tests {
    use super::{Line, constant_factor, does_not_scale, nobody_waits, scales, sharing_decides};
    use crate::experiments::scalability::points::{lines, point, sharing};
    use crate::kit::Verdict;

    /// A line whose throughput on n threads is `one` times n to the power of `exponent`.
    fn line(one: f64, exponent: f64) -> Line {
        let mut line = lines().remove(0);
        for point in &mut line.points {
            point.per_second = [1.0, 1.1]
                .map(|noise| noise * one * (point.threads as f64).powf(exponent))
                .to_vec();
        }
        line
    }

    #[test]
    fn verdicts_on_scaling_follow_the_figures() {
        assert_eq!(scales(&line(1e6, 1.0), 2).verdict, Verdict::Holds);
        assert_eq!(scales(&line(1e6, 0.5), 2).verdict, Verdict::DoesNot);
        assert_eq!(scales(&line(1e6, 0.5), 1).verdict, Verdict::NotComparable);
        let locks =
            |locks, sharded| does_not_scale(&line(1e6, locks), &line(1e6, sharded), 2).verdict;
        assert_eq!(locks(0.5, 1.0), Verdict::Holds);
        assert_eq!(locks(1.0, 1.0), Verdict::DoesNot);
        assert_eq!(locks(0.5, 0.5), Verdict::DoesNot);
        assert_eq!(
            constant_factor(&line(1e6, 1.0), &line(2e6, 1.0)).verdict,
            Verdict::Holds
        );
        assert_eq!(
            constant_factor(&line(1e6, 0.2), &line(2e6, 1.0)).verdict,
            Verdict::DoesNot
        );
        assert_eq!(
            constant_factor(&line(2e6, 1.0), &line(1e6, 1.0)).verdict,
            Verdict::DoesNot
        );
    }

    #[test]
    fn verdicts_on_sharing_follow_the_counts() {
        let mut all = sharing();
        assert_eq!(nobody_waits(&all).verdict, Verdict::Holds);
        assert_eq!(sharing_decides(&all).verdict, Verdict::DoesNot);
        for (_, point) in &mut all {
            point.counts.contended.0 = f64::from(point.foreign_percent) + 0.01;
        }
        assert_eq!(nobody_waits(&all).verdict, Verdict::DoesNot);
        assert_eq!(nobody_waits(&[]).verdict, Verdict::NotComparable);
        assert!(point(1, 0).per_second.is_empty());
    }
}
