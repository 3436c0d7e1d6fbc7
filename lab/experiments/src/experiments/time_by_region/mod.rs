//! `surefit experiment time-by-region`: the time of the handle heap beside that of heaps of raw
//! pointers, by the size of the region.
//!
//! ```text
//! regions    the certified bytes of `cf` for the program's demand, and 1.25, 1.5, 2 and 4 × live bytes
//! per round  every region: cf, rlsf, talc, each in exactly that region      interleaved; another order each round
//! counted    moves of cf in a pass of its own; instructions of its frees under valgrind
//! ```
//! `cf` is told the demand, so the bytes that the demand leaves over are slack: the larger the
//! region, the fewer moves. Heaps of raw pointers may need more than the smallest regions. There
//! they are represented by their time in the smallest larger one in which they complete.
//!
//! # Source
//! Ours: docs/bounds.md, section 3.1.
#![deny(unsafe_code)]

mod claims;
mod found;
mod measure;
mod tables;

use std::path::PathBuf;

use anyhow::Result;

use crate::kit::{Entry, Report, Request};
use found::Found;
use measure::Measuring;
use surefit_measure::instructions;
use surefit_measure::progress::Progress;
use surefit_measure::sizes::counted;
use surefit_measure::source::{self, Source};

/// This experiment.
pub(crate) const ENTRY: Entry = Entry {
    name: "time-by-region",
    about: "Time of the handle heap beside rlsf and talc, by the size of the region",
    takes_traces: true,
    takes_rounds: true,
    run,
};

fn run(request: &Request) -> Result<Report> {
    let measuring = Measuring {
        rounds: request.rounds_or(9),
        counts: instructions::available().is_ok(),
        quick: request.quick,
    };
    let files = files(request);
    let progress = Progress::new(measuring.progress_steps() * files.len() as u64);
    let mut all = Vec::new();
    for file in &files {
        all.push(measuring.run(&Source::load(file, None)?, &progress)?);
    }
    progress.finish();
    Ok(report(request, &measuring, &all))
}

/// The traces: those asked for, else the bundled ones; if quick, the first of these.
fn files(request: &Request) -> Vec<PathBuf> {
    let mut bundled = source::bundled_files();
    if request.quick {
        bundled.truncate(1);
    }
    match request.files.as_slice() {
        [] => bundled,
        files => files.to_vec(),
    }
}

fn report(request: &Request, measuring: &Measuring, all: &[Found]) -> Report {
    let source = "ours; the certificate and the slack: docs/bounds.md";
    let mut report = Report::new(ENTRY.name, ENTRY.about, source, request.quick);
    report.setting.push(format!(
        "{}; the time of all calls, with the first write to each object, less an empty replay; processor time of the \
         thread. Ratios: the time of cf ÷ that of the other heap in the same round. certified: the bytes that suffice \
         cf for the program's demand in any order of calls; the other regions are multiples of the most live bytes.",
        counted(u64::from(measuring.rounds), "interleaved round")
    ));
    report.tables = vec![tables::means(all), tables::times(all), tables::counts(all)];
    report.plots = vec![tables::mean_plot(all), tables::program_plot(all)];
    report.claims = claims::all(all);
    report.notes.push(
        "rlsf at, talc at: the region, ÷ live bytes, of the time that cf is compared with. It is a larger one where the \
         other heap does not complete the program in this region; - if it completes it in none."
            .to_owned(),
    );
    report.notes.push(
        "cf is told the demand of the program that it replays. Where words of four bytes do not certify it, they have \
         three, which are slower. In a region smaller than the certified bytes nothing is proved; - if it does not \
         complete there."
            .to_owned(),
    );
    if !measuring.counts {
        let missing = "Instructions were not counted: valgrind is missing.";
        report.notes.push(missing.to_owned());
    }
    report
}
