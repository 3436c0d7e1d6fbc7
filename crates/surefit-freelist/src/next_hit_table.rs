//! The Next Hit Table: for every list, the first list from there on that holds a chunk.
//!
//! ```text
//! NHT[t] = min({ j : t <= j < N, list j is filled } + { N })   for 0 <= t <= N, so NHT[N] = N
//!
//! find(S):   NHT[S]
//! drain(F):  v = NHT[F + 1]                                    list F lost its last chunk
//!            for t = F, F - 1, ... while NHT[t] = F:  NHT[t] = v
//! fill(F):   v = NHT[F]                                        list F got its first chunk
//!            for t = F, F - 1, ... while NHT[t] = v:  NHT[t] = F
//! rebuild:   run = N
//!            for t = N, N - 1, ... 0: if t < N and list t is filled: run = t; NHT[t] = run
//!
//! table:     | NHT[0] | NHT[1] | ... | NHT[N] | filled up with N to a whole word |
//!            one byte each, two if N > 255
//! ```
//! For a list F, let p be the last filled list before F, or -1. `drain` changes exactly the entries
//! that were F: those after p up to F. `fill` changes the same entries, which all name the first
//! filled list after F. Both updates need only the table, so the lists may be changed before or
//! after.
//!
//! # Invariants
//! - N1: every entry is as defined above; the unused end of the last word is filled with N.
//!
//! # Bounds
//! A lookup is one load. An update writes F - p entries, at most N. The table takes N + 1 bytes, or
//! 2 (N + 1).
//!
//! # Departures
//! - The thesis's `fill` continues while NHT\[t\] is not t, which means that list t is empty: these
//!   are the same entries.
//! - The entries of a whole granule, eight or four of them, are compared and written at once.
//!
//! # Drawbacks
//! If a list near N repeatedly fills and empties above empty lists, every update writes up to N
//! entries.
//!
//! # Source
//! The thesis on free-list organisation, its chapter on the Next Hit Table.
#![deny(unsafe_code)]

use surefit_core::{Corruption, ensure};

use crate::chunk::NOBODYS_WORDS;
use crate::counters::Counters;
use crate::lookup::Lookup;
use crate::memory::{GRANULE, Memory, WORD};

/// The granule of the first entries.
const FIRST_GRANULE: usize = NOBODYS_WORDS * WORD / GRANULE;
const _: () = assert!(NOBODYS_WORDS * WORD % GRANULE == 0);

/// The Next Hit Table: finds a list with one load. It is updated when a list gets its first chunk
/// or loses its last.
#[derive(Debug, Default)]
pub struct NextHitTable {
    /// Updates because a list got its first chunk.
    fills: u64,
    /// Updates because a list lost its last chunk.
    drains: u64,
    stores: u64,
    rebuilds: u64,
    /// Lists that held a chunk after a rebuild, and none before its lists were made anew.
    rebuilt_fills: u64,
    /// Lists that held none after it, and one before.
    rebuilt_drains: u64,
}

/// Whether the numbers 0 to `lists` fit in bytes.
const fn is_narrow(lists: usize) -> bool {
    lists <= u8::MAX as usize
}

/// Entries in a whole number of words; `lists + 1` of them are used.
const fn entries(lists: usize) -> usize {
    let entries_a_word = if is_narrow(lists) { WORD } else { WORD / 2 };
    (lists + 1).next_multiple_of(entries_a_word)
}

#[inline]
fn get<const N: usize>(memory: &Memory<'_>, t: usize) -> u32 {
    if is_narrow(N) {
        u32::from(memory.get_byte(NOBODYS_WORDS * WORD + t))
    } else {
        u32::from(memory.get_half(NOBODYS_WORDS * WORD / 2 + t))
    }
}

/// The values are list numbers, which fit: `is_narrow` decides the width.
#[inline]
fn set<const N: usize>(memory: &mut Memory<'_>, t: usize, list: u32) {
    if is_narrow(N) {
        memory.set_byte(NOBODYS_WORDS * WORD + t, list as u8);
    } else {
        memory.set_half(NOBODYS_WORDS * WORD / 2 + t, list as u16);
    }
}

/// The entries in one granule, which are compared and written at once.
const fn lanes(lists: usize) -> usize {
    if is_narrow(lists) {
        GRANULE
    } else {
        GRANULE / 2
    }
}

/// The granule whose entries are all `list`.
const fn repeated(lists: usize, list: u32) -> u64 {
    list as u64 * (u64::MAX / if is_narrow(lists) { 0xff } else { 0xffff })
}

/// Writes `new` to entry `last` and to the entries before it, without a gap, that are equal to
/// `old`, as it is. Returns how many it wrote.
///
/// Goes entry by entry to the edge of a granule, then by granules, then by entries in the last one.
fn replace_down<const N: usize>(memory: &mut Memory<'_>, last: u32, old: u32, new: u32) -> u64 {
    let end = last as usize + 1;
    let mut t = end;
    while t > 0 && t % lanes(N) != 0 && get::<N>(memory, t - 1) == old {
        t -= 1;
        set::<N>(memory, t, new);
    }
    let (all_old, all_new) = (repeated(N, old), repeated(N, new));
    while t > 0 && t % lanes(N) == 0 {
        let granule = FIRST_GRANULE + t / lanes(N) - 1;
        if memory.get_granule(granule) != all_old {
            break;
        }
        memory.set_granule(granule, all_new);
        t -= lanes(N);
    }
    while t > 0 && get::<N>(memory, t - 1) == old {
        t -= 1;
        set::<N>(memory, t, new);
    }
    (end - t) as u64
}

impl NextHitTable {
    /// List `filled`, which was empty, got a chunk. The entries down to the filled list before it
    /// were equal.
    fn on_filled<const N: usize>(&mut self, memory: &mut Memory<'_>, filled: u32) {
        let following = get::<N>(memory, filled as usize);
        self.fills += 1;
        self.stores += replace_down::<N>(memory, filled, following, filled);
    }

    /// List `emptied` lost its last chunk.
    fn on_emptied<const N: usize>(&mut self, memory: &mut Memory<'_>, emptied: u32) {
        let following = get::<N>(memory, emptied as usize + 1);
        self.drains += 1;
        self.stores += replace_down::<N>(memory, emptied, emptied, following);
    }
}

impl<const N: usize> Lookup<N> for NextHitTable {
    const WORDS: usize = {
        assert!(N <= u16::MAX as usize);
        entries(N) * if is_narrow(N) { 1 } else { 2 } / WORD
    };

    fn new(memory: &mut Memory<'_>) -> Self {
        for t in 0..entries(N) {
            set::<N>(memory, t, N as u32);
        }
        Self::default()
    }

    #[inline]
    fn first_filled(&mut self, memory: &Memory<'_>, list: u32) -> u32 {
        get::<N>(memory, list as usize)
    }

    #[inline]
    fn fill(&mut self, memory: &mut Memory<'_>, list: u32, was_empty: bool) {
        if was_empty {
            self.on_filled::<N>(memory, list);
        }
    }

    #[inline]
    fn drain(&mut self, memory: &mut Memory<'_>, list: u32, is_empty: bool) {
        if is_empty {
            self.on_emptied::<N>(memory, list);
        }
    }

    fn rebuild(&mut self, memory: &mut Memory<'_>) {
        let mut run = N as u32;
        set::<N>(memory, N, run);
        for t in (0..N as u32).rev() {
            // An entry names its own list if that held a chunk before the lists were made anew
            // (N1).
            let was_filled = get::<N>(memory, t as usize) == t;
            let is_filled = <Self as Lookup<N>>::is_filled(memory, t);
            self.rebuilt_fills += u64::from(is_filled && !was_filled);
            self.rebuilt_drains += u64::from(was_filled && !is_filled);
            if is_filled {
                run = t;
            }
            set::<N>(memory, t as usize, run);
        }
        self.rebuilds += 1;
    }

    fn check(&self, memory: &Memory<'_>) -> Result<(), Corruption> {
        let mut next = N as u32;
        for t in (0..entries(N)).rev() {
            if t < N && <Self as Lookup<N>>::is_filled(memory, t as u32) {
                next = t as u32;
            }
            ensure(
                get::<N>(memory, t) == next,
                "N1",
                "the table does not name the next list that holds a chunk; entry",
                t,
            )?;
        }
        Ok(())
    }

    fn count(&self, counters: &mut Counters) {
        counters.table_updates += self.fills + self.drains;
        counters.table_fills += self.fills;
        counters.table_stores += self.stores;
        counters.table_rebuilds += self.rebuilds;
        counters.table_rebuilt_fills += self.rebuilt_fills;
        counters.table_rebuilt_drains += self.rebuilt_drains;
    }
}

#[cfg(test)]
impl NextHitTable {
    /// The entry of list `t`.
    pub(crate) fn entry<const N: usize>(memory: &Memory<'_>, t: usize) -> u32 {
        get::<N>(memory, t)
    }
}
