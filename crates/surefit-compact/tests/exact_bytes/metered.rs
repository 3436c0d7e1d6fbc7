//! Demands that are read from calls: a meter counts the calls, and the heap must serve them.

use surefit_compact::certify::DemandMeter;
use surefit_compact::{Medium, Narrow, Wide};

use crate::chooser::Chooser;
use crate::drive::{Failure, Outcome, Size};
use crate::heaps::UnderTest;
use crate::setup::{OwnedDemand, Setup};

/// Length and alignment.
type Layout = (usize, usize);

/// A call on one of the objects that are live, by its place.
#[derive(Clone, Copy, Debug)]
enum Call {
    Allocate { layout: Layout },
    Free { place: usize },
    Resize { place: usize, layout: Layout },
}

/// Calls, and the demands that a meter computed from them.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    calls: Vec<Call>,
    demands: [OwnedDemand; 3],
}

impl Script {
    /// Random calls for objects of some sizes.
    pub(crate) fn new(chooser: &mut Chooser, setup: &Setup, sizes: &[Size]) -> Self {
        let config = setup.config().expect("valid");
        let mut meter = match setup.kind.word_bytes() {
            2 => DemandMeter::new::<Narrow>(&config),
            3 => DemandMeter::new::<Medium>(&config),
            _ => DemandMeter::new::<Wide>(&config),
        };
        let (mut calls, mut live) = (Vec::new(), Vec::<Layout>::new());
        let most = 1 + chooser.below(80);
        for _ in 0..40 + chooser.below(200) {
            let Size { len, align, .. } = chooser.one_of(sizes);
            let layout = (len, align);
            let place = chooser.below(live.len().max(1));
            let call = match chooser.below(8) {
                0..=3 if live.len() < most => Call::Allocate { layout },
                4 | 5 if !live.is_empty() => Call::Resize { place, layout },
                _ if !live.is_empty() => Call::Free { place },
                _ => Call::Allocate { layout },
            };
            count(&mut meter, setup, &mut live, call);
            calls.push(call);
        }
        let demands = [meter.per_class(), meter.joint(), meter.both()].map(OwnedDemand::of);
        Self { calls, demands }
    }

    /// One of the demands that were read.
    pub(crate) fn demand(&self, chooser: &mut Chooser) -> OwnedDemand {
        chooser.one_of(&self.demands)
    }

    /// The most generations of keys that the calls end: a call ends one, or leaves an object that
    /// is freed in the end.
    pub(crate) fn ends(&self) -> u64 {
        self.calls.len() as u64
    }

    /// Makes the calls, and frees what they leave.
    pub(crate) fn run(&self, heap: &mut dyn UnderTest) -> Outcome {
        let mut live = Vec::new();
        for (by, call) in self.calls.iter().enumerate() {
            match *call {
                Call::Allocate {
                    layout: (len, align),
                } => {
                    let name = heap.allocate_aligned(by, len, align);
                    live.push(name.map_err(Failure::Refused)?);
                }
                Call::Free { place } => heap.free(by, live.swap_remove(place)),
                Call::Resize { place, layout } => {
                    let resized = heap.resize_aligned(by, live[place], layout);
                    resized.map_err(Failure::Refused)?;
                }
            }
        }
        for (by, name) in live.into_iter().enumerate() {
            heap.free(by, name);
        }
        heap.check().map_err(Failure::Corrupt)
    }
}

fn count(meter: &mut DemandMeter<'_>, setup: &Setup, live: &mut Vec<Layout>, call: Call) {
    let counted = match call {
        Call::Allocate { layout } => {
            live.push(layout);
            meter.allocate(layout.0, layout.1)
        }
        Call::Free { place } => {
            let (len, align) = live.swap_remove(place);
            meter.free(len, align)
        }
        Call::Resize { place, layout } => {
            let old = core::mem::replace(&mut live[place], layout);
            if setup.kind.is_shared() {
                meter.resize_by_copy(old, layout)
            } else {
                meter.resize(old, layout)
            }
        }
    };
    counted.expect("the sizes fit this heap");
}
