//! What a page is made of: results, and what is known of a trace beyond them.

use surefit_measure::passes::heap_map::HeapMap;
use surefit_measure::profile::Profile;
use surefit_measure::results::{AllocatorResult, TraceResults};

use super::colours::{Colours, Style};
use super::tails;
use crate::call_sites::CallSite;
use crate::screen::Notes;

/// Certificates are drawn up to this multiple of what is resident at most.
const MOST_ABOVE: f64 = 1.6;

/// One program of a page.
#[derive(Debug)]
pub(crate) struct Section<'a> {
    /// Where it comes from: a file, as the user named it.
    pub(crate) origin: String,
    /// The results.
    pub(crate) trace: &'a TraceResults,
    /// What the clock's reading costs, in nanoseconds.
    pub(crate) clock_ns: u64,
    /// What is known of the allocators.
    pub(crate) notes: Notes,
    /// What only the trace tells; a file of results has none of it.
    pub(crate) details: Option<&'a Details>,
}

/// What a trace tells beyond the results of a comparison.
#[derive(Debug, Default)]
pub(crate) struct Details {
    /// What the program asks for.
    pub(crate) profile: Profile,
    /// Where objects lie over time, for some of the allocators.
    pub(crate) maps: Vec<(String, HeapMap)>,
    /// Who keeps pages from being empty; `None` if the trace says no call sites.
    pub(crate) holes: Option<Holes>,
}

/// Who keeps pages from being empty, in one heap that moves nothing, in its worst valley.
#[derive(Debug)]
pub(crate) struct Holes {
    /// The heap.
    pub(crate) allocator: String,
    /// The event after which the pages were looked at.
    pub(crate) event: u64,
    /// Whether that is a valley.
    pub(crate) is_valley: bool,
    /// Live bytes then.
    pub(crate) live_bytes: u64,
    /// The call sites of the live objects, the one with the most bytes of holes first.
    pub(crate) keepers: Vec<Keeper>,
}

/// What the objects of a call site hold, and what they keep.
#[derive(Clone, Debug)]
pub(crate) struct Keeper {
    /// Who allocated them, or resized them last.
    pub(crate) site: CallSite,
    /// Live objects.
    pub(crate) objects: u64,
    /// The sum of their requests.
    pub(crate) live_bytes: u64,
    /// Their part of the free page-blocks of the pages that they lie in.
    pub(crate) hole_bytes: f64,
}

/// A section while it is drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'a> {
    /// The section.
    pub(super) section: &'a Section<'a>,
    /// The colours of the page.
    pub(super) colours: &'a Colours,
    /// The greatest values of the axes, so that two figures beside each other have the same.
    pub(super) scale: Scale,
}

/// The ends of axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Scale {
    /// Events of the trace.
    pub(super) events: f64,
    /// Bytes that are resident or live.
    pub(super) resident: f64,
    /// The same, or certified.
    pub(super) bytes: f64,
    /// The least and the longest call, in nanoseconds.
    pub(super) calls: Option<(f64, f64)>,
    /// The least share of calls that is not zero.
    pub(super) least_share: f64,
    /// Bytes of holes that a call site keeps.
    pub(super) holes: f64,
}

impl View<'_> {
    /// The results.
    pub(super) fn trace(&self) -> &TraceResults {
        self.section.trace
    }

    /// The rows.
    pub(super) fn rows(&self) -> &[AllocatorResult] {
        &self.section.trace.results
    }

    /// How an allocator is drawn.
    pub(super) fn style(&self, row: &AllocatorResult) -> Style {
        self.colours.of(&row.allocator)
    }
}

impl Scale {
    /// The axes that hold all figures of a section.
    pub(super) fn of(section: &Section<'_>) -> Self {
        let holes = section.details.and_then(|it| it.holes.as_ref());
        let most = holes.and_then(|holes| holes.keepers.first());
        Self {
            holes: most.map_or(0.0, |keeper| keeper.hole_bytes),
            ..Self::of_results(section.trace)
        }
    }

    fn of_results(trace: &TraceResults) -> Self {
        let rows = &trace.results;
        let samples = rows
            .iter()
            .flat_map(|row| row.resident_over_time.iter().flatten());
        let heights = samples.map(|sample| sample.resident_bytes.max(sample.live_bytes));
        let resident = heights.max().unwrap_or(0) as f64;
        let bounds = rows.iter().filter_map(|row| row.certified_bytes);
        // a certificate far above would flatten all lines
        let bounds = bounds
            .map(|bytes| bytes as f64)
            .filter(|bytes| *bytes <= MOST_ABOVE * resident);
        let bytes = bounds.fold(resident, f64::max);
        let mut scale = Self {
            events: trace.events as f64,
            resident,
            bytes,
            calls: None,
            least_share: 1.0,
            holes: 0.0,
        };
        for row in rows {
            for tail in tails::of(row) {
                let ends = tail.points.first().zip(tail.points.last());
                let ends = ends.map(|(first, last)| (first.ns.max(1) as f64, last.ns as f64));
                scale.calls = widest(scale.calls, ends);
                scale.least_share = scale.least_share.min(1.0 / tail.calls as f64);
            }
        }
        scale
    }

    /// The axes that hold the figures of both.
    pub(super) fn with(self, other: Self) -> Self {
        Self {
            events: self.events.max(other.events),
            resident: self.resident.max(other.resident),
            bytes: self.bytes.max(other.bytes),
            calls: widest(self.calls, other.calls),
            least_share: self.least_share.min(other.least_share),
            holes: self.holes.max(other.holes),
        }
    }
}

fn widest(one: Option<(f64, f64)>, other: Option<(f64, f64)>) -> Option<(f64, f64)> {
    match (one, other) {
        (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
        (found, None) | (None, found) => found,
    }
}
