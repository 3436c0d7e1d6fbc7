//! The loop that all passes share: it replays the steps of a trace and calls the hooks of the pass.
//!
//! # Invariants
//! - T1: between two steps the table holds an object in exactly the slots that the steps so far
//!   left live (I1 of `steps`), each allocated by this subject and with the layout that the steps
//!   carry (I2).

use std::mem::MaybeUninit;

use surefit_core::Refused;

use super::counted::{counted_free, counted_malloc};
use crate::steps::{Action, Left, Step, Steps};
use crate::subject::Subject;

/// Why a replay stopped before its end.
#[derive(Debug)]
pub enum Stop {
    /// The allocator refused a request.
    Refused(Refused),
    /// The allocator broke a rule.
    Broken(Box<str>),
}

/// Where and why a replay stopped.
#[derive(Debug)]
pub struct Stopped {
    /// The event.
    pub event: usize,
    /// The reason.
    pub stop: Stop,
}

/// The kind of a call to an allocator, for statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallKind {
    /// An allocation.
    Malloc,
    /// A free.
    Free,
    /// A change of size.
    Realloc,
}

/// What a pass does around the calls of a replay; by default, nothing.
///
/// The objects given are live and have the sizes that their steps say: after the step for
/// `allocated` and `resized`, before it for `resizing` and `freeing`.
pub trait Hooks<S: Subject> {
    /// Whether allocations and frees are made by the two functions of `counted`, and not by
    /// [`Hooks::call`].
    const COUNTS: bool = false;

    /// Makes one call to the allocator.
    #[inline]
    fn call<R>(&mut self, _kind: CallKind, call: impl FnOnce() -> R) -> R {
        call()
    }

    /// An object was allocated.
    ///
    /// # Errors
    /// The reason to stop the replay.
    #[inline]
    fn allocated(&mut self, _: &mut S, _: &mut S::Object, _: Step) -> Result<(), Stop> {
        Ok(())
    }

    /// An object is about to be resized.
    ///
    /// # Errors
    /// The reason to stop the replay.
    #[inline]
    fn resizing(&mut self, _: &mut S, _: &mut S::Object, _: Step) -> Result<(), Stop> {
        Ok(())
    }

    /// An object was resized.
    ///
    /// # Errors
    /// The reason to stop the replay.
    #[inline]
    fn resized(&mut self, _: &mut S, _: &mut S::Object, _: Step) -> Result<(), Stop> {
        Ok(())
    }

    /// An object is about to be freed.
    ///
    /// # Errors
    /// The reason to stop the replay.
    #[inline]
    fn freeing(&mut self, _: &mut S, _: &mut S::Object, _: Step) -> Result<(), Stop> {
        Ok(())
    }

    /// A step is done.
    ///
    /// # Errors
    /// The reason to stop the replay.
    #[inline]
    fn done(&mut self, _: &mut S, _: &mut Table<S::Object>, _: Step, _: usize) -> Result<(), Stop> {
        Ok(())
    }
}

/// The live objects of a replay, by slot.
///
/// A slot has at least eight bytes, so that the table is no smaller for handles of four bytes than
/// for pointers: what a replay measures is the heap.
#[derive(Debug)]
pub struct Table<O>(Box<[MaybeUninit<Slot<O>>]>);

/// An object, in a slot that is as long as a pointer's.
#[derive(Debug)]
#[repr(align(8))]
struct Slot<O>(O);

impl<O> Table<O> {
    /// An empty table. Its memory is already touched, so that no page fault disturbs a measurement.
    #[must_use]
    pub fn new(slots: usize) -> Self {
        let mut table = Box::new_uninit_slice(slots);
        // SAFETY: the slice is ours, `slots` entries long; any bytes are valid for `MaybeUninit`.
        unsafe { table.as_mut_ptr().write_bytes(0xA5, slots) };
        Self(table)
    }

    #[inline]
    fn put(&mut self, slot: u32, object: O) {
        self.0[slot as usize].write(Slot(object));
    }

    /// # Safety
    /// The slot holds an object.
    #[inline]
    unsafe fn take(&mut self, slot: u32) -> O {
        // SAFETY: the caller's promise.
        unsafe { self.0[slot as usize].assume_init_read().0 }
    }

    /// The object in a slot.
    ///
    /// # Safety
    /// The slot holds an object.
    #[inline]
    pub unsafe fn get_mut(&mut self, slot: u32) -> &mut O {
        // SAFETY: the caller's promise.
        unsafe { &mut self.0[slot as usize].assume_init_mut().0 }
    }
}

/// Replays all steps. On success the objects that the trace never frees are live in the table.
///
/// # Errors
/// The first refusal or broken rule, and its event.
pub fn replay<S: Subject, H: Hooks<S>>(
    subject: &mut S,
    table: &mut Table<S::Object>,
    steps: &Steps,
    hooks: &mut H,
) -> Result<(), Stopped> {
    replay_part(subject, table, steps.steps(), 0, hooks)
}

/// Replays the next steps, of which the first is number `first`, after those before it.
///
/// # Errors
/// As [`replay()`].
#[inline]
pub(super) fn replay_part<S: Subject, H: Hooks<S>>(
    subject: &mut S,
    table: &mut Table<S::Object>,
    steps: &[Step],
    first: usize,
    hooks: &mut H,
) -> Result<(), Stopped> {
    for (event, &step) in (first..).zip(steps) {
        one(subject, table, step, hooks)
            .and_then(|()| hooks.done(subject, table, step, event))
            .map_err(|stop| Stopped { event, stop })?;
    }
    Ok(())
}

#[inline(always)]
fn one<S: Subject, H: Hooks<S>>(
    subject: &mut S,
    table: &mut Table<S::Object>,
    step: Step,
    hooks: &mut H,
) -> Result<(), Stop> {
    match step.action {
        Action::Allocate | Action::AllocateZeroed => {
            let zeroed = step.action == Action::AllocateZeroed;
            let layout = step.layout();
            let made = if H::COUNTS {
                counted_malloc(subject, layout, zeroed)
            } else {
                hooks.call(CallKind::Malloc, || subject.allocate(layout, zeroed))
            };
            let mut object = made.map_err(Stop::Refused)?;
            hooks.allocated(subject, &mut object, step)?;
            table.put(step.slot, object);
        }
        Action::Free => {
            // SAFETY: T1: the slot holds an object.
            let mut object = unsafe { table.take(step.slot) };
            hooks.freeing(subject, &mut object, step)?;
            let layout = step.layout();
            if H::COUNTS {
                // SAFETY: T1: the object is this subject's, live, and has this layout.
                unsafe { counted_free(subject, object, layout) };
            } else {
                // SAFETY: T1, as above.
                hooks.call(CallKind::Free, || unsafe { subject.free(object, layout) });
            }
        }
        Action::Resize => {
            // SAFETY: T1: the slot holds an object.
            let object = unsafe { table.get_mut(step.slot) };
            hooks.resizing(subject, object, step)?;
            let made = hooks.call(CallKind::Realloc, || {
                // SAFETY: T1: the object is this subject's, live, and has this layout.
                unsafe { subject.resize(object, step.old_layout(), step.size as usize) }
            });
            made.map_err(Stop::Refused)?;
            hooks.resized(subject, object, step)?;
        }
    }
    Ok(())
}

/// Frees the objects that the trace leaves live, after a successful replay.
pub fn drain<S: Subject>(subject: &mut S, table: Table<S::Object>, steps: &Steps) {
    drain_left(subject, table, steps.left());
}

/// Frees these objects, which are all that live.
pub(super) fn drain_left<S: Subject>(subject: &mut S, mut table: Table<S::Object>, all: &[Left]) {
    for left in all {
        // SAFETY: T1 and I3: the slot holds an object, and each slot is named once.
        let object = unsafe { table.take(left.slot) };
        // SAFETY: T1: the object is this subject's, live, and has this layout.
        unsafe { subject.free(object, left.layout) };
    }
}
