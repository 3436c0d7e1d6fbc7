//! The worst call of each kind, with each number of live objects and of copied bytes.

use crate::clock::Cost;
use crate::event::{EVENTS, Event};

/// Numbers of live objects with which the heaps are searched.
pub const LIVE: [usize; 4] = [10, 100, 1000, 10_000];

/// Copied bytes are told apart in steps of this.
const STEP: u32 = 8;

/// The steps; all that is more is in the last one.
const STEPS: usize = 65;

/// The worst call with about so many copied bytes.
#[derive(Clone, Copy, Debug)]
struct Worst {
    /// The fewest copied bytes of such a call.
    bytes: u32,
    /// The most instructions of such a call; 0 if there was none.
    instructions: u32,
}

/// N instructions and C hundredths of one for each copied byte: no call was above.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// N.
    pub instructions: u32,
    /// 100·C.
    pub hundredths: u32,
}

/// All worst calls of one heap.
#[derive(Debug)]
pub struct Record {
    worst: [[[Worst; STEPS]; LIVE.len()]; EVENTS],
    stack_bytes: [u32; EVENTS],
    calls: u32,
}

impl Record {
    /// A record of no calls.
    pub const fn new() -> Self {
        let none = Worst {
            bytes: u32::MAX,
            instructions: 0,
        };
        Self {
            worst: [[[none; STEPS]; LIVE.len()]; EVENTS],
            stack_bytes: [0; EVENTS],
            calls: 0,
        }
    }

    /// Notes a call that copied so many bytes, in a search with `LIVE[live]` objects.
    pub fn note(&mut self, event: Event, live: usize, bytes: u32, cost: Cost) {
        let step = (bytes / STEP).min(STEPS as u32 - 1) as usize;
        let worst = &mut self.worst[event as usize][live][step];
        worst.bytes = worst.bytes.min(bytes);
        worst.instructions = worst.instructions.max(cost.instructions);
        let stack = &mut self.stack_bytes[event as usize];
        *stack = (*stack).max(cost.stack_bytes);
        self.calls += 1;
    }

    /// The calls that were measured.
    pub const fn calls(&self) -> u32 {
        self.calls
    }

    /// The deepest stack of an event, in bytes.
    pub const fn stack_bytes(&self, event: Event) -> u32 {
        self.stack_bytes[event as usize]
    }

    /// The line above all calls of an event; `None` if there was none.
    pub fn line(&self, event: Event) -> Option<Line> {
        let least = self.seen(event, 0..LIVE.len()).min_by_key(|w| w.bytes)?;
        let slopes = self.seen(event, 0..LIVE.len()).filter_map(|worst| {
            let bytes = worst.bytes - least.bytes;
            let more = worst.instructions.saturating_sub(least.instructions);
            // Over short distances, a slope says little.
            (bytes >= 64).then(|| (100 * more).div_ceil(bytes))
        });
        let hundredths = slopes.max().unwrap_or(0);
        let instructions = self.above(event, 0..LIVE.len(), hundredths)?;
        Some(Line {
            instructions,
            hundredths,
        })
    }

    /// As [`Record::line`], of the calls with `LIVE[live]` objects, and with the same C.
    pub fn with(&self, event: Event, live: usize, hundredths: u32) -> Option<u32> {
        self.above(event, live..live + 1, hundredths)
    }

    /// The least N that is enough for a given C.
    fn above(&self, event: Event, live: core::ops::Range<usize>, hundredths: u32) -> Option<u32> {
        let constants = self.seen(event, live).map(|worst| {
            let copied = worst.bytes * hundredths / 100;
            worst.instructions.saturating_sub(copied)
        });
        constants.max()
    }

    fn seen(&self, event: Event, live: core::ops::Range<usize>) -> impl Iterator<Item = Worst> {
        let steps = self.worst[event as usize][live].iter().flatten().copied();
        steps.filter(|worst| worst.bytes != u32::MAX)
    }
}
