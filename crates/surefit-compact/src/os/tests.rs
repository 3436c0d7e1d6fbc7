//! Limits, delays, budgets and failures of a heap over the operating system's memory.

extern crate alloc;
extern crate std;

use alloc::vec::Vec;

use core::alloc::Layout;
use core::time::Duration;
use std::io;

use surefit_classes::{Bound, Geometry, GeometrySpec};
use surefit_core::Refused;
use surefit_os::{OsError, Reservation};

use super::heap::System;
use super::{Limits, OsHeap, OsHeapError};
use crate::config::Config;
use crate::handle::Handle;

mod flips;
mod floor;
mod table;

static CONFIG: Config = Config::DEFAULT;
const PAGE: usize = 16 << 10;
const MIB: usize = 1 << 20;

fn at(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn system() -> System {
    System {
        page_bytes: surefit_os::page_bytes(),
        reserve: Reservation::new,
        give_back: Reservation::give_back,
        lock: Reservation::lock_range,
    }
}

fn small_pages(page_bytes: usize) -> Config {
    let spec = GeometrySpec {
        page_bytes,
        ..GeometrySpec::DEFAULT
    };
    Config::new(Geometry::new(&spec).expect("valid"), Bound::DEFAULT).expect("valid")
}

type Kilobytes = Vec<Handle<[u8; 1000]>>;

fn fill(heap: &OsHeap<'_>, count: usize) -> Kilobytes {
    let value = |number: usize| [number.to_le_bytes()[0]; 1000];
    let fill = |number| heap.insert(value(number)).expect("below the limit");
    (0..count).map(fill).collect()
}

fn free_all(heap: &mut OsHeap<'_>, handles: Kilobytes) {
    handles.into_iter().for_each(|handle| heap.free(handle));
}

#[track_caller]
fn sound(heap: &OsHeap<'_>) {
    heap.check().expect("sound");
    let measured = heap.measure_resident().expect("Linux says");
    let counted = heap.stats().resident_bytes;
    assert!(
        measured <= counted,
        "{measured} are resident, {counted} counted"
    );
}

#[test]
fn a_new_heap_holds_next_to_nothing_whatever_its_limit() {
    // Far more than is touched: 8 GiB, or a quarter of the addresses of 32 bits.
    let limit = usize::try_from(8_u64 << 30).unwrap_or(1 << 30);
    let heap: OsHeap = OsHeap::new(&CONFIG, Limits::new(limit, limit)).expect("reserved");
    assert!(
        heap.stats().resident_bytes <= 32 << 10,
        "{:?}",
        heap.stats()
    );
    sound(&heap);
    let _kept = fill(&heap, 1000);
    assert!(heap.stats().resident_bytes < 12 * MIB / 10);
    sound(&heap);
}

/// The heap's own numbers lie behind the records of its pages, wherever these end.
#[test]
fn what_is_counted_is_no_less_than_what_is_resident_whatever_the_limit() {
    for page_bytes in [1 << 10, PAGE] {
        let config = small_pages(page_bytes);
        for pages in 40..500 {
            let limit = pages * page_bytes;
            let heap: OsHeap = OsHeap::new(&config, Limits::new(limit, limit)).expect("reserved");
            let _object = heap.insert(1_u8).expect("one object fits");
            sound(&heap);
        }
    }
}

#[test]
fn what_is_counted_is_what_the_system_counts() {
    let mut heap: OsHeap = OsHeap::new(&CONFIG, Limits::new(64 * MIB, 64 * MIB)).expect("reserved");
    let mut kept = fill(&heap, 20_000);
    let gap = |heap: &OsHeap<'_>| {
        sound(heap);
        heap.stats().resident_bytes - heap.measure_resident().expect("Linux says")
    };
    // The end of the last page, of the address table and of the records.
    assert!(gap(&heap) <= 3 * PAGE);
    free_all(&mut heap, kept.split_off(5000));
    heap.give_all_back().expect("given back");
    assert_eq!(heap.stats().empty_bytes, 0);
    assert!(gap(&heap) <= 3 * PAGE);
    assert!(heap.stats().resident_bytes < 6 * MIB, "{:?}", heap.stats());
    kept.append(&mut fill(&heap, 15_000));
    assert!(gap(&heap) <= 3 * PAGE);
    for (number, handle) in kept.iter().enumerate().take(5000) {
        assert_eq!(heap.get(handle), &[number.to_le_bytes()[0]; 1000]);
    }
}

#[test]
fn empty_pages_are_kept_for_the_delay_and_given_back_after_it() {
    let limits = Limits {
        delay: at(100),
        calls_per_tick: 1000,
        ..Limits::new(64 * MIB, 64 * MIB)
    };
    let mut heap: OsHeap = OsHeap::new(&CONFIG, limits).expect("reserved");
    let handles = fill(&heap, 10_000);
    heap.tick(at(100)).expect("nothing to do");
    free_all(&mut heap, handles);
    let empty = heap.stats().empty_bytes;
    assert!(empty > 9 * MIB);
    for now in [110, 150, 199] {
        assert_eq!(heap.tick(at(now)).expect("waits").calls, 0);
    }
    // The count begins with the first tick after the pages became empty.
    assert_eq!(heap.tick(at(200)).expect("counts").bytes, 0);
    assert_eq!(heap.tick(at(299)).expect("waits").bytes, 0);
    assert_eq!(heap.tick(at(300)).expect("gives").bytes, empty);
    assert_eq!(heap.stats().empty_bytes, 0);
    sound(&heap);
    // A clock that runs backwards gives nothing back.
    assert_eq!(heap.tick(at(0)).expect("waits").calls, 0);
}

#[test]
fn pages_that_are_needed_again_within_the_delay_are_not_given_back() {
    let limits = Limits {
        delay: at(100),
        ..Limits::new(64 * MIB, 64 * MIB)
    };
    let mut heap: OsHeap = OsHeap::new(&CONFIG, limits).expect("reserved");
    for round in 0..20 {
        let handles = fill(&heap, 10_000);
        heap.tick(at(50 * round)).expect("waits");
        free_all(&mut heap, handles);
        heap.tick(at(50 * round + 25)).expect("waits");
    }
    assert_eq!(heap.stats().calls, 0);
}

#[test]
fn a_tick_makes_no_more_system_calls_than_its_budget_and_joins_neighbours() {
    let limits = Limits {
        delay: at(1),
        calls_per_tick: 3,
        ..Limits::new(64 * MIB, 64 * MIB)
    };
    let mut heap: OsHeap = OsHeap::new(&CONFIG, limits).expect("reserved");
    let handles = fill(&heap, 30_000);
    free_all(&mut heap, handles);
    heap.tick(at(1)).expect("counts");
    let given = heap.tick(at(2)).expect("gives");
    // Neighbours go together, 4 MiB per call.
    assert_eq!((given.calls, given.bytes), (3, 12 * MIB));
    sound(&heap);
    let (mut now, mut calls) = (2, 3);
    while heap.stats().empty_bytes > 0 {
        now += 1;
        let given = heap.tick(at(now)).expect("gives");
        assert!(given.calls <= 3);
        calls += given.calls;
        sound(&heap);
    }
    assert!(calls <= 10, "{calls} calls for 31 MB");
    assert_eq!(heap.stats().calls, u64::from(calls));
}

#[test]
fn the_hard_limit_is_never_exceeded_and_its_refusal_is_typed() {
    for hard in [200_000, MIB, 5 * MIB + 12_345] {
        let mut heap: OsHeap = OsHeap::new(&CONFIG, Limits::new(hard, hard)).expect("reserved");
        let mut handles = Vec::new();
        let refused = loop {
            match heap.insert([0_u64; 13]) {
                Ok(handle) => handles.push(handle),
                Err(full) => break full.refused,
            }
            assert!(heap.stats().resident_bytes <= hard);
        };
        assert_eq!(refused, Refused::Limit { limit: hard });
        sound(&heap);
        let used = handles.len() * 104;
        assert!(
            used + 4 * PAGE + used / 8 > hard,
            "{used} of {hard} are of use"
        );
        // What was refused is served once there is room.
        let freed = handles.split_off(handles.len() / 2);
        freed.into_iter().for_each(|handle| heap.free(handle));
        let _large = heap.alloc(Layout::new::<[u8; 20_000]>()).expect("room");
        sound(&heap);
    }
}

/// Empty pages of the heap cannot serve its address table: they are given back to make room.
#[test]
fn an_object_in_pieces_that_the_limit_refuses_leaves_no_piece() {
    for hard in (1..40).map(|step| MIB / 2 + step * 10_000) {
        // The address space is ample, the limit is not.
        let limits = Limits::new(64 * MIB, 64 * MIB);
        let mut heap: OsHeap = OsHeap::new(&CONFIG, limits).expect("reserved");
        heap.set_limits(hard, hard).expect("lower");
        let alloc = || heap.alloc(Layout::new::<[u8; 100_000]>());
        let (mut live, mut objects) = (0, Vec::new());
        let refused = loop {
            match alloc() {
                Ok(object) => objects.push(object),
                Err(refused) => break refused,
            }
            live = heap.heap().stats().live_blocks;
        };
        assert_eq!(refused, Refused::Limit { limit: hard });
        assert_eq!(heap.heap().stats().live_blocks, live);
        sound(&heap);
    }
}

#[test]
fn at_the_hard_limit_empty_pages_make_room_for_the_address_table() {
    let hard = 3 * MIB;
    let mut heap: OsHeap = OsHeap::new(&CONFIG, Limits::new(hard, hard)).expect("reserved");
    let mut handles = Vec::new();
    while let Ok(handle) = heap.insert([0_u8; 1000]) {
        handles.push(handle);
    }
    handles.into_iter().for_each(|handle| heap.free(handle));
    let mut small = Vec::new();
    // Each takes a page-block of 16 bytes, its back-reference and its entry.
    while let Ok(handle) = heap.insert(0_u64) {
        small.push(handle);
    }
    assert!(
        heap.stats().calls > 0,
        "the table needed the memory of empty pages"
    );
    assert!(
        small.len() * 24 > hard - 8 * PAGE,
        "{} objects",
        small.len()
    );
    sound(&heap);
}

#[test]
fn what_would_fit_below_the_limit_is_served_after_moves() {
    let config = Config::new(Geometry::DEFAULT, Bound::Unbounded).expect("valid");
    let mut heap: OsHeap = OsHeap::new(&config, Limits::new(64 * MIB, 64 * MIB)).expect("reserved");
    heap.set_limits(3 * MIB, 3 * MIB).expect("lower");
    let mut kept = Vec::new();
    for (number, handle) in fill(&heap, 2000).into_iter().enumerate() {
        match number % 3 {
            0 => kept.push(handle),
            _ => heap.free(handle),
        }
    }
    let lens = [100, 4000, 40_000, 400_000, 4 * MIB, 40 * MIB];
    let lens = lens.into_iter().chain((1..30).map(|n| n * 100_000));
    let would_fit: Vec<_> = lens
        .map(|len| (len, heap.heap().would_fit(&[len])))
        .collect();
    assert!(would_fit.iter().any(|(_, fits)| *fits));
    heap.compact(u64::MAX);
    for (len, fits) in would_fit {
        let layout = Layout::from_size_align(len, 8).expect("a layout");
        let served = heap.alloc(layout).map(|bytes| heap.free_bytes(bytes));
        assert_eq!(served.is_ok(), fits, "{len} bytes: {served:?}");
    }
    free_all(&mut heap, kept);
    sound(&heap);
}

#[test]
fn above_the_soft_limit_objects_are_moved_and_empty_pages_given_back_at_once() {
    let limits = Limits {
        delay: at(1_000_000),
        ..Limits::new(2 * MIB, 64 * MIB)
    };
    let config = Config::new(Geometry::DEFAULT, Bound::Unbounded).expect("valid");
    let mut heap: OsHeap = OsHeap::new(&config, limits).expect("reserved");
    let mut kept = Vec::new();
    for (number, handle) in fill(&heap, 8000).into_iter().enumerate() {
        match number % 8 {
            0 => kept.push((number, handle)),
            _ => heap.free(handle),
        }
    }
    assert!(heap.stats().resident_bytes > 7 * MIB);
    let mut moves = 0;
    for tick in 0..100 {
        let done = heap.tick(at(tick)).expect("gives");
        assert!(done.moves <= limits.moves_per_tick && done.calls <= limits.calls_per_tick);
        moves += done.moves;
    }
    assert!(
        moves > 0 && heap.stats().resident_bytes <= limits.soft,
        "{:?}",
        heap.stats()
    );
    sound(&heap);
    for (number, handle) in &kept {
        assert_eq!(heap.get(handle), &[number.to_le_bytes()[0]; 1000]);
    }
}

#[test]
fn limits_that_are_impossible_are_typed_errors() {
    let new = |soft, hard| OsHeap::<crate::Wide>::new(&CONFIG, Limits::new(soft, hard));
    assert!(matches!(new(2 * MIB, MIB), Err(OsHeapError::Order)));
    let Err(OsHeapError::TooLow { needed }) = new(0, 0) else {
        panic!("nothing can be served with nothing")
    };
    assert!(matches!(
        new(0, needed - 1),
        Err(OsHeapError::TooLow { .. })
    ));
    let heap = new(0, needed).expect("just enough");
    let _object = heap.insert(1_u8).expect("one object fits");
    assert!(matches!(
        new(0, usize::MAX),
        Err(OsHeapError::Refused(Refused::TooLarge { .. }))
    ));
}

#[cfg(target_pointer_width = "64")]
#[test]
fn a_limit_beyond_what_words_name_is_a_typed_error() {
    let new = |hard| OsHeap::<crate::Wide>::new(&CONFIG, Limits::new(0, hard));
    for hard in [(32 << 30) + 1, usize::MAX] {
        let is = new(hard).expect_err("too large");
        let says = alloc::format!("{is}");
        assert!(
            says.starts_with("the hard limit is above 34359738368 bytes, the most"),
            "{says}"
        );
    }
    assert!(new(32 << 30).is_ok(), "the most that words name");
}

#[test]
fn limits_change_within_what_was_reserved() {
    let mut heap: OsHeap = OsHeap::new(&CONFIG, Limits::new(8 * MIB, 8 * MIB)).expect("reserved");
    let handles = fill(&heap, 5000);
    assert!(
        matches!(heap.set_limits(0, 8 * MIB + 1), Err(OsHeapError::TooHigh { limit }) if limit == 8 * MIB)
    );
    assert!(matches!(heap.set_limits(3, 2), Err(OsHeapError::Order)));
    assert!(matches!(
        heap.set_limits(0, 2),
        Err(OsHeapError::TooLow { .. })
    ));
    assert_eq!(heap.limits(), Limits::new(8 * MIB, 8 * MIB));
    heap.set_limits(MIB, 2 * MIB)
        .expect("lower than what is resident");
    sound(&heap);
    let full = heap.insert([0_u8; 16_000]).expect_err("above the limit");
    assert_eq!(full.refused, Refused::Limit { limit: 2 * MIB });
    free_all(&mut heap, handles);
    heap.tick(at(0))
        .expect("gives back at once: above the soft limit");
    assert!(heap.stats().resident_bytes < 2 * MIB);
    assert!(heap.insert([0_u8; 16_000]).is_ok());
    sound(&heap);
}

#[test]
fn every_function_of_the_heap_is_there() {
    let mut heap: OsHeap = OsHeap::new(&CONFIG, Limits::new(MIB, MIB)).expect("reserved");
    let mut number = heap.insert(7_u64).expect("room");
    *heap.get_mut(&mut number) += 1;
    assert_eq!((*heap.get(&number), heap.remove(number)), (8, 8));
    let layout = |bytes| Layout::array::<u8>(bytes).expect("valid");
    let mut text = heap.alloc_zeroed(layout(20_000)).expect("room");
    heap.write_at(&mut text, 9_000, b"pieces");
    heap.resize(&mut text, layout(30_000)).expect("room");
    let mut read = [0; 6];
    heap.read_at(&text, 9_000, &mut read);
    assert_eq!((&read, heap.compact(10)), (b"pieces", 0));
    assert!(matches!(
        heap.resize(&mut text, layout(2 * MIB)),
        Err(Refused::Limit { .. })
    ));
    assert!(matches!(
        heap.alloc(layout(2 * MIB)),
        Err(Refused::Limit { .. })
    ));
    heap.free_bytes(text);
    let raw = heap.alloc(layout(1)).expect("room");
    heap.free_bytes(raw);
    let copy = heap.insert_bytes(b"pieces").expect("room");
    assert_eq!(heap.heap().chunk(&copy, 0), b"pieces");
    heap.free_bytes(copy);
    assert!(matches!(
        heap.insert_bytes(&[7; 2 * MIB]),
        Err(Refused::Limit { .. })
    ));
    sound(&heap);
    let mut other: OsHeap = OsHeap::new(&CONFIG, Limits::new(MIB, MIB)).expect("reserved");
    let foreign = other.insert(1_u8).expect("room");
    assert_eq!(heap.heap().try_get(&foreign), Err(Refused::ForeignHandle));
    other.free(foreign);
}

/// Heaps over the system's memory may go from thread to thread with their objects.
#[test]
fn a_heap_may_be_sent() {
    let heap: OsHeap = OsHeap::new(&CONFIG, Limits::new(MIB, MIB)).expect("reserved");
    let object = heap.insert(7_u64).expect("room");
    let sum = std::thread::spawn(move || *heap.get(&object) + 1);
    assert_eq!(sum.join().expect("no panic"), 8);
}

// ---- pages of the system of other sizes ---------------------------------------------------------

/// Whatever the sizes of the heap's pages and the system's: only whole pages of the system are
/// given back, what lives keeps its bytes, and `check` holds.
#[test]
fn pages_of_the_system_may_be_smaller_or_larger_than_those_of_the_heap() {
    for (page, unit) in [
        (1024, 4096),
        (4096, 4096),
        (8192, 4096),
        (4096, 16_384),
        (16_384, 65_536),
    ] {
        let config = small_pages(page);
        let system = System {
            page_bytes: unit,
            ..system()
        };
        let limits = Limits {
            delay: at(0),
            ..Limits::new(8 * MIB, 8 * MIB)
        };
        let mut heap: OsHeap = OsHeap::on(system, &config, limits, None).expect("reserved");
        let mut random = 1_u64;
        let mut live: Vec<(u64, Handle<[u64; 25]>)> = Vec::new();
        for step in 0..20_000_u64 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(step | 1);
            let place = (random >> 33) as usize % live.len().max(1);
            let grows = step / 4000 % 2 == 0;
            if live.is_empty() || grows == ((random >> 20) % 8 != 0) {
                live.push((step, heap.insert([step; 25]).expect("below the limit")));
            } else {
                let (number, handle) = live.swap_remove(place);
                assert_eq!(heap.remove(handle), [number; 25]);
            }
            if step % 50 == 0 {
                heap.tick(at(step)).expect("gives");
            }
            if step % 1000 == 0 {
                heap.check().expect("sound");
                assert!(
                    heap.measure_resident().expect("Linux says") <= heap.stats().resident_bytes
                );
            }
        }
        assert!(
            heap.stats().given_back_bytes >= MIB as u64,
            "{page}, {unit}: {:?}",
            heap.stats()
        );
        for (number, handle) in live {
            assert_eq!(heap.remove(handle), [number; 25]);
        }
        heap.give_all_back().expect("gives");
        heap.check().expect("sound");
        let rest = heap.stats();
        assert!(
            rest.empty_bytes < unit.max(page) && rest.resident_bytes < 512 << 10,
            "{page}, {unit}: {rest:?}"
        );
    }
}

// ---- failures -----------------------------------------------------------------------------------

fn failure() -> io::Error {
    io::Error::from_raw_os_error(12)
}

unsafe fn give_back_fails(_: &Reservation, range: core::ops::Range<usize>) -> Result<(), OsError> {
    Err(OsError::GiveBack {
        bytes: range.len(),
        source: failure(),
    })
}

/// Fails for ranges that begin at an odd multiple of 64 KiB.
unsafe fn give_back_fails_sometimes(
    region: &Reservation,
    range: core::ops::Range<usize>,
) -> Result<(), OsError> {
    if range.start >> 16 & 1 == 1 {
        return Err(OsError::GiveBack {
            bytes: range.len(),
            source: failure(),
        });
    }
    // SAFETY: the caller's promise.
    unsafe { region.give_back(range) }
}

#[test]
fn a_system_that_reserves_nothing_is_a_typed_error() {
    let refuses = |bytes| {
        Err(OsError::Reserve {
            bytes,
            source: failure(),
        })
    };
    let system = System {
        reserve: refuses,
        ..system()
    };
    let made = OsHeap::<crate::Wide>::on(system, &CONFIG, Limits::new(MIB, MIB), None);
    assert!(matches!(
        made,
        Err(OsHeapError::Os(OsError::Reserve { .. }))
    ));
}

#[test]
fn a_system_that_takes_nothing_back_leaves_the_heap_as_it_was() {
    let system = System {
        give_back: give_back_fails,
        ..system()
    };
    let limits = Limits {
        delay: at(0),
        ..Limits::new(0, 8 * MIB)
    };
    let mut heap: OsHeap = OsHeap::on(system, &CONFIG, limits, None).expect("reserved");
    let mut handles = fill(&heap, 5000);
    free_all(&mut heap, handles.split_off(100));
    let before = heap.stats();
    for now in 1..10 {
        let refused = heap.tick(at(now));
        assert!(matches!(refused, Err(OsError::GiveBack { .. })));
        assert_eq!(heap.stats().failures, now);
        sound(&heap);
    }
    assert!(heap.give_all_back().is_err());
    let after = heap.stats();
    assert_eq!(
        (after.resident_bytes, after.given_back_bytes),
        (before.resident_bytes, 0)
    );
    // The memory that was not taken back still serves.
    handles.append(&mut fill(&heap, 4900));
    assert_eq!(heap.stats().resident_bytes, before.resident_bytes);
    // At the limit, the failure does not hide why the allocation was refused.
    let full = loop {
        match heap.insert([0_u8; 1000]) {
            Ok(handle) => handles.push(handle),
            Err(full) => break full,
        }
    };
    assert_eq!(full.refused, Refused::Limit { limit: 8 * MIB });
}

#[test]
fn a_system_that_fails_now_and_then_gets_the_memory_later() {
    let system = System {
        give_back: give_back_fails_sometimes,
        ..system()
    };
    let limits = Limits {
        delay: at(0),
        ..Limits::new(8 * MIB, 8 * MIB)
    };
    let mut heap: OsHeap = OsHeap::on(system, &CONFIG, limits, None).expect("reserved");
    let mut kept = Vec::new();
    for (number, handle) in fill(&heap, 6000).into_iter().enumerate() {
        match number / 64 % 2 {
            0 => kept.push((number, handle)),
            _ => heap.free(handle),
        }
    }
    for now in 1..50 {
        let _ = heap.tick(at(now));
        sound(&heap);
    }
    for (number, handle) in &kept {
        assert_eq!(heap.get(handle), &[number.to_le_bytes()[0]; 1000]);
    }
    let stats = heap.stats();
    assert_eq!(stats.calls - stats.failures > 0, stats.given_back_bytes > 0);
}

#[test]
fn a_page_of_parked_pairs_serves_another_class_at_the_limit() {
    let mut heap: OsHeap = OsHeap::new(&CONFIG, Limits::new(2 * MIB, 2 * MIB)).expect("reserved");
    let mut kept = Vec::new();
    while let Ok(handle) = heap.insert([7_u8; 1000]) {
        kept.push(handle);
    }
    assert!(heap.insert([0_u8; 3000]).is_err(), "the limit is reached");
    // All of the last pages, within the bound's room for holes.
    for _ in 0..40 {
        heap.free(kept.pop().expect("many"));
    }
    let other = heap.insert([1_u8; 3000]).expect("a page is empty");
    assert_eq!(heap.get(&other)[0], 1);
    sound(&heap);
}
