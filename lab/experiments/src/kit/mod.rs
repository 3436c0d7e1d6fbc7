//! What experiments share: their form, what they yield, and how that is printed and drawn.
//!
//! ```text
//! entry     an experiment, its request, and how it ended
//! report    what it found: settings, tables, plots, a grid, claims, notes
//! claim     a claim of the papers                        verdict  whether it holds, and when rounds decide
//! over      one verdict over several programs            noted    verdicts of unit tests, for ci/claims.sh
//! papers    what the papers show, and where it is shown  table    columns, rows, cells
//! plot      lines over axes                              grid     names in cells
//! shown     what of a figure of the papers some reports hold
//! record    all claims of a run, and the machine
//! draw      the report as text, SVG and HTML
//! ```

pub(crate) mod claim;
pub(crate) mod draw;
pub(crate) mod entry;
pub(crate) mod grid;
#[cfg(test)]
mod noted;
pub(crate) mod over;
pub(crate) mod papers;
pub(crate) mod plot;
pub(crate) mod record;
pub(crate) mod report;
pub(crate) mod shown;
pub(crate) mod table;
pub(crate) mod verdict;
pub(crate) mod whose;

pub(crate) use claim::Claim;
pub(crate) use entry::{Described, Entry, Request, Run};
pub(crate) use grid::{Grid, GridRow, Placed};
pub(crate) use over::OnProgram;
pub(crate) use plot::{Axis, Plot, Series};
pub(crate) use report::Report;
pub(crate) use table::{Cell, Column, Table};
pub(crate) use verdict::Verdict;
pub(crate) use whose::Whose;
