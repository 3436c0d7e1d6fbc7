//! Instructions of a malloc with its free: 64 bytes, freed at once, the shortest way through a
//! malloc.
//!
//! ```text
//! one child   N pairs, the same loop without calls N times; then both 2N times
//! a pair      (what 2N pairs take beyond N) ÷ N, less the same of the loop without calls
//! ```
//! The child's processor counts, where it can; else valgrind does, in four children. Either way the
//! count is exact, and start and end of the process drop out.
#![deny(unsafe_code)]

use std::alloc::Layout;
use std::hint::black_box;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};
use surefit_os::counter::Instructions;

use super::child::{command, prepare};
use super::libraries::Library;
use super::objects::{no_pair, pair};
use surefit_measure::{child, output};

/// The name of the hidden verb.
const VERB: &str = "malloc-pairs";

/// The size of an object.
const BYTES: usize = 64;

/// What the child receives.
#[derive(Debug, clap::Args)]
pub(crate) struct MallocPairs {
    /// How many pairs.
    pairs: u64,
    /// The loop without the calls.
    #[arg(long)]
    empty: bool,
    /// Count here, and print the count.
    #[arg(long)]
    count: bool,
}

/// Makes pairs of calls.
///
/// # Errors
/// The processor was to count and cannot.
pub(crate) fn play_malloc_pairs(args: &MallocPairs) -> Result<ExitCode> {
    if args.count {
        let counter = Instructions::open()?;
        let before = counter.read().context("the counter is gone")?;
        play(args.pairs, args.empty);
        let after = counter.read().context("the counter is gone")?;
        output::print(&format!("{}\n", after - before))?;
    } else {
        play(args.pairs, args.empty);
    }
    Ok(ExitCode::SUCCESS)
}

#[inline(never)]
fn play(pairs: u64, is_empty: bool) {
    if is_empty {
        let mut word = 0;
        (0..pairs).for_each(|_| no_pair(&mut word));
    } else {
        let layout = black_box(Layout::from_size_align(BYTES, 8).expect("a valid layout"));
        (0..pairs).for_each(|_| pair(layout));
    }
}

/// Who counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counter {
    /// The processor.
    Processor,
    /// valgrind.
    Valgrind,
}

impl Counter {
    /// Who can count here; `None` if nobody can.
    pub(super) fn here() -> Option<Self> {
        if Instructions::open().is_ok() {
            return Some(Self::Processor);
        }
        let is_installed = surefit_measure::instructions::available().is_ok();
        is_installed.then_some(Self::Valgrind)
    }

    /// Its name in notes.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Processor => "the processor",
            Self::Valgrind => "valgrind",
        }
    }
}

/// Instructions of one pair on a library, counted over `pairs` pairs.
///
/// # Errors
/// The child failed; nobody counted.
pub(super) fn count(library: &Library, counter: Counter, pairs: u64) -> Result<f64> {
    let each = |is_empty| -> Result<f64> {
        let once = total(library, counter, pairs, is_empty)?;
        let twice = total(library, counter, 2 * pairs, is_empty)?;
        Ok((twice as f64 - once as f64) / pairs as f64)
    };
    Ok(each(false)? - each(true)?)
}

/// Instructions of a child that makes so many pairs.
fn total(library: &Library, counter: Counter, pairs: u64, is_empty: bool) -> Result<u64> {
    let what = format!("{}: pairs", library.name);
    let mut command = match counter {
        Counter::Processor => command(library)?,
        Counter::Valgrind => under_valgrind(library)?,
    };
    command.args([VERB, &pairs.to_string()]);
    command.args(is_empty.then_some("--empty"));
    command.args((counter == Counter::Processor).then_some("--count"));
    let output = child::output(&mut command)?;
    let printed = child::succeeded(&what, &output)?;
    let count = match counter {
        Counter::Processor => printed.trim().parse().ok(),
        Counter::Valgrind => collected(&String::from_utf8_lossy(&output.stderr)),
    };
    count.with_context(|| format!("{what}: no count"))
}

/// This program under callgrind, which leaves malloc to the library.
fn under_valgrind(library: &Library) -> Result<Command> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    command.arg(std::env::current_exe()?);
    prepare(&mut command, library);
    Ok(command)
}

/// The number in callgrind's line `==123== Collected : 4567`.
fn collected(log: &str) -> Option<u64> {
    let line = log.lines().find(|line| line.contains("Collected :"))?;
    line.rsplit(':').next()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{collected, play};

    #[test]
    fn pairs_are_made_with_and_without_calls() {
        play(1000, false);
        play(1000, true);
    }

    #[test]
    fn the_count_is_read_from_callgrinds_log() {
        let log = "==9== \n==9== Events    : Ir\n==9== Collected : 123456\n==9==\n";
        assert_eq!(collected(log), Some(123_456));
        assert_eq!(collected("==9== nothing"), None);
    }
}
