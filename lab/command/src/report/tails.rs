//! The distributions of call times that a result has.

use surefit_measure::results::{AllocatorResult, Tail};

/// How long the calls of one kind took.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tails<'a> {
    /// The kind of call.
    pub(super) name: &'static str,
    /// How many calls; at least one.
    pub(super) calls: u64,
    /// How many took longer than a time; not empty.
    pub(super) points: &'a [Tail],
}

/// The names of the kinds of calls, in the order in which they are shown.
pub(super) const KINDS: [&str; 3] = ["allocations", "frees", "reallocations"];

/// The distributions of an allocator, of at most these kinds.
pub(super) fn of(row: &AllocatorResult) -> impl Iterator<Item = Tails<'_>> {
    let kinds = [
        (row.mallocs, &row.malloc_ns_tail),
        (row.frees, &row.free_ns_tail),
        (row.reallocs, &row.realloc_ns_tail),
    ];
    let kinds = KINDS.into_iter().zip(kinds);
    kinds.filter_map(|(name, (calls, points))| {
        let points = points.as_deref()?;
        let longer = points.first()?.longer;
        Some(Tails {
            name,
            calls: calls.max(longer).max(1),
            points,
        })
    })
}
