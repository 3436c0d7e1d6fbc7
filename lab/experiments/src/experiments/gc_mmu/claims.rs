//! The claims, each over all programs.
#![deny(unsafe_code)]

use super::measure::{Found, InHeap, Run, WINDOWS};
use super::metronome;
use super::round::Timed;
use super::schedules::Kind;
use super::timed::MOST_PAUSE_NS;
use crate::kit::{Claim, OnProgram};
use surefit_measure::output::grouped;

/// The heap that claims about room and times are about, by its place.
const SMALLER: usize = 0;

/// All of them.
pub(super) fn all(found: &[Found]) -> Vec<Claim> {
    let mut claims = vec![keeps_formula(found), keeps_formula_where_asked(found)];
    claims.extend([within_bounds(found), no_such_bound(found), keeps_up(found)]);
    claims.extend([short_pauses(found), metronome::claim(found)]);
    claims
}

/// All runs by time.
fn by_time(found: &[Found]) -> impl Iterator<Item = (String, &Run)> {
    let heaps = found
        .iter()
        .flat_map(|one| one.heaps.iter().map(move |heap| (one, heap)));
    heaps.flat_map(|(one, heap)| {
        let runs = heap.runs.iter().filter(|run| run.kind.is_by_time());
        runs.map(move |run| {
            let name = format!("{}, {}x, {}", one.name(), heap.multiple, run.kind.name());
            (name, run)
        })
    })
}

/// What decides both claims about the formula.
const WINDOWS_TRIED: &str = "counted, nothing is subtracted and no run left out; windows of 16 lengths in each doubling, and \
     all multiples of a quantum and of a period up to 64";

fn keeps_formula(found: &[Found]) -> Claim {
    let on = by_time(found).map(|(name, run)| on_formula(name, run));
    Claim::that("at 1.5 and 2 times the smallest heap, quanta leave u(Δ) in every window")
        .ours_alone()
        .papers("u(Δ), Bacon, Cheng and Rajan (2003)")
        .over(
            on.collect(),
            format!(
                "{WINDOWS_TRIED}; where a cycle was forced, the heap was too small for the schedule"
            ),
        )
}

fn keeps_formula_where_asked(found: &[Found]) -> Claim {
    let asked = found.iter().flat_map(|one| {
        let asked = one.larger.iter().filter_map(|larger| larger.asked.as_ref());
        asked.map(move |(multiple, run)| {
            let name = format!("{}, {multiple:.2}x, {}", one.name(), run.kind.name());
            let on = on_formula(name, run);
            let test = on.test.map(|kept| kept && run.forced() == 0);
            OnProgram { test, ..on }
        })
    });
    Claim::that("in a heap as large as M + (2n − 1)·a asks for, quanta leave u(Δ) in every window")
        .ours_alone()
        .papers("u(Δ), Bacon, Cheng and Rajan (2003)")
        .over(
            asked.collect(),
            format!("{WINDOWS_TRIED}; and no cycle may be forced"),
        )
}

fn on_formula(name: String, run: &Run) -> OnProgram {
    let short = run.short_window();
    let mut shown = match short {
        None => "no window has less".to_owned(),
        Some(window) => format!("a window of {} ticks has less", grouped(window)),
    };
    if run.forced() > 0 {
        shown = format!("{} forced, {shown}", grouped(run.forced()));
    }
    OnProgram {
        name,
        test: Some(short.is_none()),
        ratio: None,
        shown,
    }
}

fn within_bounds(found: &[Found]) -> Claim {
    let heaps = found.iter().flat_map(|one| &one.heaps);
    let runs: Vec<&Run> = heaps.flat_map(|heap| &heap.runs).collect();
    let sum = |of: fn(&Run) -> u64| runs.iter().map(|run| of(run)).sum::<u64>();
    let above = sum(|run| run.ran.steps.overruns)
        + sum(|run| u64::from(run.ran.steps.largest_excess >= run.ran.most_excess));
    let late = sum(|run| run.ran.paced.quanta_overrun);
    let (steps, quanta) = (
        sum(|run| run.ran.steps.steps),
        sum(|run| run.ran.paced.quanta),
    );
    Claim::that("no step does more than its bound, and no quantum takes too long")
        .ours_alone()
        .papers("none: ours")
        .ours(format!(
            "{above} of {} steps, {late} of {} quanta",
            grouped(steps),
            grouped(quanta)
        ))
        .decide(
            (steps > 0).then_some(above + late == 0),
            "counted in units of work, in all runs; a step's bound is its budget and the longest \
             piece of work, a quantum's its ticks",
        )
}

fn no_such_bound(found: &[Found]) -> Claim {
    Claim::that("work by allocation has no such bound: a burst takes the program's time")
        .ours_alone()
        .papers("Bacon, Cheng and Rajan (2003), in words")
        .over(
            found.iter().filter_map(on_burst).collect(),
            "counted, in the smaller heap: whether some window has less utilisation than quanta of \
             1:1 promise for it",
        )
}

fn on_burst(found: &Found) -> Option<OnProgram> {
    let heap = found.heaps.get(SMALLER)?;
    let (by_work, by_time) = (heap.run(Kind::Work)?, heap.run(Kind::Time(1, 1))?);
    let compared = WINDOWS.iter().filter_map(|&window| {
        let (own, promised) = (by_work.utilisation(window)?, by_time.formula(window)?);
        (promised > 0.0).then_some((window, own, promised))
    });
    let compared: Vec<_> = compared.collect();
    let least = compared
        .iter()
        .max_by(|one, other| (one.2 - one.1).total_cmp(&(other.2 - other.1)))?;
    let (window, own, promised) = *least;
    Some(OnProgram {
        name: found.name(),
        test: Some(own < promised),
        ratio: None,
        shown: format!(
            "{:.0} % of {} ticks, {:.0} % promised",
            100.0 * own,
            grouped(window),
            100.0 * promised
        ),
    })
}

fn keeps_up(found: &[Found]) -> Claim {
    Claim::that("at 1.5 times the smallest heap no schedule forces a cycle")
        .ours_alone()
        .papers("none: ours")
        .over(
            found.iter().filter_map(on_room).collect(),
            "counted; a cycle is forced if a request finds no room, of all schedules but stop the \
             world",
        )
}

fn on_room(found: &Found) -> Option<OnProgram> {
    let heap: &InHeap = found.heaps.get(SMALLER)?;
    let runs = heap.runs.iter().filter(|run| run.kind != Kind::Stop);
    let forced: Vec<_> = runs.map(|run| (run.kind, run.forced())).collect();
    let shown = forced
        .iter()
        .map(|(kind, forced)| format!("{} {}", kind.name(), grouped(*forced)));
    Some(OnProgram {
        name: found.name(),
        test: (!forced.is_empty()).then(|| forced.iter().all(|(_, forced)| *forced == 0)),
        ratio: None,
        shown: shown.collect::<Vec<_>>().join(", "),
    })
}

fn short_pauses(found: &[Found]) -> Claim {
    Claim::that("by time, no pause takes more than 250 µs at 1.5 times the smallest heap")
        .ours_alone()
        .papers("none: ours; Metronome: some hundred µs")
        .over(
            found.iter().filter_map(on_pauses).collect(),
            "processor time; the longest pause of each run, the median over the rounds, for both \
             schedules by time; beside it, the longest gap of a loop that only reads the clock",
        )
}

/// Metronome has longer quanta.
fn on_pauses(found: &Found) -> Option<OnProgram> {
    if found.space.is_metronome() {
        return None;
    }
    let by_time = found.timed.iter().filter(|timed| timed.kind.is_by_time());
    let longest: Vec<_> = by_time
        .filter_map(|timed: &Timed| Some((timed.kind, timed.longest_us()?, timed.gap_us()?)))
        .collect();
    let shown = longest
        .iter()
        .map(|(kind, us, gap)| format!("{} {us:.0} µs (gap {gap:.0})", kind.name()));
    let most = MOST_PAUSE_NS as f64 / 1e3;
    Some(OnProgram {
        name: found.name(),
        test: (!longest.is_empty()).then(|| longest.iter().all(|(_, us, _)| *us <= most)),
        ratio: None,
        shown: shown.collect::<Vec<_>>().join(", "),
    })
}

#[cfg(test)]
#[expect(
    clippy::single_range_in_vec_init,
    reason = "a list of one pause, not of its ticks"
)]
mod tests {
    use super::super::measure::tests::{asked, found, on_metronome, run};
    use super::super::round::tests::timed;
    use super::super::schedules::Kind;
    use super::{
        keeps_formula, keeps_formula_where_asked, keeps_up, no_such_bound, short_pauses,
        within_bounds,
    };
    use crate::kit::Verdict;

    #[test]
    fn one_window_with_less_refutes_the_formula_whether_or_not_a_cycle_was_forced() {
        let verdict = |run| keeps_formula(&[found(vec![run])]).verdict;
        let mut kept = run(Kind::Time(1, 1), &[0..1000, 2000..3000]);
        let mut broken = run(Kind::Time(1, 1), &[0..1000, 1500..2500]);
        for _ in 0..2 {
            assert_eq!(verdict(kept.clone()), Verdict::Holds);
            assert_eq!(verdict(broken.clone()), Verdict::DoesNot);
            kept.ran.steps.forced = 1;
            broken.ran.steps.forced = 1;
        }
    }

    #[test]
    fn where_the_heap_is_as_large_as_asked_a_forced_cycle_refutes_it_too() {
        let verdict = |run| keeps_formula_where_asked(&[asked(run)]).verdict;
        let mut kept = run(Kind::Time(1, 1), &[0..1000, 2000..3000]);
        assert_eq!(verdict(kept.clone()), Verdict::Holds);
        kept.ran.steps.whole = 1;
        assert_eq!(verdict(kept), Verdict::DoesNot);
        assert_eq!(
            verdict(run(Kind::Time(1, 1), &[0..1000, 1500..2500])),
            Verdict::DoesNot
        );
        assert_eq!(
            keeps_formula_where_asked(&[found(Vec::new())]).verdict,
            Verdict::NotComparable
        );
    }

    #[test]
    fn one_step_or_quantum_above_its_bound_refutes_the_claim() {
        let mut kept = run(Kind::Time(1, 1), &[0..1000]);
        assert_eq!(within_bounds(&[]).verdict, Verdict::NotComparable);
        kept.ran.steps.steps = 7;
        kept.ran.steps.largest_excess = 65;
        assert_eq!(
            within_bounds(&[found(vec![kept.clone()])]).verdict,
            Verdict::Holds
        );
        let (mut above, mut late) = (kept.clone(), kept);
        above.ran.steps.largest_excess = 66;
        late.ran.paced.quanta_overrun = 1;
        for broken in [above, late] {
            assert_eq!(
                within_bounds(&[found(vec![broken])]).verdict,
                Verdict::DoesNot
            );
        }
    }

    #[test]
    fn a_burst_is_seen_beside_the_formula() {
        let by_time = run(Kind::Time(1, 1), &[]);
        let verdict = |by_work| no_such_bound(&[found(vec![by_work, by_time.clone()])]).verdict;
        assert_eq!(verdict(run(Kind::Work, &[0..9000])), Verdict::Holds);
        assert_eq!(verdict(run(Kind::Work, &[0..10])), Verdict::DoesNot);
        assert_eq!(no_such_bound(&[]).verdict, Verdict::NotComparable);
    }

    #[test]
    fn one_forced_cycle_refutes_that_all_keep_up() {
        let mut by_work = run(Kind::Work, &[]);
        let verdict = |run| keeps_up(&[found(vec![run])]).verdict;
        assert_eq!(verdict(by_work.clone()), Verdict::Holds);
        by_work.ran.steps.whole = 1;
        assert_eq!(verdict(by_work), Verdict::DoesNot);
        assert_eq!(verdict(run(Kind::Stop, &[])), Verdict::NotComparable);
    }

    #[test]
    fn the_longest_pause_decides_the_claim_about_pauses() {
        let verdict = |us| {
            let mut found = found(Vec::new());
            found.timed = vec![timed(Kind::Stop, 9000), timed(Kind::Time(1, 1), us)];
            short_pauses(&[found]).verdict
        };
        assert_eq!(verdict(250), Verdict::Holds);
        assert_eq!(verdict(251), Verdict::DoesNot);
        assert_eq!(
            short_pauses(&[found(Vec::new())]).verdict,
            Verdict::NotComparable
        );
        let mut longer = on_metronome();
        longer.timed = vec![timed(Kind::Time(1, 1), 9000)];
        assert_eq!(short_pauses(&[longer]).verdict, Verdict::NotComparable);
    }
}
