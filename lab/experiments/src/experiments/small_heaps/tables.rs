//! The points as tables and as plots for programs.
#![deny(unsafe_code)]

use super::points::{Objects, Point};
use crate::kit::{Axis, Cell, Column, Plot, Series, Table, Whose};

/// The figures of the plots.
type Bytes = fn(&Point) -> Option<u64>;

const CF: Bytes = |point| Some(point.cf.bytes());
const LARGE_PIECES: Bytes = |point| point.large_pieces.map(|best| best.bytes());
const O1HEAP: Bytes = |point| Some(point.o1heap);
const TLSF: Bytes = |point| Some(point.tlsf);
const FLOOR: Bytes = |point| Some(point.floor);

/// What each heap needs, as a multiple of M.
pub(super) fn needs(objects: Objects, points: &[Point]) -> Table {
    let columns = [
        Column::figure("M, KiB", 0),
        Column::figure("cf", 2),
        Column::figure("default bound", 2),
        Column::figure("pieces ≥ 1 KiB", 2),
        Column::papers("o1heap", 2),
        Column::papers("TLSF", 0),
        Column::papers("floor", 2),
    ];
    let title = format!("Bytes needed by proof ÷ M, {}", objects.name());
    let mut table = Table::new(title, columns);
    for point in points {
        let ratio = |bytes: Option<u64>| Cell::from(bytes.map(|bytes| point.ratio(bytes)));
        table.row([
            (point.live >> 10).into(),
            ratio(CF(point)),
            ratio(point.default_bytes),
            ratio(LARGE_PIECES(point)),
            ratio(O1HEAP(point)),
            ratio(TLSF(point)),
            ratio(FLOOR(point)),
        ]);
    }
    table
}

/// The configurations that need least.
pub(super) fn choices(objects: Objects, points: &[Point]) -> Table {
    let columns = [
        Column::figure("M, KiB", 0),
        Column::figure("certified bytes", 0),
        Column::figure("page, KiB", 0),
        Column::figure("word, B", 0),
        Column::figure("sizes per doubling", 0),
        Column::figure("piece, B", 0),
        Column::figure("moved B/free, at most", 0),
    ];
    let title = format!("cf's configuration for each M, {}", objects.name());
    let mut table = Table::new(title, columns);
    for point in points {
        let (choice, certificate) = (point.cf.choice, point.cf.certificate);
        table.row([
            (point.live >> 10).into(),
            point.cf.bytes().into(),
            (choice.page_bytes as u64 >> 10).into(),
            (choice.word_bytes as u64).into(),
            choice.spacing.into(),
            choice.piece_bytes.map(|bytes| bytes as u64).into(),
            certificate.moved_bytes_max_per_op.into(),
        ]);
    }
    table
}

/// Bytes needed ÷ M beside M.
pub(super) fn plot(objects: Objects, points: &[Point]) -> Plot {
    let series = |name: &str, whose, bytes: Bytes| {
        let of = |point: &Point| Some((point.live as f64, point.ratio(bytes(point)?)));
        Series {
            whose,
            ..Series::new(name, points.iter().filter_map(of).collect::<Vec<_>>())
        }
    };
    Plot {
        title: format!("Bytes needed by proof ÷ live bytes, {}", objects.name()),
        x: Axis::logarithmic("live bytes M"),
        y: Axis::logarithmic("bytes needed ÷ M"),
        series: vec![
            series("cf", Whose::Ours, CF),
            series("cf, pieces ≥ 1 KiB", Whose::Ours, LARGE_PIECES),
            series("o1heap", Whose::Papers, O1HEAP),
            series("TLSF", Whose::Papers, TLSF),
            series("floor", Whose::Papers, FLOOR),
        ],
    }
}
