//! What experiments share: their form, what they yield, and how that is printed and drawn.

pub(crate) mod entry;
mod grid;
pub(crate) mod page;
mod plot;
pub(crate) mod print;
pub(crate) mod report;
