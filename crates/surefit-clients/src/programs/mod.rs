//! Classic programs on garbage-collected objects. They use the collector's safe interface:
//! `#[derive(Trace)]` and no `unsafe`.
//!
//! | program | does | objects |
//! | --- | --- | --- |
//! | `trees` | builds binary trees and counts their nodes | small, of one size; most die young |
//! | `scheduler` | tasks of an operating system send packets | packets: some pass at once, some wait |
//! | `constraints` | solves one-way constraints incrementally | cycles; long chains |
//! | `loops` | finds the loops of a control-flow graph | a large graph, and union-find sets |
//! | `json` | reads documents, changes them, writes them | arrays and strings of all sizes |
//! | `rays` | traces rays through spheres and mirrors | vectors: most die at once, the picture's stay |
//! | `words` | counts words in a hash table of strings | strings; a growing array; long-lived lists |
//!
//! A program runs in steps. A step is a mutation: it allocates a little. The next step knows only
//! what this one left in the root. Between two steps [`Between`] decides whether to collect, or to
//! look at the objects.
//!
//! Each program can be recorded ([`record()`]) and replayed like a Java program.
//!
//! The result is a checksum that depends only on the program and its size.
#![deny(unsafe_code)]

mod constraints;
mod json;
mod loops;
mod rays;
mod record;
mod scheduler;
mod trees;
mod words;

#[cfg(test)]
mod tests;

pub use record::{RecordError, Recorded, record};

use std::mem::MaybeUninit;

use surefit_core::Refused;
use surefit_freelist::Index;
use surefit_gc::{Arena, Full, Rootable};

/// What happens to an arena between two steps of a program.
pub trait Between {
    /// Called before a step that may allocate up to `bytes` bytes.
    ///
    /// # Errors
    /// [`Full`] if there is not enough room.
    fn step<R: for<'gc> Rootable<'gc> + ?Sized, I: Index>(
        &mut self,
        arena: &mut Arena<'_, R, I>,
        room: usize,
    ) -> Result<(), Full>;
}

/// Collects when there is no room for the next step.
#[derive(Clone, Copy, Debug, Default)]
pub struct Collecting;

impl Between for Collecting {
    fn step<R: for<'gc> Rootable<'gc> + ?Sized, I: Index>(
        &mut self,
        arena: &mut Arena<'_, R, I>,
        room: usize,
    ) -> Result<(), Full> {
        arena.ensure(room)
    }
}

/// Why a program did not complete.
#[derive(Debug, thiserror::Error)]
pub enum Stopped {
    /// The arena could not be made.
    #[error("the region cannot be used: {0}")]
    Region(#[from] Refused),
    /// There was no room for an object.
    #[error(transparent)]
    Full(#[from] Full),
}

/// A program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// Binary trees.
    Trees,
    /// Tasks that send each other packets.
    Scheduler,
    /// One-way constraints.
    Constraints,
    /// Loops of a control-flow graph.
    Loops,
    /// Documents.
    Json,
    /// A ray tracer.
    Rays,
    /// A hash table of interned strings.
    Words,
}

impl Program {
    /// All programs.
    pub const ALL: [Self; 7] = [
        Self::Trees,
        Self::Scheduler,
        Self::Constraints,
        Self::Loops,
        Self::Json,
        Self::Rays,
        Self::Words,
    ];

    /// The name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Trees => "trees",
            Self::Scheduler => "scheduler",
            Self::Constraints => "constraints",
            Self::Loops => "loops",
            Self::Json => "json",
            Self::Rays => "rays",
            Self::Words => "words",
        }
    }

    /// The program with a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|program| program.name() == name)
    }

    /// A size at which about a megabyte lives at a time, and at most about a million objects are
    /// allocated. The program's module says what the size counts.
    #[must_use]
    pub const fn size(self) -> u32 {
        match self {
            Self::Trees => 14,
            Self::Scheduler => 400_000,
            Self::Constraints => 5_600,
            Self::Loops => 400,
            Self::Json => 10_000,
            Self::Rays => 176,
            Self::Words => 200_000,
        }
    }

    /// Runs the program in an arena over the whole region. Returns the checksum.
    ///
    /// # Errors
    /// Why the program did not complete.
    pub fn run<I: Index>(
        self,
        region: &mut [MaybeUninit<u8>],
        size: u32,
        between: &mut impl Between,
    ) -> Result<u64, Stopped> {
        match self {
            Self::Trees => trees::run::<I>(region, size, between),
            Self::Scheduler => scheduler::run::<I>(region, size, between),
            Self::Constraints => constraints::run::<I>(region, size, between),
            Self::Loops => loops::run::<I>(region, size, between),
            Self::Json => json::run::<I>(region, size, between),
            Self::Rays => rays::run::<I>(region, size, between),
            Self::Words => words::run::<I>(region, size, between),
        }
    }
}

/// A checksum of a sequence of numbers.
#[derive(Clone, Copy, Debug, Default)]
struct Checksum(u64);

impl Checksum {
    fn add(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

/// Pseudo-random numbers that are always the same.
#[derive(Clone, Copy, Debug)]
struct Chance(u64);

impl Chance {
    /// A number less than the limit.
    fn below(&mut self, limit: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 32) % u64::from(limit)) as u32
    }
}
