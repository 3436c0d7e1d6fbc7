//! The thesis's experiments with its collector, repeated on recorded Java programs: visits and times.
//!
//! | file | holds |
//! | --- | --- |
//! | `clients` | the recordings |
//! | `systems` | three strategies of coalescing by three lookups: 256 lists, the last one searched from end to end |
//! | `measured` | the one place that replays: smallest heaps, counts, times in interleaved rounds |
//! | `visits` | table 2-2, figure 3-1 |
//! | `times` | figures 4-1 to 4-13, and for every program those of appendix A |
//! | `turn_around` | figures 4-11 to 4-13 once more: which strategy is best without a table, and with it |
//!
//! Sweeps go from header to header, as the thesis's; objects of 4 KiB and more lie at the other end of the region.
//!
//! # Source
//! The thesis on free-list organisation, chapters 2 to 4 and appendix A.

mod clients;
mod measured;
mod systems;
mod times;
mod turn_around;
mod visits;

pub(super) use times::ENTRY as TIMES;
pub(super) use turn_around::ENTRY as TURN_AROUND;
pub(super) use visits::ENTRY as VISITS;
