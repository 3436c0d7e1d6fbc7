//! Everything that decides the future of a heap, as numbers: for tests that exhaust the states of
//! small heaps.
//!
//! ```text
//! a record:   | kind, count | word | … |                    `count` words follow the first one
//! kinds       numbers; a not-full page, in the order of its list; a full page; free or deferred
//!             entries, in order
//! a page:     | class or group | its number | entry + 1, or 0 | attributes | …
//!             two words per page-block
//! attributes: pins, whether the object is freed nevertheless, its place among those that wait for
//!             that, or its place among those that are parked; its generation from bit 16
//! ```
//! It leaves out what decides nothing: counters of statistics, the bytes of objects and, in shared
//! heaps, for how long the bound need not be checked (H5: it would not be broken). Take two heaps
//! of one configuration, in regions of one size, whose shapes are equal up to names of entries and
//! pages. From then on they grant and refuse the same calls.
//!
//! This is not part of the public interface.
#![deny(unsafe_code)]

use surefit_classes::SizeClass;

use crate::engine::Engine;
use crate::heap::Heap;
use crate::key::KeyHeap;
use crate::page::{Block, Page};
use crate::width::{Counted, Generation, Width, Word};

/// The kind of a record.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Numbers = 0,
    NotFull = 1,
    Full = 2,
    Entries = 3,
}

/// Words that are written to a slice, and only counted after its end.
pub(crate) struct Words<'a> {
    words: &'a mut [u32],
    count: usize,
}

impl<'a> Words<'a> {
    pub(crate) fn new(words: &'a mut [u32]) -> Self {
        Self { words, count: 0 }
    }

    pub(crate) fn push(&mut self, word: u32) {
        if let Some(place) = self.words.get_mut(self.count) {
            *place = word;
        }
        self.count += 1;
    }

    /// Writes one record.
    pub(crate) fn record(&mut self, kind: Kind, words: impl Iterator<Item = u32>) {
        let at = self.count;
        self.push(0);
        words.for_each(|word| self.push(word));
        let count = u32::try_from(self.count - at - 1).expect("a record is small");
        if let Some(place) = self.words.get_mut(at) {
            *place = (kind as u32) << 24 | count;
        }
    }

    /// The number of words of all records, whether they had room or not.
    pub(crate) fn count(&self) -> usize {
        self.count
    }
}

impl<W: Width> Heap<'_, W> {
    /// Writes the heap's shape as far as there is room, and returns the number of its words.
    #[doc(hidden)]
    pub fn shape(&self, words: &mut [u32]) -> usize {
        let mut words = Words::new(words);
        self.engine.shape(&mut words);
        words.count()
    }
}

impl<W: Width<Generation = ()>, G: Counted> KeyHeap<'_, W, G> {
    /// As [`Heap::shape`].
    #[doc(hidden)]
    pub fn shape(&self, words: &mut [u32]) -> usize {
        self.as_heap().shape(words)
    }
}

impl<'m, W: Width> Engine<'m, W> {
    pub(crate) fn shape(&self, words: &mut Words<'_>) {
        let table = &self.addresses;
        let numbers = [
            self.fresh_pages(),
            self.free_page_count.get(),
            table.made.get(),
            table.retired.get(),
        ];
        words.record(Kind::Numbers, numbers.into_iter());
        for class in self.pages.geometry.classes() {
            self.class_shape(class, words);
        }
        if let Some(slack) = self.slack() {
            #[expect(clippy::cast_possible_truncation, reason = "small heaps, or boundless")]
            let numbers = [slack.spare.get() as u32, slack.next.get()];
            let lent = slack.lent.iter().map(core::cell::Cell::get);
            words.record(Kind::Numbers, numbers.into_iter().chain(lent));
        }
        let free = self.free_entries().map(|entry| self.generation_of(entry));
        words.record(Kind::Entries, free);
    }

    fn class_shape(&self, class: SizeClass, words: &mut Words<'_>) {
        let state = self.class_state(class);
        let frees = [u32::from(state.left.get()), state.credit()];
        words.record(Kind::Numbers, frees.into_iter());
        let mut link = state.head.get();
        while let Some(page) = self.pages.linked(link) {
            words.record(Kind::NotFull, self.page_shape(page));
            link = page.record.next.get();
        }
        for number in 0..self.frontier.get() {
            let page = self.pages.page(number).expect("the page was opened");
            if page.record.class.get() == class && page.used() > 0 && page.free_blocks() == 0 {
                words.record(Kind::Full, self.page_shape(page));
            }
        }
    }

    fn page_shape(&self, page: Page<'m, W>) -> impl Iterator<Item = u32> {
        let blocks = (0..page.blocks()).flat_map(move |number| {
            let block = Block { page, number };
            if !self.pages.is_used(block) {
                return [0, 0];
            }
            let entry = self.pages.back_reference(block);
            let class = self.class_state(page.record.class.get());
            let parked = self
                .parked(class)
                .zip(1..)
                .find(|&(other, _)| other == entry);
            let place = parked.map_or(0, |(_, place)| place);
            [entry + 1, self.generation_of(entry) << 16 | place]
        });
        #[expect(clippy::cast_possible_truncation, reason = "at most 128 classes")]
        let class = page.record.class.get().index() as u32;
        [class, page.id.word()].into_iter().chain(blocks)
    }

    fn free_entries(&self) -> impl Iterator<Item = u32> {
        let named = |number: u32| (number != W::Word::NIL.get()).then_some(number);
        let next = move |&entry: &u32| {
            let word = self.addresses.word(&self.pages.memory, entry);
            named(word.get().get())
        };
        core::iter::successors(named(self.addresses.free.get().get()), next)
    }

    fn generation_of(&self, entry: u32) -> u32 {
        if W::Generation::BYTES == 0 {
            return 0;
        }
        let generation = self.addresses.generation(&self.pages.memory, entry);
        generation.get().get()
    }
}
