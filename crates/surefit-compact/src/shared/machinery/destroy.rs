//! Frees all objects of an instance at once. Their names are stale from then on.
//!
//! ```text
//! close     no thread is registered, and none can register
//! look      a pinned object ─▶ open again; Busy
//! rename    the instance gets another number: from here on every name of its objects is stale
//! kill      each object, under its group's lock: mark it freed
//!           no pin ─▶ give page-block and entry back; pins ─▶ the last unpin defers it
//! open
//! ```
//! A pin adds to the entry, then looks at the number. A kill changes the entry after the number has
//! changed. Either the pin came first: then the kill leaves the object to it. Or the pin sees the
//! new number: then it is undone. The look at the beginning serves the caller, who should learn of
//! pins. That nothing is read after it was given back depends on the kill alone.
//!
//! # Bounds
//! O(entries ever made): two looks at each entry, and one section for each object of the instance.
//! No section is longer than that of a free. Nothing moves.
#![deny(unsafe_code)]

use lock_api::RawMutex;
use surefit_core::Refused;

use super::engine::SharedEngine;
use super::entry::Freed;
use super::pool::NO_SLOT;
use crate::handle::HeapId;
use crate::shared::lock::Granularity;

impl<R: RawMutex, G: Granularity> SharedEngine<'_, R, G> {
    /// Destroys the objects of an instance without dropping their values, and returns how many
    /// there were.
    ///
    /// # Errors
    /// [`Refused::Busy`] if a thread is registered in the instance, or one of its objects is
    /// pinned; [`Refused::NoHeapId`]. Nothing has changed then.
    pub(crate) fn destroy(&self, number: u32) -> Result<u64, Refused> {
        let instance = &self.instances[number as usize];
        if !instance.close() {
            return Err(Refused::Busy);
        }
        let destroyed = self.destroy_closed(number);
        instance.open();
        destroyed
    }

    fn destroy_closed(&self, number: u32) -> Result<u64, Refused> {
        // All entries of the instance are made already, because no thread allocates from it.
        let made = self.store.pool().made;
        if (0..made).any(|index| self.is_pinned_of(index, number)) {
            return Err(Refused::Busy);
        }
        let id = HeapId::unique()?;
        self.instances[number as usize].rename(id.get());
        let killed = (0..made).filter(|&index| self.kill(index, number)).count();
        self.drain_groups(NO_SLOT, self.groups_of(number));
        for group in self.groups_of(number) {
            let section = self.enter(group);
            self.give_back_parked(&section, NO_SLOT, group);
            self.spill(&section, 0);
        }
        Ok(killed as u64)
    }

    fn is_pinned_of(&self, index: u32, number: u32) -> bool {
        let state = self.entry(index).state();
        !state.is_freed() && state.pins() > 0 && state.group() >> self.class_bits == number
    }

    /// Ends an object if it belongs to the instance. Returns whether it did.
    fn kill(&self, index: u32, number: u32) -> bool {
        let entry = self.entry(index);
        let group = entry.state().group();
        if entry.state().is_freed() || group >> self.class_bits != number {
            return false;
        }
        let section = self.enter(group);
        // Entries join and leave the instance only under its locks. A free by another thread may
        // have come first.
        let state = entry.state();
        if state.group() != group || state.is_freed() {
            return false;
        }
        if state.is_moving() {
            self.cancel(&section, NO_SLOT, group);
        }
        if let Freed::Now(_) = entry.mark_freed() {
            section.class.set_credit(0);
            let freed = self.begin_free(&section, NO_SLOT, group, index);
            if let Some(kept) = freed.kept {
                self.clear(&section, NO_SLOT, group, kept);
            }
        }
        true
    }
}
