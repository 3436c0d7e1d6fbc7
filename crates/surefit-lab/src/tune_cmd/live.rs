//! What a run has live, by size and alignment.
//!
//! A run is a list of changes: an object of one *kind* (size and alignment) goes, an object of
//! another kind comes. Everything that a search asks of a trace is one pass over this list: where a
//! cost peaks, and how many objects of each kind are live at an event.

use std::collections::HashMap;

use surefit_measure::steps::{Action, Step, Steps};

/// A size and an alignment, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Kind {
    pub(super) size: usize,
    pub(super) align: usize,
}

/// The index of no kind.
const NONE: u32 = u32::MAX;

/// One event: the kinds that go and come, or [`NONE`].
#[derive(Clone, Copy, Debug)]
struct Change {
    goes: u32,
    comes: u32,
}

/// A recorded program, as far as a search needs it.
#[derive(Debug)]
pub(super) struct Run {
    /// All kinds, in the order of their first appearance.
    pub(super) kinds: Vec<Kind>,
    /// How many objects of each kind count: those of the peak, and a little of those over the whole
    /// run, so that sizes which are not live at the peak have classes too.
    pub(super) weights: Vec<f64>,
    changes: Vec<Change>,
}

/// Moments over the whole run, which count for a tenth beside its peak.
const MOMENTS: usize = 64;
const SHARE_OF_MOMENTS: f64 = 0.1;

/// What an object costs beside its bytes, about: an entry and a back-reference.
const OBJECT_BYTES: u64 = 8;

impl Run {
    /// The changes of a trace.
    pub(super) fn new(steps: &Steps) -> Self {
        let mut run = Self {
            kinds: Vec::new(),
            weights: Vec::new(),
            changes: Vec::with_capacity(steps.steps().len()),
        };
        let mut known = HashMap::new();
        for step in steps.steps() {
            let mut of = |size| run.kind(&mut known, *step, size);
            let (goes, comes) = match step.action {
                Action::Allocate | Action::AllocateZeroed => (NONE, of(step.size)),
                Action::Free => (of(step.size), NONE),
                Action::Resize => (of(step.old), of(step.size)),
            };
            run.changes.push(Change { goes, comes });
        }
        run.weights = run.weighed();
        run
    }

    /// The index of a kind, which is new at its first appearance.
    fn kind(&mut self, known: &mut HashMap<Kind, u32>, step: Step, size: u32) -> u32 {
        let kind = Kind {
            size: size as usize,
            align: step.align(),
        };
        *known.entry(kind).or_insert_with(|| {
            self.kinds.push(kind);
            // Far fewer kinds than 2^32: a trace has at most two for each event.
            (self.kinds.len() - 1) as u32
        })
    }

    /// The kinds that go and come in each event.
    pub(super) fn changes(&self) -> impl Iterator<Item = (Option<u32>, Option<u32>)> {
        let some = |kind: u32| (kind != NONE).then_some(kind);
        let changes = self.changes.iter();
        changes.map(move |change| (some(change.goes), some(change.comes)))
    }

    fn weighed(&self) -> Vec<f64> {
        let last = self.changes.len().saturating_sub(1);
        let spread = (1..=MOMENTS).map(|moment| last * moment / MOMENTS);
        let moments: Vec<_> = spread.collect();
        let mut weights = vec![0.0; self.kinds.len()];
        let mut add = |events: &[usize], share: f64| {
            for live in self.live_at(events) {
                for (weight, count) in weights.iter_mut().zip(live) {
                    *weight += f64::from(count) * share;
                }
            }
        };
        add(&[self.peak()], 1.0 - SHARE_OF_MOMENTS);
        add(&moments, SHARE_OF_MOMENTS / MOMENTS as f64);
        weights
    }

    /// The first event after which the live objects cost most.
    fn peak(&self) -> usize {
        let cost = |kind: &Kind| (kind.size as u64).next_multiple_of(8) + OBJECT_BYTES;
        let costs: Vec<_> = self.kinds.iter().map(cost).collect();
        let of = |kind: Option<u32>| kind.map_or(0, |kind| costs[kind as usize]);
        let (mut sum, mut most, mut event) = (0, 0, 0);
        for (number, (goes, comes)) in self.changes().enumerate() {
            sum = sum + of(comes) - of(goes);
            if sum > most {
                (most, event) = (sum, number);
            }
        }
        event
    }

    /// How many objects of each kind are live after each of these events, which ascend.
    fn live_at(&self, events: &[usize]) -> Vec<Vec<u32>> {
        let mut live = vec![0_u32; self.kinds.len()];
        let (mut next, mut found) = (events.iter().peekable(), Vec::new());
        for (number, (goes, comes)) in self.changes().enumerate() {
            if let Some(kind) = comes {
                live[kind as usize] += 1;
            }
            if let Some(kind) = goes {
                live[kind as usize] -= 1;
            }
            while next.next_if(|event| **event == number).is_some() {
                found.push(live.clone());
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::Run;
    use surefit_measure::steps::Steps;
    use surefit_trace::{Call, Event, Op, Trace};

    fn run(ops: &[Op]) -> Run {
        let events = ops.iter().map(|op| Event::new(0, *op)).collect();
        let trace = Trace::new("t", events).expect("sound");
        Run::new(&Steps::new(&trace).expect("small"))
    }

    fn alloc(id: u32, size: u64) -> Op {
        Op::Alloc {
            id,
            size,
            call: Call::Malloc,
        }
    }

    #[test]
    fn the_peak_counts_objects_and_not_only_bytes() {
        let many = (1..=20).map(|id| alloc(id, 1));
        let ops = [alloc(0, 200), Op::Free { id: 0 }].into_iter().chain(many);
        let run = run(&ops.collect::<Vec<_>>());
        assert_eq!(run.peak(), 21);
        let weights = run.weights;
        assert!(weights[0] < 0.1 && weights[1] > 18.0, "{weights:?}");
    }

    #[test]
    fn a_resize_is_two_kinds_and_an_empty_run_has_none() {
        let resized = run(&[alloc(0, 8), Op::Realloc { id: 0, size: 16 }]);
        assert_eq!(resized.live_at(&[0, 1]), [[1, 0], [0, 1]]);
        assert_eq!(run(&[]).weights, [0.0; 0]);
    }
}
