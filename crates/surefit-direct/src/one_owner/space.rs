//! Where a direct heap's pages and large objects come from: free runs that coalesce, or pools.
#![deny(unsafe_code)]

use core::fmt::Debug;

use surefit_core::{Corruption, Refused};

use super::memory::{Memory, Page, Unit};
use super::partition::{Class, Partitioning};
use super::tags::Run;

/// The units behind the tables. [`FreeRuns`](super::FreeRuns) and [`Pools`](super::Pools) implement
/// it. Every call is O(1) unless it says otherwise.
pub(super) trait Space<S: Partitioning>: Debug {
    /// Takes a page for a class; `None` if no page is free for it.
    fn take_page(&mut self, memory: &mut Memory<'_, S>, class: Class) -> Option<Page>;

    /// Gives a class's page back, of which the record says that it holds no page-blocks.
    fn give_page(&mut self, memory: &mut Memory<'_, S>, class: Class, page: Page);

    /// Takes a run of at least `units` units, the first at a multiple of `align` bytes, for an
    /// object that leaves `tail` bytes of `units` units unused.
    fn take(
        &mut self,
        memory: &mut Memory<'_, S>,
        units: u32,
        align: usize,
        tail: u32,
    ) -> Result<Unit, Refused>;

    /// As [`Space::take`] without alignment, for an object that grew, and may grow again.
    fn take_growing(
        &mut self,
        memory: &mut Memory<'_, S>,
        units: u32,
        tail: u32,
    ) -> Result<Unit, Refused>;

    /// Gives a used run back.
    fn give(&mut self, memory: &mut Memory<'_, S>, start: Unit);

    /// Makes a used run serve an object of `units` units in place. Returns `false`, and changes
    /// nothing, if that cannot be.
    fn resize(&mut self, memory: &mut Memory<'_, S>, start: Unit, units: u32, tail: u32) -> bool;

    /// Whether a class may take a page now.
    fn has_page(&self, memory: &Memory<'_, S>, class: Class) -> bool;

    /// The most units of a run that are sure to be found now; 0 for none. Pools: linear in the
    /// pools.
    fn longest(&self, memory: &Memory<'_, S>) -> u32;

    /// How many pages a class can take now. Linear in the region.
    fn free_pages(&self, memory: &Memory<'_, S>, class: Class) -> usize;

    /// How many runs of so many units can be taken now. Linear in the region.
    fn free_runs(&self, memory: &Memory<'_, S>, units: u32) -> usize;

    /// The first unit that is not administrative.
    fn first_unit(&self, memory: &Memory<'_, S>) -> Unit;

    /// All runs, free or used, in address order; pages are runs. It ends early at a tag that
    /// describes no run.
    fn runs<'a>(&'a self, memory: &'a Memory<'_, S>) -> impl Iterator<Item = Run> + 'a;

    /// Verifies the invariants of runs, or of pools. Linear in the region.
    fn check(&self, memory: &Memory<'_, S>) -> Result<(), Corruption>;
}
