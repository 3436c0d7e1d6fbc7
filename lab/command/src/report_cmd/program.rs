//! The programs of a page, and which of them are put side by side.

use crate::compare_cmd::measured::{Job, Measured};
use crate::report::{Details, Section};
use crate::screen::Notes;
use surefit_measure::results::{Comparison, TraceResults};

/// A program of a page.
#[derive(Debug)]
pub(super) struct Program {
    /// Which of the arguments named its file.
    file: usize,
    origin: String,
    trace: TraceResults,
    baseline: String,
    clock_ns: u64,
    details: Option<Details>,
}

impl Program {
    /// The programs of saved results that have any.
    pub(super) fn saved(
        file: usize,
        origin: &str,
        comparison: Comparison,
    ) -> impl Iterator<Item = Self> {
        let Comparison {
            baseline,
            clock_ns,
            traces,
            ..
        } = comparison;
        let has_results = |trace: &TraceResults| !trace.results.is_empty();
        traces
            .into_iter()
            .filter(has_results)
            .map(move |trace| Self {
                file,
                origin: origin.to_owned(),
                trace,
                baseline: baseline.clone(),
                clock_ns,
                details: None,
            })
    }

    /// A program that was measured.
    pub(super) fn measured(file: usize, origin: String, measured: Measured, job: &Job) -> Self {
        Self {
            file,
            origin,
            trace: measured.trace,
            baseline: job.baseline().to_owned(),
            clock_ns: job.plan.clock_ns,
            details: measured.details,
        }
    }

    /// The section of the page.
    pub(super) fn section(&self) -> Section<'_> {
        Section {
            origin: self.origin.clone(),
            trace: &self.trace,
            clock_ns: self.clock_ns,
            notes: Notes::of_results(&self.trace.results, &self.baseline),
            details: self.details.as_ref(),
        }
    }
}

/// The programs of two arguments that are put side by side: the only ones of each, whatever they
/// are called; otherwise those of the same name, in their order.
pub(super) fn pairs(programs: &[Program]) -> Vec<(usize, usize)> {
    let of = |file: usize| {
        let programs = programs.iter().enumerate();
        programs.filter(move |(_, program)| program.file == file)
    };
    let (mut first, mut second): (Vec<_>, Vec<_>) = (of(0).collect(), of(1).collect());
    if let ([(a, _)], [(b, _)]) = (first.as_slice(), second.as_slice()) {
        return vec![(*a, *b)];
    }
    let mut pairs = Vec::new();
    for (a, program) in first.drain(..) {
        let same = |(_, other): &(usize, &Program)| other.trace.name == program.trace.name;
        if let Some(found) = second.iter().position(same) {
            pairs.push((a, second.remove(found).0));
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::{Program, pairs};
    use surefit_measure::results::TraceResults;

    fn program(file: usize, name: &str) -> Program {
        Program {
            file,
            origin: String::new(),
            trace: TraceResults {
                name: name.to_owned(),
                events: 0,
                objects: 0,
                threads: 1,
                threads_at_once: None,
                recorded_cpu_ns: None,
                timed_events: None,
                peak_live_bytes: 0,
                left_out: None,
                beside_malloc: None,
                rounds: 1,
                ablation: None,
                hinted: None,
                results: Vec::new(),
            },
            baseline: String::new(),
            clock_ns: 0,
            details: None,
        }
    }

    fn paired(programs: &[(usize, &str)]) -> Vec<(usize, usize)> {
        let programs: Vec<_> = programs
            .iter()
            .map(|(file, name)| program(*file, name))
            .collect();
        pairs(&programs)
    }

    #[test]
    fn the_only_ones_are_a_pair_and_others_by_their_names() {
        assert_eq!(paired(&[(0, "before"), (1, "after")]), [(0, 1)]);
        let three = [(0, "x"), (0, "y"), (0, "x"), (1, "y"), (1, "x"), (1, "z")];
        assert_eq!(paired(&three), [(0, 4), (1, 3)]);
        assert!(paired(&[(0, "x"), (0, "y"), (1, "z")]).is_empty());
        assert!(paired(&[]).is_empty());
    }
}
