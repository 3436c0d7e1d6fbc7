//! Instructions of sampled calls, counted by valgrind: exact, and the same on every run.
//!
//! One child a configuration drives all of its shapes under callgrind, which counts only inside the
//! sampled calls. It prints a line for each of them: its shape's place, and what it is.
#![deny(unsafe_code)]

use std::process::ExitCode;

use anyhow::{Context, Result, ensure};

use super::sweep::{CONFIGURATIONS, Instructions, shapes};
use crate::shared::callgrind;
use crate::shared::threads::probe::{Kind, sample};
use surefit_measure::output;
use surefit_measure::rounds::in_parallel;

/// The name of the hidden verb that makes the calls.
const VERB: &str = "class-calls";

/// What the child process receives.
#[derive(Debug, clap::Args)]
pub(crate) struct ClassCalls {
    /// The number of the configuration.
    #[arg(value_parser = clap::value_parser!(u8).range(0..CONFIGURATIONS.len() as i64))]
    configuration: u8,
}

/// Drives the shapes of a configuration and prints the sampled calls; makes sense under valgrind
/// only.
///
/// # Errors
/// A refusal; no memory.
pub(crate) fn play_class_calls(args: &ClassCalls) -> Result<ExitCode> {
    let mut lines = String::new();
    for (at, one) in shapes(usize::from(args.configuration))?.iter().enumerate() {
        for kind in sample(&one.shape)? {
            lines.push_str(&line(at, kind));
        }
    }
    output::print(&lines)?;
    Ok(ExitCode::SUCCESS)
}

fn line(at: usize, kind: Kind) -> String {
    let kind = match kind {
        Kind::Malloc => "malloc",
        Kind::Free => "free",
    };
    format!("{at} {kind}\n")
}

/// The most instructions of a sampled malloc and free, for each configuration and each of its
/// shapes.
///
/// # Errors
/// valgrind failed; what it wrote does not fit the calls.
pub(super) fn count() -> Result<Vec<Vec<Instructions>>> {
    let configurations: Vec<_> = (0..CONFIGURATIONS.len()).collect();
    in_parallel(&configurations, |&configuration| {
        let name = CONFIGURATIONS[configuration].0;
        let (printed, counts) = callgrind::counted(name, callgrind::CALL, &[], |command| {
            command.args([VERB, &configuration.to_string()]);
        })?;
        most(&printed, &counts, shapes(configuration)?.len()).context(name)
    })
}

/// The most of each shape and kind.
fn most(printed: &str, counts: &[u64], shapes: usize) -> Result<Vec<Instructions>> {
    let lines: Vec<_> = printed.lines().collect();
    ensure!(
        lines.len() == counts.len(),
        "valgrind counted {} of {} calls",
        counts.len(),
        lines.len()
    );
    let mut all = vec![Instructions::default(); shapes];
    for (line, count) in lines.iter().zip(counts) {
        let (at, kind) = line.split_once(' ').context("a shape and a kind")?;
        let of = all.get_mut(at.parse::<usize>()?).context("no such shape")?;
        let most = if kind == "malloc" {
            &mut of.malloc
        } else {
            &mut of.free
        };
        *most = (*most).max(*count);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::{Instructions, line, most};
    use crate::shared::threads::probe::Kind;

    #[test]
    fn counts_are_given_to_the_shapes_that_they_are_of() {
        let kinds = [(0, Kind::Malloc), (0, Kind::Malloc), (1, Kind::Free)];
        let printed: String = kinds.iter().map(|&(at, kind)| line(at, kind)).collect();
        let found = most(&printed, &[120, 340, 250], 2).expect("as many as lines");
        let of = |malloc, free| Instructions { malloc, free };
        assert_eq!(found, [of(340, 0), of(0, 250)]);
        assert!(most(&printed, &[120], 2).is_err());
        assert!(most("many malloc\n", &[1], 2).is_err());
    }
}
