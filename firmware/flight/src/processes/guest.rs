//! The guest: a stranger that keeps to nothing. Its script makes it leak, burst and ask for absurd
//! sizes.

use crate::fixed::Random;
use crate::load::Verb;
use crate::memory::Memory;
use crate::port::{Denied, Object, Port};

/// The most objects that it remembers; it forgets all others.
const REMEMBERED: usize = 32;

/// The longest object of a burst.
const LONGEST: u32 = 1000;

/// The objects that it remembers.
#[derive(Debug)]
pub struct Guest<N> {
    held: [Option<Object<N>>; REMEMBERED],
    random: Random,
}

impl<N> Guest<N> {
    /// A guest without objects.
    pub const fn new(seed: u32) -> Self {
        Self {
            held: [const { None }; REMEMBERED],
            random: Random::new(seed, 5),
        }
    }

    /// One release.
    pub fn run<M: Memory<Name = N>>(&mut self, port: &mut Port<'_, M>, verb: Verb) {
        match verb {
            Verb::Rest | Verb::End => {}
            Verb::Ask(len) => drop(port.allocate(len as usize)),
            Verb::Burst(count) => self.burst(port, count),
        }
    }

    /// Frees what it remembers, and allocates anew, until its budget says no.
    fn burst<M: Memory<Name = N>>(&mut self, port: &mut Port<'_, M>, count: u32) {
        for place in &mut self.held {
            port.clear(place);
        }
        for _ in 0..count {
            let len = 16 + self.random.below(LONGEST - 15) as usize;
            match port.allocate(len) {
                Ok(object) => match self.held.iter_mut().find(|place| place.is_none()) {
                    Some(place) => *place = Some(object),
                    None => drop(object),
                },
                Err(Denied::Wait) => return,
                Err(Denied::Refused(_)) => {}
            }
        }
    }
}
