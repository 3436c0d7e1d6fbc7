//! Large objects of other sizes each time: memory that is there serves them, and what goes back and
//! is wanted again stays, as long as it is. Those that are hardly written take none that is there.

use super::source::{Counted, random};
use super::*;

const MIB: usize = 1 << 20;

/// A heap whose runs are: a MiB of dirty memory, one whose memory went back, one in use.
fn halves(source: &Counted) -> (Heap<'_, &source::Shared>, [NonNull<u8>; 3]) {
    let heap = source.heap(Settings {
        delay: 1000,
        ..SETTINGS
    });
    let local = heap.join().unwrap();
    let objects = [(); 3].map(|()| local.allocate(MIB, 16).unwrap());
    free(&local, objects[1]).unwrap();
    heap.purge();
    free(&local, objects[0]).unwrap();
    drop(local);
    (heap, objects)
}

#[test]
fn a_large_object_is_taken_where_most_of_it_is_there() {
    let source = Counted::new(64 * MIB);
    let (heap, objects) = halves(&source);
    let local = heap.join().unwrap();
    let before = heap.stats();
    assert_eq!((before.dirty, before.clean), (MIB, MIB));
    let object = local.allocate(MIB * 3 / 2, 16).unwrap();
    let after = heap.stats();
    assert_eq!(object, objects[0]);
    assert_eq!((after.dirty, after.clean), (0, MIB / 2));
    check(&heap);
    // Behind the last object, nothing was ever used: the rest comes from there.
    free(&local, objects[2]).unwrap();
    assert_eq!(heap.stats().dirty, MIB);
    let last = local.allocate(2 * MIB, 16).unwrap();
    assert_eq!((last, heap.stats().dirty), (objects[2], 0));
    check(&heap);
}

#[test]
fn a_zeroed_large_object_is_not_taken_where_only_a_part_must_be_cleared() {
    let source = Counted::new(64 * MIB);
    let (heap, objects) = halves(&source);
    let local = heap.join().unwrap();
    // SAFETY: free memory of the heap, which nobody else uses.
    unsafe { objects[0].write_bytes(7, MIB) };
    let zeroed = local.allocate_zeroed(MIB * 3 / 2, 16).unwrap();
    // SAFETY: the object is live.
    let bytes = unsafe { core::slice::from_raw_parts(zeroed.as_ptr(), MIB * 3 / 2) };
    assert!(bytes.iter().all(|byte| *byte == 0));
    assert_eq!((heap.stats().dirty, heap.stats().clean), (MIB, MIB));
    check(&heap);
}

#[test]
fn a_large_object_grows_over_free_runs_of_both_kinds() {
    let source = Counted::new(64 * MIB);
    let heap = source.heap(SETTINGS);
    let local = heap.join().unwrap();
    let objects = [(); 4].map(|()| local.allocate(MIB, 16).unwrap());
    let last = local.allocate(MIB, 16).unwrap();
    free(&local, objects[1]).unwrap();
    heap.purge();
    free(&local, objects[2]).unwrap();
    let resize = |bytes| {
        // SAFETY: live; the same address is still the object.
        let resized = unsafe { local.resize(objects[0], bytes, 16) };
        resized.unwrap().unwrap()
    };
    assert_eq!(resize(MIB * 5 / 2), objects[0]);
    check(&heap);
    assert_eq!((heap.stats().dirty, heap.stats().clean), (MIB / 2, 0));
    assert_eq!(heap.usable_bytes(objects[0].as_ptr()), Some(MIB * 5 / 2));
    assert_ne!(resize(4 * MIB), objects[0], "an object is in the way");
    free(&local, last).unwrap();
    check(&heap);
}

/// Sixteen large objects that are replaced so often, one at a time. Returns the bytes taken.
fn replace(
    heap: &Heap<'_, &source::Shared>,
    local: &Local<'_, RawMutex, &source::Shared>,
    objects: &mut Vec<NonNull<u8>>,
    times: usize,
    mut look: impl FnMut(),
) -> usize {
    let mut random = random(7);
    let mut taken = 0;
    for _ in 0..times {
        if objects.len() == 16 {
            free(local, objects.swap_remove(random(16))).unwrap();
        }
        // 32 KiB to 8 MiB, each power of two as often as the others.
        let bytes = (32 << 10 << random(8)) * (256 + random(256)) / 256;
        objects.push(local.allocate(bytes, 16).unwrap());
        taken += bytes;
        check(heap);
        look();
    }
    taken
}

#[test]
fn memory_that_is_wanted_again_stays_for_a_while() {
    let source = Counted::new(256 * MIB);
    let heap = source.heap(Settings {
        delay: 100,
        ..SETTINGS
    });
    let local = heap.join().unwrap();
    let mut objects = Vec::new();
    replace(&heap, &local, &mut objects, 100, || ());
    let before = source.purged();
    let taken = replace(&heap, &local, &mut objects, 1000, || {
        source.pass(3);
        let stats = heap.stats();
        let most = stats.peak_active;
        let allowed = most + most / 16 + most / 8 + (512 << 10);
        assert!(stats.active + stats.dirty <= allowed, "{stats:?}");
    });
    let went_back = source.purged() - before;
    assert!(went_back < taken / 20, "{went_back} of {taken}");
    // Who wants nothing of it any more does not keep it, and gives it back in steps.
    let most = heap.stats().peak_active;
    objects
        .drain(..)
        .for_each(|object| free(&local, object).unwrap());
    assert!(heap.stats().dirty > most / 2);
    for _ in 0..200 {
        source.pass(100);
        let little = local.allocate(40_000, 16).unwrap();
        free(&local, little).unwrap();
    }
    assert!(heap.stats().dirty < MIB, "{:?}", heap.stats());
    check(&heap);
}

#[test]
fn an_object_that_is_hardly_written_takes_no_memory_that_others_wrote() {
    let source = Counted::new(256 * MIB);
    let heap = source.heap(Settings {
        delay: 1000,
        ..SETTINGS
    });
    let local = heap.join().unwrap();
    let keeper = local.allocate(MIB, 16).unwrap();
    let written = local.allocate(8 * MIB, 16).unwrap();
    let behind = local.allocate(MIB, 16).unwrap();
    // It goes back as soon as it is freed.
    source.set_sparse(true);
    let sparse = local.allocate(9 * MIB, 16).unwrap();
    free(&local, sparse).unwrap();
    assert_eq!((heap.stats().dirty, source.purged()), (0, 9 * MIB));
    source.set_sparse(false);
    free(&local, written).unwrap();
    assert_eq!(heap.stats().dirty, 8 * MIB);
    check(&heap);
    // The last one of this power of two was written, so the next takes what it left.
    let again = local.allocate(8 * MIB, 16).unwrap();
    assert_eq!((again, heap.stats().dirty), (written, 0));
    source.set_sparse(true);
    free(&local, again).unwrap();
    source.set_sparse(false);
    // Dirty memory of another power of two stays what it is.
    let other = local.allocate(4 * MIB, 16).unwrap();
    free(&local, other).unwrap();
    assert_eq!(heap.stats().dirty, 4 * MIB);
    let sparse = local.allocate_zeroed(9 * MIB, 16).unwrap();
    assert_eq!(heap.stats().dirty, 4 * MIB);
    check(&heap);
    // Where nothing goes back, that does not either; and smaller objects are not looked at.
    heap.set_delay(u32::MAX);
    source.set_sparse(true);
    for object in [sparse, keeper, behind] {
        free(&local, object).unwrap();
        check(&heap);
    }
    assert!(heap.stats().dirty >= 2 * MIB);
}
