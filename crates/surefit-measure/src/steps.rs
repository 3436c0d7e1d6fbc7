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

use anyhow::{Result, anyhow};
use surefit_trace::{Op, Trace};

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
    steps: Vec<Step>,
    slots: usize,
    left: Vec<Left>,
    /// The trace's name.
    pub name: String,
    /// How many objects are allocated.
    pub objects: u64,
    /// How many threads appear.
    pub threads: u64,
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
        let counts = trace.header().counts;
        let mut slots = Slots::new(usize::try_from(counts.objects)?);
        let mut steps = Vec::with_capacity(trace.events().len());
        let mut calls = Calls::default();
        for (number, event) in trace.events().iter().enumerate() {
            let step = slots
                .step(event.op())
                .ok_or_else(|| too_large(trace, number))?;
            match step.action {
                Action::Allocate | Action::AllocateZeroed => calls.mallocs += 1,
                Action::Resize => calls.reallocs += 1,
                Action::Free => calls.frees += 1,
            }
            steps.push(step);
        }
        Ok(Self {
            steps,
            slots: slots.high,
            left: slots.left(),
            name: trace.name().to_owned(),
            objects: counts.objects,
            threads: counts.threads,
            peak_live_bytes: counts.peak_bytes,
            peak_event: usize::try_from(trace.peak().event)?,
            calls,
        })
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

fn too_large(trace: &Trace, number: usize) -> anyhow::Error {
    anyhow!(
        "{}: event {number}: a request of 4 GiB or more cannot be replayed; leave it out of the trace",
        trace.name()
    )
}

/// An object while steps are made.
#[derive(Clone, Copy, Default)]
struct Object {
    slot: u32,
    size: u32,
    align_log2: u8,
    live: bool,
}

/// Gives slots to objects; the slot that was freed last is reused first.
struct Slots {
    objects: Vec<Object>,
    free: Vec<u32>,
    high: usize,
}

impl Slots {
    fn new(objects: usize) -> Self {
        Self {
            objects: vec![Object::default(); objects],
            free: Vec::new(),
            high: 0,
        }
    }

    /// The step for an event of a checked trace; `None` if the request is too large.
    fn step(&mut self, op: Op) -> Option<Step> {
        let (id, size, action) = match op {
            Op::Alloc { id, size, call } => {
                let slot = self.take_slot()?;
                let align = call.align_at_least(LEAST_ALIGN);
                self.objects[id as usize] = Object {
                    slot,
                    size: 0,
                    align_log2: u8::try_from(align.trailing_zeros()).ok()?,
                    live: true,
                };
                let zeroed = call.is_zeroed();
                let action = if zeroed {
                    Action::AllocateZeroed
                } else {
                    Action::Allocate
                };
                (id, u32::try_from(size).ok()?, action)
            }
            Op::Realloc { id, size } => (id, u32::try_from(size).ok()?, Action::Resize),
            Op::Free { id } => {
                self.free.push(self.objects[id as usize].slot);
                self.objects[id as usize].live = false;
                (id, self.objects[id as usize].size, Action::Free)
            }
        };
        let object = &mut self.objects[id as usize];
        let old = std::mem::replace(&mut object.size, size);
        Some(Step {
            size,
            old: if action == Action::Resize { old } else { 0 },
            slot: object.slot,
            action,
            align_log2: object.align_log2,
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

    fn left(&self) -> Vec<Left> {
        let live = self.objects.iter().filter(|object| object.live);
        live.map(|object| Left {
            slot: object.slot,
            layout: layout(object.size, object.align_log2),
        })
        .collect()
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
