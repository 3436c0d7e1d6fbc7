//! Which objects live, and which bytes they must hold: a model of any heap, of handles or raw
//! pointers.

use std::fmt;

/// What a heap did wrong, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault(String);

impl Fault {
    /// A fault with this description.
    pub fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }

    /// The same fault, with the number of the operation that showed it.
    #[must_use]
    pub fn at_op(self, number: usize) -> Self {
        Self(format!("operation {number}: {}", self.0))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Fault {}

/// The identity of an object. A model never uses one twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(u64);

impl ObjectId {
    /// The byte that this object must hold at an offset. No two objects have nine consecutive bytes
    /// in common.
    #[must_use]
    pub fn pattern(self, offset: usize) -> u8 {
        let mixed = (self.0 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        mixed.to_le_bytes()[offset % 8] ^ (offset / 8) as u8 ^ 0x5A
    }

    /// Fills memory of this object, from an offset on, with the bytes that it must hold.
    pub fn fill(self, offset: usize, bytes: &mut [u8]) {
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = self.pattern(offset + at);
        }
    }

    /// Verifies memory of this object, from an offset on.
    ///
    /// # Errors
    /// The first byte that differs.
    pub fn verify(self, offset: usize, bytes: &[u8]) -> Result<(), Fault> {
        let differs = |&(at, byte): &(usize, &u8)| *byte != self.pattern(offset + at);
        match bytes.iter().enumerate().find(differs) {
            None => Ok(()),
            Some((at, byte)) => Err(Fault::new(format!(
                "object {} holds {byte:#04x} at byte {}, not {:#04x}",
                self.0,
                offset + at,
                self.pattern(offset + at)
            ))),
        }
    }
}

/// The live objects in the order of their allocation, with their sizes in bytes, and the name by
/// which the heap knows each: a handle or a pointer.
#[derive(Clone, Debug)]
pub struct ShadowModel<T = ()> {
    objects: Vec<(ObjectId, usize, T)>,
    next: u64,
    live_bytes: usize,
    peak_bytes: usize,
}

impl<T> Default for ShadowModel<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> ShadowModel<T> {
    /// A model without objects.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            objects: Vec::new(),
            next: 0,
            live_bytes: 0,
            peak_bytes: 0,
        }
    }

    /// The number of live objects.
    #[must_use]
    pub fn live_objects(&self) -> usize {
        self.objects.len()
    }

    /// The sum of the sizes of the live objects, in bytes.
    #[must_use]
    pub const fn live_bytes(&self) -> usize {
        self.live_bytes
    }

    /// The maximum of this sum so far, in bytes.
    #[must_use]
    pub const fn peak_bytes(&self) -> usize {
        self.peak_bytes
    }

    /// Adds an object. `known_by` is the heap's name for it: a handle or a pointer.
    pub fn insert(&mut self, size: usize, known_by: T) -> ObjectId {
        let id = ObjectId(self.next);
        self.next += 1;
        self.objects.push((id, size, known_by));
        self.grow(size);
        id
    }

    /// The place of the `nth` object, modulo the number of live objects; `None` if nothing lives.
    #[must_use]
    pub fn place(&self, nth: usize) -> Option<usize> {
        nth.checked_rem(self.objects.len())
    }

    /// The object at a place: its identity, its size in bytes, and the heap's name for it.
    ///
    /// # Panics
    /// If the place did not come from [`ShadowModel::place`] since the last removal.
    pub fn get_mut(&mut self, place: usize) -> (ObjectId, usize, &mut T) {
        let (id, size, known_by) = &mut self.objects[place];
        (*id, *size, known_by)
    }

    /// Records a new size of an object.
    ///
    /// # Panics
    /// As [`ShadowModel::get_mut`].
    pub fn resize(&mut self, place: usize, size: usize) {
        let old = std::mem::replace(&mut self.objects[place].1, size);
        self.live_bytes -= old;
        self.grow(size);
    }

    /// Removes an object.
    ///
    /// # Panics
    /// As [`ShadowModel::get_mut`].
    pub fn remove(&mut self, place: usize) -> (ObjectId, usize, T) {
        let object = self.objects.remove(place);
        self.live_bytes -= object.1;
        object
    }

    /// All live objects, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (ObjectId, usize, &T)> {
        self.objects.iter().map(|(id, size, by)| (*id, *size, by))
    }

    fn grow(&mut self, size: usize) {
        self.live_bytes += size;
        self.peak_bytes = self.peak_bytes.max(self.live_bytes);
    }
}
