//! Figures that the thesis printed. Its tables' own averages are not those of the rows that they
//! show.

/// A program of SPECjvm98, as the thesis measured it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Benchmark {
    /// Its name there.
    pub(crate) name: &'static str,
    /// Table 2-1: the sizes of all objects, of 90 % of them, of 99 % of them.
    pub(crate) sizes: [u32; 3],
    /// Table 3-1, where it was run.
    pub(crate) updates: Option<Updates>,
}

/// Table 3-1: updates of the Next Hit Table under deferred coalescing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Updates {
    /// A list became non-empty.
    pub(crate) filled: u32,
    /// A list became empty.
    pub(crate) emptied: u32,
    /// Allocations of the program.
    pub(crate) allocations: u32,
}

impl Updates {
    /// Allocations for an update.
    pub(crate) fn allocations_per_update(self) -> f64 {
        f64::from(self.allocations) / f64::from(self.filled + self.emptied)
    }
}

const fn benchmark(name: &'static str, sizes: [u32; 3], updates: [u32; 3]) -> Benchmark {
    let [filled, emptied, allocations] = updates;
    Benchmark {
        name,
        sizes,
        updates: Some(Updates {
            filled,
            emptied,
            allocations,
        }),
    }
}

/// All of them.
pub(crate) const BENCHMARKS: [Benchmark; 7] = [
    benchmark("compress", [73, 19, 36], [145, 116, 6479]),
    benchmark("jess", [158, 12, 26], [254, 225, 110_471]),
    benchmark("raytrace", [72, 5, 10], [118, 93, 575_724]),
    benchmark("db", [78, 7, 16], [138, 113, 123_166]),
    benchmark("javac", [166, 12, 27], [152, 122, 222_891]),
    benchmark("mtrt", [72, 5, 10], [111, 81, 677_785]),
    Benchmark {
        name: "jack",
        sizes: [448, 6, 18],
        updates: None,
    },
];

/// Table 2-1, printed averages: in percent of all sizes, those of 90 % and of 99 % of the objects.
pub(crate) const AVERAGE_SHARES: [f64; 2] = [10.0, 13.0];

/// "Very few large objects": 1 % have 1 KB or more. Free chunks above 1 KB are as rare if they are
/// no more.
pub(crate) const RARE_PERCENT: f64 = 1.0;

/// Table 3-1, printed average: allocations for an update.
pub(crate) const AVERAGE_ALLOCATIONS_PER_UPDATE: f64 = 1029.0;

#[cfg(test)]
mod tests {
    use super::{AVERAGE_ALLOCATIONS_PER_UPDATE, BENCHMARKS};

    #[test]
    fn the_printed_average_of_updates_is_a_ratio_of_sums() {
        let updates = BENCHMARKS.iter().filter_map(|benchmark| benchmark.updates);
        let (sum, allocations) = updates.fold((0, 0), |(sum, allocations), updates| {
            let changes = updates.filled + updates.emptied;
            (sum + changes, allocations + updates.allocations)
        });
        let ratio = f64::from(allocations) / f64::from(sum);
        assert!(
            (ratio / AVERAGE_ALLOCATIONS_PER_UPDATE - 1.0).abs() < 0.01,
            "{ratio}"
        );
    }

    #[test]
    fn allocations_per_update_are_those_of_the_table() {
        let printed = [25, 231, 2729, 491, 813, 3530];
        let updates = BENCHMARKS.iter().filter_map(|benchmark| benchmark.updates);
        for (updates, printed) in updates.zip(printed) {
            let ratio = updates.allocations_per_update();
            assert!((ratio - f64::from(printed)).abs() < 1.0, "{ratio}");
        }
    }
}
