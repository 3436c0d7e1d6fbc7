//! The experiments: a folder each, and a line in [`ENTRIES`]. None of them knows another.

mod adversary;
pub(crate) mod automaton;
mod bounds;
pub(crate) mod complexity;
pub(crate) mod figure_10;
mod figure_11;
mod figure_12;
mod gc_binary_trees;
mod gc_compact_fit;
mod gc_free_chunks;
mod gc_incremental;
mod gc_lists;
#[cfg(feature = "lua")]
mod gc_lua;
#[cfg(feature = "lua")]
mod gc_lua_collectors;
mod gc_mmu;
mod gc_size_classes;
mod gc_table_updates;
mod gc_times;
mod gc_visits;
pub(crate) mod malloc;
mod memory_threads;
mod meshing;
mod nht;
pub(crate) mod overview;
mod pin;
mod predict;
mod scalability;
mod small_heaps;
mod table_3;
pub(crate) mod table_4;
mod throughput;
mod time_by_region;

use crate::kit::{Described, Entry};

/// Every experiment that yields a report, in the order in which `all` runs them.
pub(crate) const ENTRIES: &[Entry] = &[
    bounds::ENTRY,
    time_by_region::ENTRY,
    small_heaps::ENTRY,
    figure_10::ENTRY,
    figure_11::ENTRY,
    table_3::ENTRY,
    table_4::ENTRY,
    predict::ENTRY,
    throughput::ENTRY,
    scalability::ENTRY,
    figure_12::ENTRY,
    complexity::ENTRY,
    memory_threads::ENTRY,
    malloc::ENTRY,
    meshing::ENTRY,
    pin::ENTRY,
    nht::ENTRY,
    adversary::ENTRY,
    overview::ENTRY,
    gc_visits::ENTRY,
    gc_times::ENTRY,
    #[cfg(feature = "lua")]
    gc_lua::ENTRY,
    #[cfg(feature = "lua")]
    gc_lua_collectors::ENTRY,
    gc_binary_trees::ENTRY,
    gc_compact_fit::ENTRY,
    gc_size_classes::ENTRY,
    gc_free_chunks::ENTRY,
    gc_table_updates::ENTRY,
    gc_lists::ENTRY,
    gc_mmu::ENTRY,
    gc_incremental::ENTRY,
];

/// What is said of each of [`ENTRIES`].
pub(crate) const DESCRIBED: [Described; ENTRIES.len()] = {
    let mut described = [ENTRIES[0].described(); ENTRIES.len()];
    let mut number = 1;
    while number < ENTRIES.len() {
        described[number] = ENTRIES[number].described();
        number += 1;
    }
    described
};
