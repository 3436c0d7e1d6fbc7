//! A script of allocations and frees of random victims, as it is written.

use super::random::Random;
use super::tape::{Object, Tape};
use crate::Trace;

/// A program in the making: its events, and what is live.
pub(crate) struct Script {
    pub(crate) random: Random,
    tape: Tape,
    /// The live objects, in no order.
    live: Vec<Object>,
}

impl Script {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            random: Random::new(seed),
            tape: Tape::default(),
            live: Vec::new(),
        }
    }

    pub(crate) fn live_bytes(&self) -> u64 {
        self.tape.live_bytes()
    }

    pub(crate) fn live_objects(&self) -> usize {
        self.live.len()
    }

    pub(crate) fn allocate(&mut self, size: u64) {
        let object = self.tape.allocate(size);
        self.live.push(object);
    }

    /// Frees one of the live objects, each as likely as the others. There must be one.
    pub(crate) fn free_random(&mut self) {
        let victim = self.random.below(self.live.len() as u64);
        let object = self.live.swap_remove(victim as usize);
        self.tape.free(object);
    }

    /// The finished trace.
    pub(crate) fn finish(self, name: &str) -> Trace {
        self.tape.finish(name)
    }
}
