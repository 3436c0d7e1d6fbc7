//! The passes of the laboratory: one loop over the steps of a trace, and what each pass adds to it.

pub mod access;
pub mod checking;
pub mod counting;
pub mod min_heap;
pub mod percentiles;
pub mod replay;
pub mod threads;
pub mod timing;
