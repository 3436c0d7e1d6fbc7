//! A raw-pointer heap beside the model: every byte has one owner, and holds what its owner wrote.

use std::alloc::Layout;
use std::collections::BTreeMap;
use std::ops::Range;
use std::ptr::NonNull;

use surefit_core::{RawHeap, Refused};

use crate::model::{Fault, ObjectId, ShadowModel};
use crate::script::Op;

/// A live object of a [`ShadowHeap`].
#[derive(Clone, Copy, Debug)]
struct Object {
    pointer: NonNull<u8>,
    layout: Layout,
}

impl Object {
    fn start(self) -> usize {
        self.pointer.addr().get()
    }

    /// One past the last byte. Even an object of zero bytes has an address of its own.
    fn end(self) -> usize {
        self.start() + self.layout.size().max(1)
    }
}

/// The results of the operations of a script.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Allocated objects.
    pub allocated: usize,
    /// Freed objects.
    pub freed: usize,
    /// Resized objects.
    pub resized: usize,
    /// Resized objects that stayed where they were.
    pub in_place: usize,
    /// Refused requests.
    pub refused: usize,
    /// The maximum of the live bytes: the sum of the sizes of live objects.
    pub peak_bytes: usize,
}

/// Drives a heap, and knows the owner of every byte of its region.
///
/// It rejects objects that lie outside the region, are misaligned or overlap. It fills each object
/// with a pattern of its own, and verifies the pattern when the object is resized or freed, or on
/// request.
#[derive(Debug)]
pub struct ShadowHeap<'h, H> {
    heap: &'h mut H,
    region: Range<usize>,
    model: ShadowModel<Object>,
    /// The live objects by address: start, then end.
    owned: BTreeMap<usize, usize>,
    tally: Tally,
}

impl<'h, H: RawHeap> ShadowHeap<'h, H> {
    /// A shadow of an empty heap whose region has these addresses.
    pub fn new(heap: &'h mut H, region: Range<usize>) -> Self {
        Self {
            heap,
            region,
            model: ShadowModel::new(),
            owned: BTreeMap::new(),
            tally: Tally::default(),
        }
    }

    /// The heap that it drives.
    #[must_use]
    pub fn heap(&self) -> &H {
        self.heap
    }

    /// The results of the operations so far.
    #[must_use]
    pub fn tally(&self) -> Tally {
        Tally {
            peak_bytes: self.model.peak_bytes(),
            ..self.tally
        }
    }

    /// The number of live objects.
    #[must_use]
    pub fn live_objects(&self) -> usize {
        self.model.live_objects()
    }

    /// Runs one operation. Returns the refusal if the heap refused it.
    ///
    /// # Errors
    /// What the heap did wrong.
    ///
    /// # Panics
    /// If the alignment is not a power of two.
    pub fn run(&mut self, op: Op) -> Result<Option<Refused>, Fault> {
        match op {
            Op::Alloc { size, align } => self.allocate(size, align),
            Op::Free(nth) => match self.model.place(nth) {
                Some(place) => self.free(place).map(|()| None),
                None => Ok(None),
            },
            Op::Resize(nth, size) => match self.model.place(nth) {
                Some(place) => self.resize(place, size),
                None => Ok(None),
            },
        }
    }

    fn allocate(&mut self, size: usize, align: usize) -> Result<Option<Refused>, Fault> {
        let layout = Layout::from_size_align(size, align).expect("a valid layout");
        match self.heap.allocate(layout) {
            Ok(pointer) => {
                let object = Object { pointer, layout };
                self.own(object)?;
                let id = self.model.insert(size, object);
                fill(id, object, 0);
                self.tally.allocated += 1;
                Ok(None)
            }
            Err(refused) => {
                self.tally.refused += 1;
                Ok(Some(refused))
            }
        }
    }

    fn free(&mut self, place: usize) -> Result<(), Fault> {
        let (id, size, object) = self.model.remove(place);
        id.verify(0, bytes(object, size))?;
        self.owned.remove(&object.start());
        // SAFETY: S1, S2: the model knows the object as live, with this layout, and has just
        // forgotten it.
        unsafe { self.heap.free(object.pointer, object.layout) };
        self.tally.freed += 1;
        Ok(())
    }

    fn resize(&mut self, place: usize, size: usize) -> Result<Option<Refused>, Fault> {
        let (id, old_size, &mut old) = self.model.get_mut(place);
        let layout = Layout::from_size_align(size, old.layout.align()).expect("a valid layout");
        id.verify(0, bytes(old, old_size))?;
        // SAFETY: S1, S2: the model knows the object as live, with this layout; the new layout is
        // valid.
        let pointer = match unsafe { self.heap.resize(old.pointer, old.layout, size) } {
            Ok(pointer) => pointer,
            Err(refused) => {
                self.tally.refused += 1;
                return id.verify(0, bytes(old, old_size)).map(|()| Some(refused));
            }
        };
        let object = Object { pointer, layout };
        self.owned.remove(&old.start());
        self.own(object)?;
        id.verify(0, bytes(object, old_size.min(size)))?;
        fill(id, object, old_size.min(size));
        *self.model.get_mut(place).2 = object;
        self.model.resize(place, size);
        self.tally.resized += 1;
        self.tally.in_place += usize::from(pointer == old.pointer);
        Ok(None)
    }

    /// Records the owner of the bytes of an object.
    fn own(&mut self, object: Object) -> Result<(), Fault> {
        let (start, end, align) = (object.start(), object.end(), object.layout.align());
        if start < self.region.start || end > self.region.end {
            return Err(Fault::new("an object lies outside the region"));
        }
        if start % align != 0 {
            return Err(Fault::new(format!("an object is not aligned to {align}")));
        }
        let before = self.owned.range(..end).next_back();
        if let Some((other, _)) = before.filter(|(_, other_end)| **other_end > start) {
            let (start, other) = (start - self.region.start, other - self.region.start);
            return Err(Fault::new(format!(
                "an object at byte {start} of the region overlaps one at {other}"
            )));
        }
        self.owned.insert(start, end);
        Ok(())
    }

    /// Verifies the heap's invariants, the bytes of all objects, and that the parts add up to the
    /// region.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn verify(&self) -> Result<(), Fault> {
        self.heap.check().map_err(|c| Fault::new(c.to_string()))?;
        for (id, size, object) in self.model.iter() {
            id.verify(0, bytes(*object, size))?;
        }
        let usage = self.heap.usage();
        if usage.total() != self.region.len() {
            let (total, region) = (usage.total(), self.region.len());
            return Err(Fault::new(format!(
                "the parts add up to {total} of {region} bytes"
            )));
        }
        if usage.block_bytes < self.model.live_bytes() {
            return Err(Fault::new("fewer bytes hold live objects than are live"));
        }
        Ok(())
    }

    /// Frees every object, oldest first.
    ///
    /// # Errors
    /// What the heap did wrong.
    pub fn free_all(&mut self) -> Result<(), Fault> {
        while self.live_objects() > 0 {
            self.free(0)?;
        }
        Ok(())
    }
}

/// Fills the bytes of an object from an offset on.
fn fill(id: ObjectId, object: Object, from: usize) {
    for offset in from..object.layout.size() {
        // SAFETY: the byte lies inside a live object, which nobody else accesses.
        unsafe { object.pointer.add(offset).write(id.pattern(offset)) };
    }
}

/// The first bytes of an object. They were filled before.
fn bytes<'o>(object: Object, size: usize) -> &'o [u8] {
    // SAFETY: the object is live and at least this long, its bytes were written, and the slice is
    // dropped before the object is written, freed or resized.
    unsafe { std::slice::from_raw_parts(object.pointer.as_ptr(), size) }
}

/// Runs a script on an empty heap whose region has these addresses, then frees all remaining
/// objects.
///
/// Verifies the whole heap at the end and every `check_every` operations (0: never). If it verifies
/// after each operation, a refusal must leave the parts of the heap unchanged.
///
/// # Errors
/// What the heap did wrong, and at which operation.
///
/// # Panics
/// If an alignment in the script is not a power of two.
pub fn run_script<H: RawHeap>(
    heap: &mut H,
    region: Range<usize>,
    ops: &[Op],
    check_every: usize,
) -> Result<Tally, Fault> {
    let mut shadow = ShadowHeap::new(heap, region);
    for (number, &op) in ops.iter().enumerate() {
        let usage = (check_every == 1).then(|| shadow.heap.usage());
        let refused = shadow.run(op).map_err(|fault| fault.at_op(number))?;
        if check_every != 0 && number % check_every == 0 {
            shadow.verify().map_err(|fault| fault.at_op(number))?;
        }
        if refused.is_some() && usage.is_some_and(|usage| usage != shadow.heap.usage()) {
            return Err(Fault::new("a refusal changed the heap").at_op(number));
        }
    }
    let tally = shadow.tally();
    shadow.free_all()?;
    shadow.verify()?;
    Ok(tally)
}
