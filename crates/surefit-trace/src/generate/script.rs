//! A script of allocations and frees of random victims, as it is written.

use super::random::Random;
use crate::{Call, Event, Op, Trace};

/// A program in the making: its events, and what is live.
pub(crate) struct Script {
    pub(crate) random: Random,
    events: Vec<Event>,
    /// The live objects and their sizes in bytes, in no order.
    live: Vec<(u32, u64)>,
    live_bytes: u64,
    next_id: u32,
}

impl Script {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            random: Random::new(seed),
            events: Vec::new(),
            live: Vec::new(),
            live_bytes: 0,
            next_id: 0,
        }
    }

    pub(crate) fn live_bytes(&self) -> u64 {
        self.live_bytes
    }

    pub(crate) fn live_objects(&self) -> usize {
        self.live.len()
    }

    pub(crate) fn allocate(&mut self, size: u64) {
        let op = Op::Alloc {
            id: self.next_id,
            size,
            call: Call::Malloc,
        };
        self.events.push(Event::new(0, op));
        self.live.push((self.next_id, size));
        self.live_bytes += size;
        self.next_id += 1;
    }

    /// Frees one of the live objects, each as likely as the others. There must be one.
    pub(crate) fn free_random(&mut self) {
        let victim = self.random.below(self.live.len() as u64);
        let (id, size) = self.live.swap_remove(victim as usize);
        self.events.push(Event::new(0, Op::Free { id }));
        self.live_bytes -= size;
    }

    /// The finished trace.
    ///
    /// # Panics
    /// Never: a script is sound by its construction.
    pub(crate) fn finish(self, name: &str) -> Trace {
        Trace::new(name, self.events)
            .expect("a script numbers its objects and frees live ones only")
    }
}
