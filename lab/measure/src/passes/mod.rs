//! The passes over a trace: one loop over its steps, and what each pass adds to the loop.

pub mod access;
pub mod checking;
pub mod counted;
pub mod counting;
pub mod heap_map;
pub mod holes;
mod locality;
pub mod min_heap;
pub mod percentiles;
pub mod replay;
pub mod residence;
pub mod threads;
pub mod timing;
