//! Heaps of words written down naively, for tests: first fit and best fit as the literature
//! describes them, and one that cheats.
#![deny(unsafe_code)]

use anyhow::Result;

use super::driven::Run;
use super::ground::{Attempt, Ground};
use super::program::Program;
use super::words::{Watched, WordHeap};

/// A list of holes in the order in which they became free; merged at once, the remainder of a cut
/// at the end.
#[derive(Debug)]
pub(super) struct Holes {
    is_best: bool,
    holes: Vec<(u64, u64)>,
}

impl Holes {
    fn new(words: u64, is_best: bool) -> Self {
        Self {
            is_best,
            holes: vec![(0, words)],
        }
    }

    pub(super) fn first_fit(words: u64) -> Self {
        Self::new(words, false)
    }

    pub(super) fn best_fit(words: u64) -> Self {
        Self::new(words, true)
    }

    /// Takes the hole out for which `is_it` holds.
    fn take(&mut self, is_it: impl Fn(u64, u64) -> bool) -> Option<(u64, u64)> {
        let place = self.holes.iter().position(|&(at, size)| is_it(at, size))?;
        Some(self.holes.remove(place))
    }
}

impl WordHeap for Holes {
    type Object = u64;

    fn allocate(&mut self, words: u64) -> Option<u64> {
        let fitting = self.holes.iter().map(|&(_, size)| size);
        let best = fitting.filter(|&size| size >= words).min()?;
        let is_best = self.is_best;
        let (at, size) = self.take(|_, size| size >= words && (!is_best || size == best))?;
        if size > words {
            self.holes.push((at + words, size - words));
        }
        Some(at)
    }

    fn free(&mut self, at: u64, words: u64) {
        let after = self.take(|other, _| other == at + words);
        let before = self.take(|other, size| other + size == at);
        let start = before.map_or(at, |(start, _)| start);
        let end = after.map_or(at + words, |(other, size)| other + size);
        self.holes.push((start, end - start));
    }

    fn address(&mut self, at: &mut u64, _words: u64) -> u64 {
        *at
    }
}

/// A heap that pretends not to move: all objects are always slid to its beginning.
#[derive(Debug)]
pub(super) struct Sliding {
    words: u64,
    serial: u64,
    /// Serial numbers and sizes from the first word on.
    objects: Vec<(u64, u64)>,
}

impl Sliding {
    pub(super) fn new(words: u64) -> Self {
        Self {
            words,
            serial: 0,
            objects: Vec::new(),
        }
    }
}

impl WordHeap for Sliding {
    type Object = u64;

    fn allocate(&mut self, words: u64) -> Option<u64> {
        let live: u64 = self.objects.iter().map(|(_, size)| size).sum();
        if live + words > self.words {
            return None;
        }
        self.serial += 1;
        self.objects.push((self.serial, words));
        Some(self.serial)
    }

    fn free(&mut self, serial: u64, _words: u64) {
        self.objects.retain(|&(other, _)| other != serial);
    }

    fn address(&mut self, serial: &mut u64, _words: u64) -> u64 {
        let before = self.objects.iter().take_while(|(other, _)| other != serial);
        before.map(|(_, size)| size).sum()
    }
}

/// Naive heaps of every capacity.
pub(super) struct Naive<F>(pub(super) F);

impl<H: WordHeap, F: Fn(u64) -> H> Ground for Naive<F> {
    fn at_least(&mut self, words: u64, program: Program) -> Result<Attempt> {
        let mut heap = Watched::new((self.0)(words));
        let completed = program.run(&mut heap).is_ok();
        Ok(Attempt {
            capacity: words,
            beside: 0,
            run: Run {
                completed,
                account: *heap.account(),
                moves: None,
            },
        })
    }

    fn below(&mut self, words: u64, program: Program) -> Result<Attempt> {
        self.at_least(words - 1, program)
    }
}
