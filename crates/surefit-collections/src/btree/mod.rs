//! A map whose entries are in the order of their keys.

mod change;
mod check;
mod cursor;
mod demand;
mod entry;
mod iterate;
mod map;
mod node;
mod path;

pub use entry::{Entry, OccupiedEntry, VacantEntry};
pub use iterate::{Range, RangeMut};
pub use map::BTreeMap;
