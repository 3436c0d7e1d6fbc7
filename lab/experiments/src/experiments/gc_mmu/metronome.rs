//! Metronome, as near as our parts come: its heap, its quanta, its place on the slides' chart.
//!
//! | as published | here |
//! | --- | --- |
//! | pages of 16 KiB, size-classes that differ by an eighth, arraylets of 2 KiB | the same: Compact-fit's pages, classes and pieces |
//! | objects move from the emptiest pages when free pages run low | every free keeps the bound on holes: at most 4 + h/16 with h live page-blocks |
//! | a forwarding pointer in each object, a read barrier | references are handles, so one entry changes when an object moves; no read barrier |
//! | a snapshot with a write barrier | the same |
//! | free blocks are swept when they are asked for | the sweep is part of the cycle, in quanta |
//! | stacks are roots, taken in one piece | all roots of the Java machine are taken in one piece; those of a replay are an object, scanned in parts |
//! | quanta of the clock, whenever the timer says | quanta before allocations: a program that does not allocate is not stopped |
//!
//! # Source
//! Bacon, Cheng and Rajan (2003); the quanta of OpenJ9: 3 ms, and 70 % for the program.
#![deny(unsafe_code)]

use super::measure::Found;
use super::round::Timed;
use super::schedules::Kind;
use super::times::over_stopped;
use crate::kit::{Claim, OnProgram, Table};

/// The longest pause that is published, in microseconds.
const LONGEST_US: f64 = 6000.0;

const PUBLISHED: Kind = Kind::Time(1, 1);

/// What is found on Metronome's heap.
fn on_it(found: &[Found]) -> impl Iterator<Item = &Found> {
    found.iter().filter(|one| one.space.is_metronome())
}

fn timed(found: &Found, kind: Kind) -> Option<&Timed> {
    let mut all = found.timed.iter();
    all.find(|timed| timed.kind == kind && !timed.rounds.is_empty())
}

/// A row for each program; none if nothing was run.
pub(super) fn table(found: &[Found]) -> Option<Table> {
    on_it(found).next()?;
    let title =
        "Metronome: smallest heap, and that without a forced cycle; at 1.5x: longest pause, time";
    let mut table = Table::of(title, on_it(found))
        .text("program", |one| one.program.as_str())
        .figure("kept x", 2, |one| {
            let kept = one.in_smallest.most_kept;
            (kept > 0).then(|| one.smallest as f64 / kept as f64)
        });
    for kind in [PUBLISHED, Kind::Time(3, 7)] {
        let name = kind.name().replace("by time ", "");
        table = table
            .figure(format!("{name} heap"), 2, move |one| {
                one.larger(kind)?.unforced
            })
            .figure("ms", 1, move |one| {
                Some(timed(one, kind)?.longest_us()? / 1e3)
            })
            .figure("forced", 0, move |one| {
                timed(one, kind)?.median(|round| round.forced as f64)
            })
            .figure("time", 2, move |one| over_stopped(one, timed(one, kind)?));
    }
    Some(table.table())
}

/// What is published of it.
pub(super) fn claim(found: &[Found]) -> Claim {
    Claim::that("Metronome: at 50 %, no pause is longer than 6 ms in 1.5 times the smallest heap")
        .of("Metronome")
        .papers("6 ms at 50 %, in 1.5 to 2.1 times what lives at most")
        .over(
            on_it(found).filter_map(on_program).collect(),
            "processor time; the longest pause of each run, the median over the rounds, with quanta \
             of 10 ms beside 10 ms, and no cycle forced; a quantum that is used up takes 10 ms, so this \
             holds only where cycles are shorter than that",
        )
}

fn on_program(found: &Found) -> Option<OnProgram> {
    let timed = timed(found, PUBLISHED)?;
    let (longest, forced) = (
        timed.longest_us()?,
        timed.median(|round| round.forced as f64)?,
    );
    Some(OnProgram {
        name: found.program.clone(),
        test: Some(longest <= LONGEST_US && forced == 0.0),
        ratio: None,
        shown: format!("{:.1} ms, {forced:.0} forced", longest / 1e3),
    })
}

/// The departures, in words.
pub(super) fn notes() -> Vec<String> {
    vec![
        "Metronome is CF 16K: Compact-fit with pages of 16 KiB, classes that differ by an eighth, and pieces of 2 KiB, in quanta of 10 ms \
         beside 10 ms, or 3 ms beside 7. It departs from what is published: every free keeps a bound on holes, where Metronome \
         defragments when free pages run low; references are handles, so there is no forwarding pointer and no read barrier; \
         sweeping is part of the cycle; quanta come before allocations, not by a timer. `overview` has its \
         heap on the chart, where free is the collector's, in quanta."
            .to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::measure::tests::{found, on_metronome};
    use super::super::round::tests::timed;
    use super::super::schedules::Kind;
    use super::{claim, table};
    use crate::kit::Verdict;

    #[test]
    fn its_pauses_are_compared_with_those_published() {
        let verdict = |us, forced| {
            let mut found = on_metronome();
            found.timed = vec![timed(Kind::Stop, 9000), timed(Kind::Time(1, 1), us)];
            found.timed[1]
                .rounds
                .iter_mut()
                .for_each(|round| round.forced = forced);
            claim(&[found]).verdict
        };
        assert_eq!(verdict(6000, 0), Verdict::Holds);
        assert_eq!(verdict(6001, 0), Verdict::DoesNot);
        assert_eq!(verdict(6000, 1), Verdict::DoesNot);
        assert_eq!(claim(&[found(Vec::new())]).verdict, Verdict::NotComparable);
    }

    #[test]
    fn only_its_own_heap_is_in_its_table() {
        assert!(table(&[found(Vec::new())]).is_none());
        let rows = table(&[found(Vec::new()), on_metronome()]).map(|table| table.rows.len());
        assert_eq!(rows, Some(1));
    }
}
