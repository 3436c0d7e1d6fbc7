//! A hash map that grows by one bucket at a time.

mod bucket;
mod change;
mod check;
mod demand;
mod entry;
mod grow;
mod iterate;
mod keys;
mod scan;
mod table;

pub use entry::{Entry, OccupiedEntry, VacantEntry};
pub use iterate::DrainMap;
pub use table::HashMap;
