//! The collector under a schedule: it works before allocations, and in the time that the program
//! offers.
#![deny(unsafe_code)]

use crate::client::Client;
use crate::incremental::{Incremental, Phase};
use crate::schedule::pacer::{self, Pacer, Stepped};
use crate::schedule::{Amount, Paced, Pauses, Rate, Schedule};
use crate::statistics::Clock;
use crate::stepwise::Stepwise;

impl<S: Stepwise, K: Clock> Incremental<'_, S, K> {
    /// The same collector under a schedule, for its whole life: its bounds hold if nothing lives
    /// yet. A schedule by time asks the collector's clock.
    ///
    /// [`Incremental::alloc_as_is`] does not work before it allocates, but what it allocates
    /// counts.
    ///
    /// # Panics
    /// If a schedule by time has no room in a quantum for one piece of work: it needs
    /// [`Incremental::most_excess`] units at least, and its `grain` must not be less. Or if it has
    /// a clock that [stands still](Clock::stands_still), as [`NoClock`](crate::NoClock) does.
    #[must_use]
    pub fn with_schedule(mut self, schedule: Schedule) -> Self {
        if let Schedule::ByTime(pace) = &schedule {
            let grain = self.most_excess();
            assert!(
                pace.grain >= grain,
                "one piece of work may have {grain} units"
            );
            assert!(
                pace.units >= pace.grain,
                "a quantum is shorter than a piece of work"
            );
            self.assert_clock();
        }
        self.pacer = Pacer::new(schedule);
        self
    }

    /// The schedule.
    #[must_use]
    pub const fn schedule(&self) -> &Schedule {
        self.pacer.schedule()
    }

    /// What the schedule did.
    #[must_use]
    pub const fn paced(&self) -> &Paced {
        self.pacer.paced()
    }

    /// The pauses that the schedule made, those of requests that found no room, and the time that
    /// the program offered. Steps that the program calls itself are not among them. In ticks of the
    /// clock: all are 0 if it [stands still](Clock::stands_still).
    #[must_use]
    pub const fn pauses(&self) -> &Pauses {
        self.pacer.pauses()
    }

    /// What the objects occupy that are not freed yet, as the space counts it.
    #[must_use]
    pub const fn occupied(&self) -> Amount {
        self.occupied
    }

    /// Whether the collector can use time now: a cycle runs, or the trigger of the schedule is
    /// reached.
    ///
    /// A program that has time to spare asks this, and then calls [`Incremental::offer`] or
    /// [`Incremental::run_until`].
    #[must_use]
    pub const fn due(&self) -> bool {
        pacer::is_wanted(&self.pacer, self.is_running(), self.occupied)
    }

    const fn is_running(&self) -> bool {
        !matches!(self.phase, Phase::Idle)
    }

    /// Offers at least `units` units of work to the collector; under a schedule by time, the
    /// quantum that is due, if one is. Begins a cycle if the trigger is reached. Does nothing if
    /// the collector is not [`due`](Incremental::due). Returns whether it is due after it.
    pub fn offer(&mut self, client: &mut impl Client<S>, units: u64) -> bool {
        pacer::offer(&mut Driven { gc: self, client }, units);
        self.due()
    }

    /// Offers the time until a deadline, in ticks of the collector's clock: what is left of a
    /// frame, of an audio buffer, or until the next event. `rate` is declared: how much work is
    /// done in so many ticks, at least; no step is made that could be late at this rate. Returns by
    /// how many ticks it was late all the same: 0 if the declaration holds.
    ///
    /// Does nothing if the collector is not [`due`](Incremental::due). The roots are taken in one
    /// piece: a cycle begins only if the time is enough for as many as there were in any cycle yet.
    ///
    /// # Panics
    /// If the rate has no ticks, or the collector's clock [stands still](Clock::stands_still).
    pub fn run_until(&mut self, client: &mut impl Client<S>, deadline: u64, rate: Rate) -> u64 {
        assert!(rate.ticks > 0, "a rate is of at least one tick");
        self.assert_clock();
        if !self.due() {
            return 0;
        }
        let (grain, began) = (self.most_excess(), self.gc.clock.now());
        let budget = |ticks, _done| rate.units_in(ticks);
        let begins = self.is_running()
            || budget(deadline.saturating_sub(began), 0) >= self.steps.largest_roots;
        if !begins {
            self.pacer.count_too_short();
            return 0;
        }
        let mut driven = Driven { gc: self, client };
        pacer::run_until(&mut driven, began, deadline, budget, grain).saturating_sub(deadline)
    }

    /// Over a clock that stands still, no deadline would ever come.
    fn assert_clock(&self) {
        assert!(
            !self.gc.clock.stands_still(),
            "the clock stands still: a collector that works by time needs one that ticks"
        );
    }

    /// Does what is due before an object of so many bytes is allocated.
    #[inline]
    pub(super) fn pace(&mut self, client: &mut impl Client<S>, bytes: usize) {
        if !matches!(self.schedule(), Schedule::Whole) {
            let next = self.gc.space.most_cost(bytes);
            pacer::before(&mut Driven { gc: self, client }, next);
        }
    }

    /// A pause outside the schedule.
    pub(super) fn paused<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let began = self.gc.clock.now();
        let result = work(self);
        self.pacer.resume(began, self.gc.clock.now());
        result
    }

    /// An object was allocated that occupies so much.
    #[inline]
    pub(super) fn add_occupied(&mut self, amount: Amount) {
        self.occupied = self.occupied.plus(amount);
        let in_cycle = self.is_running();
        self.pacer.note(amount, self.occupied, in_cycle);
    }
}

/// A collector and its client: together they can work.
struct Driven<'a, 'm, S, K, C> {
    gc: &'a mut Incremental<'m, S, K>,
    client: &'a mut C,
}

impl<S: Stepwise, K: Clock, C: Client<S>> Stepped for Driven<'_, '_, S, K, C> {
    fn pacer(&self) -> &Pacer {
        &self.gc.pacer
    }

    fn pacer_mut(&mut self) -> &mut Pacer {
        &mut self.gc.pacer
    }

    fn is_running(&self) -> bool {
        self.gc.is_running()
    }

    fn begin(&mut self) {
        self.gc.start(self.client);
    }

    fn step(&mut self, budget: u64) {
        self.gc.step(self.client, budget);
    }

    fn done(&self) -> u64 {
        self.gc.cycle.work
    }

    fn occupied(&self) -> Amount {
        self.gc.occupied
    }

    fn now(&self) -> u64 {
        self.gc.gc.clock.now()
    }
}
