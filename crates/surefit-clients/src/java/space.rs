//! Every space by its parameters: the only dispatch from values to types.

use std::mem::MaybeUninit;

use surefit_compact::Config;
use surefit_freelist::{
    Best, Bitmap, Coalescing, Deferred, First, Immediate, LastList, Linear, Lookup, Never, Next,
    NextHitTable, PowersOfTwo, Scan, Segregated, SingleList, SizeTree, Tree, TwoLevel, When, Worst,
};

use super::outcome::{Outcome, Stopped};
use super::program::Program;
use super::replay::{Options, over_compact_fit, over_free_lists};

/// A space of the collector.
#[derive(Clone, Debug)]
pub enum Space {
    /// One free list, the first chunk that fits.
    FirstFit,
    /// One free list, the first chunk that fits after the last one that did.
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
    /// A free list for every small size, and a last list.
    Segregated(Lists),
    /// Compact-fit: page-blocks move, and references do not.
    CompactFit(Box<Config>),
}

/// How segregated lists are organised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lists {
    /// What finds a list that holds a chunk.
    pub finds: Finds,
    /// When free neighbours are merged.
    pub merges: When,
    /// Whether the last list is a tree; else it is searched from end to end.
    pub is_tree: bool,
    /// How many lists there are beside the last: a power of two from 16 to 4096.
    pub count: u32,
}

/// What finds a list that holds a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finds {
    /// Looking at one head after the other.
    Scan,
    /// The Next Hit Table.
    NextHitTable,
    /// A bitmap.
    Bitmap,
}

type Run = fn(&Program, &mut [MaybeUninit<u8>], &Options) -> Result<Outcome, Stopped>;

impl Space {
    /// Replays a program in a region: all of it is the heap, tables included.
    ///
    /// # Errors
    /// Says why the program did not complete.
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
            Self::Segregated(lists) => lists.run(),
            Self::CompactFit(config) => {
                return over_compact_fit(config, program, region, options);
            }
        };
        run(program, region, options)
    }
}

impl Lists {
    /// The numbers of lists that only immediate coalescing comes with; 256 comes with all.
    pub const ONLY_IMMEDIATE: [u32; 8] = [16, 32, 64, 128, 512, 1024, 2048, 4096];

    fn run(self) -> Run {
        match self.count {
            16 => self.immediate::<16>(),
            32 => self.immediate::<32>(),
            64 => self.immediate::<64>(),
            128 => self.immediate::<128>(),
            512 => self.immediate::<512>(),
            1024 => self.immediate::<1024>(),
            2048 => self.immediate::<2048>(),
            4096 => self.immediate::<4096>(),
            _ => match self.finds {
                Finds::Scan => self.with_lookup::<Scan, 256>(),
                Finds::NextHitTable => self.with_lookup::<NextHitTable, 256>(),
                Finds::Bitmap => self.with_lookup::<Bitmap, 256>(),
            },
        }
    }

    fn immediate<const N: usize>(self) -> Run {
        match self.finds {
            Finds::Scan => self.with_coalescing::<Scan, Immediate, N>(),
            Finds::NextHitTable => self.with_coalescing::<NextHitTable, Immediate, N>(),
            Finds::Bitmap => self.with_coalescing::<Bitmap, Immediate, N>(),
        }
    }

    fn with_lookup<L: Lookup<N>, const N: usize>(self) -> Run {
        match self.merges {
            When::Never => self.with_coalescing::<L, Never, N>(),
            When::Deferred => self.with_coalescing::<L, Deferred, N>(),
            When::Immediate => self.with_coalescing::<L, Immediate, N>(),
        }
    }

    fn with_coalescing<L: Lookup<N>, C: Coalescing, const N: usize>(self) -> Run {
        if self.is_tree {
            over_segregated::<L, C, Tree, N>
        } else {
            over_segregated::<L, C, Linear, N>
        }
    }
}

fn over_segregated<L: Lookup<N>, C: Coalescing, T: LastList, const N: usize>(
    program: &Program,
    region: &mut [MaybeUninit<u8>],
    options: &Options,
) -> Result<Outcome, Stopped> {
    over_free_lists::<Segregated<L, C, T, N>>(program, region, options)
}
