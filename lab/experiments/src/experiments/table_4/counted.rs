//! The most instructions of a call where the processor counts none: by valgrind, of the calls that
//! may have most.
//!
//! ```text
//! chosen    of the mallocs, and of the frees: those that take longest, each at its shortest round; the first ones, which
//!           find the heap empty; and some evenly spread
//! child     replays the trace through one allocator under callgrind, which counts only inside one function
//! ```
//! A heap makes the same calls in every replay. A call that has most instructions and is none of
//! the longest is missed: what is found is a bound from below, by the same rule for every
//! allocator.
#![deny(unsafe_code)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail, ensure};
use surefit_os::Reservation;

use super::call_costs::{Costs, Counted};
use super::published::{Call, LARGEST};
use crate::shared::{callgrind, programs};
use surefit_measure::output;
use surefit_measure::passes::replay::{CallKind, Hooks, Stop, Stopped, Table, drain, replay};
use surefit_measure::passes::timing::FirstWord;
use surefit_measure::rounds::in_parallel;
use surefit_measure::single::completed;
use surefit_measure::sizes::HeapSize;
use surefit_measure::spec::{Choice, Spec};
use surefit_measure::steps::{Action, Step, Steps};
use surefit_measure::subject::{Pass, Subject};

/// The name of the hidden verb that replays.
const VERB: &str = "chosen-calls";

/// Calls of each kind that are counted: the longest, the first, and evenly spread ones.
const CHOSEN: usize = 64;

/// What the child process receives.
#[derive(Debug, clap::Args)]
pub(crate) struct ChosenCalls {
    /// The trace.
    file: PathBuf,
    /// Smaller synthetic programs.
    #[arg(long)]
    quick: bool,
    /// The allocator.
    #[arg(long, value_name = "SPEC")]
    allocator: String,
    /// The numbers of the mallocs that are counted.
    #[arg(long, value_name = "NUMBER,…", value_delimiter = ',')]
    mallocs: Vec<u32>,
    /// The numbers of the frees.
    #[arg(long, value_name = "NUMBER,…", value_delimiter = ',')]
    frees: Vec<u32>,
}

/// Replays a trace through one allocator and prints the kinds of the chosen calls; makes sense
/// under valgrind only.
///
/// # Errors
/// No such trace or allocator; a refusal; no memory.
pub(crate) fn play_chosen_calls(args: &ChosenCalls) -> Result<ExitCode> {
    let program = programs::load_up_to(&args.file, args.quick, LARGEST)?;
    let chosen = [&args.mallocs, &args.frees].map(|numbers| numbers.iter().copied().collect());
    let lines = played(&args.allocator, &program.steps, &chosen)?;
    output::print(&lines)?;
    Ok(ExitCode::SUCCESS)
}

/// The numbers of the mallocs and of the frees that are counted.
type Chosen = [BTreeSet<u32>; 2];

/// Makes the calls of a trace; returns the kinds of the chosen ones, a line each.
fn played(allocator: &str, steps: &Steps, chosen: &Chosen) -> Result<String> {
    let spec = Spec::parse(allocator)?;
    ensure!(spec.in_region(), "{spec} lives in no region");
    let Choice::InProcess(kind) = &spec.choice else {
        bail!("{spec} is not in this process");
    };
    let mut region = Reservation::new(HeapSize::DEFAULT.bytes(steps.peak_live_bytes))?;
    let mut lines = String::new();
    let pass = Counting {
        steps,
        chosen,
        made: [0; 2],
        lines: &mut lines,
    };
    completed(spec.as_str(), kind.run(region.memory(), pass))?;
    Ok(lines)
}

/// One replay in which chosen calls are counted.
struct Counting<'a> {
    steps: &'a Steps,
    chosen: &'a Chosen,
    /// Mallocs and frees so far.
    made: [u32; 2],
    lines: &'a mut String,
}

impl Pass for Counting<'_> {
    type Output = Result<(), Stopped>;

    fn run<S: Subject>(mut self, mut subject: S) -> Self::Output {
        let steps = self.steps;
        let mut objects = Table::new(steps.slots());
        replay(&mut subject, &mut objects, steps, &mut self)?;
        drain(&mut subject, objects, steps);
        Ok(())
    }
}

impl<S: Subject> Hooks<S> for Counting<'_> {
    fn call<R>(&mut self, kind: CallKind, call: impl FnOnce() -> R) -> R {
        let (at, name) = match kind {
            CallKind::Malloc => (0, "malloc\n"),
            CallKind::Free => (1, "free\n"),
            CallKind::Realloc => return call(),
        };
        let number = self.made[at];
        self.made[at] += 1;
        if !self.chosen[at].contains(&number) {
            return call();
        }
        self.lines.push_str(name);
        let (mut call, mut made) = (Some(call), None);
        callgrind::call(&mut || made = call.take().map(|call| call()));
        made.expect("called once")
    }

    fn allocated(
        &mut self,
        subject: &mut S,
        object: &mut S::Object,
        step: Step,
    ) -> Result<(), Stop> {
        FirstWord.allocated(subject, object, step)
    }

    fn resized(&mut self, subject: &mut S, object: &mut S::Object, step: Step) -> Result<(), Stop> {
        FirstWord.resized(subject, object, step)
    }
}

/// Which calls of a kind are counted, given the least time of each one in the order of the trace.
fn chosen(least: &[u32]) -> BTreeSet<usize> {
    let mut longest: Vec<_> = (0..least.len()).collect();
    longest.sort_by_key(|&at| (std::cmp::Reverse(least[at]), at));
    longest.truncate(CHOSEN);
    let spread = (0..CHOSEN).map(|part| part * least.len() / CHOSEN);
    let first = 0..CHOSEN.min(least.len());
    let all = longest.into_iter().chain(spread).chain(first);
    all.filter(|at| *at < least.len()).collect()
}

/// Adds to the costs of every allocator the most instructions of a malloc and of a free.
///
/// # Errors
/// valgrind failed; what it wrote does not fit the calls.
pub(super) fn add(
    file: &Path,
    is_quick: bool,
    steps: &Steps,
    specs: &[Spec],
    costs: &mut [Costs],
) -> Result<()> {
    // zeroed allocations have numbers, but no times
    let mallocs = steps.steps().iter();
    let mallocs =
        mallocs.filter(|step| matches!(step.action, Action::Allocate | Action::AllocateZeroed));
    let timed: Vec<_> = (0_u32..)
        .zip(mallocs)
        .filter(|(_, step)| step.action == Action::Allocate)
        .map(|(number, _)| number)
        .collect();
    let runs: Vec<_> = specs.iter().zip(costs.iter()).collect();
    let most = in_parallel(&runs, |(spec, costs)| {
        let [mallocs, frees] = Call::BOTH.map(|call| chosen(&costs[call as usize].least_ns));
        let mallocs = mallocs.into_iter().map(|at| timed[at]).collect();
        let frees = frees.into_iter().map(|at| at as u32).collect();
        counted(file, is_quick, spec.as_str(), &[mallocs, frees])
    })?;
    for (costs, most) in costs.iter_mut().zip(most) {
        for (measured, most) in costs.iter_mut().zip(most) {
            measured.instructions = most.map(|most| Counted { mean: None, most });
        }
    }
    Ok(())
}

/// The most instructions of the chosen mallocs and frees.
fn counted(
    file: &Path,
    is_quick: bool,
    allocator: &str,
    chosen: &[Vec<u32>; 2],
) -> Result<[Option<u64>; 2]> {
    let (printed, counts) = callgrind::counted(allocator, callgrind::CALL, &[], |command| {
        command.arg(VERB).arg(file);
        command.args(is_quick.then_some("--quick"));
        command.args(["--allocator", allocator]);
        for (option, numbers) in ["--mallocs", "--frees"].iter().zip(chosen) {
            let numbers: Vec<_> = numbers.iter().map(u32::to_string).collect();
            command.arg(format!("{option}={}", numbers.join(",")));
        }
    })?;
    let kinds: Vec<_> = printed.lines().collect();
    ensure!(
        kinds.len() == counts.len(),
        "{allocator}: valgrind counted {} of {} calls",
        counts.len(),
        kinds.len()
    );
    Ok(["malloc", "free"].map(|kind| {
        let of_kind = kinds.iter().zip(&counts).filter(|(one, _)| **one == kind);
        of_kind.map(|(_, count)| *count).max()
    }))
}

#[cfg(test)]
mod tests {
    use super::{CHOSEN, LARGEST, chosen, played};
    use crate::shared::programs::{EMACS_PAPER, load_up_to};
    use std::path::Path;

    #[test]
    fn the_longest_the_first_and_some_between_are_chosen() {
        let mut least = vec![10; 10_000];
        least[7777] = 500;
        let chosen_of = chosen(&least);
        assert!(chosen_of.contains(&7777) && chosen_of.contains(&0) && chosen_of.contains(&63));
        assert!((2 * CHOSEN..=3 * CHOSEN).contains(&chosen_of.len()));
        assert!(chosen(&[]).is_empty());
        assert_eq!(chosen(&[3, 4]).len(), 2);
    }

    #[test]
    fn the_chosen_calls_are_made_in_the_order_of_the_trace() {
        let program = load_up_to(Path::new(EMACS_PAPER), true, LARGEST).expect("made");
        let some = [[0, 5, 70_000].into(), [3].into()];
        let lines = played("tlsf", &program.steps, &some).expect("served");
        let mut kinds: Vec<_> = lines.lines().collect();
        assert_eq!(kinds[..2], ["malloc", "malloc"]);
        kinds.sort_unstable();
        assert_eq!(kinds, ["free", "malloc", "malloc", "malloc"]);
        assert!(played("preload:/none", &program.steps, &some).is_err());
    }
}
