//! The tables of what is counted.
#![deny(unsafe_code)]

use super::measure::{Found, HEAPS, InHeap, Run, WINDOWS};
use super::round::lengths;
use super::schedules::Kind;
use crate::kit::{Cell, Column, Table};

/// All of them.
pub(super) fn all(found: &[Found]) -> Vec<Table> {
    let mut tables = vec![smallest(found)];
    if found.iter().any(|one| !one.larger.is_empty()) {
        tables.push(asked(found));
    }
    for (at, multiple) in HEAPS.iter().enumerate() {
        if found.iter().any(|one| one.heaps.len() > at) {
            tables.extend([
                utilisation(found, at, *multiple),
                pauses(found, at, *multiple),
                costs(found, at, *multiple),
            ]);
        }
    }
    tables
}

fn smallest(found: &[Found]) -> Table {
    let title =
        "smallest heaps: stop the world; of 1.25, 1.5, … times it, that without a forced cycle";
    let mut table = Table::of(title, found)
        .text("program", |one| one.program.as_str())
        .text("space", |one| one.space.name)
        .figure("smallest B", 0, |one| one.smallest as u64);
    for kind in Kind::IN_STEPS {
        table = table.figure(kind.name(), 2, move |one| one.larger(kind)?.unforced);
    }
    table.table()
}

fn asked(found: &[Found]) -> Table {
    let title = "heaps as large as M + (2n − 1)·a asks for, in multiples of the smallest, counted";
    let all = found.iter().flat_map(|one| {
        let by_time = one.larger.iter().filter(|larger| larger.kind.is_by_time());
        by_time.map(move |larger| (one, larger))
    });
    Table::of(title, all)
        .text("program", |(one, _)| one.program.as_str())
        .text("space", |(one, _)| one.space.name)
        .text("schedule", |(_, larger)| larger.kind.name())
        .figure("heap", 2, |(_, larger)| Some(larger.asked.as_ref()?.0))
        .figure("cycles", 0, |(_, larger)| {
            Some(larger.asked.as_ref()?.1.ran.steps.cycles)
        })
        .figure("forced", 0, |(_, larger)| {
            Some(larger.asked.as_ref()?.1.forced())
        })
        .figure("longest", 0, |(_, larger)| {
            Some(larger.asked.as_ref()?.1.longest())
        })
        .figure("C", 0, |(_, larger)| {
            Some(larger.asked.as_ref()?.1.quanta?.collector())
        })
        .text("windows", |(_, larger)| {
            let short = larger.asked.as_ref().map(|(_, run)| run.short_window());
            match short {
                None => "not tried",
                Some(None) => "all have u(Δ)",
                Some(Some(_)) => "one has less",
            }
        })
        .table()
}

/// Every run in one of the heaps.
pub(super) fn runs(found: &[Found], at: usize) -> impl Iterator<Item = (&Found, &InHeap, &Run)> {
    let heaps = found
        .iter()
        .filter_map(move |one| Some((one, one.heaps.get(at)?)));
    heaps.flat_map(|(one, heap)| heap.runs.iter().map(move |run| (one, heap, run)))
}

/// How a window is called: 1K, 4K, …, 1M, ….
pub(super) fn window_name(window: u64) -> String {
    match window >> 20 {
        0 => format!("{}K", window >> 10),
        mebi => format!("{mebi}M"),
    }
}

fn utilisation(found: &[Found], at: usize, multiple: f64) -> Table {
    let title = format!(
        "{multiple}x, counted: least share of any window that the program has, %; u(Δ): promised"
    );
    let mut columns = ["program", "space", "schedule"].map(Column::text).to_vec();
    columns.extend(WINDOWS.map(|window| Column::figure(window_name(window), 1)));
    let mut table = Table::new(title, columns);
    for (one, _, run) in runs(found, at) {
        let mut row = |name: String, of: &dyn Fn(u64) -> Option<f64>| {
            let mut cells = vec![
                one.program.as_str().into(),
                one.space.name.into(),
                name.into(),
            ];
            cells.extend(WINDOWS.map(|window| Cell::from(of(window).map(|share| 100.0 * share))));
            table.row(cells);
        };
        row(run.kind.name(), &|window| run.utilisation(window));
        if run.quanta.is_some() {
            row("u(Δ)".to_owned(), &|window| {
                // Where no window of the run is as long, nothing stands beside it.
                run.utilisation(window).and(run.formula(window))
            });
        }
    }
    table
}

fn pauses(found: &[Found], at: usize, multiple: f64) -> Table {
    let title = format!("{multiple}x, counted: pauses in ticks; C: the collector's quantum");
    Table::of(title, runs(found, at))
        .text("program", |(one, ..)| one.program.as_str())
        .text("space", |(one, ..)| one.space.name)
        .text("schedule", |(_, _, run)| run.kind.name())
        .figure("C", 0, |(_, _, run)| {
            run.quanta.map(|quanta| quanta.collector())
        })
        .figure("pauses", 0, |(_, _, run)| run.ran.pauses.len() as u64)
        .figure("longest", 0, |(_, _, run)| run.longest())
        .figure("mean", 0, |(_, _, run)| {
            let count = run.ran.pauses.len();
            (count > 0).then(|| lengths(&run.ran).sum::<u64>() as f64 / count as f64)
        })
        .figure("forced", 0, |(_, _, run)| run.forced())
        .figure("overrun", 0, |(_, _, run)| run.ran.paced.quanta_overrun)
        .table()
}

fn costs(found: &[Found], at: usize, multiple: f64) -> Table {
    let title = format!(
        "{multiple}x, counted: costs; work in multiples of stop the world's; float: % of what is kept"
    );
    Table::of(title, runs(found, at))
        .text("program", |(one, ..)| one.program.as_str())
        .text("space", |(one, ..)| one.space.name)
        .text("schedule", |(_, _, run)| run.kind.name())
        .figure("cycles", 0, |(_, _, run)| run.ran.steps.cycles)
        .figure("steps", 0, |(_, _, run)| run.ran.steps.steps)
        .figure("work", 2, |(_, heap, run)| {
            let stopped = heap.run(Kind::Stop)?.ran.steps.work;
            (stopped > 0).then(|| run.ran.steps.work as f64 / stopped as f64)
        })
        .figure("shaded", 0, |(_, _, run)| run.ran.steps.shaded)
        .figure("float", 1, |(_, _, run)| {
            let floating = &run.ran.floating;
            let kept = floating.kept_bytes;
            (kept > 0).then(|| 100.0 * floating.bytes as f64 / kept as f64)
        })
        .figure("most B", 0, |(_, _, run)| {
            let floating = &run.ran.floating;
            (floating.cycles > 0).then_some(floating.most_bytes)
        })
        .table()
}

#[cfg(test)]
#[expect(
    clippy::single_range_in_vec_init,
    reason = "a list of one pause, not of its ticks"
)]
mod tests {
    use super::super::measure::tests::{asked, found, run};
    use super::super::schedules::Kind;
    use super::{all, window_name};

    #[test]
    fn windows_have_short_names() {
        assert_eq!(
            [1 << 10, 1 << 18, 1 << 22].map(window_name),
            ["1K", "256K", "4M"]
        );
    }

    #[test]
    fn every_run_has_a_row_and_quanta_one_more() {
        let runs = vec![run(Kind::Stop, &[0..90]), run(Kind::Time(1, 1), &[0..10])];
        let tables = all(&[found(runs)]);
        let rows: Vec<_> = tables.iter().map(|table| table.rows.len()).collect();
        assert_eq!(rows, [1, 3, 2, 2]);
        let tables = all(&[asked(run(Kind::Time(1, 1), &[0..10]))]);
        let rows: Vec<_> = tables.iter().map(|table| table.rows.len()).collect();
        assert_eq!(rows, [1, 1, 0, 0, 0]);
    }
}
