//! A flight with its log: a row for each two-hundredth of it, and its figures.

use core::fmt::{self, Write};

use crate::board::clock;
use crate::fixed::Fixed;
use crate::kinds::{Options, Regions, Visit, on};
use crate::load::{GUEST, Load, NAMES, PROCESSES};
use crate::memory::Memory;
use crate::monitor::{Figures, Flight};
use crate::plan::Plan;
use crate::port::Account;

/// Rows of the log.
const ROWS: u32 = 200;

/// Megahertz of the processor of the figures: it executes one instruction in each cycle.
const MEGAHERTZ: u64 = 600;

/// A flight with its log, in regions of the plan's bytes.
pub struct Logged<'l> {
    /// Where the log goes.
    pub out: &'l mut dyn Write,
    /// What is flown.
    pub load: &'l Load,
    /// Its certificate.
    pub plan: &'l Plan,
    /// How it is flown.
    pub options: Options,
}

impl Logged<'_> {
    /// Flies. Whether the flight was as it must be.
    pub fn fly(self, regions: Regions<'_>) -> bool {
        on(self.options.kind, regions, self.load, self).is_some_and(|passed| passed)
    }
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
    writeln!(
        out,
        "load: {} instructions in a period, deadline {}, seed {}; {periods} periods
certificate: {} B of {} B of RAM, {} pages; a free copies at most {} B, in {} sections of {} B
pools for the same demand: {} B
row,period,response,whole,controller,mission,telemetry,log,guest",
        load.period,
        load.deadline,
        load.seed,
        plan.region_bytes,
        load.ram,
        plan.pages,
        plan.work.copied_bytes_max_per_free,
        plan.work.sections_max_per_free,
        plan.work.copied_bytes_max_per_section,
        plan.pool_bytes,
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
    let Figures {
        response, whole, ..
    } = &mut flight.figures;
    let [response, whole] = [response, whole].map(|it| core::mem::take(&mut it.recent));
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
        "process    needed  quota   held  objects bytes largest  waits refused  allocation free refusal  release without-heap handler  digest"
    )?;
    for (process, account) in flight.accounts.iter().enumerate() {
        let Account {
            peak: (objects, bytes),
            largest,
            waits,
            refused,
            digest,
            longest: [allocation, refusal, free],
            ..
        } = account;
        let Figures {
            runs,
            own,
            handlers,
            ..
        } = &flight.figures;
        writeln!(
            out,
            "{:<10} {:>6} {:>6} {:>6} {objects:>8} {bytes:>5} {largest:>7} {waits:>6} {refused:>7} {allocation:>11} {free:>4} {refusal:>7} {:>8} {:>12} {:>7}  {digest:08x}",
            NAMES[process],
            plan.needed[process],
            load.processes[process].quota,
            most[process],
            runs[process],
            own[process],
            handlers[process]
        )?;
    }
    Ok(())
}

/// The figures of the flight as a whole.
fn figures<M: Memory>(out: &mut dyn Write, load: &Load, flight: &Flight<'_, M>) -> fmt::Result {
    let Figures {
        response,
        whole,
        missed,
        guest,
        path,
        ..
    } = &flight.figures;
    let (mut longest, mut bytes, mut instructions, mut charged) = ([0; 3], 0, 0, 0);
    for account in &flight.accounts {
        longest = core::array::from_fn(|call| account.longest[call].max(longest[call]));
        bytes += account.turnover.0;
        instructions += account.turnover.1;
        charged += account.charged;
    }
    let [allocation, refusal, free] = longest;
    let section = clock::longest_section();
    let rate = (bytes * MEGAHERTZ).checked_div(instructions).unwrap_or(0);
    let copied: u64 = (0..PROCESSES).map(|it| flight.memory.copied(it)).sum();
    writeln!(
        out,
        "controller: {missed} deadlines missed; longest response {} instructions (period {}); deadline {}
period: longest {} instructions (period {}); length {}
critical section: longest {section} instructions
calls: longest allocation {allocation}, free {free}, refusal {refusal} instructions
heap: {bytes} B allocated and freed in {instructions} instructions: {rate} MB/s at {MEGAHERTZ} MHz
moves: {copied} B copied, {charged} B taken from budgets",
        response.most, response.period, load.deadline, whole.most, whole.period, load.period
    )?;
    if let (Some(refused), Some(why)) = (guest.refused, flight.accounts[GUEST].refusal) {
        writeln!(
            out,
            "guest: first refused in period {refused}; the last time: {why}"
        )?;
    }
    let millimetres = |place: Fixed| (i64::from(place.0) * 1000) >> 24;
    let [x, y, z] = flight.vehicle.position().map(millimetres);
    writeln!(
        out,
        "guest: destroyed {} times in at most {} instructions; it held {} B, after that {} B
vehicle: at {x} {y} {z} mm, {} waypoints reached, {} packets sent, path {path:08x}",
        guest.ended,
        guest.longest,
        guest.held,
        guest.left,
        flight.mission.reached,
        flight.telemetry.sent
    )
}
