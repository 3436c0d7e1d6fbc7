//! `surefit trace stats` of object graphs.

use std::path::{Path, PathBuf};

use anyhow::Result;
use schemars::JsonSchema;
use serde::Serialize;
use surefit_trace::graph::Stats;

use super::stats::{shown, table};
use surefit_measure::collector::graphs;
use surefit_measure::output::grouped;
use surefit_measure::sizes::per_cent;

/// The most recordings in one table.
const GRAPHS_A_TABLE: usize = 3;

/// The statistics of one object graph. Sizes are those in the virtual machine, headers included.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct GraphStats {
    /// The path as given.
    file: String,
    /// Recorded allocations.
    allocations: u64,
    /// The sum of the sizes of these objects, in bytes.
    allocated_bytes: u64,
    /// Objects that a walk found although their allocation was not recorded.
    found_objects: u64,
    /// The sum of the sizes of these objects, in bytes.
    found_bytes: u64,
    /// How often a walk found an object that an earlier walk had missed.
    revived_objects: u64,
    /// Objects logged dead.
    dead_objects: u64,
    /// Declared classes.
    classes: u64,
    /// Walks through the reachable objects.
    walks: u64,
    /// Objects that walks found changed.
    changes: u64,
    /// References of the changed objects, in their own slots.
    references: u64,
    /// References of the changed objects on behalf of classes.
    class_level_references: u64,
    /// Live objects at the end of the walk that found the most live bytes.
    most_live_objects: u64,
    /// Live bytes at the end of that walk.
    most_live_bytes: u64,
    /// Distinct sizes of allocations.
    distinct_sizes: u64,
    /// How many sizes make up 90 % of the allocations, counted from the most frequent size.
    sizes_for_90_percent: u64,
    /// The same for 99 %.
    sizes_for_99_percent: u64,
    /// The most frequent sizes, the most frequent first.
    top_sizes: Vec<SizeShare>,
}

/// How often a size is allocated.
#[derive(Debug, Serialize, JsonSchema)]
struct SizeShare {
    size_bytes: u64,
    allocations: u64,
    allocations_percent: f64,
}

/// Reads recordings to their ends.
///
/// # Errors
/// One line that names the file, the place and the remedy.
pub(super) fn read(files: &[PathBuf], top: usize) -> Result<Vec<GraphStats>> {
    let read = |file: &PathBuf| {
        let stats = Stats::read(graphs::open(file)?)?;
        Ok(GraphStats::new(file, &stats, top))
    };
    files.iter().map(read).collect()
}

impl GraphStats {
    fn new(file: &Path, stats: &Stats, top: usize) -> Self {
        let top_sizes = stats.sizes.iter().take(top).map(|size| SizeShare {
            size_bytes: size.bytes.into(),
            allocations: size.allocations,
            allocations_percent: per_cent(size.allocations, stats.allocations),
        });
        Self {
            file: file.display().to_string(),
            allocations: stats.allocations,
            allocated_bytes: stats.bytes,
            found_objects: stats.found,
            found_bytes: stats.found_bytes,
            revived_objects: stats.revived,
            dead_objects: stats.dead,
            classes: stats.classes,
            walks: stats.walks,
            changes: stats.changes,
            references: stats.references,
            class_level_references: stats.class_level,
            most_live_objects: stats.most_live.objects,
            most_live_bytes: stats.most_live.bytes,
            distinct_sizes: stats.sizes.len() as u64,
            sizes_for_90_percent: stats.sizes_for(90) as u64,
            sizes_for_99_percent: stats.sizes_for(99) as u64,
            top_sizes: top_sizes.collect(),
        }
    }
}

/// The label of a figure, and how to get it from a recording.
type Figure = (&'static str, fn(&GraphStats) -> u64);

const FIGURES: [Figure; 16] = [
    ("allocations", |g| g.allocations),
    ("  bytes", |g| g.allocated_bytes),
    ("found objects", |g| g.found_objects),
    ("  bytes", |g| g.found_bytes),
    ("revived objects", |g| g.revived_objects),
    ("dead objects", |g| g.dead_objects),
    ("classes", |g| g.classes),
    ("walks", |g| g.walks),
    ("changed objects", |g| g.changes),
    ("  references", |g| g.references),
    ("  on behalf of classes", |g| g.class_level_references),
    ("most live bytes", |g| g.most_live_bytes),
    ("  objects at that time", |g| g.most_live_objects),
    ("distinct sizes", |g| g.distinct_sizes),
    ("  for 90 % of objects", |g| g.sizes_for_90_percent),
    ("  for 99 % of objects", |g| g.sizes_for_99_percent),
];

/// All recordings as tables for people: one column per recording.
pub(super) fn tables(all: &[GraphStats]) -> String {
    let tables = all.chunks(GRAPHS_A_TABLE).map(|group| {
        let name = |graph: &GraphStats| {
            let name = Path::new(&graph.file).file_name().unwrap_or_default();
            let name = name.to_string_lossy();
            shown(name.split(".sfg").next().unwrap_or_default())
        };
        let header = ["object graph".to_owned()].into_iter();
        let mut table = table(header.chain(group.iter().map(name)).collect());
        for (label, figure) in FIGURES {
            let values = group.iter().map(|graph| grouped(figure(graph)));
            table.add_row([label.to_owned()].into_iter().chain(values));
        }
        add_frequent(&mut table, group);
        format!("{}\n", table.trim_fmt())
    });
    tables.collect::<Vec<_>>().join("\n")
}

/// The most frequent sizes: `size: % of allocations`.
fn add_frequent(table: &mut comfy_table::Table, group: &[GraphStats]) {
    let longest = group.iter().map(|graph| graph.top_sizes.len()).max();
    for rank in 0..longest.unwrap_or_default() {
        let cells = group.iter().map(|graph| {
            graph.top_sizes.get(rank).map_or_else(
                || "-".to_owned(),
                |size| format!("{}: {:.1}", size.size_bytes, size.allocations_percent),
            )
        });
        table.add_row([format!("size {}: %", rank + 1)].into_iter().chain(cells));
    }
}
