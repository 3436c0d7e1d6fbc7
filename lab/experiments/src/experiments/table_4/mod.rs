//! `surefit experiment table-4`: what one malloc and one free cost, on average and at worst.
//!
//! `call_costs` says how calls are measured, and what makes a maximum repeatable. The paper gives
//! clock ticks of its own machine, so what is compared are the ratios of Compact-fit to TLSF.
//! Objects over 16,200 B are left out of recorded programs, as the paper left them out.
//!
//! # Source
//! Craciunas et al. (2009), table 4: "TLSF vs. optimized, non-compacting CF". `cf-paper` is that
//! system, `cf-direct` is ours of the same kind. A claim is judged for each of them. The compacting
//! heap with handles, `cf:k=1`, is a further row. The paper's maxima, near 10⁵ ticks for malloc and
//! free alike, are probably interrupts.

mod call_costs;
mod claims;
mod counted;
mod found;
mod published;

use anyhow::Result;

use self::call_costs::{Cost, Counted, measure, replays};
use self::found::{ALLOCATORS, OnProgram, SYSTEMS, System};
use self::published::{Call, LARGEST, OfCall, Papers, Ticks};
use crate::kit::{Entry, Report, Request, Table, papers};
use crate::shared::programs::{self, StandsFor};
use surefit_measure::instructions;
use surefit_measure::progress::Progress;
use surefit_measure::sizes::Size;
use surefit_measure::spec::Spec;

pub(crate) use self::counted::{ChosenCalls, play_chosen_calls};

/// This experiment.
pub(crate) const ENTRY: Entry = Entry {
    name: "table-4",
    about: "What one malloc and one free cost, on average and at worst",
    takes_traces: true,
    takes_rounds: true,
    run,
};

/// The paper's two programs, and two real ones.
const PROGRAMS: [&str; 4] = [
    programs::EMACS_LIVES,
    programs::HUMMINGBIRD_LIVES,
    programs::EMACS,
    "bundled:redis",
];

/// Of these a quick run takes the paper's two: every reading of the processor's counter is a call
/// of the system, and the real ones make many.
const QUICK: usize = 2;

fn run(request: &Request) -> Result<Report> {
    let specs = Spec::parse_list(&ALLOCATORS.join(","))?;
    let usual = if request.quick {
        &PROGRAMS[..QUICK]
    } else {
        &PROGRAMS
    };
    let names = programs::names(request, usual);
    let rounds = request.rounds_or(5);
    let progress = Progress::new((specs.len() * names.len()) as u64 * u64::from(replays(rounds)));
    let source = papers::of_2009!("table 4");
    let mut report = Report::new(ENTRY.name, ENTRY.about, source, request.quick);
    report.setting.push(format!(
        "{rounds} interleaved rounds, heap 4x; ns, less what a reading of the clock takes. avg: without the longest \
         0.01 %. repeatable: the longest call, each call at its shortest round. Allocations of zeroed memory and objects \
         over 16,200 B are left out."
    ));
    let has_valgrind = instructions::available().is_ok();
    let (mut all, mut by_valgrind) = (Vec::new(), false);
    for name in &names {
        let program = programs::load_up_to(name, request.quick, LARGEST)?;
        let mut costs = measure(&program.steps, &specs, rounds, &progress)?;
        let is_counted = costs.iter().flatten().any(|one| one.instructions.is_some());
        if !is_counted && has_valgrind {
            by_valgrind = true;
            counted::add(name, request.quick, &program.steps, &specs, &mut costs)?;
        }
        let on = OnProgram::new(&program, costs);
        report.tables.extend(tables(&on));
        all.push(on);
    }
    progress.finish();
    report
        .setting
        .push(counted_by(&all, by_valgrind).to_owned());
    report.claims = claims::all(&all);
    report.notes.push(
        "Papers' figures are clock ticks of another machine: compare the ratios of CF to TLSF. A maximum of all calls is \
         mostly an interrupt; the repeatable one, and the most instructions of a call, are the heap's own."
            .to_owned(),
    );
    Ok(report)
}

/// Who counted instructions, if anybody did.
fn counted_by(programs: &[OnProgram], by_valgrind: bool) -> &'static str {
    let mut measured = programs.iter().flat_map(|on| on.costs.iter().flatten());
    if by_valgrind {
        "Instructions: counted by valgrind, because this machine has no counter that a program may read: the most of some \
         190 mallocs and as many frees, the longest, the first, and some evenly spread."
    } else if measured.any(|measured| measured.instructions.is_some()) {
        "Instructions: counted by the processor, around each call; each call at the lesser of two replays."
    } else {
        "Instructions: not counted, because this machine has no counter that a program may read, and no valgrind."
    }
}

// ---- reporting
// -------------------------------------------------------------------------------------------------

fn tables(on: &OnProgram) -> Vec<Table> {
    let mut tables = Call::BOTH.map(|call| costs_table(on, call)).to_vec();
    tables.extend(Papers::of(&on.name).map(|papers| ratios_table(on, papers)));
    tables
}

/// The costs of one call.
fn costs_table(on: &OnProgram, call: Call) -> Table {
    let papers = Papers::of(&on.name).map(|papers| papers.call(call));
    let theirs = |row: usize, figure: fn(Ticks) -> f64| {
        let OfCall { tlsf, cf } = papers?;
        let ticks = match row {
            0 => Some(tlsf),
            row => SYSTEMS.iter().any(|system| system.1 == row).then_some(cf),
        };
        ticks.map(figure)
    };
    let title = format!(
        "{}, {} live: {}; paper: clock ticks",
        on.name,
        Size(on.live_bytes),
        call.name()
    );
    let time = |row: usize| on.time(row, call);
    let counted = |row: usize| on.instructions(row, call);
    Table::of(title, 0..ALLOCATORS.len())
        .text("allocator", |row| ALLOCATORS[*row])
        .figure("avg ns", 1, |row| time(*row).map(|cost| cost.mean))
        .figure("p99.99", 0, |row| time(*row).map(|cost| cost.p9999))
        .figure("max ns", 0, |row| time(*row).map(|cost| cost.most))
        .figure("repeatable", 0, |row| {
            time(*row).map(|cost| cost.repeatable)
        })
        .figure("avg instr", 1, |row| {
            counted(*row).and_then(|cost| cost.mean)
        })
        .figure("max instr", 0, |row| counted(*row).map(|cost| cost.most))
        .papers("avg", 0, |row| theirs(*row, |ticks| ticks.average))
        .papers("max", 0, |row| theirs(*row, |ticks| ticks.most))
        .table()
}

/// What a call costs with a system ÷ what it costs with TLSF.
fn ratios_table(on: &OnProgram, papers: Papers) -> Table {
    let rows = SYSTEMS
        .iter()
        .flat_map(|&system| Call::BOTH.map(|call| (system, call)));
    let of_times = |(_, row): System, call, figure: fn(&Cost) -> f64| {
        let [tlsf, cf] = [on.time(0, call)?, on.time(row, call)?];
        Some(figure(cf) / figure(tlsf).max(1e-9))
    };
    let of_counts = |(_, row): System, call, figure: fn(Counted) -> Option<f64>| {
        let [tlsf, cf] = [on.instructions(0, call)?, on.instructions(row, call)?];
        Some(figure(cf)? / figure(tlsf)?.max(1e-9))
    };
    let of = StandsFor::of(&on.name).papers_name().unwrap_or(&on.name);
    let title = format!("{}: ÷ tlsf beside the paper's {of}", on.name);
    Table::of(title, rows)
        .text("CF ÷ TLSF", |(system, call)| {
            format!("{} {}", system.0, call.name())
        })
        .figure("avg ns", 2, |(system, call)| {
            of_times(*system, *call, |cost| cost.mean)
        })
        .figure("repeatable", 2, |(system, call)| {
            of_times(*system, *call, |cost| cost.repeatable as f64)
        })
        .figure("avg instr", 2, |(system, call)| {
            of_counts(*system, *call, |cost| cost.mean)
        })
        .figure("max instr", 2, |(system, call)| {
            of_counts(*system, *call, |cost| Some(cost.most as f64))
        })
        .papers("avg ticks", 2, |(_, call)| papers.call(*call).ratio())
        .papers("max ticks", 2, |(_, call)| {
            let OfCall { tlsf, cf } = papers.call(*call);
            cf.most / tlsf.most
        })
        .table()
}
