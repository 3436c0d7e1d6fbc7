//! The figures of a comparison by name, for bounds and baselines.

use surefit_measure::results::{AllocatorResult, TraceResults};

/// What a figure is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// Bytes.
    Bytes,
    /// Nanoseconds.
    Nanoseconds,
    /// A count or a ratio.
    Plain,
}

/// What must be asked for so that a figure is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Needs {
    /// Nothing.
    Nothing,
    /// `--find-min-heap`.
    MinHeap,
    /// `--count instructions`.
    Instructions,
}

impl Needs {
    /// The option, if there is one.
    pub(super) const fn option(self) -> Option<&'static str> {
        match self {
            Self::Nothing => None,
            Self::MinHeap => Some("--find-min-heap"),
            Self::Instructions => Some("--count instructions"),
        }
    }
}

/// A row of a comparison, and what is live in its trace.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'a> {
    pub(super) own: &'a AllocatorResult,
    live: f64,
}

impl<'a> Row<'a> {
    /// The row of an allocator, as it was named.
    pub(super) fn find(trace: &'a TraceResults, allocator: &str) -> Option<Self> {
        Some(Self {
            own: trace
                .results
                .iter()
                .find(|row| row.allocator == allocator)?,
            live: trace.peak_live_bytes.max(1) as f64,
        })
    }

    fn of_live(&self, bytes: Option<u64>) -> Option<f64> {
        bytes.map(|bytes| bytes as f64 / self.live)
    }
}

/// A figure.
#[derive(Debug)]
pub(super) struct Figure {
    pub(super) name: &'static str,
    pub(super) unit: Unit,
    pub(super) needs: Needs,
    pub(super) of: fn(&Row<'_>) -> Option<f64>,
}

/// The figures that a name of the output stands for.
macro_rules! figures {
    ($($name:ident $unit:ident $needs:ident;)*) => {
        [$(Figure {
            name: stringify!($name),
            unit: Unit::$unit,
            needs: Needs::$needs,
            of: |row| row.own.$name.map(|figure| figure as f64),
        },)*]
    };
}

/// Figures under the names that `--format json` gives them.
const PRINTED: [Figure; 30] = figures! {
    heap_bytes Bytes Nothing;
    min_heap_bytes Bytes MinHeap;
    certified_bytes Bytes Nothing;
    peak_footprint_bytes Bytes Nothing;
    peak_resident_bytes Bytes Nothing;
    bytes_in_pieces_at_peak Bytes Nothing;
    moves_total Plain Nothing;
    moved_bytes_total Bytes Nothing;
    moved_bytes_max_per_op Bytes Nothing;
    moved_bytes_max_per_section Bytes Nothing;
    instructions_per_malloc Plain Instructions;
    instructions_per_free Plain Instructions;
    pair_ns_mean Nanoseconds Nothing;
    access_pair_ns_mean Nanoseconds Nothing;
    access_ns_mean Nanoseconds Nothing;
    malloc_ns_mean Nanoseconds Nothing;
    malloc_ns_p50 Nanoseconds Nothing;
    malloc_ns_p99 Nanoseconds Nothing;
    malloc_ns_p9999 Nanoseconds Nothing;
    malloc_ns_max Nanoseconds Nothing;
    free_ns_mean Nanoseconds Nothing;
    free_ns_p50 Nanoseconds Nothing;
    free_ns_p99 Nanoseconds Nothing;
    free_ns_p9999 Nanoseconds Nothing;
    free_ns_max Nanoseconds Nothing;
    realloc_ns_mean Nanoseconds Nothing;
    realloc_ns_p50 Nanoseconds Nothing;
    realloc_ns_p99 Nanoseconds Nothing;
    realloc_ns_p9999 Nanoseconds Nothing;
    realloc_ns_max Nanoseconds Nothing;
};

/// Figures that follow from others.
const DERIVED: [Figure; 11] = [
    plain("completed", Needs::Nothing, |row| {
        Some(f64::from(u8::from(row.own.completed)))
    }),
    plain("min_heap_over_live", Needs::MinHeap, |row| {
        row.of_live(row.own.min_heap_bytes)
    }),
    plain("certified_over_live", Needs::Nothing, |row| {
        row.of_live(row.own.certified_bytes)
    }),
    plain("footprint_over_live", Needs::Nothing, |row| {
        row.of_live(row.own.peak_footprint_bytes)
    }),
    plain("resident_over_live", Needs::Nothing, |row| {
        row.own.resident_over_live_mean
    }),
    plain("time_over_baseline", Needs::Nothing, |row| {
        row.own.ratio_to_baseline.map(|ratio| ratio.median)
    }),
    plain("time_over_baseline_min", Needs::Nothing, |row| {
        row.own.ratio_to_baseline.map(|ratio| ratio.min)
    }),
    plain("time_over_baseline_max", Needs::Nothing, |row| {
        row.own.ratio_to_baseline.map(|ratio| ratio.max)
    }),
    plain("access_over_baseline", Needs::Nothing, |row| {
        row.own.access_ratio_to_baseline.map(|ratio| ratio.median)
    }),
    plain("access_over_baseline_min", Needs::Nothing, |row| {
        row.own.access_ratio_to_baseline.map(|ratio| ratio.min)
    }),
    plain("access_over_baseline_max", Needs::Nothing, |row| {
        row.own.access_ratio_to_baseline.map(|ratio| ratio.max)
    }),
];

const fn plain(name: &'static str, needs: Needs, of: fn(&Row<'_>) -> Option<f64>) -> Figure {
    Figure {
        name,
        unit: Unit::Plain,
        needs,
        of,
    }
}

/// All figures.
pub(super) fn all() -> impl Iterator<Item = &'static Figure> {
    static PRINTED_ONES: [Figure; PRINTED.len()] = PRINTED;
    static DERIVED_ONES: [Figure; DERIVED.len()] = DERIVED;
    DERIVED_ONES.iter().chain(&PRINTED_ONES)
}

/// The figure of a name.
pub(super) fn find(name: &str) -> Option<&'static Figure> {
    all().find(|figure| figure.name == name)
}

/// A figure in its unit, for people.
pub(super) fn shown(figure: f64, unit: Unit) -> String {
    match unit {
        Unit::Bytes => format!("{figure:.0} B"),
        Unit::Nanoseconds if figure >= 10_000.0 => format!("{:.1} us", figure / 1e3),
        Unit::Nanoseconds => format!("{figure:.1} ns"),
        Unit::Plain if figure.fract() == 0.0 => format!("{figure:.0}"),
        Unit::Plain => format!("{figure:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{AllocatorResult, all, find};

    #[test]
    fn names_are_unique_and_printed_ones_are_those_of_the_output() {
        let names: Vec<_> = all().map(|figure| figure.name).collect();
        let mut sorted = names.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), names.len());
        let schema = include_str!("../../../../schemas/compare.json");
        for figure in &super::PRINTED {
            assert!(
                schema.contains(&format!("\"{}\"", figure.name)),
                "{}",
                figure.name
            );
        }
        assert!(find("min_heap").is_none());
    }

    #[test]
    fn what_was_not_measured_has_no_figure() {
        let own = AllocatorResult::default();
        let row = super::Row {
            own: &own,
            live: 1.0,
        };
        let measured: Vec<_> = all().filter(|it| (it.of)(&row).is_some()).collect();
        assert_eq!(measured.len(), 1, "{measured:?}");
        assert_eq!(measured[0].name, "completed");
    }
}
