//! The longest section under a lock, and the longest call, of a whole replay of 1-CF.
//!
//! ```text
//! bytes          copied, counted by the heap: the most of one section, the most of one call
//! ns             the greatest over all sections, and over all calls, of the least over the rounds
//! instructions   counted by valgrind in the calls that are dearest by other counts (`counted`)
//! ```
//! A replay of one thread makes the same sections in every round, so one that the heap makes long
//! is long in every round, and one that an interrupt made long is not.

use std::mem::MaybeUninit;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use surefit_compact::Bytes;
use surefit_compact::shared::{Local, PerClass, SharedConfig, SharedHeap};
use surefit_core::Refused;
use surefit_os::Reservation;

use super::lock::{Note, Noted, nanoseconds, note, take_times};
use surefit_measure::registry::Kind;
use surefit_measure::sizes::HeapSize;
use surefit_measure::spec::{Choice, Spec};
use surefit_measure::steps::{Action, Step, Steps};
use surefit_measure::subjects::shared::Options;

/// So many calls of a kind are counted by valgrind.
pub(super) const COUNTED: usize = 16;

/// The longest of its kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Longest {
    /// The most bytes copied.
    pub(super) bytes: u64,
    /// The greatest time, in nanoseconds.
    pub(super) ns: u64,
    /// The most instructions; `None` if they were not counted.
    pub(super) instructions: Option<u64>,
}

/// What a bound on size-class fragmentation makes of one trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sections {
    /// A section under a lock: preemption time.
    pub(super) section: Longest,
    /// A call: execution time.
    pub(super) call: Longest,
}

/// The heap with class locks and the bound of another heap: `1-cf:k=1` for `cf:k=1`.
pub(super) fn spec(of: &str) -> String {
    format!("1-{of}")
}

/// One heap and the objects of a replay.
pub(super) struct Player<'h, 'm> {
    heap: &'h SharedHeap<'m, Noted, PerClass>,
    local: Local<'h, 'm, Noted, PerClass>,
    objects: Vec<Option<Bytes<MaybeUninit<u8>>>>,
}

impl Player<'_, '_> {
    /// Makes the call of a step.
    ///
    /// # Errors
    /// The heap refused it.
    pub(super) fn call(&mut self, step: Step) -> Result<(), Refused> {
        let object = &mut self.objects[step.slot as usize];
        match (step.action, object.as_mut()) {
            (Action::Allocate | Action::AllocateZeroed, _) => {
                *object = Some(self.local.alloc(step.layout())?);
            }
            (Action::Resize, Some(object)) => self.local.resize(object, step.layout())?,
            (Action::Free, Some(_)) => {
                if let Some(object) = object.take() {
                    self.local.free_bytes(object)?;
                }
            }
            (Action::Resize | Action::Free, None) => unreachable!("steps name live objects (I1)"),
        }
        Ok(())
    }

    /// Bytes copied by moves so far, and the most of one section.
    fn copied(&self) -> (u64, u64) {
        let stats = self.heap.stats();
        (stats.moved_bytes_total, stats.copied_in_section_max)
    }
}

/// Replays a trace through the heap that `spec` names: `play` makes the calls.
///
/// # Errors
/// Not 1-CF with class locks; what `play` returns; no memory.
pub(super) fn replay<T>(
    spec: &str,
    steps: &Steps,
    region: &mut Reservation,
    play: impl FnOnce(&mut Player<'_, '_>) -> Result<T>,
) -> Result<T> {
    let config = config(spec)?;
    let heap: SharedHeap<'_, Noted, PerClass> = SharedHeap::new(region.memory(), &config)?;
    let mut objects = Vec::new();
    objects.resize_with(steps.slots(), || None);
    let local = heap.register()?;
    play(&mut Player {
        heap: &heap,
        local,
        objects,
    })
}

fn config(spec: &str) -> Result<SharedConfig<PerClass>> {
    match Spec::parse(spec)?.choice {
        Choice::InProcess(Kind::OneCf(options)) => match *options {
            Options::Class(config) => Ok(config),
            _ => bail!("{spec} has no class locks"),
        },
        _ => bail!("{spec} is not 1-CF"),
    }
}

/// A region for a trace.
///
/// # Errors
/// No memory.
pub(super) fn region(steps: &Steps) -> Result<Reservation> {
    Ok(Reservation::new(
        HeapSize::DEFAULT.bytes(steps.peak_live_bytes),
    )?)
}

/// The longest sections and calls by bytes and time, and the events whose calls valgrind is to
/// count: the first [`COUNTED`] frees and resizes that copy most, as many allocations that take
/// most locks, and the call with the section that copies most.
///
/// # Errors
/// The heap refused a request; no memory.
pub(super) fn measure(spec: &str, steps: &Steps, rounds: u32) -> Result<(Sections, Vec<usize>)> {
    let mut region = region(steps)?;
    region.fault_in();
    let (mut sections, events) = copied(spec, steps, &mut region)?;
    let (mut section_ns, mut call_ns) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let (of_sections, of_calls) = timed(spec, steps, &mut region)?;
        least(&mut section_ns, of_sections);
        least(&mut call_ns, of_calls);
    }
    let most = |least: &[u32]| least.iter().copied().max().map_or(0, u64::from);
    sections.section.ns = most(&section_ns);
    sections.call.ns = most(&call_ns);
    Ok((sections, events))
}

/// Keeps the lesser of what was found so far and in a round.
fn least(so_far: &mut Vec<u32>, round: Vec<u32>) {
    if so_far.is_empty() {
        *so_far = round;
    } else {
        let both = so_far.iter_mut().zip(round);
        both.for_each(|(least, now)| *least = (*least).min(now));
    }
}

/// What calls did by count: an event, and how much.
type Counts = Vec<(usize, u64)>;

/// The events of the greatest counts, the first of equal ones.
fn dearest(mut counts: Counts) -> impl Iterator<Item = usize> {
    counts.sort_by_key(|(event, count)| (std::cmp::Reverse(*count), *event));
    counts.into_iter().take(COUNTED).map(|(event, _)| event)
}

fn copied(spec: &str, steps: &Steps, region: &mut Reservation) -> Result<(Sections, Vec<usize>)> {
    let (mut locks, mut copies): (Counts, Counts) = Default::default();
    let mut sections = Sections::default();
    let mut of_section = None;
    replay(spec, steps, region, |player| {
        let mut before = player.copied();
        for (event, &step) in steps.steps().iter().enumerate() {
            note(Note::Times);
            let made = player.call(step);
            note(Note::Nothing);
            made.with_context(|| refused(spec, steps, event))?;
            let taken = take_times().len() as u64;
            if matches!(step.action, Action::Allocate | Action::AllocateZeroed) {
                locks.push((event, taken));
                continue;
            }
            let now = player.copied();
            copies.push((event, now.0 - before.0));
            if now.1 > before.1 {
                of_section = Some(event);
            }
            before = now;
        }
        sections.section.bytes = before.1;
        Ok(())
    })?;
    sections.call.bytes = copies.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0);
    let mut events: Vec<_> = dearest(locks)
        .chain(dearest(copies))
        .chain(of_section)
        .collect();
    events.sort_unstable();
    events.dedup();
    Ok((sections, events))
}

/// The times of all sections of the trace's calls, and of the calls.
fn timed(spec: &str, steps: &Steps, region: &mut Reservation) -> Result<(Vec<u32>, Vec<u32>)> {
    let mut calls = Vec::with_capacity(steps.steps().len());
    let sections = replay(spec, steps, region, |player| {
        note(Note::Times);
        for (event, &step) in steps.steps().iter().enumerate() {
            let began = Instant::now();
            let made = player.call(step);
            calls.push(nanoseconds(began));
            made.with_context(|| refused(spec, steps, event))?;
        }
        note(Note::Nothing);
        Ok(take_times())
    })?;
    Ok((sections, calls))
}

/// Where a heap refused a request.
pub(super) fn refused(spec: &str, steps: &Steps, event: usize) -> String {
    let name = &steps.name;
    format!("{name}: event {event}: {spec} refused in four times the peak")
}

#[cfg(test)]
mod tests {
    use super::{config, spec};
    use crate::shared::settings::{Family, of_family};

    #[test]
    fn every_kappa_is_a_heap_with_class_locks() {
        for (_, setting) in of_family(Family::Pages) {
            assert!(config(&spec(setting.spec)).is_ok(), "{}", setting.spec);
        }
    }
}
