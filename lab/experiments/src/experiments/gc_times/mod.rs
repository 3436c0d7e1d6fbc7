//! `surefit experiment gc-times`: the thesis's three times against the heap's size, for every
//! program: without a table, with it, and which coalescing is best then.
//!
//! | file | holds |
//! | --- | --- |
//! | `measure` | all systems in heaps of all sizes, in interleaved rounds |
//! | `claims` | what the thesis says of the times, with verdicts over all programs |
//! | `tables` | smallest heaps, times and collections |
//! | `plots` | figures 4-1 to 4-13 and, at most four lines each |
//!
//! # Source
//! The thesis on free-list organisation, figures 4-1 to 4-13 and.

mod claims;
mod measure;
mod plots;
mod tables;

use anyhow::Result;

use self::measure::measure;
use crate::kit::{Entry, Report, Request, papers};
use crate::shared::thesis::{java, systems};
use surefit_measure::ratio::median;

/// This experiment.
pub(crate) const ENTRY: Entry = Entry {
    name: "gc-times",
    about: "Allocation, collection and heap management time against heap size",
    takes_traces: false,
    takes_rounds: true,
    run,
};

const SOURCE: &str = papers::of_the_thesis!("figures 4-1 to 4-13 and A-1 to A-15");

fn run(request: &Request) -> Result<Report> {
    let programs = java::all(request).into_iter();
    let found = programs.map(|java| measure(&java, request));
    let found = found.collect::<Result<Vec<_>>>()?;
    let mut report = Report::new(ENTRY.name, ENTRY.about, SOURCE, request.quick);
    report.setting = setting();
    report.setting.extend(clock(&found));
    report.tables = tables::all(&found);
    report.plots = plots::all(&found);
    report.claims = claims::all(&found);
    report.notes = notes(&found);
    Ok(report)
}

fn setting() -> Vec<String> {
    vec![
        systems::setting(),
        "Heaps are multiples of the common minimum: the least of the smallest heaps of never, deferred and immediate in one \
         heap, found by bisection with the table; all bytes counted."
            .to_owned(),
        "Times of a Java machine while it interprets the program, in interleaved rounds: the clock is read before and after each \
         allocation, as in the thesis, and at both ends of marking and sweeping. Clearing an object and updates of the table \
         belong to its allocation."
            .to_owned(),
        "A claim is judged in the heaps in which both systems collect: where nothing is collected, nothing is decided."
            .to_owned(),
    ]
}

/// Which clock it was, and what of it is no part of the times.
fn clock(found: &[measure::Measured]) -> Option<String> {
    let timed = found.iter().flat_map(|one| &one.timed);
    let rounds: Vec<_> = timed.flat_map(|one| &one.rounds).collect();
    let costs: Vec<f64> = rounds.iter().map(|round| round.reading_ns).collect();
    let stood: u64 = rounds.iter().map(|round| round.stood_ns).sum();
    let ran: u64 = rounds.iter().map(|round| round.ran_ns).sum();
    let cost = median(&costs)?;
    Some(format!(
        "The clock is the thread's processor time, not cycles: a wall clock, and where two readings are 10 µs apart the system \
         is asked what the thread stood still. A reading costs {cost:.0} ns in the median, which is taken off; in all runs the \
         thread stood still for {:.1} s, which no time contains, and ran for {:.1} s.",
        stood as f64 / 1e9,
        ran as f64 / 1e9,
    ))
}

fn notes(found: &[measure::Measured]) -> Vec<String> {
    let names: Vec<_> = found.iter().map(|one| one.name.as_str()).collect();
    let lines = "Figures 4-11 to 4-13 and the appendix show four configurations that the thesis does not name: here the three \
                 with the table, and immediate without it.";
    let absent = "A dash: the program does not complete in that heap.";
    let mut notes = vec![lines.to_owned(), absent.to_owned()];
    notes.extend(java::missing(&names));
    notes
}

#[cfg(test)]
mod tests {
    use super::measure::tests::made_up;

    #[test]
    fn the_clock_says_what_it_left_out() {
        let mut found = [made_up(|_, _| Some((4, 1)))];
        let rounds: usize = found[0].timed.iter().map(|one| one.rounds.len()).sum();
        let all = found[0].timed.iter_mut().flat_map(|one| &mut one.rounds);
        let clock = (25.0, 1_000_000_000, 500_000_000);
        all.for_each(|round| (round.reading_ns, round.stood_ns, round.ran_ns) = clock);
        let words = super::clock(&found).expect("rounds");
        assert!(words.contains("costs 25 ns"), "{words}");
        let seconds = [rounds as f64, rounds as f64 / 2.0];
        let [stood, ran] = seconds.map(|seconds| format!("{seconds:.1} s"));
        assert!(words.contains(&stood) && words.contains(&ran), "{words}");
        found[0].timed.clear();
        assert_eq!(super::clock(&found), None);
    }
}
