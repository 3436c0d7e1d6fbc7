//! What an allocation does before it is refused: it gives parked pairs back, frees the objects on
//! deferred lists, and compacts an instance that has reached its quota.
//!
//! ```text
//! no page, no handle   give back what is parked anywhere
//!                      ─▶ drain the deferred lists of the instance ─▶ of all instances ─▶ refuse
//! quota                give back what is parked in the instance
//!                      ─▶ drain the deferred lists of the instance ─▶ compact it       ─▶ refuse
//! ```
//! After each of these the allocation is tried again. Every attempt takes back pages that other
//! threads buffer (`pool`). Certificates do not need parked pairs to be given back (`parked`): this
//! serves heaps that are filled beyond a certificate.
//!
//! # Bounds
//! Linear in the parked pairs, at most half of the handle buffer of every group; in the objects
//! that wait on deferred lists; and in those that compaction moves. Each of them is paid for once,
//! but one allocation may pay for all. An allocation that is served at once does none of this.
#![deny(unsafe_code)]

use lock_api::RawMutex;
use surefit_core::Refused;

use super::engine::SharedEngine;
use super::pool::Slot;
use crate::shared::lock::Granularity;

/// What an allocation that was refused has tried.
#[derive(Default)]
struct Tried {
    own_parked: bool,
    all_parked: bool,
    own: bool,
    all: bool,
    compacted: bool,
}

impl<R: RawMutex, G: Granularity> SharedEngine<'_, R, G> {
    /// Allocates after [`SharedEngine::allocate`] has refused, if room can be made.
    ///
    /// # Errors
    /// The resource that is still exhausted. No object was allocated; others may have moved.
    #[cold]
    pub(crate) fn allocate_after_relief(
        &self,
        slot: Slot,
        group: u32,
        mut refused: Refused,
    ) -> Result<(u32, u32), Refused> {
        let mut tried = Tried {
            all: self.instances.len() == 1,
            ..Tried::default()
        };
        while self.relieve(slot, group, refused, &mut tried) {
            match self.allocate(slot, group) {
                Err(again) => refused = again,
                allocated => return allocated,
            }
        }
        Err(refused)
    }

    /// Makes room by the next means. Returns false if there is none left.
    fn relieve(&self, slot: Slot, group: u32, refused: Refused, tried: &mut Tried) -> bool {
        let own = || self.groups_of(group >> self.class_bits);
        match refused {
            Refused::NoPage | Refused::NoHandle if !tried.all_parked => {
                tried.all_parked = true;
                self.give_back_parked_of(slot, self.all_groups());
            }
            Refused::Quota if !tried.own_parked => {
                tried.own_parked = true;
                self.give_back_parked_of(slot, own());
            }
            Refused::NoPage | Refused::NoHandle | Refused::Quota if !tried.own => {
                tried.own = true;
                self.drain_groups(slot, own());
            }
            Refused::NoPage | Refused::NoHandle if !tried.all => {
                tried.all = true;
                self.drain_groups(slot, self.all_groups());
            }
            Refused::Quota if !tried.compacted => {
                tried.compacted = true;
                self.compact(slot, own(), u64::MAX);
            }
            _ => return false,
        }
        true
    }

    /// Frees all objects of some groups that were freed without the lock. Returns their number.
    pub(crate) fn drain_groups(&self, slot: Slot, groups: impl Iterator<Item = u32>) -> u64 {
        let mut freed = 0;
        for group in groups {
            while self.free_next_deferred(slot, group) {
                freed += 1;
            }
        }
        freed
    }
}
