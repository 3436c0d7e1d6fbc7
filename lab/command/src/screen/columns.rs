//! The columns of a comparison: those that fit a terminal, and all of them for the report.

use surefit_measure::grid::{Grid, elided};
use surefit_measure::results::{AllocatorResult, Near, TraceResults};

use super::notes::Notes;
use super::words::short;
use surefit_measure::spec::shown;

/// Shown where a figure has no meaning.
const NO_FIGURE: &str = "-";

/// What a cell is computed from.
struct Cell<'a> {
    row: &'a AllocatorResult,
    has_handles: bool,
    live: u64,
}

/// One column: its name, in two lines on a terminal, and what its cells say.
struct Column {
    header: fn(baseline: &str) -> String,
    /// Whether it is on the terminal as well as in the report.
    is_narrow: bool,
    cell: fn(&Cell<'_>) -> String,
}

/// All columns but the last two.
const COLUMNS: [Column; 10] = [
    Column {
        header: |_| "\nallocator".to_owned(),
        is_narrow: true,
        cell: |cell| {
            let mark = if cell.has_handles { "*" } else { "" };
            format!("{}{mark}", shown(&cell.row.allocator))
        },
    },
    Column {
        header: |_| "\npointer".to_owned(),
        is_narrow: false,
        cell: |cell| if cell.has_handles { "handle" } else { "raw" }.to_owned(),
    },
    Column {
        header: |baseline| format!("time÷{}\n[min-max]", elided(&short(baseline), 11)),
        is_narrow: true,
        cell: time,
    },
    Column {
        header: |_| "with access\n[min-max]".to_owned(),
        is_narrow: true,
        cell: with_access,
    },
    Column {
        header: |_| "free µs:\np99.99 / max".to_owned(),
        is_narrow: true,
        cell: free_tail,
    },
    Column {
        header: |_| "min heap\n÷live".to_owned(),
        is_narrow: true,
        cell: |cell| cell.of_live(cell.row.min_heap_bytes),
    },
    Column {
        header: |_| "certified\n÷live".to_owned(),
        is_narrow: true,
        cell: |cell| cell.of_live(cell.row.certified_bytes),
    },
    Column {
        header: |_| "moved\nB/free".to_owned(),
        is_narrow: false,
        cell: moved,
    },
    Column {
        header: |_| "lines / pages\nby birth".to_owned(),
        is_narrow: false,
        cell: |cell| near(cell.row.locality.map(|seen| seen.by_birth)),
    },
    Column {
        header: |_| "lines / pages\nas freed".to_owned(),
        is_narrow: false,
        cell: |cell| near(cell.row.locality.and_then(|seen| seen.by_free)),
    },
];

/// Only a report has it beside a count of instructions: a terminal is not wide enough for both.
const RESIDENT: Column = Column {
    header: |_| "resident\n÷live".to_owned(),
    is_narrow: true,
    cell: |cell| {
        let mean = cell.row.resident_over_live_mean;
        or_none(mean.map(|mean| format!("{mean:.2}")))
    },
};

/// Only a count of instructions has it.
const INSTRUCTIONS: Column = Column {
    header: |_| "instr. of\nalloc/free".to_owned(),
    is_narrow: true,
    cell: instructions,
};

/// The table of one trace with all its columns, for the report.
pub(crate) fn all(trace: &TraceResults, notes: &Notes) -> Grid {
    let mut grid = grid(trace, notes, |_| true);
    grid.text_columns = 2;
    for name in &mut grid.header {
        *name = name.trim().replace('\n', " ");
    }
    grid
}

/// All columns, for a terminal of any width.
pub(super) fn wide(trace: &TraceResults, notes: &Notes) -> Grid {
    grid(trace, notes, |_| true)
}

/// The columns for a terminal.
pub(super) fn narrow(trace: &TraceResults, notes: &Notes) -> Grid {
    grid(trace, notes, |column| column.is_narrow)
}

fn grid(trace: &TraceResults, notes: &Notes, has: impl Fn(&Column) -> bool) -> Grid {
    let is_counted = |row: &AllocatorResult| row.instructions_per_free.is_some();
    let is_counted = trace.results.iter().any(is_counted);
    let resident = Column {
        is_narrow: RESIDENT.is_narrow && !is_counted,
        ..RESIDENT
    };
    let columns: Vec<_> = COLUMNS
        .into_iter()
        .chain([resident])
        .chain(is_counted.then_some(INSTRUCTIONS))
        .filter(|column| has(column))
        .collect();
    let rows = trace
        .results
        .iter()
        .zip(&notes.handles)
        .map(|(row, has_handles)| {
            let cell = Cell {
                row,
                has_handles: *has_handles,
                live: trace.peak_live_bytes,
            };
            columns.iter().map(|column| (column.cell)(&cell)).collect()
        });
    Grid {
        rows: rows.collect(),
        header: columns
            .iter()
            .map(|column| (column.header)(&notes.baseline))
            .collect(),
        text_columns: 1,
    }
}

impl Cell<'_> {
    fn of_live(&self, bytes: Option<u64>) -> String {
        or_none(bytes.map(|bytes| format!("{:.3}", bytes as f64 / self.live.max(1) as f64)))
    }
}

fn time(cell: &Cell<'_>) -> String {
    match &cell.row.error {
        Some(error) => error.kind.clone(),
        None => or_none(cell.row.ratio_to_baseline.map(|ratio| ratio.to_string())),
    }
}

fn with_access(cell: &Cell<'_>) -> String {
    let ratio = cell.row.access_ratio_to_baseline;
    or_none(ratio.map(|ratio| ratio.to_string()))
}

fn free_tail(cell: &Cell<'_>) -> String {
    let tail = cell.row.free_ns_p9999.zip(cell.row.free_ns_max);
    or_none(tail.map(|(p9999, max)| format!("{:.1} / {:.0}", micros(p9999), micros(max))))
}

fn moved(cell: &Cell<'_>) -> String {
    let per_free = |bytes: u64| format!("{:.1}", bytes as f64 / cell.row.frees.max(1) as f64);
    or_none(cell.row.moved_bytes_total.map(per_free))
}

fn near(near: Option<Near>) -> String {
    or_none(near.map(|near| format!("{:.0} / {:.0}", near.lines, near.pages)))
}

fn instructions(cell: &Cell<'_>) -> String {
    let row = cell.row;
    let both = row.instructions_per_malloc.zip(row.instructions_per_free);
    or_none(both.map(|(malloc, free)| format!("{malloc:.0} / {free:.0}")))
}

fn micros(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e3
}

fn or_none(figure: Option<String>) -> String {
    figure.unwrap_or_else(|| NO_FIGURE.to_owned())
}
