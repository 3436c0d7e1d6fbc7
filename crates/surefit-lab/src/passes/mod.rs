//! The passes of the laboratory: one loop over the steps of a trace, and what each pass adds to it.

pub(crate) mod access;
pub(crate) mod checking;
pub(crate) mod counting;
pub(crate) mod min_heap;
pub(crate) mod percentiles;
pub(crate) mod replay;
pub(crate) mod threads;
pub(crate) mod timing;
