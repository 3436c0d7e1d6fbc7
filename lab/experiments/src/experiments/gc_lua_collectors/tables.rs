//! The tables and the plot of the experiment.
#![deny(unsafe_code)]

use surefit_measure::ratio::median;

use super::claims::of;
use super::measure::{ENOUGH, OWN, REFUSED, Row, TIGHT, TLSF, mean};
use super::tunings::Tuning;
use crate::kit::{Axis, Plot, Series, Table};

/// Bytes of a KiB.
const KIB: f64 = 1024.0;

/// Memory and times of every program under every tuning.
pub(super) fn times(rows: &[Row]) -> Table {
    let ratio = |way: usize| move |row: &&Row| row.ratio(way).map(|ratio| ratio.median);
    Table::of(
        "Lua's own collector on malloc: peak memory, ms; ÷ it: collected when refused in malloc's bytes, in Lua's bytes, on TLSF; \
         Lua's own on our lists",
        rows,
    )
    .text("program", |row| row.program)
    .text("Lua's own", |row| row.tuning.name())
    .figure("Lua KiB", 0, |row| row.requested_bytes as f64 / KIB)
    .figure("KiB", 0, |row| row.chunk_bytes as f64 / KIB)
    .figure("ms", 1, |row| median(&row.own_ns).map(|ns| ns / 1e6))
    .figure("÷", 2, ratio(REFUSED))
    .figure("min", 2, |row| row.ratio(REFUSED).map(|ratio| ratio.min))
    .figure("max", 2, |row| row.ratio(REFUSED).map(|ratio| ratio.max))
    .figure("tight", 2, ratio(TIGHT))
    .figure("TLSF", 2, ratio(TLSF))
    .figure("own", 2, ratio(OWN))
    .table()
}

/// Collections.
pub(super) fn counts(rows: &[Row]) -> Table {
    Table::of(
        "collections: of Lua's own on malloc; after refusals in malloc's bytes, with their share of the time, and in Lua's bytes; the least multiple \
         of malloc's bytes in which it ends, refused there, and time there ÷ Lua's own",
        rows,
    )
    .text("program", |row| row.program)
    .text("Lua's own", |row| row.tuning.name())
    .figure("own", 0, |row| row.cycles)
    .figure("refused", 0, |row| row.collections(REFUSED))
    .figure("%", 1, |row| {
        row.collecting_share().map(|share| share * 100.0)
    })
    .figure("tight", 0, |row| row.collections(TIGHT))
    .figure("ends in", 3, |row| row.enough)
    .figure("refused", 0, |row| row.collections(ENOUGH))
    .figure("time ÷", 2, |row| row.ratio(ENOUGH).map(|ratio| ratio.median))
    .table()
}

/// Geometric means over the programs, tuning by tuning.
pub(super) fn means(rows: &[Row], tunings: &[Tuning]) -> Table {
    let ratio = |way: usize| {
        move |tuning: &&Tuning| mean(of(rows, **tuning), way).map(|ratio| ratio.median)
    };
    Table::of(
        "geometric means over the programs ÷ Lua's own collector on malloc: collected when refused in malloc's bytes, in Lua's \
         bytes, on TLSF; Lua's own on our lists; the least multiple of malloc's bytes in which it ends, and refused there",
        tunings,
    )
    .text("Lua's own", |tuning| tuning.name())
    .ratios("refused", 3, |tuning| mean(of(rows, **tuning), REFUSED))
    .figure("tight", 3, ratio(TIGHT))
    .figure("TLSF", 3, ratio(TLSF))
    .figure("own", 3, ratio(OWN))
    .figure("ends in", 3, |tuning| enough(rows, **tuning))
    .figure("time ÷", 3, ratio(ENOUGH))
    .table()
}

/// The geometric mean of the multiples of malloc's bytes in which the programs end.
fn enough(rows: &[Row], tuning: Tuning) -> Option<f64> {
    let all: Option<Vec<_>> = of(rows, tuning)
        .map(|row| row.enough.map(f64::ln))
        .collect();
    let all = all.filter(|all| !all.is_empty())?;
    Some((all.iter().sum::<f64>() / all.len() as f64).exp())
}

/// The means as bars.
pub(super) fn plot(rows: &[Row], tunings: &[Tuning]) -> Plot {
    let series = |name: &str, way: usize| {
        let points = tunings.iter().enumerate().filter_map(|(at, &tuning)| {
            let ratio = mean(of(rows, tuning), way)?;
            Some((at as f64, ratio.median))
        });
        Series::new(name, points.collect::<Vec<_>>())
    };
    Plot {
        title: "time ÷ Lua's own collector on malloc, at equal memory, geometric mean".to_owned(),
        x: Axis::kinds("Lua's own", tunings.iter().map(Tuning::name)),
        y: Axis::from_zero("time ÷"),
        series: vec![
            series("refused", REFUSED),
            series("refused, tight", TIGHT),
            series("own, on lists", OWN),
            series("refused, where it ends", ENOUGH),
        ],
    }
}
