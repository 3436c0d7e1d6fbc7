//! Where programs run: a system's heaps over regions of chosen capacity.
//!
//! The capacity of a region is the number of words of the objects that fill an empty heap over it,
//! large ones first. So tables, headers of the end and control structures are left out, whatever
//! system it is, and known as bytes: what the region has beyond its words.
//!
//! ```text
//! buffer   | ...        | region: tables | word 0 | word 1 | ...               | end, control | ... |
//!                                        \---- a multiple of 64 KiB
//! ```
//! Word 0 lies there so that a system whose blocks are aligned finds the same alignment in every
//! region.
#![deny(unsafe_code)]

use std::mem::MaybeUninit;

use anyhow::{Result, ensure};

use super::driven::{Drive, Run, Word};
use super::program::Program;
use surefit_measure::registry::Kind;

/// What word 0 is aligned to, in bytes: all that a buddy system wants.
const ALIGNED: usize = 1 << 16;

/// The most bytes of a region that are no words: tables of any size, and a page that is not full.
const MOST_BESIDE: usize = 1 << 20;

/// Regions grow and shrink by this many bytes.
const STEP: usize = 8;

/// One run of a program.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Attempt {
    /// Words that fill the heap.
    pub(super) capacity: u64,
    /// Bytes of the region beyond those of the words.
    pub(super) beside: u64,
    /// How it went.
    pub(super) run: Run,
}

impl Attempt {
    /// The bytes of the region.
    pub(super) fn bytes(&self, word: Word) -> u64 {
        self.capacity * word.bytes as u64 + self.beside
    }
}

/// Heaps of one system, of any capacity.
pub(super) trait Ground {
    /// Runs a program in the least region that has a capacity of the given number of words, or more
    /// if there is none of exactly so many.
    ///
    /// # Errors
    /// There is no region as large.
    fn at_least(&mut self, words: u64, program: Program) -> Result<Attempt>;

    /// Runs a program in the largest region with a capacity of fewer words than so many.
    ///
    /// # Errors
    /// As [`Ground::at_least`].
    fn below(&mut self, words: u64, program: Program) -> Result<Attempt>;
}

/// A system of the registry over parts of one buffer.
#[derive(Debug)]
pub(super) struct Land<'a> {
    kind: &'a Kind,
    word: Word,
    buffer: Vec<MaybeUninit<u8>>,
    /// The region that was found last.
    last: Region,
}

/// A part of the buffer.
#[derive(Clone, Copy, Debug, Default)]
struct Region {
    bytes: usize,
    /// Bytes before the aligned place.
    lead: usize,
    /// The capacity, once it is known.
    words: u64,
}

impl<'a> Land<'a> {
    pub(super) fn new(kind: &'a Kind, word: Word) -> Self {
        Self {
            kind,
            word,
            buffer: Vec::new(),
            last: Region::default(),
        }
    }

    /// Runs a program in a region of the given number of bytes.
    pub(super) fn in_bytes(&mut self, bytes: u64, program: Program) -> Run {
        let region = Region {
            bytes: bytes as usize,
            lead: 0,
            words: 0,
        };
        self.run(region, program)
    }

    /// Runs a program in a region, whatever its capacity.
    fn run(&mut self, region: Region, program: Program) -> Run {
        let needed = MOST_BESIDE + ALIGNED + region.bytes;
        if self.buffer.len() < needed {
            self.buffer = vec![MaybeUninit::uninit(); needed];
        }
        let start = self.aligned() - region.lead;
        let memory = &mut self.buffer[start..start + region.bytes];
        let word = self.word;
        let drive = Drive { word, program };
        // a region too small for the system's tables has no words
        self.kind.run_untimed(memory, drive).unwrap_or_default()
    }

    /// The aligned place of the buffer.
    fn aligned(&self) -> usize {
        MOST_BESIDE + self.buffer[MOST_BESIDE..].as_ptr().align_offset(ALIGNED)
    }

    /// Fills a region; returns it with its capacity.
    fn filled(&mut self, region: Region) -> Region {
        let words = self.run(region, Program::Fill).account.allocated;
        Region { words, ..region }
    }

    /// The same bytes, moved so that word 0 lies at the aligned place.
    fn moved(&mut self, region: Region) -> Region {
        let first = self.run(region, Program::Fill).account.first() as usize;
        let start = self.buffer.as_ptr().addr() + self.aligned() - region.lead;
        let lead = (first * self.word.bytes).saturating_sub(start);
        self.filled(Region {
            lead: lead.min(MOST_BESIDE) / STEP * STEP,
            ..region
        })
    }

    /// The least region that has a capacity of at least so many words; what was beside the words
    /// last time is tried first.
    fn region(&mut self, words: u64) -> Result<Region> {
        let least = usize::try_from(words)? * self.word.bytes;
        let beside = self.last.bytes - self.last.words as usize * self.word.bytes;
        let bytes = least + beside;
        let mut region = self.filled(Region { bytes, ..self.last });
        if region.words != words {
            let bytes = self.bisected(least, words)?;
            region = self.moved(Region { bytes, ..region });
        }
        while region.words < words {
            region.bytes += STEP;
            region = self.moved(region);
        }
        self.last = region;
        Ok(region)
    }

    /// The bytes of the least region of at least so many words, if it begins at the aligned place.
    fn bisected(&mut self, least: usize, words: u64) -> Result<usize> {
        let mut has = |bytes| {
            let region = Region {
                bytes,
                ..Region::default()
            };
            self.filled(region).words >= words
        };
        let mut beside = ALIGNED / STEP;
        while !has(least + beside) {
            ensure!(beside < MOST_BESIDE, "no region has {words} words");
            beside *= 2;
        }
        let (mut short, mut enough) = (least / STEP - 1, (least + beside) / STEP);
        while short + 1 < enough {
            let middle = short.midpoint(enough);
            if has(middle * STEP) {
                enough = middle;
            } else {
                short = middle;
            }
        }
        Ok(enough * STEP)
    }

    fn attempt(&mut self, region: Region, program: Program) -> Attempt {
        let of_words = region.words as usize * self.word.bytes;
        Attempt {
            capacity: region.words,
            beside: region.bytes.saturating_sub(of_words) as u64,
            run: self.run(region, program),
        }
    }
}

impl Ground for Land<'_> {
    fn at_least(&mut self, words: u64, program: Program) -> Result<Attempt> {
        let region = self.region(words)?;
        Ok(self.attempt(region, program))
    }

    fn below(&mut self, words: u64, program: Program) -> Result<Attempt> {
        let mut region = self.region(words)?;
        while region.words >= words {
            region.bytes -= STEP;
            region = self.filled(region);
        }
        Ok(self.attempt(region, program))
    }
}
