//! A flight with its log: a row for each two-hundredth of it, and its figures.

use core::fmt::{self, Write};

use crate::board::clock;
use crate::kinds::{Options, Regions, Visit, on};
use crate::load::{GUEST, Load, NAMES, PROCESSES};
use crate::memory::Memory;
use crate::monitor::Flight;
use crate::plan::Plan;
use crate::port::{Account, Call};

/// Rows of the log.
const ROWS: u32 = 200;

/// Megahertz of the processor of the figures: it executes one instruction in each cycle.
const MEGAHERTZ: u64 = 600;

/// Flies, in regions of the plan's bytes. Whether the flight was as it must be.
pub fn fly(
    out: &mut dyn Write,
    load: &Load,
    plan: &Plan,
    regions: Regions<'_>,
    options: Options,
) -> bool {
    let logged = Logged {
        out,
        load,
        plan,
        options,
    };
    on(options.kind, regions, load, logged).is_some_and(|passed| passed)
}

/// A flight with its log.
struct Logged<'l> {
    out: &'l mut dyn Write,
    load: &'l Load,
    plan: &'l Plan,
    options: Options,
}

impl Visit for Logged<'_> {
    type Result = bool;

    fn visit<M: Memory>(self, memory: M) -> bool {
        let mut flight = Flight::new(self.load, memory, self.options.with_guest);
        let periods = self.options.periods;
        log(self.out, self.load, self.plan, &mut flight, periods).is_ok_and(|passed| passed)
    }
}

/// Flies so many periods, and logs them.
fn log<M: Memory>(
    out: &mut dyn Write,
    load: &Load,
    plan: &Plan,
    flight: &mut Flight<'_, M>,
    periods: u32,
) -> Result<bool, fmt::Error> {
    let Plan {
        region_bytes,
        pages,
        work,
        pool_bytes,
        ..
    } = plan;
    writeln!(
        out,
        "load: {} instructions in a period, deadline {}, seed {}; {periods} periods",
        load.period, load.deadline, load.seed
    )?;
    writeln!(
        out,
        "certificate: {region_bytes} B of {} B of RAM, {pages} pages; a free copies at most {} B, in {} sections of {} B",
        load.ram,
        work.copied_bytes_max_per_free,
        work.sections_max_per_free,
        work.copied_bytes_max_per_section,
    )?;
    writeln!(out, "pools for the same demand: {pool_bytes} B")?;
    writeln!(
        out,
        "row,period,response,whole,controller,mission,telemetry,log,guest"
    )?;
    let mut most = [0; PROCESSES];
    for period in 1..=periods {
        flight.fly();
        if period % (periods / ROWS).max(1) == 0 {
            row(out, flight, &mut most)?;
        }
    }
    flight.memory.land();
    processes(out, load, plan, flight, &most)?;
    figures(out, load, flight)?;
    flight.memory.describe(out)?;
    let fault = flight.fault();
    match fault {
        Some(fault) => writeln!(out, "FAILED: {fault}")?,
        None => writeln!(out, "ok: the flight is as it must be")?,
    }
    Ok(fault.is_none())
}

/// One row: the longest response and period since the last row, and what each process holds.
fn row<M: Memory>(
    out: &mut dyn Write,
    flight: &mut Flight<'_, M>,
    most: &mut [usize; PROCESSES],
) -> fmt::Result {
    let figures = &mut flight.figures;
    let (response, whole) = (figures.response.recent, figures.whole.recent);
    (figures.response.recent, figures.whole.recent) = (0, 0);
    write!(out, "row,{},{response},{whole}", flight.period)?;
    for (process, most) in most.iter_mut().enumerate() {
        let held = flight.memory.held(process);
        *most = held.max(*most);
        write!(out, ",{held}")?;
    }
    writeln!(out)
}

/// A line for each process.
fn processes<M: Memory>(
    out: &mut dyn Write,
    load: &Load,
    plan: &Plan,
    flight: &Flight<'_, M>,
    most: &[usize; PROCESSES],
) -> fmt::Result {
    writeln!(
        out,
        "process    needed  quota   held  objects bytes largest  waits refused  allocation free refusal  release without-heap  digest"
    )?;
    for (process, account) in flight.accounts.iter().enumerate() {
        let Account {
            peak: (objects, bytes),
            largest,
            waits,
            refused,
            digest,
            ..
        } = account;
        let [allocation, free, refusal] = [Call::Allocation, Call::Free, Call::Refusal]
            .map(|call| account.longest[call as usize]);
        let (run, own) = (flight.figures.runs[process], flight.figures.own[process]);
        writeln!(
            out,
            "{:<10} {:>6} {:>6} {:>6} {objects:>8} {bytes:>5} {largest:>7} {waits:>6} {refused:>7} {allocation:>11} {free:>4} {refusal:>7} {run:>8} {own:>12}  {digest:08x}",
            NAMES[process], plan.needed[process], load.processes[process].quota, most[process]
        )?;
    }
    Ok(())
}

/// The figures of the flight as a whole.
fn figures<M: Memory>(out: &mut dyn Write, load: &Load, flight: &Flight<'_, M>) -> fmt::Result {
    let figures = &flight.figures;
    let (controller, whole) = bounds(load, flight);
    writeln!(
        out,
        "controller: {} deadlines missed; longest response {} instructions (period {}), at most {controller} by its budget; deadline {}",
        figures.missed, figures.response.most, figures.response.period, load.deadline
    )?;
    writeln!(
        out,
        "period: longest {} instructions (period {}), at most {whole} by all budgets; length {}",
        figures.whole.most, figures.whole.period, load.period
    )?;
    writeln!(
        out,
        "critical section: longest {} instructions",
        clock::longest_section()
    )?;
    let longest = |call: Call| {
        let each = flight.accounts.iter();
        each.map(|account| account.longest[call as usize])
            .max()
            .unwrap_or(0)
    };
    writeln!(
        out,
        "calls: longest allocation {}, free {}, refusal {} instructions",
        longest(Call::Allocation),
        longest(Call::Free),
        longest(Call::Refusal)
    )?;
    let turnovers = flight.accounts.iter().map(|account| account.turnover);
    let (bytes, instructions) = turnovers.fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
    let rate = (bytes * MEGAHERTZ).checked_div(instructions).unwrap_or(0);
    writeln!(
        out,
        "heap: {bytes} B allocated and freed in {instructions} instructions: {rate} MB/s at {MEGAHERTZ} MHz"
    )?;
    let copied: u64 = (0..PROCESSES).map(|it| flight.memory.copied(it)).sum();
    let charged: u64 = flight.accounts.iter().map(|it| it.charged).sum();
    writeln!(
        out,
        "moves: {copied} B copied, {charged} B taken from budgets"
    )?;
    let guest = &figures.guest;
    if let (Some(refused), Some(why)) = (guest.refused, flight.accounts[GUEST].refusal) {
        writeln!(
            out,
            "guest: first refused in period {refused}; the last time: {why}"
        )?;
    }
    writeln!(
        out,
        "guest: destroyed {} times in at most {} instructions; it held {} B, after that {} B",
        guest.ended, guest.longest, guest.held, guest.left
    )?;
    let [x, y, z] = flight
        .vehicle
        .position()
        .map(|place| (i64::from(place.0) * 1000) >> 24);
    writeln!(
        out,
        "vehicle: at {x} {y} {z} mm, {} waypoints reached, {} packets sent, path {:08x}",
        flight.mission.reached, flight.telemetry.sent, figures.path
    )
}

/// The most instructions of a response and of a period: the longest release of each process without
/// the heap, and as many calls as its budget has, each the longest of that process.
fn bounds<M: Memory>(load: &Load, flight: &Flight<'_, M>) -> (u32, u32) {
    let bound = |process: usize| {
        let longest = flight.accounts[process].longest.iter().max().unwrap_or(&0);
        flight.figures.own[process] + load.processes[process].calls * longest
    };
    (bound(0), (0..PROCESSES).map(bound).sum())
}
