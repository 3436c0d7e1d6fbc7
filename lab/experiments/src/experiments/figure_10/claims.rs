//! What the paper and the slides claim of throughput, preemption and execution over κ, beside what
//! was found.

use super::found::{EXECUTION_MS, Found, HUMMINGBIRD_AXIS, PREEMPTION_MS, REQUIRED_MB};
use super::sections::Longest;
use crate::kit::{Claim, OnProgram, Verdict};
use crate::shared::programs::{self, StandsFor};
use crate::shared::threads::figures::LEAST_ROUNDS;
use surefit_measure::ratio::or_not_measured;
use surefit_measure::results::Ratio;

/// The paper's gain on Hummingbird is at most the span of its axis; ours may be twice it.
const MOST_GAIN: f64 = 1.0 + 2.0 * (HUMMINGBIRD_AXIS.1 / HUMMINGBIRD_AXIS.0 - 1.0);

/// All claims, each over the programs that it is about.
pub(super) fn all(found: &[Found]) -> Vec<Claim> {
    let of = |kind: StandsFor| -> Vec<_> {
        let of_kind = found.iter().filter(|one| StandsFor::of(&one.name) == kind);
        of_kind.collect()
    };
    let every: Vec<_> = found.iter().collect();
    vec![
        fewer_moves(&every),
        rises(&of(StandsFor::Proxy)),
        does_not_improve(&of(StandsFor::Emacs)),
        required_throughput(&every),
        preemption(&every),
        execution(&every),
    ]
}

/// Whether times of a program can be compared with the paper's.
fn is_timed(found: &Found) -> bool {
    found.rounds as usize >= LEAST_ROUNDS && programs::is_large(found.live_bytes)
}

/// Why times are not comparable.
fn untimed() -> String {
    format!(
        "not comparable with fewer than {LEAST_ROUNDS} rounds, or with fewer bytes live than {}",
        programs::large_words()
    )
}

fn on(found: &Found, test: Option<bool>, ratio: Option<Ratio>, shown: String) -> OnProgram {
    OnProgram {
        name: found.name.clone(),
        test,
        ratio,
        shown,
    }
}

fn shown(ratio: Ratio) -> String {
    format!("{:.3} [{:.3}-{:.3}]", ratio.median, ratio.min, ratio.max)
}

fn fewer_moves(found: &[&Found]) -> Claim {
    let one = |found: &&Found| {
        let moves = found.kappas().map(|(_, row)| row.moves_per_free);
        let moves: Option<Vec<_>> = moves.collect();
        let words = moves.as_ref().map(|moves| {
            let words: Vec<_> = moves.iter().map(|moves| format!("{moves:.4}")).collect();
            words.join(", ")
        });
        let moves = moves.filter(|moves| moves.first().is_some_and(|first| *first > 0.0));
        let test = moves.map(|moves| {
            let ends = moves.first().zip(moves.last());
            moves.is_sorted_by(|a, b| a >= b) && ends.is_some_and(|(first, last)| first > last)
        });
        on(found, test, None, or_not_measured(words))
    };
    Claim::that("a greater κ compacts less")
        .of("figure 10")
        .papers("κ = 1 compacts fully, κ = ∞ not at all")
        .ours("moves per free, κ = 1, 3, … ∞")
        .over(
            found.iter().map(one).collect(),
            "moves per free never grow from one κ to the next, and are fewer for κ=∞ than for κ=1; not comparable if \
             nothing moves for κ=1",
        )
}

fn rises(found: &[&Found]) -> Claim {
    let one = |found: &&Found| {
        let ratio = found.kappas().last().and_then(|(_, row)| row.relative);
        let test = ratio.filter(|_| is_timed(found)).and_then(gains);
        on(found, test, ratio, or_not_measured(ratio.map(shown)))
    };
    Claim::that("a greater κ allows more throughput on Hummingbird")
        .of("figure 10")
        .papers("186 k to 204 k allocations/s: at most 1.10 x")
        .ours("κ=∞ ÷ κ=1")
        .over(
            found.iter().map(one).collect(),
            format!(
                "κ=∞ is faster than κ=1, by over 3 % in the median and in every round, and in every round by at most \
                 twice what the paper's axis spans: {MOST_GAIN:.2} x; if rounds disagree, the clock decides nothing; {}",
                untimed()
            ),
        )
}

/// Whether there is a gain, and one like the paper's; `None` if rounds disagree.
fn gains(ratio: Ratio) -> Option<bool> {
    match Verdict::is_greater(ratio) {
        Some(true) if ratio.max <= MOST_GAIN => Some(true),
        Some(true) if ratio.min > MOST_GAIN => Some(false),
        Some(true) | None => None,
        Some(false) => Some(false),
    }
}

fn does_not_improve(found: &[&Found]) -> Claim {
    let one = |found: &&Found| {
        let of_kappa: Option<Vec<_>> = found
            .kappas()
            .map(|(label, row)| Some((label, row.relative?)))
            .collect();
        let best = of_kappa.as_ref().and_then(|all| {
            let best = all.iter().max_by(|a, b| a.1.median.total_cmp(&b.1.median));
            best.copied()
        });
        let test = of_kappa.filter(|_| is_timed(found)).and_then(|all| {
            let tests: Vec<_> = all
                .iter()
                .map(|(_, ratio)| Verdict::is_greater(*ratio))
                .collect();
            let improves = tests.contains(&Some(true));
            (improves || !tests.contains(&None)).then_some(!improves)
        });
        let words = best.map(|(label, ratio)| format!("{} at {label}", shown(ratio)));
        on(
            found,
            test,
            best.map(|(_, ratio)| ratio),
            or_not_measured(words),
        )
    };
    Claim::that("throughput does not improve with κ on Emacs")
        .of("figure 10")
        .papers("370 k to 420 k allocations/s, no trend")
        .ours("the best κ ÷ κ=1")
        .over(
            found.iter().map(one).collect(),
            format!(
                "no κ is faster than κ=1 by over 3 % in the median; if a round disagrees, the clock decides nothing; {}",
                untimed()
            ),
        )
}

fn required_throughput(found: &[&Found]) -> Claim {
    let one = |found: &&Found| {
        let mb: Option<Vec<_>> = found.kappas().map(|(_, row)| row.mb_per_second).collect();
        let slowest = mb.and_then(|all| all.into_iter().min_by(|a, b| a.min.total_cmp(&b.min)));
        let test = slowest
            .filter(|_| is_timed(found))
            .and_then(|slowest| Verdict::reaches(slowest, REQUIRED_MB));
        let words = slowest.map(|slowest| format!("{:.0} MB/s", slowest.median));
        on(found, test, None, or_not_measured(words))
    };
    Claim::that("every κ allocates and frees what the slides require in a second")
        .of("requirements")
        .papers(format!("{REQUIRED_MB} MB/s, an example"))
        .ours("the slowest κ")
        .over(
            found.iter().map(one).collect(),
            format!("every round of the slowest κ reaches it; {}", untimed()),
        )
}

/// Whether the longest of every κ keeps to so many milliseconds, and what it takes.
fn within(found: &Found, most_ms: f64, of: impl Fn(usize) -> Longest) -> OnProgram {
    let all: Vec<_> = (0..found.longest.len()).map(of).collect();
    let ns = all.iter().map(|longest| longest.ns).max();
    let ms = ns.map(|ns| ns as f64 / 1e6);
    let test = ms.filter(|_| is_timed(found)).map(|ms| ms <= most_ms);
    let bytes = all.iter().map(|longest| longest.bytes).max().unwrap_or(0);
    let instructions = all.iter().filter_map(|longest| longest.instructions).max();
    let instructions = instructions.map_or_else(
        || "instructions not counted".to_owned(),
        |count| format!("{count} instructions"),
    );
    let words = ms.map(|ms| format!("{ms:.3} ms, {bytes} B copied, {instructions}"));
    on(found, test, None, or_not_measured(words))
}

const REPEATED: &str = "of every one the least time over the rounds, of these the greatest";

fn preemption(found: &[&Found]) -> Claim {
    let one = |found: &&Found| within(found, PREEMPTION_MS, |at| found.longest[at].section);
    Claim::that("every κ leaves a thread preemptible as soon as the slides require")
        .of("requirements")
        .papers(format!("preemption time {PREEMPTION_MS} ms, an example"))
        .ours("the longest section under a lock of 1-CF, over all κ")
        .over(
            found.iter().map(one).collect(),
            format!("{REPEATED}, is at most that long; {}", untimed()),
        )
}

fn execution(found: &[&Found]) -> Claim {
    let one = |found: &&Found| within(found, EXECUTION_MS, |at| found.longest[at].call);
    Claim::that("every call ends as soon as the slides require, for every κ")
        .of("requirements")
        .papers(format!("execution time {EXECUTION_MS} ms, an example"))
        .ours("the longest call of 1-CF, over all κ")
        .over(
            found.iter().map(one).collect(),
            format!("{REPEATED}, is at most that long; {}", untimed()),
        )
}

#[cfg(test)]
mod tests {
    use super::super::found::{Found, Row};
    use super::super::sections::{Longest, Sections};
    use super::{MOST_GAIN, all, gains};
    use crate::kit::Verdict;
    use crate::shared::settings::SETTINGS;
    use surefit_measure::results::Ratio;

    fn level(median: f64) -> Ratio {
        Ratio {
            median,
            min: median - 0.01,
            max: median + 0.01,
        }
    }

    /// A large program whose throughput and moves are functions of the place of the bound, and
    /// whose sections take so many microseconds.
    fn found(
        name: &str,
        relative: impl Fn(usize) -> f64,
        moves: impl Fn(usize) -> f64,
        us: u64,
    ) -> Found {
        let row = |at| Row {
            moves_per_free: Some(moves(at)),
            bytes_per_free: None,
            per_second: None,
            mb_per_second: Some(level(relative(at) * 20.0)),
            relative: Some(level(relative(at))),
        };
        let longest = Longest {
            bytes: 4096,
            ns: us * 1000,
            instructions: Some(900),
        };
        let sections = Sections {
            section: longest,
            call: longest,
        };
        Found {
            name: name.to_owned(),
            live_bytes: 200_000_000,
            rounds: 3,
            rows: (0..SETTINGS.len()).map(row).collect(),
            longest: vec![sections; 8],
        }
    }

    /// The verdicts on moves, a gain, no gain, throughput, preemption, execution.
    fn verdicts(found: impl Fn(&str) -> Found) -> Vec<Verdict> {
        let claims = all(&[found("emacs"), found("varnish")]);
        claims.iter().map(|claim| claim.verdict).collect()
    }

    #[test]
    fn verdicts_follow_the_figures() {
        let (holds, does_not) = (Verdict::Holds, Verdict::DoesNot);
        let fewer = |at: usize| 1.0 / (1.0 + at as f64);
        let rising = verdicts(|name| found(name, |at| 1.0 + at as f64 / 70.0, fewer, 10));
        assert_eq!(rising, [holds, holds, does_not, holds, holds, holds]);
        let flat = verdicts(|name| found(name, |_| 1.0, |_| 0.5, 200));
        assert_eq!(flat, [does_not, does_not, holds, holds, does_not, holds]);
        let slow = verdicts(|name| found(name, |_| 0.4, |at| at as f64 + 1.0, 2000));
        let expected = [does_not, does_not, holds, does_not, does_not, does_not];
        assert_eq!(slow, expected);
    }

    #[test]
    fn a_gain_unlike_the_papers_is_none() {
        assert!((MOST_GAIN - 1.1935).abs() < 1e-3, "{MOST_GAIN}");
        assert_eq!(gains(level(1.1)), Some(true));
        assert_eq!(gains(level(2.9)), Some(false));
        assert_eq!(gains(level(1.0)), Some(false));
        assert_eq!(gains(level(1.2)), None);
    }

    #[test]
    fn small_programs_and_few_rounds_decide_nothing_about_times() {
        let large = |name: &str| found(name, |_| 1.0, |at| 1.0 / (1.0 + at as f64), 10);
        let none = [Verdict::NotComparable; 5];
        for verdicts in [
            verdicts(|name| Found {
                live_bytes: 1_000_000,
                ..large(name)
            }),
            verdicts(|name| Found {
                rounds: 2,
                ..large(name)
            }),
        ] {
            assert_eq!(verdicts[0], Verdict::Holds);
            assert_eq!(verdicts[1..], none);
        }
        let unmoved = verdicts(|name| found(name, |_| 1.0, |_| 0.0, 10));
        assert_eq!(unmoved[0], Verdict::NotComparable);
        assert!(
            all(&[])
                .iter()
                .all(|claim| claim.verdict == Verdict::NotComparable)
        );
    }
}
