//! The bounds of `pace`, attacked: every program on a heap that is a few counters, breadth first.
//!
//! The heap frees nothing before the last unit of a cycle's work, and then all that it may. The
//! program allocates objects of any size at any time, drops any object at any time, and lets time
//! pass. It keeps to what was declared, and to nothing else.

extern crate alloc;
use alloc::collections::{BTreeSet, VecDeque};
use alloc::vec::Vec;

use super::pacer::{Pacer, Stepped, before, offer};
use super::{Amount, ByTime, ByWork, Quanta, Schedule};

const fn bytes(bytes: u64) -> Amount {
    Amount {
        objects: bytes,
        bytes,
    }
}

/// How many bytes the objects have that a cycle keeps, and those that it will free. Objects of
/// several bytes die as a whole; single bytes can do all that they can, but not be allocated
/// together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Heap {
    /// Live.
    live: u64,
    /// Dead, and kept by the present cycle: reached by its snapshot, or allocated in it.
    floating: u64,
    /// Dead before the present cycle began; all that is dead if there is none.
    garbage: u64,
    /// Units of work left of the present cycle.
    left: Option<u64>,
    work: u64,
    now: u64,
}

impl Stepped for World {
    fn pacer(&self) -> &Pacer {
        &self.pacer
    }

    fn pacer_mut(&mut self) -> &mut Pacer {
        &mut self.pacer
    }

    fn is_running(&self) -> bool {
        self.heap.left.is_some()
    }

    fn begin(&mut self) {
        self.heap.left = Some(self.heap.work);
        self.pacer.begin_cycle();
    }

    fn done(&self) -> u64 {
        self.heap.work - self.heap.left.expect("running")
    }

    /// As little as it may.
    fn step(&mut self, budget: u64) {
        let left = self.heap.left.expect("running");
        let done = left.min(budget);
        self.heap.now += done;
        self.heap.left = (left > done).then_some(left - done);
        if self.heap.left.is_none() {
            self.heap.garbage = core::mem::take(&mut self.heap.floating);
        }
    }

    fn occupied(&self) -> Amount {
        bytes(self.heap.live + self.heap.floating + self.heap.garbage)
    }

    fn now(&self) -> u64 {
        self.heap.now
    }
}

/// A heap, its pacer, and what was allocated lately: bytes and when.
#[derive(Clone, Debug)]
struct World {
    heap: Heap,
    pacer: Pacer,
    recent: Vec<(u64, u64)>,
}

/// A state, with times counted from now.
type Key = (Heap, u64, Option<u64>, Vec<(u64, u64)>);

impl World {
    fn new(schedule: Schedule, work: u64) -> Self {
        let heap = Heap {
            live: 0,
            floating: 0,
            garbage: 0,
            left: None,
            work,
            now: 0,
        };
        Self {
            heap,
            pacer: Pacer::new(schedule),
            recent: Vec::new(),
        }
    }

    /// Allocates an object.
    fn allocate(mut self, size: u64) -> Self {
        before(&mut self, bytes(size));
        self.heap.live += size;
        let (occupied, in_cycle) = (self.occupied(), self.is_running());
        self.pacer.note(bytes(size), occupied, in_cycle);
        self.recent.push((self.heap.now, size));
        self
    }

    /// A byte dies.
    fn drop(mut self) -> Option<Self> {
        self.heap.live = self.heap.live.checked_sub(1)?;
        match self.heap.left {
            Some(_) => self.heap.floating += 1,
            None => self.heap.garbage += 1,
        }
        Some(self)
    }

    fn key(&self, quanta: Option<Quanta>) -> Key {
        let (allocated, resumed) = self.pacer.state();
        let age = |time: u64| match quanta {
            None => 0,
            Some(quanta) => (self.heap.now - time).min(quanta.mutator()),
        };
        let recent = self.recent.iter().map(|&(at, size)| (age(at), size));
        let heap = Heap {
            now: 0,
            ..self.heap
        };
        (
            heap,
            heap.left.map_or(0, |_| allocated),
            resumed.map(age),
            recent.collect(),
        )
    }
}

/// The most that any program occupies whose live bytes are at most `live`; or the first amount that
/// is found above the bound.
fn most(schedule: Schedule, live: u64, work: u64) -> u64 {
    let (pace, bound) = match schedule {
        Schedule::ByTime(pace) => (Some(pace), pace.most()),
        Schedule::ByWork(pace) => (None, pace.most()),
        _ => unreachable!("no bound"),
    };
    let quanta = pace.map(|pace| pace.quanta);
    let first = World::new(schedule, work);
    let mut seen = BTreeSet::from([first.key(quanta)]);
    let mut queue = VecDeque::from([first]);
    let mut most = 0;
    while let Some(mut world) = queue.pop_front() {
        most = most.max(world.occupied().bytes);
        if most > bound.bytes {
            break;
        }
        let now = world.heap.now;
        // What was allocated in the last quantum of the program is all that limits what follows.
        world
            .recent
            .retain(|&(at, _)| quanta.is_some_and(|quanta| now - at < quanta.mutator()));
        let recent: u64 = world.recent.iter().map(|&(_, size)| size).sum();
        let declared = pace.map_or(u64::MAX, |pace| pace.allocated.bytes);
        let room = (live - world.heap.live).min(declared - recent);
        let mut next: Vec<_> = (1..=room)
            .map(|size| world.clone().allocate(size))
            .collect();
        next.extend(world.clone().drop());
        let mut polled = world.clone();
        offer(&mut polled, 1);
        next.push(polled);
        if quanta.is_some() {
            world.heap.now += 1;
            next.push(world);
        }
        for world in next {
            if seen.insert(world.key(quanta)) {
                queue.push_back(world);
            }
        }
    }
    most
}

#[test]
fn no_program_occupies_more_than_the_bound_by_work_and_some_occupies_as_much() {
    for (live, cycle, work) in [(1, 1, 1), (3, 2, 5), (3, 4, 3), (2, 3, 11), (4, 1, 2)] {
        let pace = ByWork {
            live: bytes(live),
            cycle: bytes(cycle),
            work,
        };
        let reached = most(Schedule::ByWork(pace), live, work);
        assert_eq!(reached, pace.most().bytes, "{pace:?}");
    }
}

fn by_time(live: u64, quanta: (u64, u64), allocated: u64, work: u64, grain: u64) -> ByTime {
    ByTime {
        live: bytes(live),
        quanta: Quanta::new(quanta.0, quanta.1).expect("a period"),
        allocated: bytes(allocated),
        // A tick is a unit of work.
        units: quanta.0,
        grain,
        work,
    }
}

#[test]
fn no_program_occupies_more_than_the_bound_by_time_and_some_occupies_as_much() {
    for (live, quanta, allocated, work, grain) in [
        (2, (1, 1), 1, 1, 1),
        (2, (2, 2), 2, 5, 1),
        (2, (3, 1), 2, 5, 1),
        (3, (2, 2), 1, 4, 2),
        (3, (1, 2), 2, 3, 1),
    ] {
        let pace = by_time(live, quanta, allocated, work, grain);
        let reached = most(Schedule::ByTime(pace), live, work);
        assert_eq!(reached, pace.most().bytes, "{pace:?}");
    }
}

/// What is declared is needed: with less work done, or more allocated, the bound is passed. By
/// work, M alone is: a cycle that takes longer than was declared is finished at once.
#[test]
fn a_declaration_that_is_not_kept_passes_the_bound() {
    let pace = by_time(2, (2, 2), 1, 4, 1);
    assert_eq!(most(Schedule::ByTime(pace), 2, 4), pace.most().bytes);
    assert!(most(Schedule::ByTime(pace), 2, 6) > pace.most().bytes);
    assert!(most(Schedule::ByTime(pace), 3, 4) > pace.most().bytes);
    let by_work = ByWork {
        live: bytes(2),
        cycle: bytes(2),
        work: 4,
    };
    assert!(most(Schedule::ByWork(by_work), 3, 4) > by_work.most().bytes);
    assert_eq!(most(Schedule::ByWork(by_work), 2, 8), by_work.most().bytes);
}
