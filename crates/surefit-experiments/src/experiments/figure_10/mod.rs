//! `surefit experiment figure-10`: allocation throughput against κ and against the hole bound.
//!
//! ```text
//! per trace, per round:  κ=1, κ=3, … κ=∞, original order, hole bounds     one replay each, interleaved
//! throughput             10⁹ ÷ nanoseconds of an allocation and its free
//! relative               κ=1's time ÷ this one's, taken inside the round; median and spread over the rounds
//! ```
//! Moves and bytes are counted in a pass of their own and are exact. That pass does not write the
//! objects: `bounds` and `compare` do, and verify every byte.
//!
//! # Source
//! Craciunas et al. (2008), figure 10: allocations per second against κ; only the ranges of its
//! axes are known here.

use anyhow::Result;

use crate::kit::{Axis, Claim, Entry, Plot, Report, Request, Series, Table, Verdict};
use crate::shared::programs::{self, StandsFor};
use crate::shared::settings::{Family, SETTINGS, kappa_ticks, of_family, specs};
use surefit_measure::passes::percentiles;
use surefit_measure::progress::Progress;
use surefit_measure::ratio::or_not_measured;
use surefit_measure::results::Ratio;
use surefit_measure::rounds::{self, Measured, Plan};
use surefit_measure::single::Setting;
use surefit_measure::sizes::{HeapSize, Size};
use surefit_measure::source::Source;

/// This experiment.
pub(crate) const ENTRY: Entry = Entry {
    name: "figure-10",
    about: "Allocation throughput against κ and against the hole bound",
    takes_traces: true,
    takes_rounds: true,
    run,
};

fn run(request: &Request) -> Result<Report> {
    let plan = plan(request);
    let names = programs::names(request, &programs::PAPERS);
    let specs = specs()?;
    let progress = Progress::new(plan.progress_steps() * (specs.len() * names.len()) as u64);
    let source = "Craciunas et al. (2008), figure 10";
    let mut report = Report::new(ENTRY.name, ENTRY.about, source, request.quick);
    report.setting.push(format!(
        "{} interleaved rounds, heap {}; relative throughput is taken inside each round.",
        plan.rounds, plan.setting.heap
    ));
    for name in &names {
        let program = programs::load(name, request.quick)?;
        let measured = rounds::measure(&program, &specs, 0, plan, &progress)?;
        add_program(&mut report, &program, &measured);
    }
    progress.finish();
    report.notes.push(
        "Throughput counts an allocation with its free and its first write, less an empty replay. The paper's allocations \
         per second hold on its own machine and traces: only their course over κ is compared. Objects over \
         4 KiB are in pieces, so that a free may move several page-blocks."
            .to_owned(),
    );
    Ok(report)
}

fn plan(request: &Request) -> Plan {
    Plan {
        setting: Setting {
            heap: HeapSize::DEFAULT,
            touch: false,
        },
        rounds: request.rounds_or(7),
        access_rounds: 0,
        percentiles: false,
        min_heap: false,
        instructions: false,
        clock_ns: percentiles::clock_ns(),
        brief: None,
    }
}

fn add_program(report: &mut Report, program: &Source, measured: &[Measured]) {
    let rows: Vec<_> = measured.iter().map(Row::of).collect();
    let name = &program.steps.name;
    let live = Size(program.steps.peak_live_bytes);
    report
        .tables
        .push(table(&format!("{name}, {live} live"), &rows));
    report.plots.push(plot(name, &rows));
    report.claims.push(fewer_moves(name, &rows));
    match StandsFor::of(name) {
        StandsFor::Proxy => report.claims.push(rises(name, &rows)),
        StandsFor::Emacs => report.claims.push(does_not_improve(name, &rows)),
        StandsFor::Neither => {}
    }
}

/// One bound on one trace.
#[derive(Clone, Copy, Debug)]
struct Row {
    moves_per_free: Option<f64>,
    bytes_per_free: Option<f64>,
    per_second: Option<f64>,
    /// To κ = 1.
    relative: Option<Ratio>,
}

impl Row {
    fn of(measured: &Measured) -> Self {
        let result = &measured.result;
        let per_free =
            |total: Option<u64>| total.map(|total| total as f64 / result.frees.max(1) as f64);
        Self {
            moves_per_free: per_free(result.moves_total),
            bytes_per_free: per_free(result.moved_bytes_total),
            per_second: result.pair_ns_mean.map(|pair| 1e9 / pair),
            // of times: the greatest ratio is the least throughput
            relative: result.ratio_to_baseline.map(Ratio::inverse),
        }
    }
}

fn table(title: &str, rows: &[Row]) -> Table {
    Table::of(title, rows.iter().zip(SETTINGS))
        .text("bound", |(_, setting)| setting.label)
        .figure("moves/free", 4, |(row, _)| row.moves_per_free)
        .figure("B/free", 1, |(row, _)| row.bytes_per_free)
        .figure("k allocations/s", 0, |(row, _)| {
            row.per_second.map(|count| count / 1e3)
        })
        .ratios("÷ κ=1", 3, |(row, _)| row.relative)
        .table()
}

/// κ as one line with its spread; every hole bound as a level, since it has no place on the axis of
/// κ.
fn plot(name: &str, rows: &[Row]) -> Plot {
    let places = kappa_ticks().count();
    let median = |at: usize| rows[at].relative.map_or(f64::NAN, |ratio| ratio.median);
    let mut kappa = Series::new("κ", Vec::new());
    for (place, (at, _)) in of_family(Family::Pages).enumerate() {
        kappa.points.push((place as f64, median(at)));
        let spread = rows[at]
            .relative
            .map_or((f64::NAN, f64::NAN), |ratio| (ratio.min, ratio.max));
        kappa.spread.push(spread);
    }
    let levels = of_family(Family::Holes).map(|(at, setting)| {
        let ends = [0.0, places as f64 - 1.0].map(|place| (place, median(at)));
        Series::new(setting.label, ends)
    });
    Plot {
        title: format!("{name}: throughput ÷ that of κ=1"),
        x: Axis::named("κ", kappa_ticks()),
        y: Axis::new("relative throughput"),
        series: std::iter::once(kappa).chain(levels).collect(),
    }
}

// ---- claims
// --------------------------------------------------------------------------------------------------------------

fn fewer_moves(name: &str, rows: &[Row]) -> Claim {
    let moves: Option<Vec<_>> = of_family(Family::Pages)
        .map(|(at, _)| rows[at].moves_per_free)
        .collect();
    let ours = or_not_measured(moves.as_ref().map(|moves| {
        let shown: Vec<_> = moves.iter().map(|moves| format!("{moves:.4}")).collect();
        format!("moves per free {}", shown.join(", "))
    }));
    Claim::that(format!("{name}: a greater κ compacts less"))
        .papers("stated in words")
        .ours(ours)
        .decide(
            moves.map(|moves| moves.is_sorted_by(|a, b| a >= b)),
            "moves per free never grow from one κ to the next",
        )
}

fn shown(ratio: Ratio) -> String {
    format!("{:.3} [{:.3}-{:.3}]", ratio.median, ratio.min, ratio.max)
}

/// The relative throughput at κ = 25, the last finite one.
fn at_25(rows: &[Row]) -> Option<Ratio> {
    let (at, _) = of_family(Family::Pages).find(|(_, setting)| setting.label == "κ=25")?;
    rows[at].relative
}

fn rises(name: &str, rows: &[Row]) -> Claim {
    let ratio = at_25(rows);
    Claim::that(format!("{name}: throughput rises with κ (Hummingbird)"))
        .papers("186 k to 204 k allocations/s: at most 1.10 x")
        .measured(ratio.map(|ratio| format!("κ=25 ÷ κ=1: {}", shown(ratio))))
        .decide(
            ratio.and_then(Verdict::is_greater),
            "κ=25 is faster than κ=1 by over 3 % in the median; if a round \
             disagrees, the clock decides nothing",
        )
}

fn does_not_improve(name: &str, rows: &[Row]) -> Claim {
    let of_kappa = of_family(Family::Pages)
        .filter_map(|(at, setting)| Some((setting.label, rows[at].relative?)));
    let best = of_kappa.max_by(|a, b| a.1.median.total_cmp(&b.1.median));
    Claim::that(format!(
        "{name}: throughput does not improve with κ (Emacs)"
    ))
    .papers("370 k to 420 k allocations/s, no trend")
    .measured(best.map(|(label, ratio)| format!("the best is {label}: {} x κ=1", shown(ratio))))
    .decide(
        best.and_then(|(_, ratio)| Some(!Verdict::is_greater(ratio)?)),
        "no κ is faster than κ=1 by over 3 % in the median; if a round \
         disagrees, the clock decides nothing",
    )
}

#[cfg(test)]
mod tests {
    use super::{Row, does_not_improve, fewer_moves, rises};
    use crate::kit::Verdict;
    use crate::shared::settings::SETTINGS;
    use surefit_measure::results::Ratio;

    /// Rows whose throughput and moves are functions of their place.
    fn rows(relative: impl Fn(usize) -> f64, moves: impl Fn(usize) -> f64) -> Vec<Row> {
        let row = |at| {
            let median = relative(at);
            Row {
                moves_per_free: Some(moves(at)),
                bytes_per_free: None,
                per_second: None,
                relative: Some(Ratio {
                    median,
                    min: median - 0.01,
                    max: median + 0.01,
                }),
            }
        };
        (0..SETTINGS.len()).map(row).collect()
    }

    #[test]
    fn verdicts_follow_the_figures() {
        let rising = rows(|at| 1.0 + at as f64 / 10.0, |at| 1.0 / (1.0 + at as f64));
        let level = rows(|_| 1.0, |_| 0.5);
        let worse = rows(|at| 1.0 - at as f64 / 100.0, |at| at as f64);
        let verdicts = |rows: &[Row]| {
            [
                rises("t", rows),
                does_not_improve("t", rows),
                fewer_moves("t", rows),
            ]
            .map(|claim| claim.verdict)
        };
        assert_eq!(
            verdicts(&rising),
            [Verdict::Holds, Verdict::DoesNot, Verdict::Holds]
        );
        assert_eq!(
            verdicts(&level),
            [Verdict::DoesNot, Verdict::Holds, Verdict::Holds]
        );
        assert_eq!(
            verdicts(&worse),
            [Verdict::DoesNot, Verdict::Holds, Verdict::DoesNot]
        );
        let none = rows(|_| 1.0, |_| 0.0).into_iter().map(|row| Row {
            relative: None,
            moves_per_free: None,
            ..row
        });
        assert_eq!(
            verdicts(&none.collect::<Vec<_>>()),
            [Verdict::NotComparable; 3]
        );
    }
}
