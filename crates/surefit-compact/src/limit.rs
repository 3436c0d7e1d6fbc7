//! Where the pages end that a heap may use; `banks` says what that is for.
#![deny(unsafe_code)]

use core::cell::Cell;

/// Where the pages end that a heap may use.
#[derive(Debug)]
pub(crate) struct Limit {
    /// Pages that may be used.
    pub(crate) pages: Cell<u32>,
    /// The most pages that ever may; the address table's room lies behind them.
    pub(crate) end: u32,
}
