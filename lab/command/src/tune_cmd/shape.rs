//! Shapes of a `cf`: a page, a width of words and pieces, each with its cheapest size-classes.

use anyhow::Result;
use surefit_measure::spec::Spec;
use surefit_measure::subjects::compact::Options;

use super::choices::{PAGES, PIECES, WIDTHS, with_keys};
use super::classes::{Limits, fitting};
use super::count::smallest_region;
use super::live::Run;
use super::width::{options, with_width};

/// A page, a width and pieces, as keys; empty where the spec gives them.
pub(super) type Values = [&'static str; 3];

/// One shape with its classes.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub(super) values: Values,
    /// The spec, with all keys but the bound.
    pub(super) spec: String,
    pub(super) sizes: Vec<u32>,
    /// The smallest region over the peak of live bytes, counted: the mean over the runs.
    pub(super) over_live: f64,
}

/// Every mix of page, width and pieces.
pub(super) fn mixes(given: &str) -> Vec<Values> {
    let mut mixes = Vec::new();
    for page in PAGES.open(given) {
        for width in WIDTHS.open(given) {
            for pieces in PIECES.open(given) {
                mixes.push([page, width, pieces]);
            }
        }
    }
    mixes
}

/// A shape with its classes and its count; `None` if it cannot be, or cannot serve a run.
///
/// # Errors
/// The spec is not one of `cf`.
pub(super) fn shape(
    runs: &[&Run],
    given: &str,
    values: Values,
    limits: Limits,
) -> Result<Option<Shape>> {
    let Ok(plain) = Spec::parse(&with_keys(given, &values)) else {
        return Ok(None);
    };
    let page = options(&plain)?.config.geometry().page_bytes();
    // Short objects must not lie in pieces: a piece is a sixteenth of a page or more.
    let piece = options(&plain)?.config.piece_bytes();
    if !values[2].is_empty() && piece.is_some_and(|bytes| bytes < page / 16) {
        return Ok(None);
    }
    let large = if values[2].is_empty() || piece.is_none() {
        String::new()
    } else {
        format!("large={page}")
    };
    let keys: Vec<_> = values.iter().copied().chain([large.as_str()]).collect();
    let plain = Spec::parse(&with_keys(given, &keys))?;
    let Some(sizes) = classes_of(runs, options(&plain)?, limits)? else {
        return Ok(None);
    };
    let spec = with_keys(plain.as_str(), &[&listed(&sizes)]);
    let with_classes = Spec::parse(&spec)?;
    let over_live = counted(runs, options(&with_classes)?);
    Ok(over_live.map(|over_live| Shape {
        values,
        spec,
        sizes,
        over_live,
    }))
}

/// The key of size-classes.
fn listed(sizes: &[u32]) -> String {
    let sizes: Vec<_> = sizes.iter().map(u32::to_string).collect();
    format!("classes=[{}]", sizes.join(" "))
}

fn classes_of(runs: &[&Run], options: &Options, limits: Limits) -> Result<Option<Vec<u32>>> {
    with_width!(options, W => fitting::<W>(runs, &options.config, limits))
}

/// The mean over the runs of the smallest region over live bytes; `None` if it cannot serve one.
fn counted(runs: &[&Run], options: &Options) -> Option<f64> {
    let mut sum = 0.0;
    for run in runs {
        let region = with_width!(options, W => smallest_region::<W>(run, &options.config))?;
        sum += region as f64 / run.peak_live_bytes as f64;
    }
    Some(sum / runs.len() as f64)
}
