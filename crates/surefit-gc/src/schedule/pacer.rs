//! The pacer: decides before every allocation whether a cycle begins, and how much of it is done.
//!
//! ```text
//! before(b):  by work:  no cycle, and b would pass the trigger: begin one
//!                       a cycle: step until as much is done as is due before b; to its end
//!                       before A is passed
//!                       it ended, and b would still pass the trigger: once more
//!             by time:  a cycle, or b would pass the trigger; and the program had its quantum:
//!                       a quantum of steps
//! ```
//! It knows nothing of heaps: [`Stepped`] is what it asks of a collector. Tests put a count of
//! bytes in the collector's place.
#![deny(unsafe_code)]

use super::{Amount, ByTime, ByWork, Pauses};

/// When a collector works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Schedule {
    /// A collection takes place when a request cannot be served. The program stops for all of it.
    #[default]
    Whole,
    /// Cycles begin at a trigger. Steps are left to the program, which calls
    /// [`Incremental::offer`](crate::Incremental::offer) or
    /// [`Incremental::run_until`](crate::Incremental::run_until) when it has time. If there are too
    /// few steps, the heap runs out, and the rest of the cycle is done at once: this is counted.
    Asked(Amount),
    /// Cycles begin at a trigger, and work is done in proportion to allocation.
    ByWork(ByWork),
    /// Cycles begin at a trigger, and work is done in quanta of time.
    ByTime(ByTime),
}

/// What a schedule did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Paced {
    /// Cycles that began because the trigger was reached.
    pub cycles: u64,
    /// By work: cycles that had not ended after W units when A was used up. They were finished at
    /// once: W was not enough for the program, or for a region that is longer than the
    /// certificate's.
    pub cycles_overdue: u64,
    /// Quanta of the collector.
    pub quanta: u64,
    /// Quanta that took longer than they may.
    pub quanta_overrun: u64,
    /// The most ticks by which one of them did.
    pub longest_overrun: u64,
    /// Times that were too short for one piece of work: nothing was done. The program offered them;
    /// a quantum has time for a piece.
    pub too_short: u64,
    /// The most that was ever occupied, with what was dead and not freed yet.
    pub most_occupied: Amount,
}

/// What the pacer asks of a collector.
pub(crate) trait Stepped {
    /// Its pacer.
    fn pacer(&self) -> &Pacer;

    /// Its pacer, to be changed.
    fn pacer_mut(&mut self) -> &mut Pacer;

    /// Whether a cycle has begun and not ended.
    fn is_running(&self) -> bool;

    /// Begins a cycle.
    fn begin(&mut self);

    /// Works: at least `budget` units, unless the cycle ends, and at most `grain − 1` more.
    fn step(&mut self, budget: u64);

    /// The units of work that were done in the cycle that runs.
    fn done(&self) -> u64;

    /// What the objects occupy that are not freed yet.
    fn occupied(&self) -> Amount;

    /// The time in ticks.
    fn now(&self) -> u64;
}

/// Any object occupies as much, at least.
const LEAST: Amount = Amount {
    objects: 1,
    bytes: 1,
};

/// The state of a schedule.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pacer {
    schedule: Schedule,
    /// Allocated in the present cycle.
    allocated: Amount,
    /// When the last pause ended; nothing before the first one.
    resumed: Option<u64>,
    paced: Paced,
    pauses: Pauses,
}

impl Pacer {
    pub(crate) fn new(schedule: Schedule) -> Self {
        Self {
            schedule,
            ..Self::default()
        }
    }

    pub(crate) const fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    pub(crate) const fn paced(&self) -> &Paced {
        &self.paced
    }

    pub(crate) const fn pauses(&self) -> &Pauses {
        &self.pauses
    }

    /// What was allocated in the present cycle in bytes, and when the last pause ended.
    #[cfg(test)]
    pub(crate) const fn state(&self) -> (u64, Option<u64>) {
        (self.allocated.bytes, self.resumed)
    }

    /// A cycle begins.
    pub(crate) fn begin_cycle(&mut self) {
        self.allocated = Amount::default();
    }

    /// Whether a cycle is to begin before this much is allocated.
    const fn passes_trigger(&self, occupied: Amount, next: Amount) -> bool {
        let trigger = match &self.schedule {
            Schedule::Whole => return false,
            Schedule::Asked(trigger) => *trigger,
            Schedule::ByWork(pace) => pace.trigger(),
            Schedule::ByTime(pace) => pace.trigger(),
        };
        !occupied.plus(next).is_within(trigger)
    }

    /// Notes an allocation: so much is occupied after it. `in_cycle`: whether a cycle runs.
    #[inline]
    pub(crate) fn note(&mut self, amount: Amount, occupied: Amount, in_cycle: bool) {
        if in_cycle {
            self.allocated = self.allocated.plus(amount);
        }
        let most = &mut self.paced.most_occupied;
        most.objects = most.objects.max(occupied.objects);
        most.bytes = most.bytes.max(occupied.bytes);
    }

    /// Notes a pause.
    pub(crate) fn resume(&mut self, began: u64, ended: u64) {
        self.resumed = Some(ended);
        self.pauses.add(ended.saturating_sub(began));
    }

    /// Notes that a time was too short for a piece of work.
    pub(crate) fn count_too_short(&mut self) {
        self.paced.too_short += 1;
    }

    /// Notes a quantum that ended now, and by how much it took too long.
    fn count_quantum(&mut self, deadline: u64, ended: u64) {
        let overrun = ended.saturating_sub(deadline);
        self.paced.quanta += 1;
        self.paced.quanta_overrun += u64::from(overrun > 0);
        self.paced.longest_overrun = self.paced.longest_overrun.max(overrun);
    }
}

/// Whether a collector can use time: a cycle runs, or would begin before the next allocation.
pub(crate) const fn is_wanted(pacer: &Pacer, is_running: bool, occupied: Amount) -> bool {
    is_running || pacer.passes_trigger(occupied, LEAST)
}

fn is_due(driven: &impl Stepped, next: Amount) -> bool {
    driven.is_running() || driven.pacer().passes_trigger(driven.occupied(), next)
}

/// Does what is due before `next` is allocated.
pub(crate) fn before(driven: &mut impl Stepped, next: Amount) {
    match driven.pacer().schedule {
        Schedule::Whole => {}
        // More than may live: no work would make room for it.
        Schedule::ByWork(ByWork { live, .. }) | Schedule::ByTime(ByTime { live, .. })
            if !next.is_within(live) => {}
        Schedule::Asked(_) => {
            if is_due(driven, next) && !driven.is_running() {
                paused(driven, begin);
            }
        }
        Schedule::ByWork(pace) => work(driven, &pace, next),
        Schedule::ByTime(pace) => spend_quantum(driven, &pace, next),
    }
}

/// Takes the time that a program offers, if the collector can use it: at least so many units of
/// work, or, by time, the quantum that is due. Returns whether a cycle runs after it.
pub(crate) fn offer(driven: &mut impl Stepped, units: u64) {
    let schedule = driven.pacer().schedule;
    match schedule {
        Schedule::ByTime(pace) => spend_quantum(driven, &pace, LEAST),
        _ if is_due(driven, LEAST) => paused(driven, |driven| {
            let mut left = units;
            if !driven.is_running() {
                begin(driven);
                left = left.saturating_sub(driven.done());
            }
            if left > 0 {
                driven.step(left);
            }
        }),
        _ => {}
    }
}

/// A pause, in which the collector works.
fn paused<D: Stepped, T>(driven: &mut D, work: impl FnOnce(&mut D) -> T) -> T {
    let began = driven.now();
    let result = work(driven);
    let ended = driven.now();
    driven.pacer_mut().resume(began, ended);
    result
}

fn begin(driven: &mut impl Stepped) {
    driven.pacer_mut().paced.cycles += 1;
    driven.begin();
}

/// By work.
fn work(driven: &mut impl Stepped, pace: &ByWork, next: Amount) {
    // The second cycle frees what floated in the first one.
    for _ in 0..2 {
        if !is_due(driven, next) {
            return;
        }
        let allocated = match driven.is_running() {
            true => driven.pacer().allocated,
            false => Amount::default(),
        };
        let due = pace.due(allocated.plus(next));
        if driven.is_running() && driven.done() >= due {
            return;
        }
        paused(driven, |driven| {
            if !driven.is_running() {
                begin(driven);
            }
            reach(driven, due.min(pace.work));
            if due > pace.work && driven.is_running() {
                driven.pacer_mut().paced.cycles_overdue += 1;
                reach(driven, due);
            }
        });
    }
}

/// Steps until so much of the cycle is done, or it ends.
fn reach(driven: &mut impl Stepped, due: u64) {
    while driven.is_running() && driven.done() < due {
        driven.step(due - driven.done());
    }
}

/// By time: nothing, if the program has not had its quantum yet.
///
/// A quantum has time for so many units, as is declared: it does them whatever the clock says
/// meanwhile, and more if the clock leaves time. So readings of the clock take nothing from them.
fn spend_quantum(driven: &mut impl Stepped, pace: &ByTime, next: Amount) {
    if !is_due(driven, next) {
        return;
    }
    let now = driven.now();
    let resumed = driven.pacer_mut().resumed;
    let had_quantum =
        resumed.is_none_or(|resumed| now.saturating_sub(resumed) >= pace.quanta.mutator());
    if had_quantum {
        let deadline = now.saturating_add(pace.quanta.collector());
        let budget = |ticks, done| pace.budget(ticks).max(pace.units.saturating_sub(done));
        let ended = run_until(driven, now, deadline, budget, pace.grain);
        driven.pacer_mut().count_quantum(deadline, ended);
    }
}

/// Steps from `began`, a time, until a deadline, or until the cycle ends; begins one if none runs.
/// `budget` says what can be done in so many ticks after so many units, and no step does more than
/// `grain − 1` units above its budget. Returns when it ended.
pub(crate) fn run_until(
    driven: &mut impl Stepped,
    began: u64,
    deadline: u64,
    budget: impl Fn(u64, u64) -> u64,
    grain: u64,
) -> u64 {
    let (mut now, mut worked, mut before) = (began, false, 0);
    if driven.is_running() {
        before = driven.done();
    } else {
        begin(driven);
        (now, worked) = (driven.now(), true);
    }
    while driven.is_running() {
        let done = driven.done().saturating_sub(before);
        let units = budget(deadline.saturating_sub(now), done);
        if units < grain.max(1) {
            break;
        }
        driven.step(units - (grain.max(1) - 1));
        (now, worked) = (driven.now(), true);
    }
    let pacer = driven.pacer_mut();
    pacer.paced.too_short += u64::from(!worked);
    pacer.resume(began, now);
    now
}
