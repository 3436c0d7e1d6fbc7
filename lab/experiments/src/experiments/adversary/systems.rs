//! The systems, each with what a word is in it.
#![deny(unsafe_code)]

use anyhow::{Result, bail};

use super::driven::Word;
use surefit_measure::registry::Kind;
use surefit_measure::spec::{Choice, Spec};

/// A system under the programs.
#[derive(Clone, Copy, Debug)]
pub(super) struct System {
    /// Its name in tables.
    pub(super) name: &'static str,
    /// The allocator of the registry.
    pub(super) spec: &'static str,
    pub(super) word: Word,
    /// What it is known to need for P_R; `None` if nothing is but Robson's bound.
    pub(super) known: Option<Known>,
}

/// What a system is known to need for P_R.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// Robson's bound.
    Exact,
    /// More than Robson's bound: what is free before the end of the heap is not merged with it,
    /// 2^(i-1) words in round i, if that is fewer than the given number of words.
    Unmerged(u64),
    /// At most Robson's bound, rounded up to whole blocks of the largest request.
    Blocks,
}

impl Known {
    /// The words for a bound and a largest request.
    pub(super) fn words(self, bound: u64, largest: u64) -> u64 {
        match self {
            Self::Exact => bound,
            Self::Unmerged(merged) => bound + largest.min(merged) - 1,
            Self::Blocks => bound.next_multiple_of(largest),
        }
    }

    /// Whether a system that is known so may need fewer words too, except for the bound.
    pub(super) fn is_at_most(self) -> bool {
        self == Self::Blocks
    }
}

/// Chunks of whole granules of 8 bytes, at least two, headers of 4.
const OURS: Word = Word::with_header(16, 4);

const fn ours(name: &'static str, spec: &'static str) -> System {
    System {
        name,
        spec,
        word: OURS,
        known: Some(Known::Exact),
    }
}

const fn peer(name: &'static str, spec: &'static str, header: usize) -> System {
    System {
        name,
        spec,
        word: Word::with_header(32, header),
        known: Some(Known::Exact),
    }
}

/// The systems whose objects never move and lie in one piece.
pub(super) const NEVER_MOVE: &[System] = &[
    ours("first-fit", "first-fit"),
    ours("next-fit", "next-fit"),
    ours("best-fit", "best-fit"),
    ours("worst-fit", "worst-fit"),
    ours("tree-fit", "tree-fit"),
    ours("lists, scan", "segregated:index=scan"),
    ours("lists, table", "segregated:index=nht"),
    ours("lists, bitmap", "segregated:index=bitmap"),
    ours("lists, linear", "segregated:last=linear"),
    System {
        // a search of the last list, of chunks from 2 KiB on, merges them
        known: Some(Known::Unmerged(128)),
        ..ours("lists, deferred", "segregated:coalesce=deferred")
    },
    System {
        known: Some(Known::Unmerged(u64::MAX)),
        ..ours("lists, never", "segregated:coalesce=never")
    },
    ours("half-fit", "half-fit"),
    ours("tlsf", "tlsf"),
    System {
        name: "buddy",
        spec: "buddy",
        word: Word::with_header(16, 0),
        known: Some(Known::Blocks),
    },
    peer("dl", "dl", 8),
    peer("peer-rlsf", "peer-rlsf", 16),
    peer("peer-talc", "peer-talc", 8),
    System {
        name: "cf-direct",
        spec: "cf-direct",
        word: Word::with_header(16, 0),
        known: None,
    },
];

/// The three of them that differ in how a list is found, and in nothing else.
pub(super) const LOOKUPS: [&str; 3] = ["lists, scan", "lists, table", "lists, bitmap"];

/// A system that moves its objects, or scatters them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Escape {
    /// Its name in tables.
    pub(super) name: &'static str,
    /// The allocator of the registry.
    pub(super) spec: &'static str,
    pub(super) word: Word,
    /// What a simulation of it in unit words needed for P_R with M = 8192 and n = 256.
    pub(super) simulated: Option<Simulated>,
}

/// Figures of the simulation, in multiples of M words.
#[derive(Clone, Copy, Debug)]
pub(super) struct Simulated {
    pub(super) held: f64,
    pub(super) bound: Option<f64>,
    /// Words allocated by each word that was moved; `None` if none was.
    pub(super) per_move: Option<f64>,
}

const fn moving(
    name: &'static str,
    spec: &'static str,
    (held, bound, per_move): (f64, Option<f64>, Option<f64>),
) -> Escape {
    Escape {
        name,
        spec,
        word: Word::with_header(16, 0),
        simulated: Some(Simulated {
            held,
            bound,
            per_move,
        }),
    }
}

const fn scattering(name: &'static str, spec: &'static str, asked: usize) -> Escape {
    let word = Word {
        bytes: 32,
        asked,
        header: 0,
    };
    Escape {
        name,
        spec,
        word,
        simulated: None,
    }
}

/// Those that P_R is run on: pages of 256 and 1024 words, every object in one piece.
#[rustfmt::skip]
pub(super) const ESCAPE_ROBSON: &[Escape] = &[
    moving("cf κ=1, 4 KiB", "cf:k=1,page=4K,pieces=off", (1.09, Some(1.25), Some(2.6))),
    moving("cf κ=4, 4 KiB", "cf:k=4,page=4K,pieces=off", (1.75, Some(2.00), Some(3.1))),
    moving("cf κ=16, 4 KiB", "cf:k=16,page=4K,pieces=off", (4.50, Some(5.00), Some(22.5))),
    moving("cf holes, 4 KiB", "cf:page=4K,pieces=off", (1.31, None, None)),
    moving("cf κ=1, 16 KiB", "cf:k=1,pieces=off", (1.63, Some(2.13), Some(3.0))),
    moving("cf κ=4, 16 KiB", "cf:k=4,pieces=off", (4.50, Some(5.50), Some(22.0))),
    moving("cf κ=16, 16 KiB", "cf:k=16,pieces=off", (5.00, Some(19.0), None)),
    moving("cf holes, 16 KiB", "cf:pieces=off", (1.88, None, None)),
    scattering("cf-block-table", "cf-block-table", 32),
    scattering("jamaica", "jamaica:arrays=off", 28),
];

/// A word of 64 bytes, so that an object of 16 words is a page of 1 KiB.
const fn small_pages(name: &'static str, spec: &'static str) -> Escape {
    Escape {
        name,
        spec,
        word: Word::with_header(64, 0),
        simulated: None,
    }
}

/// Those that the program against best fit is run on: few words are live, so words are large and
/// pages small.
pub(super) const ESCAPE_BEST_FIT: &[Escape] = &[
    small_pages("cf κ=1, 1 KiB", "cf:k=1,page=1K,pieces=off"),
    small_pages("cf κ=4, 1 KiB", "cf:k=4,page=1K,pieces=off"),
    small_pages("cf holes, 1 KiB", "cf:page=1K,pieces=off"),
    scattering("cf-block-table", "cf-block-table", 32),
    scattering("jamaica", "jamaica:arrays=off", 28),
];

/// The allocator of the registry that a spec names.
///
/// # Errors
/// Never: a test parses all of them.
pub(super) fn kind(spec: &str) -> Result<Kind> {
    match Spec::parse(spec)?.choice {
        Choice::InProcess(kind) => Ok(kind),
        Choice::Preload(_) => bail!("{spec} does not run in this process"),
    }
}
