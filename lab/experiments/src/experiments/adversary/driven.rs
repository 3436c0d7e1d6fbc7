//! The project's heaps and its peers as heaps of words: whatever a replay can drive.
//!
//! A word is the smallest chunk of the system, so that chunks are cut without a rest: a request of
//! w words asks for as many bytes less those of a header.
//!
//! # Invariants
//! - D1: an object is given back with the words that it was allocated with, to the subject it came
//!   from ([`Watched`] keeps both together).

use std::alloc::Layout;

use super::program::Program;
use super::words::{Account, Watched, WordHeap};
use surefit_measure::subject::{Moves, Pass, Subject};

/// What the alignment of every request is, in bytes.
const ALIGN: usize = 8;

/// What a word is in a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// The smallest chunk, a power of two: the unit of addresses.
    pub(super) bytes: usize,
    /// Bytes that a request asks for by each of its words.
    pub(super) asked: usize,
    /// Bytes that it asks for less, since the chunk has a header.
    pub(super) header: usize,
}

impl Word {
    /// Chunks of whole words with a header each.
    pub(super) const fn with_header(bytes: usize, header: usize) -> Self {
        Self {
            bytes,
            asked: bytes,
            header,
        }
    }

    /// The request for the given number of words; `None` if there is no such layout.
    pub(super) fn layout(self, words: u64) -> Option<Layout> {
        let bytes = usize::try_from(words).ok()?.checked_mul(self.asked)?;
        Layout::from_size_align(bytes.checked_sub(self.header)?, ALIGN).ok()
    }
}

/// What is left of a subject whose program ended.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Run {
    /// Whether the program came to its end.
    pub(super) completed: bool,
    /// What it did and saw.
    pub(super) account: Account,
    /// What the heap moved; `None` if it never moves.
    pub(super) moves: Option<Moves>,
}

/// A pass that runs a program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drive {
    pub(super) word: Word,
    pub(super) program: Program,
}

impl Pass for Drive {
    type Output = Run;

    fn run<S: Subject>(self, subject: S) -> Run {
        let word = self.word;
        let mut heap = Watched::new(Driven { subject, word });
        let completed = self.program.run(&mut heap).is_ok();
        Run {
            completed,
            account: *heap.account(),
            moves: heap.heap().subject.moves(),
        }
    }
}

/// A subject as a heap of words.
struct Driven<S> {
    subject: S,
    word: Word,
}

impl<S: Subject> WordHeap for Driven<S> {
    type Object = S::Object;

    fn allocate(&mut self, words: u64) -> Option<S::Object> {
        self.subject.allocate(self.word.layout(words)?, false).ok()
    }

    fn free(&mut self, object: S::Object, words: u64) {
        if let Some(layout) = self.word.layout(words) {
            // SAFETY: S1 and S2 by D1.
            unsafe { self.subject.free(object, layout) };
        }
    }

    fn address(&mut self, object: &mut S::Object, words: u64) -> u64 {
        let Some(layout) = self.word.layout(words) else {
            return 0;
        };
        // SAFETY: S1 and S2 by D1.
        let chunk = unsafe { self.subject.chunk(object, layout, 0) };
        (chunk.as_ptr().addr() / self.word.bytes) as u64
    }
}
