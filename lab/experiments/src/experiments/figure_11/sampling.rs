//! A replay that looks at every size-class now and then: what figure 11 is made of.

use std::mem::MaybeUninit;

use anyhow::{Context, Result, bail};
use surefit_compact::{Bytes, Config, Heap};
use surefit_core::Refused;
use surefit_os::Reservation;

use surefit_measure::registry::Kind;
use surefit_measure::sizes::HeapSize;
use surefit_measure::spec::{Choice, Spec};
use surefit_measure::steps::{Action, Step, Steps};

/// So many samples a run, as far as it has events; the last one is taken after the last event.
const SAMPLES: usize = 240;

/// Groups of page-block sizes: their names, and the greatest size in bytes.
pub(super) const GROUPS: [(&str, u32); 4] = [
    ("≤64 B", 64),
    ("≤256 B", 256),
    ("≤1 KiB", 1024),
    ("larger", u32::MAX),
];

/// One look at a heap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sample {
    /// Events replayed before it.
    pub(super) event: u64,
    /// Pages of all size-classes.
    pub(super) pages: u64,
    /// Those of them that are not full.
    pub(super) not_full: u64,
    /// Bytes of free page-blocks in them: size-class fragmentation.
    pub(super) fragmentation_bytes: u64,
    /// The not-full pages by page-block size.
    pub(super) groups: [Group; GROUPS.len()],
}

/// The not-full pages of a group of size-classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Group {
    /// Used page-blocks.
    pub(super) used: u64,
    /// All page-blocks.
    pub(super) room: u64,
}

/// Replays a trace through the moving heap that `spec` names, and looks at it at regular distances.
///
/// # Errors
/// The heap, of four times the trace's peak, refused a request; no memory.
pub(super) fn sample(steps: &Steps, spec: &Spec) -> Result<Vec<Sample>> {
    let Choice::InProcess(kind @ Kind::Cf(options)) = &spec.choice else {
        bail!("{spec} is no moving heap");
    };
    let mut region = Reservation::new(kind.heap_bytes(HeapSize::DEFAULT, steps))?;
    let mut objects: Vec<Option<Bytes<MaybeUninit<u8>>>> = Vec::new();
    objects.resize_with(steps.slots(), || None);
    let refused = |at: usize| {
        format!(
            "{}: event {at}: {spec} refused in four times the peak",
            steps.name
        )
    };
    let mut heap: Heap<'_> =
        Heap::new(region.memory(), &options.config).with_context(|| refused(0))?;
    let every = steps.steps().len().div_ceil(SAMPLES).max(1);
    let mut samples = Vec::with_capacity(SAMPLES);
    for (at, step) in steps.steps().iter().enumerate() {
        replay(&mut heap, &mut objects[step.slot as usize], *step).with_context(|| refused(at))?;
        if (at + 1) % every == 0 || at + 1 == steps.steps().len() {
            samples.push(Sample {
                event: at as u64 + 1,
                ..look(&mut heap, &options.config)
            });
        }
    }
    Ok(samples)
}

/// One step, the object of its slot taken out or put in.
fn replay(
    heap: &mut Heap<'_>,
    object: &mut Option<Bytes<MaybeUninit<u8>>>,
    step: Step,
) -> Result<(), Refused> {
    match (step.action, object.as_mut()) {
        (Action::Allocate | Action::AllocateZeroed, _) => {
            *object = Some(heap.alloc(step.layout())?)
        }
        (Action::Resize, Some(object)) => heap.resize(object, step.layout())?,
        (Action::Free, Some(_)) => {
            if let Some(object) = object.take() {
                heap.free_bytes(object);
            }
        }
        (Action::Resize | Action::Free, None) => unreachable!("steps name live objects (I1)"),
    }
    Ok(())
}

/// Counts the page-blocks of a heap, as the papers do: of those that it keeps with their entries,
/// which go back to their pages first, they know nothing.
fn look(heap: &mut Heap<'_>, config: &Config) -> Sample {
    heap.compact(0);
    let mut sample = Sample::default();
    let geometry = config.geometry();
    for class in geometry.classes() {
        let (live, pages) = heap.details().class_usage(class);
        let not_full = u64::from(heap.details().class_counts(class).not_full);
        let layout = geometry.layout(class);
        let (live, pages, blocks) = (u64::from(live), u64::from(pages), u64::from(layout.blocks));
        sample.pages += pages;
        sample.not_full += not_full;
        sample.fragmentation_bytes += (blocks * pages - live) * u64::from(layout.block_bytes);
        let group = GROUPS
            .iter()
            .position(|(_, most)| layout.block_bytes <= *most);
        let group = &mut sample.groups[group.unwrap_or(GROUPS.len() - 1)];
        group.used += live - blocks * (pages - not_full);
        group.room += blocks * not_full;
    }
    sample
}

#[cfg(test)]
mod tests {
    use super::{GROUPS, sample};
    use crate::shared::programs::{EMACS_PAPER, load};
    use std::path::Path;
    use surefit_measure::spec::Spec;

    fn samples(spec: &str) -> Vec<super::Sample> {
        let program = load(Path::new(EMACS_PAPER), true).expect("made");
        sample(&program.steps, &Spec::parse(spec).expect("valid")).expect("served")
    }

    #[test]
    fn there_are_at_least_200_samples_and_they_keep_the_bound() {
        for (spec, most) in [("cf:k=1", 1), ("cf:k=5", 5)] {
            let samples = samples(spec);
            assert!(samples.len() >= 200, "{}", samples.len());
            // 32 size-classes at most serve requests up to 1 KiB at 1/8 spacing from 16 B
            assert!(
                samples
                    .iter()
                    .all(|sample| sample.not_full <= 64 * most && sample.not_full <= sample.pages)
            );
        }
    }

    #[test]
    fn not_full_pages_are_neither_empty_nor_full() {
        for sample in samples("cf:k=inf") {
            for (group, (name, _)) in sample.groups.iter().zip(GROUPS) {
                let is_between = group.used > 0 && group.used < group.room;
                assert!(is_between || group.room == 0, "{name}: {group:?}");
            }
        }
    }

    #[test]
    fn only_cf_can_be_sampled() {
        let program = load(Path::new(EMACS_PAPER), true).expect("made");
        let spec = Spec::parse("tlsf").expect("valid");
        assert!(sample(&program.steps, &spec).is_err());
    }
}
