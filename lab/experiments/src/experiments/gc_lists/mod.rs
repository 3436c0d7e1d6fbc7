//! `surefit experiment gc-lists`: heap management time against the number of lists.
//!
//! ```text
//! systems   16 to 4096 lists, immediate coalescing: one heap, found by the table, last list searched from end to end;
//!           ours beside it: two ends, a bitmap, a tree
//! heap      that in which deferred collects, the same for all
//! time      allocation, marking and sweeping, interleaved rounds; ratios round by round
//! counts    visits, updates of the table and entries written, in a run of their own: exact
//! ```
//!
//! # Source
//! The thesis on free-list organisation, figure 4-14.

mod claims;
mod found;

use anyhow::Result;
use surefit_vm::Watching;

use self::found::{BEST, COUNTS, Found, Row, find, system, to_best};
use crate::kit::{Axis, Entry, Plot, Report, Request, Series, Table, papers};
use crate::shared::thesis::collecting::{self, collecting};
use crate::shared::thesis::heaps::outcome;
use crate::shared::thesis::java::{self, Java};
use crate::shared::thesis::systems;
use crate::shared::threads::figures::spread;
use surefit_measure::progress::Progress;
use surefit_measure::ratio::median;

/// This experiment.
pub(crate) const ENTRY: Entry = Entry {
    name: "gc-lists",
    about: "Heap management time of Java programs against the number of lists",
    takes_traces: false,
    takes_rounds: true,
    run,
};

/// Those of a quick run: 16 and 32 lists take most of the time of all.
const QUICK_COUNTS: [u32; 3] = [64, 256, 1024];

fn run(request: &Request) -> Result<Report> {
    let source = papers::of_the_thesis!("figure 4-14");
    let rounds = request.rounds_or(2);
    let counts = if request.quick {
        &QUICK_COUNTS[..]
    } else {
        &COUNTS
    };
    let mut report = Report::new(ENTRY.name, ENTRY.about, source, request.quick);
    report.setting = vec![
        systems::setting() + " Immediate coalescing.",
        collecting::setting(),
        format!(
            "{rounds} interleaved rounds; each allocation is timed, and the clock's own cost is subtracted. \
             Brackets hold the least and the greatest of the rounds."
        ),
    ];
    let mut all = Vec::new();
    for java in java::all(request) {
        let found = measured(&java, counts, rounds)?;
        report.tables.push(table(&found));
        report.plots.extend(plots(&found, counts));
        all.push(found);
    }
    report.claims = claims::all(&all);
    let names: Vec<_> = all.iter().map(|found| found.name.as_str()).collect();
    report.notes.extend(java::missing(&names));
    report.notes.push(
        "256 lists end at 2 KiB here and at 1 KB in the thesis. Figure 4-14 shows its values only as a curve, which is not \
         known here in figures: no line of the thesis's is drawn."
            .to_owned(),
    );
    Ok(report)
}

/// Every number of lists that completes in the heap, in both kinds of heap.
fn measured(java: &Java, counts: &[u32], rounds: u32) -> Result<Found> {
    let heap = collecting(java)?;
    let bytes = heap.bytes();
    let progress = Progress::new(2 * counts.len() as u64 * u64::from(1 + rounds));
    let step = |what, lists: u32, is_ours| {
        let system = format!("{lists} lists, {}", kind_name(is_ours));
        progress.step(java.name, what, &system);
    };
    let mut rows = Vec::new();
    for is_ours in [false, true] {
        for &count in counts {
            let of = (count, is_ours);
            let watching = Watching {
                free_sizes: count == BEST && !is_ours,
                ..Watching::default()
            };
            let found = outcome(java, system(of), bytes, watching)?;
            rows.extend(found.map(|outcome| Row::new(of, &outcome)));
            step("counts", count, is_ours);
        }
    }
    for _round in 0..rounds {
        for row in &mut rows {
            row.time(java, bytes)?;
            step("times", row.lists, row.is_ours);
        }
    }
    progress.finish();
    Ok(Found {
        name: java.name.to_owned(),
        heap,
        rows,
    })
}

const fn kind_name(is_ours: bool) -> &'static str {
    if is_ours { "ours" } else { "one heap" }
}

fn table(found: &Found) -> Table {
    let title = format!(
        "figure 4-14, {}, {}: by the number of lists; visits, updates and entries per allocation",
        found.name,
        found.heap.words()
    );
    let rows = &found.rows;
    Table::of(title, rows.iter().map(|row| (row, to_best(rows, row))))
        .text("heap", |(row, _)| kind_name(row.is_ours))
        .figure("lists", 0, |(row, _)| row.lists)
        .figure("management ms", 2, |(row, _)| median(&row.management_ms))
        .figure("÷ 256", 3, |(_, to_best)| {
            to_best.map(|ratio| ratio.median)
        })
        .figure("least", 3, |(_, to_best)| to_best.map(|ratio| ratio.min))
        .figure("greatest", 3, |(_, to_best)| to_best.map(|ratio| ratio.max))
        .figure("allocation ms", 2, |(row, _)| median(&row.allocation_ms))
        .figure("visits", 2, |(row, _)| row.visits)
        .figure("% above 1 KB", 2, |(row, _)| row.percent_large)
        .figure("updates", 3, |(row, _)| row.updates)
        .figure("entries", 2, |(row, _)| row.stores)
        .table()
}

fn plots(found: &Found, counts: &[u32]) -> [Plot; 2] {
    let name = &found.name;
    let plot = |what: &str, y: Axis, series: [Series; 2]| Plot {
        title: format!("figure 4-14, {name}: {what}"),
        x: Axis::named("lists", counts.iter().map(ToString::to_string)),
        y,
        series: series.into(),
    };
    // A number of lists that does not complete has a place, and no row.
    let places = |is_ours| {
        let all = (0..).map(f64::from).zip(counts);
        all.filter_map(move |(place, &lists)| Some((place, find(&found.rows, is_ours, lists)?)))
    };
    let times = [false, true].map(|is_ours| {
        let mut series = Series::new(kind_name(is_ours), Vec::new());
        for (place, row) in places(is_ours).filter(|(_, row)| !row.management_ms.is_empty()) {
            let time = spread(&row.management_ms);
            series.points.push((place, time.median));
            series.spread.push((time.min, time.max));
        }
        series
    });
    let visits = [false, true].map(|is_ours| {
        let visited = places(is_ours).filter(|(_, row)| row.visits > 0.0);
        let points = visited.map(|(place, row)| (place, row.visits));
        Series::new(kind_name(is_ours), points.collect::<Vec<_>>())
    });
    [
        plot("heap management", Axis::logarithmic("ms"), times),
        plot(
            "free chunks visited",
            Axis::logarithmic("visits per allocation"),
            visits,
        ),
    ]
}
