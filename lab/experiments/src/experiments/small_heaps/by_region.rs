//! Live bytes for each region size: the table of docs/firmware.md, "Which heap".
//!
//! Requests of 16 to 256 bytes, in any mix and in any order, in a region that begins at a multiple
//! of the page. The presets of the handle heap, and the same with objects in pieces of 64 bytes,
//! which are not contiguous; beside them what o1heap's own figure leaves.
#![deny(unsafe_code)]

use anyhow::Result;
use surefit_compact::{Config, Narrow};

use super::others;
use super::points::Objects;
use super::search::certified;
use crate::kit::{Column, Table};

/// The regions, in KiB.
const REGIONS_KIB: [u64; 8] = [4, 8, 16, 32, 64, 128, 256, 1024];

/// What one region is enough for, in live bytes; 0 if not for one object of 256.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    kib: u64,
    micro: u64,
    tiny: u64,
    /// The better of the two, in pieces of 64 bytes.
    pieces: u64,
    o1heap: u64,
}

/// All rows.
///
/// # Errors
/// Never: the demands can be certified, or are refused.
pub(super) fn rows() -> Result<Vec<Row>> {
    REGIONS_KIB.into_iter().map(row).collect()
}

fn row(kib: u64) -> Result<Row> {
    let in_region = |config: &Config| {
        most_live(kib << 10, |live| {
            let found = certified::<Narrow>(config, Objects::Small.requests(live))?;
            // One byte says whether the region was taken.
            Ok(found.map(|it| it.aligned_bytes as u64 + 1))
        })
    };
    let in_pieces = |config: Config| in_region(&config.with_pieces(Some(64))?);
    Ok(Row {
        kib,
        micro: in_region(&Config::MICRO)?,
        tiny: in_region(&Config::TINY)?,
        pieces: in_pieces(Config::MICRO)?.max(in_pieces(Config::TINY)?),
        o1heap: most_live(kib << 10, |live| Ok(Some(others::o1heap(live, 256))))?,
    })
}

/// The most live bytes, 256 or more, that need no more than a region.
fn most_live(region: u64, needed: impl Fn(u64) -> Result<Option<u64>>) -> Result<u64> {
    let fits = |live| -> Result<bool> { Ok(needed(live)?.is_some_and(|bytes| bytes <= region)) };
    let (mut fitting, mut above) = (256, region + 1);
    if !fits(fitting)? {
        return Ok(0);
    }
    while above - fitting > 1 {
        let middle = fitting.midpoint(above);
        if fits(middle)? {
            fitting = middle;
        } else {
            above = middle;
        }
    }
    Ok(fitting)
}

/// The rows as a table.
pub(super) fn table(rows: &[Row]) -> Table {
    let columns = [
        Column::figure("region, KiB", 0),
        Column::figure("Config::MICRO", 0),
        Column::figure("Config::TINY", 0),
        Column::figure("pieces of 64 B", 0),
        Column::papers("o1heap", 0),
    ];
    let title = "Live bytes that a region is enough for, objects of 16 to 256 B";
    let mut table = Table::new(title, columns);
    for row in rows {
        table.row([
            row.kib.into(),
            row.micro.into(),
            row.tiny.into(),
            row.pieces.into(),
            row.o1heap.into(),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::rows;
    use surefit_measure::output::grouped;

    const PAGE: &str = include_str!("../../../../../docs/firmware.md");

    #[test]
    fn the_table_of_the_page_is_what_the_presets_hold() {
        for row in rows().expect("certified") {
            let kib = match row.kib {
                1024 => "1 MiB".to_owned(),
                kib => format!("{kib} KiB"),
            };
            let cells = [row.micro, row.tiny, row.pieces, row.o1heap];
            let cells: Vec<_> = cells
                .map(|live| {
                    if live == 0 {
                        "-".to_owned()
                    } else {
                        grouped(live)
                    }
                })
                .to_vec();
            let line = format!("| {kib} | {} |", cells.join(" | "));
            let page = PAGE.replace("**", "");
            assert!(page.contains(&line), "docs/firmware.md lacks {line}");
        }
    }

    /// Up to 32 KiB MICRO holds most, above TINY: at their sizes each is the one to take.
    #[test]
    fn each_preset_holds_most_at_its_sizes() {
        for row in rows().expect("certified") {
            let (taken, other) = if row.kib <= 32 {
                (row.micro, row.tiny)
            } else {
                (row.tiny, row.micro)
            };
            assert!(taken > other || taken == 0, "{row:?}");
            assert!(taken > row.o1heap || row.kib == 4, "{row:?}");
        }
    }
}
