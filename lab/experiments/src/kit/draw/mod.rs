//! A report drawn: as text for a terminal, as SVG pictures, and as one HTML page.

mod grid;
mod index;
mod marks;
pub(crate) mod page;
mod plot;
pub(crate) mod text;
pub(crate) mod verdicts;
