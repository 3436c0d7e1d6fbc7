//! Entries that are lent: any numbers, at any time; a heap that has no room for them; sweeps.

use super::*;

fn outside(heap: &EntryHeap<'_>) -> Vec<u32> {
    heap.outside_entries().collect()
}

/// A heap that has lent three entries, and holds a value.
fn with_outside(memory: &mut [MaybeUninit<u8>]) -> (EntryHeap<'_>, [u32; 3], Handle<u64>) {
    let mut heap = EntryHeap::<Wide>::new(memory, &CONFIG).expect("large enough");
    let value = heap.insert(7_u64).expect("room");
    let most = EntryHeap::<Wide>::OUTSIDE_PLACES - 1;
    let entries = [0, 1, most].map(|place| heap.add_outside_entry(place).expect("room"));
    let places = entries.map(|entry| heap.outside_place_of(entry));
    assert_eq!(places, [Some(0), Some(1), Some(most)]);
    (heap, entries, value)
}

fn panics<R>(call: impl FnOnce() -> R) -> bool {
    catch_unwind(AssertUnwindSafe(call)).is_err()
}

/// No entry that is lent: the value's, one that is free, others that were never made.
#[test]
fn entries_that_are_not_outside_are_told() {
    let mut region = region(1 << 17);
    let (mut heap, entries, value) = with_outside(region.memory());
    let all = (0..16).chain([1 << 20, u32::MAX]);
    for entry in all.filter(|entry| !entries.contains(entry)) {
        assert_eq!(heap.outside_place_of(entry), None);
        assert!(panics(|| heap.relocate_entry(entry, 1)));
        assert!(panics(|| heap.give_entry_back(entry)));
        assert!(panics(|| heap.take_in_entry(entry, 8)));
    }
    assert!(panics(|| heap.renumber::<u8>(&mut [])), "an entry is lent");
    assert_eq!((heap.check(), outside(&heap).len()), (Ok(()), 3));
    assert_eq!(*heap.get(&value), 7);
}

#[test]
fn places_and_lengths_of_any_number_are_taken_or_told() {
    let mut region = region(1 << 17);
    let (mut heap, entries, value) = with_outside(region.memory());
    for place in [EntryHeap::<Wide>::OUTSIDE_PLACES, 1 << 31, u32::MAX] {
        assert!(panics(|| heap.add_outside_entry(place)));
        assert!(panics(|| heap.relocate_entry(entries[0], place)));
    }
    for len in [1 << 14, usize::MAX] {
        assert!(matches!(
            heap.take_in_entry(entries[1], len),
            Err(Refused::TooLarge { .. })
        ));
        assert_eq!(heap.outside_place_of(entries[1]), Some(1));
    }
    for (entry, len) in entries.into_iter().zip([0, 40]) {
        let block = heap.take_in_entry(entry, len).expect("room");
        assert_eq!(block.addr().get() % 8, 0);
    }
    heap.give_entry_back(entries[2]);
    assert_eq!((heap.check(), outside(&heap)), (Ok(()), vec![]));
    assert_eq!((*heap.get(&value), heap.stats().live_blocks), (7, 3));
    let made = heap.entries_made();
    let dropped = heap.renumber::<u8>(&mut []);
    assert_eq!((made - dropped, dropped > 0), (heap.entries_made(), true));
}

/// Entries are lent until the table cannot grow, whatever lives and is parked; moves make room for
/// more.
#[test]
fn a_heap_has_all_the_outside_entries_that_its_table_can_hold() {
    let mut region = region(1 << 17);
    let mut heap = EntryHeap::<Wide>::new(region.memory(), &CONFIG).expect("large enough");
    let handles: Vec<_> = (0..3000)
        .map(|nth| heap.insert(nth as u64).expect("room"))
        .collect();
    let (kept, freed): (Vec<_>, Vec<_>) = handles
        .into_iter()
        .enumerate()
        .partition(|(nth, _)| nth % 50 == 0);
    freed
        .into_iter()
        .for_each(|(nth, handle)| assert_eq!(heap.remove(handle), nth as u64));
    let mut place = 0;
    while let Ok(entry) = heap.add_outside_entry(place) {
        assert_eq!(heap.outside_place_of(entry), Some(place));
        place += 1;
    }
    assert_eq!(heap.add_outside_entry(place), Err(Refused::NoHandle));
    assert_eq!(heap.check(), Ok(()));
    assert!(place > 12_000, "{place}");
    // An entry for a page-block is missing, too, until one comes back.
    let entries = outside(&heap);
    assert_eq!(entries.len(), place as usize);
    assert!(heap.take_in_entry(entries[0], 8).is_err());
    assert!(heap.insert(1_u64).is_err());
    heap.give_entry_back(entries[1]);
    assert!(heap.take_in_entry(entries[0], 8).is_ok());
    assert_eq!(
        (heap.check(), outside(&heap).len()),
        (Ok(()), place as usize - 2)
    );
    let alive = |(nth, handle): &(usize, Handle<u64>)| *heap.get(handle) == *nth as u64;
    assert!(kept.iter().all(alive));
    // A sweep keeps some of both kinds.
    let mut bits = vec![0_u64; 1 << 10];
    let mut keep = |entry: u32| bits[entry as usize / 64] |= 1 << (entry % 64);
    outside(&heap).into_iter().step_by(3).for_each(&mut keep);
    keep(entries[0]);
    // SAFETY: S1: they are live or lent; S2: nothing is in pieces; S3: no handle is used again.
    unsafe { heap.retain(&bits) };
    std::mem::forget(kept);
    let left = outside(&heap).len();
    assert_eq!(
        (heap.check(), left),
        (Ok(()), (place as usize - 2).div_ceil(3))
    );
    assert_eq!(heap.stats().live_blocks, 1);
    assert!(heap.insert(1_u64).is_ok());
}
