//! A heap and its objects; every call is measured, told apart by what it did, and noted.

use core::alloc::Layout;
use core::hint::black_box;

use crate::clock::{Clock, Cost};
use crate::event::{EVENTS, Event};
use crate::marks::Marks;
use crate::record::{LIVE, Record};
use crate::subject::{Counts, Subject};

/// The alignment of every object.
const ALIGN: usize = 8;

/// The most objects of a stage.
pub const SLOTS: usize = LIVE[LIVE.len() - 1];

/// An object and its length.
pub type Slot<N> = Option<(N, u16)>;

/// The layout of an object.
fn layout(len: usize) -> Layout {
    Layout::from_size_align(len, ALIGN).expect("a short object")
}

/// A heap with its objects.
pub struct Stage<'s, S: Subject> {
    heap: S,
    slots: &'s mut [Slot<S::Name>],
    live: usize,
    clock: &'s Clock,
    marks: Marks,
    record: &'s mut Record,
    level: usize,
    worst: [u32; EVENTS],
}

impl<'s, S: Subject> Stage<'s, S> {
    /// An empty heap; `slots` are as many as objects may live, `level` their number in [`LIVE`].
    pub fn new(
        heap: S,
        slots: &'s mut [Slot<S::Name>],
        level: usize,
        clock: &'s Clock,
        marks: Marks,
        record: &'s mut Record,
    ) -> Self {
        slots.fill_with(|| None);
        Self {
            heap,
            slots,
            live: 0,
            clock,
            marks,
            record,
            level,
            worst: [0; EVENTS],
        }
    }

    /// The live objects.
    pub const fn live(&self) -> usize {
        self.live
    }

    /// The slots.
    pub const fn slots(&self) -> usize {
        self.slots.len()
    }

    /// The worst call of each kind: instructions less copied bytes.
    pub const fn worst(&self) -> [u32; EVENTS] {
        self.worst
    }

    /// The first slot at or after `from`, around the end, that has an object, or has none.
    pub fn find(&self, from: usize, occupied: bool) -> Option<usize> {
        let slots = (from..self.slots.len()).chain(0..from.min(self.slots.len()));
        slots
            .into_iter()
            .find(|&slot| self.slots[slot].is_some() == occupied)
    }

    /// The last slot that has an object.
    pub fn last(&self) -> Option<usize> {
        self.slots.iter().rposition(Option::is_some)
    }

    /// Allocates an object for an empty slot; false if the heap refuses.
    pub fn allocate(&mut self, slot: usize, len: usize) -> bool {
        let (before, layout) = (self.heap.counts(), layout(len));
        let heap = &mut self.heap;
        let (name, cost) = self.clock.measure(|| heap.allocate(layout));
        let opened = self.heap.counts().pages > before.pages;
        let Some(name) = name else {
            self.note(Event::AllocRefused, 0, cost);
            return false;
        };
        let event = if opened {
            Event::AllocOpens
        } else {
            Event::Alloc
        };
        self.note(event, 0, cost);
        self.slots[slot] = Some((name, len as u16));
        self.live += 1;
        true
    }

    /// Frees the object of a slot, if there is one.
    pub fn free(&mut self, slot: usize) {
        let Some((name, len)) = self.slots[slot].take() else {
            return;
        };
        self.live -= 1;
        let before = self.heap.counts();
        let (heap, layout) = (&mut self.heap, layout(usize::from(len)));
        let ((), cost) = self.clock.measure(|| heap.free(name, layout));
        let after = self.heap.counts();
        let event = match (after.moves > before.moves, after.pages < before.pages) {
            (false, false) => Event::Free,
            (false, true) => Event::FreeReleases,
            (true, false) => Event::FreeMoves,
            (true, true) => Event::FreeMovesReleases,
        };
        self.note(event, moved(before, after), cost);
    }

    /// Asks for the address of the object of a slot, if there is one.
    pub fn access(&mut self, slot: usize) {
        let Some((name, _)) = &self.slots[slot] else {
            return;
        };
        let heap = &self.heap;
        let (address, cost) = self.clock.measure(|| heap.access(name));
        if black_box(address).is_some() {
            self.note(Event::Access, 0, cost);
        }
    }

    /// Resizes the object of a slot, if there is one.
    pub fn resize(&mut self, slot: usize, len: usize) {
        let before = self.heap.counts();
        let Some((name, old)) = &mut self.slots[slot] else {
            return;
        };
        let (heap, layout) = (&mut self.heap, layout(len));
        let (done, cost) = self.clock.measure(|| heap.resize(name, layout));
        let kept = len.min(usize::from(*old)) as u32;
        let Some(done) = done else {
            return;
        };
        if done {
            *old = len as u16;
        }
        let copied = moved(before, self.heap.counts()) + kept;
        self.note(Event::Resize, copied, cost);
    }

    /// Frees all objects.
    pub fn empty(&mut self) {
        for slot in 0..self.slots.len() {
            self.free(slot);
        }
    }

    fn note(&mut self, event: Event, bytes: u32, cost: Cost) {
        self.marks.end(event);
        let worst = &mut self.worst[event as usize];
        *worst = (*worst).max(cost.instructions.saturating_sub(bytes));
        self.record.note(event, self.level, bytes, cost);
    }
}

/// The bytes that moves copied between two counts.
const fn moved(before: Counts, after: Counts) -> u32 {
    (after.moved_bytes - before.moved_bytes) as u32
}
