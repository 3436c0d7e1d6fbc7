//! The timing pass: it only replays, and writes the first word of each object.
//!
//! The clock is the processor time of the thread, read before and after, so that what other programs do on a shared
//! machine stays out of it. The heap is built, and what is left is freed, outside of the measured time.

use surefit_os::clock;

use super::replay::{Hooks, Stop, Stopped, Table, drain, replay};
use crate::steps::{Step, Steps};
use crate::subject::{Pass, Subject};

/// One replay of a trace; its output is its nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Timing<'a> {
    /// The trace.
    pub steps: &'a Steps,
}

/// Writes the first word of what was allocated or resized.
#[derive(Debug)]
pub struct FirstWord;

impl<S: Subject> Hooks<S> for FirstWord {
    #[inline]
    fn allocated(
        &mut self,
        subject: &mut S,
        object: &mut S::Object,
        step: Step,
    ) -> Result<(), Stop> {
        // SAFETY: the object is live and has the step's size (`Hooks`).
        unsafe { subject.write_word(object, step.layout(), u64::from(step.slot)) };
        Ok(())
    }

    #[inline]
    fn resized(&mut self, subject: &mut S, object: &mut S::Object, step: Step) -> Result<(), Stop> {
        // SAFETY: the object is live and has the step's size (`Hooks`).
        unsafe { subject.write_word(object, step.layout(), u64::from(step.slot)) };
        Ok(())
    }
}

impl Pass for Timing<'_> {
    type Output = Result<u64, Stopped>;

    fn run<S: Subject>(self, subject: S) -> Self::Output {
        measure(subject, self.steps, &mut FirstWord)
    }
}

/// The nanoseconds of one replay with these hooks.
///
/// # Errors
/// The replay stopped.
pub fn measure<S: Subject, H: Hooks<S>>(
    mut subject: S,
    steps: &Steps,
    hooks: &mut H,
) -> Result<u64, Stopped> {
    let mut table = Table::new(steps.slots());
    let before = clock::thread_cpu_ns();
    replay(&mut subject, &mut table, steps, hooks)?;
    let after = clock::thread_cpu_ns();
    drain(&mut subject, table, steps);
    Ok(after - before)
}

/// Replays without touching any object: the cheapest way to learn whether a trace completes.
#[derive(Clone, Copy, Debug)]
pub struct Untouched<'a> {
    /// The trace.
    pub steps: &'a Steps,
}

struct Nothing;

impl<S: Subject> Hooks<S> for Nothing {}

impl Pass for Untouched<'_> {
    type Output = Result<u64, Stopped>;

    fn run<S: Subject>(self, subject: S) -> Self::Output {
        measure(subject, self.steps, &mut Nothing)
    }
}
