//! A trace prepared for replaying: 16 bytes per step, objects in recycled slots. A replay finds
//! objects in a table. If the trace's numbers were its indices, the table would grow with the run.
//! Here a new object takes the slot that was freed last, so the table needs one slot for each of
//! the most objects live at once. Each step contains the sizes and the alignment that the allocator
//! needs.
//!
//! # Invariants
//! - I1: a step that allocates names an empty slot below `slots`; one that resizes or frees names a
//!   slot with a live object.
//! - I2: the alignment of a step is that of the allocation of its object; `size` of a free and
//!   `old` of a resize are the object's last size.
//! - I3: `left` names exactly the slots that hold live objects after the last step, with their
//!   sizes and alignments.

use std::alloc::Layout;
use std::path::Path;

use anyhow::{Result, anyhow, ensure};
use surefit_trace::{Counts, Live, Op, Peak, Trace};

use crate::lives::Lives;

/// The alignment of every request whose event does not say more.
pub const LEAST_ALIGN: usize = 8;

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Action {
    /// Allocates an object of `size` bytes.
    Allocate,
    /// Allocates an object of `size` bytes, all zero.
    AllocateZeroed,
    /// Resizes an object from `old` to `size` bytes.
    Resize,
    /// Frees an object of `size` bytes.
    Free,
}

/// One event of a trace, for replaying.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The request in bytes; for a free, the size of the object that dies.
    pub size: u32,
    /// Before a resize, the object's size in bytes; zero otherwise.
    pub old: u32,
    /// Where the object is in the live table.
    pub slot: u32,
    /// The action.
    pub action: Action,
    /// The logarithm of the object's alignment.
    pub align_log2: u8,
}

const _: () = assert!(size_of::<Step>() == 16);

impl Step {
    /// The object's alignment, in bytes.
    #[inline]
    #[must_use]
    pub const fn align(self) -> usize {
        1 << self.align_log2
    }

    /// The layout of the request.
    #[inline]
    #[must_use]
    pub fn layout(self) -> Layout {
        layout(self.size, self.align_log2)
    }

    /// The layout that the object has before a resize.
    #[inline]
    #[must_use]
    pub fn old_layout(self) -> Layout {
        layout(self.old, self.align_log2)
    }
}

#[inline]
fn layout(size: u32, align_log2: u8) -> Layout {
    // SAFETY: the alignment is a power of two of at most 2^30 (`surefit_trace::Align`), and a size
    // below 2^32 rounded up to it is far below the greatest `isize` of a 64-bit machine.
    unsafe { Layout::from_size_align_unchecked(size as usize, 1 << align_log2) }
}

/// The steps of a trace, which come in parts.
pub trait InParts {
    /// The next steps; `None` after the last.
    fn next_part(&mut self) -> Option<&[Step]>;
}

/// An object that the program never freed.
#[derive(Clone, Copy, Debug)]
pub struct Left {
    /// Its slot.
    pub slot: u32,
    /// Its size and alignment.
    pub layout: Layout,
}

/// A trace prepared for replaying.
#[derive(Debug)]
pub struct Steps {
    /// All of them; none if they are streamed.
    steps: Vec<Step>,
    slots: usize,
    left: Vec<Left>,
    /// How many steps there are, here or in the stream.
    pub events: usize,
    /// The trace's name.
    pub name: String,
    /// How many objects are allocated.
    pub objects: u64,
    /// How many threads appear.
    pub threads: u64,
    /// The most of them that live at once, each from its first to its last event; `None` if the
    /// steps are streamed.
    pub threads_at_once: Option<u64>,
    /// The greatest sum of live requests, in bytes.
    pub peak_live_bytes: u64,
    /// The first step after which the sum of live requests is greatest.
    pub peak_event: usize,
    /// How often each action occurs.
    pub calls: Calls,
}

/// How often each call occurs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// Allocations.
    pub mallocs: u64,
    /// Frees.
    pub frees: u64,
    /// Reallocations.
    pub reallocs: u64,
}

impl Calls {
    /// Allocations and reallocations; the time of a pass is divided by their number.
    #[must_use]
    pub const fn pairs(self) -> u64 {
        self.mallocs + self.reallocs
    }
}

impl Steps {
    /// Prepares a trace.
    ///
    /// # Errors
    /// A request of 4 GiB or more.
    pub fn new(trace: &Trace) -> Result<Self> {
        let mut slots = Slots::default();
        let mut steps = Vec::with_capacity(trace.events().len());
        for (number, event) in (0..).zip(trace.events()) {
            let step = slots
                .step(event.op())?
                .ok_or_else(|| too_large(trace.name(), number))?;
            steps.push(step);
        }
        let described = Self::described(trace.name(), trace.header().counts, trace.peak())?;
        Ok(Self {
            steps,
            slots: slots.high,
            calls: slots.calls,
            left: slots.into_left(),
            threads_at_once: Some(Lives::of(trace).most_at_once()),
            ..described
        })
    }

    /// What is known of a trace whose steps are streamed, before the first; `calls` is still to be
    /// counted.
    ///
    /// # Errors
    /// More events than this machine can count.
    pub(crate) fn described(name: &str, counts: Counts, peak: Peak) -> Result<Self> {
        Ok(Self {
            steps: Vec::new(),
            slots: usize::try_from(counts.peak_objects)?,
            left: Vec::new(),
            events: usize::try_from(counts.events)?,
            name: name.to_owned(),
            objects: counts.objects,
            threads: counts.threads,
            threads_at_once: None,
            peak_live_bytes: counts.peak_bytes,
            peak_event: usize::try_from(peak.event)?,
            calls: Calls::default(),
        })
    }

    /// Refuses a trace in which no byte is ever live: heaps are multiples of the peak.
    pub(crate) fn live(&self, file: &Path, is_part: bool) -> Result<()> {
        let mend = match is_part {
            true => "raise --largest, or record a longer run",
            false => "record a longer run",
        };
        ensure!(
            self.peak_live_bytes > 0,
            "{}: nothing is ever live; there is nothing to replay: {mend}",
            file.display()
        );
        Ok(())
    }

    /// The steps, in the order of the trace.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// How many slots the live table needs.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// The objects that are live after the last step.
    #[must_use]
    pub fn left(&self) -> &[Left] {
        &self.left
    }
}

/// A request that no allocator here takes.
pub(crate) fn too_large(name: &str, number: u64) -> anyhow::Error {
    anyhow!(
        "{name}: event {number}: a request of 4 GiB or more cannot be replayed; compare, replay and report leave it out with --largest 1G"
    )
}

/// A live object while steps are made.
#[derive(Clone, Copy, Debug, Default)]
struct Object {
    slot: u32,
    size: u32,
    align_log2: u8,
}

/// Turns the events of a checked trace into steps: it gives slots to objects; the slot that was
/// freed last is reused first. So it needs as many slots as there are objects live at once.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    objects: Live<Object>,
    free: Vec<u32>,
    high: usize,
    /// The steps so far.
    pub(crate) calls: Calls,
}

impl Slots {
    /// The step for an event of a checked trace; `None` if the request is too large.
    ///
    /// # Errors
    /// There is no memory for the table of live objects.
    pub(crate) fn step(&mut self, op: Op) -> Result<Option<Step>> {
        Ok(match op {
            Op::Alloc { id, size, call } => {
                self.calls.mallocs += 1;
                let align = call.align_at_least(LEAST_ALIGN);
                let action = if call.is_zeroed() {
                    Action::AllocateZeroed
                } else {
                    Action::Allocate
                };
                let (Ok(size), Some(slot)) = (u32::try_from(size), self.take_slot()) else {
                    return Ok(None);
                };
                let object = Object {
                    slot,
                    size,
                    align_log2: u8::try_from(align.trailing_zeros())?,
                };
                self.objects.insert(id, object)?;
                Some(object.step(action, 0))
            }
            Op::Realloc { id, size } => {
                self.calls.reallocs += 1;
                let (Ok(size), Some(object)) = (u32::try_from(size), self.objects.get_mut(id))
                else {
                    return Ok(None);
                };
                let old = std::mem::replace(&mut object.size, size);
                Some(object.step(Action::Resize, old))
            }
            Op::Free { id } => {
                self.calls.frees += 1;
                self.objects.remove(id).map(|object| {
                    self.free.push(object.slot);
                    object.step(Action::Free, 0)
                })
            }
        })
    }

    fn take_slot(&mut self) -> Option<u32> {
        if let Some(slot) = self.free.pop() {
            return Some(slot);
        }
        let slot = u32::try_from(self.high).ok()?;
        self.high += 1;
        Some(slot)
    }

    /// The objects that live now, by number.
    pub(crate) fn into_left(self) -> Vec<Left> {
        let live = self.objects.into_sorted().into_iter();
        live.map(|(_, object)| Left {
            slot: object.slot,
            layout: layout(object.size, object.align_log2),
        })
        .collect()
    }
}

impl Object {
    fn step(self, action: Action, old: u32) -> Step {
        Step {
            size: self.size,
            old,
            slot: self.slot,
            action,
            align_log2: self.align_log2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Action, Steps};
    use surefit_trace::{Align, Call, Event, Op, Trace};

    fn steps(ops: &[Op]) -> anyhow::Result<Steps> {
        let events = ops.iter().map(|op| Event::new(0, *op)).collect();
        Steps::new(&Trace::new("test", events).expect("sound"))
    }

    #[test]
    fn slots_are_recycled_and_sizes_are_carried() {
        let call = Call::Malloc;
        let aligned = Call::Aligned(Align::new(64).expect("a power of two"));
        let made = steps(&[
            Op::Alloc {
                id: 0,
                size: 40,
                call,
            },
            Op::Alloc {
                id: 1,
                size: 7,
                call: aligned,
            },
            Op::Realloc { id: 0, size: 400 },
            Op::Free { id: 0 },
            Op::Alloc {
                id: 2,
                size: 9,
                call: Call::Calloc,
            },
        ])
        .expect("small");
        assert_eq!(made.slots(), 2);
        let [_, one, resize, free, zeroed] = made.steps() else {
            panic!("five steps");
        };
        assert_eq!((one.align(), one.slot), (64, 1));
        assert_eq!((resize.old, resize.size), (40, 400));
        assert_eq!((free.action, free.size, free.slot), (Action::Free, 400, 0));
        assert_eq!((zeroed.action, zeroed.slot), (Action::AllocateZeroed, 0));
        assert_eq!(zeroed.align(), 8);
        assert_eq!(made.left().len(), 2);
        assert_eq!(made.peak_event, 2);
        assert_eq!(made.calls.pairs(), 4);
    }

    #[test]
    fn a_request_of_4_gib_is_refused() {
        let call = Call::Malloc;
        let error = steps(&[Op::Alloc {
            id: 0,
            size: 1 << 32,
            call,
        }])
        .expect_err("too large");
        assert!(error.to_string().contains("event 0"));
    }
}
