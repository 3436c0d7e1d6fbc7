//! A heap beside a model of what it must hold: every object has a slot, and contents of its own.

use core::alloc::Layout;

use crate::contents::Contents;
use crate::failure::{Failure, require};
use crate::store::Store;

/// Bytes that are read or written at once.
const AT_ONCE: usize = 32;

#[derive(Debug)]
struct Object<N> {
    name: N,
    layout: Layout,
    contents: Contents,
}

/// What happened on a bench.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Objects allocated.
    pub allocated: u32,
    /// Objects resized.
    pub resized: u32,
    /// Requests refused.
    pub refused: u32,
    /// The sum of the lengths of live objects.
    pub live_bytes: usize,
    /// The maximum of `live_bytes`.
    pub peak_bytes: usize,
}

/// A heap under test with up to `SLOTS` objects.
#[derive(Debug)]
pub struct Bench<S: Store, const SLOTS: usize> {
    store: S,
    slots: [Option<Object<S::Name>>; SLOTS],
    seeds: u32,
    tally: Tally,
}

impl<S: Store, const SLOTS: usize> Bench<S, SLOTS> {
    /// A bench for an empty heap.
    pub const fn new(store: S) -> Self {
        Self {
            store,
            slots: [const { None }; SLOTS],
            seeds: 0,
            tally: Tally {
                allocated: 0,
                resized: 0,
                refused: 0,
                live_bytes: 0,
                peak_bytes: 0,
            },
        }
    }

    /// The heap.
    pub const fn store(&self) -> &S {
        &self.store
    }

    /// What happened so far.
    pub const fn tally(&self) -> Tally {
        self.tally
    }

    /// The first slot at or after `from`, around the end, that has an object, or has none.
    pub fn find(&self, from: usize, occupied: bool) -> Option<usize> {
        let slots = (from..SLOTS).chain(0..from.min(SLOTS));
        slots
            .into_iter()
            .find(|&slot| self.slots[slot].is_some() == occupied)
    }

    /// The layout of the object of a slot.
    pub fn layout(&self, slot: usize) -> Option<Layout> {
        let object = self.slots.get(slot)?.as_ref()?;
        Some(object.layout)
    }

    /// Allocates an object for an empty slot, and writes it; false if the heap refuses.
    ///
    /// # Errors
    /// If the slot is not empty, or if the heap promises zeros and the object has others.
    pub fn allocate(&mut self, slot: usize, layout: Layout) -> Result<bool, Failure> {
        require(self.layout(slot).is_none(), "the slot has an object")?;
        let Ok(name) = self.store.allocate(layout) else {
            self.tally.refused += 1;
            return Ok(false);
        };
        let contents = Contents::new(self.seed());
        self.slots[slot] = Some(Object {
            name,
            layout,
            contents,
        });
        self.require_zeros(slot, 0)?;
        self.fill(slot, 0..layout.size());
        self.tally.allocated += 1;
        self.count(0, layout.size());
        Ok(true)
    }

    /// Frees the object of a slot.
    ///
    /// # Errors
    /// If the slot is empty, or the object does not hold what was written.
    pub fn free(&mut self, slot: usize) -> Result<(), Failure> {
        self.require_contents(slot)?;
        let object = self.slots[slot].take().ok_or(Failure::Other("no object"))?;
        self.store.free(object.name);
        self.count(object.layout.size(), 0);
        Ok(())
    }

    /// Resizes the object of a slot, and writes what was added; false if the heap refuses.
    ///
    /// # Errors
    /// If the slot is empty, or the object does not hold what was written, or if the heap promises
    /// zeros and added others.
    pub fn resize(&mut self, slot: usize, len: usize) -> Result<bool, Failure> {
        self.require_contents(slot)?;
        let object = self.slots[slot]
            .as_mut()
            .ok_or(Failure::Other("no object"))?;
        let old = object.layout.size();
        let layout = Layout::from_size_align(len, object.layout.align())
            .map_err(|_| Failure::Other("no layout"))?;
        if self.store.resize(&mut object.name, layout).is_err() {
            self.tally.refused += 1;
            self.require_contents(slot)?;
            return Ok(false);
        }
        object.layout = layout;
        object.contents.shorten(len);
        if len > old {
            self.require_zeros(slot, old)?;
            self.fill(slot, old..len);
        }
        self.require_contents(slot)?;
        self.tally.resized += 1;
        self.count(old, len);
        Ok(true)
    }

    /// Writes a part of the object of a slot: up to `at`, or from `at` on.
    ///
    /// # Errors
    /// If the slot is empty.
    pub fn write(&mut self, slot: usize, at: usize) -> Result<(), Failure> {
        let seed = self.seed();
        let object = self.slots[slot]
            .as_mut()
            .ok_or(Failure::Other("no object"))?;
        let range = object.contents.change(at, object.layout.size(), seed);
        self.fill(slot, range);
        Ok(())
    }

    /// Changes one byte of an object behind the model's back: then a test must fail.
    ///
    /// # Errors
    /// If there is no object.
    pub fn damage(&mut self) -> Result<(), Failure> {
        let slot = self.find(0, true).ok_or(Failure::Other("no object"))?;
        let object = self.slots[slot]
            .as_mut()
            .ok_or(Failure::Other("no object"))?;
        let wrong = !object.contents.byte(0);
        self.store.write(&mut object.name, 0, &[wrong]);
        Ok(())
    }

    /// Verifies the heap's invariants and the contents of all objects.
    ///
    /// # Errors
    /// What does not hold.
    pub fn verify(&self) -> Result<(), Failure> {
        self.store.check()?;
        (0..SLOTS)
            .filter(|&slot| self.slots[slot].is_some())
            .try_for_each(|slot| self.require_contents(slot))
    }

    /// A seed that no other pattern has had recently.
    const fn seed(&mut self) -> u32 {
        self.seeds = self.seeds.wrapping_add(1);
        self.seeds.wrapping_mul(0x85eb_ca6b)
    }

    fn count(&mut self, lost: usize, gained: usize) {
        self.tally.live_bytes += gained;
        self.tally.live_bytes -= lost;
        self.tally.peak_bytes = self.tally.peak_bytes.max(self.tally.live_bytes);
    }

    /// Writes a range of an object as its model says.
    fn fill(&mut self, slot: usize, range: core::ops::Range<usize>) {
        let Some(object) = &mut self.slots[slot] else {
            return;
        };
        for first in range.clone().step_by(AT_ONCE) {
            let mut bytes = [0; AT_ONCE];
            let some = &mut bytes[..(range.end - first).min(AT_ONCE)];
            for (n, byte) in some.iter_mut().enumerate() {
                *byte = object.contents.byte(first + n);
            }
            self.store.write(&mut object.name, first, some);
        }
    }

    fn require_contents(&self, slot: usize) -> Result<(), Failure> {
        let object = self.slots[slot]
            .as_ref()
            .ok_or(Failure::Other("no object"))?;
        self.compare(slot, 0, |at| object.contents.byte(at))
    }

    fn require_zeros(&self, slot: usize, from: usize) -> Result<(), Failure> {
        if S::ZEROED {
            self.compare(slot, from, |_| 0)?;
        }
        Ok(())
    }

    /// Compares the bytes of an object from `from` on with what was written.
    fn compare(
        &self,
        slot: usize,
        from: usize,
        written: impl Fn(usize) -> u8,
    ) -> Result<(), Failure> {
        let object = self.slots[slot]
            .as_ref()
            .ok_or(Failure::Other("no object"))?;
        let len = object.layout.size();
        for first in (from..len).step_by(AT_ONCE) {
            let mut bytes = [0; AT_ONCE];
            let some = &mut bytes[..(len - first).min(AT_ONCE)];
            self.store.read(&object.name, first, some);
            for (n, &read) in some.iter().enumerate() {
                let (at, written) = (first + n, written(first + n));
                if read != written {
                    return Err(Failure::Contents {
                        slot,
                        at,
                        written,
                        read,
                    });
                }
            }
        }
        Ok(())
    }
}
