//! The size-classes that fit what is live, for one page and one way to divide objects in pieces.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use surefit_compact::geometry::{MAX_BLOCKS, MAX_CLASSES};
use surefit_compact::layout::{class_state_bytes, page_record_bytes};
use surefit_compact::pieces::Pieces;
use surefit_compact::{Config, Geometry, GeometrySpec, Spacing, Width};

use super::live::{Kind, Run};
use super::segment::{Point, Price, Unfilled, cheapest};

/// How many size-classes there may be, and how many are worth it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// The most size-classes.
    pub(super) most: usize,
    /// What a class is expected to leave unfilled; the more, the fewer classes.
    pub(super) unfilled: Unfilled,
}

/// Page-block sizes for what the runs have live, in pages and pieces as those of `config`, whose
/// own size-classes do not count. `None` if an object is larger than a page and not in pieces, or
/// if the sizes that must be are too many.
///
/// # Errors
/// Never: the partitionings that it tries are valid.
pub(super) fn fitting<W: Width>(
    runs: &[&Run],
    config: &Config,
    limits: Limits,
) -> Result<Option<Vec<u32>>> {
    let Some(live) = blocks_live::<W>(runs, config) else {
        return Ok(None);
    };
    let price = Price {
        page_bytes: (config.geometry().page_bytes() + page_record_bytes::<W>()) as f64,
        unfilled: limits.unfilled,
        state_bytes: class_state_bytes::<W>() as f64,
    };
    let sizes = cheapest(&points(live, config)?, limits.most, price);
    Ok((!sizes.is_empty()).then_some(sizes))
}

/// How many page-blocks of each size are live, the mean of the runs; sizes are multiples of granule
/// and alignment.
fn blocks_live<W: Width>(runs: &[&Run], config: &Config) -> Option<BTreeMap<u32, f64>> {
    let page_bytes = config.geometry().page_bytes();
    let smallest = smallest(config);
    let mut live = BTreeMap::new();
    for run in runs {
        for (kind, weight) in run.kinds.iter().zip(&run.weights) {
            for (bytes, count) in blocks::<W>(*kind, config) {
                let bytes = bytes.max(smallest);
                if bytes > page_bytes {
                    return None;
                }
                let count = weight * count as f64 / runs.len() as f64;
                *live.entry(bytes as u32).or_insert(0.0) += count;
            }
        }
    }
    Some(live)
}

/// The page-blocks of an object, by the least size that serves them.
fn blocks<W: Width>(kind: Kind, config: &Config) -> impl Iterator<Item = (usize, usize)> {
    let granule = config.geometry().granule();
    let runs = Pieces::new(
        kind.size,
        kind.align,
        config.division(),
        W::SPINE_WORD_BYTES,
    );
    runs.map(move |run| {
        let unit = run.align.max(granule);
        (run.bytes.max(1).next_multiple_of(unit), run.count)
    })
}

/// The smallest page-block of which a page does not have too many.
fn smallest(config: &Config) -> usize {
    let geometry = config.geometry();
    (geometry.page_bytes() / MAX_BLOCKS)
        .next_multiple_of(geometry.granule())
        .max(geometry.granule())
}

/// What is live as points, with the sizes that must be classes: a page, and pieces of both sizes.
fn points(mut live: BTreeMap<u32, f64>, config: &Config) -> Result<Vec<Point>> {
    let page_bytes = config.geometry().page_bytes();
    let large = config.division().large_bytes().min(page_bytes);
    let mut kept = vec![page_bytes as u32];
    if let Some(small) = config.piece_bytes() {
        kept.extend([small as u32, large as u32]);
    }
    for bytes in &kept {
        live.entry(*bytes).or_insert(0.0);
    }
    let sizes: Vec<_> = live.keys().copied().collect();
    let per_page = per_page(&sizes, config)?;
    let points = live.into_iter().zip(per_page);
    let points = points.map(|((bytes, live), per_page)| Point {
        bytes,
        per_page,
        live,
        is_kept: kept.contains(&bytes),
    });
    Ok(points.collect())
}

/// π of page-blocks of each size; sizes ascend. Geometries with these classes say it.
fn per_page(sizes: &[u32], config: &Config) -> Result<Vec<u32>> {
    let geometry = config.geometry();
    let mut found = Vec::new();
    for some in sizes.chunks(MAX_CLASSES - 1) {
        let of_some = Geometry::new(&GeometrySpec {
            page_bytes: geometry.page_bytes(),
            granule: geometry.granule(),
            tail: geometry.tail(),
            spacing: Spacing::Explicit(some),
            ..GeometrySpec::DEFAULT
        })?;
        for index in 0..some.len() {
            let class = of_some.class(index).context("a class for each size")?;
            found.push(u32::from(of_some.layout(class).blocks));
        }
    }
    Ok(found)
}
