//! Tests of the checker: tables are damaged, and free page-blocks written to. It must tell each,
//! and follow nothing that it did not look at.

use super::super::instance::Instance;
use super::super::memory::{Kind, Record, Span};
use super::super::sizes::{Class, Slot};
use super::*;

/// Bytes of the objects: 73 of them fill a page of one unit.
const BYTES: usize = 100;

/// An instance with three pages of a class: some page-blocks of one are in the free list, and
/// others were freed, another one is full. Some arrived of what another instance freed, some wait
/// in the inbox, and some in its batch.
struct World<'h> {
    heap: &'h Heap<'h, Fixed>,
    own: Local<'h, RawMutex>,
    other: Local<'h, RawMutex>,
    objects: Vec<NonNull<u8>>,
}

impl<'h> World<'h> {
    fn new(heap: &'h Heap<'h, Fixed>) -> Self {
        let (own, other) = (heap.join().unwrap(), heap.join().unwrap());
        let mut objects: Vec<_> = (0..BLOCKS * 12)
            .map(|_| own.allocate(BYTES, 16).unwrap())
            .collect();
        // A little of every page, so that none of them empties.
        let mut freed = Vec::new();
        for place in (0..objects.len()).rev().filter(|place| place % 3 > 0) {
            freed.push(objects.swap_remove(place));
        }
        for object in freed.drain(20..) {
            free(&other, object).unwrap();
        }
        // The first look takes all out of the inbox, and frees some of it.
        while instance(heap, &own).arrived().is_empty() {
            objects.push(own.allocate(BYTES, 16).unwrap());
        }
        for object in objects.drain(..50) {
            free(&other, object).unwrap();
        }
        // The free list is full of what arrived: these go into their pages, which are listed.
        for object in objects.drain(..100) {
            free(&own, object).unwrap();
        }
        // These lie in the newest page, of which others are in the free list.
        let own_page = instance(heap, &own).current(class());
        let memory = heap.common().memory();
        let of_page = |object: &NonNull<u8>| memory.around(object.as_ptr()) == Some(own_page);
        let (mine, rest): (Vec<_>, Vec<_>) = objects.into_iter().partition(of_page);
        let objects = rest;
        for object in mine {
            // SAFETY: it is live, and freed into its page.
            let block = unsafe { chain::Free::of(object) };
            memory.record(own_page).put_back(block).unwrap();
        }
        // These are of other pages, too, and go into the free list.
        for object in freed {
            free(&own, object).unwrap();
        }
        check(heap);
        Self {
            heap,
            own,
            other,
            objects,
        }
    }

    fn own(&self) -> &Instance {
        instance(self.heap, &self.own)
    }

    fn other(&self) -> &Instance {
        instance(self.heap, &self.other)
    }

    /// The first page-block of each chain.
    fn chains(&self) -> [*mut u8; 5] {
        let (own, memory) = (self.own(), self.heap.common().memory());
        let page = memory.record(own.current(class()));
        [
            page.free.first().cast(),
            own.free_list(class()).first().cast(),
            own.arrived().first().cast(),
            own.inbox().first().cast(),
            self.other().batch(own.number()).first().cast(),
        ]
    }
}

const BLOCKS: usize = UNIT_BYTES / 112;

fn class() -> Class {
    Class::of(BYTES).unwrap()
}

fn instance<'h>(heap: &'h Heap<'h, Fixed>, local: &Local<'_, RawMutex>) -> &'h Instance {
    heap.common().instance(local.number())
}

/// Damages a world, and expects that one of these invariants is named.
fn damaged(invariants: &[&str], damage: impl FnOnce(&World<'_>)) {
    let mut memory = region(1 << 20);
    let heap: Heap<'_, Fixed> = SharedDirect::new(&mut memory, SETTINGS).unwrap();
    let world = World::new(&heap);
    damage(&world);
    let told = check::check(heap.common());
    // Leaving an instance would use what is damaged.
    core::mem::forget((world.own, world.other));
    let corruption = told.unwrap_err();
    assert!(
        invariants.contains(&corruption.invariant),
        "{corruption}, not {invariants:?}"
    );
}

/// Writes a word into a free page-block, as a program that frees too early.
fn write(block: *mut u8, word: usize) {
    assert!(!block.is_null());
    // SAFETY: a page-block of the heap, aligned; nobody else uses it.
    unsafe { block.cast::<usize>().write(word) };
}

#[test]
fn freed_objects_that_were_written_to_are_told() {
    for chain in 0..5 {
        let words: [fn(&World<'_>, *mut u8) -> usize; 9] = [
            |_, _| usize::MAX,
            |_, _| 1,
            |_, _| 16,
            |_, _| 0xA5A5_A5A5,
            // Inside a page-block of the page; itself; a live object; the tables; behind all that
            // was used.
            |_, block| block.addr() + 16,
            |_, block| block.addr(),
            |world, _| world.objects[0].addr().get() + 8,
            |world, _| core::ptr::from_ref(world.own()).addr(),
            |world, _| {
                let memory = world.heap.common().memory();
                let end = memory.span(memory.committed());
                memory.address(end).addr().get()
            },
        ];
        for word in words {
            damaged(&["C1", "I1", "I4", "I6", "L1"], |world| {
                let block = world.chains()[chain];
                write(block, word(world, block));
            });
        }
    }
}

#[test]
fn a_page_block_in_two_chains_is_told() {
    // Each chain but the first leads on to the first page-block of another one.
    for from in 0..5 {
        for to in (0..5).filter(|to| *to != from) {
            damaged(&["C1", "I1", "I2", "I4", "I6", "L1"], |world| {
                let chains = world.chains();
                write(chains[from], chains[to].addr());
            });
        }
    }
}

#[test]
fn a_page_block_that_is_listed_twice_is_told() {
    damaged(&["C1"], |world| {
        let memory = world.heap.common().memory();
        let record = memory.record(world.own().current(class()));
        // What is free begins with the free list: as many as were free before.
        let (list, had) = (world.own().free_list(class()), record.used());
        let free = record.free.take();
        let count = free.addresses(BLOCKS).count();
        // SAFETY: all of this is in the world that is damaged.
        let list = unsafe { chain::Chain::from_raw(list.first()) };
        let all = list.addresses(BLOCKS).count();
        assert!(all > 0 && count > 0);
        record.free.fill(&list);
        record.set_used(had + u16::try_from(count).unwrap() - u16::try_from(all).unwrap());
    });
}

#[test]
fn the_ends_of_a_list_are_told() {
    damaged(&["I2"], |world| world.own().set_last(class(), Span::NONE));
    damaged(&["I2"], |world| {
        let own = world.own();
        own.set_last(class(), own.current(class()));
    });
    damaged(&["I2"], |world| {
        let own = world.own();
        assert_ne!(own.first(class()), Span::NONE);
        let first = world.heap.common().memory().record(own.first(class()));
        first.previous.set(own.first(class()));
    });
    for lost in [Span::NONE, Span::of(1 << 20), Span::of(u32::MAX)] {
        damaged(&["I2", "P1"], |world| {
            let own = world.own();
            let first = world.heap.common().memory().record(own.first(class()));
            first.next.set(lost);
        });
    }
}

#[test]
fn what_leads_back_to_no_page_is_told() {
    let back = |object: fn(&World<'_>) -> NonNull<u8>, bytes: u16| {
        damaged(&["M4", "I2", "P1"], move |world| {
            let memory = world.heap.common().memory();
            let record = memory.record_around(object(world).as_ptr()).unwrap();
            record.set_back(bytes);
        });
    };
    for bytes in [1, 32, 64, 1 << 15, u16::MAX] {
        back(|world| world.objects[0], bytes);
        back(|world| world.own.allocate(40_000, 16).unwrap(), bytes);
        damaged(&["M4"], |world| {
            let memory = world.heap.common().memory();
            let behind = memory.span(memory.committed() - 1);
            memory.record(behind).set_back(bytes);
        });
        damaged(&["P1"], |world| {
            // A page of several units.
            let object = world.own.allocate(30_000, 16).unwrap();
            let memory = world.heap.common().memory();
            let page = memory.around(object.as_ptr()).unwrap();
            memory.record(memory.after(page, 1)).set_back(bytes ^ 32);
        });
    }
}

#[test]
fn batches_are_told() {
    for what in 0..6 {
        damaged(&["I6"], |world| {
            world.other().batch(world.own.number()).damage(what);
        });
    }
    // An empty one.
    for what in [2, 5] {
        damaged(&["I6"], |world| {
            let batch = world.own().batch(world.other.number());
            assert!(batch.is_empty());
            batch.damage(what);
            if what == 5 {
                batch.damage(2);
            }
        });
    }
}

#[test]
fn damaged_records_are_told() {
    // What is damaged, of a page, a large object or a free run; how; and what is told.
    type Damage = (usize, fn(&Record), &'static str);
    let damages: [Damage; 9] = [
        (0, |record| record.set_used(record.used() + 1), "I2"),
        (0, |record| record.opened.set(u16::MAX), "I2"),
        (0, |record| record.set_watch(record.watch.get() + 1), "I2"),
        (1, |record| record.set_used(2), "M4"),
        (1, |record| record.set_kind(Kind::Inside(class())), "P1"),
        (1, |record| record.set_kind(Kind::Nothing), "P3"),
        (2, |record| record.units.set(3), "P1"),
        (2, |record| record.units.set(u32::MAX), "P1"),
        (2, |record| record.next.set(Span::of(u32::MAX)), "R1"),
    ];
    for (which, damage, told) in damages {
        let mut memory = region(1 << 20);
        let heap: Heap<'_, Fixed> = SharedDirect::new(&mut memory, SETTINGS).unwrap();
        let local = heap.join().unwrap();
        let small = local.allocate(100, 16).unwrap();
        let [large, freed, _behind] = [(); 3].map(|()| local.allocate(50_000, 16).unwrap());
        free(&local, freed).unwrap();
        check(&heap);
        let object = [small, large, freed][which];
        let memory = heap.common().memory();
        damage(memory.record_around(object.as_ptr()).unwrap());
        let found = check::check(heap.common());
        core::mem::forget(local);
        assert_eq!(found.unwrap_err().invariant, told);
    }
}

#[test]
fn chains_that_lead_ahead_to_a_wrong_place_are_told() {
    for chain in [2, 3] {
        for word in [|block: *mut u8| block.addr(), |_| 16, |_| usize::MAX] {
            damaged(&["C1"], |world| {
                let block = world.chains()[chain];
                write(block.wrapping_add(size_of::<usize>()), word(block));
            });
        }
    }
}

#[test]
fn damaged_slots_are_told() {
    let other = Class::of(16).unwrap().slot();
    for slot in [Slot::NONE, other] {
        damaged(&["M5"], move |world| {
            let memory = world.heap.common().memory();
            let page = memory.around(world.objects[0].as_ptr()).unwrap();
            memory.set_slot(page, slot, memory.owner(page));
        });
        // The second unit of a page of several.
        damaged(&["M5"], move |world| {
            let object = world.own.allocate(30_000, 16).unwrap();
            let memory = world.heap.common().memory();
            let page = memory.around(object.as_ptr()).unwrap();
            memory.set_slot(memory.after(page, 1), slot, memory.owner(page));
        });
    }
    for (slot, owner) in [(class().slot(), 0), (Slot::NONE, 1)] {
        damaged(&["M5"], move |world| {
            let object = world.own.allocate(40_000, 16).unwrap();
            let memory = world.heap.common().memory();
            let run = memory.around(object.as_ptr()).unwrap();
            memory.set_slot(run, slot, owner);
        });
        damaged(&["M5"], move |world| {
            let memory = world.heap.common().memory();
            memory.set_slot(memory.span(memory.committed() - 1), slot, owner);
        });
        damaged(&["M5"], move |world| {
            let memory = world.heap.common().memory();
            memory.set_slot(Span::NONE, slot, owner);
        });
    }
}

#[test]
fn damaged_owners_are_told() {
    // Nobody, or who is not here. Some of its page-blocks are on the way to who was.
    for owner in [0, 1000] {
        damaged(&["I2", "I4"], move |world| {
            let memory = world.heap.common().memory();
            let page = memory.around(world.chains()[3]).unwrap();
            memory.set_slot(page, memory.slot(page), owner);
        });
    }
    // Another instance.
    damaged(&["I2", "I4"], |world| {
        let memory = world.heap.common().memory();
        let page = world.own().first(class());
        memory.set_slot(page, memory.slot(page), world.other.number());
    });
    // The second unit of a page of several.
    damaged(&["M5"], |world| {
        let object = world.own.allocate(30_000, 16).unwrap();
        let memory = world.heap.common().memory();
        let page = memory.around(object.as_ptr()).unwrap();
        let inside = memory.after(page, 1);
        memory.set_slot(inside, memory.slot(page), world.other.number());
    });
}
