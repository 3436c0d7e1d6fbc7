//! What a nursery would promote, if the program had one: found by marking, as the program runs.
//!
//! ```text
//! alloc(o):    o lies in the nursery, after the one before; large: nowhere yet
//! full:        the program is collected at once; then
//!              living objects of the nursery are promoted in the order of their allocation
//!              the others, and old ones that do not live, are dead
//! ```
//! So what lives is exact, and nothing floats. The nursery is a matter of book-keeping: the objects
//! lie in the heap, and do not move. What is in it when the program ends is not promoted.

use surefit_gc::{Object, Settings};

/// What the nursery did in a run.
#[derive(Clone, Debug, Default)]
pub struct Promotions {
    /// Each time that it was emptied.
    pub minors: Vec<Minor>,
    /// The most bytes in it.
    pub nursery_bytes: usize,
    /// Objects that were born in it.
    pub born: u64,
    /// The most bytes of living old objects.
    pub most_old_bytes: usize,
}

/// The nursery was emptied. Old objects have serial numbers, in the order in which they became old:
/// first the large ones, then the survivors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Minor {
    /// Serials of old objects that died since the last time.
    pub dead: Vec<usize>,
    /// Bytes of large objects that were born since, and live.
    pub large: Vec<u32>,
    /// The others that live, in the order of their allocation.
    pub survivors: Vec<Survivor>,
}

/// An object to be promoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Survivor {
    /// Where it lies in the nursery, in bytes.
    pub offset: u32,
    /// Its size in bytes, header included.
    pub bytes: u32,
}

impl Promotions {
    /// How many objects were promoted.
    #[must_use]
    pub fn promoted(&self) -> u64 {
        let minors = self.minors.iter();
        minors.map(|minor| minor.survivors.len() as u64).sum()
    }
}

/// An old object.
#[derive(Clone, Copy, Debug)]
struct Old {
    object: Object,
    bytes: u32,
    serial: usize,
}

/// The nursery.
#[derive(Debug, Default)]
pub(crate) struct Nursery {
    /// It is emptied when it has so many bytes.
    bytes: u32,
    /// Bytes in it.
    filled: u32,
    young: Vec<(Object, Survivor)>,
    large: Vec<(Object, u32)>,
    old: Vec<Old>,
    serials: usize,
    pub(crate) promotions: Promotions,
}

impl Nursery {
    pub(crate) fn new(bytes: u32) -> Self {
        Self {
            bytes,
            ..Self::default()
        }
    }

    pub(crate) const fn is_full(&self) -> bool {
        self.filled >= self.bytes
    }

    /// An object was born.
    pub(crate) fn add(&mut self, object: Object, bytes: u32) {
        if bytes as usize >= Settings::LARGE {
            self.large.push((object, bytes));
            return;
        }
        let offset = self.filled;
        self.young.push((object, Survivor { offset, bytes }));
        self.filled += bytes.next_multiple_of(8);
        self.promotions.born += 1;
    }

    /// The program was collected, and nothing was allocated since.
    pub(crate) fn empty(&mut self, lives: impl Fn(Object) -> bool) {
        let mut minor = Minor::default();
        self.old.retain(|old| {
            let lives = lives(old.object);
            if !lives {
                minor.dead.push(old.serial);
            }
            lives
        });
        let large = std::mem::take(&mut self.large);
        for (object, bytes) in large.into_iter().filter(|(object, _)| lives(*object)) {
            minor.large.push(bytes);
            self.grow_old(object, bytes);
        }
        let young = std::mem::take(&mut self.young);
        for (object, survivor) in young.into_iter().filter(|(object, _)| lives(*object)) {
            minor.survivors.push(survivor);
            self.grow_old(object, survivor.bytes);
        }
        let old: usize = self.old.iter().map(|old| old.bytes as usize).sum();
        let all = &mut self.promotions;
        all.nursery_bytes = all.nursery_bytes.max(self.filled as usize);
        all.most_old_bytes = all.most_old_bytes.max(old);
        all.minors.push(minor);
        self.filled = 0;
    }

    fn grow_old(&mut self, object: Object, bytes: u32) {
        let serial = self.serials;
        self.old.push(Old {
            object,
            bytes,
            serial,
        });
        self.serials += 1;
    }
}
