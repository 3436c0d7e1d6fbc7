//! The systems of the chart: their names, their specs, and where the slides have them.
#![deny(unsafe_code)]

use super::scripts::Operation;

/// How the time of an operation grows: a row of the chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Time {
    /// Not at all.
    Constant,
    /// Like a logarithm of the heap, of its holes, or of the object's size.
    Logarithmic,
    /// Linear in the object's size.
    Linear,
    /// Like another power of the object's size: a row that the slides do not have.
    Power,
    /// With the heap or its holes, faster than a logarithm: by nothing that the program knows.
    Unbounded,
}

impl Time {
    /// All of them, from above.
    pub(super) const ALL: [Self; 5] = [
        Self::Constant,
        Self::Logarithmic,
        Self::Linear,
        Self::Power,
        Self::Unbounded,
    ];

    /// The row's name.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Constant => "O(1)",
            Self::Logarithmic => "O(log n)",
            Self::Linear => "O(n)",
            Self::Power => "n^a",
            Self::Unbounded => "unbounded",
        }
    }
}

/// Whether what can still be allocated depends on the order of operations: a column of the chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    /// It does.
    Unpredictable,
    /// It does not.
    Predictable,
}

impl Space {
    /// Both, from the left.
    pub(super) const ALL: [Self; 2] = [Self::Unpredictable, Self::Predictable];

    /// The column's name.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Unpredictable => "unpredictable",
            Self::Predictable => "predictable",
        }
    }
}

/// Where the slides have a system.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slides {
    /// The column.
    pub(super) space: Space,
    /// The operations and their rows.
    pub(super) times: &'static [(Operation, Time)],
}

impl Slides {
    /// The row of an operation, if the slides say it.
    pub(super) fn time(&self, operation: Operation) -> Option<Time> {
        let mut times = self.times.iter();
        times
            .find(|(of, _)| *of == operation)
            .map(|(_, time)| *time)
    }
}

/// One system.
#[derive(Clone, Copy, Debug)]
pub(super) struct System {
    /// What the chart calls it; the slides' name where they have it.
    pub(super) name: &'static str,
    /// The allocator.
    pub(super) spec: &'static str,
    /// Where the slides have it.
    pub(super) slides: Option<Slides>,
}

use Operation::{Access, Free, Malloc};
use Space::{Predictable, Unpredictable};
use Time::{Constant, Linear, Logarithmic, Unbounded};

const fn system(name: &'static str, spec: &'static str) -> System {
    System {
        name,
        spec,
        slides: None,
    }
}

const fn on_slides(
    name: &'static str,
    spec: &'static str,
    space: Space,
    times: &'static [(Operation, Time)],
) -> System {
    System {
        name,
        spec,
        slides: Some(Slides { space, times }),
    }
}

/// First fit, best fit and DL: whoever searches.
const SEARCHES: &[(Operation, Time)] = &[(Malloc, Unbounded), (Free, Constant), (Access, Constant)];

/// TLSF and Half-fit: nothing is searched.
const FINDS: &[(Operation, Time)] = &[(Malloc, Constant), (Free, Constant), (Access, Constant)];

/// The collector that the slides draw across the side of the chart, in no cell.
pub(super) const METRONOME: &str =
    "Metronome: a collector by the clock; its heap has a place, its pauses are those of gc-mmu";

/// All systems: those of the slides first. The slides' DL searches bins: version 2.7 and before.
pub(super) const SYSTEMS: &[System] = &[
    on_slides("FF", "first-fit", Unpredictable, SEARCHES),
    on_slides("BF", "best-fit", Unpredictable, SEARCHES),
    on_slides("DL 2.7", "dl-binned", Unpredictable, SEARCHES),
    on_slides("TLSF", "tlsf", Unpredictable, FINDS),
    on_slides("Half-fit", "half-fit", Unpredictable, FINDS),
    on_slides(
        "CFM",
        CFM,
        Predictable,
        &[(Malloc, Constant), (Free, Linear), (Access, Constant)],
    ),
    on_slides(
        "CFNM",
        "cf-block-table:k=1",
        Predictable,
        &[(Malloc, Linear), (Free, Linear), (Access, Constant)],
    ),
    on_slides(
        "Jamaica",
        "jamaica:arrays=off",
        Predictable,
        &[(Malloc, Linear), (Free, Linear), (Access, Linear)],
    ),
    on_slides(
        "Jamaica, arrays",
        "jamaica:arrays=16",
        Predictable,
        &[(Access, Logarithmic)],
    ),
    system("DL 2.8", "dl"),
    system("CF in pieces", "cf:k=1"),
    system("CF, hole bound", "cf"),
    system("Metronome's heap", METRONOMES),
    system("CF without moves", "cf-direct"),
    system("1-CF", "1-cf:k=1"),
    system("worst fit", "worst-fit"),
    system("next fit", "next-fit"),
    system("tree fit", "tree-fit"),
    system("buddy", "buddy"),
    system("lists, scan", "segregated:index=scan"),
    system("lists, table", "segregated:index=nht"),
    system("lists, bitmap", "segregated:index=bitmap"),
    system(
        "lists, table, deferred",
        "segregated:index=nht,coalesce=deferred",
    ),
    system(
        "16 lists, linear last",
        "segregated:index=nht,coalesce=deferred,lists=16,last=linear",
    ),
    system("rlsf", "peer-rlsf"),
    system("talc", "peer-talc"),
];

/// Metronome's heap, as near as our parts come: pages of 16 KiB, size-classes that differ by an
/// eighth, arraylets of 2 KiB. It keeps a bound on holes, where Metronome has a threshold.
const METRONOMES: &str = "cf:pieces=2K";

/// The slides' moving Compact-fit: every object in one page-block, so none is larger than a page;
/// full compaction. Pages are the largest that there are, so that a copy is seen beside what every
/// free takes.
pub(super) const CFM: &str = "cf:k=1,pieces=off,page=64K";

#[cfg(test)]
mod tests {
    use super::SYSTEMS;
    use surefit_measure::spec::Spec;

    #[test]
    fn every_system_is_an_allocator_in_a_region() {
        for system in SYSTEMS {
            let spec = Spec::parse(system.spec).expect(system.spec);
            assert!(spec.in_region(), "{spec}");
        }
    }

    #[test]
    fn the_slides_have_seven_systems_and_a_form_of_one() {
        let on_slides = SYSTEMS.iter().filter(|system| system.slides.is_some());
        assert_eq!(on_slides.count(), 9);
    }
}
