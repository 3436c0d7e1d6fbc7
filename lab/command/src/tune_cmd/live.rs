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
    /// How many objects of each kind count: those of the peaks, and a little of those over the
    /// whole run, so that sizes which are not live at a peak have classes too.
    pub(super) weights: Vec<f64>,
    /// The greatest sum of live requests of the program, in bytes.
    pub(super) peak_live_bytes: u64,
    /// The most objects that were live at once before the first change: so many entries there are.
    pub(super) most_before: usize,
    changes: Vec<Change>,
}

/// Moments over the whole run, which count for a tenth beside its peaks.
const MOMENTS: usize = 64;
const SHARE_OF_MOMENTS: f64 = 0.1;

/// A peak counts if it needs more than this part of the greatest one: another run may have another
/// greatest one.
const NEAR: f64 = 0.95;

/// What an object costs beside its bytes, about: a back-reference while it lives, and an entry,
/// which stays.
const BACK_REFERENCE_BYTES: u64 = 4;
const ENTRY_BYTES: u64 = 4;

impl Run {
    /// The changes of a trace.
    pub(super) fn new(steps: &Steps) -> Self {
        let mut run = Self {
            kinds: Vec::new(),
            weights: Vec::new(),
            peak_live_bytes: steps.peak_live_bytes,
            most_before: 0,
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
        let each = SHARE_OF_MOMENTS / MOMENTS as f64;
        let moments: Vec<_> = (1..=MOMENTS)
            .map(|moment| (last * moment / MOMENTS, each))
            .collect();
        let mut weights = vec![0.0; self.kinds.len()];
        for moments in [self.peaks(), moments] {
            let events: Vec<_> = moments.iter().map(|(event, _)| *event).collect();
            for (live, (_, share)) in self.live_at(&events).into_iter().zip(&moments) {
                for (weight, count) in weights.iter_mut().zip(live) {
                    *weight += f64::from(count) * share;
                }
            }
        }
        weights
    }

    /// Of equal parts of the run the events of greatest need, where that is near the greatest of
    /// all; with their shares in what counts.
    fn peaks(&self) -> Vec<(usize, f64)> {
        let needed: Vec<_> = self.needed().collect();
        let most = needed.iter().copied().max().unwrap_or(0) as f64;
        let part = needed.len().div_ceil(MOMENTS).max(1);
        let mut peaks = Vec::new();
        for (number, needed) in needed.chunks(part).enumerate() {
            let (event, bytes) = first_most(needed.iter().copied());
            let above = bytes as f64 / most - NEAR;
            if above > 0.0 {
                peaks.push((number * part + event, above));
            }
        }
        let sum: f64 = peaks.iter().map(|(_, above)| above).sum();
        for (_, share) in &mut peaks {
            *share *= (1.0 - SHARE_OF_MOMENTS) / sum;
        }
        peaks
    }

    /// The first event after which a heap needs the most.
    fn peak(&self) -> usize {
        first_most(self.needed()).0
    }

    /// What a heap needs after each event, about: for live objects, and for the entries of the most
    /// objects until then.
    fn needed(&self) -> impl Iterator<Item = u64> {
        let cost = |kind: &Kind| (kind.size as u64).next_multiple_of(8) + BACK_REFERENCE_BYTES;
        let costs: Vec<_> = self.kinds.iter().map(cost).collect();
        let mut sum = 0;
        let each = self.changes().zip(self.most_objects());
        each.map(move |((goes, comes), objects)| {
            let of = |kind: Option<u32>| kind.map_or(0, |kind| costs[kind as usize]);
            sum = sum + of(comes) - of(goes);
            sum + ENTRY_BYTES * objects
        })
    }

    /// After each change, the most objects that were live at once until then.
    fn most_objects(&self) -> impl Iterator<Item = u64> {
        let (mut live, mut most) = (0, self.most_before as u64);
        self.changes().map(move |(goes, comes)| {
            live = live + u64::from(comes.is_some()) - u64::from(goes.is_some());
            most = most.max(live);
            most
        })
    }

    /// What is live after the event of the peak, as a run that only allocates; and the event.
    pub(super) fn at_peak(&self) -> (Self, usize) {
        let event = self.peak();
        let live = self.live_at(&[event]).pop().unwrap_or_default();
        let mut changes = Vec::new();
        for (kind, count) in (0..).zip(&live) {
            let comes = Change {
                goes: NONE,
                comes: kind,
            };
            changes.extend(std::iter::repeat_n(comes, *count as usize));
        }
        let most_before = self.most_objects().nth(event).unwrap_or_default();
        let run = Self {
            kinds: self.kinds.clone(),
            weights: live.into_iter().map(f64::from).collect(),
            peak_live_bytes: self.peak_live_bytes,
            most_before: most_before as usize,
            changes,
        };
        (run, event)
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

/// The first of the greatest numbers, and where it is; zeros if there is none.
fn first_most(numbers: impl Iterator<Item = u64>) -> (usize, u64) {
    let (mut place, mut most) = (0, 0);
    for (at, number) in numbers.enumerate() {
        if number > most {
            (place, most) = (at, number);
        }
    }
    (place, most)
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

    /// The entries of objects that are gone stay, so a later moment may need more than theirs.
    #[test]
    fn the_peak_counts_entries_that_stay() {
        let came = (0..1000).map(|id| alloc(id, 8));
        let gone = (0..1000).map(|id| Op::Free { id });
        let ops = came.chain(gone).chain([alloc(1000, 12_000)]);
        let run = run(&ops.collect::<Vec<_>>());
        assert_eq!(run.peak(), 2000);
        let (at_peak, event) = run.at_peak();
        assert_eq!((at_peak.most_before, event), (1000, 2000));
        assert_eq!(at_peak.weights, [0.0, 1.0]);
        let changes: Vec<_> = at_peak.changes().collect();
        assert_eq!(changes, [(None, Some(1))]);
        assert_eq!(at_peak.peak_live_bytes, 12_000);
    }

    /// Two peaks in different parts of a run: the lower one counts if it is near the higher one.
    #[test]
    fn peaks_near_the_greatest_one_count() {
        let peaks = |lower: u64| {
            let came = alloc(0, 10_000);
            let second = alloc(1, lower);
            run(&[came, Op::Free { id: 0 }, second]).peaks()
        };
        assert_eq!(peaks(9_000).len(), 1);
        let near = peaks(9_800);
        let [(0, higher), (2, lower)] = near[..] else {
            panic!("{near:?}")
        };
        assert!(
            (higher + lower - 0.9).abs() < 1e-9 && lower < higher,
            "{near:?}"
        );
        assert!(lower > 0.3, "{near:?}");
        assert!(run(&[]).peaks().is_empty());
    }

    #[test]
    fn a_resize_is_two_kinds_and_an_empty_run_has_none() {
        let resized = run(&[alloc(0, 8), Op::Realloc { id: 0, size: 16 }]);
        assert_eq!(resized.live_at(&[0, 1]), [[1, 0], [0, 1]]);
        assert_eq!(run(&[]).weights, [0.0; 0]);
        assert_eq!(run(&[]).at_peak().1, 0);
    }
}
