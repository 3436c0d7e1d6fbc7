//! Instructions of single calls, counted by valgrind: exact, and the same on every run.
//!
//! One child a system plays all scripts under callgrind, which counts only inside [`COUNTED`] and
//! writes what it counted after every call of it. The child prints the calls in the order in which
//! it made them; the two lists are then one. Set-up runs at some fiftieth of its speed and is most
//! of the work.
//!
//! ```text
//! callgrind's file    summary: 57   summary: 57   summary: 212   …   summary: 0        (the last is the rest of the program)
//! the child's output  heap 100 malloc    heap 100 free    heap 100 malloc   …
//! ```
#![deny(unsafe_code)]

use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};

use super::region::Aligned;
use super::scripts::{COUNTED, Call, Operation, Parameter, Script};
use crate::shared::callgrind;
use surefit_measure::output;
use surefit_measure::spec::{Choice, Spec};

/// The name of the hidden verb that plays the scripts.
const VERB: &str = "worst-calls";

/// What the child process receives.
#[derive(Debug, clap::Args)]
pub(crate) struct WorstCalls {
    /// The allocator.
    #[arg(long, value_name = "SPEC")]
    allocator: String,
    /// Smaller heaps.
    #[arg(long)]
    quick: bool,
}

/// Plays the scripts to one allocator and prints the calls of interest in order; makes sense under
/// valgrind only.
///
/// # Errors
/// An allocator that is not in this process; no memory.
pub(crate) fn play_worst_calls(args: &WorstCalls) -> Result<ExitCode> {
    let calls = played(&Spec::parse(&args.allocator)?, args.quick)?;
    let lines = calls.iter().map(|call| line(*call) + "\n");
    output::print(&lines.collect::<String>())?;
    Ok(ExitCode::SUCCESS)
}

/// Plays all scripts to an allocator.
fn played(spec: &Spec, is_quick: bool) -> Result<Vec<Call>> {
    let Choice::InProcess(kind) = &spec.choice else {
        bail!("{spec}: its calls are in no region; name an allocator of the registry");
    };
    let mut calls = Vec::new();
    for parameter in Parameter::ALL {
        for &value in parameter.values(is_quick) {
            let mut region = Aligned::new(parameter.region_bytes(value))?;
            let script = Script {
                parameter,
                value,
                calls: &mut calls,
            };
            // a heap that does not live in the region has no calls, and so no counts
            let _ = kind.run(region.memory(), script);
        }
    }
    Ok(calls)
}

/// The largest count of an operation at each value of a parameter.
#[derive(Clone, Debug)]
pub(super) struct Counts(Vec<(Call, u64)>);

impl Counts {
    #[cfg(test)]
    pub(super) const fn new(counts: Vec<(Call, u64)>) -> Self {
        Self(counts)
    }

    /// The largest counts, by value; values at which there was no call, or which the heap could not
    /// serve, are missing.
    pub(super) fn largest(&self, operation: Operation, parameter: Parameter) -> Vec<(u64, u64)> {
        let mut largest: Vec<(u64, u64)> = Vec::new();
        for (call, count) in &self.0 {
            // an object too large for the heap says nothing about objects that are not
            let is_served = !(call.is_refused && parameter == Parameter::Size);
            if call.operation != operation || call.parameter != parameter || !is_served {
                continue;
            }
            match largest.last_mut() {
                Some((value, most)) if *value == call.value => *most = (*most).max(*count),
                _ => largest.push((call.value, *count)),
            }
        }
        largest
    }
}

/// Counts the calls of one allocator.
///
/// # Errors
/// valgrind failed; what it wrote does not fit the calls.
pub(super) fn count(allocator: &str, is_quick: bool) -> Result<Counts> {
    let dumps = [];
    let (printed, counts) = callgrind::counted(allocator, COUNTED, &dumps, |command| {
        command.args([VERB, "--allocator", allocator]);
        command.args(is_quick.then_some("--quick"));
    })?;
    let calls = calls(&printed)?;
    ensure!(
        counts.len() == calls.len(),
        "{allocator}: valgrind counted {} of {} calls",
        counts.len(),
        calls.len()
    );
    Ok(Counts(calls.into_iter().zip(counts).collect()))
}

fn line(call: Call) -> String {
    let (parameter, operation) = (call.parameter.name(), call.operation.name());
    let refused = if call.is_refused { "refused" } else { "served" };
    format!("{parameter} {} {operation} {refused}", call.value)
}

/// The calls that a child printed.
fn calls(text: &str) -> Result<Vec<Call>> {
    let call = |line: &str| {
        let mut words = line.split(' ');
        let parameter = words.next()?;
        let value = words.next()?.parse().ok()?;
        let operation = words.next()?;
        Some(Call {
            parameter: *Parameter::ALL.iter().find(|one| one.name() == parameter)?,
            value,
            operation: *Operation::ALL.iter().find(|one| one.name() == operation)?,
            is_refused: words.next()? == "refused",
        })
    };
    let calls = text
        .lines()
        .map(|line| call(line).with_context(|| format!("`{line}` is no call")));
    calls.collect()
}

#[cfg(test)]
mod tests {
    use super::{Counts, calls, line, played};
    use crate::experiments::overview::scripts::{Operation, Parameter};
    use crate::experiments::overview::systems::CFM;
    use surefit_measure::spec::Spec;

    #[test]
    fn calls_are_read_as_they_were_printed() {
        let spec = Spec::parse("first-fit").expect("an allocator");
        let played = played(&spec, true).expect("memory");
        let text: String = played.iter().map(|call| line(*call) + "\n").collect();
        assert_eq!(calls(&text).expect("calls"), played);
        assert!(calls("heap many malloc served").is_err());
    }

    #[test]
    fn the_scripts_make_every_call_at_every_value() {
        for name in [CFM, "cf-block-table:k=1", "tlsf", "best-fit"] {
            let spec = Spec::parse(name).expect("an allocator");
            let calls = played(&spec, true).expect("memory");
            let counts = Counts::new(calls.iter().map(|call| (*call, 1)).collect());
            for operation in Operation::ALL {
                for parameter in Parameter::ALL {
                    let values = counts.largest(operation, parameter);
                    let values: Vec<_> = values.into_iter().map(|(value, _)| value).collect();
                    // of full compaction, an object has a page of 64 KiB at most
                    let is_served = |value: &u64| {
                        name != CFM || parameter != Parameter::Size || *value <= 1 << 15
                    };
                    let expected = parameter.values(true).iter().copied();
                    let expected: Vec<_> = expected.filter(is_served).collect();
                    assert_eq!(values, expected, "{name} {operation:?} {parameter:?}");
                }
            }
            let refused = calls.iter().filter(|call| call.is_refused);
            assert!(refused.count() > 0, "{name}: something is too much");
        }
    }
}
