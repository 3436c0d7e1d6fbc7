//! Corrupts every header of the nursery and every word of an outside entry: the checker must
//! object.

extern crate alloc;
use alloc::vec;
use alloc::vec::Vec;
use core::mem::MaybeUninit;

use super::Nursery;
use crate::compact_fit::CompactFit;
use crate::compact_fit::stub::entry;
use crate::object::Object;
use crate::space::Space;
use crate::stepwise::OneByOne;
use crate::tests::flips::{Word, Words};
use crate::{Collector, Marks};

/// A nursery with five objects, in front of a heap with two.
fn with_nursery(test: impl FnOnce(&mut Nursery<'_>, Vec<Object>)) {
    let mut region = vec![MaybeUninit::uninit(); 1 << 18];
    let config = CompactFit::CONFIG;
    let mut gc = Collector::nursery(&mut region, &config, 8 << 10, 16).expect("large enough");
    let lengths = [16, 513, 0, 100, 24, 6000, 40];
    let objects = lengths.map(|bytes| gc.space.allocate(bytes).expect("room"));
    assert_eq!((gc.space.check(), gc.space.in_nursery().0), (Ok(()), 5));
    test(&mut gc.space, objects.into());
}

#[test]
fn the_checker_objects_to_every_wrong_header() {
    with_nursery(|space, _| {
        let places: Vec<u32> = space.eden.places().collect();
        for (place, bit) in places
            .iter()
            .flat_map(|&place| (0..64).map(move |bit| (place, bit)))
        {
            space.eden.flip(place, bit);
            let told = space.check().expect_err("a wrong header").invariant;
            assert!(
                ["E1", "E2", "N1", "N2"].contains(&told),
                "{told}: {bit} of {place}"
            );
            space.eden.flip(place, bit);
        }
        assert_eq!(space.check(), Ok(()));
    });
}

#[test]
fn the_checker_objects_to_wrong_places_and_outside_entries() {
    with_nursery(|space, objects| {
        let outside: Vec<u32> = space.old.heap.outside_entries().collect();
        for &entry in &outside {
            let place = space.old.heap.outside_place_of(entry).expect("outside");
            for other in (0..space.eden.units()).filter(|&other| other != place) {
                space.old.heap.relocate_entry(entry, other);
                assert_eq!(space.check().expect_err("a wrong place").invariant, "N1");
            }
            space.old.heap.relocate_entry(entry, place);
        }
        assert_eq!(space.check(), Ok(()));
        // Nobody's.
        let stray = space.old.heap.add_outside_entry(0).expect("room");
        assert_eq!(space.check().expect_err("nobody's").invariant, "N1");
        space.old.heap.give_entry_back(stray);
        // An object of the heap in a page-block that nobody gave it.
        space
            .old
            .heap
            .take_in_entry(entry(objects[0]), 16)
            .expect("room");
        assert_eq!(space.check().expect_err("not outside").invariant, "N1");
    });
}

/// What was freed by itself is not promoted, whoever has its number next.
#[test]
fn a_number_is_given_again_before_the_nursery_is_emptied() {
    with_nursery(|space, objects| {
        let live = |object| objects.contains(&object);
        assert!(space.objects().all(live) && space.objects().count() == 7);
        // SAFETY: it lives, and is not used again.
        let freed = unsafe { space.free(objects[3]) };
        assert_eq!((freed.work, freed.done, space.check()), (1, true, Ok(())));
        let next = space.allocate(16).expect("room");
        assert_eq!(next, objects[3]);
        // SAFETY: it lives.
        unsafe { space.place(next).word(space, next, 0).write(7) };
        space.cycle_ended(0, 0);
        assert_eq!((space.check(), space.in_nursery()), (Ok(()), (0, 0)));
        // SAFETY: it lives, in the heap.
        let place = unsafe { space.place(next) };
        assert_eq!(place.words(), 4);
        // SAFETY: of the place, which has four words.
        assert_eq!(unsafe { place.word(space, next, 0).read() }, 7);
        assert_eq!(space.objects().count(), 7);
    });
}

/// A sweep that keeps nothing frees what is outside, too.
#[test]
fn a_sweep_frees_what_is_outside() {
    with_nursery(|space, _| {
        let mut none = vec![0; space.places() as usize / 64 + 1];
        // SAFETY: nothing is used again.
        let swept = unsafe { space.sweep(&Marks::over(&mut none)) };
        assert_eq!(
            (swept.freed_objects, swept.live_objects, swept.live_bytes),
            (7, 0, 0)
        );
        assert_eq!((space.check(), space.objects().count()), (Ok(()), 0));
        assert_eq!(space.in_nursery(), (0, 0));
    });
}

impl Words for Nursery<'_> {
    fn add_words(&mut self, words: &mut Vec<Word>) {
        self.old.add_words(words);
        let places: Vec<u32> = self.eden.places().collect();
        let (cells, top, objects) = self.eden.parts();
        let headers = places.into_iter().map(|place| &cells[place as usize]);
        let headers = headers.map(|cell| Word::cell("headers of the nursery", cell));
        words.extend(headers);
        words.push(Word::short("top", top));
        words.push(Word::short("objects of the nursery", objects));
        words.push(Word::flag("crowded", &mut self.crowded));
    }
}
