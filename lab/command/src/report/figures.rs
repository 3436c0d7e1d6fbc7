//! The figures of a program, in the order of the page.
//!
//! A further kind of figure is a file beside this one with a function from [`View`] to its figures,
//! and one line here.

use super::figure::Figure;
use super::input::View;
use super::{call_sites, fragmentation, heap_map, latency, memory, occupancy, program};

/// For each kind of figure, those of a program: none where nothing of that kind is known.
pub(super) fn of(view: View<'_>) -> Vec<Vec<Figure>> {
    vec![
        memory::figure(view).into_iter().collect(),
        fragmentation::figure(view).into_iter().collect(),
        heap_map::figures(view),
        occupancy::figure(view).into_iter().collect(),
        call_sites::figure(view).into_iter().collect(),
        latency::figure(view).into_iter().collect(),
        program::figure(view).into_iter().collect(),
    ]
}
