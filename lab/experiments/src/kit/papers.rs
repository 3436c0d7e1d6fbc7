//! What the papers show, and where it is shown here: every figure, table and claim in words.
//!
//! `Claim::that("…").of(ID)` takes an id of this list:
//!
//! ```text
//! Compact-fit   "question 1" … "question 4" "figure 10" "figure 11" "figure 12" "table 3" "table 4" "throughput" "scalability (a)" "scalability (b)"
//!               "scalability (c)" "automaton" "incremental automaton" "complexity" "chart" "requirements"
//!               "degree of fragmentation" "administrative space" "partitioning" "size-class concurrency"
//!               "sharing degree" "abstract addresses" "non-moving" "lifetime of a page" "symbolic automaton"
//!               "Tiptoe" "JAviator" "analysis" "earlier figures"
//! the thesis    "figure 2-1" … "figure 2-10" "table 2-1" "table 2-2" "worst case" "figure 3-1" … "figure 3-7"
//!               "table 3-1" "table 4-1" "figure 4-1" … "figure 4-14" "figure A-1" … "figure A-15" "headline"
//!               "object sizes" "fast start" "table space" "explicit free" "incremental collector" "generations" "buddy"
//!               "CaffeineMark"
//! others        "Robson" "Robson 1977" "worst cases" "Bendersky-Petrank" "Cohen-Petrank" "TLSF" "Half-fit" "Jamaica"
//!               "Metronome" "Mesh"
//! ```
//! A table or plot shows a figure of this list if its title names the id ("figure 4-1: …", or
//! "figures 2-6 to 2-10"). What is not shown says why ([`Shown::Not`]).
//!
//! # Invariants
//! - S1 Ids are unique.
//! - S2 Every name in [`Shown::By`] is an experiment (a test of `main.rs` asserts it).

use std::fmt;

/// The first paper of Compact-fit, and what of it.
macro_rules! of_2008 {
    ($what:literal) => {
        concat!(
            "Craciunas, Kirsch, Payer, Sokolova, Stadler, Staudinger, A Compacting Real-Time Memory Management System \
             (2008), ",
            $what
        )
    };
}

/// The second paper of Compact-fit, and what of it.
macro_rules! of_2009 {
    ($what:literal) => {
        concat!(
            "Craciunas, Kirsch, Payer, Röck, Sokolova, Concurrency and Scalability versus Fragmentation and Compaction \
             with Compact-fit (2009), ",
            $what
        )
    };
}

/// The thesis, and what of it.
macro_rules! of_the_thesis {
    ($what:literal) => {
        concat!(
            "Huang, Reducing the Traversals in Size-Order Segregated List Object Allocator for Garbage Collection \
             Environment (thesis, 2005), ",
            $what
        )
    };
}

pub(crate) use {of_2008, of_2009, of_the_thesis};

/// Whose a claim is that no paper makes.
pub(crate) const OURS: &str = "ours";

/// A figure, table or claim in words of the papers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PaperItem {
    /// Its name in claims and titles.
    pub(crate) id: &'static str,
    /// The paper.
    pub(crate) paper: Paper,
    /// What the paper shows there.
    pub(crate) shows: &'static str,
    /// Where it is shown here.
    pub(crate) shown: Shown,
}

/// A line of research.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paper {
    /// Craciunas et al., 2008 and 2009, and the slides of Kirsch and Sokolova (2009). Figures 10 to
    /// 12, tables 3 and 4 and sections 4 and 8.3 are of the paper of 2009.
    CompactFit,
    /// Huang's thesis on segregated lists with a Next Hit Table (2005).
    Thesis,
    /// What others proved or measured about the same systems.
    Others,
}

/// Where an item is shown.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shown {
    /// By these experiments.
    By(&'static [&'static str]),
    /// With another item: its claims, tables or plots show both.
    With(&'static str),
    /// Nowhere, and why.
    Not(&'static str),
}

impl Paper {
    /// All of them, in the order of the page.
    pub(crate) const ALL: [Self; 3] = [Self::CompactFit, Self::Thesis, Self::Others];

    /// What it is called in reports.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::CompactFit => {
                "Compact-fit: Craciunas et al. (2008, 2009), Kirsch and Sokolova (2009)"
            }
            Self::Thesis => "Huang's thesis (2005): segregated lists and the Next Hit Table",
            Self::Others => "Others: proofs and measurements of the same systems",
        }
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::By(experiments) => f.write_str(&experiments.join(", ")),
            Self::With(id) => write!(f, "with {id}"),
            Self::Not(why) => write!(f, "not shown: {why}"),
        }
    }
}

const fn cf(id: &'static str, shows: &'static str, by: &'static [&'static str]) -> PaperItem {
    PaperItem {
        id,
        paper: Paper::CompactFit,
        shows,
        shown: Shown::By(by),
    }
}

const fn thesis(id: &'static str, shows: &'static str, by: &'static [&'static str]) -> PaperItem {
    PaperItem {
        id,
        paper: Paper::Thesis,
        shows,
        shown: Shown::By(by),
    }
}

const fn other(id: &'static str, shows: &'static str, by: &'static [&'static str]) -> PaperItem {
    PaperItem {
        id,
        paper: Paper::Others,
        shows,
        shown: Shown::By(by),
    }
}

const fn with(
    paper: Paper,
    id: &'static str,
    shows: &'static str,
    other: &'static str,
) -> PaperItem {
    PaperItem {
        id,
        paper,
        shows,
        shown: Shown::With(other),
    }
}

const fn not(paper: Paper, id: &'static str, shows: &'static str, why: &'static str) -> PaperItem {
    PaperItem {
        id,
        paper,
        shows,
        shown: Shown::Not(why),
    }
}

/// All items, paper by paper, in the order of the papers.
pub(crate) fn all() -> impl Iterator<Item = &'static PaperItem> {
    [COMPACT_FIT, THESIS, THESIS_TIMES, THESIS_APPENDIX, OTHERS]
        .into_iter()
        .flatten()
}

/// The item of an id.
pub(crate) fn find(id: &str) -> Option<&'static PaperItem> {
    all().find(|item| item.id == id)
}

/// Whether an item is one of the four questions of the talk, which head the page.
pub(crate) fn is_question(item: &PaperItem) -> bool {
    item.id.starts_with("question ")
}

const COMPACT_FIT: &[PaperItem] = &[
    cf(
        "question 1",
        "does allocation and deallocation throughput scale with multiple processors?",
        &["scalability"],
    ),
    cf(
        "question 2",
        "which aspects influence scalability?",
        &["scalability", "throughput-locks"],
    ),
    cf(
        "question 3",
        "does compaction of large objects harm system latency?",
        &["figure-12"],
    ),
    cf(
        "question 4",
        "do concurrency and incrementality affect memory consumption?",
        &["figure-12", "memory-threads"],
    ),
    cf(
        "figure 10",
        "allocations per second against κ = 1, 3, 5, 10, 15, 20, 25, ∞, of Emacs and of Hummingbird",
        &["figure-10"],
    ),
    cf(
        "figure 11",
        "used pages and not-full pages during the run, for each κ",
        &["figure-11"],
    ),
    cf(
        "figure 12",
        "left: throughput against ι; middle: system latency against the page-block; right: transient \
         size-class fragmentation against ι",
        &["figure-12"],
    ),
    cf(
        "table 3",
        "memory of TLSF and of optimised non-compacting CF with smallest page-blocks of 16 and 32 B",
        &["table-3"],
    ),
    cf(
        "table 4",
        "clock ticks of malloc and free of TLSF and of optimised non-compacting CF, average and maximum",
        &["table-4"],
    ),
    cf(
        "throughput",
        "one thread: less compaction may give better throughput; size-class locks beat page locks",
        &["throughput-locks"],
    ),
    cf(
        "scalability (a)",
        "full compaction: global size-class locks do not scale, n-CF scales",
        &["scalability"],
    ),
    cf(
        "scalability (b)",
        "optimised non-compacting: better than full compaction by a constant factor",
        &["scalability"],
    ),
    cf(
        "scalability (c)",
        "optimised non-compacting with sharing: the level of sharing determines scalability",
        &["scalability"],
    ),
    cf(
        "automaton",
        "the states of a size-class and what every malloc and free does",
        &["automaton"],
    ),
    cf(
        "incremental automaton",
        "the states of the pages of a size-class while objects move in increments",
        &["automaton"],
    ),
    cf(
        "complexity",
        "malloc, free, latency, memory size and size-class fragmentation of five configurations",
        &["complexity", "memory-threads"],
    ),
    cf(
        "chart",
        "systems by predictability of time and of space",
        &["overview"],
    ),
    cf(
        "requirements",
        "examples of what programs need: 10 MB/s, execution in 1 ms, preemption in 0.1 ms",
        &["figure-10"],
    ),
    cf(
        "degree of fragmentation",
        "the pieces of a size that can still be allocated depend on the numbers of calls alone, not on \
         their order",
        &["overview"],
    ),
    cf(
        "administrative space",
        "page headers, the table of abstract addresses, and words in every object",
        &["bounds"],
    ),
    cf(
        "partitioning",
        "fragmentation through partitioning is fixed when size-classes are chosen, and may dominate",
        &["table-3", "overview"],
    ),
    with(
        Paper::CompactFit,
        "size-class concurrency",
        "threads proceed in parallel if they work in different size-classes",
        "scalability (a)",
    ),
    with(
        Paper::CompactFit,
        "sharing degree",
        "the share of objects that another thread frees",
        "scalability (c)",
    ),
    with(
        Paper::CompactFit,
        "abstract addresses",
        "an access to an object costs one more load",
        "chart",
    ),
    with(
        Paper::CompactFit,
        "non-moving",
        "CF without moves of objects: malloc and free are linear in the object, access is constant",
        "chart",
    ),
    cf(
        "lifetime of a page",
        "a page is free, not-full, full, and source or emptying while objects move",
        &["automaton"],
    ),
    cf(
        "symbolic automaton",
        "the states of a size-class by h, n and u_i with their guards, for π = 1 and π > 1",
        &["automaton"],
    ),
    not(
        Paper::CompactFit,
        "Tiptoe",
        "a process monitor that controls throughput and latency of CPU, memory and I/O",
        "no monitor here: instances of a sharded heap have quotas of bytes",
    ),
    not(
        Paper::CompactFit,
        "JAviator",
        "a quad-rotor on a 600 MHz XScale, flown by a program with this memory management",
        "no flight here: heaps run on an emulated board of that family of processors",
    ),
    not(
        Paper::CompactFit,
        "analysis",
        "the probabilistic analysis of moves and of not-full pages",
        "the papers' analysis is not known here; predict judges one of ours",
    ),
    not(
        Paper::CompactFit,
        "earlier figures",
        "figures 1 to 9 and tables 1 and 2 of the same paper",
        "what they hold is not known here, except the automata, the complexities and the chart",
    ),
];

const THESIS: &[PaperItem] = &[
    not(
        Paper::Thesis,
        "figure 2-1",
        "the parts of a Java virtual machine",
        "an illustration: programs are recorded or replayed here",
    ),
    thesis("figure 2-2", "a scattered heap", &["gc-free-chunks"]),
    not(
        Paper::Thesis,
        "figure 2-3",
        "the same heap after compaction",
        "an illustration: no collector of the thesis compacts",
    ),
    not(
        Paper::Thesis,
        "figure 2-4",
        "the mark phase",
        "an illustration",
    ),
    not(
        Paper::Thesis,
        "figure 2-5",
        "the sweep phase",
        "an illustration",
    ),
    not(
        Paper::Thesis,
        "figure 2-6",
        "the list of a single-list allocator",
        "an illustration of a data structure",
    ),
    not(
        Paper::Thesis,
        "figure 2-7",
        "the lists of a size-ordered segregated list allocator",
        "an illustration of a data structure",
    ),
    not(
        Paper::Thesis,
        "figure 2-8",
        "coalescing of contiguous free chunks",
        "an illustration of an operation",
    ),
    thesis(
        "figure 2-9",
        "never and deferred coalescing: many small chunks",
        &["gc-free-chunks"],
    ),
    thesis(
        "figure 2-10",
        "immediate coalescing: few small chunks, more large ones",
        &["gc-free-chunks"],
    ),
    thesis(
        "table 2-1",
        "sizes of objects: in all, for 90 % of the objects, for 99 %",
        &["gc-size-classes"],
    ),
    thesis(
        "table 2-2",
        "nodes traversed per allocation and external fragmentation, heap of 6 MB",
        &["gc-visits"],
    ),
    not(
        Paper::Thesis,
        "worst case",
        "table 2-2's other column: nodes of the worst allocation, O(n) or O(m + k)",
        "nodes are counted on programs; overview fits how lists grow with what is free",
    ),
    thesis(
        "figure 3-1",
        "nodes traversed per allocation over time: very high before the first collection, then low \
         after each collection and rising towards the next",
        &["gc-visits"],
    ),
    thesis(
        "figure 3-2",
        "at first, one chunk in the last list",
        &["gc-visits"],
    ),
    thesis(
        "figure 3-3",
        "the distribution of chunks drifts as the program runs",
        &["gc-free-chunks"],
    ),
    not(
        Paper::Thesis,
        "figure 3-4",
        "the Next Hit Table beside the free lists",
        "an illustration of a data structure",
    ),
    not(
        Paper::Thesis,
        "figure 3-5",
        "the Next Hit Table at first",
        "an example: a unit test of the table replays it",
    ),
    not(
        Paper::Thesis,
        "figure 3-6",
        "the table after the list of 20 B became empty",
        "an example: a unit test of the table replays it",
    ),
    not(
        Paper::Thesis,
        "figure 3-7",
        "the table after the list of 16 B became non-empty by a remainder",
        "an example: a unit test of the table replays it",
    ),
    thesis(
        "table 3-1",
        "updates of the table with deferred coalescing, and allocations per update",
        &["gc-table-updates", "gc-lua"],
    ),
    thesis("table 4-1", "the programs", &["gc-size-classes"]),
    thesis(
        "headline",
        "the table improves heap management by 100 %",
        &["gc-times", "gc-lua"],
    ),
    thesis(
        "object sizes",
        "95 % of objects are below 256 B and 99 % below 1 KB, so 64 to 256 lists serve them",
        &["gc-size-classes", "gc-lists"],
    ),
    thesis(
        "fast start",
        "with the table, the time before the first collection is short",
        &["gc-visits"],
    ),
    thesis(
        "table space",
        "the table costs some KB",
        &["gc-table-updates"],
    ),
    thesis(
        "explicit free",
        "predicted: the table gains less where programs free",
        &["nht", "gc-lua"],
    ),
    thesis(
        "incremental collector",
        "predicted: the table gains less with an incremental collector",
        &["gc-incremental"],
    ),
    thesis(
        "generations",
        "possible use: promotion in a generational collector",
        &["gc-incremental"],
    ),
    not(
        Paper::Thesis,
        "buddy",
        "buddy systems are faster, but fragment: they do not suit a collector",
        "no collector here stands on a buddy system",
    ),
    not(
        Paper::Thesis,
        "CaffeineMark",
        "it allocates too little to stand for real programs",
        "a remark on the choice of programs",
    ),
];

const THESIS_TIMES: &[PaperItem] = &[
    thesis(
        "figure 4-1",
        "allocation time of never, deferred and immediate coalescing against heap size",
        &["gc-times"],
    ),
    thesis("figure 4-2", "collection time of the three", &["gc-times"]),
    thesis(
        "figure 4-3",
        "heap management time of the three",
        &["gc-times"],
    ),
    thesis(
        "figure 4-4",
        "allocation time of deferred with and without the table",
        &["gc-times"],
    ),
    thesis(
        "figure 4-5",
        "collection time of deferred with and without the table",
        &["gc-times"],
    ),
    thesis(
        "figure 4-6",
        "heap management time of deferred with and without the table",
        &["gc-times"],
    ),
    thesis(
        "figure 4-7",
        "heap management time of never with and without the table",
        &["gc-times"],
    ),
    thesis(
        "figure 4-8",
        "allocation time of immediate with and without the table",
        &["gc-times"],
    ),
    thesis(
        "figure 4-9",
        "collection time of immediate with and without the table",
        &["gc-times"],
    ),
    thesis(
        "figure 4-10",
        "heap management time of immediate with and without the table",
        &["gc-times"],
    ),
    thesis(
        "figure 4-11",
        "allocation time of the three with the table, and of one without",
        &["gc-times"],
    ),
    thesis(
        "figure 4-12",
        "collection time of the same four",
        &["gc-times"],
    ),
    thesis(
        "figure 4-13",
        "heap management time of the same four: immediate with the table is best",
        &["gc-times"],
    ),
    thesis(
        "figure 4-14",
        "heap management time against the number of lists: better up to 256, then flat",
        &["gc-lists"],
    ),
];

const THESIS_APPENDIX: &[PaperItem] = &[
    thesis("figure A-1", "jess: allocation time", &["gc-times"]),
    thesis("figure A-2", "jess: collection time", &["gc-times"]),
    thesis("figure A-3", "jess: heap management time", &["gc-times"]),
    thesis("figure A-4", "raytrace: allocation time", &["gc-times"]),
    thesis("figure A-5", "raytrace: collection time", &["gc-times"]),
    thesis(
        "figure A-6",
        "raytrace: heap management time",
        &["gc-times"],
    ),
    thesis("figure A-7", "db: allocation time", &["gc-times"]),
    thesis("figure A-8", "db: collection time", &["gc-times"]),
    thesis("figure A-9", "db: heap management time", &["gc-times"]),
    thesis("figure A-10", "javac: allocation time", &["gc-times"]),
    thesis("figure A-11", "javac: collection time", &["gc-times"]),
    thesis("figure A-12", "javac: heap management time", &["gc-times"]),
    thesis("figure A-13", "mtrt: allocation time", &["gc-times"]),
    thesis("figure A-14", "mtrt: collection time", &["gc-times"]),
    thesis("figure A-15", "mtrt: heap management time", &["gc-times"]),
];

const OTHERS: &[PaperItem] = &[
    other(
        "Robson",
        "Robson (1971, 1974): the heap that any allocator needs that never moves",
        &["adversary", "small-heaps"],
    ),
    other(
        "Robson 1977",
        "Robson (1977): the worst case of best fit",
        &["adversary"],
    ),
    other(
        "worst cases",
        "the worst cases of first fit, half-fit and TLSF that o1heap's documentation collects",
        &["small-heaps", "adversary"],
    ),
    other(
        "Bendersky-Petrank",
        "Bendersky and Petrank (POPL 2011): bytes moved per byte allocated against the heap needed; \
         by its abstract: the theorems could not be sourced, and bounds derived here stand for them",
        &["adversary"],
    ),
    other(
        "Cohen-Petrank",
        "Cohen and Petrank (PLDI 2013): a stronger bound on the same, by its abstract alone too",
        &["adversary"],
    ),
    other(
        "TLSF",
        "Masmano et al. (2004, 2008): constant time, and fragmentation near that of best fit",
        &["overview"],
    ),
    with(
        Paper::Others,
        "Half-fit",
        "Ogasawara (1995): constant time, and memory that it does not use",
        "TLSF",
    ),
    with(
        Paper::Others,
        "Jamaica",
        "Siebert (2000): blocks of one size, access to objects linear and to arrays logarithmic",
        "chart",
    ),
    other(
        "Metronome",
        "Bacon et al. (2003): pauses and utilisation of a collector by the clock",
        &["gc-mmu"],
    ),
    other(
        "Mesh",
        "Powers et al. (2019): merging pages by remapping; counted only, as no heap here remaps pages",
        &["meshing"],
    ),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{OURS, Shown, all, find};

    #[test]
    fn ids_are_unique_and_found() {
        let ids: BTreeSet<_> = all().map(|item| item.id).collect();
        assert_eq!(ids.len(), all().count(), "S1");
        for id in ["table 3", "figure 4-5", "figure A-15", "Robson"] {
            assert!(find(id).is_some(), "{id}");
        }
        assert!(find(OURS).is_none() && find("").is_none());
    }

    #[test]
    fn every_item_is_shown_or_says_why_not() {
        for item in all() {
            match item.shown {
                Shown::By(experiments) => assert!(!experiments.is_empty(), "{}", item.id),
                Shown::With(other) => {
                    let other = find(other).map(|other| other.shown);
                    assert!(matches!(other, Some(Shown::By(_))), "{}", item.id);
                }
                Shown::Not(why) => assert!(why.len() > 10, "{}", item.id),
            }
            assert!(!item.shows.is_empty(), "{}", item.id);
        }
    }
}
