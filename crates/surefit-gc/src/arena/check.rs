//! Verifies the numbered invariants of an arena's objects.

use surefit_core::{Corruption, RawHeap, ensure};
use surefit_freelist::{Heap, Index};

use super::finalizable::Finalizable;
use super::kinds::Kinds;
use super::place::Place;
use crate::bits::Bits;

/// Verifies A2, A3 and the invariants of the heap, which has no open bump chunk. Overwrites the
/// bits.
pub(super) fn check<I: Index>(
    heap: &Heap<'_, I>,
    kinds: &Kinds<'_>,
    finalizable: &Finalizable,
    mut bits: Bits<'_>,
) -> Result<(), Corruption> {
    heap.check()?;
    bits.clear();
    for number in heap.objects() {
        // SAFETY: S1: it is one of the heap, whose headers were verified.
        let place = unsafe { Place::of(heap, number) };
        // SAFETY: S1: `claim` or `finish` wrote it; if not, it is some word of the payload.
        let kind = unsafe { place.kind() } as usize;
        ensure(
            kind < kinds.count(),
            "A2",
            "an object is of no kind; its number",
            number as usize,
        )?;
        if kinds.get(kind as u32).is_finalizable() {
            bits.set(number);
        }
    }
    for head in finalizable.heads() {
        check_list(heap, head, &mut bits)?;
    }
    match bits.next(0) {
        Some(number) => {
            let what = "an object is in no list; its number";
            Err(Corruption::new("A3", what, number as usize))
        }
        None => Ok(()),
    }
}

/// Verifies that a list names finalizable objects, each once. Clears their bits.
fn check_list<I: Index>(
    heap: &Heap<'_, I>,
    head: u32,
    bits: &mut Bits<'_>,
) -> Result<(), Corruption> {
    let mut next = head;
    while next != 0 {
        ensure(
            bits.get(next),
            "A3",
            "a link names no finalizable object, or one that is in a list already; it is",
            next as usize,
        )?;
        bits.reset(next);
        // SAFETY: S1: it has its bit, so it is an object of the heap.
        let place = unsafe { Place::of(heap, next) };
        // SAFETY: S1: finalizable, so it has a link.
        next = unsafe { place.link() };
    }
    Ok(())
}
