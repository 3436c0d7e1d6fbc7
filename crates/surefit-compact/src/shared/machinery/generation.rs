//! The generation of a shared entry: which of the entry's successive objects a key names.
//!
//! ```text
//! free(key):  advance from the key's generation ── lost ──▶ stale: nothing is changed
//!                   │ won: this call frees
//!                   ▼
//!             Entry::mark_freed
//!
//! pin(key):   Entry::pin_shared ──▶ does the generation still match? ── no ──▶ unpin; stale
//! ```
//!
//! In a heap of keys the generation of an entry is odd while the entry has an object, and even
//! while it has none. Its topmost bit says that the claimant must drop the object: its *glue* lies
//! behind the value.
//!
//! ```text
//! word | GLUE 31 | number 30..0 |
//! even ─ begin ─▶ odd ─ retire_or_next ─▶ even, GLUE stays ─ drop_glue ─▶ even
//! ```
//!
//! # Invariants
//! - N1 A generation only grows, by one per freed object, and never passes the limit. So no two
//!   objects of one entry have the same generation. An entry whose generation has reached the limit
//!   is *retired*: no key carries the limit.
//! - N2 The generation of an object changes before the object is marked freed, and it is compared
//!   after the pin. Either the pin came first in the entry's word: then the object waits for the
//!   unpin. Or the marking came first: then the pin acquires it, and finds another generation. So a
//!   stale pin never learns a location that it may use.
//! - N3 With [`Generation::begin`], no key, not even a forged one, ends or reaches an object before
//!   its construction ends: until then the generation is even, and keys are odd.
//!
//! # Bounds
//! One compare-exchange per free, one load per pin. With `begin`, an entry serves 2ʷ⁻¹ − 1 objects
//! for generations of w bits, and 2³⁰ − 1 for those of 32 bits.
//!
//! # Source
//! This project's. Generations never wrap, like those of the keys of one owner's heap.
#![deny(unsafe_code)]

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use super::sync::AtomicU32;

/// The claimant must drop the object.
const GLUE: u32 = 1 << 31;

/// The future of an entry whose object was freed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Advanced {
    /// It can hold another object.
    Reusable,
    /// It was the entry's last object (N1).
    Retired,
}

/// The key's object was freed before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stale;

/// The generation of an entry's present or next object.
#[repr(transparent)]
pub(crate) struct Generation(AtomicU32);

impl Generation {
    /// The generation of an entry that was never used.
    pub(crate) fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// The generation now, to be compared with that of a key after the pin.
    ///
    /// Relaxed: the pin acquired what `Entry::mark_freed` released (N2).
    #[inline]
    pub(crate) fn current(&self) -> u32 {
        self.0.load(Relaxed)
    }

    /// Whether a word is one that keys carry.
    #[inline]
    pub(crate) fn names_object(word: u32) -> bool {
        word & 1 == 1
    }

    /// The generation without its flag.
    #[inline]
    pub(crate) fn number(&self) -> u32 {
        self.current() & !GLUE
    }

    /// Begins an object in an entry that has none and is not retired; returns the generation that
    /// its keys carry. While the generation is even, only the constructor of the object writes it.
    #[inline]
    pub(crate) fn begin(&self, glue: bool) -> u32 {
        let word = (self.number() + 1) | if glue { GLUE } else { 0 };
        debug_assert!(Self::names_object(word), "N3: {word:#x}");
        // Relaxed: a key's pin acquires the object through the entry's word, and the key through
        // whatever passed it on.
        self.0.store(word, Relaxed);
        word
    }

    /// Whether the object has glue that was not used yet. Acquire: what the glue did, as
    /// `drop_glue` released it.
    #[inline]
    pub(crate) fn has_glue(&self) -> bool {
        self.0.load(Acquire) & GLUE != 0
    }

    /// Records that the value of the claimed object was dropped, or taken out.
    #[inline]
    pub(crate) fn drop_glue(&self) {
        // Release: what the drop did, to `has_glue`.
        self.0.fetch_and(!GLUE, Release);
    }

    /// Ends the object of generation `expected`. The one caller that gets `Ok` must mark the entry
    /// freed. `limit` is the generation of retired entries.
    ///
    /// # Errors
    /// [`Stale`] if the object has ended, or the entry is retired.
    #[inline]
    pub(crate) fn retire_or_next(&self, expected: u32, limit: u32) -> Result<Advanced, Stale> {
        if expected & !GLUE >= limit {
            return Err(Stale);
        }
        let next = expected.checked_add(1).ok_or(Stale)?;
        // Relaxed: this decides only which caller wins; `Entry::mark_freed`, which the winner
        // calls, releases it.
        self.0
            .compare_exchange(expected, next, Relaxed, Relaxed)
            .map_err(|_| Stale)?;
        Ok(if next & !GLUE == limit {
            Advanced::Retired
        } else {
            Advanced::Reusable
        })
    }
}
