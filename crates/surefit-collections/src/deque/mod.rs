//! A queue with two ends, whose elements are in runs.

mod change;
mod check;
mod demand;
mod drain;
mod ends;
mod queue;
mod ring;

pub use drain::DrainDeque;
pub use queue::VecDeque;
