//! The schedules, and what is declared for each.
#![deny(unsafe_code)]

use surefit_clients::java::Ran;
use surefit_gc::schedule::{Amount, ByTime, ByWork, Quanta, Schedule};

/// More objects than any heap holds: paces are by bytes alone.
const OBJECTS: u64 = u64::MAX / 16;

/// Bytes that a program allocates in a tick, at most: a word is a tick, and an object has three
/// words of header that are written; size-classes add an eighth.
const BYTES_PER_TICK: u64 = 5;

/// The collector's quantum has room for so many of the longest pieces of work: the last one that
/// does not fit leaves an eighth of it unused, at most.
const PIECES: u64 = 8;

/// A kind of schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A collection when a request finds no room.
    Stop,
    /// Work in proportion to allocation.
    Work,
    /// Quanta of time: the collector's is to the program's as the first number to the second.
    Time(u64, u64),
}

impl Kind {
    /// Those on every space of ours.
    pub(super) const OURS: &[Self] = &[Self::Stop, Self::Work, Self::Time(1, 1), Self::Time(3, 1)];
    /// Metronome's: as published in 2003, and as a virtual machine for Java has them today; stop
    /// the world beside them.
    pub(super) const METRONOMES: &[Self] = &[Self::Stop, Self::Time(1, 1), Self::Time(3, 7)];
    /// Every one that is no stop the world.
    pub(super) const IN_STEPS: [Self; 4] = [
        Self::Work,
        Self::Time(1, 1),
        Self::Time(3, 1),
        Self::Time(3, 7),
    ];

    pub(super) fn name(self) -> String {
        match self {
            Self::Stop => "stop the world".to_owned(),
            Self::Work => "by work".to_owned(),
            Self::Time(collector, mutator) => format!("by time {collector}:{mutator}"),
        }
    }

    pub(super) const fn is_by_time(self) -> bool {
        matches!(self, Self::Time(..))
    }

    /// The schedule for a program and a heap of which this is known.
    pub(super) fn schedule(self, known: &Known) -> Schedule {
        match self {
            Self::Stop => Schedule::Whole,
            Self::Work => Schedule::ByWork(known.by_work()),
            Self::Time(collector, mutator) => Schedule::ByTime(known.by_time(collector, mutator)),
        }
    }
}

/// The quanta of a schedule, if it has any.
pub(super) const fn quanta(schedule: &Schedule) -> Option<Quanta> {
    match schedule {
        Schedule::ByTime(pace) => Some(pace.quanta),
        _ => None,
    }
}

/// What is known of a program in a heap before it runs there under a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Known {
    /// Bytes that live at most.
    pub(super) live: u64,
    /// Bytes of which the heap has room.
    pub(super) room: u64,
    /// Units of a cycle.
    pub(super) work: u64,
    /// Units of the longest piece of work but the roots.
    pub(super) grain: u64,
    /// Bytes of the largest object.
    pub(super) largest: u64,
    /// Ticks of the collector's quantum.
    pub(super) quantum: u64,
    /// Units that the collector works in its quantum.
    pub(super) units: u64,
    /// A thousand times the bytes that the program allocates in a tick.
    pub(super) millibytes_per_tick: u64,
}

impl Known {
    /// From the program in its smallest heap and in this one, under stop the world, counted.
    pub(super) fn of(smallest: &Ran, in_heap: &Ran) -> Self {
        let grain = in_heap.most_excess;
        let quantum = (PIECES * grain).next_power_of_two();
        let work = in_heap.largest_cycle.max(smallest.largest_cycle);
        Self {
            live: smallest.paced.most_occupied.bytes,
            room: in_heap.room.unwrap_or(in_heap.paced.most_occupied).bytes,
            work: work + work / 4,
            grain,
            largest: in_heap.largest.bytes,
            quantum,
            units: quantum,
            millibytes_per_tick: 1000 * BYTES_PER_TICK,
        }
    }

    /// A is half of what there is above what lives; some, where there is nothing.
    fn by_work(&self) -> ByWork {
        let half = self.room.saturating_sub(self.live) / 2;
        ByWork {
            live: amount(self.live),
            cycle: amount(half.max(self.room / 16)),
            work: self.work,
        }
    }

    /// The program is declared to allocate no more than there is room for, M + (2n − 1)·a; M is
    /// what is left of the room, if it allocates less.
    fn by_time(&self, collector: u64, mutator: u64) -> ByTime {
        let pace = self.asked(collector, mutator);
        let quanta = pace.quanta_of_a_cycle().unwrap_or(1);
        let shares = (2 * quanta).saturating_sub(1).max(1);
        let most = pace.allocated.bytes;
        let bytes = most.min(self.room.saturating_sub(self.live) / shares);
        ByTime {
            live: amount(self.room.saturating_sub(shares * bytes).max(self.largest)),
            allocated: Amount { objects: 0, bytes },
            ..pace
        }
    }

    /// The schedule for a program that allocates as fast as a replay can, and one largest object
    /// besides in each cycle. Its [`ByTime::most`] is what it asks of a heap.
    pub(super) fn asked(&self, collector: u64, mutator: u64) -> ByTime {
        let mutator = self.quantum * mutator / collector;
        let pace = ByTime {
            live: amount(self.live + self.largest),
            quanta: Quanta::new(self.quantum, mutator).expect("a quantum is some ticks"),
            allocated: Amount::default(),
            units: self.units,
            grain: self.grain,
            work: self.work,
        };
        let quanta = pace.quanta_of_a_cycle().unwrap_or(1).max(1);
        let bytes = mutator.saturating_mul(self.millibytes_per_tick) / 1000;
        ByTime {
            allocated: Amount {
                objects: 0,
                bytes: bytes + self.largest.div_ceil(quanta),
            },
            ..pace
        }
    }
}

const fn amount(bytes: u64) -> Amount {
    Amount {
        objects: OBJECTS,
        bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, Known, quanta};
    use surefit_gc::schedule::Schedule;

    const KNOWN: Known = Known {
        live: 1000,
        room: 2000,
        work: 600,
        grain: 100,
        largest: 40,
        quantum: 300,
        units: 300,
        millibytes_per_tick: 1000,
    };

    #[test]
    fn work_is_spread_over_half_of_what_is_above_the_live_bytes() {
        let Schedule::ByWork(pace) = Kind::Work.schedule(&KNOWN) else {
            panic!("by work");
        };
        assert_eq!((pace.trigger().bytes, pace.most().bytes), (1500, 2000));
        let full = Known { room: 900, ..KNOWN };
        let Schedule::ByWork(pace) = Kind::Work.schedule(&full) else {
            panic!("by work");
        };
        assert_eq!(pace.cycle.bytes, 900 / 16);
    }

    #[test]
    fn a_cycle_in_quanta_begins_as_late_as_the_room_allows() {
        let schedule = Kind::Time(3, 1).schedule(&KNOWN);
        let Schedule::ByTime(pace) = schedule else {
            panic!("by time");
        };
        let quanta = quanta(&schedule).expect("by time");
        assert_eq!((quanta.collector(), quanta.mutator()), (300, 100));
        // Three quanta of 201 units or more, and so two of the program: 100 bytes in each, and a
        // third of the largest object.
        assert_eq!(pace.cycle().bytes, 2 * 114);
        assert_eq!(pace.most().bytes, 2000);
        assert_eq!(KNOWN.asked(3, 1).most().bytes, 1040 + 5 * 114);
        let full = Known {
            room: 1250,
            ..KNOWN
        };
        let Schedule::ByTime(pace) = Kind::Time(1, 1).schedule(&full) else {
            panic!("by time");
        };
        assert_eq!((pace.live.bytes, pace.allocated.bytes), (1000, 50));
    }

    #[test]
    fn every_kind_has_a_name_of_its_own() {
        let names = Kind::IN_STEPS.map(Kind::name);
        assert!((1..4).all(|at| !names[..at].contains(&names[at])));
        for kinds in [Kind::OURS, Kind::METRONOMES] {
            let in_steps = kinds.iter().filter(|kind| Kind::IN_STEPS.contains(kind));
            assert_eq!(in_steps.count(), kinds.len() - 1);
        }
    }
}
