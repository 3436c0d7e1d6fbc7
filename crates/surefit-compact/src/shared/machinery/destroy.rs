//! All objects of an instance at once: their memory comes back, and their names are stale.
//!
//! ```text
//! close     nobody is registered, and nobody can register
//! look      a pinned object ─▶ open again; Busy
//! rename    the instance gets another number: from here on every name of its objects is stale
//! kill      each object, under its group's lock: mark it freed; nobody has it pinned ─▶ give page-block and entry back
//!           somebody does ─▶ who unpins it last puts it on the deferred list
//! open
//! ```
//! A pin is an addition to the entry, then a look at the number; a kill is a change of the entry after the number has
//! changed. So either the pin came first, and the kill leaves the object to it; or the pin sees the new number, and is
//! taken back. The look before is for the caller, who should know of pins; that nothing is read after it was given back
//! rests on the kill.
//!
//! # Bounds
//! O(entries ever made): two looks at each entry, and one section for each object of the instance. No section is longer
//! than that of a free; nothing is moved.
#![deny(unsafe_code)]

use lock_api::RawMutex;
use surefit_core::Refused;

use super::engine::SharedEngine;
use super::entry::Freed;
use super::pool::NO_SLOT;
use crate::handle::HeapId;
use crate::shared::lock::Granularity;

impl<R: RawMutex, G: Granularity> SharedEngine<'_, R, G> {
    /// Destroys the objects of an instance, without dropping their values; returns their number.
    ///
    /// # Errors
    /// [`Refused::Busy`] if a thread is registered in the instance, or an object of it is pinned; [`Refused::NoHeapId`].
    /// Nothing has changed.
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
        // Every entry of the instance is made: nobody allocates from it.
        let made = self.store.pool().made;
        if (0..made).any(|index| self.is_pinned_of(index, number)) {
            return Err(Refused::Busy);
        }
        let id = HeapId::unique()?;
        self.instances[number as usize].rename(id.get());
        let killed = (0..made).filter(|&index| self.kill(index, number)).count();
        self.drain_groups(NO_SLOT, self.groups_of(number));
        for group in self.groups_of(number) {
            self.spill(&self.enter(group), 0);
        }
        Ok(killed as u64)
    }

    fn is_pinned_of(&self, index: u32, number: u32) -> bool {
        let state = self.entry(index).state();
        !state.is_freed() && state.pins() > 0 && state.group() >> self.class_bits == number
    }

    /// Ends an object, if it is one of the instance; whether it was.
    fn kill(&self, index: u32, number: u32) -> bool {
        let entry = self.entry(index);
        let group = entry.state().group();
        if entry.state().is_freed() || group >> self.class_bits != number {
            return false;
        }
        let section = self.enter(group);
        // Entries come to the instance, and leave it, only under its locks; a foreign free may have come before.
        let state = entry.state();
        if state.group() != group || state.is_freed() {
            return false;
        }
        if state.is_moving() {
            self.cancel(&section, NO_SLOT, group);
        }
        if let Freed::Now(_) = entry.mark_freed() {
            section.class.set_quiet(0);
            let freed = self.release(&section, NO_SLOT, group, index);
            if let Some(kept) = freed.kept {
                self.clear(&section, NO_SLOT, group, kept);
            }
        }
        true
    }
}
