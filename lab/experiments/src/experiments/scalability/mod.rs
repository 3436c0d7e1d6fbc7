//! `surefit experiment scalability`: allocation throughput of 1 to 8 threads, three ways, and what
//! each call does to lines that threads share.
//!
//! ```text
//! (a) full compaction       κ = 1: 1-CF with one lock and with class locks, n-CF
//! (b) no compaction         κ = ∞: n-CF with handles; n-CF optimised, without abstract addresses (raw pointers); one raw
//!                           heap per thread, without locks
//! (c) with sharing          n-CF, κ = 1, κ = ∞, and raw: threads per instance 1, 2, 4, 8 × foreign frees 0, 10, 50 %
//! ```
//! Threads that share a raw instance take its group's lock in each call; one that has its own takes
//! none.
//!
//! Throughput beyond the number of cores says nothing of scaling, so beside every time stands what
//! does not depend on cores: acquisitions of locks, contended ones, and read-modify-writes of lines
//! that threads may share, for each malloc (with the write of its first word) and each free.
//!
//! # Source
//! Craciunas et al. (2009), scalability (a), (b), (c).

mod claims;
mod points;

use anyhow::Result;

use self::points::{
    Counts, EACH, FOREIGN, Line, Point, SHARING, Sharing, find, lines, sharing, speedup,
};
use crate::kit::{Axis, Cell, Column, Entry, Plot, Report, Request, Series, Table, papers};
use crate::shared::threads::figures::{cores, ratio, spread};
use crate::shared::threads::heaps::{Scheme, Setup, counted, timed};
use crate::shared::threads::load::{Load, Sizes};
use surefit_measure::progress::Progress;
use surefit_measure::results::Ratio;

/// This experiment.
pub(crate) const ENTRY: Entry = Entry {
    name: "scalability",
    about: "Allocation throughput of 1 to 8 threads: compacting, not compacting, sharing",
    takes_traces: false,
    takes_rounds: true,
    run,
};

fn run(request: &Request) -> Result<Report> {
    let rounds = request.rounds_or(7);
    let load = load(request.quick);
    let mut lines = lines();
    let mut sharing = sharing();
    let points = lines.iter().map(|line| line.points.len()).sum::<usize>() + sharing.len();
    let progress = Progress::new((points * (rounds as usize + 1)) as u64);
    for round in 0..=rounds {
        for line in &mut lines {
            for point in &mut line.points {
                measure(&line.setup, point, &load, round)?;
                progress.step(ENTRY.name, "rounds", &line.setup);
            }
        }
        for (setup, point) in &mut sharing {
            measure(setup, point, &load, round)?;
            progress.step(ENTRY.name, "rounds", setup);
        }
    }
    progress.finish();
    Ok(report(request, rounds, &load, &lines, &sharing))
}

/// Round 0 counts, the others time.
fn measure(setup: &Setup, point: &mut Point, load: &Load, round: u32) -> Result<()> {
    let load = Load {
        foreign_percent: point.foreign_percent,
        ..*load
    };
    if round == 0 {
        let outcome = counted(
            setup,
            point.threads,
            &Load {
                calls: load.calls / 4,
                ..load
            },
        )?;
        point.counts = Counts::of(setup, point, &outcome);
    } else {
        point
            .per_second
            .push(timed(setup, point.threads, &load)?.driven.per_second());
    }
    Ok(())
}

fn load(quick: bool) -> Load {
    Load {
        slots: 1000,
        calls: if quick { 4_000 } else { 1_000_000 },
        sizes: Sizes::Between(16, 1024),
        foreign_percent: 0,
    }
}

// ---- report
// -------------------------------------------------------------------------------------------------

fn report(
    request: &Request,
    rounds: u32,
    load: &Load,
    lines: &[Line],
    sharing: &[(Setup, Point)],
) -> Report {
    let source = papers::of_2009!("scalability (a), (b), (c)");
    let mut report = Report::new(ENTRY.name, ENTRY.about, source, request.quick);
    report.setting.push(format!(
        "{} slots per thread, objects of 16 to 1024 B at random, {} calls per thread and round, {rounds} interleaved rounds; the \
         first word of every object is written. This machine has {} cores: with more threads than cores, times show how \
         threads take turns, not how they scale.",
        load.slots,
        load.calls,
        cores()
    ));
    for (part, what) in [
        ('a', "full compaction, κ = 1"),
        ('b', "no compaction, κ = ∞"),
    ] {
        let rows: Vec<_> = lines.iter().filter(|line| line.part == part).collect();
        let title = format!("({part}) {what}");
        let first = vec![Column::text("heap"), Column::figure("threads", 0)];
        let mut table = Table::new(format!("{title}{LEGEND}"), columns(first, "÷ 1"));
        for line in &rows {
            for point in &line.points {
                let speedup = speedup(line, point.threads);
                let threads = (point.threads as u64).into();
                let mut cells = vec![line.setup.to_string().into(), threads];
                add_cells(&mut cells, point, speedup);
                table.row(cells);
            }
        }
        report.tables.push(table);
        report.plots.push(plot(&title, &rows));
    }
    report.tables.push(sharing_table(sharing));
    report
        .plots
        .extend(Sharing::ALL.map(|shared| sharing_plot(sharing, shared)));
    claims::add_claims(&mut report, lines, sharing);
    report.notes.push(
        "Acquisitions are counted by the heap's own locks. A lock costs two read-modify-writes, of its lock word; the others \
         are counted by construction: of an entry, four for a malloc with its write, none (1-CF) or one (n-CF) for a free, \
         five more for a free of another instance's object without a bound, and two for a move. Mailboxes of foreign frees are not the heap's and not counted."
            .to_owned(),
    );
    report.notes.push(
        "Raw n-CF is the papers' optimised, non-compacting Compact-fit without abstract addresses (n-cf-direct). A thread that \
         has an instance takes no lock but the pool's; a group of threads takes the group's lock once a call. Its read-modify-writes \
         beside locks are counted by construction, and are at most: one for each batch of foreign frees that a free sends (retries \
         are not counted), and one for each batch that a malloc takes. Batches hold 16 objects or more; a group sends each free \
         at once."
            .to_owned(),
    );
    report
}

/// The columns of a table: its own, then what each malloc (m) and each free (f) does.
fn columns(first: Vec<Column>, relative: &str) -> Vec<Column> {
    let mut columns = first;
    columns.extend([
        Column::figure("M/s", 2),
        Column::figure(relative, 2),
        Column::figure("locks m", 2),
        Column::figure("f", 2),
        Column::figure("waits m", 1),
        Column::figure("f", 1),
        Column::figure("RMW m", 1),
        Column::figure("f", 1),
    ]);
    columns
}

/// What the short names of [`columns`] stand for.
const LEGEND: &str = "; for each malloc (m) and free (f): locks taken, those of a thousand calls that were contended, \
                      read-modify-writes of shared lines";

fn add_cells(cells: &mut Vec<Cell>, point: &Point, relative: Option<Ratio>) {
    let counts = point.counts;
    cells.extend([
        (spread(&point.per_second).median / 1e6).into(),
        relative.map(|ratio| ratio.median).into(),
        counts.locks.0.into(),
        counts.locks.1.into(),
        (counts.contended.0 * 1e3).into(),
        (counts.contended.1 * 1e3).into(),
        counts.rmw.0.into(),
        counts.rmw.1.into(),
    ]);
}

fn plot(title: &str, lines: &[&Line]) -> Plot {
    let series = lines.iter().map(|line| {
        let mut series = Series::new(line.setup.to_string(), Vec::new());
        for point in &line.points {
            let spread = spread(&point.per_second);
            series
                .points
                .push((point.threads as f64, spread.median / 1e6));
            series.spread.push((spread.min / 1e6, spread.max / 1e6));
        }
        series
    });
    Plot {
        title: title.to_owned(),
        x: Axis::from_zero("threads"),
        y: Axis::from_zero("million allocations/s"),
        series: series.collect(),
    }
}

fn sharing_table(sharing: &[(Setup, Point)]) -> Table {
    let title =
        format!("(c) {SHARING} threads, n-CF: threads per instance (each), foreign frees{LEGEND}");
    let first = vec![
        Column::text("heap"),
        Column::figure("each", 0),
        Column::figure("foreign %", 0),
    ];
    let mut table = Table::new(title, columns(first, "÷ 1 each, 0 %"));
    for (setup, point) in sharing {
        let (name, base, each) = described(setup);
        let base = find(sharing, &base, 0);
        let relative = base.map(|base| ratio(&point.per_second, &base.per_second));
        let foreign = point.foreign_percent.into();
        let mut cells = vec![name.into(), u64::from(each).into(), foreign];
        add_cells(&mut cells, point, relative);
        table.row(cells);
    }
    table
}

/// The name of a configuration of part (c) without its threads per instance, what it is compared
/// with, and these threads.
fn described(setup: &Setup) -> (String, Setup, u16) {
    let of = |shared: Sharing, each| (shared.to_string(), shared.setup(1), each);
    match setup.scheme {
        Scheme::Instances(each) => of(Sharing::Handles(setup.kappa), each),
        Scheme::DirectGroups(each) => of(Sharing::RawGroups, each),
        _ => (setup.to_string(), setup.clone(), 1),
    }
}

fn sharing_plot(sharing: &[(Setup, Point)], shared: Sharing) -> Plot {
    let series = FOREIGN.map(|foreign| {
        let mut series = Series::new(format!("{foreign} % foreign frees"), Vec::new());
        for (place, each) in EACH.into_iter().enumerate() {
            let point = find(sharing, &shared.setup(each), foreign);
            if let Some(point) = point {
                let spread = spread(&point.per_second);
                series.points.push((place as f64, spread.median / 1e6));
                series.spread.push((spread.min / 1e6, spread.max / 1e6));
            }
        }
        series
    });
    Plot {
        title: format!("(c) {SHARING} threads, {shared}"),
        x: Axis::named("threads per instance", EACH.map(|each| each.to_string())),
        y: Axis::from_zero("million allocations/s"),
        series: series.to_vec(),
    }
}
