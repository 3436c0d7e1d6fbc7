//! The search for the worst call of each kind: scripted extremes, random programs, and hill
//! climbing from the worst program of each kind.

use core::mem::MaybeUninit;

use crate::clock::Clock;
use crate::event::EVENTS;
use crate::marks::Marks;
use crate::program::{Program, Scale};
use crate::random::Random;
use crate::record::{LIVE, Record};
use crate::stage::{SLOTS, Slot, Stage};
use crate::subject::{Kind, Subject};

/// The bytes of the whole region.
const REGION: usize = 512 << 10;

/// How the heap is searched with one number of live objects.
struct Level {
    /// The bytes of a heap that is too small for so many objects, and so refuses some.
    small: usize,
    /// The longest object.
    largest: usize,
    /// Programs on the whole region; on a small heap, half as many.
    programs: usize,
}

/// For each number of [`LIVE`]. Heaps that need more memory for so many objects refuse some.
const LEVELS: [Level; LIVE.len()] = [
    Level {
        small: 4 << 10,
        largest: 1000,
        programs: 400,
    },
    Level {
        small: 16 << 10,
        largest: 1000,
        programs: 80,
    },
    Level {
        small: 64 << 10,
        largest: 256,
        programs: 12,
    },
    Level {
        small: 96 << 10,
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

/// What the stages of one heap have in common.
struct Search<'c> {
    clock: &'c Clock,
    marks: Marks,
    record: Record,
}

/// Searches with each number of live objects, in the whole region and in a small part of it.
///
/// # Panics
/// If the region is too small for the heap.
#[inline(never)]
pub fn run<K: Kind>(clock: &Clock, marks: Marks, memory: &mut [MaybeUninit<u8>]) -> Record {
    let record = Record::new();
    let mut search = Search {
        clock,
        marks,
        record,
    };
    for (number, level) in LEVELS.iter().enumerate() {
        let whole = &mut memory[..REGION];
        search.level::<K>(whole, number, level.programs, 0x0005_eed0);
        let small = &mut memory[..level.small.max(K::SMALLEST)];
        search.level::<K>(small, number, level.programs / 2, 0x0005_eee0);
    }
    search.record
}

impl Search<'_> {
    /// Searches with one number of live objects in a region.
    fn level<K: Kind>(
        &mut self,
        memory: &mut [MaybeUninit<u8>],
        number: usize,
        programs: usize,
        seed: u64,
    ) {
        let scale = Scale {
            largest: LEVELS[number].largest.min(K::LARGEST),
        };
        let mut random = Random(seed + number as u64);
        let mut climb = Climb {
            programs: [None; EVENTS],
            worst: [0; EVENTS],
        };
        self.on_stage::<K>(memory, number, |stage| {
            extremes(stage, scale);
            holes(stage, scale, 4, |_| 2);
            holes(stage, scale, 6, |hole| if hole < 8 { 2 } else { 4 });
        });
        for first in [256, 300, 383] {
            for serves in [false, true] {
                self.on_stage::<K>(memory, number, |stage| chain(stage, scale, first, serves));
            }
        }
        for round in 0..programs {
            let program = climb.next(round, &mut random, scale);
            let worst = self.on_stage::<K>(memory, number, |stage| program.run(stage));
            climb.keep(program, worst);
        }
    }

    /// Does something with a new heap; the worst calls.
    #[inline(never)]
    fn on_stage<K: Kind>(
        &mut self,
        memory: &mut [MaybeUninit<u8>],
        level: usize,
        act: impl FnOnce(&mut Stage<'_, K::Heap<'_>>),
    ) -> [u32; EVENTS] {
        let mut slots: [Slot<<K::Heap<'_> as Subject>::Name>; SLOTS] = [const { None }; SLOTS];
        let heap = K::over(memory).expect("a region that is large enough");
        self.marks.begin();
        let slots = &mut slots[..LIVE[level]];
        let mut stage = Stage::new(heap, slots, level, self.clock, self.marks, &mut self.record);
        act(&mut stage);
        stage.worst()
    }
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

/// Holes of neighbouring lengths above 2 KiB, which a tree of lengths holds one below the other;
/// then short objects out of them, and frees of what lies between two of them. A hole is made of
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

/// The lengths of free chunks that a tree of lengths holds as one long way down, in units of 8
/// bytes. The last ones have all but their last bits in common with the length of the first two and
/// what is between them.
const fn chained(first: usize) -> [usize; 15] {
    let whole = first + BETWEEN + 256;
    let mut lengths = [first; 15];
    lengths[1] = 256;
    let mut number = 2;
    while number < 15 {
        lengths[number] = match number {
            // The bits above are 0 in all of them.
            ..6 => 1023 - number,
            _ => whole ^ 1 << (14 - number),
        };
        number += 1;
    }
    lengths
}

/// The length of what is between the first two, in units of 8 bytes.
const BETWEEN: usize = 16;

/// Makes such a tree. Then the object between the first two is freed, maybe after a short one was
/// allocated: each of the three walks through the tree is long. (A chunk has 4 bytes besides its
/// object.)
fn chain<S: Subject>(stage: &mut Stage<'_, S>, scale: Scale, first: usize, serves: bool) {
    let lengths = chained(first);
    let longest = (scale.largest + 4) / 8;
    let slots: usize = lengths.iter().map(|it| it.div_ceil(longest) + 1).sum();
    if slots > stage.slots() {
        return;
    }
    // Objects that are one chunk once they are free, and one that stays behind them.
    let mut next = 0;
    let mut groups = [(0, 0); 15];
    for (number, length) in lengths.into_iter().enumerate() {
        let parts = length.div_ceil(longest);
        for part in 0..parts {
            let granules = length * (part + 1) / parts - length * part / parts;
            stage.allocate(next + part, 8 * granules - 4);
        }
        groups[number] = (next, next + parts);
        next += parts;
        let behind = if number == 0 { BETWEEN.min(longest) } else { 2 };
        stage.allocate(next, 8 * behind - 4);
        next += 1;
    }
    for (from, to) in groups {
        (from..to).for_each(|slot| stage.free(slot));
    }
    if serves {
        stage.allocate(0, 60);
    }
    stage.free(groups[0].1);
    stage.empty();
}

/// Fills all slots, until the heap refuses.
fn fill<S: Subject>(stage: &mut Stage<'_, S>, len: usize) {
    for slot in 0..stage.slots() {
        if !stage.allocate(slot, len) {
            return;
        }
    }
}
