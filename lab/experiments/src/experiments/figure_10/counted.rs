//! Instructions of chosen calls and of the sections in them, counted by valgrind: exact, and the
//! same on every run.
//!
//! One child replays the trace through every heap under callgrind, up to the last of its chosen
//! events. Callgrind collects only inside [`CALL`], and writes a part where a section begins, where
//! it ends, and where the call ends. The child prints the marks of every chosen call: a call with m
//! marks has m + 1 parts.
//!
//! ```text
//! callgrind's file    summary: 31   summary: 312   summary: 8   …   summary: 0     (the last is the rest of the program)
//! the child's output  (           )                                               one section: before, inside, after it
//! ```
#![deny(unsafe_code)]

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use surefit_core::Refused;

use super::lock::{BEGINS, ENDS, Mark, Note, note, take_marks};
use super::sections::{Player, refused, region, replay};
use crate::shared::{callgrind, programs};
use surefit_measure::output;
use surefit_measure::steps::{Step, Steps};

/// The name of the hidden verb that replays.
const VERB: &str = "longest-sections";

/// The function that makes a chosen call.
const CALL: &str = "counted_call";

/// What the child process receives.
#[derive(Debug, clap::Args)]
pub(crate) struct LongestSections {
    /// The trace.
    file: PathBuf,
    /// Smaller synthetic programs.
    #[arg(long)]
    quick: bool,
    /// A heap and the events whose calls are counted.
    #[arg(long, value_name = "SPEC@EVENT,…")]
    calls: Vec<String>,
}

/// Replays a trace through some heaps and prints the marks of the chosen calls; makes sense under
/// valgrind only.
///
/// # Errors
/// No such trace or heap; a refusal; no memory.
pub(crate) fn play_longest_sections(args: &LongestSections) -> Result<ExitCode> {
    let program = programs::load(&args.file, args.quick)?;
    let mut printed = String::new();
    for calls in &args.calls {
        let (spec, events) = calls.split_once('@').context("a heap and its events")?;
        let events = events.split(',').map(str::parse::<usize>);
        let events = events.collect::<Result<Vec<_>, _>>()?;
        for marks in chosen(spec, &program.steps, &events)? {
            let marks = marks.into_iter().map(|mark| match mark {
                Mark::Begins => '(',
                Mark::Ends => ')',
            });
            printed.extend(marks.chain(['\n']));
        }
    }
    output::print(&printed)?;
    Ok(ExitCode::SUCCESS)
}

/// Replays up to the last of some events, which ascend; returns the marks of their calls.
fn chosen(spec: &str, steps: &Steps, events: &[usize]) -> Result<Vec<Vec<Mark>>> {
    let mut region = region(steps)?;
    replay(spec, steps, &mut region, |player| {
        let mut all = Vec::with_capacity(events.len());
        take_marks();
        let until = events.last().map_or(0, |last| last + 1);
        for (event, &step) in steps.steps().iter().take(until).enumerate() {
            if events.binary_search(&event).is_ok() {
                note(Note::Marks);
                let made = counted_call(player, step);
                note(Note::Nothing);
                made.with_context(|| refused(spec, steps, event))?;
                all.push(take_marks());
            } else {
                let made = player.call(step);
                made.with_context(|| refused(spec, steps, event))?;
            }
        }
        Ok(all)
    })
}

/// Looks at the result, so that the call is none that this function ends with: valgrind would not
/// see that it returns.
#[inline(never)]
fn counted_call(player: &mut Player<'_, '_>, step: Step) -> Result<(), Refused> {
    let made = player.call(step);
    black_box(made.is_ok());
    made
}

/// The most instructions of a section and of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Most {
    pub(super) section: u64,
    pub(super) call: u64,
}

/// Counts the chosen calls of every heap: `heaps` are specs and events, which ascend.
///
/// # Errors
/// valgrind failed; what it wrote does not fit the calls.
pub(super) fn count(
    file: &Path,
    is_quick: bool,
    heaps: &[(String, Vec<usize>)],
) -> Result<Vec<Most>> {
    let what = file.display().to_string();
    let dumps = [
        format!("--dump-after=*{BEGINS}"),
        format!("--dump-before=*{ENDS}"),
    ];
    let (printed, parts) = callgrind::counted(&what, &format!("*{CALL}"), &dumps, |command| {
        command.arg(VERB).arg(file);
        command.args(is_quick.then_some("--quick"));
        for (spec, events) in heaps {
            let events: Vec<_> = events.iter().map(usize::to_string).collect();
            command.arg(format!("--calls={spec}@{}", events.join(",")));
        }
    })?;
    let events: Vec<_> = heaps.iter().map(|(_, events)| events.len()).collect();
    most(&printed, &parts, &events)
}

/// The most of each heap: `calls` says how many lines of marks each one has.
fn most(marks: &str, mut parts: &[u64], calls: &[usize]) -> Result<Vec<Most>> {
    let mut lines = marks.lines();
    let mut all = Vec::with_capacity(calls.len());
    for &calls in calls {
        let mut most = Most::default();
        for marks in lines.by_ref().take(calls) {
            ensure!(parts.len() > marks.len(), "valgrind counted too few parts");
            let (of_call, rest) = parts.split_at(marks.len() + 1);
            parts = rest;
            let inside = marks.chars().zip(&of_call[1..]);
            let inside = inside.filter_map(|(mark, count)| (mark == '(').then_some(*count));
            most.section = inside.fold(most.section, u64::max);
            most.call = most.call.max(of_call.iter().sum());
        }
        all.push(most);
    }
    ensure!(
        parts.is_empty() && lines.next().is_none(),
        "valgrind counted {} parts too many",
        parts.len()
    );
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::{Most, chosen, most};
    use crate::experiments::figure_10::lock::Mark;
    use crate::experiments::figure_10::sections::measure;
    use crate::shared::programs::{EMACS_PAPER, load};
    use std::path::Path;

    #[test]
    fn parts_are_given_to_the_calls_that_they_are_of() {
        let parts = [31, 312, 8, 5];
        let counted = most("()\n\n", &parts, &[1, 1]).expect("as many as marks");
        let (first, second) = ((312, 351), (0, 5));
        let expected = [first, second].map(|(section, call)| Most { section, call });
        assert_eq!(counted, expected);
        assert!(most("()()\n", &parts, &[1]).is_err());
        assert!(most("()\n", &parts, &[1]).is_err());
    }

    #[test]
    fn chosen_calls_are_those_that_copy_and_lock_most() {
        let program = load(Path::new(EMACS_PAPER), true).expect("made");
        let (sections, events) = measure("1-cf:k=1", &program.steps, 1).expect("served");
        assert!(sections.section.bytes >= 648, "{sections:?}");
        assert!(
            sections.call.bytes >= sections.section.bytes,
            "{sections:?}"
        );
        assert!(sections.call.ns >= sections.section.ns && sections.section.ns > 0);
        assert!((32..=33).contains(&events.len()) && events.is_sorted());
        let first = &events[..2];
        let marks = chosen("1-cf:k=1", &program.steps, first).expect("served");
        assert_eq!(marks.len(), 2);
        for marks in marks {
            assert!(!marks.is_empty() && marks.len() % 2 == 0, "{marks:?}");
            assert_eq!(marks[..2], [Mark::Begins, Mark::Ends]);
        }
        assert!(measure("1-cf:lock=page", &program.steps, 1).is_err());
        assert!(measure("cf:k=1", &program.steps, 1).is_err());
    }
}
