//! The monitor: it releases each process in its turn, with its budget, and looks at the clock.
//!
//! ```text
//! a period of 5 ms:  vehicle and sensors (outside of all counts)
//!                    controller │ mission │ telemetry │ log │ guest    by priority, to the end
//! late               what a period takes beyond its length delays the next release
//! response           late + the controller's instructions: at most the deadline
//! ```

use crate::board::clock::{Stopwatch, timed};
use crate::load::{GUEST, Load, PROCESSES, Process, Verb};
use crate::memory::Memory;
use crate::port::{Account, Port, sum};
use crate::processes::Signals;
use crate::processes::controller::Controller;
use crate::processes::guest::Guest;
use crate::processes::log::Log;
use crate::processes::mission::Mission;
use crate::processes::telemetry::Telemetry;
use crate::vehicle::{STEPS, Vehicle};

/// A number, the most there was, and in which period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Longest {
    /// The most.
    pub most: u32,
    /// The period.
    pub period: u32,
    /// The most since the last row of the log.
    pub recent: u32,
}

impl Longest {
    fn note(&mut self, count: u32, period: u32) {
        if count > self.most {
            (self.most, self.period) = (count, period);
        }
        self.recent = self.recent.max(count);
    }
}

/// What became of the guest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lives {
    /// The period in which it was refused first.
    pub refused: Option<u32>,
    /// How often it was destroyed.
    pub ended: u32,
    /// The most bytes of pages that it held when it was destroyed, and after that.
    pub held: usize,
    /// As above.
    pub left: usize,
    /// Instructions of the longest destruction.
    pub longest: u32,
}

/// The figures of a flight.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// From the controller's release to its end.
    pub response: Longest,
    /// All processes of a period.
    pub whole: Longest,
    /// The longest release of each process, and the longest without its calls of the heap.
    pub runs: [u32; PROCESSES],
    /// As above.
    pub own: [u32; PROCESSES],
    /// The most instructions of handlers that interrupted a release of each process.
    pub handlers: [u32; PROCESSES],
    /// Deadlines that the controller missed.
    pub missed: u32,
    /// Releases in which it was denied an object.
    pub denied: u32,
    /// What became of the guest.
    pub guest: Lives,
    /// A sum over all positions of the vehicle.
    pub path: u32,
}

/// A flight.
pub struct Flight<'l, M: Memory> {
    load: &'l Load,
    with_guest: bool,
    /// The memory of all processes.
    pub memory: M,
    /// The vehicle.
    pub vehicle: Vehicle,
    /// What processes and vehicle tell each other.
    pub signals: Signals,
    controller: Controller<M::Name>,
    /// The mission.
    pub mission: Mission<M::Name>,
    /// The telemetry.
    pub telemetry: Telemetry<M::Name>,
    log: Log<M::Name>,
    guest: Guest<M::Name>,
    /// What each process has used.
    pub accounts: [Account; PROCESSES],
    /// Its figures.
    pub figures: Figures,
    /// Periods that are over.
    pub period: u32,
    /// Instructions by which the next release is late.
    late: u32,
}

impl<'l, M: Memory> Flight<'l, M> {
    /// A flight before take-off.
    pub fn new(load: &'l Load, memory: M, with_guest: bool) -> Self {
        let [_, mission, telemetry, ..] = &load.processes;
        Self {
            load,
            with_guest,
            memory,
            vehicle: Vehicle::new(load.seed),
            signals: Signals::default(),
            controller: Controller::new(),
            mission: Mission::new(load.seed, mission),
            telemetry: Telemetry::new(load.seed, telemetry),
            log: Log::new(),
            guest: Guest::new(load.seed),
            accounts: core::array::from_fn(|_| Account::default()),
            figures: Figures::default(),
            period: 0,
            late: 0,
        }
    }

    /// One period.
    pub fn fly(&mut self) {
        for frame in &mut self.signals.frames {
            self.vehicle.step(self.signals.pulls);
            *frame = self.vehicle.frame();
        }
        const { assert!(STEPS == 2, "two frames in a period of 5 ms") };
        for place in self.vehicle.position() {
            self.figures.path = sum(self.figures.path, place.0 as u32);
        }
        let mut whole = 0_u32;
        for process in 0..PROCESSES {
            if self.period % self.load.processes[process].every == 0 {
                whole += self.release(process);
            }
            if process == 0 {
                let response = self.late + whole;
                self.figures.response.note(response, self.period);
                self.figures.missed += u32::from(response > self.load.deadline);
            }
        }
        self.figures.whole.note(whole, self.period);
        self.late = (self.late + whole).saturating_sub(self.load.period);
        self.period += 1;
    }

    /// One release of a process; its instructions and those of handlers.
    fn release(&mut self, process: usize) -> u32 {
        let watch = Stopwatch::start();
        let account = &mut self.accounts[process];
        account.release(&self.load.processes[process]);
        let port = &mut Port {
            memory: &mut self.memory,
            account,
            process,
        };
        let signals = &mut self.signals;
        match process {
            0 => {
                let denied = self.controller.run(port, signals).is_err();
                self.figures.denied += u32::from(denied);
            }
            1 => self.mission.run(port, signals),
            2 => self.telemetry.run(port, signals),
            3 => self.log.run(port, signals),
            _ if self.with_guest => self.attend(),
            _ => {}
        }
        let (instructions, handlers) = watch.with_handlers();
        let (calls, aside) = self.accounts[process].in_release();
        let run = instructions.saturating_sub(aside);
        let figures = &mut self.figures;
        for (most, count) in [
            (&mut figures.runs, run),
            (&mut figures.own, run.saturating_sub(calls)),
            (&mut figures.handlers, handlers),
        ] {
            most[process] = count.max(most[process]);
        }
        run + handlers
    }

    /// The guest's turn.
    fn attend(&mut self) {
        let verb = self.load.verb(self.period);
        if verb == Verb::End {
            self.end_guest();
            return;
        }
        let account = &mut self.accounts[GUEST];
        let port = &mut Port {
            memory: &mut self.memory,
            account,
            process: GUEST,
        };
        self.guest.run(port, verb);
        if self.accounts[GUEST].refused > 0 {
            self.figures.guest.refused.get_or_insert(self.period);
        }
    }

    /// Destroys the guest with all that it holds, in this period.
    fn end_guest(&mut self) {
        let held = self.memory.held(GUEST);
        let ((), instructions) = timed(|| self.memory.destroy(GUEST));
        self.guest = Guest::new(self.load.seed.wrapping_add(self.period));
        self.accounts[GUEST].live = (0, 0);
        let lives = &mut self.figures.guest;
        lives.ended += 1;
        lives.held = held.max(lives.held);
        lives.left = self.memory.held(GUEST).max(lives.left);
        lives.longest = instructions.max(lives.longest);
    }

    /// Why the flight is not as it must be; `None` if it is.
    pub fn fault(&self) -> Option<&'static str> {
        let (all, kept) = (&self.accounts, &self.accounts[..GUEST]);
        let exceeds = |(used, demand): (&Account, &Process)| {
            let (objects, bytes) = used.peak;
            objects > demand.objects || bytes > demand.bytes || used.largest > demand.longest
        };
        let exceeded = kept.iter().zip(&self.load.processes).any(exceeds);
        let refused = kept.iter().any(|it| it.refused > 0);
        let damaged = all.iter().any(|it| it.damaged > 0);
        let beyond = all.iter().any(|it| it.beyond > 0);
        let uncharged = (0..PROCESSES).any(|it| self.memory.copied(it) > all[it].charged);
        let Figures {
            missed,
            denied,
            guest,
            ..
        } = &self.figures;
        let checks = [
            (*missed > 0, "the controller missed a deadline"),
            (*denied > 0, "the controller was denied an object"),
            (all[0].waits > 0, "the controller waited"),
            (refused, "the heap refused a process inside its demand"),
            (
                exceeded,
                "a process has exceeded its demand: correct its line in the load",
            ),
            (damaged, "an object does not hold what was written"),
            (guest.left > 0, "bytes of a destroyed guest are not back"),
            (
                beyond,
                "a free has copied more than the page-block of its object",
            ),
            (uncharged, "the heap has copied more than the budgets allow"),
        ];
        let found = checks.iter().find(|check| check.0).map(|check| check.1);
        found.or_else(|| self.memory.fault())
    }
}
