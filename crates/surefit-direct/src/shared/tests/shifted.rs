//! Large objects that a resize moves: their memory goes along where the source can.

use super::source::Counted;
use super::*;

const BYTES: usize = 3 << 20;

/// An object of [`BYTES`] bytes with something behind it is resized to twice as much, with a
/// source that does this. Returns bytes: moved by the source; in use, at most and at the end;
/// written and free.
fn grown(shift: Shift) -> (usize, usize, usize, usize) {
    let source = Counted::new(64 << 20);
    source.set_shift(shift);
    let heap = source.heap(SETTINGS);
    let local = heap.join().unwrap();
    let object = local.allocate(BYTES, 16).unwrap();
    let behind = local.allocate(BYTES, 16).unwrap();
    // SAFETY: it has so many bytes.
    unsafe { object.write_bytes(7, BYTES) };
    // SAFETY: it is live.
    let resized = unsafe { local.resize(object, 2 * BYTES, 16) }.unwrap();
    check(&heap);
    let kept = resized.unwrap_or(object);
    assert_eq!(resized.is_none(), shift == Shift::Lost);
    assert_eq!(kept == object, shift == Shift::Lost);
    // SAFETY: it is live, and has so many bytes.
    let bytes = unsafe { core::slice::from_raw_parts(kept.as_ptr(), BYTES) };
    assert!(bytes.iter().all(|byte| *byte == 7));
    free(&local, behind).unwrap();
    free(&local, kept).unwrap();
    check(&heap);
    let stats = heap.stats();
    (
        source.shifted(),
        stats.peak_active,
        stats.active,
        stats.dirty,
    )
}

#[test]
fn memory_that_the_source_moves_is_not_there_twice() {
    let units = |bytes: usize| bytes.next_multiple_of(UNIT_BYTES);
    let most = units(2 * BYTES) + units(BYTES);
    // What was moved was written, and the rest of its successor was not known to be.
    assert_eq!(grown(Shift::Done), (units(BYTES), most, 0, most));
    // Copied: for a moment both are used, but that is not what the program asked for.
    let (moved, most_used, used, dirty) = grown(Shift::NotDone);
    assert_eq!((moved, most_used, used), (0, most, 0));
    assert_eq!(dirty, most + units(BYTES));
}

#[test]
fn a_place_that_the_source_loses_is_never_used_again() {
    let (moved, _, used, _) = grown(Shift::Lost);
    assert_eq!((moved, used), (0, 2 * BYTES));
}

#[test]
fn what_cannot_be_resized_stays() {
    let source = Counted::new(64 << 20);
    source.set_shift(Shift::Done);
    let heap = source.heap(SETTINGS);
    let local = heap.join().unwrap();
    let object = local.allocate(BYTES, 16).unwrap();
    for (bytes, align) in [(1 << 30, 16), (usize::MAX, 16), (2 * BYTES, 3)] {
        // SAFETY: it is live.
        assert_eq!(unsafe { local.resize(object, bytes, align) }, Ok(None));
        check(&heap);
    }
    assert_eq!(heap.stats().peak_active, BYTES);
    free(&local, object).unwrap();
}
