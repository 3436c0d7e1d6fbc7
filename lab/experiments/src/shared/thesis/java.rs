//! The programs on the Java machine, and the program of the thesis that each stands for.

use std::mem::MaybeUninit;

use anyhow::{Context, Result};
use surefit_clients::java::{Ran, Scheduled};
use surefit_vm::{
    Call, Collecting, Measuring, Space, Watched, Watching, clocked, measuring, watch,
};

use super::published::{BENCHMARKS, Benchmark};
use crate::kit::Request;

/// Those of a quick run: two that are not alike.
const QUICK: [&str; 2] = ["Raytrace", "Compile"];

/// A program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Java {
    /// The name of its class.
    pub(crate) name: &'static str,
    arguments: Vec<String>,
}

/// The programs of an experiment: all that there are; if quick, two of these, which do less.
pub(crate) fn all(request: &Request) -> Vec<Java> {
    let of = |one: Measuring| {
        let arguments = if request.quick { one.quick } else { one.usual };
        Java {
            name: one.main,
            arguments: arguments.iter().map(ToString::to_string).collect(),
        }
    };
    let is_wanted = |one: &Measuring| !request.quick || QUICK.contains(&one.main);
    Measuring::ALL
        .into_iter()
        .filter(is_wanted)
        .map(of)
        .collect()
}

impl Java {
    /// Runs it in a region, all of which is the heap, tables included; `None` without room enough.
    ///
    /// # Errors
    /// What the machine does not run.
    pub(crate) fn watched(
        &self,
        space: &Space,
        collecting: Collecting,
        watching: Watching,
        region: &mut [MaybeUninit<u8>],
    ) -> Result<Option<Watched>> {
        let call = self.call(space, collecting);
        watch(&call, watching, region).context(self.name)
    }

    /// Runs it under a schedule; `None` without room enough. Floating garbage is not measured.
    ///
    /// # Errors
    /// What the machine does not run.
    pub(crate) fn scheduled(
        &self,
        space: &Space,
        how: &Scheduled,
        region: &mut [MaybeUninit<u8>],
    ) -> Result<Option<Ran>> {
        let call = self.call(space, Collecting::Scheduled(how.schedule));
        let ran = clocked(&call, how.timing, region).context(self.name)?;
        Ok(ran.and_then(|ran| ran.stepped))
    }

    fn call<'c>(&'c self, space: &'c Space, collecting: Collecting) -> Call<'c> {
        Call {
            program: measuring(),
            main: self.name,
            arguments: &self.arguments,
            space,
            collecting,
            steps: u64::MAX,
        }
    }
}

/// The thesis's program that a program stands for.
pub(crate) fn counterpart(name: &str) -> Option<&'static Benchmark> {
    let ours = Measuring::ALL.into_iter().find(|one| one.main == name)?;
    BENCHMARKS
        .iter()
        .find(|benchmark| benchmark.name == ours.like)
}

/// Which of the thesis's programs nothing stands for in a run of these, for the notes of a report;
/// `None` if all are there.
pub(crate) fn missing(names: &[&str]) -> Option<String> {
    let there: Vec<_> = names.iter().filter_map(|name| counterpart(name)).collect();
    let missing = BENCHMARKS.iter().filter(|theirs| !there.contains(theirs));
    let missing: Vec<_> = missing.map(|theirs| theirs.name).collect();
    (!missing.is_empty()).then(|| {
        format!(
            "Of the thesis's programs, nothing in this run stands for {}.",
            missing.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::{QUICK, all, counterpart, missing};
    use crate::kit::Request;
    use surefit_vm::Measuring;

    #[test]
    fn every_program_stands_for_one_of_the_thesis() {
        let of = |one: Measuring| counterpart(one.main).map(|theirs| theirs.name);
        let theirs: Vec<_> = Measuring::ALL.into_iter().map(of).collect();
        let distinct: std::collections::BTreeSet<_> = theirs.iter().collect();
        assert!(theirs.iter().all(Option::is_some) && distinct.len() == theirs.len());
        assert_eq!(counterpart("Emacs"), None);
    }

    #[test]
    fn a_quick_run_has_two_programs_and_a_full_one_all() {
        let names = |quick| {
            let request = Request {
                quick,
                ..Request::default()
            };
            all(&request).iter().map(|one| one.name).collect::<Vec<_>>()
        };
        assert!(QUICK.iter().all(|quick| names(true).contains(quick)));
        assert_eq!(names(true).len(), QUICK.len());
        assert_eq!(names(false).len(), Measuring::ALL.len());
    }

    #[test]
    fn programs_that_nothing_stands_for_are_named() {
        let words = missing(&["Compile", "Raytrace", "Rules"]).expect("some are missing");
        assert!(words.contains("compress, db, mtrt, jack"), "{words}");
    }
}
