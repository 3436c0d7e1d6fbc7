//! What is measured of an allocator on a trace, and in how many rounds.

use crate::passes::access::Sample;
use crate::single::Setting;
use crate::steps::Steps;

/// What is measured.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The heap, and whether it is written.
    pub setting: Setting,
    /// Interleaved rounds of the timing pass.
    pub rounds: u32,
    /// Interleaved rounds of the access pass.
    pub access_rounds: u32,
    /// Whether every call is timed on its own.
    pub percentiles: bool,
    /// Whether the smallest heap is looked for.
    pub min_heap: bool,
    /// Whether instructions are counted.
    pub instructions: bool,
    /// What a clock reading costs, in nanoseconds.
    pub clock_ns: u64,
    /// What a first look saves and adds; `None` measures exactly the rounds above.
    pub brief: Option<Brief>,
}

/// A first look: it samples accesses, and adds rounds only while the figures scatter.
#[derive(Clone, Copy, Debug)]
pub struct Brief {
    /// The timing pass goes on to this many rounds while a ratio's spread is wide.
    pub most_rounds: u32,
    /// The access pass makes about this many accesses in a round, in windows of events spread over
    /// the trace.
    pub most_accesses: u64,
    /// The timed passes replay no more than this many events, the first ones of the trace.
    pub most_events: usize,
}

impl Plan {
    /// One allocator in so many rounds of each timed pass: no smallest heap, no instructions.
    #[must_use]
    pub const fn of_one(setting: Setting, rounds: u32, clock_ns: u64) -> Self {
        Self {
            setting,
            rounds,
            access_rounds: rounds,
            percentiles: true,
            min_heap: false,
            instructions: false,
            clock_ns,
            brief: None,
        }
    }

    /// The most rounds of the timing pass.
    #[must_use]
    pub fn most_rounds(&self) -> u32 {
        self.brief
            .map_or(self.rounds, |brief| brief.most_rounds.max(self.rounds))
    }

    /// How many events are timed, the first ones, if that is not the whole trace.
    #[must_use]
    pub fn timed_events(&self, steps: &Steps) -> Option<usize> {
        let most = self.brief?.most_events;
        (most < steps.steps().len()).then_some(most)
    }

    /// Which events have accesses.
    #[must_use]
    pub fn sample(&self, steps: &Steps) -> Sample {
        let events = steps.steps().len();
        self.brief.map_or(Sample::ALL, |brief| {
            Sample::of_at_most(brief.most_accesses, events)
        })
    }

    /// The most steps of progress that one allocator makes on one trace.
    #[must_use]
    pub fn progress_steps(&self) -> u64 {
        1 + u64::from(self.most_rounds())
            + u64::from(self.access_rounds)
            + u64::from(self.percentiles)
            + u64::from(self.min_heap)
            + u64::from(self.instructions)
    }
}
