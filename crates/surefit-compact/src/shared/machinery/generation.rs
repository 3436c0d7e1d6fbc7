//! The generation of a shared entry: which of the objects that the entry had, one after another, a key names.
//!
//! ```text
//! free(key):  advance from the key's generation ── lost ──▶ stale: nothing is touched
//!                   │ won: the one freer
//!                   ▼
//!             Entry::mark_freed
//!
//! pin(key):   Entry::pin_shared ──▶ does the generation still match? ── no ──▶ unpin; stale
//! ```
//!
//! In a heap of keys a generation is odd while it names an object, and even while the entry has none. Its topmost bit says
//! that the object must be dropped by whoever claims it: *glue* lies behind the value.
//!
//! ```text
//! word | GLUE 31 | number 30..0 |     even ─ begin ─▶ odd ─ retire_or_next ─▶ even, GLUE stays ─ drop_glue ─▶ even
//! ```
//!
//! # Invariants
//! - N1 A generation only grows, by one a freed object, and never passes the limit; so two objects of one entry never
//!   have the same. An entry whose generation has reached the limit is *retired*: no key carries the limit.
//! - N2 The generation of an object changes before the object is marked freed, and the generation is compared after
//!   the pin. So either the pin came first in the entry's word, and the object waits for the unpin; or the marking did,
//!   and the pin, which acquires it, finds another generation. A stale pin never learns a location that it may use.
//! - N3 With [`Generation::begin`] no key, were it forged, ends or reaches an object before its construction ends: the
//!   generation is even until then, keys are odd.
//!
//! # Bounds
//! One compare-exchange a free, one load a pin. With `begin`, 2ʷ⁻¹ − 1 objects an entry for generations of w bits, and
//! 2³⁰ − 1 for those of 32.
//!
//! # Source
//! This project; the rule that generations never wrap is that of the keys of one owner's heap.
#![deny(unsafe_code)]

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use super::sync::AtomicU32;

/// The object is dropped by who claims it.
const GLUE: u32 = 1 << 31;

/// What became of an entry whose object was freed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Advanced {
    /// It can hold another object.
    Reusable,
    /// That was its last object (N1).
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

    /// The generation now; to be compared with a key's after the pin.
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

    /// Begins the object of an entry that has none and is not retired; returns what its keys carry. Only the constructor
    /// of the object writes while the generation is even.
    #[inline]
    pub(crate) fn begin(&self, glue: bool) -> u32 {
        let word = (self.number() + 1) | if glue { GLUE } else { 0 };
        debug_assert!(Self::names_object(word), "N3: {word:#x}");
        // Relaxed: a key's pin acquires the object by the entry's word, and the key by whatever brought it.
        self.0.store(word, Relaxed);
        word
    }

    /// Whether the object has glue that is not used up. Acquire: what the glue did, as `drop_glue` released it.
    #[inline]
    pub(crate) fn has_glue(&self) -> bool {
        self.0.load(Acquire) & GLUE != 0
    }

    /// The value of the claimed object is dropped, or taken out: its bytes are nobody's.
    #[inline]
    pub(crate) fn drop_glue(&self) {
        // Release: what the drop did, to `has_glue`.
        self.0.fetch_and(!GLUE, Release);
    }

    /// Ends the object of generation `expected`: the one caller that gets `Ok` must mark the entry freed.
    /// `limit` is the generation of retired entries.
    ///
    /// # Errors
    /// [`Stale`] if the object has ended, or the entry is retired.
    #[inline]
    pub(crate) fn retire_or_next(&self, expected: u32, limit: u32) -> Result<Advanced, Stale> {
        if expected & !GLUE >= limit {
            return Err(Stale);
        }
        let next = expected.checked_add(1).ok_or(Stale)?;
        // Relaxed: one winner is all that this decides; `Entry::mark_freed`, which the winner calls, releases it.
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
