//! What is known of each heap.

mod compact;
mod direct;
mod free_lists;
pub mod shared;

use crate::annotation::Known;

/// All heaps that have a bound.
pub const ALL: &[&Known] = &[
    &compact::HEAP,
    &compact::KEY_HEAP,
    &compact::HEAP_MICRO,
    &compact::KEY_HEAP_MICRO,
    &direct::POOLED_TINY,
    &direct::DIRECT,
    &direct::DIRECT_TINY,
    &free_lists::TLSF,
    &free_lists::SEGREGATED,
];
