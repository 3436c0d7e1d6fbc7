//! The figures as tables and as bars.
#![deny(unsafe_code)]

use super::escape::Escaped;
use super::ground::Attempt;
use super::measured::{All, Measured};
use super::program::{BestFit, Robson};
use super::search::Found;
use super::systems::NEVER_MOVE;
use crate::kit::{Axis, Cell, Column, Plot, Series, Table, Whose};

/// All tables.
pub(super) fn tables(all: &All) -> Vec<Table> {
    let mut tables: Vec<_> = all.robson.iter().map(robson_table).collect();
    tables.push(best_fit_table(&all.best_fit, &all.pattern));
    for escaped in all.escaped() {
        tables.push(held_table(escaped));
        tables.push(moves_table(escaped));
    }
    tables
}

fn robson_table(measured: &Measured<Robson>) -> Table {
    let Robson { live, log2_largest } = measured.program;
    let title = format!(
        "P_R, M = {live} words, n = {}: Robson's bound is {} words, {:.3} M",
        1 << log2_largest,
        measured.program.bound(),
        measured.program.bound() as f64 / live as f64
    );

    Table::of(title, NEVER_MOVE.iter().zip(&measured.found))
        .text("system", |(system, _)| system.name)
        .figure("word, B", 0, |(system, _)| system.word.bytes as u64)
        .figure("predicted", 0, |(system, found)| {
            system
                .known
                .map(|known| known.words(found.bound, 1 << log2_largest))
        })
        .figure("needed", 0, |(_, found)| found.needed())
        .figure("÷ M", 3, |(_, found)| found.ratio())
        .figure("below bound", 0, |(_, found)| found.below.capacity)
        .text("ends", |(_, found)| yes(found.below.run.completed))
        .figure("ample span", 0, |(_, found)| found.ample.run.account.span())
        .figure("tables, B", 0, |(_, found)| {
            found.least.map(|least| least.beside)
        })
        .table()
}

fn yes(is_so: bool) -> Cell {
    if is_so { "yes" } else { "no" }.into()
}

/// Both forms of the program against best fit, a column for each m.
fn best_fit_table(regions: &[Measured<BestFit>], patterns: &[Measured<BestFit, Attempt>]) -> Table {
    let (regions_of, patterns_of) = (
        regions.iter().map(|one| one.program),
        patterns.iter().map(|one| one.program),
    );
    let programs: Vec<_> = regions_of.chain(patterns_of).collect();
    let mut columns = vec![Column::text("system")];
    columns.extend(programs.iter().map(|program| {
        let what = if program.tail > 0 { "needs" } else { "span" };
        Column::figure(format!("m={} {what}", program.largest), 2)
    }));
    let title = format!(
        "against best fit, k = {}: words ÷ M of a heap in which it ends, and just below not; span ÷ M of the pattern alone",
        regions.first().map_or(0, |one| one.program.units)
    );
    let mut table = Table::new(title, columns);
    let ratio = |words: u64, program: &BestFit| Cell::from(words as f64 / program.live() as f64);
    let mut theory = |what: &str, words: fn(BestFit) -> u64| {
        let mut cells: Vec<Cell> = vec![what.into()];
        cells.extend(
            programs
                .iter()
                .map(|program| ratio(words(*program), program)),
        );
        table.row(cells);
    };
    theory("(formula) with Robson's endgame", BestFit::robsons_bound);
    theory("(formula) with the programs' own", BestFit::bound);
    for (place, system) in NEVER_MOVE.iter().enumerate() {
        let mut cells: Vec<Cell> = vec![system.name.into()];
        cells.extend(regions.iter().map(|one| one.found[place].ratio().into()));
        cells.extend(
            patterns
                .iter()
                .map(|one| ratio(one.found[place].run.account.span(), &one.program)),
        );
        table.row(cells);
    }
    table
}

fn title(escaped: &[Escaped], what: &str) -> String {
    let (name, live) = escaped
        .first()
        .map_or(("", 0), |one| (one.program.name(), one.program.live()));
    format!("{name}, M = {live} words, on systems that move or scatter: {what}")
}

fn held_table(escaped: &[Escaped]) -> Table {
    Table::of(title(escaped, "memory, in multiples of M"), escaped)
        .text("system", |one| one.system.name)
        .figure("word, B", 0, |one| one.system.word.asked as u64)
        .figure("held", 2, |one| one.held_ratio())
        .figure("least", 2, |one| one.ratio(one.least_bytes))
        .figure("certified", 2, |one| one.ratio(one.certified_bytes))
        .text("ends", |one| yes(one.completed))
        .figure("held, simulated", 2, |one| {
            one.simulated().map(|simulated| simulated.held)
        })
        .figure("bound, simulated", 2, |one| {
            one.simulated().and_then(|simulated| simulated.bound)
        })
        .table()
}

fn moves_table(escaped: &[Escaped]) -> Table {
    Table::of(title(escaped, "moves"), escaped)
        .text("system", |one| one.system.name)
        .figure("words allocated", 0, |one| one.allocated)
        .figure("moves", 0, |one| one.moves.map(|moves| moves.total))
        .figure("bytes moved", 0, |one| {
            one.moves.map(|moves| moves.bytes_total)
        })
        .figure("allocated ÷ moved", 1, |one| one.per_move())
        .figure("simulated", 1, |one| {
            one.simulated().and_then(|simulated| simulated.per_move)
        })
        .table()
}

/// So many systems beside each other can be read.
const IN_A_PLOT: usize = 9;

/// Heap needed over what is live, a place for every system, some systems in each plot.
pub(super) fn plots(all: &All) -> Vec<Plot> {
    let mut names: Vec<&str> = NEVER_MOVE.iter().map(|system| system.name).collect();
    for one in all.escaped_robson.iter().chain(&all.escaped_best_fit) {
        if !names.contains(&one.system.name) {
            names.push(one.system.name);
        }
    }
    names
        .chunks(IN_A_PLOT)
        .map(|names| plot(all, names))
        .collect()
}

fn plot(all: &All, names: &[&str]) -> Plot {
    let bars = |name: &str, found: Option<&[Found]>, escaped: &[Escaped]| {
        let found = NEVER_MOVE.iter().zip(found.into_iter().flatten());
        let mut points: Vec<_> = found
            .filter_map(|(system, found)| Some((place(names, system.name)?, found.ratio()?)))
            .collect();
        points.extend(of_escaped(names, escaped, |one| one.least_bytes));
        Series::new(name, points)
    };
    let (robson, best_fit) = (all.robson.last(), all.best_fit.last());
    let bound = robson.map_or(0.0, |one| {
        one.program.bound() as f64 / one.program.live as f64
    });
    let certified = of_escaped(names, &all.escaped_robson, |one| one.certified_bytes);
    let line: Vec<_> = (0..names.len())
        .map(|place| (place as f64, bound))
        .collect();
    Plot {
        title: format!(
            "heap ÷ what is live: P_R with M={}, n={}; m={}; handles: bytes with tables",
            robson.map_or(0, |one| one.program.live),
            robson.map_or(0, |one| 1_u64 << one.program.log2_largest),
            best_fit.map_or(0, |one| one.program.largest),
        ),
        series: vec![
            bars(
                "P_R",
                robson.map(|one| one.found.as_slice()),
                &all.escaped_robson,
            ),
            bars(
                "against best fit",
                best_fit.map(|one| one.found.as_slice()),
                &all.escaped_best_fit,
            ),
            Series::new("P_R, certified", certified),
            Series {
                whose: Whose::Papers,
                ..Series::new("Robson's bound", line)
            },
        ],
        x: Axis::kinds("", names.iter().map(|name| (*name).to_owned())),
        y: Axis::from_zero("times M"),
    }
}

/// The place of a system among those of a plot.
fn place(names: &[&str], name: &str) -> Option<f64> {
    let found = names.iter().position(|one| *one == name);
    found.map(|place| place as f64)
}

/// Bytes over live bytes, at the places of the systems' names.
fn of_escaped(names: &[&str], escaped: &[Escaped], bytes: fn(&Escaped) -> u64) -> Vec<(f64, f64)> {
    let points = escaped
        .iter()
        .filter_map(|one| Some((place(names, one.system.name)?, one.ratio(bytes(one)))));
    points.collect()
}
