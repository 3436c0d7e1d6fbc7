//! The heap over every space, from values to types.

use std::mem::MaybeUninit;

use surefit_clients::java::{Requests, Space};
use surefit_clients::lists::Choice;
use surefit_core::Refused;
use surefit_freelist::{
    Best, Coalescing, First, Index, LastList, Lookup, Next, PowersOfTwo, Segregated, SingleList,
    SizeTree, TwoLevel, Worst,
};
use surefit_gc::schedule::{Amount, Schedule};
use surefit_gc::{
    Collector, FreeList, Generational, Incremental, OneByOne, Settings, Stepwise, Sweep,
};

use crate::heap::{AtOnce, Counts, Heap, InSteps, Paced, TwoGenerations};
use crate::meter::Meter;

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
    /// In steps, as a schedule says.
    Scheduled(Schedule),
    /// In two generations.
    TwoGenerations {
        /// Bytes of a nursery in front of Compact-fit; 0 for none. Free lists have none.
        nursery: usize,
        /// The young one is collected when it has so many bytes, and when a request finds no room.
        young_bytes: u64,
    },
}

/// How a collector works.
#[derive(Clone, Copy, Debug)]
pub(crate) struct How<'m> {
    pub(crate) collecting: Collecting,
    /// Objects of at least this many bytes are large: free lists have another place for them.
    pub(crate) large_from: usize,
    pub(crate) meter: &'m Meter,
}

type Boxed<'m> = Box<dyn Heap + 'm>;

/// Begins a heap in a region, tables included.
pub(crate) fn begin<'m>(
    space: &'m Space,
    how: How<'m>,
    region: &'m mut [MaybeUninit<u8>],
) -> Result<Boxed<'m>, Refused> {
    match space {
        Space::FirstFit => over_lists::<SingleList<First>>(region, how),
        Space::NextFit => over_lists::<SingleList<Next>>(region, how),
        Space::BestFit => over_lists::<SingleList<Best>>(region, how),
        Space::WorstFit => over_lists::<SingleList<Worst>>(region, how),
        Space::TreeFit => over_lists::<SizeTree>(region, how),
        Space::HalfFit => over_lists::<PowersOfTwo>(region, how),
        Space::Tlsf => over_lists::<TwoLevel>(region, how),
        Space::Segregated(lists) => match how.collecting {
            Collecting::AtOnce => lists.choose_usual(OverLists)(region, how),
            _ => lists.choose_merging(OverLists)(region, how),
        },
        Space::CompactFit(config) => {
            let stack = Settings::default().mark_stack;
            match how.collecting {
                Collecting::TwoGenerations {
                    nursery,
                    young_bytes,
                } if nursery > 0 => {
                    let gc = Collector::nursery(region, config, nursery, stack)?;
                    Ok(generations(gc, young_bytes, how.meter))
                }
                _ => Ok(over(Collector::compact_fit(region, config, stack)?, how)),
            }
        }
    }
}

/// Chooses the heap over lists of a type.
struct OverLists;

type Begin = for<'m> fn(&'m mut [MaybeUninit<u8>], How<'m>) -> Result<Boxed<'m>, Refused>;

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

fn over_lists<'m, I: Index + 'static>(
    region: &'m mut [MaybeUninit<u8>],
    how: How<'m>,
) -> Result<Boxed<'m>, Refused> {
    // As in the thesis: a sweep from header to header.
    let settings = Settings {
        sweep: Sweep::Walk,
        large_from: how.large_from,
        ..Settings::default()
    };
    let gc = Collector::<FreeList<'_, I>>::new(region, settings)?;
    Ok(over(gc, how))
}

fn over<'m, S: Counts + Stepwise + 'm>(gc: Collector<'m, S>, how: How<'m>) -> Boxed<'m> {
    match how.collecting {
        Collecting::AtOnce => Box::new(AtOnce(gc.with_clock(how.meter))),
        Collecting::InSteps { trigger, units } => {
            let trigger = Amount {
                objects: u64::MAX,
                bytes: trigger,
            };
            in_steps(gc, Schedule::Asked(trigger), units, how.meter)
        }
        Collecting::Scheduled(schedule) => in_steps(gc, schedule, 0, how.meter),
        Collecting::TwoGenerations { young_bytes, .. } => generations(gc, young_bytes, how.meter),
    }
}

fn in_steps<'m, S: Counts + Stepwise + 'm>(
    gc: Collector<'m, S>,
    schedule: Schedule,
    units: u64,
    meter: &'m Meter,
) -> Boxed<'m> {
    let gc = Incremental::over(gc.with_clock(meter)).with_schedule(schedule);
    let paced = Paced {
        meter,
        units,
        allocated: 0,
        requests: Requests::default(),
    };
    Box::new(InSteps(gc, paced))
}

fn generations<'m, S: Counts + OneByOne + 'm>(
    gc: Collector<'m, S>,
    young_bytes: u64,
    meter: &'m Meter,
) -> Boxed<'m> {
    let gc = Generational::over(gc.with_clock(meter));
    Box::new(TwoGenerations(gc, young_bytes))
}
