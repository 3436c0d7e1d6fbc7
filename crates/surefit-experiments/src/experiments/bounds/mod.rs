//! `surefit experiment bounds`: what each bound on fragmentation costs and saves, on recorded programs.
//!
//! ```text
//! bound                    not-full pages or holes of a size-class
//! cf:k=1                   at most one not-full page: full compaction
//! cf:k=8                   at most eight
//! cf:k=8,order=original    the same; blocks move in the order of the original paper
//! cf:k=inf                 any number: nothing moves
//! cf:holes=32,frac=0       at most 32 holes
//! cf                       at most 4 holes, and one for every 16 live page-blocks
//! ```
//! Moves, bytes, certificates and smallest heaps are exact; times come from interleaved rounds.
//!
//! # Source
//! κ and its two page orders: Craciunas, Kirsch, Payer, Röck, Sokolova (2008). The hole bound is ours (docs/bounds.md).

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use surefit_measure::error::one_line;
use surefit_measure::grid::Grid;
use surefit_measure::output;
use surefit_measure::output::Format;
use surefit_measure::passes::percentiles;
use surefit_measure::progress::Progress;
use surefit_measure::results::{Ratio, SCHEMA};
use surefit_measure::rounds::{self, Measured, Plan};
use surefit_measure::single::Setting;
use surefit_measure::sizes::counted;
use surefit_measure::sizes::{Count, HeapSize, Size};
use surefit_measure::source::{self, Source};
use surefit_measure::spec::Spec;

/// The bounds, the default last; times are compared to the first.
const BOUNDS: &str = "cf:k=1,cf:k=8,cf:k=8,order=original,cf:k=inf,cf:holes=32,frac=0,cf";

/// What `experiment bounds` is told.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Trace files; without any, the two bundled ones
    files: Vec<PathBuf>,
    /// Interleaved rounds of the timing pass
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
    /// How the result is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// What `surefit experiment bounds` prints.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bounds {
    /// The version of this format.
    pub(crate) schema: u32,
    /// How many interleaved rounds were timed.
    pub(crate) rounds: u32,
    /// One element for each trace.
    pub(crate) traces: Vec<TraceBounds>,
}

/// One trace under every bound.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TraceBounds {
    /// The trace's name.
    pub(crate) name: String,
    /// Events.
    pub(crate) events: u64,
    /// The greatest sum of live requests, in bytes.
    pub(crate) peak_live_bytes: u64,
    /// N: the most page-blocks live at once.
    pub(crate) demand_objects: u64,
    /// B: the most bytes of page-blocks live at once.
    pub(crate) demand_bytes: u64,
    /// One element for each bound.
    pub(crate) bounds: Vec<BoundRow>,
}

/// One trace under one bound.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BoundRow {
    /// The heap with this bound.
    pub(crate) allocator: String,
    /// Whether the whole trace was served in four times its peak.
    pub(crate) completed: bool,
    /// Page-blocks moved for each free of the trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) moves_per_free: Option<f64>,
    /// Bytes copied for each free of the trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) moved_bytes_per_free: Option<f64>,
    /// Time per allocation or reallocation and its free: the median of the rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pair_ns_mean: Option<f64>,
    /// That time over the first bound's, taken round by round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ratio_to_first: Option<Ratio>,
    /// A heap of this size serves every program with the trace's joint demand, in any order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) certified_bytes: Option<u64>,
    /// Of these: the address table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) certified_table_bytes: Option<u64>,
    /// Of these: at most so many are there because of back-references.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) certified_back_reference_bytes: Option<u64>,
    /// The smallest heap in which the trace completes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) min_heap_bytes: Option<u64>,
}

/// Measures and prints the table.
///
/// # Errors
/// Bad input; a heap that broke a rule or its proven bound.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let document = measure(&args.files, args.rounds)?;
    match args.format {
        Format::Json => output::print_json(&document)?,
        Format::Table => output::print(&text(&document))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Measures every bound on every trace.
///
/// # Errors
/// As [`run`].
pub(crate) fn measure(files: &[PathBuf], rounds: u32) -> Result<Bounds> {
    let specs = Spec::parse_list(BOUNDS)?;
    let plan = plan(rounds);
    let files = match files {
        [] => source::bundled_files(),
        files => files.to_vec(),
    };
    let progress = Progress::new(plan.progress_steps() * (specs.len() * files.len()) as u64);
    let mut traces = Vec::new();
    for file in &files {
        let source = Source::load(file, None)?;
        let measured = rounds::measure(&source, &specs, 0, plan, &progress)?;
        traces.push(trace_bounds(&source, &measured));
    }
    progress.finish();
    Ok(Bounds {
        schema: SCHEMA,
        rounds,
        traces,
    })
}

fn plan(rounds: u32) -> Plan {
    Plan {
        setting: Setting {
            heap: HeapSize::DEFAULT,
            touch: true,
        },
        rounds,
        access_rounds: 0,
        percentiles: false,
        min_heap: true,
        instructions: false,
        clock_ns: percentiles::clock_ns(),
    }
}

fn trace_bounds(source: &Source, measured: &[Measured]) -> TraceBounds {
    let steps = &source.steps;
    let demand = measured.iter().find_map(|row| row.certified);
    TraceBounds {
        name: steps.name.clone(),
        events: steps.steps().len() as u64,
        peak_live_bytes: steps.peak_live_bytes,
        demand_objects: demand.map_or(0, |demand| demand.demand_objects),
        demand_bytes: demand.map_or(0, |demand| demand.demand_bytes),
        bounds: measured.iter().map(bound_row).collect(),
    }
}

fn bound_row(measured: &Measured) -> BoundRow {
    let (row, certified) = (&measured.result, measured.certified);
    let per_free = |total: Option<u64>| total.map(|total| total as f64 / row.frees.max(1) as f64);
    BoundRow {
        allocator: row.allocator.clone(),
        completed: row.completed,
        moves_per_free: per_free(row.moves_total),
        moved_bytes_per_free: per_free(row.moved_bytes_total),
        pair_ns_mean: row.pair_ns_mean,
        ratio_to_first: row.ratio_to_baseline,
        certified_bytes: certified.map(|bound| bound.heap_bytes),
        certified_table_bytes: certified.map(|bound| bound.table_bytes),
        certified_back_reference_bytes: certified.map(|bound| bound.back_reference_bytes),
        min_heap_bytes: row.min_heap_bytes,
    }
}

fn text(document: &Bounds) -> String {
    let mut text = format!(
        "surefit experiment bounds: {}, heap 4x\n\
         B: bytes of page-blocks, the most live at once; N: how many. certified: bytes that suffice for N and B in any \
         order.\nmoves, B: what each free of the trace moved. ratio: time, to the first bound's of the same round.\n\n",
        counted(u64::from(document.rounds), "interleaved round")
    );
    for trace in &document.traces {
        text += &format!(
            "{}   {}, peak live {}, B {}, N {}\n{}\n\n",
            one_line(&trace.name),
            counted(trace.events, "event"),
            Size(trace.peak_live_bytes),
            Size(trace.demand_bytes),
            Count(trace.demand_objects),
            grid(trace).to_text()
        );
    }
    text + "Of certified÷B, the address table and at most the back-references are what handles cost.\n"
}

fn grid(trace: &TraceBounds) -> Grid {
    let header = [
        "bound",
        "moves/free",
        "B/free",
        "ns/pair",
        "ratio [min-max]",
        "certified÷B",
        "table÷B",
        "back refs÷B",
        "min heap÷live",
    ];
    Grid {
        header: header.map(str::to_owned).to_vec(),
        rows: trace.bounds.iter().map(|row| cells(trace, row)).collect(),
        text_columns: 1,
    }
}

fn cells(trace: &TraceBounds, row: &BoundRow) -> Vec<String> {
    let figure = |figure: Option<f64>, digits: usize| {
        figure.map_or_else(|| "-".to_owned(), |figure| format!("{figure:.digits$}"))
    };
    let of = |bytes: Option<u64>, whole: u64| {
        figure(bytes.map(|bytes| bytes as f64 / whole.max(1) as f64), 3)
    };
    let ratio = row.ratio_to_first.map_or_else(
        || "-".to_owned(),
        |ratio| format!("{:.2} [{:.2}-{:.2}]", ratio.median, ratio.min, ratio.max),
    );
    vec![
        row.allocator.clone(),
        figure(row.moves_per_free, 4),
        figure(row.moved_bytes_per_free, 1),
        figure(row.pair_ns_mean, 1),
        ratio,
        of(row.certified_bytes, trace.demand_bytes),
        of(row.certified_table_bytes, trace.demand_bytes),
        of(row.certified_back_reference_bytes, trace.demand_bytes),
        of(row.min_heap_bytes, trace.peak_live_bytes),
    ]
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_committed_schema_is_that_of_the_type() {
        surefit_measure::schema::is_committed::<super::Bounds>("experiment-bounds.json");
    }
}
