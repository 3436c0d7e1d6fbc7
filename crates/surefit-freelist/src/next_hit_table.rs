//! The Next Hit Table: for every list, the first list from it on that holds a chunk.
//!
//! ```text
//! NHT[t] = min({ j : t <= j < N, list j is filled } + { N })       for 0 <= t <= N, so NHT[N] = N always
//!
//! find(S):   NHT[S]
//! drain(F):  v = NHT[F + 1]; for t = F, F - 1, ... while NHT[t] = F:  NHT[t] = v       list F lost its last chunk
//! fill(F):   NHT[F] = F; for t = F - 1, F - 2, ... while NHT[t] != t: NHT[t] = F       list F got its first chunk
//! rebuild:   run = N; for t = N, N - 1, ... 0: if t < N and list t is filled: run = t; NHT[t] = run
//!
//! table:     | NHT[0] | NHT[1] | ... | NHT[N] | filled up with N to a whole word |     one byte each, two if N > 255
//! ```
//! Let p be the last filled list before F, or -1. `drain` changes exactly the entries that were F, which are those
//! after p up to F; `fill` changes the same ones, since NHT\[t\] = t says that list t is filled. An update of either kind
//! needs the table alone, so that the lists may be changed before or after it.
//!
//! # Invariants
//! - N1: every entry is as defined, and what fills up the last word is N.
//!
//! # Bounds
//! A lookup is one load. An update writes F - p entries, at most N. The table takes N + 1 bytes, or 2 (N + 1).
//!
//! # Drawbacks
//! A list near N that fills and empties in turns above empty lists makes every update write up to N entries.
//!
//! # Source
//! The thesis on free-list organisation, its chapter on the Next Hit Table.
#![deny(unsafe_code)]

use surefit_core::Corruption;

use crate::chunk::NOBODYS_WORDS;
use crate::heap::Counters;
use crate::lookup::Lookup;
use crate::memory::{Memory, WORD};

/// The Next Hit Table: finds a list by one load, and is updated when a list gets its first chunk or loses its last.
#[derive(Debug, Default)]
pub struct NextHitTable {
    updates: u64,
    stores: u64,
    rebuilds: u64,
}

/// Whether the numbers 0 to `lists` fit in bytes.
const fn is_narrow(lists: usize) -> bool {
    lists <= u8::MAX as usize
}

/// Entries of a whole number of words, of which `lists + 1` are used.
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

/// The values are list numbers, which fit as `is_narrow` says.
#[inline]
fn set<const N: usize>(memory: &mut Memory<'_>, t: usize, list: u32) {
    if is_narrow(N) {
        memory.set_byte(NOBODYS_WORDS * WORD + t, list as u8);
    } else {
        memory.set_half(NOBODYS_WORDS * WORD / 2 + t, list as u16);
    }
}

impl NextHitTable {
    /// List `filled`, which held none, got a chunk.
    fn on_filled<const N: usize>(&mut self, memory: &mut Memory<'_>, filled: u32) {
        let end = filled as usize + 1;
        let mut t = filled as usize;
        set::<N>(memory, t, filled);
        while t > 0 && get::<N>(memory, t - 1) != t as u32 - 1 {
            t -= 1;
            set::<N>(memory, t, filled);
        }
        self.updates += 1;
        self.stores += (end - t) as u64;
    }

    /// List `emptied` lost its last chunk.
    fn on_emptied<const N: usize>(&mut self, memory: &mut Memory<'_>, emptied: u32) {
        let end = emptied as usize + 1;
        let mut t = end;
        let following = get::<N>(memory, t);
        while t > 0 && get::<N>(memory, t - 1) == emptied {
            t -= 1;
            set::<N>(memory, t, following);
        }
        self.updates += 1;
        self.stores += (end - t) as u64;
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
            if <Self as Lookup<N>>::is_filled(memory, t) {
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
            if get::<N>(memory, t) != next {
                return Err(Corruption {
                    invariant: "N1",
                    what: "the table does not name the next list that holds a chunk; entry",
                    at: t,
                });
            }
        }
        Ok(())
    }

    fn count(&self, counters: &mut Counters) {
        counters.table_updates += self.updates;
        counters.table_stores += self.stores;
        counters.table_rebuilds += self.rebuilds;
    }
}

#[cfg(test)]
impl NextHitTable {
    /// The entry of list `t`.
    pub(crate) fn entry<const N: usize>(memory: &Memory<'_>, t: usize) -> u32 {
        get::<N>(memory, t)
    }
}
