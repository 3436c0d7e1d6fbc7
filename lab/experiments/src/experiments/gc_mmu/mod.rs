//! `surefit experiment gc-mmu`: the least share of time that a program has, in any window, while a
//! collector works: at once, by allocation, and in quanta of time.
//!
//! ```text
//! programs     those on the Java machine; programs in Rust, recorded and replayed; or FILE…: recordings
//! spaces       segregated free lists with a bitmap, merged at once; Compact-fit with pages of 4 KiB; Metronome's heap
//! heaps        1.5 and 2 times the smallest in which the program completes, by halving
//! schedules    stop the world; by work; by time, with quanta 1:1 and 3:1 (collector:program); Metronome's: 1:1 and 3:7
//! counted      a tick is a unit of the collector's work, or a word that the program allocates, reads or writes
//! timed        the same in processor time, with quanta of 125 µs, in the smaller heap; Metronome's: 10 ms and 3 ms
//! ```
//!
//! | file | holds |
//! | --- | --- |
//! | `programs` | the programs |
//! | `schedules` | the schedules, and what is declared for each |
//! | `measure` | what is found of one program on one space |
//! | `heaps` | the search: smallest heaps, runs that are counted |
//! | `timed` | the same runs in processor time |
//! | `round` | one of them: its pauses, and what they leave |
//! | `claims` | the verdicts |
//! | `metronome` | Metronome as near as our parts come: where it departs, its table, its claim |
//! | `tables` | what is counted |
//! | `times` | what is timed |
//! | `plots` | utilisation against the window |
//!
//! # Source
//! Cheng and Blelloch (2001) for the measure; Bacon, Cheng and Rajan (2003) for quanta and their
//! formula u(Δ).

mod claims;
mod heaps;
mod measure;
mod metronome;
mod plots;
mod programs;
mod round;
mod schedules;
mod tables;
mod timed;
mod times;

use anyhow::Result;

use self::measure::{Found, Space};
use crate::kit::{Entry, Report, Request};
use surefit_measure::progress::Progress;
use surefit_measure::rounds::in_parallel;

/// This experiment.
pub(crate) const ENTRY: Entry = Entry {
    name: "gc-mmu",
    about: "Minimum mutator utilisation: stop the world, by work, by time",
    takes_traces: true,
    takes_rounds: true,
    run,
};

const SOURCE: &str =
    "Cheng and Blelloch (2001); Bacon, Cheng and Rajan (2003); the comparison is ours";

fn run(request: &Request) -> Result<Report> {
    let rounds = request.rounds_or(3);
    let spaces = Space::all(request.quick)?;
    let programs = programs::all(request)?;
    let progress = Progress::new((spaces.len() * programs.len()) as u64);
    let mut found = Vec::new();
    for make in programs {
        let subject = make()?;
        let counted = in_parallel(&spaces, |space| {
            heaps::counted(&subject, space, request.quick)
        })?;
        for mut one in counted.into_iter().flatten() {
            one.timed = timed::rounds(&subject, &one, rounds)?;
            progress.step(&one.program, "run", &one.space);
            found.push(one);
        }
    }
    progress.finish();
    Ok(report(&found, request.quick))
}

fn report(found: &[Found], quick: bool) -> Report {
    let mut report = Report::new(ENTRY.name, ENTRY.about, SOURCE, quick);
    report.setting = setting();
    report.tables = tables::all(found);
    report.tables.extend(times::all(found));
    report.tables.extend(metronome::table(found));
    report.plots = plots::all(found);
    report.claims = claims::all(found);
    report.notes = notes();
    if report
        .tables
        .iter()
        .any(|table| table.title.starts_with("Metronome"))
    {
        report.notes.extend(metronome::notes());
    }
    report
}

fn setting() -> Vec<String> {
    [
        "Counted: a tick is a unit of the collector's work (a root, a word of an object that is scanned, a word of bits, a freed \
         object, a word that moves), or a word that the program allocates, reads or writes. Every run gives the same figures.",
        "Heaps are whole regions, in multiples of the smallest in which the program completes on that space, found by halving.",
        "By work: M is the most that the smallest heap ever held; A is half of what the heap has above it; W is the most that a \
         cycle worked under stop the world in the same heap, and a quarter more.",
        "By time: the collector's quantum C is the power of two that holds eight of the longest pieces of work. Declared are W, and \
         that the program allocates 5 bytes per tick and one largest object in a cycle, or as much as there is room for. A cycle \
         begins as late as this allows. With this rate, M + (2n − 1)·a is what the formula asks for; the heap for it is as many \
         times the smallest as that is M.",
        "Timed: processor time of the thread. C is 125 µs, half of what a pause may take; declared is 1/8 of the rate at which stop the world worked, or \
         two of the longest pieces of work: a quantum that has time left goes on. Twice the rate at which the program allocated, or as much as there is room for.",
        "gap: the longest time between two readings of the clock by which pauses are taken, in a loop that does nothing else, for as long \
         as all pauses together. \
         A thread that another one stops, or that the machine stops, is charged for a part of it: if the gap is as long as the longest \
         pause, the machine may have made that pause.",
    ]
    .map(str::to_owned)
    .to_vec()
}

fn notes() -> Vec<String> {
    [
        "Java programs run on a machine that interprets them. What it computes takes no tick when ticks are counted, and takes \
         time when time is taken.",
        "Programs in Rust are recorded for a report, unless recordings are named, and replayed: json reads, changes \
         and writes documents, constraints solves constraints again and again, loops finds the loops of a large graph. All \
         that a recording allocated since its last walk is a root until the next; one object stands for all these, and is \
         scanned as an array is.",
        "A replay computes nothing: what it allocates in a tick, a program allocates in more. So a schedule forces cycles for it \
         in heaps in which it need not force them for a program.",
        "By time, every allocation reads the clock while a cycle runs: a part of what quanta cost here. The clock is a wall \
         clock; where two readings are 10 µs apart, the system is asked what the thread stood still.",
        "By work, a request waits for work in proportion to its bytes: a large object can wait long.",
        "forced: requests that found no room, so that a cycle was finished, or run, at once. overrun: quanta that took too long.",
        "kept x, of Metronome: the smallest heap, in multiples of the most that a cycle kept there.",
        "float: floating garbage of a replay, what cycles kept although no root led to it when they ended, found by a search of its own \
         after each cycle; most B: the most bytes of it after one. shaded: objects that the barrier reached first.",
    ]
    .map(str::to_owned)
    .to_vec()
}
