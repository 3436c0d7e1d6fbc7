//! Systems that escape the bounds, since they move their objects or make them of pieces, under
//! their own certificates.
//!
//! ```text
//! certified   bytes that suffice for every program of at most M objects, of M words in sum, in the sizes that occur
//! least       bytes that suffice for this program: bisection, since what such a heap does is the same in every region
//!             until it refuses
//! held        pages in use at most, in words: from the first address that the program saw to the last, in whole pages
//! ```
#![deny(unsafe_code)]

use anyhow::{Context, Result};
use surefit_compact::certify::{Budget, ClassSet, Demand, certify};
use surefit_compact::{Config, Heap, Wide};
use surefit_papers::block_table::certify::{FrameDemand, certify as certify_frames};
use surefit_papers::block_table::{BlockTableConfig, BlockTableHeap};

use super::driven::Word;
use super::ground::{Ground, Land};
use super::program::{Program, Robson};
use super::systems::{Escape, Simulated, kind};
use surefit_measure::registry::Kind;
use surefit_measure::subject::Moves;

/// The program that the simulation ran.
pub(super) const SIMULATED: Robson = Robson {
    live: 8192,
    log2_largest: 8,
};

/// A program on a system that escapes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Escaped {
    pub(super) system: Escape,
    pub(super) program: Program,
    /// M, in bytes of the system's own words.
    live_bytes: u64,
    /// Words of the pages in use at most; `None` if there are no such pages.
    pub(super) held: Option<u64>,
    pub(super) least_bytes: u64,
    pub(super) certified_bytes: u64,
    /// Whether the program came to its end in the certified bytes.
    pub(super) completed: bool,
    /// Words that it allocated in all.
    pub(super) allocated: u64,
    pub(super) moves: Option<Moves>,
}

impl Escaped {
    /// Held words as a multiple of M.
    pub(super) fn held_ratio(&self) -> Option<f64> {
        Some(self.held? as f64 / self.program.live() as f64)
    }

    /// What the simulation found, if it ran the same program.
    pub(super) fn simulated(&self) -> Option<Simulated> {
        let is_same = self.program == Program::Robson(SIMULATED);
        self.system.simulated.filter(|_| is_same)
    }

    /// Bytes as a multiple of the live bytes.
    pub(super) fn ratio(&self, bytes: u64) -> f64 {
        bytes as f64 / self.live_bytes as f64
    }

    /// Words allocated by each word that was moved; `None` if none was: a block table moves its
    /// entries.
    pub(super) fn per_move(&self) -> Option<f64> {
        let words = self.moved_words().filter(|words| *words > 0.0)?;
        Some(self.allocated as f64 / words)
    }

    /// Words that were moved; `None` if objects do not lie in one piece.
    pub(super) fn moved_words(&self) -> Option<f64> {
        let moved = self.held.and(self.moves)?.bytes_total;
        Some(moved as f64 / self.system.word.bytes as f64)
    }
}

/// Runs a program on a system in the certified bytes, and in fewer until it fails.
///
/// # Errors
/// There is no certificate: never for the systems of the experiment.
pub(super) fn escaped(system: Escape, program: Program) -> Result<Escaped> {
    let kind = kind(system.spec)?;
    let (word, live) = (system.word, program.live());
    let mut land = Land::new(&kind, word);
    let certified = match certified(&kind, word, program) {
        Some(certified) => certified.with_context(|| system.name)?,
        // blocks of one size: M of them suffice
        None => land.at_least(live, program)?.bytes(word),
    };
    let run = land.in_bytes(certified, program);
    let live_bytes = live * word.asked as u64;
    let (mut short, mut enough) = (live_bytes, certified);
    while short + 8 < enough {
        let middle = short.midpoint(enough).next_multiple_of(8);
        if land.in_bytes(middle, program).completed {
            enough = middle;
        } else {
            short = middle;
        }
    }
    let page = page_bytes(&kind).map(|bytes| bytes / word.bytes as u64);
    Ok(Escaped {
        system,
        program,
        live_bytes,
        held: page.map(|page| run.account.span().next_multiple_of(page)),
        least_bytes: enough,
        certified_bytes: certified,
        completed: run.completed,
        allocated: run.account.allocated,
        moves: run.moves,
    })
}

/// The bytes of a heap's pages of objects that lie in one piece.
pub(super) fn page_bytes(kind: &Kind) -> Option<u64> {
    match kind {
        Kind::Cf(options) => Some(options.config.geometry().page_bytes() as u64),
        _ => None,
    }
}

/// The certified bytes, control structure included; `None` if the system has no certificates.
fn certified(kind: &Kind, word: Word, program: Program) -> Option<Result<u64>> {
    match kind {
        Kind::Cf(options) => Some(moving(&options.config, word, program)),
        Kind::CfBlockTable(config) => Some(scattered(config, word, program)),
        _ => None,
    }
}

/// A joint demand: at most M objects, and at most the page-blocks of M words in the worst of the
/// sizes.
fn moving(config: &Config, word: Word, program: Program) -> Result<u64> {
    let (geometry, live) = (config.geometry(), program.live());
    let (mut classes, mut block_bytes) = (ClassSet::EMPTY, 0);
    for words in program.sizes() {
        let layout = word.layout(words).context("a size that has a layout")?;
        let class = geometry.class_for(layout.size(), layout.align());
        let class = class.context("an object as large as a page at most")?;
        let block = u64::from(geometry.layout(class).block_bytes);
        classes = classes.with(class);
        block_bytes = block_bytes.max((live * block).div_ceil(words));
    }
    let demand = Demand::Joint(Budget {
        objects: live,
        block_bytes,
        classes,
    });
    let certificate = certify::<Wide>(config, &demand)?;
    let control = size_of::<Heap<'_>>().next_multiple_of(8);
    Ok((certificate.heap_bytes + control) as u64)
}

/// A joint demand in frames.
fn scattered(config: &BlockTableConfig, word: Word, program: Program) -> Result<u64> {
    let live = program.live();
    let frames = |words: u64| config.frames_of(words as usize * word.asked) as u64;
    let sizes = program.sizes();
    let worst = sizes
        .iter()
        .map(|&words| (live * frames(words)).div_ceil(words));
    let demand = FrameDemand {
        objects: live,
        frames: worst.max().unwrap_or(0),
        largest: sizes.iter().map(|&words| frames(words)).max().unwrap_or(0),
        largest_resized: 0,
    };
    let certificate = certify_frames::<Wide>(config, &demand)?;
    let control = size_of::<BlockTableHeap<'_>>().next_multiple_of(8);
    Ok((certificate.heap_bytes + control) as u64)
}
