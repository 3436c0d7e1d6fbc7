//! The heap over every space, from values to types.

use std::mem::MaybeUninit;
use std::time::Instant;

use surefit_clients::java::Space;
use surefit_clients::lists::Choice;
use surefit_core::Refused;
use surefit_freelist::{
    Best, Coalescing, First, Index, LastList, Lookup, Next, PowersOfTwo, Segregated, SingleList,
    SizeTree, TwoLevel, Worst,
};
use surefit_gc::schedule::{Amount, Schedule};
use surefit_gc::{
    Clock, Collector, FreeList, Generational, Incremental, OneByOne, Settings, Stepwise, Sweep,
};

use crate::heap::{AtOnce, Counts, Heap, InSteps, Offers, TwoGenerations};

/// When the collector works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collecting {
    /// When a request finds no room: the program stops for a whole collection.
    AtOnce,
    /// In steps. Lists are those that [`Lists::choose_merging`] has, as with two generations.
    ///
    /// [`Lists::choose_merging`]: surefit_clients::lists::Lists::choose_merging
    InSteps {
        /// A cycle begins when so many bytes would be occupied.
        trigger: u64,
        /// The units of work that are offered after every 4 KiB of allocation.
        units: u64,
    },
    /// In two generations.
    TwoGenerations {
        /// Bytes of a nursery in front of Compact-fit; 0 for none. Free lists have none.
        nursery: usize,
    },
}

/// Nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Nanoseconds(Instant);

impl Clock for Nanoseconds {
    fn now(&self) -> u64 {
        self.0.elapsed().as_nanos() as u64
    }
}

type Boxed<'m> = Box<dyn Heap + 'm>;

/// Begins a heap in a region, tables included.
pub(crate) fn begin<'m>(
    space: &'m Space,
    collecting: Collecting,
    region: &'m mut [MaybeUninit<u8>],
) -> Result<Boxed<'m>, Refused> {
    match space {
        Space::FirstFit => over_lists::<SingleList<First>>(region, collecting),
        Space::NextFit => over_lists::<SingleList<Next>>(region, collecting),
        Space::BestFit => over_lists::<SingleList<Best>>(region, collecting),
        Space::WorstFit => over_lists::<SingleList<Worst>>(region, collecting),
        Space::TreeFit => over_lists::<SizeTree>(region, collecting),
        Space::HalfFit => over_lists::<PowersOfTwo>(region, collecting),
        Space::Tlsf => over_lists::<TwoLevel>(region, collecting),
        Space::Segregated(lists) => match collecting {
            Collecting::AtOnce => lists.choose_usual(OverLists)(region, collecting),
            _ => lists.choose_merging(OverLists)(region, collecting),
        },
        Space::CompactFit(config) => {
            let stack = Settings::default().mark_stack;
            match collecting {
                Collecting::TwoGenerations { nursery } if nursery > 0 => {
                    let gc = Collector::nursery(region, config, nursery, stack)?;
                    Ok(generations(gc))
                }
                _ => Ok(over(
                    Collector::compact_fit(region, config, stack)?,
                    collecting,
                )),
            }
        }
    }
}

/// Chooses the heap over lists of a type.
struct OverLists;

type Begin = for<'m> fn(&'m mut [MaybeUninit<u8>], Collecting) -> Result<Boxed<'m>, Refused>;

impl Choice for OverLists {
    type Output = Begin;

    fn of<
        L: Lookup<N> + 'static,
        C: Coalescing + 'static,
        T: LastList + 'static,
        const N: usize,
    >(
        self,
    ) -> Begin {
        over_lists::<Segregated<L, C, T, N>>
    }
}

fn over_lists<I: Index + 'static>(
    region: &mut [MaybeUninit<u8>],
    collecting: Collecting,
) -> Result<Boxed<'_>, Refused> {
    // As in the thesis: one heap, and a sweep from header to header.
    let settings = Settings {
        sweep: Sweep::Walk,
        large_from: usize::MAX,
        ..Settings::default()
    };
    let gc = Collector::<FreeList<'_, I>>::new(region, settings)?;
    Ok(over(gc, collecting))
}

fn over<'m, S: Counts + Stepwise + 'm>(gc: Collector<'m, S>, collecting: Collecting) -> Boxed<'m> {
    match collecting {
        Collecting::AtOnce => Box::new(AtOnce(gc.with_clock(Nanoseconds(Instant::now())))),
        Collecting::InSteps { trigger, units } => {
            let gc = Incremental::over(gc.with_clock(Nanoseconds(Instant::now())));
            let trigger = Amount {
                objects: u64::MAX,
                bytes: trigger,
            };
            let gc = gc.with_schedule(Schedule::Asked(trigger));
            Box::new(InSteps(
                gc,
                Offers {
                    units,
                    allocated: 0,
                },
            ))
        }
        Collecting::TwoGenerations { .. } => generations(gc),
    }
}

fn generations<'m, S: Counts + OneByOne + 'm>(gc: Collector<'m, S>) -> Boxed<'m> {
    let gc = gc.with_clock(Nanoseconds(Instant::now()));
    Box::new(TwoGenerations(Generational::over(gc)))
}
