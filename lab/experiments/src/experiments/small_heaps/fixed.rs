//! One configuration for every demand: pages of 1 KiB, words of two bytes, 1/8 spacing, wherever
//! the region begins.
//!
//! Requests of 16 to n bytes: powers of two, for which Robson's bound is exact, and multiples of
//! eight, at the worst rounding, beside twice Robson's bound, which is known to suffice.
//!
//! # Source
//! docs/bounds.md, section 6.
#![deny(unsafe_code)]

use anyhow::Result;
use surefit_compact::{Bound, Config, Narrow};

use super::others::{UNIT_BYTES, half_fit, robson};
use super::search::{Choice, FULL, certified};
use crate::kit::{Cell, Claim, Column, Table};
use surefit_measure::requests::{Requests, Sizes};

/// n: the largest requests of the table.
pub(super) const LARGEST: [u64; 3] = [64, 256, 1024];

/// M: the live bytes of the table's rows, in KiB.
const LIVE_KIB: [u64; 7] = [4, 16, 64, 128, 256, 512, 640];

/// Live bytes are tried up to here for the break-even; beyond, two-byte words do not suffice.
const MOST_LIVE_KIB: u64 = 256;

/// The heap.
const CHOICE: Choice = Choice {
    page_bytes: 1024,
    word_bytes: 2,
    spacing: 8,
    piece_bytes: None,
};

/// One demand, and the bytes that suffice for it; `None` if two-byte words do not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) largest: u64,
    pub(super) live: u64,
    /// Powers of two: the default bound, full compaction.
    pub(super) powers: [Option<u64>; 2],
    /// Multiples of eight: the same.
    pub(super) any: [Option<u64>; 2],
}

/// The least live bytes from which on the certificate is below the bound of heaps that never move.
#[derive(Clone, Copy, Debug)]
pub(super) struct BreakEven {
    largest: u64,
    /// Powers of two, against Robson's bound: the default bound, full compaction.
    pub(super) powers: [Option<u64>; 2],
    /// Multiples of eight, against twice Robson's: the same.
    any: [Option<u64>; 2],
}

/// All figures.
#[derive(Clone, Debug)]
pub(super) struct Fixed {
    pub(super) rows: Vec<Row>,
    pub(super) break_even: Vec<BreakEven>,
}

/// The default bound, and full compaction.
struct Heaps([Config; 2]);

impl Heaps {
    fn bytes(&self, sizes: Sizes, live: u64, largest: u64) -> Result<[Option<u64>; 2]> {
        let requests = Requests {
            smallest: UNIT_BYTES,
            sizes,
            largest,
            live,
        };
        let [default, full] = &self.0;
        let bytes = |config| -> Result<Option<u64>> {
            let found = certified::<Narrow>(config, requests)?;
            Ok(found.map(|certificate| certificate.heap_bytes as u64))
        };
        Ok([bytes(default)?, bytes(full)?])
    }

    /// The least multiples of 256 bytes from which on the certificates stay below `bound`.
    fn break_even(
        &self,
        sizes: Sizes,
        largest: u64,
        bound: impl Fn(u64) -> u64,
    ) -> Result<[Option<u64>; 2]> {
        let (mut least, mut is_below) = ([None; 2], [true; 2]);
        let all = (1..=MOST_LIVE_KIB * 4).rev().map(|quarter| quarter << 8);
        for live in all.take_while(|live| *live >= largest) {
            let bytes = self.bytes(sizes, live, largest)?;
            for which in 0..2 {
                is_below[which] &= bytes[which].is_some_and(|bytes| bytes < bound(live));
                if is_below[which] {
                    least[which] = Some(live);
                }
            }
            if is_below == [false; 2] {
                break;
            }
        }
        Ok(least)
    }
}

/// Certifies every demand of the table.
///
/// # Errors
/// Never: the demands can be certified.
pub(super) fn measure() -> Result<Fixed> {
    let heaps = Heaps([CHOICE.config(Bound::DEFAULT)?, CHOICE.config(FULL)?]);
    let demands = LARGEST
        .into_iter()
        .flat_map(|n| LIVE_KIB.map(|live| (live << 10, n)));
    let row = |(live, largest)| -> Result<Row> {
        Ok(Row {
            largest,
            live,
            powers: heaps.bytes(Sizes::Powers, live, largest)?,
            any: heaps.bytes(Sizes::Eights, live, largest)?,
        })
    };
    let break_even = |largest| -> Result<BreakEven> {
        let robson = |live| robson(live, largest);
        Ok(BreakEven {
            largest,
            powers: heaps.break_even(Sizes::Powers, largest, robson)?,
            any: heaps.break_even(Sizes::Eights, largest, |live| 2 * robson(live))?,
        })
    };
    Ok(Fixed {
        rows: demands.map(row).collect::<Result<_>>()?,
        break_even: LARGEST.into_iter().map(break_even).collect::<Result<_>>()?,
    })
}

/// The certificates as multiples of M.
pub(super) fn ratios(fixed: &Fixed) -> Table {
    let columns = [
        Column::figure("n, bytes", 0),
        Column::figure("M, bytes", 0),
        Column::figure("powers: cf", 2),
        Column::figure("k=1", 2),
        Column::papers("Robson", 2),
        Column::figure("any: cf", 2),
        Column::figure("k=1", 2),
        Column::papers("2 Robson", 2),
        Column::papers("o1heap", 2),
    ];
    let title = "One configuration (1 KiB pages, 2-byte words, 1/8 spacing): bytes ÷ M for requests of 16 to n \
                 bytes, powers of two and multiples of 8; -: over 1 MiB, more than 2-byte words can name";
    let mut table = Table::new(title, columns);
    for row in &fixed.rows {
        let ratio =
            |bytes: Option<u64>| Cell::from(bytes.map(|bytes| bytes as f64 / row.live as f64));
        let robson = robson(row.live, row.largest);
        table.row([
            row.largest.into(),
            row.live.into(),
            ratio(row.powers[0]),
            ratio(row.powers[1]),
            ratio(Some(robson)),
            ratio(row.any[0]),
            ratio(row.any[1]),
            ratio(Some(2 * robson)),
            ratio(Some(half_fit(row.live, row.largest))),
        ]);
    }
    table
}

/// From which live bytes on the configuration needs less than heaps that never move.
pub(super) fn break_evens(fixed: &Fixed) -> Table {
    let columns = [
        Column::figure("n, bytes", 0),
        Column::figure("powers: cf", 0),
        Column::figure("k=1", 0),
        Column::figure("any: cf", 0),
        Column::figure("k=1", 0),
    ];
    let title = "Its break-even, in live bytes: powers of two with Robson's bound, any sizes with twice that";
    let mut table = Table::new(title, columns);
    for line in &fixed.break_even {
        let [powers, any] = [line.powers, line.any].map(|both| both.map(Cell::from));
        let ([powers, powers_full], [any, any_full]) = (powers, any);
        table.row([line.largest.into(), powers, powers_full, any, any_full]);
    }
    table
}

/// Whether there is a break-even for each n.
pub(super) fn claim(fixed: &Fixed) -> Claim {
    let live = fixed.break_even.iter().map(|line| line.powers[1]);
    let all: Option<Vec<_>> = live.collect();
    let ours = all.as_ref().map_or_else(
        || "never".to_owned(),
        |all| {
            let from: Vec<_> = all.iter().map(|live| format!("from {live} B")).collect();
            from.join(", ")
        },
    );
    Claim::that("with full compaction small heaps need less than any allocator that never moves")
        .of("Robson")
        .papers("Robson's bound")
        .ours(ours)
        .decide(
            all.as_ref()
                .is_none_or(|all| !all.is_empty())
                .then_some(all.is_some()),
            "for each n there are live bytes from which on the certificate is below Robson's bound",
        )
}

#[cfg(test)]
mod tests {
    use super::{BreakEven, Fixed, LARGEST, claim, measure};
    use crate::kit::Verdict;

    #[test]
    fn a_size_without_a_break_even_refutes_the_claim() {
        let verdict = |live: &[Option<u64>]| {
            let line = |live: &Option<u64>| BreakEven {
                largest: 64,
                powers: [None, *live],
                any: [None; 2],
            };
            let fixed = Fixed {
                rows: Vec::new(),
                break_even: live.iter().map(line).collect(),
            };
            claim(&fixed).verdict
        };
        assert_eq!(verdict(&[Some(4096), Some(2048)]), Verdict::Holds);
        assert_eq!(verdict(&[Some(4096), None]), Verdict::DoesNot);
        assert_eq!(verdict(&[]), Verdict::NotComparable);
    }

    #[test]
    fn larger_heaps_come_closer_to_what_is_live() {
        let fixed = measure().expect("certified");
        for n in LARGEST {
            let rows = fixed.rows.iter().filter(|row| row.largest == n);
            let ratios: Vec<_> = rows
                .filter_map(|row| Some(row.any[0]? as f64 / row.live as f64))
                .collect();
            assert!(
                ratios.len() > 3 && ratios.is_sorted_by(|a, b| a > b),
                "{ratios:?}"
            );
        }
        assert!(fixed.break_even.iter().all(|line| line.powers[1].is_some()));
    }
}
