//! Page-blocks of an instance: the size-class automaton without a compaction bound.
//!
//! ```text
//! allocate: free list?               take one                                       M2, M3
//!   else the current page            fill the list with what was freed in it, or never used
//!   else remote frees                do some of them, as frees of its own, and look again
//!   else the first not-full page     becomes the current one
//!   else more remote frees           from the beginning
//!   else a mixed page                divide off what fits                           N1
//!   else a page of a cold class      becomes a mixed one, if hardly used            N2
//!   else open a page                                                                M1
//! free: the free list of the class   while it has room                              F0
//!   else its page's list             used − 1 > watch: that is all                  F1
//!   else enough free in a full page  now the last of the not-full pages            F4
//!   else last object                 the page goes back, unless it is the current   F5
//!   in a mixed page                  its granules are free                          N3
//! ```
//! N1 to N3 are only in a heap whose source takes memory back, and that does not check each free:
//! where a page serves several classes, no certificate counts the pages of each.
//!
//! A full page counts as not full from [`Class::loose`] used page-blocks on, so that the next look
//! at it finds some. A page's `watch` is that number while it is full, and 0 while it is not;
//! [`EACH_FREE`] if the heap checks each free.
#![deny(unsafe_code)]

use lock_api::RawMutex;

use super::chain::Free;
use super::common::Common;
use super::instance::Instance;
use super::memory::{EACH_FREE, Kind, Record, Span};
use super::misuse::Misuse;
use super::mixed::{Mixed, Undivided, class_in, free, used_at};
use super::sizes::Class;
use super::source::Source;

/// Bytes of never used page-blocks that are put into the free list at once.
const OPENED_AT_ONCE: usize = 4096;
/// The most remote frees that are done before an allocation looks again: few, so that their
/// page-blocks are still in the processor's cache when they are allocated; more than arrive between
/// two looks on average, so that they do not pile up.
const DRAINED_AT_ONCE: usize = 128;
/// The most mixed pages in which one allocation looks for a place, and the most pages of a cold
/// class.
const MIXED_AT_ONCE: usize = 4;
/// The most mixed pages in which an allocation looks that found no unit for a page.
const MIXED_AT_LAST: usize = 64;
/// A mixed page without room for a page-block of more bytes may well have room for others.
const LONG: usize = 512;

impl<L: RawMutex, S: Source> Common<L, S> {
    /// Takes a page-block of a class whose free list is empty.
    pub(super) fn refill(&self, own: &Instance, class: Class) -> Option<Free> {
        own.warm(class);
        let mut emptied = false;
        loop {
            if let Some(block) = self.take_current(own, class) {
                return Some(block);
            }
            let arrived = self.drain_some(own, true);
            if arrived {
                if let Some(block) = own.free_list(class).pop() {
                    return Some(block);
                }
                if self.has_free(own, class) {
                    continue;
                }
            }
            let next = own.first(class);
            if next == Span::NONE {
                if arrived {
                    continue;
                }
                // From here on the class has no page with room.
                if let Some(block) = self.take_mixed(own, class) {
                    return Some(block);
                }
                let Some(page) = self.open(own, class) else {
                    if emptied {
                        return self.take_mixed_at_last(own, class);
                    }
                    // Pages may be used by nothing but what lies in free lists.
                    self.empty_free_lists(own);
                    emptied = true;
                    continue;
                };
                self.retire_current(own, class);
                own.set_current(class, page);
            } else {
                self.retire_current(own, class);
                own.unlink(self.memory(), class, next);
                own.set_current(class, next);
            }
        }
    }

    /// Whether something was freed in the current page.
    fn has_free(&self, own: &Instance, class: Class) -> bool {
        let page = own.current(class);
        page != Span::NONE && !self.memory().record(page).free.is_empty()
    }

    /// Puts page-blocks of the current page into the free list: those that were freed, or some that
    /// were never used.
    fn take_current(&self, own: &Instance, class: Class) -> Option<Free> {
        let page = own.current(class);
        if page == Span::NONE {
            return None;
        }
        let record = self.memory().record(page);
        if self.checks() {
            return self.take_one(class, page, record);
        }
        let list = own.free_list(class);
        let opened = record.opened.get();
        if record.free.is_empty() {
            let left = class.shape().blocks - opened;
            if left == 0 {
                return None;
            }
            let some = (OPENED_AT_ONCE / class.block_bytes()).clamp(1, usize::from(left));
            #[expect(clippy::cast_possible_truncation, reason = "at most 256")]
            let some = some as u16;
            list.fill(
                class,
                &self.memory().new_blocks(page, class, opened, some),
                some,
            );
            record.opened.set(opened + some);
            record.set_used(record.used() + some);
        } else {
            list.fill(class, &record.free, opened - record.used());
            record.set_used(opened);
        }
        list.pop()
    }

    /// Takes one page-block of the current page, and puts none into the free list: in a heap that
    /// checks each free, free page-blocks stay in their page.
    fn take_one(&self, class: Class, page: Span, record: &Record) -> Option<Free> {
        let opened = record.opened.get();
        let taken = match record.free.pop() {
            Some(block) => Some(block),
            None if opened < class.shape().blocks => {
                record.opened.set(opened + 1);
                self.memory().new_blocks(page, class, opened, 1).pop()
            }
            None => None,
        }?;
        record.set_used(record.used() + 1);
        Some(taken)
    }

    /// The current page, if there is one, is full now.
    fn retire_current(&self, own: &Instance, class: Class) {
        let page = own.current(class);
        if page != Span::NONE {
            let watch = if self.checks() {
                EACH_FREE
            } else {
                class.loose()
            };
            self.memory().record(page).set_watch(watch);
            own.set_current(class, Span::NONE);
        }
    }

    /// M1: units for a page, out of the buffer or the pool.
    fn open(&self, own: &Instance, class: Class) -> Option<Span> {
        let units = u32::from(class.shape().units);
        let buffered = if units == 1 {
            own.take_buffered()
        } else {
            None
        };
        let page = match buffered {
            Some(unit) => unit,
            None => self.take_units(units, 1, false)?.start,
        };
        self.memory()
            .open_page(page, class, own.number(), self.watched());
        own.count_opened(units);
        Some(page)
    }

    /// N1, N2: puts page-blocks of a class that are divided off a mixed page into the free list,
    /// and takes one. O(π), and O(classes · π) for a class that is shorter than all that found no
    /// room in this era.
    fn take_mixed(&self, own: &Instance, class: Class) -> Option<Free> {
        if !self.mixes() {
            return None;
        }
        if let Some(block) = self.take_listed(own, class, MIXED_AT_ONCE) {
            return Some(block);
        }
        // A new page would most likely be one that holds memory.
        let units = u32::from(class.shape().units);
        let is_cheap =
            || units == 1 && own.buffered() > 0 || self.pool.lock().has_spare(self.memory(), units);
        if own.next_cold(0, class).is_none() || is_cheap() {
            return None;
        }
        self.mix(own, class)
    }

    /// N1, N2: as [`Common::take_mixed`] where no page can be opened: in more of the mixed pages
    /// that are listed, and in pages of any class. O(classes · π).
    #[cold]
    fn take_mixed_at_last(&self, own: &Instance, class: Class) -> Option<Free> {
        if !self.mixes() {
            return None;
        }
        if let Some(block) = self.take_listed(own, class, MIXED_AT_LAST) {
            return Some(block);
        }
        own.chill(class);
        self.mix(own, class)
    }

    /// Whether pages become mixed ones.
    fn mixes(&self) -> bool {
        S::PURGES && !self.checks()
    }

    /// N1: page-blocks of a class out of one of the first `most` mixed pages that are listed.
    fn take_listed(&self, own: &Instance, class: Class, most: usize) -> Option<Free> {
        let (mut next, last) = (own.first_mixed(), own.last_mixed());
        for _ in 0..most {
            if next == Span::NONE {
                break;
            }
            let page = next;
            let record = self.memory().record(page);
            next = record.next.get();
            let mixed = Mixed::of(self.memory(), page, record.units.get());
            if let Some(block) = self.divide(own, class, page, mixed) {
                return Some(block);
            }
            if page == last {
                break;
            }
        }
        None
    }

    /// N1: as many page-blocks of a class as a listed mixed page has room for, and as the free list
    /// takes. If the page has room for no more, it leaves its list, or for long page-blocks goes
    /// behind the others: shorter ones may fit.
    fn divide(&self, own: &Instance, class: Class, page: Span, mixed: Mixed<'_>) -> Option<Free> {
        let (blocks, count) = mixed.divide(class, class.kept());
        if count < class.kept() {
            own.unlink_mixed(self.memory(), page);
            if class.block_bytes() > LONG {
                own.list_mixed(self.memory(), page);
            } else {
                mixed.wait();
            }
        }
        let list = own.free_list(class);
        if count > 0 {
            list.fill(class, &blocks, count);
        }
        list.pop()
    }

    /// N2: makes a page of a cold class a mixed one, if one has room for page-blocks of a class.
    fn mix(&self, own: &Instance, wanted: Class) -> Option<Free> {
        let memory = self.memory();
        let mut from = 0;
        while let Some(cold) = own.next_cold(from, wanted) {
            from = cold.index() + 1;
            let mut is_full = true;
            for _ in 0..MIXED_AT_ONCE {
                let page = own.first(cold);
                if page == Span::NONE {
                    break;
                }
                own.unlink(memory, cold, page);
                match Mixed::divide_anew(memory, page, cold, wanted) {
                    Ok(mixed) => {
                        own.list_mixed(memory, page);
                        let next = own.first(cold);
                        if next != Span::NONE {
                            // It will most likely be mixed soon.
                            memory.prefetch(next, cold);
                        }
                        return self.divide(own, wanted, page, mixed);
                    }
                    Err(why) => is_full &= why == Undivided::Full,
                }
                own.append(memory, cold, page);
            }
            if is_full {
                own.pass_cold(cold);
            }
        }
        own.note_too_long(wanted);
        None
    }

    /// Frees a page-block where F1 is not enough: F4, F5, or a heap that checks each free. It is
    /// the last call of a free, so that F1 saves no registers for it.
    #[cold]
    #[inline(never)]
    pub(super) fn free_slowly(
        &self,
        own: &Instance,
        record: &Record,
        block: Free,
    ) -> Result<(), Misuse> {
        let freed = match record.class() {
            _ if self.checks() => self.free_checked(block),
            Some(class) => {
                self.put(own, class, self.memory().span_of(record), record, block);
                Ok(())
            }
            None => Err(Misuse::NoObject),
        };
        self.look(own);
        freed
    }

    pub(super) fn put(
        &self,
        own: &Instance,
        class: Class,
        page: Span,
        record: &Record,
        block: Free,
    ) {
        record.free.push(block);
        let used = record.used() - 1;
        record.set_used(used);
        if own.current(class) == page {
            return;
        }
        let listed = own.lists(class, page, record);
        if used == 0 {
            if listed {
                own.unlink(self.memory(), class, page);
            }
            self.release(own, page, u32::from(class.shape().units));
        } else if !listed && used <= class.loose() {
            record.set_watch(self.watched());
            own.append(self.memory(), class, page);
        }
    }

    /// Frees a page-block of a mixed page, whichever instance has that: F0, N3.
    #[inline(never)]
    pub(super) fn free_mixed(&self, own: &Instance, unit: Span, block: Free) -> Result<(), Misuse> {
        let class = class_in(self.memory(), unit, block.address()).ok_or(Misuse::NoObject)?;
        let list = own.free_list(class);
        let Err(block) = list.put(block) else {
            return Ok(());
        };
        if list.is_run_down() {
            list.wind_up();
            let kept = list.put(block);
            self.look(own);
            // It has room.
            return kept.map_err(|_| Misuse::NoObject);
        }
        let record = self.memory().first_record(unit);
        let owner = self.memory().owner(unit);
        if owner == own.number() {
            self.put_mixed(own, record, unit, class, &block)
        } else if used_at(self.memory(), block.address()).is_some() {
            self.send(own, class, owner, block);
            Ok(())
        } else {
            Err(Misuse::NoObject)
        }
    }

    /// N3: frees a page-block of a class in a unit of a mixed page.
    #[inline]
    fn put_mixed(
        &self,
        own: &Instance,
        record: &Record,
        unit: Span,
        class: Class,
        block: &Free,
    ) -> Result<(), Misuse> {
        let used = free(self.memory(), record, unit, class, block.address());
        let used = used.ok_or(Misuse::NoObject)?;
        if used <= record.watch.get() {
            self.list_or_release(own, record, used);
        }
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn list_or_release(&self, own: &Instance, record: &Record, used: u16) {
        let (memory, page) = (self.memory(), self.memory().span_of(record));
        let listed = own.lists_mixed(page, record);
        if used > 0 && !listed {
            own.list_mixed(memory, page);
            record.watch.set(0);
        } else if used == 0 {
            if listed {
                own.unlink_mixed(memory, page);
            }
            self.release(own, page, record.units.get());
        }
    }

    /// Frees a page-block into its page of any kind, where F1 is not enough.
    fn put_in(&self, own: &Instance, record: &Record, block: Free) {
        match record.kind() {
            Kind::Page(class) => {
                self.put(own, class, self.memory().span_of(record), record, block);
            }
            Kind::Mixed => {
                // What was sent was looked at by the sender.
                let found = self.memory().unit_of(block.address()).and_then(|unit| {
                    let class = class_in(self.memory(), unit, block.address())?;
                    Some((unit, class))
                });
                if let Some((unit, class)) = found {
                    let _ = self.put_mixed(own, record, unit, class, &block);
                }
            }
            _ => {}
        }
    }

    /// F5: a page without objects that is in no list goes into the buffer, or back to the pool.
    fn release(&self, own: &Instance, page: Span, units: u32) {
        self.memory().close_page(page, units);
        if units > 1 || !own.buffer(page) {
            self.give_units(page, units);
        }
    }

    /// Does all remote frees that arrived.
    pub(super) fn drain(&self, own: &Instance) {
        while self.drain_some(own, false) {}
    }

    /// Does some of the remote frees that arrived, into free lists that have room if `keeps`, as
    /// the thread's own frees. Returns whether there were any.
    fn drain_some(&self, own: &Instance, keeps: bool) -> bool {
        let arrived = own.arrived();
        if arrived.is_empty() {
            if own.inbox().is_empty() {
                return false;
            }
            arrived.fill(&own.inbox().take());
        }
        for _ in 0..DRAINED_AT_ONCE {
            let Some(block) = arrived.pop_and_fetch() else {
                break;
            };
            // Only page-blocks of this instance are sent to it.
            let Some(unit) = self.memory().unit_of(block.address()) else {
                continue;
            };
            let list = own.list_at(self.memory().slot(unit));
            let left = if keeps { list.keep(block) } else { Err(block) };
            let Err(block) = left else {
                continue;
            };
            let record = self.memory().first_record(unit);
            if let Err(block) = record.put_back(block) {
                self.put_in(own, record, block);
            }
        }
        true
    }

    /// Gives back what an instance without free lists keeps, without objects in it: pages, its
    /// buffer.
    pub(super) fn trim(&self, own: &Instance) {
        self.drain(own);
        for class in Class::all() {
            let page = own.current(class);
            if page != Span::NONE && self.memory().record(page).used() == 0 {
                own.set_current(class, Span::NONE);
                self.release(own, page, u32::from(class.shape().units));
            }
        }
        while let Some(unit) = own.take_buffered() {
            self.give_units(unit, 1);
        }
    }

    /// Frees what is in the free lists of an instance, as far as it is others', into batches.
    pub(super) fn empty_free_lists(&self, own: &Instance) {
        Class::all().for_each(|class| self.empty_free_list(own, class));
    }

    /// Frees what is in a free list.
    pub(super) fn empty_free_list(&self, own: &Instance, class: Class) {
        // In a heap that checks each free it is always empty, and the thread that claimed the
        // instance may look meanwhile.
        if own.free_list(class).is_empty() {
            return;
        }
        let blocks = own.free_list(class).take();
        while let Some(block) = blocks.pop() {
            self.put_any(own, class, block);
        }
    }

    /// Frees a page-block of a class into its page, or into a batch if that is another instance's.
    fn put_any(&self, own: &Instance, class: Class, block: Free) {
        let Some(unit) = self.memory().unit_of(block.address()) else {
            return;
        };
        let owner = self.memory().owner(unit);
        if owner != own.number() {
            return self.send(own, class, owner, block);
        }
        let record = self.memory().first_record(unit);
        if let Err(block) = record.put_back(block) {
            self.put_in(own, record, block);
        }
    }
}
