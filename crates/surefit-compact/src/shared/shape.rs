//! The state that decides what a shared heap will do, as numbers, while no thread works on it: see
//! [`crate::shape`].
//!
//! Not part of the public interface.

use core::sync::atomic::Ordering::Relaxed;

use lock_api::RawMutex;
use surefit_classes::Bound;

use super::lock::{Granularity, Stepwise};
use super::machinery::engine::SharedEngine;
use super::machinery::entry_list::{EntryList, NIL};
use super::machinery::group::Section;
use super::many_instances::heap::ShardedHeap;
use super::one_instance::heap::SharedHeap;
use crate::page::{Block, Page};
use crate::shape::{Kind, Words};
use crate::width::Spread;

impl<R: RawMutex, G: Granularity> SharedHeap<'_, R, G> {
    /// As [`Heap::shape`](crate::Heap::shape).
    ///
    /// # Safety
    /// S1: no other thread works on the heap meanwhile: page records are read without the locks
    /// that guard them.
    #[doc(hidden)]
    pub unsafe fn shape(&self, words: &mut [u32]) -> usize {
        // SAFETY: S1.
        unsafe { self.objects.engine.shape(words) }
    }
}

impl<R: RawMutex, G: Stepwise> ShardedHeap<'_, R, G> {
    /// As [`SharedHeap::shape`].
    ///
    /// # Safety
    /// S1: as there.
    #[doc(hidden)]
    pub unsafe fn shape(&self, words: &mut [u32]) -> usize {
        // SAFETY: S1.
        unsafe { self.objects.engine.shape(words) }
    }
}

impl<'m, R: RawMutex, G: Granularity> SharedEngine<'m, R, G> {
    /// # Safety
    /// S1: no other thread works on the heap meanwhile.
    unsafe fn shape(&self, words: &mut [u32]) -> usize {
        let mut words = Words::new(words);
        self.store_shape(&mut words);
        for instance in self.instances {
            let threads = instance.threads().unwrap_or(NIL);
            let numbers = [instance.pages(), instance.quota(), threads];
            words.record(Kind::Numbers, numbers.into_iter());
        }
        if let Some(slack) = &self.slack {
            let groups = self.groups_of(0).end;
            words.record(Kind::Numbers, slack.shape(groups));
        }
        for group in self.all_groups() {
            self.group_shape(group, &mut words);
        }
        words.count()
    }

    fn store_shape(&self, words: &mut Words<'_>) {
        let pool = self.store.pool();
        let fresh = pool.fresh_pages(self.pages.geometry.page_shift());
        let numbers = [fresh, pool.pages.count(), pool.made];
        words.record(Kind::Numbers, numbers.into_iter());
        words.record(Kind::Entries, alike(&pool.entries));
        drop(pool);
        for buffer in self.store.buffers {
            let buffer = buffer.0.lock();
            let numbers = [u32::from(buffer.taken), buffer.pages.count()];
            words.record(Kind::Numbers, numbers.into_iter());
            words.record(Kind::Entries, alike(&buffer.entries));
        }
    }

    fn group_shape(&self, group: u32, words: &mut Words<'_>) {
        let section = self.enter(group);
        let hint = section.group().hint.load(Relaxed);
        let credit = match self.bound() {
            Bound::Holes { .. } => section.class.credit(),
            // Nothing depends on it.
            Bound::Pages(_) | Bound::Unbounded => 0,
        };
        let numbers = [
            section.live(),
            u32::from(section.moving.get().is_some()),
            u32::from(hint != section.class.head.get()),
            credit,
            section.parked.count(),
        ];
        words.record(Kind::Numbers, numbers.into_iter());
        words.record(Kind::Entries, alike(&section.spare));
        let mut link = section.class.head.get();
        while let Some(page) = self.pages.linked(link) {
            words.record(Kind::NotFull, self.page_shape(&section, group, page));
            link = page.record.next.get();
        }
        for number in 0..self.pages.count() {
            let page = self.pages.page(number).expect("a number of a page");
            if page.used() > 0 && page.free_blocks() == 0 && self.is_page_of(page, group) {
                words.record(Kind::Full, self.page_shape(&section, group, page));
            }
        }
    }

    /// Whether a full page is one of the group's.
    fn is_page_of(&self, page: Page<'m, Spread>, group: u32) -> bool {
        let first = self.pages.back_reference(Block { page, number: 0 });
        self.entry(first).state().group() == group
    }

    fn page_shape<'a>(
        &'a self,
        section: &'a Section<'m, R>,
        group: u32,
        page: Page<'m, Spread>,
    ) -> impl Iterator<Item = u32> + 'a {
        let blocks = (0..page.blocks()).flat_map(move |number| {
            let block = Block { page, number };
            if !self.pages.is_used(block) {
                return [0, 0];
            }
            let index = self.pages.back_reference(block);
            [index + 1, self.attributes(section, index)]
        });
        [group, page.id.word()].into_iter().chain(blocks)
    }

    fn attributes(&self, section: &Section<'m, R>, index: u32) -> u32 {
        let state = self.entry(index).state();
        let mut places = self.waiting(section).chain(self.parked(section));
        let place = places.position(|waits| waits == index);
        let place = place.map_or(0, |place| u32::try_from(place).expect("small") + 1);
        state.pins()
            | u32::from(state.is_freed()) << 6
            | u32::from(state.is_writer()) << 7
            | place << 8
    }

    /// Entries of objects that are freed and wait, in the order in which calls will take them.
    /// Objects that join later are not among them.
    fn waiting<'a>(&'a self, section: &Section<'m, R>) -> impl Iterator<Item = u32> + 'a {
        let group = section.group();
        let lists = [group.draining().load(Relaxed), group.first_deferred()];
        let next = |&index: &u32| named(self.entry(index).deferred_next());
        lists
            .into_iter()
            .flat_map(move |first| core::iter::successors(named(first), next))
    }

    /// Entries of parked pairs, in the order in which calls will take them.
    fn parked<'a>(&'a self, section: &Section<'m, R>) -> impl Iterator<Item = u32> + 'a {
        let next = |&index: &u32| named(self.entry(index).parked().0);
        core::iter::successors(named(section.parked.head()), next)
    }
}

/// Free entries, none of which differs from another.
fn alike(list: &EntryList) -> impl Iterator<Item = u32> {
    core::iter::repeat_n(0, list.count() as usize)
}

/// The entry that a link names, if any.
fn named(link: u32) -> Option<u32> {
    (link != NIL).then_some(link)
}
