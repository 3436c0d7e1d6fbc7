//! User code that panics when its turn comes.

use std::cell::Cell;
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};

use surefit_collections::{Release, TryClone};
use surefit_compact::{BoxedHeap, Handle};
use surefit_core::Refused;

/// Whether a call panics.
pub(crate) fn panics<R>(call: impl FnOnce() -> R) -> bool {
    catch_unwind(AssertUnwindSafe(call)).is_err()
}

thread_local! {
    /// The calls of user code that are left before one panics.
    pub(crate) static FUSE: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// Panics at the end of the fuse.
pub(crate) fn burn() {
    let left = FUSE.get();
    FUSE.set(left.wrapping_sub(1));
    assert!(left > 0, "the fuse has burnt");
}

/// Makes a call with a fuse; whether it panicked.
pub(crate) fn with_fuse<R>(fuse: usize, call: impl FnOnce() -> R) -> bool {
    FUSE.set(fuse);
    let panicked = panics(call);
    FUSE.set(usize::MAX);
    panicked
}

/// A value whose hash, comparisons, copy and release may panic. It owns an object.
#[derive(Debug)]
pub(crate) struct Bomb {
    pub(crate) number: u64,
    pub(crate) owned: Handle<u64>,
}

impl Bomb {
    pub(crate) fn new(heap: &BoxedHeap, number: u64) -> Self {
        let owned = heap.insert(number).expect("room");
        Self { number, owned }
    }

    /// Whether its object is its own.
    pub(crate) fn is_whole(&self, heap: &BoxedHeap) -> bool {
        *heap.get(&self.owned) == self.number
    }
}

impl PartialEq for Bomb {
    fn eq(&self, other: &Self) -> bool {
        burn();
        self.number == other.number
    }
}

impl Eq for Bomb {}

impl PartialOrd for Bomb {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Bomb {
    fn cmp(&self, other: &Self) -> Ordering {
        burn();
        self.number.cmp(&other.number)
    }
}

impl Hash for Bomb {
    fn hash<S: Hasher>(&self, state: &mut S) {
        burn();
        state.write_u64(self.number);
    }
}

impl Release<BoxedHeap> for Bomb {
    fn release(self, heap: &mut BoxedHeap) {
        heap.free(self.owned);
        burn();
    }
}

impl TryClone<BoxedHeap> for Bomb {
    type Partial = std::convert::Infallible;

    fn try_clone_in(&self, heap: &BoxedHeap) -> Result<Self, (Option<Self::Partial>, Refused)> {
        burn();
        let owned = heap
            .insert(self.number)
            .map_err(|full| (None, full.refused))?;
        let number = self.number;
        Ok(Self { number, owned })
    }
}
