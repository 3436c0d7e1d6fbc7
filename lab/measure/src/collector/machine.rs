//! A Lua machine on any allocator of the registry that hands out raw pointers.

use std::mem::MaybeUninit;
use std::time::Instant;

use surefit_clients::lua::{Options, Ran, Script, run_and_look};
use surefit_core::Refused;
use surefit_freelist::Counters;
use surefit_gc::Clock;

use crate::registry::Kind;
use crate::subject::{Pass, Subject};
use crate::subjects::pointer::Through;

/// The result of running a script, and what the heap did.
#[derive(Clone, Debug)]
pub struct Done {
    /// How the script ended, and what it requested.
    pub ran: Ran,
    /// What the free lists did until the script ended; `None` if the heap has no free lists of
    /// surefit.
    pub counters: Option<Counters>,
}

/// Runs a script on an allocator in a region; `None` if the allocator hands out no raw pointers.
///
/// # Errors
/// The region is too small for the allocator's own tables.
pub fn run<K: Clock>(
    kind: &Kind,
    memory: &mut [MaybeUninit<u8>],
    clock: K,
    script: &Script<'_>,
    options: Options,
) -> Result<Option<Done>, Refused> {
    kind.run(
        memory,
        Machine {
            clock,
            script,
            options,
        },
    )
}

/// The pass that runs a script.
struct Machine<'a, K> {
    clock: K,
    script: &'a Script<'a>,
    options: Options,
}

impl<K: Clock> Pass for Machine<'_, K> {
    type Output = Option<Done>;

    fn run<S: Subject>(self, mut subject: S) -> Option<Done> {
        let mut heap = Through(subject.pointers()?);
        let look = |heap: &Through<'_>| heap.0.counters();
        let (ran, counters) = run_and_look(&mut heap, self.clock, self.script, self.options, look);
        Some(Done { ran, counters })
    }
}

/// A clock of elapsed time, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Wall(Instant);

impl Default for Wall {
    fn default() -> Self {
        Self::new()
    }
}

impl Wall {
    /// A clock that starts now.
    #[must_use]
    pub fn new() -> Self {
        Self(Instant::now())
    }
}

impl Clock for Wall {
    #[inline]
    fn now(&self) -> u64 {
        self.0.elapsed().as_nanos() as u64
    }
}
