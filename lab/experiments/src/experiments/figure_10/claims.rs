//! What the paper and the slides claim of throughput, preemption and execution over κ, beside what
//! was found.

use super::found::{EXECUTION_MS, Found, PREEMPTION_MS, REQUIRED_MB};
use super::sections::Longest;
use crate::kit::{Claim, OnProgram, Verdict};
use crate::shared::programs::{self, StandsFor};
use crate::shared::threads::figures::LEAST_ROUNDS;
use surefit_measure::ratio::or_not_measured;
use surefit_measure::results::Ratio;

/// The processor that the slides fly: a Gumstix with an XScale of 600 MHz.
const CYCLES_IN_A_MS: f64 = 600_000.0;

/// What an instruction takes there at most, and a byte that is read at one place and written at
/// another: chosen amply, for caches that hold nothing.
const CYCLES_AN_INSTRUCTION: f64 = 4.0;
const CYCLES_A_BYTE: f64 = 4.0;

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
        let test = ratio.filter(|_| is_timed(found));
        let test = test.and_then(Verdict::is_greater);
        on(found, test, ratio, or_not_measured(ratio.map(shown)))
    };
    Claim::that("a greater κ allows more throughput on Hummingbird")
        .of("figure 10")
        .papers("larger κ allow more; its axis spans 186 k to 204 k allocations/s: 1.10 x")
        .ours("κ=∞ ÷ κ=1")
        .over(
            found.iter().map(one).collect(),
            format!(
                "κ=∞ is faster than κ=1, by over 3 % in the median and in every round, however much; if rounds disagree, \
                 the clock decides nothing; {}",
                untimed()
            ),
        )
}

/// The ratio that decides whether any is greater than 1: the best that certainly is; without one,
/// the best of those that may be; else the best.
fn decides(all: &[(&'static str, Ratio)]) -> Option<(&'static str, Ratio)> {
    let rank = |ratio: Ratio| match Verdict::is_greater(ratio) {
        Some(true) => 2,
        None => 1,
        Some(false) => 0,
    };
    let of = |(_, ratio): &(_, Ratio)| (rank(*ratio), ratio.median);
    let best = all.iter().max_by(|one, other| {
        let (one, other) = (of(one), of(other));
        one.0.cmp(&other.0).then(one.1.total_cmp(&other.1))
    });
    best.copied()
}

fn does_not_improve(found: &[&Found]) -> Claim {
    let one = |found: &&Found| {
        let of_kappa: Option<Vec<_>> = found
            .kappas()
            .map(|(label, row)| Some((label, row.relative?)))
            .collect();
        let decides = of_kappa.as_ref().and_then(|all| decides(all));
        let test = of_kappa.filter(|_| is_timed(found)).and_then(|all| {
            let tests = all.iter().map(|(_, ratio)| Verdict::is_greater(*ratio));
            Verdict::any_of(tests).map(|improves| !improves)
        });
        let words = decides.map(|(label, ratio)| format!("{} at {label}", shown(ratio)));
        on(
            found,
            test,
            decides.map(|(_, ratio)| ratio),
            or_not_measured(words),
        )
    };
    Claim::that("throughput does not improve with κ on Emacs")
        .of("figure 10")
        .papers("370 k to 420 k allocations/s, no trend")
        .ours("the κ that decides ÷ κ=1")
        .over(
            found.iter().map(one).collect(),
            format!(
                "no κ is faster than κ=1 by over 3 % in any round; it fails if one is in the median, and faster in every \
                 round; else the clock decides nothing; {}",
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

/// Milliseconds of the slides' processor for so many instructions, and bytes copied among them.
fn target_ms(instructions: u64, bytes: u64) -> f64 {
    let cycles = CYCLES_AN_INSTRUCTION * instructions as f64 + CYCLES_A_BYTE * bytes as f64;
    cycles / CYCLES_IN_A_MS
}

/// Whether the longest of every κ keeps to so many milliseconds of the slides' processor, what it
/// does, and the time here beside it.
fn within(found: &Found, most_ms: f64, of: impl Fn(usize) -> Longest) -> OnProgram {
    let all: Vec<_> = (0..found.longest.len()).map(of).collect();
    let bytes = all.iter().map(|longest| longest.bytes).max().unwrap_or(0);
    let instructions = all.iter().filter_map(|longest| longest.instructions).max();
    let ms = instructions.map(|instructions| target_ms(instructions, bytes));
    let is_large = programs::is_large(found.live_bytes);
    let test = ms.filter(|_| is_large).map(|ms| ms <= most_ms);
    let here = all.iter().map(|longest| longest.ns).max();
    let here = or_not_measured(here.map(|ns| format!("{:.3} ms", ns as f64 / 1e6)));
    let words = instructions.zip(ms).map_or_else(
        || format!("instructions not counted, {bytes} B copied; here {here}"),
        |(count, ms)| {
            format!("{count} instructions, {bytes} B copied: {ms:.3} ms there; here {here}")
        },
    );
    on(found, test, None, words)
}

/// The rule for sections and calls.
fn counted_rule() -> String {
    format!(
        "the most instructions, counted with κ=1 in the calls that are likely to have most, and the most bytes copied with \
         any κ, take at most that long at 600 MHz, as the slides' processor has; {CYCLES_AN_INSTRUCTION} cycles for an \
         instruction and {CYCLES_A_BYTE} for a byte are chosen here; the time here decides nothing: an \
         interrupt may have been in it in every round; not comparable without valgrind, or with fewer bytes live than {}",
        programs::large_words()
    )
}

fn preemption(found: &[&Found]) -> Claim {
    let one = |found: &&Found| within(found, PREEMPTION_MS, |at| found.longest[at].section);
    Claim::that("every κ leaves a thread preemptible as soon as the slides require")
        .of("requirements")
        .papers(format!("preemption time {PREEMPTION_MS} ms, an example"))
        .ours("the longest section under a lock of 1-CF: bytes over all κ, instructions with κ=1")
        .over(found.iter().map(one).collect(), counted_rule())
}

fn execution(found: &[&Found]) -> Claim {
    let one = |found: &&Found| within(found, EXECUTION_MS, |at| found.longest[at].call);
    Claim::that("every call ends as soon as the slides require, for every κ")
        .of("requirements")
        .papers(format!("execution time {EXECUTION_MS} ms, an example"))
        .ours("the longest call of 1-CF: bytes over all κ, instructions with κ=1")
        .over(found.iter().map(one).collect(), counted_rule())
}

#[cfg(test)]
mod tests {
    use super::super::found::{Found, Row};
    use super::super::sections::{Longest, Sections};
    use super::{all, target_ms};
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
    /// whose sections and calls take so many instructions.
    fn found(
        name: &str,
        relative: impl Fn(usize) -> f64,
        moves: impl Fn(usize) -> f64,
        instructions: u64,
    ) -> Found {
        let row = |at| Row {
            moves_per_free: Some(moves(at)),
            bytes_per_free: None,
            per_second: Some(level(relative(at) * 1e6)),
            mb_per_second: Some(level(relative(at) * 20.0)),
            relative: Some(level(relative(at))),
        };
        let longest = Longest {
            bytes: 4096,
            ns: 9_000_000,
            instructions: Some(instructions),
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
        let rising = verdicts(|name| found(name, |at| 1.0 + at as f64 / 70.0, fewer, 900));
        assert_eq!(rising, [holds, holds, does_not, holds, holds, holds]);
        let flat = verdicts(|name| found(name, |_| 1.0, |_| 0.5, 50_000));
        assert_eq!(flat, [does_not, does_not, holds, holds, does_not, holds]);
        let slow = verdicts(|name| found(name, |_| 0.4, |at| at as f64 + 1.0, 500_000));
        let expected = [does_not, does_not, holds, does_not, does_not, does_not];
        assert_eq!(slow, expected);
    }

    /// As printed before: κ=∞ allows 4.40 times as much, and the longest call has 7,236
    /// instructions that copy 15,568 B, beside a time of 8.57 ms. Both were judged "does not".
    #[test]
    fn a_greater_gain_is_a_gain_and_an_interrupt_is_no_call() {
        let gain = Ratio {
            median: 4.402,
            min: 3.901,
            max: 6.078,
        };
        let mut printed = found("varnish", |_| 1.0, |_| 0.5, 900);
        printed.rows[7].relative = Some(gain);
        for sections in &mut printed.longest {
            sections.call = Longest {
                bytes: 15_568,
                ns: 8_570_000,
                instructions: Some(7236),
            };
        }
        let claims = all(&[printed]);
        assert_eq!(claims[1].verdict, Verdict::Holds, "{:?}", claims[1]);
        assert_eq!(claims[5].verdict, Verdict::Holds, "{:?}", claims[5]);
        assert!((target_ms(7236, 15_568) - 0.152).abs() < 1e-3);
        assert!(claims[5].ours.contains("here 8.570 ms"), "{:?}", claims[5]);
    }

    #[test]
    fn what_was_not_counted_decides_no_section() {
        let mut uncounted = found("varnish", |_| 1.0, |_| 0.5, 900);
        for sections in &mut uncounted.longest {
            sections.section.instructions = None;
            sections.call.instructions = None;
        }
        let claims = all(&[uncounted]);
        assert_eq!(claims[4].verdict, Verdict::NotComparable);
        assert_eq!(claims[5].verdict, Verdict::NotComparable);
    }

    #[test]
    fn small_programs_and_few_rounds_decide_nothing_about_times() {
        let large = |name: &str| found(name, |_| 1.0, |at| 1.0 / (1.0 + at as f64), 900);
        let (holds, none) = (Verdict::Holds, Verdict::NotComparable);
        let small = verdicts(|name| Found {
            live_bytes: 1_000_000,
            ..large(name)
        });
        assert_eq!(small, [holds, none, none, none, none, none]);
        let few = verdicts(|name| Found {
            rounds: 2,
            ..large(name)
        });
        assert_eq!(
            few,
            [holds, none, none, none, holds, holds],
            "counts need no rounds"
        );
        let unmoved = verdicts(|name| found(name, |_| 1.0, |_| 0.0, 900));
        assert_eq!(unmoved[0], Verdict::NotComparable);
        assert!(
            all(&[])
                .iter()
                .all(|claim| claim.verdict == Verdict::NotComparable)
        );
    }
}
