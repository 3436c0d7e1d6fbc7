//! The timing pass: it replays the trace and writes the first word of each object, nothing else.
//! The clock is the processor time of the thread, so other programs on a shared machine do not
//! count. It is read before and after the replay. Building the heap and freeing what is left are
//! not measured.

use surefit_os::clock;

use super::replay::{Hooks, Stop, Stopped, Table, drain, replay};
use crate::steps::{Step, Steps};
use crate::subject::{Pass, Subject};

/// One replay of a trace; its output is the time in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Timing<'a> {
    /// The trace.
    pub steps: &'a Steps,
}

/// Writes the first word of each allocated or resized object.
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

/// Replays without touching any object: the cheapest way to find out whether a trace completes.
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
