//! A script of allocations and frees of random victims, as it is written.

use super::random::Random;
use super::tape::{Object, Sink, Tape};

/// A program in the making: where its events go, and what is live.
pub(super) struct Script<'s> {
    pub(super) random: Random,
    tape: Tape<'s>,
    /// The live objects, in no order.
    live: Vec<Object>,
}

impl<'s> Script<'s> {
    pub(super) fn new(seed: u64, sink: Sink<'s>) -> Self {
        Self {
            random: Random::new(seed),
            tape: Tape::new(sink),
            live: Vec::new(),
        }
    }

    pub(super) fn live_bytes(&self) -> u64 {
        self.tape.live_bytes()
    }

    pub(super) fn live_objects(&self) -> usize {
        self.live.len()
    }

    pub(super) fn allocate(&mut self, size: u64) {
        let object = self.tape.allocate(size);
        self.live.push(object);
    }

    /// Frees one of the live objects, each as likely as the others. There must be one.
    pub(super) fn free_random(&mut self) {
        let victim = self.random.below(self.live.len() as u64);
        let object = self.live.swap_remove(victim as usize);
        self.tape.free(object);
    }
}
