//! Every space by its parameters: from values to types.

use std::mem::MaybeUninit;

use surefit_compact::Config;
use surefit_freelist::{
    Best, Coalescing, First, LastList, Lookup, Next, PowersOfTwo, Segregated, SingleList, SizeTree,
    TwoLevel, Worst,
};

use crate::lists::{Choice, Lists};

use super::outcome::{Outcome, Stopped};
use super::program::Program;
use super::replay::{Options, over_compact_fit, over_free_lists};

/// A space of the collector.
#[derive(Clone, Debug)]
pub enum Space {
    /// One free list, the first chunk that fits.
    FirstFit,
    /// One free list, the next chunk that fits after the one that was taken last.
    NextFit,
    /// One free list, the smallest chunk that fits.
    BestFit,
    /// One free list, the largest chunk.
    WorstFit,
    /// Best fit by a balanced tree of all free chunks.
    TreeFit,
    /// A free list for every power of two.
    HalfFit,
    /// Two-level segregated fit.
    Tlsf,
    /// A free list for every small size, and a last list: those of [`Lists::to_usual`].
    Segregated(Lists),
    /// Compact-fit: page-blocks move, and references do not.
    CompactFit(Box<Config>),
}

type Run = fn(&Program, &mut [MaybeUninit<u8>], &Options) -> Result<Outcome, Stopped>;

impl Space {
    /// Replays a program in a region. All of the region is the heap, tables included.
    ///
    /// # Errors
    /// Why the program did not complete.
    pub fn replay(
        &self,
        program: &Program,
        region: &mut [MaybeUninit<u8>],
        options: &Options,
    ) -> Result<Outcome, Stopped> {
        let run: Run = match self {
            Self::FirstFit => over_free_lists::<SingleList<First>>,
            Self::NextFit => over_free_lists::<SingleList<Next>>,
            Self::BestFit => over_free_lists::<SingleList<Best>>,
            Self::WorstFit => over_free_lists::<SingleList<Worst>>,
            Self::TreeFit => over_free_lists::<SizeTree>,
            Self::HalfFit => over_free_lists::<PowersOfTwo>,
            Self::Tlsf => over_free_lists::<TwoLevel>,
            Self::Segregated(lists) => lists.choose_usual(OverLists),
            Self::CompactFit(config) => {
                return over_compact_fit(config, program, region, options);
            }
        };
        run(program, region, options)
    }
}

/// Chooses the replay over lists of a type.
struct OverLists;

impl Choice for OverLists {
    type Output = Run;

    fn of<L: Lookup<N>, C: Coalescing, T: LastList, const N: usize>(self) -> Run {
        over_free_lists::<Segregated<L, C, T, N>>
    }
}
