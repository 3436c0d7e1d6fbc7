//! Corrupts every word that the space keeps beside the heap: the checker must object.

extern crate alloc;
use alloc::vec;
use alloc::vec::Vec;

use surefit_compact::{Bound, Config, Geometry, GeometrySpec};

use super::CompactFit;
use super::stub::{Dying, entry, object};
use crate::object::Object;
use crate::space::Space;
use crate::tests::flips::{Word, Words};

/// A space with objects in pieces, one of which has a spine of two levels, and with other objects.
fn with_space(test: impl FnOnce(CompactFit<'_>, Vec<Object>)) {
    let spec = GeometrySpec {
        page_bytes: 1024,
        ..CompactFit::GEOMETRY
    };
    let config = Config::new(Geometry::new(&spec).expect("valid"), Bound::DEFAULT);
    let config = config.expect("valid").with_pieces(Some(64)).expect("valid");
    let mut region = vec![core::mem::MaybeUninit::uninit(); 30 << 10];
    let mut words = vec![u64::MAX; CompactFit::piece_words(region.len(), &config)];
    let mut space = CompactFit::new(&mut region, &config, &mut words).expect("large enough");
    let lengths = [12, 65, 3000, 72, 20, 128, 300, 16];
    let objects = lengths.map(|bytes| space.allocate(bytes).expect("room"));
    assert_eq!(space.check(), Ok(()));
    test(space, objects.into());
}

#[test]
fn the_checker_objects_to_every_wrong_bit() {
    with_space(|mut space, _| {
        for entry in 0..space.pieces.room() {
            space.pieces.flip(entry);
            let told = space.check().expect_err("a wrong bit").invariant;
            assert!(told == "C1" || told == "C2", "{told} of entry {entry}");
            space.pieces.flip(entry);
        }
        assert_eq!(space.check(), Ok(()));
    });
}

/// A changed length is detected if it needs other pieces; a changed spine always.
#[test]
fn the_checker_objects_to_wrong_stubs() {
    with_space(|space, objects| {
        for &stub in &objects {
            // SAFETY: the object is live.
            let (place, class) = unsafe { space.heap.entry_block(entry(stub)) };
            if class != space.stubs {
                continue;
            }
            for (word, bit) in (0..2).flat_map(|word| (0..32).map(move |bit| (word, bit))) {
                // SAFETY: a stub has two words.
                let field = unsafe { place.cast::<u32>().add(word) };
                // SAFETY: a word of a live page-block.
                let right = unsafe { field.read() };
                // SAFETY: as above.
                unsafe { field.write(right ^ 1 << bit) };
                let found = space.check().is_err();
                // Another word or two may be in the same page-block.
                assert!(found || word == 0 && bit < 2, "bit {bit} of word {word}");
                // SAFETY: as above.
                unsafe { field.write(right) };
            }
        }
        assert_eq!(space.check(), Ok(()));
    });
}

#[test]
fn entries_and_objects_are_one_to_one() {
    for number in [0, 1, 2, 1000, (1 << 31) - 2] {
        assert_eq!(entry(object(number)), number);
    }
    assert_eq!(object(0).number(), 2);
}

impl Words for CompactFit<'_> {
    fn add_words(&mut self, words: &mut Vec<Word>) {
        let (bits, count) = self.pieces.parts();
        words.extend(Word::table("bits of pieces", bits));
        words.push(Word::short("pieces", count));
        words.push(Word::size("refused", &mut self.refused));
        // The stub is a number like that of an object, 0 for none.
        let read = |dying: Option<Dying>| {
            dying.map_or(0, |it| u64::from(it.stub + 1) | (it.freed as u64) << 32)
        };
        let write = |word: u64| {
            let stub = (word as u32).checked_sub(1)?;
            let freed = (word >> 32) as usize;
            Some(Dying { stub, freed })
        };
        words.push(Word::coded("dying parts", &mut self.dying, 8, read, write));
    }
}
