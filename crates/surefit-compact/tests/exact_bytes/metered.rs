//! Demands that are read from calls: a meter counts them, and the heap must serve the same calls.

use surefit_compact::certify::DemandMeter;
use surefit_compact::{Narrow, Wide};

use crate::drive::{Failure, Outcome, Size};
use crate::generate::{Chooser, OwnedDemand};
use crate::heaps::UnderTest;
use crate::setup::{ALIGN, Setup};

/// A call on one of the objects that are live, by its place.
#[derive(Clone, Copy, Debug)]
enum Call {
    Allocate { len: usize },
    Free { place: usize },
    Resize { place: usize, len: usize },
}

/// Calls, and what a meter made of them.
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
            _ => DemandMeter::new::<Wide>(&config),
        };
        let (mut calls, mut live) = (Vec::new(), Vec::<usize>::new());
        let most = 1 + chooser.below(80);
        for _ in 0..40 + chooser.below(200) {
            let len = chooser.one_of(sizes).len;
            let place = chooser.below(live.len().max(1));
            let call = match chooser.below(8) {
                0..=3 if live.len() < most => Call::Allocate { len },
                4 | 5 if !live.is_empty() => Call::Resize { place, len },
                _ if !live.is_empty() => Call::Free { place },
                _ => Call::Allocate { len },
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

    /// Makes the calls, and frees what they leave.
    pub(crate) fn run(&self, heap: &mut dyn UnderTest) -> Outcome {
        let mut live = Vec::new();
        for (by, call) in self.calls.iter().enumerate() {
            match *call {
                Call::Allocate { len } => {
                    live.push(heap.allocate(by, len).map_err(Failure::Refused)?);
                }
                Call::Free { place } => heap.free(by, live.swap_remove(place)),
                Call::Resize { place, len } => {
                    let resized = heap.resize(by, live[place], len);
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

fn count(meter: &mut DemandMeter<'_>, setup: &Setup, live: &mut Vec<usize>, call: Call) {
    let counted = match call {
        Call::Allocate { len } => {
            live.push(len);
            meter.allocate(len, ALIGN)
        }
        Call::Free { place } => meter.free(live.swap_remove(place), ALIGN),
        Call::Resize { place, len } => {
            let old = core::mem::replace(&mut live[place], len);
            if setup.kind.is_shared() {
                meter.resize_by_copy((old, ALIGN), (len, ALIGN))
            } else {
                meter.resize((old, ALIGN), (len, ALIGN))
            }
        }
    };
    counted.expect("the sizes fit this heap");
}
