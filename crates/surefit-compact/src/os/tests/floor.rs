//! A floor of locked memory: no page faults within it, growth beyond it, and typed refusals.

extern crate alloc;
extern crate std;

use alloc::format;
use alloc::vec::Vec;
use core::alloc::Layout;
use core::mem::MaybeUninit;
use core::ops::Range;
use std::io;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefit_os::{OsError, Reservation, faults};

use super::{CONFIG, MIB, PAGE, at, small_pages, sound, system};
use crate::certify::{Budget, ClassSet, Demand, certify};
use crate::config::Config;
use crate::handle::Bytes;
use crate::os::heap::System;
use crate::os::{Floor, Limits, OsHeap, OsHeapError};

type Objects = Vec<Bytes<MaybeUninit<u8>>>;

const FLOOR: Floor = Floor {
    page_bytes: MIB,
    objects: 3000,
};

fn with_floor(system: System, page: usize) -> Result<(), OsHeapError> {
    let config = small_pages(page);
    let limits = Limits::new(16 * MIB, 16 * MIB);
    OsHeap::<crate::Wide>::on(system, &config, limits, Some(FLOOR)).map(|_| ())
}

/// Memory that is written rather than locked, for machines that let nobody lock.
fn write(region: &Reservation, range: Range<usize>) -> Result<(), OsError> {
    for at in range.step_by(4096) {
        // SAFETY: the range lies in the reservation, whose owner reads nothing there yet, or reads
        // what is written back.
        let place = unsafe { region.start().add(at) };
        // SAFETY: as above.
        unsafe { place.write_volatile(place.read_volatile()) };
    }
    Ok(())
}

/// A system that locks if this one does, and else writes.
fn locking() -> System {
    let lock = match with_floor(system(), 16 << 10) {
        Ok(()) => Reservation::lock_range,
        Err(refused) => {
            let message = format!("{refused}");
            assert!(message.contains("RLIMIT_MEMLOCK"), "{message}");
            write
        }
    };
    System { lock, ..system() }
}

/// A random program with at most `most` objects of up to 400 bytes, each written whole; returns the
/// page faults of its calls. `objects` has room for all of them.
fn program(heap: &mut OsHeap<'_>, objects: &mut Objects, most: usize) -> u64 {
    let mut random = ChaCha8Rng::seed_from_u64(4);
    let before = faults::of_this_thread().expect("Linux counts");
    for _ in 0..20_000 {
        let grows = objects.len() < most && random.random_bool(0.6);
        if !grows && !objects.is_empty() {
            let index = random.random_range(0..objects.len());
            heap.free_bytes(objects.swap_remove(index));
            continue;
        }
        let layout = Layout::array::<u8>(random.random_range(1..400)).expect("valid");
        let mut object = heap.alloc(layout).expect("below the limit");
        heap.heap()
            .chunk_mut(&mut object, 0)
            .fill(MaybeUninit::new(7));
        objects.push(object);
    }
    faults::of_this_thread().expect("Linux counts") - before
}

fn faults_of(floor: Floor, most: usize) -> u64 {
    let limits = Limits::new(16 * MIB, 16 * MIB);
    let mut heap: OsHeap = OsHeap::on(locking(), &CONFIG, limits, Some(floor)).expect("a floor");
    let mut objects = Vec::with_capacity(most + 1);
    objects.resize_with(1, || heap.alloc(Layout::new::<u8>()).expect("room"));
    let spare = objects.spare_capacity_mut();
    // Its pages are the program's, not the heap's.
    spare.iter_mut().for_each(|place| {
        // SAFETY: the place is the vector's; the bytes are no handle until one is pushed.
        unsafe { place.as_mut_ptr().cast::<u8>().write_volatile(0) }
    });
    let faults = program(&mut heap, &mut objects, most);
    sound(&heap);
    faults
}

#[test]
#[cfg(target_os = "linux")]
fn a_random_program_within_the_floor_takes_no_page_fault_and_beyond_it_some() {
    // The first run takes the faults of the code.
    faults_of(FLOOR, 3000);
    assert_eq!(faults_of(FLOOR, 3000), 0);
    let none = Floor {
        page_bytes: 0,
        objects: 0,
    };
    let beyond = faults_of(none, 3000);
    assert!(beyond > 100, "{beyond} faults");
    let half = Floor {
        page_bytes: MIB / 4,
        ..FLOOR
    };
    let some = faults_of(half, 3000);
    assert!(0 < some && some < beyond, "{some} faults, {beyond} without");
}

#[test]
fn a_floor_is_resident_at_once_and_never_given_back() {
    for (page, unit) in [(16 << 10, 4096), (4096, 4096), (4096, 16 << 10)] {
        let config = small_pages(page);
        let system = System {
            page_bytes: unit,
            ..locking()
        };
        let limits = Limits::new(16 * MIB, 16 * MIB);
        let mut heap: OsHeap = OsHeap::on(system, &config, limits, Some(FLOOR)).expect("a floor");
        let held = heap.stats().resident_bytes;
        assert!(held > MIB && held < 3 * MIB / 2, "{held}");
        assert!(heap.measure_resident().expect("Linux says") >= MIB);
        for round in 1..4 {
            let mut objects = Vec::new();
            for _ in 0..30_000 {
                let layout = Layout::new::<[u8; 100]>();
                objects.push(heap.alloc(layout).expect("below the limit"));
            }
            sound(&heap);
            assert!(heap.stats().resident_bytes > 3 * MIB);
            objects
                .into_iter()
                .for_each(|object| heap.free_bytes(object));
            for tick in 0..30 {
                heap.tick(at(1000 * (10 * round + tick)))
                    .expect("gives back");
                sound(&heap);
            }
            heap.give_all_back().expect("gives back");
            sound(&heap);
            assert_eq!(heap.stats().failures, 0);
            let left = heap.stats();
            assert!(left.resident_bytes < held + 3 * MIB / 4, "{left:?}");
            assert!(heap.measure_resident().expect("Linux says") >= MIB);
        }
    }
}

#[test]
fn a_floor_that_does_not_fit_is_a_typed_error() {
    let with = |page_bytes, objects| {
        let floor = Floor {
            page_bytes,
            objects,
        };
        let limits = Limits::new(MIB, MIB);
        OsHeap::<crate::Wide>::with_floor(&CONFIG, limits, floor).map(|_| ())
    };
    let numbers = [
        MIB,
        MIB + MIB / 4,
        64 * MIB,
        usize::MAX / 2,
        usize::MAX - 1,
        usize::MAX,
    ];
    for number in numbers {
        for (page_bytes, objects) in [(number, 0), (0, number), (number, number)] {
            let Err(OsHeapError::Floor { needed }) = with(page_bytes, objects) else {
                panic!("{page_bytes} bytes, {objects} objects")
            };
            assert!(needed > MIB || number == MIB, "{needed}");
        }
    }
}

/// What the error says is enough, and hardly more than needed.
#[test]
fn a_floor_that_was_refused_fits_below_the_limit_that_the_error_names() {
    for (page, unit) in [
        (1 << 10, 4096),
        (4096, 4096),
        (16 << 10, 4096),
        (4096, 16 << 10),
    ] {
        let config = small_pages(page);
        for (page_bytes, objects) in [(1, 100_000), (MIB, 0), (MIB, 3000), (MIB - 1, 77_777)] {
            let system = System {
                page_bytes: unit,
                ..locking()
            };
            let floor = Floor {
                page_bytes,
                objects,
            };
            let with = |hard| {
                let limits = Limits::new(hard, hard);
                OsHeap::<crate::Wide>::on(system, &config, limits, Some(floor)).map(|_| ())
            };
            let Err(OsHeapError::Floor { needed }) = with(200 << 10) else {
                panic!("{floor:?} fits below 200 KiB")
            };
            with(needed).expect("what the error says is enough");
            let fewer = needed - needed / 8 - 12 * page.max(unit);
            assert!(with(fewer).is_err(), "{page}: {needed} for {floor:?}");
        }
    }
}

#[test]
fn a_system_that_locks_nothing_is_a_typed_error_that_says_what_to_raise() {
    let lock = |_: &Reservation, range: Range<usize>| {
        let source = io::ErrorKind::OutOfMemory.into();
        let bytes = range.len();
        Err(OsError::Lock { bytes, source })
    };
    let system = System { lock, ..system() };
    let refused = with_floor(system, 16 << 10).expect_err("no lock");
    assert!(matches!(
        refused,
        OsHeapError::Os(OsError::Lock { bytes: MIB, .. })
    ));
    let message = format!("{refused}");
    assert!(message.contains("RLIMIT_MEMLOCK") && message.contains("ulimit -l"));
}

/// One class after the other has all objects of a joint demand: pairs that one class parked must
/// not hold pages or entries that the next one needs.
#[test]
fn the_floor_of_a_certificate_is_enough_for_its_demand() {
    keeps_to_its_floor(4000, 1000);
    keeps_to_its_floor(256, PAGE / 4);
}

/// As many `objects` of every size-class for requests of up to `most` bytes as 1 MiB has.
fn keeps_to_its_floor(objects: u64, most: usize) {
    let classes = ClassSet::of_requests(CONFIG.geometry(), most);
    let budget = Budget {
        objects,
        block_bytes: MIB as u64,
        classes,
    };
    let certificate = certify::<crate::Wide>(&CONFIG, &Demand::Joint(budget)).expect("a heap");
    let limits = Limits::new(64 * MIB, 64 * MIB);
    let floor = Some(Floor::of(&certificate));
    let mut heap: OsHeap = OsHeap::on(locking(), &CONFIG, limits, floor).expect("a floor");
    let held = heap.stats().resident_bytes;
    for round in 0..3 {
        for class in CONFIG
            .geometry()
            .classes()
            .filter(|class| classes.contains(*class))
        {
            let bytes = CONFIG.geometry().layout(class).block_bytes as usize;
            assert_eq!(CONFIG.geometry().class_for(bytes, 1), Some(class));
            let count = (MIB / bytes).min(usize::try_from(objects).expect("few"));
            let layout = Layout::from_size_align(bytes, 1).expect("valid");
            let alloc = |_| heap.alloc(layout).expect("within the demand");
            let objects: Objects = (0..count).map(alloc).collect();
            assert_eq!(heap.stats().resident_bytes, held, "round {round}");
            objects
                .into_iter()
                .for_each(|object| heap.free_bytes(object));
        }
        sound(&heap);
    }
}

/// A heap of which every page was full and is empty now.
fn emptied<'c>(config: &'c Config, limits: Limits, floor: usize) -> OsHeap<'c> {
    let floor = Floor {
        page_bytes: floor,
        objects: 0,
    };
    let mut heap: OsHeap = OsHeap::on(locking(), config, limits, Some(floor)).expect("a floor");
    let bytes = config.geometry().page_bytes() - 64;
    let layout = Layout::from_size_align(bytes, 8).expect("valid");
    let mut objects = Objects::new();
    while let Ok(object) = heap.alloc(layout) {
        objects.push(object);
    }
    let filled = objects.len() * config.geometry().page_bytes();
    assert!(filled > limits.hard * 3 / 4, "{filled}");
    let free = |object| heap.free_bytes(object);
    objects.into_iter().for_each(free);
    heap
}

/// Held pages that are free do not hide those that can be given back.
#[test]
fn at_the_hard_limit_empty_pages_above_the_floor_make_room_for_the_address_table() {
    for page in [1 << 10, 4 << 10] {
        let config = small_pages(page);
        for floor in [0, 2 * MIB] {
            let heap = emptied(&config, Limits::new(4 * MIB, 4 * MIB), floor);
            let layout = Layout::new::<u64>();
            for number in 0..60_000 {
                let object = heap.alloc(layout);
                // What is served stays.
                if let Err(refused) = object {
                    panic!("pages of {page}, floor {floor}, object {number}: {refused}");
                }
            }
            sound(&heap);
        }
    }
}

#[test]
fn what_was_empty_above_the_floor_for_twice_the_delay_is_given_back() {
    for page in [1 << 10, 4 << 10] {
        let config = small_pages(page);
        for floor in [0, 7 * MIB] {
            let mut heap = emptied(&config, Limits::new(12 * MIB, 12 * MIB), floor);
            for tick in 0..=10 {
                heap.tick(at(100 * tick)).expect("gives back");
                sound(&heap);
            }
            let left = heap.stats();
            assert_eq!(left.failures, 0);
            // A page of the system of which not all pages of the heap were opened.
            let above = left.empty_bytes - floor;
            assert!(above < 4096, "pages of {page}, floor {floor}: {left:?}");
            assert!(left.resident_bytes < floor + MIB, "{left:?}");
        }
    }
}

#[test]
fn a_soft_limit_below_the_floor_moves_nothing_within_it() {
    let limits = Limits::new(64 << 10, 16 * MIB);
    let mut heap: OsHeap = OsHeap::on(locking(), &CONFIG, limits, Some(FLOOR)).expect("a floor");
    let layout = Layout::new::<[u8; 300]>();
    let objects = (0..2000).map(|_| heap.alloc(layout).expect("within the floor"));
    let mut objects: Objects = objects.collect();
    (0..600).for_each(|number| heap.free_bytes(objects.swap_remove(number)));
    for tick in 0..20 {
        let done = heap.tick(at(1000 * tick)).expect("nothing to give back");
        assert_eq!((done.moves, done.calls), (0, 0));
    }
    sound(&heap);
}
