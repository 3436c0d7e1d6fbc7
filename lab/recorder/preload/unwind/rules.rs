//! The rules that were found, by address, for all threads and without a lock.
//!
//! An entry is one word: 31 bits of the rule, and what of the address is not said by the entry's
//! place, so that each entry is right whoever wrote it. What is not there is looked up, and
//! replaces the older of two.
//!
//! Rules hold until something is unloaded: then all are forgotten ([`forget`]).

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

use super::objects::{Holder, holder_of};
use crate::tables;
use crate::tables::rule::{BITS, Rule};

/// Addresses have so many bits; of these the first choose a pair of entries.
const ADDRESS_BITS: u32 = 47;
const PAIR_BITS: u32 = 14;
const LEFT_BITS: u32 = ADDRESS_BITS - PAIR_BITS;

const _: () = assert!(LEFT_BITS + BITS == 64);

type Pair = [AtomicU64; 2];

static PAIRS: [Pair; 1 << PAIR_BITS] =
    [const { [AtomicU64::new(0), AtomicU64::new(0)] }; 1 << PAIR_BITS];

/// How often everything was forgotten, or a log begun.
static GENERATION: AtomicU32 = AtomicU32::new(0);

#[inline]
pub(crate) fn generation() -> u32 {
    GENERATION.load(Ordering::Acquire)
}

/// The rule for a call that returns to an address. `None` if nothing that is loaded says one, and
/// none was learned.
#[inline]
pub(super) fn of(pc: usize) -> Option<Rule> {
    let (pair, left) = place(pc);
    for entry in pair {
        let entry = entry.load(Ordering::Relaxed);
        if entry >> BITS == left && entry != 0 {
            return Some(Rule::from_bits(entry as u32 & ((1 << BITS) - 1)));
        }
    }
    find(pc)
}

#[cold]
#[inline(never)]
fn find(pc: usize) -> Option<Rule> {
    if pc >> ADDRESS_BITS != 0 {
        return Some(Rule::Other);
    }
    let since = generation();
    let rule = match holder_of(pc) {
        Holder::Known(tables) => tables::rule(tables.part, tables.header, pc)?,
        Holder::Tableless => Rule::Other,
        Holder::Nobody => return None,
    };
    insert(pc, rule, since);
    Some(rule)
}

/// Says what the platform's unwinder made of an address of which nothing loaded says a rule:
/// whether it ended there.
pub(super) fn learn(pc: usize, ended: bool) {
    if pc >> ADDRESS_BITS == 0 {
        let rule = if ended { Rule::Last } else { Rule::Other };
        insert(pc, rule, generation());
    }
}

/// Puts in what was found out since a generation began.
fn insert(pc: usize, rule: Rule, since: u32) {
    let (pair, left) = place(pc);
    pair[1].store(pair[0].load(Ordering::Relaxed), Ordering::Relaxed);
    pair[0].store(left << BITS | u64::from(rule.bits()), Ordering::Relaxed);
    fence(Ordering::SeqCst);
    // If everything is being forgotten, this may have come after it.
    if GENERATION.load(Ordering::Relaxed) != since {
        pair.iter()
            .for_each(|entry| entry.store(0, Ordering::Relaxed));
    }
}

/// Begins a generation, in which the numbers that stacks have do not hold any more; the rules do.
pub(crate) fn begin_generation() {
    GENERATION.fetch_add(1, Ordering::AcqRel);
}

/// Forgets every rule: something was unloaded.
pub(crate) fn forget() {
    begin_generation();
    fence(Ordering::SeqCst);
    for entry in PAIRS.as_flattened() {
        entry.store(0, Ordering::Relaxed);
    }
}

/// The pair for an address, and the bits that tell it from others of the pair: both together are
/// the address times an odd number.
#[inline]
fn place(pc: usize) -> (&'static Pair, u64) {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let mixed = (pc as u64).wrapping_mul(FACTOR) & ((1 << ADDRESS_BITS) - 1);
    (
        &PAIRS[(mixed >> LEFT_BITS) as usize],
        mixed & ((1 << LEFT_BITS) - 1),
    )
}
