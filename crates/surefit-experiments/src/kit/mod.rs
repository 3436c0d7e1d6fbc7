//! What experiments share: their form, what they yield, and how that is printed and drawn.
//!
//! ```text
//! entry     an experiment, and the request that it gets
//! report    what it found: settings, tables, plots, a grid, claims, notes
//! claim     a claim of the papers, and its verdict       table    columns, rows, cells
//! plot      lines over axes                              grid     names in cells
//! draw      the report as text, SVG and HTML
//! ```

pub(crate) mod claim;
pub(crate) mod draw;
pub(crate) mod entry;
pub(crate) mod grid;
pub(crate) mod plot;
pub(crate) mod report;
pub(crate) mod table;
pub(crate) mod whose;

pub(crate) use claim::{Claim, Verdict};
pub(crate) use entry::{Entry, Request};
pub(crate) use grid::{Grid, GridRow, Placed};
pub(crate) use plot::{Axis, Plot, Series};
pub(crate) use report::Report;
pub(crate) use table::{Cell, Column, Table};
pub(crate) use whose::Whose;
