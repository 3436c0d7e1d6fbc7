//! The campaign of flips.

extern crate alloc;

use alloc::vec::Vec;

use super::Generational;
use crate::collector::Collector;
use crate::object::Object;
use crate::stepwise::OneByOne;
use crate::tests::flips::{
    Lists, Program, Subject, Word, Words, attack_words, config, driven, is_asked, region, settings,
};

impl<S: OneByOne + Words> Words for Generational<'_, S> {
    fn add_words(&mut self, words: &mut Vec<Word>) {
        self.gc.add_words(words);
        let room = |word: u64| (word != 0).then(|| word - 1);
        let of_room = |room: Option<u64>| room.map_or(0, |bytes| bytes + 1);
        words.extend([
            Word::long("live objects", &mut self.live.objects),
            Word::long("live bytes", &mut self.live.bytes),
            Word::long("young objects", &mut self.young.objects),
            Word::long("young bytes", &mut self.young.bytes),
            Word::long("remembered", &mut self.remembered),
            Word::object("lowest", &mut self.lowest),
            Word::long("left_by_full", &mut self.left_by_full),
            Word::coded("room", &mut self.room, 8, of_room, room),
        ]);
    }
}

impl<S: OneByOne> Subject for Generational<'_, S> {
    fn is_sound(&mut self) -> bool {
        self.check().is_ok()
    }

    fn alloc(&mut self, program: &mut Program, bytes: usize) -> Option<Object> {
        Generational::alloc(self, program, bytes).ok()
    }

    fn store(&mut self, object: Object, word: u32, to: Option<Object>) {
        Generational::store(self, object, word, to);
    }

    fn store_data(&mut self, object: Object, word: u32, value: u32) {
        Generational::store_data(self, object, word, value);
    }

    fn load(&mut self, object: Object, word: u32) -> u32 {
        self.gc.load(object, word)
    }

    fn upgrade(&mut self, object: Object) -> bool {
        self.contains(object)
    }

    fn work(&mut self, program: &mut Program) {
        if self.totals().allocations % 3 == 0 {
            self.collect_young(program);
        }
    }

    fn collect(&mut self, program: &mut Program) {
        Generational::collect(self, program);
    }

    fn live(&mut self) -> usize {
        self.objects().count()
    }
}

#[test]
fn flips_of_generations_over_lists_are_told_or_harmless() {
    let (memory, place) = region(6 << 10);
    let gc = Collector::<Lists>::new(memory, settings(2 << 10)).expect("large enough");
    let (mut gc, state) = driven(Generational::over(gc));
    let name = "Generational over free lists";
    attack_words(name, (&mut *gc, place), &state, 53, is_asked);
}

#[test]
fn flips_of_generations_with_a_nursery_are_told_or_harmless() {
    let (memory, place) = region(14 << 10);
    let gc = Collector::nursery(memory, config(), 2 << 10, 3).expect("large enough");
    let (mut gc, state) = driven(Generational::over(gc));
    let name = "Generational over Compact-fit with a nursery";
    attack_words(name, (&mut *gc, place), &state, 53, is_asked);
}
