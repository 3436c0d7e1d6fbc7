//! Who uses a shared heap at once, and what one call of it can cost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The threads and guards that use a shared heap at once.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Users {
    /// The threads.
    pub(crate) threads: u32,
    /// The objects that guards pin at once, besides the one of each call in progress.
    pub(crate) pins: u32,
    /// The largest object that a guard pins, in bytes; absent if it may have any size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) largest_pinned_bytes: Option<usize>,
    /// The instances.
    pub(crate) instances: u32,
}

/// The most that one call of a shared heap can cost.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SharedWork {
    /// The most bytes copied while a lock is held once.
    pub(crate) copied_bytes_max_per_section: u64,
    /// The most steps of moves that one free makes.
    pub(crate) steps_max_per_free: u64,
    /// The most additional steps for each move that a pin ends meanwhile.
    pub(crate) steps_max_per_abort: u64,
    /// The most times that one free takes its lock, without aborts.
    pub(crate) sections_max_per_free: u64,
    /// The most objects examined to find one that can move.
    pub(crate) victims_tried_max: u64,
    /// The most pages of the region that are touched while a lock is held once.
    pub(crate) pages_touched_max_per_section: u64,
}
