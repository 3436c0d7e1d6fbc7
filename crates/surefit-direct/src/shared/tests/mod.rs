//! A shared direct heap beside a naive model, at its certificate, with a source that fails, and
//! misused.
#![allow(unsafe_code, reason = "raw pointers")]

extern crate alloc;
extern crate std;

mod damage;
mod exact;
mod flips;
mod joined;
mod mixed;
mod model;
mod reused;
mod served;
mod source;
mod wanted;
mod whoever;

use alloc::vec;
use alloc::vec::Vec;
use core::mem::{ManuallyDrop, MaybeUninit};
use core::ptr::NonNull;

use parking_lot::RawMutex;

use super::*;
use source::Counted;

pub(super) type Heap<'m, S> = SharedDirect<'m, RawMutex, S>;

const SETTINGS: Settings = Settings {
    threads: 3,
    checks: false,
    delay: u32::MAX,
};

fn region(bytes: usize) -> Vec<MaybeUninit<u8>> {
    vec![MaybeUninit::new(0xA5); bytes]
}

fn check<S: Source>(heap: &Heap<'_, S>) {
    check::check(heap.common()).unwrap();
}

fn free(local: &Local<'_, RawMutex, impl Source>, object: NonNull<u8>) -> Result<(), Misuse> {
    // SAFETY: the tests free what is live, or what the heap finds.
    unsafe { local.try_free(object) }
}

/// An adversary: each thread in turn has all objects of a size, and keeps one in each page.
fn hoard(demand: SharedDemand, threads: u32, bytes: usize) {
    let mut memory = region(bytes);
    let heap: SharedDirect<'_, RawMutex> = SharedDirect::new(
        &mut memory,
        Settings {
            threads,
            ..SETTINGS
        },
    )
    .unwrap();
    let locals: Vec<_> = (0..threads).map(|_| heap.join().unwrap()).collect();
    let mut kept: Vec<NonNull<u8>> = Vec::new();
    for _ in 0..3 {
        for local in &locals {
            let more = demand.count - kept.len();
            let new: Vec<_> = (0..more)
                .map(|_| local.allocate(demand.bytes, demand.align).unwrap())
                .collect();
            kept.extend(new);
            // Another thread frees most of them.
            let mut place = 0;
            let (left, freed): (Vec<_>, Vec<_>) = kept.iter().partition(|_| {
                place += 1;
                place % 7 == 0
            });
            kept = left;
            for object in freed {
                free(&locals[0], object).unwrap();
            }
            check(&heap);
        }
    }
}

#[test]
fn the_certified_bytes_are_enough_for_threads_that_hoard() {
    for (bytes, align, count) in [
        (1, 1, 700),
        (64, 16, 1000),
        (100, 64, 500),
        (1024, 16, 90),
        (3000, 16, 40),
        (4096, 4096, 50),
        (30_000, 16, 20),
    ] {
        for threads in [1, 2, 5] {
            let demand = SharedDemand {
                bytes,
                align,
                count,
            };
            let enough = certify::<RawMutex>(&[demand], threads, false).unwrap();
            hoard(demand, threads, enough);
        }
    }
}

#[test]
fn the_certified_bytes_are_enough_for_large_objects_in_any_order() {
    let demand: Vec<_> = [(40_000, 9), (100_000, 7), (400_000, 3), (9000, 30)]
        .map(|(bytes, count)| SharedDemand {
            bytes,
            align: 16,
            count,
        })
        .into();
    let mut memory = region(certify::<RawMutex>(&demand, 1, false).unwrap());
    let heap: SharedDirect<'_, RawMutex> = SharedDirect::new(
        &mut memory,
        Settings {
            threads: 1,
            ..SETTINGS
        },
    )
    .unwrap();
    let local = heap.join().unwrap();
    let mut live: Vec<Vec<NonNull<u8>>> = vec![Vec::new(); demand.len()];
    let mut random = source::random(5);
    for _ in 0..20_000 {
        let line = random(demand.len());
        if live[line].len() < demand[line].count && random(2) == 0 {
            live[line].push(local.allocate(demand[line].bytes, 16).unwrap());
        } else if !live[line].is_empty() {
            let place = random(live[line].len());
            free(&local, live[line].swap_remove(place)).unwrap();
        }
    }
    check(&heap);
}

#[test]
fn impossible_demands_and_regions_are_refused() {
    let demand = |bytes, count| {
        [SharedDemand {
            bytes,
            align: 16,
            count,
        }]
    };
    assert!(certify::<RawMutex>(&demand(usize::MAX, 1), 1, false).is_err());
    assert!(certify::<RawMutex>(&demand(16, usize::MAX), 1, false).is_err());
    assert!(certify::<RawMutex>(&demand(1 << 20, usize::MAX >> 10), u32::MAX, true).is_err());
    assert!(certify::<RawMutex>(&[], 0, false).is_ok());
    for bytes in [0, 1, UNIT_BYTES, 3 * UNIT_BYTES] {
        assert!(Heap::<'_, Fixed>::new(&mut region(bytes), SETTINGS).is_err());
    }
    assert!(
        Heap::<'_, Fixed>::new(
            &mut region(1 << 16),
            Settings {
                threads: u32::MAX,
                ..SETTINGS
            }
        )
        .is_err()
    );
}

#[test]
fn the_region_that_a_refusal_asks_for_is_enough() {
    for threads in [0, 1, 7, 100] {
        let settings = Settings {
            threads,
            ..SETTINGS
        };
        let Err(surefit_core::Refused::Region { needed }) =
            Heap::<'_, Fixed>::new(&mut region(8), settings).map(drop)
        else {
            panic!("8 bytes are no region");
        };
        for skipped in [0, 1, 16, UNIT_BYTES - 1] {
            let mut memory = region(needed + skipped);
            assert!(Heap::<'_, Fixed>::new(&mut memory[skipped..], settings).is_ok());
        }
    }
}

#[test]
fn requests_of_any_size_and_alignment_are_served_or_refused() {
    let mut memory = region(4 << 20);
    let heap: SharedDirect<'_, RawMutex> = SharedDirect::new(&mut memory, SETTINGS).unwrap();
    let local = heap.join().unwrap();
    for align in (0..usize::BITS).map(|power| 1_usize << power) {
        for bytes in [
            0,
            1,
            16,
            17,
            4096,
            LARGEST_BLOCK,
            LARGEST_BLOCK + 1,
            1 << 19,
            usize::MAX - 8,
            usize::MAX,
        ] {
            if let Some(object) = local.allocate(bytes, align) {
                assert_eq!(object.addr().get() % align.max(GRANULE), 0);
                assert!(heap.usable_bytes(object.as_ptr()).unwrap() >= bytes.max(1));
                free(&local, object).unwrap();
            } else {
                assert!(bytes > 1 << 19 || align > 1 << 20);
            }
            assert!(
                local
                    .allocate_zeroed(bytes, align)
                    .map(|object| free(&local, object).unwrap())
                    .is_some()
                    || bytes > 1 << 19
                    || align > 1 << 20
            );
        }
    }
    local.trim();
    check(&heap);
    assert_eq!(heap.stats().allocated, 0);
    assert_eq!(heap.stats().active, 0);
}

#[test]
fn an_alignment_that_is_no_power_of_two_is_refused() {
    let mut memory = region(1 << 20);
    let heap: SharedDirect<'_, RawMutex> = SharedDirect::new(&mut memory, SETTINGS).unwrap();
    let local = heap.join().unwrap();
    for align in [0, 3, 6, 12, 15, 17, 24, 48, UNIT_BYTES + 1, usize::MAX] {
        for bytes in [0, 1, 100, 50_000, usize::MAX] {
            assert_eq!(local.allocate(bytes, align), None);
            assert_eq!(local.allocate_zeroed(bytes, align), None);
        }
        // A resize to what is no alignment leaves the object where it is, or refuses.
        for had in [100, 50_000] {
            let object = local.allocate(had, 16).unwrap();
            for (bytes, left) in [(0, Some(object)), (had, Some(object)), (90_000, None)] {
                // SAFETY: it is live.
                assert_eq!(unsafe { local.resize(object, bytes, align) }, Ok(left));
            }
            free(&local, object).unwrap();
        }
    }
    check(&heap);
}

#[test]
fn what_is_freed_of_an_idle_instance_goes_back() {
    let mut memory = region(4 << 20);
    let heap: SharedDirect<'_, RawMutex> = SharedDirect::new(&mut memory, SETTINGS).unwrap();
    let here = heap.join().unwrap();
    let there = heap.join().unwrap();
    let number = there.number();
    let objects: Vec<_> = (0..3000)
        .map(|_| there.allocate(200, 16).unwrap())
        .collect();
    drop(there);
    check(&heap);
    assert_eq!(heap.stats().idle_instances, 1);
    for object in objects {
        free(&here, object).unwrap();
    }
    here.trim();
    check(&heap);
    assert_eq!(heap.stats().active, 0);
    assert_eq!(heap.join().unwrap().number(), number);
}

#[test]
fn threads_one_after_another_need_no_more_than_one() {
    let mut memory = region(1 << 20);
    let heap: SharedDirect<'_, RawMutex> = SharedDirect::new(&mut memory, SETTINGS).unwrap();
    let main = heap.join().unwrap();
    let mut given = Vec::new();
    for turn in 0..2000 {
        let local = heap.join().unwrap();
        for object in given.drain(..) {
            free(&local, object).unwrap();
        }
        given.extend((0..20).map(|at| local.allocate(at * 40 + turn % 7, 16).unwrap()));
        free(&main, given.pop().unwrap()).unwrap();
        assert!(heap.stats().active < 512 << 10);
    }
    check(&heap);
}

#[test]
fn an_instance_is_a_word_of_its_thread() {
    let mut memory = region(1 << 20);
    let heap: SharedDirect<'_, RawMutex> = SharedDirect::new(&mut memory, SETTINGS).unwrap();
    let joined = heap.join().unwrap();
    let own = joined.into_raw();
    // SAFETY: from `into_raw`, and only used here.
    let local = unsafe { Local::from_raw(&heap, own) };
    let objects: Vec<_> = (0..50).map(|_| local.allocate(900, 16).unwrap()).collect();
    // SAFETY: as above; the objects are live.
    let put_back = |object: &&NonNull<u8>| unsafe { heap.units().put_back(own, object.as_ptr()) };
    // The free list has no room for the others, which are of full pages, or the last of their page.
    let freed = objects.iter().filter(put_back).count();
    assert!((10..50).contains(&freed), "{freed}");
    // SAFETY: as above; null is no object.
    assert!(!unsafe { heap.units().put_back(own, core::ptr::null_mut()) });
    let large = local.allocate(40_000, 16).unwrap();
    // SAFETY: as above; it is in no page.
    assert!(!unsafe { heap.units().put_back(own, large.as_ptr()) });
    // SAFETY: as above; there is no unit.
    assert!(!unsafe { Units::none().put_back(own, large.as_ptr()) });
    let none = Units::none().into_raw();
    // SAFETY: from `into_raw`.
    assert_eq!(unsafe { Units::from_raw(none) }.into_raw(), none);
    for bytes in [1025, 40_000, usize::MAX] {
        // SAFETY: as above.
        let from_list = unsafe { Local::<RawMutex>::allocate_from_list(own, bytes) };
        assert_eq!(from_list, None);
    }
    check(&heap);
}

#[test]
fn the_quickest_free_puts_what_is_anothers_into_a_batch() {
    let mut memory = region(1 << 20);
    let heap: SharedDirect<'_, RawMutex> = SharedDirect::new(&mut memory, SETTINGS).unwrap();
    let (owner, other) = (heap.join().unwrap(), heap.join().unwrap());
    let objects: Vec<_> = (0..100).map(|_| owner.allocate(100, 16).unwrap()).collect();
    let own = other.into_raw();
    // SAFETY: from `into_raw`, and only used here.
    let local = unsafe { Local::from_raw(&heap, own) };
    let mut slow = 0;
    for object in objects {
        // SAFETY: as above; the object is live.
        if !unsafe { heap.units().put_back(own, object.as_ptr()) } {
            slow += 1;
            free(&local, object).unwrap();
        }
        check(&heap);
    }
    // The first one of a batch, and the one that fills it.
    assert_eq!(slow, 100 / usize::from(BATCH) * 2 + 1);
    drop(ManuallyDrop::into_inner(local));
    drop(owner);
    check(&heap);
    assert_eq!(heap.stats().active, 0);
}

#[test]
fn the_quickest_free_takes_nothing_in_a_heap_that_checks_each_free() {
    let mut memory = region(1 << 20);
    let settings = Settings {
        checks: true,
        ..SETTINGS
    };
    let heap: SharedDirect<'_, RawMutex> = SharedDirect::new(&mut memory, settings).unwrap();
    let (owner, other) = (heap.join().unwrap(), heap.join().unwrap());
    let objects: Vec<_> = (0..100).map(|_| owner.allocate(100, 16).unwrap()).collect();
    for own in [owner.into_raw(), other.into_raw()] {
        // SAFETY: from `into_raw`, and only used here.
        let local = unsafe { Local::from_raw(&heap, own) };
        let freed = objects[usize::from(local.number())];
        free(&local, freed).unwrap();
        for object in &objects {
            // SAFETY: as above; the object is live, or was freed, and that is found elsewhere.
            assert!(!unsafe { heap.units().put_back(own, object.as_ptr()) });
        }
        assert!(matches!(
            free(&local, freed),
            Err(Misuse::Double(_) | Misuse::NoObject)
        ));
        check(&heap);
    }
}

#[test]
fn nobodys_instance_gives_and_takes_nothing() {
    static NOBODY: Nobody = Nobody::new();
    let nobody = NOBODY.into_raw();
    let mut memory = region(1 << 20);
    let heap: SharedDirect<'_, RawMutex> = SharedDirect::new(&mut memory, SETTINGS).unwrap();
    let local = heap.join().unwrap();
    // Of a page with others, of a page of several units, and in no page.
    let lengths = [1, 100, 100, 1024, 30_000, 40_000];
    let objects = lengths.map(|bytes| local.allocate(bytes, 16).unwrap());
    for units in [heap.units(), Units::none()] {
        for object in objects {
            // SAFETY: nobody's instance; the objects are live.
            assert!(!unsafe { units.put_back(nobody, object.as_ptr()) });
        }
        // SAFETY: as above; null is no object.
        assert!(!unsafe { units.put_back(nobody, core::ptr::null_mut()) });
    }
    for bytes in [0, 1, 100, 1024, 1025, usize::MAX] {
        // SAFETY: nobody's instance.
        let from_list = unsafe { Local::<RawMutex>::allocate_from_list(nobody, bytes) };
        assert_eq!(from_list, None);
    }
    check(&heap);
    for object in objects {
        free(&local, object).unwrap();
    }
    check(&heap);
}

#[test]
fn no_more_threads_join_than_there_are_places_and_groups_serve_the_others() {
    let mut memory = region(1 << 20);
    let heap: SharedDirect<'_, RawMutex> = SharedDirect::new(&mut memory, SETTINGS).unwrap();
    let mut locals: Vec<_> = (0..3).map(|_| heap.join().unwrap()).collect();
    assert_eq!(heap.join().err(), Some(surefit_core::Refused::NoLocal));
    let object = heap
        .grouped(GROUPS + 1, |local| local.allocate(50, 16))
        .unwrap();
    free(&locals[0], object).unwrap();
    let object = locals[1].allocate(50, 16).unwrap();
    heap.grouped(3, |local| free(local, object)).unwrap();
    locals.pop();
    assert!(heap.join().is_ok());
    check(&heap);
}

#[test]
fn a_call_of_a_group_that_unwinds_leaves_the_group_its_instance() {
    let mut memory = region(1 << 20);
    let heap: SharedDirect<'_, RawMutex> = SharedDirect::new(&mut memory, SETTINGS).unwrap();
    let unwinds = || heap.grouped(0, |_| -> () { panic!("as asked") });
    let result = std::panic::catch_unwind(core::panic::AssertUnwindSafe(unwinds));
    assert!(result.is_err());
    assert_eq!(heap.stats().idle_instances, 0);
    let number = heap.grouped(0, |local| local.number());
    assert_ne!(heap.join().unwrap().number(), number);
    check(&heap);
}

#[test]
fn a_fixed_heap_never_takes_its_free_memory_away() {
    let mut memory = region(4 << 20);
    let settings = Settings {
        delay: 0,
        ..SETTINGS
    };
    let heap: SharedDirect<'_, RawMutex> = SharedDirect::new(&mut memory, settings).unwrap();
    let local = heap.join().unwrap();
    let object = local.allocate(2 << 20, 16).unwrap();
    free(&local, object).unwrap();
    let stats = heap.stats();
    assert_eq!((stats.purges, stats.dirty), (0, 2 << 20));
    check(&heap);
}

#[test]
fn a_leak_is_refused_at_the_limit_and_what_is_freed_serves_again() {
    let source = Counted::new(64 << 20);
    let heap = source.heap(Settings {
        delay: 10,
        ..SETTINGS
    });
    let local = heap.join().unwrap();
    let limit = 5 << 20;
    heap.set_limit(limit);
    let mut leaked = Vec::new();
    while let Some(object) = local.allocate(1000, 16) {
        leaked.push(object);
    }
    assert!(leaked.len() * 1024 > limit - 64 * UNIT_BYTES && leaked.len() * 1000 <= limit);
    assert!(local.allocate(100_000, 16).is_none());
    for object in leaked.drain(1..) {
        free(&local, object).unwrap();
    }
    // Free memory that was written counts, and goes back when that helps.
    assert!(local.allocate(4 << 20, 16).is_some());
    assert!(source.held() <= limit);
    heap.set_limit(0);
    assert!(local.allocate(100_000, 16).is_none());
    check(&heap);
}

#[test]
fn free_memory_goes_back_after_the_delay() {
    let source = Counted::new(64 << 20);
    let heap = source.heap(Settings {
        delay: 100,
        ..SETTINGS
    });
    let local = heap.join().unwrap();
    let objects: Vec<_> = (0..9)
        .map(|_| local.allocate(100_000, 16).unwrap())
        .collect();
    for object in objects.into_iter().step_by(2).take(4) {
        free(&local, object).unwrap();
    }
    assert_eq!(heap.stats().clean, 0);
    source.pass(99);
    let object = local.allocate(1 << 20, 16).unwrap();
    assert_eq!(heap.stats().clean, 0);
    source.pass(30);
    free(&local, object).unwrap();
    assert!(heap.stats().clean >= 400_000);
    let object = local.allocate(300_000, 16).unwrap();
    free(&local, object).unwrap();
    assert!(heap.purge() >= 300_000);
    for delay in [0, 1, u32::MAX] {
        heap.set_delay(delay);
        let object = local.allocate(50_000, 16).unwrap();
        free(&local, object).unwrap();
    }
    heap.purge();
    assert_eq!(heap.stats().dirty, 0);
    assert_eq!(Fixed.now(), 0);
    check(&heap);
}

#[test]
fn free_memory_goes_back_when_more_is_held_than_was_ever_needed() {
    let source = Counted::new(64 << 20);
    let heap = source.heap(Settings {
        delay: 1000,
        ..SETTINGS
    });
    let local = heap.join().unwrap();
    let objects: Vec<_> = (0..400)
        .map(|_| local.allocate(40_000, 16).unwrap())
        .collect();
    for object in objects.into_iter().step_by(2) {
        free(&local, object).unwrap();
    }
    let stats = heap.stats();
    assert_eq!((stats.purges, stats.clean), (0, 0));
    assert!(stats.dirty >= 200 * 40_000);
    // None of these fits where one was freed.
    let most = stats.peak_active;
    for _ in 0..100 {
        local.allocate(60_000, 16).unwrap();
        let stats = heap.stats();
        let allowed = most.max(stats.peak_active) * 17 / 16;
        assert!(stats.active + stats.dirty <= allowed.max(most + (512 << 10)));
    }
    assert!(heap.stats().clean > 0);
    check(&heap);
    // What comes and goes again and again is kept.
    let churn = || free(&local, local.allocate(4 << 20, 16).unwrap()).unwrap();
    (0..20).for_each(|_| churn());
    let purges = heap.stats().purges;
    (0..100).for_each(|_| churn());
    assert_eq!(heap.stats().purges, purges);
    check(&heap);
}

#[test]
fn large_objects_grow_and_shrink_in_place_where_they_can() {
    let mut memory = region(8 << 20);
    let heap: SharedDirect<'_, RawMutex> = SharedDirect::new(&mut memory, SETTINGS).unwrap();
    let local = heap.join().unwrap();
    let object = local.allocate(100_000, 16).unwrap();
    // SAFETY: live; the same address is still the object.
    let resize = |object, bytes| unsafe { local.resize(object, bytes, 16) }.unwrap().unwrap();
    assert_eq!(resize(object, 900_000), object);
    assert_eq!(resize(object, 50_000), object);
    let behind = local.allocate(60_000, 16).unwrap();
    assert_eq!(behind.addr().get() - object.addr().get(), 7 * UNIT_BYTES);
    let moved = resize(object, 100_000);
    assert_ne!(moved, object);
    let small = resize(moved, 100);
    assert_eq!(heap.usable_bytes(small.as_ptr()), Some(112));
    assert_eq!(resize(small, 90), small);
    check(&heap);
}

#[test]
fn misuse_is_found_by_a_heap_that_checks() {
    let mut memory = region(1 << 20);
    let heap: SharedDirect<'_, RawMutex> = SharedDirect::new(
        &mut memory,
        Settings {
            checks: true,
            ..SETTINGS
        },
    )
    .unwrap();
    let (local, other) = (heap.join().unwrap(), heap.join().unwrap());
    let object = local.allocate(100, 16).unwrap();
    let kept = local.allocate(100, 16).unwrap();
    // SAFETY: inside the object.
    let inside = unsafe { object.add(16) };
    assert_eq!(free(&local, inside), Err(Misuse::NoObject));
    assert_eq!(free(&other, inside), Err(Misuse::NoObject));
    assert_eq!(free(&local, object), Ok(()));
    assert_eq!(free(&local, object), Err(Misuse::Double(112)));
    let outside = NonNull::from(&mut [0_u64; 4]).cast();
    assert_eq!(free(&local, outside), Err(Misuse::Foreign));
    for (address, found) in [(outside, Misuse::Foreign), (inside, Misuse::NoObject)] {
        // SAFETY: misuse that is found.
        let resized = unsafe { local.resize(address, 10, 16) };
        assert_eq!(resized, Err(found));
    }
    let large = local.allocate(100_000, 16).unwrap();
    // SAFETY: inside the object.
    let inside = unsafe { large.add(UNIT_BYTES) };
    assert_eq!(free(&local, inside), Err(Misuse::NoObject));
    assert_eq!(free(&other, large), Ok(()));
    assert_eq!(free(&other, large), Err(Misuse::NoObject));
    free(&local, kept).unwrap();
    check(&heap);
}

#[test]
fn hints_name_objects_in_pages_that_are_worth_emptying() {
    let mut memory = region(4 << 20);
    let heap: SharedDirect<'_, RawMutex> = SharedDirect::new(&mut memory, SETTINGS).unwrap();
    let local = heap.join().unwrap();
    let objects: Vec<_> = (0..16 * 40)
        .map(|_| local.allocate(512, 16).unwrap())
        .collect();
    let (mut live, freed): (Vec<_>, Vec<_>) = objects
        .into_iter()
        .enumerate()
        .partition(|(place, _)| place % 5 == 0);
    for (_, object) in freed {
        free(&local, object).unwrap();
    }
    let class = |heap: &SharedDirect<'_, RawMutex>| {
        heap.stats()
            .classes
            .iter()
            .find(|class| class.block_bytes == 512)
            .copied()
            .unwrap()
    };
    let before = class(&heap);
    for (_, object) in &mut live {
        if local.defrag_hint(*object, 4) {
            let new = local.allocate(512, 16).unwrap();
            free(&local, *object).unwrap();
            *object = new;
        }
    }
    let after = class(&heap);
    assert!(
        before.not_full_pages > 30 && after.not_full_pages <= 4 + 1,
        "{before:?} {after:?}"
    );
    assert!(!local.defrag_hint(NonNull::dangling(), 0));
    check(&heap);
}

#[test]
fn in_a_forked_child_instances_of_other_threads_are_lost() {
    let mut memory = region(2 << 20);
    let heap: SharedDirect<'_, RawMutex> = SharedDirect::new(&mut memory, SETTINGS).unwrap();
    let (own, other) = (heap.join().unwrap(), heap.join().unwrap());
    let theirs = other.allocate(100, 16).unwrap();
    heap.before_fork();
    // SAFETY: right after the call above.
    unsafe { heap.after_fork(true, Some(&own)) };
    assert_eq!(heap.stats().instances, 1);
    core::mem::forget(other);
    free(&own, theirs).unwrap();
    assert!(own.allocate(100, 16).is_some());
    assert!(heap.join().is_ok());
    own.trim();
    check(&heap);
}

#[test]
fn an_aligned_object_is_taken_where_runs_were_before_the_top_fell() {
    let source = Counted::new(16 << 20);
    let heap = source.heap(SETTINGS);
    let local = heap.join().unwrap();
    for units in 1..40 {
        let large =
            [units, 3].map(|units| local.allocate(40_000 + units * UNIT_BYTES, 16).unwrap());
        for object in large {
            free(&local, object).unwrap();
        }
        heap.purge();
        let aligned = local.allocate(UNIT_BYTES, 16 * UNIT_BYTES).unwrap();
        check(&heap);
        free(&local, aligned).unwrap();
        heap.purge();
    }
    check(&heap);
}

#[test]
fn the_source_is_told_once_when_the_heap_rises_above_the_soft_limit() {
    let source = Counted::new(16 << 20);
    let heap = source.heap(SETTINGS);
    let local = heap.join().unwrap();
    heap.set_soft_limit(1 << 20);
    let below = local.allocate(1 << 19, 16).unwrap();
    assert_eq!(source.told(), 0);
    let above = local.allocate(1 << 20, 16).unwrap();
    assert_eq!(source.told(), 1);
    // Small objects, of which a page is above, tell nothing more.
    assert!(local.allocate(100, 16).is_some());
    free(&local, above).unwrap();
    assert_eq!(source.told(), 1);
    heap.grouped(0, |group| {
        assert!(group.allocate(1 << 20, 16).is_some());
        assert_eq!(source.told(), 1, "not under the group's lock");
    });
    assert_eq!(source.told(), 2);
    for bytes in [0, 1, UNIT_BYTES, usize::MAX - 1, usize::MAX] {
        heap.set_soft_limit(bytes);
        let more = local.allocate(1 << 19, 16).unwrap();
        free(&local, more).unwrap();
    }
    assert_eq!(source.told(), 5, "once for each of the small ones");
    free(&local, below).unwrap();
}
