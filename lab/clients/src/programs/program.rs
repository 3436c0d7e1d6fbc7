//! The programs by name, and how to run one.

use std::mem::MaybeUninit;

use surefit_freelist::Index;

use super::between::{Between, Stopped};
use super::{constraints, json, loops, rays, scheduler, trees, words};

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
