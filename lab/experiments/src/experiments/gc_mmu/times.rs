//! The tables of what is timed.
#![deny(unsafe_code)]

use super::measure::Found;
use super::round::{Round, Timed};
use super::schedules::Kind;
use crate::kit::{Cell, Column, Table};
use surefit_clients::java::WINDOWS_NS;
use surefit_measure::ratio::median;

/// The buckets of the table of pauses: up to so many microseconds.
const UP_TO_US: [u64; 6] = [50, 100, 250, 500, 1000, 10_000];

/// All of them.
pub(super) fn all(found: &[Found]) -> Vec<Table> {
    if rows(found).next().is_none() {
        return Vec::new();
    }
    vec![utilisation(found), pauses(found), histogram(found)]
}

fn rows(found: &[Found]) -> impl Iterator<Item = (&Found, &Timed)> {
    let all = found
        .iter()
        .flat_map(|one| one.timed.iter().map(move |timed| (one, timed)));
    all.filter(|(_, timed)| !timed.rounds.is_empty())
}

fn utilisation(found: &[Found]) -> Table {
    let title =
        "1.5x, processor time: least share of any window that the program has, %; windows in ms";
    let mut columns = ["program", "space", "schedule"].map(Column::text).to_vec();
    columns.extend(WINDOWS_NS.map(|ns| Column::figure(format!("{}", ns as f64 / 1e6), 1)));
    let mut table = Table::new(title, columns);
    for (one, timed) in rows(found) {
        let mut cells: Vec<Cell> = vec![
            one.program.as_str().into(),
            one.space.name.into(),
            timed.kind.name().into(),
        ];
        cells.extend((0..WINDOWS_NS.len()).map(|at| Cell::from(percent(timed, at))));
        table.row(cells);
    }
    table
}

/// The median over the rounds; absent if a round was shorter than the window.
fn percent(timed: &Timed, at: usize) -> Option<f64> {
    let shares: Option<Vec<f64>> = timed
        .rounds
        .iter()
        .map(|round| round.utilisation[at])
        .collect();
    Some(100.0 * median(&shares?)?)
}

fn pauses(found: &[Found]) -> Table {
    let title = "1.5x, processor time: pauses in µs; time of all in multiples of stop the world's";
    let us = |ns: u64| ns as f64 / 1e3;
    Table::of(title, rows(found))
        .text("program", |(one, _)| one.program.as_str())
        .text("space", |(one, _)| one.space.name)
        .text("schedule", |(_, timed)| timed.kind.name())
        .figure("pauses", 0, |(_, timed)| {
            timed.median(|round| round.pauses.count() as f64)
        })
        .figure("longest", 0, |(_, timed)| timed.longest_us())
        .figure("gap", 0, |(_, timed)| timed.gap_us())
        .figure("p99", 0, |(_, timed)| {
            timed.median(|round| us(round.pauses.at_most(99, 100)))
        })
        .figure("forced", 0, |(_, timed)| {
            timed.median(|round| round.forced as f64)
        })
        .figure("overrun", 0, |(_, timed)| {
            timed.median(|round| round.overruns as f64)
        })
        .figure("time", 2, |(one, timed)| over_stopped(one, timed))
        .table()
}

/// The median of ratios inside the rounds.
pub(super) fn over_stopped(found: &Found, timed: &Timed) -> Option<f64> {
    let stopped = found.timed.iter().find(|one| one.kind == Kind::Stop)?;
    let rounds = timed.rounds.iter().zip(&stopped.rounds);
    let ratios: Vec<_> = rounds
        .map(|(own, base)| own.total_ns as f64 / base.total_ns.max(1) as f64)
        .collect();
    median(&ratios)
}

fn histogram(found: &[Found]) -> Table {
    let title = "1.5x, processor time: pauses by their length in µs, first round";
    let mut columns = ["program", "space", "schedule"].map(Column::text).to_vec();
    columns.extend(UP_TO_US.map(|us| Column::figure(format!("≤{us}"), 0)));
    columns.push(Column::figure("more", 0));
    let mut table = Table::new(title, columns);
    for (one, timed) in rows(found) {
        let mut cells: Vec<Cell> = vec![
            one.program.as_str().into(),
            one.space.name.into(),
            timed.kind.name().into(),
        ];
        cells.extend(
            timed
                .rounds
                .first()
                .map(counts)
                .unwrap_or_default()
                .map(Cell::from),
        );
        table.row(cells);
    }
    table
}

/// How many pauses fall between one length and the next; those of a bucket count as its shortest.
fn counts(round: &Round) -> [u64; UP_TO_US.len() + 1] {
    let mut counts = [0; UP_TO_US.len() + 1];
    for (from_ns, count) in round.pauses.buckets() {
        let at = UP_TO_US.iter().position(|us| from_ns <= us * 1000);
        counts[at.unwrap_or(UP_TO_US.len())] += u64::from(count);
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::super::measure::tests::found;
    use super::super::round::tests::timed;
    use super::super::schedules::Kind;
    use super::{all, counts};

    #[test]
    fn pauses_are_counted_by_their_length() {
        let timed = timed(Kind::Stop, 9);
        assert_eq!(counts(&timed.rounds[0]), [1, 0, 0, 0, 0, 0, 0]);
        let long = super::super::round::tests::timed(Kind::Stop, 90_000);
        assert_eq!(counts(&long.rounds[0]), [0, 0, 0, 0, 0, 0, 1]);
    }

    #[test]
    fn what_was_not_timed_has_no_table() {
        let mut found = found(Vec::new());
        assert!(all(std::slice::from_ref(&found)).is_empty());
        found.timed = vec![timed(Kind::Stop, 9), timed(Kind::Work, 3)];
        assert!(all(&[found]).iter().all(|table| table.rows.len() == 2));
    }
}
