//! The runs of a deque between its first and its last one, in a ring that grows without being
//! copied.
//!
//! ```text
//! run r      in slot r mod 2b if that is there and has a run, else in slot r mod b
//! lengthen   from b/2 runs on each new one adds four slots, until there are 2b
//! move       then each new run looks at four of the first b slots, from the last one on, and moves
//!            the run there to slot r mod 2b if it belongs there; after the last of them b doubles
//! ```
//! So a new run adds four slots and moves five others at most, and the name of a run has a few
//! words. Slots whose memory was refused are made up for by a later run, at once.
//!
//! # Invariants
//! - R1 Runs `first` to `first + count` are in the ring, each at one of its two places, and have
//!   elements. All other slots are empty.
//! - R2 `base` slots or more are there, at most twice as many, and at most [`most_slots`] of the
//!   most runs that there were. Before there are twice as many, there are at most `base` runs.
//! - R3 While `unmoved` is not zero, there are twice as many slots. Only the first `unmoved` slots
//!   may have runs that belong into the upper half.
#![deny(unsafe_code)]

use surefit_core::{Corruption, Refused, ensure};

use crate::heap::ByteHeap;
use crate::names::Names;
use crate::storage::{FullRun, Run, Vec};

/// The slots of the shortest ring.
pub(super) const LEAST: usize = 4;

/// The slots that a new run adds, or looks at.
const STEPS: usize = 4;

/// The most runs: the numbers of runs wrap around.
const MOST: u32 = 1 << 30;

/// The slots of a ring of so many runs that was made for them, and the most that one of no more
/// runs ever has: it is lengthened to 2b slots from b/2 runs on, so the next run is number b/2 + 1.
pub(super) const fn most_slots(runs: usize) -> Option<usize> {
    match runs.checked_mul(2) {
        Some(slots) if slots > LEAST => slots.checked_next_power_of_two(),
        Some(_) => Some(LEAST),
        None => None,
    }
}

/// Runs with numbers one behind another.
pub(super) struct Ring<T, N: Names> {
    slots: Vec<FullRun<T, N>, N>,
    first: u32,
    count: u32,
    unmoved: u32,
    base: u32,
}

impl<T, N: Names> Default for Ring<T, N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, N: Names> Ring<T, N> {
    pub(super) const fn new() -> Self {
        Self {
            slots: Vec::new(),
            first: 0,
            count: 0,
            unmoved: 0,
            base: 0,
        }
    }

    /// An empty ring for so many runs: as many again are added by and by.
    #[expect(clippy::cast_possible_truncation, reason = "at most MOST")]
    pub(super) fn for_runs<H: ByteHeap<Names = N>>(heap: &H, runs: usize) -> Result<Self, Refused>
    where
        T: Send,
    {
        let slots = most_slots(runs).filter(|slots| *slots <= MOST as usize);
        let slots = slots.ok_or(Refused::TooLarge {
            limit: MOST as usize,
        })?;
        let mut ring = Self {
            slots: Vec::with_capacity(heap, slots)?,
            base: slots as u32,
            ..Self::new()
        };
        for _ in 0..slots {
            let pushed = ring.slots.push_within_capacity(heap, FullRun::default());
            debug_assert!(pushed.is_ok(), "room was made");
        }
        Ok(ring)
    }

    /// The number of runs.
    #[inline]
    pub(super) const fn len(&self) -> usize {
        self.count as usize
    }

    #[inline]
    pub(super) const fn is_empty(&self) -> bool {
        self.count == 0
    }

    #[inline]
    pub(super) fn is_of<H: ByteHeap<Names = N>>(&self, heap: &H) -> bool {
        self.slots.is_of(heap)
    }

    /// b: a power of two. There are slots.
    #[inline]
    const fn base(&self) -> usize {
        self.base as usize
    }

    /// The number of the run at an index.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "there are fewer runs")]
    const fn number(&self, index: usize) -> u32 {
        self.first.wrapping_add(index as u32)
    }

    /// The slot of the run at an index, and the run.
    #[inline(always)]
    fn find<'a, H: ByteHeap<Names = N>>(
        &'a self,
        heap: &'a H,
        index: usize,
    ) -> (usize, &'a FullRun<T, N>) {
        let (number, base) = (self.number(index) as usize, self.base());
        let (own, other) = (number & (2 * base - 1), number & (base - 1));
        // One look-up for both places.
        let Some(slots) = self.slots.contiguous(heap) else {
            return self.find_in_pieces(heap, own, other);
        };
        match slots.get(own) {
            Some(run) if !run.is_empty() => (own, run),
            _ => (other, &slots[other]),
        }
    }

    /// As `find`, if the slots are in pieces, of the two slots where the run may be.
    #[inline(never)]
    fn find_in_pieces<'a, H: ByteHeap<Names = N>>(
        &'a self,
        heap: &'a H,
        own: usize,
        other: usize,
    ) -> (usize, &'a FullRun<T, N>) {
        match self.slots.get(heap, own) {
            Some(run) if !run.is_empty() => (own, run),
            _ => {
                let run = self.slots.get(heap, other);
                (other, run.expect("the slot of a run"))
            }
        }
    }

    #[inline]
    fn slot<H: ByteHeap<Names = N>>(&self, heap: &H, index: usize) -> usize {
        self.find(heap, index).0
    }

    /// The run at an index.
    #[inline]
    pub(super) fn get<'a, H: ByteHeap<Names = N>>(
        &'a self,
        heap: &'a H,
        index: usize,
    ) -> &'a FullRun<T, N> {
        self.find(heap, index).1
    }

    /// The run at an index, mutable.
    #[inline]
    pub(super) fn get_mut<'a, H: ByteHeap<Names = N>>(
        &'a mut self,
        heap: &'a H,
        index: usize,
    ) -> &'a mut FullRun<T, N> {
        let slot = self.slot(heap, index);
        self.slots.get_mut(heap, slot).expect("the slot of a run")
    }

    /// Exchanges elements of two runs, which are not the same.
    pub(super) fn swap<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &H,
        (one, in_one): (usize, usize),
        (two, in_two): (usize, usize),
    ) {
        let (of_one, of_two) = (self.slot(heap, one), self.slot(heap, two));
        let mut taken = self.take(heap, of_one);
        let there = self.slots.get_mut(heap, of_two).expect("the slot of a run");
        core::mem::swap(
            &mut taken.as_slice_mut(heap)[in_one],
            &mut there.as_slice_mut(heap)[in_two],
        );
        self.put(heap, of_one, taken);
    }

    /// Takes what is in a slot out.
    fn take<H: ByteHeap<Names = N>>(&mut self, heap: &H, slot: usize) -> FullRun<T, N> {
        let run = self.slots.get_mut(heap, slot);
        core::mem::take(run.expect("a slot"))
    }

    /// Puts a run into an empty slot.
    fn put<H: ByteHeap<Names = N>>(&mut self, heap: &H, slot: usize, run: FullRun<T, N>) {
        let there = self.slots.get_mut(heap, slot).expect("a slot");
        debug_assert!(there.is_empty(), "R1");
        *there = run;
    }

    // ---- growing -------------------------------------------------------------------------------

    /// Makes room for one more run, and takes a step. May move objects.
    pub(super) fn make_room<H: ByteHeap<Names = N>>(&mut self, heap: &mut H) -> Result<(), Refused>
    where
        T: Send,
    {
        if self.slots.is_empty() {
            *self = Self::for_runs(heap, 0)?;
            return Ok(());
        }
        if self.count == MOST {
            return Err(Refused::TooLarge {
                limit: MOST as usize,
            });
        }
        for _ in 0..STEPS {
            if self.unmoved > 0 {
                self.move_one(heap);
            } else if 2 * self.len() < self.base() || self.lengthen(heap).is_err() {
                break;
            }
        }
        // What was refused above is needed when all slots are used.
        while self.unmoved == 0 && self.len() == self.base() {
            self.lengthen(heap)?;
        }
        Ok(())
    }

    /// Adds a slot, while there are fewer than 2b.
    #[expect(clippy::cast_possible_truncation, reason = "at most MOST")]
    fn lengthen<H: ByteHeap<Names = N>>(&mut self, heap: &mut H) -> Result<(), Refused>
    where
        T: Send,
    {
        let base = self.base();
        let pushed = self.slots.push(heap, FullRun::default());
        pushed.map_err(|full| full.refused)?;
        if self.slots.len() == 2 * base {
            self.unmoved = base as u32;
        }
        Ok(())
    }

    /// Looks at the last of the slots whose runs may belong into the upper half.
    #[expect(clippy::cast_possible_truncation, reason = "numbers wrap around")]
    fn move_one<H: ByteHeap<Names = N>>(&mut self, heap: &H) {
        let (base, low) = (self.base(), self.unmoved as usize - 1);
        let high = low + base;
        // The one run that belongs there, if it is in the ring.
        let index = (high as u32).wrapping_sub(self.first) as usize & (2 * base - 1);
        let is_there = self
            .slots
            .get(heap, high)
            .is_some_and(|run| !run.is_empty());
        if index < self.len() && !is_there {
            let run = self.take(heap, low);
            self.put(heap, high, run);
        }
        self.unmoved -= 1;
        if self.unmoved == 0 {
            self.base *= 2;
        }
    }

    /// Puts a run into the slot of a number, for which there is room.
    fn place<H: ByteHeap<Names = N>>(&mut self, heap: &H, number: u32, run: FullRun<T, N>) {
        let base = self.base();
        let mut slot = number as usize & (2 * base - 1);
        if slot >= self.slots.len() {
            slot &= base - 1;
        }
        let there = self.take(heap, slot);
        if !there.is_empty() {
            // R2, R3: there are 2b slots, and this run belongs into the upper half.
            self.put(heap, slot + base, there);
        }
        self.put(heap, slot, run);
    }

    /// Adds a full run behind the others; room was made.
    pub(super) fn push_back<H: ByteHeap<Names = N>>(&mut self, heap: &H, run: Run<T, N>) {
        let run = FullRun::new(heap, run);
        self.place(heap, self.number(self.len()), run);
        self.count += 1;
    }

    /// Adds a full run before the others; room was made.
    pub(super) fn push_front<H: ByteHeap<Names = N>>(&mut self, heap: &H, run: Run<T, N>) {
        let run = FullRun::new(heap, run);
        let number = self.first.wrapping_sub(1);
        self.place(heap, number, run);
        self.first = number;
        self.count += 1;
    }

    // ---- shrinking -----------------------------------------------------------------------------

    /// Takes the last run out. There is one; it has elements, as those in the ring do.
    pub(super) fn pop_back<H: ByteHeap<Names = N>>(&mut self, heap: &H) -> Run<T, N> {
        let slot = self.slot(heap, self.len() - 1);
        self.count -= 1;
        self.take(heap, slot).into_run(heap)
    }

    /// Takes the first run out. There is one.
    pub(super) fn pop_front<H: ByteHeap<Names = N>>(&mut self, heap: &H) -> Run<T, N> {
        let slot = self.slot(heap, 0);
        self.count -= 1;
        self.first = self.first.wrapping_add(1);
        self.take(heap, slot).into_run(heap)
    }

    /// Frees the slots of a ring without runs. May move objects.
    pub(super) fn free<H: ByteHeap<Names = N>>(&mut self, heap: &mut H) {
        debug_assert!(self.is_empty(), "runs would leak");
        let mut slots = core::mem::take(&mut self.slots);
        while slots.pop(heap).is_some() {}
        // An object without elements is freed, which is not refused.
        let _ = slots.shrink_to_fit(heap);
        *self = Self::new();
    }

    /// Leaves only as many slots as a ring has that was made for the runs, unless that is refused.
    /// May move objects.
    pub(super) fn shrink<H: ByteHeap<Names = N>>(&mut self, heap: &mut H) -> Result<(), Refused>
    where
        T: Send,
    {
        if most_slots(self.len()).is_none_or(|slots| self.slots.len() <= slots) {
            return Ok(());
        }
        let mut shorter = Self::for_runs(heap, self.len())?;
        while !self.is_empty() {
            let run = self.pop_front(heap);
            shorter.push_back(heap, run);
        }
        self.free(heap);
        *self = shorter;
        Ok(())
    }

    /// All runs in order, mutable: puts them into their order first.
    pub(super) fn iter_mut<'a, H: ByteHeap<Names = N>>(
        &'a mut self,
        heap: &'a H,
    ) -> impl Iterator<Item = &'a mut FullRun<T, N>> + use<'a, T, N, H> {
        let count = self.len();
        if count > 0 {
            self.settle(heap);
        }
        self.slots.iter_mut(heap).take(count)
    }

    /// Puts the runs into the first slots, in their order. There are runs.
    fn settle<H: ByteHeap<Names = N>>(&mut self, heap: &H) {
        while self.unmoved > 0 {
            self.move_one(heap);
        }
        // R2: at most b runs, or there are b slots: so the lower place of each is free.
        // The slots above stay: runs that are added later need them.
        let base = self.base();
        for slot in base..self.slots.len() {
            let run = self.take(heap, slot);
            if !run.is_empty() {
                self.put(heap, slot - base, run);
            }
        }
        let first = self.first as usize & (base - 1);
        self.reverse(heap, 0, first);
        self.reverse(heap, first, base);
        self.reverse(heap, 0, base);
        self.first = 0;
    }

    /// Reverses the order of some slots.
    fn reverse<H: ByteHeap<Names = N>>(&mut self, heap: &H, start: usize, end: usize) {
        for offset in 0..(end - start) / 2 {
            self.slots.swap(heap, start + offset, end - 1 - offset);
        }
    }

    /// Verifies the invariants, and that the slots are whole.
    pub(super) fn check<H: ByteHeap<Names = N>>(&self, heap: &H) -> Result<(), Corruption> {
        self.slots.check(heap)?;
        let slots = self.slots.len();
        if slots == 0 {
            return ensure(self.is_empty(), "R2", "runs without slots", self.len());
        }
        let base = self.base();
        let is_long = slots == 2 * base;
        ensure(
            base.is_power_of_two()
                && (base..2 * base + usize::from(self.unmoved > 0)).contains(&slots),
            "R2",
            "another number of slots",
            slots,
        )?;
        ensure(
            self.len() < 2 * base && (is_long || self.len() <= base),
            "R2",
            "more runs than their slots hold",
            self.len(),
        )?;
        ensure(
            self.unmoved == 0 || (is_long && self.unmoved as usize <= base),
            "R3",
            "runs that are not moved, and no place for them",
            self.unmoved as usize,
        )?;
        for index in 0..self.len() {
            let slot = self.slot(heap, index);
            let belongs = self.number(index) as usize & (2 * base - 1);
            ensure(
                !self.get(heap, index).is_empty(),
                "R1",
                "a run without elements",
                index,
            )?;
            ensure(
                self.unmoved == 0 || slot == belongs || slot < self.unmoved as usize,
                "R3",
                "a run that belongs into the upper half was not moved",
                index,
            )?;
        }
        let used = self.slots.iter(heap).filter(|run| !run.is_empty());
        ensure(
            used.count() == self.len(),
            "R1",
            "a run that is not in the ring",
            self.len(),
        )
    }
}

#[cfg(test)]
mod tests {
    extern crate alloc;

    use alloc::vec;
    use core::mem::MaybeUninit;

    use surefit_compact::{Config, Heap};

    use super::{LEAST, Ring, STEPS, most_slots};
    use crate::Checked;
    use crate::storage::Run;

    /// Short pieces: many runs in few bytes.
    static CONFIG: Config = match Config::DEFAULT.with_pieces(Some(64)) {
        Ok(config) => config,
        Err(_) => panic!("64 bytes are the shortest pieces"),
    };

    /// The elements of a full run.
    const PER: usize = 64 / size_of::<u16>();

    fn add(ring: &mut Ring<u16, Checked>, heap: &mut Heap<'_>, at_front: bool, number: u16) {
        let before = ring.slots.len();
        ring.make_room(heap).expect("room");
        let added = ring.slots.len() - before;
        assert!(
            added <= STEPS.max(LEAST),
            "{added} slots for run {}",
            ring.len()
        );
        let mut run = Run::with_capacity(heap, PER).expect("room");
        for _ in 0..PER {
            assert_eq!(run.push_back(heap, number), Ok(()));
        }
        match at_front {
            true => ring.push_front(heap, run),
            false => ring.push_back(heap, run),
        }
    }

    fn remove(ring: &mut Ring<u16, Checked>, heap: &mut Heap<'_>, at_front: bool) {
        let mut run = match at_front {
            true => ring.pop_front(heap),
            false => ring.pop_back(heap),
        };
        assert_eq!(run.len(), PER);
        while run.pop_back(heap).is_some() {}
        run.free(heap);
    }

    /// What the bound of the first lines says, whatever was done before.
    #[test]
    fn a_run_that_is_added_adds_four_slots_at_most() {
        let mut memory = vec![MaybeUninit::uninit(); 1 << 20];
        let mut heap: Heap<'_> = Heap::new(&mut memory, &CONFIG).expect("large enough");
        for way in 0..9_u16 {
            let (change, at_front) = (way % 3, way / 3 == 1);
            for len in 0..100 {
                let (mut ring, mut most) = (Ring::new(), 0);
                while ring.len() < len {
                    add(&mut ring, &mut heap, at_front, way);
                }
                match change {
                    0 => ring.shrink(&mut heap).expect("room"),
                    1 => drop(ring.iter_mut(&heap)),
                    _ if !ring.is_empty() => {
                        let mut copy = Ring::for_runs(&heap, len).expect("room");
                        while !ring.is_empty() {
                            let run = ring.pop_front(&heap);
                            copy.push_back(&heap, run);
                        }
                        ring.free(&mut heap);
                        ring = copy;
                    }
                    _ => {}
                }
                for number in 0..len as u16 {
                    add(&mut ring, &mut heap, way / 3 == 2, number);
                    if change == 1 {
                        drop(ring.iter_mut(&heap));
                    }
                    most = most.max(ring.len());
                    assert_eq!(ring.check(&heap), Ok(()));
                    assert!(most_slots(most).is_some_and(|slots| ring.slots.len() <= slots));
                }
                while !ring.is_empty() {
                    remove(&mut ring, &mut heap, len % 2 == 0);
                }
                ring.free(&mut heap);
            }
        }
        assert_eq!(heap.live_blocks().count(), 0);
    }
}
