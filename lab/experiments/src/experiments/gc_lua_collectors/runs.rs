//! One run of a program: on malloc, or in so many bytes of ours.
#![deny(unsafe_code)]

use std::mem::MaybeUninit;

use anyhow::{Result, bail};
use surefit_clients::lua::{
    Collecting, Counts, Failure, Options, Output, Program, Ran, Script, run,
};
use surefit_core::{RawHeap, Refused};
use surefit_freelist::{SegregatedFit, Tlsf};
use surefit_gc::{Clock, NoClock};
use surefit_os::Reservation;
use surefit_os::clock::thread_cpu_ns;

use super::malloc::Malloc;

/// Before a script: every collection finalizes one object, which counts it and makes the next.
const WATCH: &str = "local cycles = 0 do local function watch() setmetatable({}, \
                     { __gc = function() cycles = cycles + 1 watch() end }) end watch() end ";

/// After a script: the last line is their number.
const TELL: &str = "\nprint(cycles)";

/// A heap of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    /// Segregated lists, the heap of `surefit gc lua` unless it is told another.
    Lists,
    /// Two-level segregated fit.
    Tlsf,
}

/// The processor time of this thread.
struct Processor;

impl Clock for Processor {
    fn now(&self) -> u64 {
        thread_cpu_ns()
    }
}

/// What a run came to.
#[derive(Clone, Debug)]
pub(super) struct Done {
    /// What the machine requested.
    pub(super) counts: Counts,
    /// What the program printed.
    pub(super) output: Vec<u8>,
    /// Processor time of everything: the region, its first touches, the machine from its start to
    /// its end.
    pub(super) ns: f64,
}

/// A program with its number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Runner<'a> {
    program: &'static Program,
    arguments: &'a [&'a [u8]],
}

impl<'a> Runner<'a> {
    pub(super) const fn new(program: &'static Program, arguments: &'a [&'a [u8]]) -> Self {
        Self { program, arguments }
    }

    /// Runs it on malloc.
    ///
    /// # Errors
    /// It fails.
    pub(super) fn on_malloc(&self, collecting: Collecting) -> Result<Done> {
        let began = thread_cpu_ns();
        let ran = self.script(&mut Malloc::<false>::default(), NoClock, collecting);
        let ns = (thread_cpu_ns() - began) as f64;
        self.done(ran, ns)
    }

    /// The most bytes that it takes on malloc: as Lua counts them, and as malloc's chunks.
    ///
    /// # Errors
    /// It fails.
    pub(super) fn peaks(&self, collecting: Collecting) -> Result<(usize, usize)> {
        let mut malloc = Malloc::<true>::default();
        let ran = self.script(&mut malloc, NoClock, collecting);
        let done = self.done(ran, 0.0)?;
        Ok((done.counts.peak_bytes as usize, malloc.peak_bytes()))
    }

    /// Collections of Lua's own collector, on malloc.
    ///
    /// # Errors
    /// It fails.
    pub(super) fn cycles(&self, collecting: Collecting) -> Result<u64> {
        let source = [WATCH, self.program.source, TELL].concat();
        let script = Script {
            source: source.as_bytes(),
            ..self.program.script(self.arguments)
        };
        let ran = run_script(
            &mut Malloc::<false>::default(),
            NoClock,
            &script,
            collecting,
        );
        let done = self.done(ran, 0.0)?;
        let printed = String::from_utf8_lossy(&done.output);
        let last = printed.lines().last().unwrap_or_default();
        Ok(last.parse()?)
    }

    /// Runs it in so many bytes of ours, the heap's own tables included; `None` if memory runs out.
    ///
    /// # Errors
    /// It fails otherwise; the system has no memory.
    pub(super) fn in_bytes(
        &self,
        space: Space,
        bytes: usize,
        collecting: Collecting,
    ) -> Result<Option<Done>> {
        let began = thread_cpu_ns();
        let ran = self.in_region(space, bytes, NoClock, collecting)?;
        let ns = (thread_cpu_ns() - began) as f64;
        self.or_full(ran, ns)
    }

    /// Processor time inside collections, if it collects when it is refused.
    ///
    /// # Errors
    /// As [`Self::in_bytes`].
    pub(super) fn collecting_ns(&self, space: Space, bytes: usize) -> Result<Option<f64>> {
        let ran = self.in_region(space, bytes, Processor, Collecting::WhenRefused)?;
        let done = self.or_full(ran, 0.0)?;
        Ok(done.map(|done| done.counts.collection_ticks as f64))
    }

    fn in_region<K: Clock>(
        &self,
        space: Space,
        bytes: usize,
        clock: K,
        collecting: Collecting,
    ) -> Result<Option<Ran>> {
        let mut region = Reservation::new(bytes)?;
        let memory = region.memory();
        let ran = match space {
            Space::Lists => over::<SegregatedFit<'_>>(memory, SegregatedFit::new)
                .map(|mut heap| self.script(&mut heap, clock, collecting)),
            Space::Tlsf => over::<Tlsf<'_>>(memory, Tlsf::new)
                .map(|mut heap| self.script(&mut heap, clock, collecting)),
        };
        Ok(ran.ok())
    }

    fn script<H: RawHeap, K: Clock>(&self, heap: &mut H, clock: K, collecting: Collecting) -> Ran {
        run_script(
            heap,
            clock,
            &self.program.script(self.arguments),
            collecting,
        )
    }

    fn done(&self, ran: Ran, ns: f64) -> Result<Done> {
        match ran.result {
            Ok(()) => Ok(Done {
                counts: ran.counts,
                output: ran.output,
                ns,
            }),
            Err(failure) => bail!("{}: {failure}", self.program.name),
        }
    }

    fn or_full(&self, ran: Option<Ran>, ns: f64) -> Result<Option<Done>> {
        match ran {
            Some(ran) if !matches!(ran.result, Err(Failure::OutOfMemory(_))) => {
                self.done(ran, ns).map(Some)
            }
            _ => Ok(None),
        }
    }
}

/// A heap over what a region has beside the heap's own value.
fn over<'m, H>(
    memory: &'m mut [MaybeUninit<u8>],
    new: impl FnOnce(&'m mut [MaybeUninit<u8>]) -> Result<H, Refused>,
) -> Result<H, Refused> {
    let rest = memory.len().saturating_sub(size_of::<H>());
    new(&mut memory[..rest])
}

fn run_script<H: RawHeap, K: Clock>(
    heap: &mut H,
    clock: K,
    script: &Script<'_>,
    collecting: Collecting,
) -> Ran {
    let options = Options {
        output: Output::Kept,
        collecting,
        ..Options::default()
    };
    run(heap, clock, script, options)
}

#[cfg(test)]
mod tests {
    use super::{Runner, Space};
    use surefit_clients::lua::{Collecting, PROGRAMS};

    #[test]
    fn a_run_is_counted_everywhere() {
        let program = &PROGRAMS[0];
        let arguments = [program.small.as_bytes()];
        let runner = Runner::new(program, &arguments);
        let usual = Collecting::Incremental {
            pause: 0,
            step_multiplier: 0,
        };
        let on_malloc = runner.on_malloc(usual).expect("it ends");
        let (requested, chunks) = runner.peaks(usual).expect("it ends");
        assert!(requested < chunks && chunks < 2 * requested);
        assert!(runner.cycles(usual).expect("it ends") > 0);
        for space in [Space::Lists, Space::Tlsf] {
            let ours = runner.in_bytes(space, chunks, Collecting::WhenRefused);
            let ours = ours.expect("it ends").expect("it has room");
            assert!(ours.output == on_malloc.output && ours.counts.collections > 0);
            let collecting = runner.collecting_ns(space, chunks).expect("it ends");
            assert!(collecting.is_some_and(|ns| ns > 0.0));
            let none = runner.in_bytes(space, 20_000, usual);
            assert!(none.expect("no error of the program's").is_none());
        }
    }
}
