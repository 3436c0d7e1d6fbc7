//! The bits, the stack and the counts of an arena in steps, and marking with them, between two
//! steps and within one.
//!
//! ```text
//! live     1 at the number of every object of the heap
//! marks    the colours of `marks`: white 00, grey 11, black 10
//! stack    objects that are still to be traced, and the element to go on at
//! ```
#![deny(unsafe_code)]

use core::ops::Range;
use core::ptr::NonNull;

use super::phase::ArenaPhase;
use crate::arena::trace::{Trace, Tracer};
use crate::bits::{BITS, Bits};
use crate::incremental::{Cycle, Steps};
use crate::stack::Stack;

/// Bytes of a granule: numbers of objects count them.
const GRANULE: usize = 8;

/// What is still to be traced, between two steps.
#[derive(Debug, Default)]
pub(super) struct Pending {
    /// Entries of the stack.
    pub(super) len: usize,
    deepest: usize,
    /// The lowest object that did not fit on the stack since the pass over the grey bits began.
    pub(super) grey: Option<u32>,
    /// Where the pass goes on.
    pub(super) pass: Option<u32>,
}

impl Pending {
    /// The maximum number of entries of the stack.
    pub(super) const fn deepest(&self) -> usize {
        self.deepest
    }
}

/// Where the cycle is, and what was counted.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) phase: ArenaPhase,
    /// The word of bits that is being swept, or where a merge goes on.
    pub(super) cursor: u32,
    pub(super) pending: Pending,
    /// Objects of the heap.
    pub(super) live_objects: u64,
    pub(super) cycle: Cycle,
    pub(super) steps: Steps,
}

/// The tables and the state, borrowed: by a mutation, or by a step.
#[derive(Debug)]
pub(in crate::arena) struct Tables<'a> {
    /// The address of granule 0.
    pub(super) origin: usize,
    pub(super) live: Bits<'a>,
    pub(super) marks: Bits<'a>,
    pub(super) stack: &'a mut [u64],
    pub(super) state: &'a mut State,
}

impl Tables<'_> {
    /// Notes a new object. It is black if its number is `black_from` or more.
    #[inline]
    pub(super) fn born(&mut self, object: NonNull<u8>, black_from: u32) {
        let number = self.number_of(object);
        self.live.set(number);
        self.state.live_objects += 1;
        if number >= black_from {
            self.marks.set(number);
        }
        self.state.cycle.born += u64::from(self.state.phase >= ArenaPhase::Mark);
    }

    /// Marks what a value refers to, which the program is about to lose, or has just upgraded.
    pub(super) fn shade(&mut self, value: &(impl Trace + ?Sized)) {
        let mut tracing = self.tracing();
        value.trace(&mut tracing.tracer);
        let (_, objects) = tracing.counts();
        drop(tracing);
        self.state.cycle.shaded += objects;
    }

    pub(super) fn is_marked(&self, object: NonNull<u8>) -> bool {
        self.marks.get(self.number_of(object))
    }

    fn number_of(&self, object: NonNull<u8>) -> u32 {
        ((object.addr().get() - self.origin) / GRANULE) as u32
    }

    /// The tracer, as the last one was left.
    pub(super) fn tracing(&mut self) -> Tracing<'_> {
        let pending = &mut self.state.pending;
        let stack = Stack::resumed(self.stack, pending.len, pending.deepest);
        Tracing {
            live: &self.live,
            tracer: Tracer::resumed(self.origin, self.marks.reborrow(), stack, pending.grey),
            pending,
            entry: None,
        }
    }
}

/// A tracer. What is pending is put back at its end, also by unwinding.
#[derive(Debug)]
pub(super) struct Tracing<'a> {
    live: &'a Bits<'a>,
    pub(super) tracer: Tracer<'a>,
    pending: &'a mut Pending,
    /// What is being traced at the moment.
    entry: Option<(u32, u32)>,
}

impl Tracing<'_> {
    /// References that were reported, and objects that became marked.
    pub(super) fn counts(&mut self) -> (u64, u64) {
        let counting = self.tracer.counting();
        counting.map_or((0, 0), |it| (it.references, it.objects))
    }

    /// Takes the newest entry of the stack. `trace` traces that object from an element on, and
    /// returns its words. Returns the work, and the references that it reported; `None` if the
    /// stack is empty.
    pub(super) fn trace_next(
        &mut self,
        trace: impl FnOnce(&mut Tracer<'_>, u32, u32) -> usize,
    ) -> Option<(u64, u64)> {
        let (object, from) = self.tracer.pending().0.pop()?;
        self.entry = Some((object.number(), from));
        let (before, _) = self.counts();
        let words = trace(&mut self.tracer, object.number(), from);
        self.entry = None;
        let references = self.counts().0 - before;
        let words = words.min(Tracer::STRIDE) as u64;
        Some((1 + references.max(words), references))
    }

    /// Looks for the next grey object in one word of bits, and puts it on the empty stack. Returns
    /// whether marking goes on. `passes` counts passes over the bits.
    pub(super) fn find_grey(&mut self, unused: Range<u32>, passes: &mut u64) -> bool {
        let Some(number) = self.pending.pass else {
            self.pending.pass = self.tracer.pending().1.take();
            *passes += u64::from(self.pending.pass.is_some());
            return self.pending.pass.is_some();
        };
        let live = self.live;
        let found = self.tracer.counting().and_then(|counting| {
            let found = counting.marks.next_pair_among(number, live)?;
            counting.marks.reset(found + 1);
            Some(found)
        });
        if let Some(found) = found {
            self.tracer.push(found, 0);
            self.pending.pass = Some(found);
            return true;
        }
        let next = live.beyond((number / BITS) as usize + 1, unused);
        self.pending.pass = (next < live.words().len()).then_some(next as u32 * BITS);
        true
    }
}

impl Drop for Tracing<'_> {
    fn drop(&mut self) {
        if let Some((object, from)) = self.entry {
            // Its trace unwound: it is traced again.
            self.tracer.push(object, from);
        }
        let (stack, grey) = self.tracer.pending();
        self.pending.len = stack.len();
        self.pending.deepest = stack.deepest();
        self.pending.grey = *grey;
    }
}

impl State {
    /// The lowest number that a new object must have to be born black: what is ahead of the sweep
    /// would be freed.
    pub(super) const fn black_from(&self) -> u32 {
        match self.phase {
            ArenaPhase::Mark | ArenaPhase::Weak | ArenaPhase::Drop => 0,
            ArenaPhase::Sweep => self.cursor * BITS,
            ArenaPhase::Idle | ArenaPhase::Roots | ArenaPhase::Merge => u32::MAX,
        }
    }
}
