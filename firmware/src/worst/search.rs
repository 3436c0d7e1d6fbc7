//! The search for the worst call of each kind: scripted extremes, random programs, and hill
//! climbing from the worst program of each kind.

use core::mem::MaybeUninit;

use crate::clock::Clock;
use crate::event::EVENTS;
use crate::program::{Program, Scale};
use crate::random::Random;
use crate::record::{LIVE, Record};
use crate::stage::{SLOTS, Slot, Stage};
use crate::subject::{Kind, Subject};

/// How the heap is searched with one number of live objects.
struct Level {
    /// The bytes of the heap.
    bytes: usize,
    /// The longest object.
    largest: usize,
    /// Programs.
    programs: usize,
}

/// For each number of [`LIVE`]. Heaps that need more memory for so many objects refuse some.
const LEVELS: [Level; LIVE.len()] = [
    Level {
        bytes: 512 << 10,
        largest: 1000,
        programs: 400,
    },
    Level {
        bytes: 512 << 10,
        largest: 1000,
        programs: 80,
    },
    Level {
        bytes: 512 << 10,
        largest: 256,
        programs: 12,
    },
    Level {
        bytes: 512 << 10,
        largest: 24,
        programs: 2,
    },
];

/// The worst program of each kind of call so far.
struct Climb {
    programs: [Option<Program>; EVENTS],
    worst: [u32; EVENTS],
}

impl Climb {
    /// The next program: a third are new, the others change the worst one of some kind.
    fn next(&self, round: usize, random: &mut Random, scale: Scale) -> Program {
        match self.programs[round % EVENTS] {
            Some(worst) if round % 3 != 0 => worst.mutated(random, scale),
            _ => Program::random(random, scale),
        }
    }

    /// Keeps a program for the kinds of which it had a worse call.
    fn keep(&mut self, program: Program, worst: [u32; EVENTS]) {
        for (event, &worst) in worst.iter().enumerate() {
            if worst > self.worst[event] {
                self.worst[event] = worst;
                self.programs[event] = Some(program);
            }
        }
    }
}

/// Searches with each number of live objects.
///
/// # Panics
/// If the region is too small for the heap.
#[inline(never)]
pub fn run<K: Kind>(clock: &Clock, memory: &mut [MaybeUninit<u8>]) -> Record {
    let mut record = Record::new();
    for (number, level) in LEVELS.iter().enumerate() {
        let scale = Scale {
            largest: level.largest.min(K::LARGEST),
        };
        let mut random = Random(0x0005_eed0 + number as u64);
        let mut climb = Climb {
            programs: [None; EVENTS],
            worst: [0; EVENTS],
        };
        let memory = &mut memory[..level.bytes];
        on_stage::<K>(memory, number, clock, &mut record, |stage| {
            extremes(stage, scale);
            holes(stage, scale, 4, |_| 2);
            holes(stage, scale, 6, |hole| if hole < 8 { 2 } else { 4 });
        });
        for round in 0..level.programs {
            let program = climb.next(round, &mut random, scale);
            let worst = on_stage::<K>(memory, number, clock, &mut record, |stage| {
                program.run(stage);
            });
            climb.keep(program, worst);
        }
    }
    record
}

/// Does something with a new heap; the worst calls.
#[inline(never)]
fn on_stage<K: Kind>(
    memory: &mut [MaybeUninit<u8>],
    level: usize,
    clock: &Clock,
    record: &mut Record,
    act: impl FnOnce(&mut Stage<'_, K::Heap<'_>>),
) -> [u32; EVENTS] {
    let mut slots: [Slot<<K::Heap<'_> as Subject>::Name>; SLOTS] = [const { None }; SLOTS];
    let heap = K::over(memory).expect("a region that is large enough");
    let mut stage = Stage::new(heap, &mut slots[..LIVE[level]], level, clock, record);
    act(&mut stage);
    stage.worst()
}

/// What random programs seldom do: each length by itself, with holes everywhere, emptied in each
/// order.
fn extremes<S: Subject>(stage: &mut Stage<'_, S>, scale: Scale) {
    let slots = stage.slots();
    let steps = if slots > 1000 { 1 } else { 24 };
    for step in 1..=steps {
        let len = if steps == 1 {
            8
        } else {
            scale.largest * step / steps
        };
        fill(stage, len);
        // Oldest first: full pages lose objects, and others move into them.
        (0..slots).for_each(|slot| stage.free(slot));
        fill(stage, len);
        // Newest first.
        (0..slots).rev().for_each(|slot| stage.free(slot));
        fill(stage, len);
        // Holes everywhere, too short for what comes.
        (0..slots).step_by(2).for_each(|slot| stage.free(slot));
        let more = (len + 8).min(scale.largest);
        (0..slots.min(8)).step_by(2).for_each(|slot| {
            stage.allocate(slot, more);
        });
        (0..slots.min(16)).for_each(|slot| {
            stage.access(slot);
            stage.resize(slot, more);
        });
        stage.empty();
    }
}

/// Holes of neighbouring lengths above 2 KiB, which a tree of lengths holds one below the other; then
/// short objects out of them, and frees of what lies between two of them. A hole is made of
/// `parts` of the longest objects and a shorter one; `group` slots are enough for that and for the
/// object behind it.
fn holes<S: Subject>(
    stage: &mut Stage<'_, S>,
    scale: Scale,
    group: usize,
    parts: impl Fn(usize) -> usize,
) {
    let holes = (stage.slots() / group).min(24);
    for step in 1..=8 {
        for hole in 0..holes {
            let (first, parts) = (group * hole, parts(hole));
            for slot in first..first + parts {
                stage.allocate(slot, scale.largest);
            }
            let rest = 44 + 8 * (step + hole);
            stage.allocate(first + parts, rest.min(scale.largest));
            stage.allocate(first + group - 1, 8);
        }
        for hole in 0..holes {
            // From the shortest to the longest, or the other way around.
            let hole = if step % 2 == 0 {
                hole
            } else {
                holes - 1 - hole
            };
            (0..group - 1).for_each(|slot| stage.free(group * hole + slot));
        }
        (0..holes).for_each(|hole| {
            stage.allocate(group * hole, 8 * step);
        });
        (0..holes).for_each(|hole| stage.free(group * hole));
        (0..holes)
            .step_by(2)
            .for_each(|hole| stage.free(group * hole + group - 1));
        stage.empty();
    }
}

/// Fills all slots, until the heap refuses.
fn fill<S: Subject>(stage: &mut Stage<'_, S>, len: usize) {
    for slot in 0..stage.slots() {
        if !stage.allocate(slot, len) {
            return;
        }
    }
}
