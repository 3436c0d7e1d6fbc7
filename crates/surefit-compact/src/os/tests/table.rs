//! The address table of a heap over the operating system's memory: its end is given back once it
//! shrinks, whatever the system's pages and its failures.

extern crate alloc;

use alloc::vec::Vec;
use core::alloc::Layout;
use core::mem::MaybeUninit;
use core::ops::Range;
use core::sync::atomic::{AtomicU32, Ordering};

use surefit_core::Refused;
use surefit_os::{OsError, Reservation};

use super::{CONFIG, MIB, at, failure, small_pages, sound, system};
use crate::handle::Bytes;
use crate::os::heap::System;
use crate::os::{Limits, OsHeap};

type Objects = Vec<Bytes<MaybeUninit<u8>>>;

fn layout(len: usize) -> Layout {
    Layout::array::<u8>(len).expect("valid")
}

/// One of `every` so many objects lives, the last one too; so the table keeps its maximum.
fn scattered(heap: &mut OsHeap<'_>, count: usize, every: usize) -> Objects {
    let objects: Objects = (0..count)
        .map(|_| heap.alloc(layout(40)).expect("below the limit"))
        .collect();
    let mut kept = Vec::new();
    for (number, object) in objects.into_iter().enumerate() {
        match number % every == every - 1 {
            true => kept.push(object),
            false => heap.free_bytes(object),
        }
    }
    kept
}

#[test]
fn the_end_of_the_table_is_given_back_once_what_lives_is_renumbered() {
    for (page, unit) in [
        (16_384, 4096),
        (4096, 4096),
        (4096, 16_384),
        (16_384, 65_536),
    ] {
        let config = small_pages(page);
        let system = System {
            page_bytes: unit,
            ..system()
        };
        let limits = Limits::new(16 * MIB, 16 * MIB);
        let mut heap: OsHeap = OsHeap::on(system, &config, limits, None).expect("reserved");
        let mut kept = scattered(&mut heap, 100_000, 50);
        heap.give_all_back().expect("gives");
        let before = heap.stats().resident_bytes;
        // 100,000 entries of four bytes; 2000 of them live.
        let dropped = heap.renumber(&mut kept);
        assert!((98_000..98_032).contains(&dropped), "{dropped}");
        sound(&heap);
        assert_eq!(heap.stats().resident_bytes, before, "not given back yet");
        let given = heap.tick(at(0)).expect("gives");
        assert_eq!(
            given.calls, 1,
            "one call gives the table's end back, without a delay"
        );
        sound(&heap);
        let after = heap.stats().resident_bytes;
        assert_eq!(before - after, given.bytes);
        assert!(
            given.bytes >= 392_000 - page - 2 * unit,
            "{page}, {unit}: {given:?}"
        );
        // The table grows again over what was given back, and every object can be freed.
        kept.append(&mut scattered(&mut heap, 100_000, 50));
        sound(&heap);
        kept.into_iter().for_each(|object| heap.free_bytes(object));
        heap.renumber::<u8>(&mut []);
        heap.give_all_back().expect("gives");
        sound(&heap);
        assert!(
            heap.stats().resident_bytes < 400 << 10,
            "{:?}",
            heap.stats()
        );
    }
}

/// At the hard limit, a shorter table leaves room for objects.
#[test]
fn a_shorter_table_makes_room_below_the_hard_limit() {
    let hard = 4 * MIB;
    let mut heap: OsHeap = OsHeap::new(&CONFIG, Limits::new(hard, hard)).expect("reserved");
    let mut kept = scattered(&mut heap, 70_000, 100);
    let fill = |heap: &OsHeap<'_>| {
        let mut large = Vec::new();
        let refused = loop {
            match heap.alloc(layout(4000)) {
                Ok(object) => large.push(object),
                Err(refused) => break refused,
            }
        };
        assert_eq!(refused, Refused::Limit { limit: hard });
        large
    };
    let before = fill(&heap);
    let room = before.len();
    before
        .into_iter()
        .for_each(|object| heap.free_bytes(object));
    heap.renumber(&mut kept);
    heap.give_all_back().expect("gives");
    let after = fill(&heap);
    // 280 kB of table more.
    assert!(after.len() >= room + 60, "{room}, then {}", after.len());
    sound(&heap);
}

/// The first calls of the system fail.
static FAILURES: AtomicU32 = AtomicU32::new(3);

unsafe fn give_back_fails_at_first(
    region: &Reservation,
    range: Range<usize>,
) -> Result<(), OsError> {
    if FAILURES.load(Ordering::Relaxed) > 0 {
        FAILURES.fetch_sub(1, Ordering::Relaxed);
        return Err(OsError::GiveBack {
            bytes: range.len(),
            source: failure(),
        });
    }
    // SAFETY: the caller's promise.
    unsafe { region.give_back(range) }
}

#[test]
fn a_table_whose_end_the_system_does_not_take_back_serves_on_and_is_given_back_later() {
    let system = System {
        give_back: give_back_fails_at_first,
        ..system()
    };
    let limits = Limits::new(16 * MIB, 16 * MIB);
    let mut heap: OsHeap = OsHeap::on(system, &CONFIG, limits, None).expect("reserved");
    let mut kept = scattered(&mut heap, 100_000, 50);
    heap.renumber(&mut kept);
    let before = heap.stats().resident_bytes;
    assert!(heap.tick(at(0)).is_err() && heap.give_all_back().is_err());
    assert_eq!(heap.stats().resident_bytes, before);
    sound(&heap);
    // The table grows over a part of what the system did not take.
    kept.append(&mut scattered(&mut heap, 40_000, 50));
    sound(&heap);
    heap.renumber(&mut kept);
    assert!(heap.tick(at(1)).is_err());
    let given = heap.tick(at(2)).expect("the system takes it now");
    assert!(given.bytes > 300_000, "{given:?}");
    assert_eq!((heap.stats().calls, heap.stats().failures), (4, 3));
    sound(&heap);
    kept.into_iter().for_each(|object| heap.free_bytes(object));
}
