//! Which instance a thread registers in.
//!
//! ```text
//! fewest threads first ─▶ among those, most pages ─▶ among those, the lowest number
//! ```
//! So a thread adopts a vacant instance, with the pages and objects that its former threads left,
//! before it gets an empty one. It shares an instance only if none is vacant. No instance has more
//! than ⌈locals / instances⌉ threads, the sharing degree.
//!
//! # Bounds
//! O(instances), once more for each thread that registers or leaves at the same moment.
#![deny(unsafe_code)]

use core::cmp::Reverse;

use lock_api::RawMutex;
use surefit_core::Refused;

use super::engine::SharedEngine;
use crate::shared::lock::Granularity;

impl<R: RawMutex, G: Granularity> SharedEngine<'_, R, G> {
    /// The most threads of one instance.
    pub(crate) fn threads_per_instance(&self) -> u32 {
        let instances = u32::try_from(self.instances.len()).expect("at most 4096 instances");
        u32::from(self.config.locals()).div_ceil(instances)
    }

    /// Registers a thread in an instance.
    ///
    /// # Errors
    /// [`Refused::NoLocal`] if the instance takes no other thread; [`Refused::Busy`] while it is
    /// being destroyed.
    pub(crate) fn join(&self, instance: u32) -> Result<(), Refused> {
        self.instances[instance as usize].enter(self.threads_per_instance())
    }

    /// Registers a thread in the first instance in the order above.
    ///
    /// # Errors
    /// [`Refused::NoLocal`] if no instance takes another thread; [`Refused::Busy`] if all are being
    /// destroyed.
    pub(crate) fn join_best(&self) -> Result<u32, Refused> {
        let most = self.threads_per_instance();
        loop {
            let (number, threads) = self.best_instance(most)?;
            if self.instances[number as usize].enter_at(threads) {
                return Ok(number);
            }
        }
    }

    /// The first instance in the order above, and the number of its threads.
    fn best_instance(&self, most: u32) -> Result<(u32, u32), Refused> {
        let open = (0..).zip(self.instances).filter_map(|(number, instance)| {
            let threads = instance.threads()?;
            Some((threads, Reverse(instance.pages()), number))
        });
        let (threads, _, number) = open.min().ok_or(Refused::Busy)?;
        if threads >= most {
            return Err(Refused::NoLocal);
        }
        Ok((number, threads))
    }
}
