//! `surefit experiment malloc`: our malloc beside glibc's and those of others, on the shapes that
//! programs have.
//!
//! ```text
//! per round, interleaved:   every shape on every library, in a child of its own: this program again, the library preloaded
//! time                      of the shape alone, by its own account: of all threads on processors, and on the wall
//! peak                      the most resident memory of the whole child
//! ratios                    ÷ glibc, in the same round
//! ```
//! Times are those of processors, so that other programs on the machine do not count; beside them
//! stands the wall's, in which waiting for another thread counts too.
//!
//! ```text
//! random, objects, watch   seeded numbers; the calls of malloc; what a child measures of itself
//! work, shapes             how much is played; what programs ask of malloc
//! libraries                what is compared, and where it is
//! child, pairs             the child that plays a shape; the one whose instructions are counted
//! rounds, found            the parent: interleaved rounds, and what they found
//! tables, claims           what is shown, and the goals
//! ```
//!
//! # Source
//! Ours. The shapes are those of larson, cache-scratch, cache-thrash, xmalloc-test, mstress and
//! other programs of the public suite mimalloc-bench, written anew; that suite itself runs by
//! `ci/extra/mimalloc-bench.sh`.

mod child;
mod claims;
mod found;
mod libraries;
mod objects;
mod pairs;
mod random;
mod rounds;
mod shapes;
mod tables;
mod watch;
mod work;

use anyhow::Result;

pub(crate) use self::child::{MallocShape, play_malloc_shape};
use self::found::Found;
use self::libraries::{MORE_ARE, ONLY_ARE, OURS_IS};
use self::pairs::Counter;
pub(crate) use self::pairs::{MallocPairs, play_malloc_pairs};
use self::rounds::{Plan, measure, threads};
use self::work::Work;
use crate::kit::{Entry, Report, Request};
use crate::shared::threads::figures::cores;

/// This experiment.
pub(crate) const ENTRY: Entry = Entry {
    name: "malloc",
    about: "Our malloc, preloaded, beside glibc's, mimalloc, jemalloc and tcmalloc",
    takes_traces: false,
    takes_rounds: true,
    run,
};

/// One part of so many is played if it must be quick.
const QUICK_PART: u64 = 2000;

fn run(request: &Request) -> Result<Report> {
    let plan = plan(request);
    let found = measure(plan, libraries::all()?)?;
    Ok(report(request, plan, &found))
}

fn plan(request: &Request) -> Plan {
    let part = if request.quick { QUICK_PART } else { 1 };
    let work = Work {
        part,
        threads: threads(),
    };
    // valgrind takes seconds to start
    let counter = Counter::here();
    let counter = counter.filter(|by| !request.quick || *by == Counter::Processor);
    Plan {
        work,
        rounds: request.rounds_or(5),
        pairs: 100_000,
        counter,
    }
}

fn report(request: &Request, plan: Plan, found: &Found) -> Report {
    let source = "ours; the shapes of the public suite mimalloc-bench, written anew";
    let mut report = Report::new(ENTRY.name, ENTRY.about, source, request.quick);
    report.setting = vec![
        format!(
            "{} interleaved rounds, a process for each shape and library; {} threads where a shape \
             has several; {} cores. Every byte of every object is written.",
            plan.rounds,
            plan.work.threads,
            cores()
        ),
        "Time is that of all threads on processors while the shape is played, peak the VmHWM of \
         the whole process with its own tables. A ratio is taken in its round."
            .to_owned(),
        format!(
            "{OURS_IS}=PATH names our library, {MORE_ARE}=NAME=PATH,… further ones, \
             {ONLY_ARE}=NAME,… those that run."
        ),
    ];
    tables::add(&mut report, found);
    report.claims = claims::claims(found, plan.work.part == 1);
    report.notes.push(match plan.counter {
        Some(by) => format!(
            "instr: instructions of a malloc and its free of 64 bytes, freed at once, counted by {}.",
            by.name()
        ),
        None => "instr: not counted: quick, or neither the processor nor valgrind counts here."
            .to_owned(),
    });
    report
}

#[cfg(test)]
mod tests {
    use super::found::tests::{found, took};
    use super::{plan, report};
    use crate::kit::Request;

    #[test]
    fn a_library_that_is_missing_or_fails_is_said() {
        let request = Request {
            quick: true,
            ..Request::default()
        };
        let mut found = found(took(50.0, 1000));
        found.rows[1].library.missing = Some("mimalloc is not installed".to_owned());
        found.rows[1]
            .cells
            .iter_mut()
            .for_each(|cell| cell.rounds.clear());
        found.rows[2].cells[0].fail("surefit: churn: it crashed".to_owned());
        let report = report(&request, plan(&request), &found);
        let summary = &report.tables[0].rows;
        assert_eq!(summary[1][1], "not there".into());
        assert_eq!(summary[2][1], "14 of 15".into());
        // shape, glibc, ours: what is missing has no column
        assert_eq!(report.tables[1].columns.len(), 3);
        for words in ["not installed", "it crashed"] {
            let is_said = report.notes.iter().any(|note| note.contains(words));
            assert!(is_said, "{words}: {:?}", report.notes);
        }
        assert_eq!(report.plots[0].series.len(), 1);
        assert_eq!(report.plots[0].series[0].points.len(), 14);
    }
}
