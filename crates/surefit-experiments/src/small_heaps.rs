//! `surefit experiment small-heaps`: certificates of small heaps beside the bounds of heaps that never move.
//!
//! The demand: any order of requests of 16 to n bytes whose sum is at most M bytes. Pages of 1 KiB, words of two bytes,
//! the default hole bound; full compaction (κ = 1) beside it, which is the best for heaps this small.
//!
//! ```text
//! powers of two   requests of 16, 32, … n bytes                       Robson's bound is exact here
//! any size        multiples of 8 bytes, at the worst rounding          Robson's bound doubles, and is not exact
//! Robson          M(½·log2 n + 1) − n + 1                              no allocator that never moves needs less
//! o1heap          2M(1 + ⌈log2 n⌉)                                     what Half-fit needs at most
//! ```
//! M and n count units of the smallest object, 16 bytes: the reading that favours those two. Neither counts headers or
//! tables; ours counts everything: pages, handles, back-references, page records, class states, alignment.
//!
//! # Source
//! Robson 1971 and 1974; Ogasawara 1995, by way of the README of o1heap; docs/bounds.md, section 6.

use std::process::ExitCode;

use anyhow::{Context, Result};
use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, Table};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surefit_compact::certify::{Budget, ClassSet, Demand, Uncertifiable, certify};
use surefit_compact::{Bound, Config, Geometry, GeometrySpec, Narrow, SizeClass, Spacing, Tail};

use surefit_measure::output;
use surefit_measure::results::SCHEMA;

/// The smallest object, and the unit of the bounds that do not move.
const UNIT_BYTES: u64 = 16;

/// P.
const PAGE_BYTES: usize = 1024;

/// The largest requests of the table.
const LARGEST: [u64; 3] = [64, 256, 1024];

/// Live bytes of the table's rows, in KiB.
const LIVE_KIB: [u64; 7] = [4, 16, 64, 128, 256, 512, 640];

/// Live bytes are tried up to here for the break-even; beyond, two-byte words do not suffice.
const MOST_LIVE_KIB: u64 = 256;

/// What `surefit experiment small-heaps` prints.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SmallHeaps {
    /// The version of this format.
    pub(crate) schema: u32,
    /// Bytes of a page.
    pub(crate) page_bytes: u64,
    /// One for each largest request and each sum of live bytes.
    pub(crate) rows: Vec<Row>,
    /// From which sum of live bytes on a certificate is below Robson's bound.
    pub(crate) break_even: Vec<BreakEven>,
}

/// One demand, and the bytes that suffice for it.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Row {
    /// n: the largest request.
    pub(crate) largest_bytes: u64,
    /// M: the greatest sum of live requests.
    pub(crate) live_bytes: u64,
    /// Requests that are powers of two: the default hole bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) powers_holes_bytes: Option<u64>,
    /// Requests that are powers of two: κ = 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) powers_full_bytes: Option<u64>,
    /// Requests that are powers of two: Robson's bound.
    pub(crate) powers_robson_bytes: u64,
    /// Requests of any size: the default hole bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) any_holes_bytes: Option<u64>,
    /// Requests of any size: κ = 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) any_full_bytes: Option<u64>,
    /// Requests of any size: twice Robson's bound.
    pub(crate) any_robson_bytes: u64,
    /// Requests of any size: o1heap's bound.
    pub(crate) o1heap_bytes: u64,
}

/// The least sum of live bytes from which on a certificate is below Robson's bound.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BreakEven {
    /// n: the largest request.
    pub(crate) largest_bytes: u64,
    /// Powers of two, the default hole bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) powers_holes_bytes: Option<u64>,
    /// Powers of two, κ = 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) powers_full_bytes: Option<u64>,
    /// Any size, the default hole bound, against twice Robson's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) any_holes_bytes: Option<u64>,
    /// Any size, κ = 1, against twice Robson's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) any_full_bytes: Option<u64>,
}

/// Prints the table.
///
/// # Errors
/// Standard output cannot be written.
pub(crate) fn run(json: bool) -> Result<ExitCode> {
    let document = measure()?;
    if json {
        output::print_json(&document)?;
    } else {
        output::print(&text(&document))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The heap of the experiment, by its bound.
struct Heaps {
    holes: Config,
    full: Config,
}

impl Heaps {
    fn new() -> Result<Self> {
        let geometry = Geometry::new(&GeometrySpec {
            page_bytes: PAGE_BYTES,
            spacing: Spacing::Fraction(8),
            tail: Tail::BackReferences { bytes: 2 },
            ..GeometrySpec::DEFAULT
        })?;
        let config = |bound| Config::new(geometry.clone(), bound)?.with_pieces(None);
        Ok(Self {
            holes: config(Bound::DEFAULT)?,
            full: config(Bound::Pages(1))?,
        })
    }
}

/// Which requests occur.
#[derive(Clone, Copy)]
enum Sizes {
    Powers,
    Any,
}

impl Sizes {
    fn classes(self, config: &Config, largest: u64) -> Vec<SizeClass> {
        let geometry = config.geometry();
        let step = |request: &u64| match self {
            Self::Powers => request * 2,
            Self::Any => request + 8,
        };
        let requests = std::iter::successors(Some(UNIT_BYTES), |request| Some(step(request)));
        let requests = requests.take_while(|request| *request <= largest);
        let mut classes: Vec<_> = requests
            .filter_map(|bytes| geometry.class_for(bytes as usize, 1))
            .collect();
        classes.dedup();
        classes
    }

    /// The most bytes of page-blocks for requests of `live` bytes: each class's least request is what it is worst at.
    fn block_bytes(self, config: &Config, classes: &[SizeClass], live: u64) -> u64 {
        let geometry = config.geometry();
        let worst = classes.iter().map(|&class| {
            let block = u64::from(geometry.layout(class).block_bytes);
            let least = match self {
                Self::Powers => block,
                Self::Any => (geometry.smallest_request(class) as u64)
                    .next_multiple_of(8)
                    .max(UNIT_BYTES),
            };
            (live * block).div_ceil(least)
        });
        worst.max().unwrap_or(0)
    }
}

/// Bytes certified for requests of at most `live` bytes in sum; `None` if two-byte words do not suffice.
fn certified(config: &Config, sizes: Sizes, live: u64, largest: u64) -> Result<Option<u64>> {
    let classes = sizes.classes(config, largest);
    let set = classes
        .iter()
        .fold(ClassSet::EMPTY, |set, &class| set.with(class));
    let budget = Budget {
        objects: live / UNIT_BYTES,
        block_bytes: sizes.block_bytes(config, &classes, live),
        classes: set,
    };
    match certify::<Narrow>(config, &Demand::Joint(budget)) {
        Ok(certificate) => Ok(Some(certificate.heap_bytes as u64)),
        Err(Uncertifiable::TooManyPages { .. } | Uncertifiable::TooManyEntries { .. }) => Ok(None),
        Err(error) => Err(error).context("the demand of the experiment"),
    }
}

/// Robson's bound in bytes, rounded down: exact for powers of two.
fn robson(live: u64, largest: u64) -> u64 {
    let (live, largest) = (live / UNIT_BYTES, largest / UNIT_BYTES);
    let halves = live * u64::from(largest.ilog2());
    (halves / 2 + live - largest + 1) * UNIT_BYTES
}

/// o1heap's bound, in bytes.
fn o1heap(live: u64, largest: u64) -> u64 {
    let log2 = (largest / UNIT_BYTES).next_power_of_two().ilog2();
    2 * live * (1 + u64::from(log2))
}

fn row(heaps: &Heaps, live: u64, largest: u64) -> Result<Row> {
    let certified = |config, sizes| certified(config, sizes, live, largest);
    Ok(Row {
        largest_bytes: largest,
        live_bytes: live,
        powers_holes_bytes: certified(&heaps.holes, Sizes::Powers)?,
        powers_full_bytes: certified(&heaps.full, Sizes::Powers)?,
        powers_robson_bytes: robson(live, largest),
        any_holes_bytes: certified(&heaps.holes, Sizes::Any)?,
        any_full_bytes: certified(&heaps.full, Sizes::Any)?,
        any_robson_bytes: 2 * robson(live, largest),
        o1heap_bytes: o1heap(live, largest),
    })
}

/// The least multiple of 256 bytes from which on the certificate stays below `bound`.
fn break_even(
    config: &Config,
    sizes: Sizes,
    largest: u64,
    bound: impl Fn(u64) -> u64,
) -> Result<Option<u64>> {
    let mut least = None;
    for live in (1..=MOST_LIVE_KIB * 4).rev().map(|quarter| quarter << 8) {
        match certified(config, sizes, live, largest)? {
            Some(bytes) if live >= largest && bytes < bound(live) => least = Some(live),
            _ => break,
        }
    }
    Ok(least)
}

fn break_evens(heaps: &Heaps, largest: u64) -> Result<BreakEven> {
    let powers = |live| robson(live, largest);
    let any = |live| 2 * robson(live, largest);
    Ok(BreakEven {
        largest_bytes: largest,
        powers_holes_bytes: break_even(&heaps.holes, Sizes::Powers, largest, powers)?,
        powers_full_bytes: break_even(&heaps.full, Sizes::Powers, largest, powers)?,
        any_holes_bytes: break_even(&heaps.holes, Sizes::Any, largest, any)?,
        any_full_bytes: break_even(&heaps.full, Sizes::Any, largest, any)?,
    })
}

/// Certifies every demand of the table.
///
/// # Errors
/// Never: the demands can be certified.
pub(super) fn measure() -> Result<SmallHeaps> {
    let heaps = Heaps::new()?;
    let demands = LARGEST
        .into_iter()
        .flat_map(|n| LIVE_KIB.map(|live| (live << 10, n)));
    Ok(SmallHeaps {
        schema: SCHEMA,
        page_bytes: PAGE_BYTES as u64,
        rows: demands
            .map(|(live, n)| row(&heaps, live, n))
            .collect::<Result<_>>()?,
        break_even: LARGEST
            .into_iter()
            .map(|n| break_evens(&heaps, n))
            .collect::<Result<_>>()?,
    })
}

fn text(document: &SmallHeaps) -> String {
    let mut text = String::from(
        "Small heaps: bytes that suffice for any order of requests, as multiples of the live bytes M.\n\
         Ours: 1 KiB pages, 16-bit words, everything counted. Robson, o1heap: without headers and tables.\n\n",
    );
    text += &format!(
        "{}\n\nBreak-even with Robson's bound, in live bytes:\n",
        table(&document.rows)
    );
    for line in &document.break_even {
        let bytes =
            |live: Option<u64>| live.map_or_else(|| "none".to_owned(), |live| format!("{live} B"));
        text += &format!(
            "  n = {:>4} B   powers of two: default {}, k=1 {};   any size: default {}, k=1 {}\n",
            line.largest_bytes,
            bytes(line.powers_holes_bytes),
            bytes(line.powers_full_bytes),
            bytes(line.any_holes_bytes),
            bytes(line.any_full_bytes)
        );
    }
    text + "-: over 1 MiB, more than 16-bit words can name.\n"
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new();
    table.load_preset(NOTHING).set_header([
        "n",
        "M",
        "powers: cf",
        "k=1",
        "Robson",
        "any: cf",
        "k=1",
        "2 Robson",
        "o1heap",
    ]);
    for column in table.column_iter_mut() {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for row in rows {
        let ratio = |bytes: u64| format!("{:.2}", bytes as f64 / row.live_bytes as f64);
        let certified = |bytes: Option<u64>| bytes.map_or_else(|| "-".to_owned(), ratio);
        table.add_row([
            row.largest_bytes.to_string(),
            format!("{} KiB", row.live_bytes >> 10),
            certified(row.powers_holes_bytes),
            certified(row.powers_full_bytes),
            ratio(row.powers_robson_bytes),
            certified(row.any_holes_bytes),
            certified(row.any_full_bytes),
            ratio(row.any_robson_bytes),
            ratio(row.o1heap_bytes),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::{LARGEST, measure, o1heap, robson, text};

    #[test]
    fn robsons_bound_is_that_of_the_literature() {
        // M = 1024 and n = 32 objects of one unit: 3553 (and 16 and 2: 23).
        assert_eq!(robson(1024 * 16, 32 * 16), 3553 * 16);
        assert_eq!(robson(16 * 16, 2 * 16), 23 * 16);
        assert_eq!(o1heap(1024 * 16, 32 * 16), 2 * 1024 * 6 * 16);
    }

    #[test]
    fn larger_heaps_come_closer_to_what_is_live() {
        let document = measure().expect("certified");
        for n in LARGEST {
            let rows = document.rows.iter().filter(|row| row.largest_bytes == n);
            let ratios: Vec<_> = rows
                .filter_map(|row| Some(row.any_holes_bytes? as f64 / row.live_bytes as f64))
                .collect();
            assert!(
                ratios.len() > 3 && ratios.is_sorted_by(|a, b| a > b),
                "{ratios:?}"
            );
        }
        assert!(
            document
                .break_even
                .iter()
                .all(|line| line.powers_full_bytes.is_some())
        );
        assert!(
            text(&document)
                .lines()
                .all(|line| line.chars().count() <= 110)
        );
    }
}
