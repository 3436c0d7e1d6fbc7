//! Frees by name in a heap of several instances: the object may belong to another instance, or be
//! destroyed.
//!
//! ```text
//! bound finite, or own instance    lock the group ─▶ is the name's number still the instance's?
//!                                  ─▶ free
//! no bound, and another's object   pin ─▶ is it? ─▶ mark freed ─▶ unpin: the last unpin puts the
//!                                  object on the deferred list of the group, without its lock
//! ```
//! An instance is renamed before its objects are destroyed, each under its group's lock
//! (`destroy`). If the number of a name is the instance's under that lock, nobody has destroyed the
//! object. If it is the instance's under a pin, the memory of the object stays until the unpin.
//! There is no window in between: a stale name changes nothing.
//!
//! # Bounds
//! As a free in the own instance. Without the lock: four atomic operations on the entry, and one on
//! the group. Objects of a vacant instance, which no thread of its own drains, are drained by the
//! threads that free them: at most two per free.
#![deny(unsafe_code)]

use lock_api::RawMutex;
use surefit_classes::Bound;
use surefit_core::Refused;

use super::objects::Objects;
use super::pool::Slot;
use crate::shared::lock::Granularity;

impl<R: RawMutex, G: Granularity> Objects<'_, R, G> {
    /// Frees the object of an entry that was made, if the object belongs to the instance with the
    /// number `heap`. The caller owns its name, and is registered in `instance`.
    ///
    /// # Errors
    /// [`Refused::ForeignHandle`] otherwise; nothing has changed then. [`Refused::TooManyPins`].
    pub(crate) fn free_of_many(
        &self,
        slot: Slot,
        instance: u32,
        index: u32,
        heap: u32,
    ) -> Result<(), Refused> {
        let group = self.engine.entry(index).state().group();
        let own = group >> self.engine.class_bits == instance;
        if !own && self.engine.bound() == Bound::Unbounded {
            return self.free_without_lock(slot, index, heap);
        }
        let section = self.engine.enter(group);
        let state = self.engine.entry(index).state();
        let named = state.group() == group && !state.is_freed() && self.is_of(heap, state);
        if !named {
            return Err(Refused::ForeignHandle);
        }
        self.engine.free_in(section, slot, group, index);
        Ok(())
    }

    /// Leaves the object to the deferred list of its group.
    fn free_without_lock(&self, slot: Slot, index: u32, heap: u32) -> Result<(), Refused> {
        let (entry, state, _) = self.pin_entry(index, heap)?;
        let freed = entry.free_pinned();
        self.engine.after_unpin(entry.unpin(), index);
        if !freed {
            return Err(Refused::ForeignHandle);
        }
        let group = state.group();
        if self.engine.instance_of(group).threads() == Some(0) {
            self.engine.free_deferred(slot, group);
        }
        Ok(())
    }
}
