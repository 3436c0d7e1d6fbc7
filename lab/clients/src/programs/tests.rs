//! Every program computes the same result with any heap, any index, and collections at any time.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::MaybeUninit;

use surefit_freelist::{Bitmap, First, Immediate, Index, Segregated, SingleList, Tree, TwoLevel};
use surefit_gc::{Arena, Full, Rootable};
use surefit_trace::graph::{Change, Reader, Stats, Step};

use super::*;
use crate::java;

type Lists = Segregated<Bitmap, Immediate, Tree, 256>;

/// Collects before all but a few steps, and checks the arena.
#[derive(Debug, Default)]
struct Always {
    steps: u32,
}

impl Between for Always {
    fn step<R: for<'gc> Rootable<'gc> + ?Sized, I: Index>(
        &mut self,
        arena: &mut Arena<'_, R, I>,
        room: usize,
    ) -> Result<(), Full> {
        self.steps += 1;
        if self.steps % 3 != 0 {
            arena.collect();
        }
        if self.steps % 64 == 0 {
            arena.check().expect("sound");
        }
        arena.ensure(room)
    }
}

/// Never collects, and counts what was allocated.
#[derive(Debug, Default)]
struct Never {
    allocations: u64,
}

impl Between for Never {
    fn step<R: for<'gc> Rootable<'gc> + ?Sized, I: Index>(
        &mut self,
        arena: &mut Arena<'_, R, I>,
        room: usize,
    ) -> Result<(), Full> {
        let totals = arena.totals();
        assert_eq!(totals.collections, 0, "the arena is roomy");
        self.allocations = totals.allocations;
        arena.ensure(room)
    }
}

/// A size that suits tests, the checksum, and bytes of a heap that is tight for it.
fn known(program: Program) -> (u32, u64, usize) {
    match program {
        Program::Trees => (7, 0xa2e5_3fe0_c654_7e69, 64 << 10),
        Program::Scheduler => (3_000, 0x30dd_fe23_c044_346c, 64 << 10),
        Program::Constraints => (20, 0x7816_d63f_3f10_ca84, 64 << 10),
        Program::Loops => (12, 0xdbc7_8baf_ecc3_b984, 4 << 20),
        Program::Json => (60, 0xfe0f_8453_1d03_c3f2, 2 << 20),
        Program::Rays => (12, 0x1b95_e3c8_e160_f304, 96 << 10),
        Program::Words => (3_000, 0x0040_0252_c10f_1d51, 512 << 10),
    }
}

fn run<I: Index>(program: Program, bytes: usize, between: &mut impl Between) -> u64 {
    let mut region = vec![MaybeUninit::uninit(); bytes];
    let (size, ..) = known(program);
    let sum = program.run::<I>(&mut region, size, between);
    sum.unwrap_or_else(|stopped| panic!("{} in {bytes} bytes: {stopped}", program.name()))
}

#[test]
fn the_checksum_is_known_and_the_same_in_a_tight_heap_as_in_a_roomy_one() {
    for program in Program::ALL {
        let (_, checksum, tight) = known(program);
        let mut never = Never::default();
        let roomy = run::<Lists>(program, 256 << 20, &mut never);
        println!(
            "{}: {roomy:#018x}, {} allocations",
            program.name(),
            never.allocations
        );
        assert_eq!(
            run::<Lists>(program, tight, &mut Always::default()),
            roomy,
            "{}",
            program.name()
        );
        assert_eq!(
            run::<Lists>(program, tight, &mut Collecting),
            roomy,
            "{}",
            program.name()
        );
        assert_eq!(
            run::<SingleList<First>>(program, tight, &mut Collecting),
            roomy,
            "{}",
            program.name()
        );
        assert_eq!(
            run::<TwoLevel>(program, tight, &mut Collecting),
            roomy,
            "{}",
            program.name()
        );
        assert_eq!(roomy, checksum, "{}", program.name());
    }
}

#[test]
fn a_heap_that_is_too_small_is_an_error() {
    // The scheduler's few conversations fit anywhere.
    for program in Program::ALL
        .into_iter()
        .filter(|&it| it != Program::Scheduler)
    {
        let mut region = vec![MaybeUninit::uninit(); 16 << 10];
        let stopped = program.run::<Lists>(&mut region, 3_000.min(program.size()), &mut Collecting);
        assert!(stopped.is_err(), "{}", program.name());
    }
}

#[test]
fn names_are_those_of_programs() {
    for program in Program::ALL {
        assert_eq!(Program::named(program.name()), Some(program));
    }
    assert_eq!(Program::named("none"), None);
}

/// Counts what the roots lead to at every walk of a recording. It must be what the recording says
/// is live.
fn follow(bytes: &[u8]) -> Vec<usize> {
    let open = || Reader::new(bytes).expect("not empty");
    let layouts = open().layouts().expect("sound");
    let (mut references, mut roots, mut counts) = (BTreeMap::new(), BTreeSet::new(), Vec::new());
    for step in open().knowing(layouts) {
        let Step::Walk(walk) = step.expect("sound") else {
            continue;
        };
        let targets = |change: Change<'_>| {
            change
                .references
                .iter()
                .map(|edge| edge.target)
                .collect::<Vec<_>>()
        };
        references.extend(
            walk.changes()
                .map(|change| (change.object, targets(change))),
        );
        roots.extend(&walk.roots_gained);
        walk.roots_lost
            .iter()
            .for_each(|root| _ = roots.remove(root));
        let (mut reached, mut todo) = (roots.clone(), roots.iter().copied().collect::<Vec<_>>());
        while let Some(id) = todo.pop() {
            let new = references
                .get(&id)
                .into_iter()
                .flatten()
                .filter(|to| reached.insert(**to));
            todo.extend(new.copied());
        }
        assert_eq!(
            reached.len() as u64,
            walk.live.objects,
            "walk {}",
            walk.number
        );
        counts.push(reached.len());
    }
    counts
}

#[test]
fn a_recording_says_what_lives_and_is_sound() {
    for program in Program::ALL {
        let (size, checksum, _) = known(program);
        let (mut region, mut out) = (vec![MaybeUninit::uninit(); 64 << 20], Vec::new());
        let recorded = record(program, size, &mut region, 8 << 10, &mut out).expect("written");
        assert_eq!(recorded.checksum, checksum, "{}", program.name());
        let stats = Stats::read(Reader::new(&out[..]).expect("not empty")).expect("sound");
        assert_eq!(
            (stats.allocations, stats.bytes, stats.walks),
            (recorded.allocations, recorded.bytes, recorded.walks)
        );
        assert_eq!((stats.revived, stats.class_level), (0, 0));
        assert!(
            stats.allocations > 1000 && stats.walks > 5 && stats.dead > 100,
            "{}: {stats:?}",
            program.name()
        );
        let counts = follow(&out);
        println!(
            "{}: {recorded:?}, {} bytes, most live {:?}",
            program.name(),
            out.len(),
            counts.iter().max()
        );
    }
}

#[test]
fn recordings_can_be_replayed_in_less_room_and_nothing_refers_to_a_freed_object() {
    for program in Program::ALL {
        let (mut region, mut out) = (vec![MaybeUninit::uninit(); 64 << 20], Vec::new());
        let recorded =
            record(program, known(program).0, &mut region, 8 << 10, &mut out).expect("written");
        let replayed = java::Program::read(|| Reader::new(&out[..])).expect("sound");
        let heap = &mut region[..3 * replayed.most_live().bytes as usize + (64 << 10)];
        for space in [java::Space::FirstFit, java::Space::Tlsf] {
            let options = java::Options {
                check: true,
                ..java::Options::default()
            };
            let outcome = space
                .replay(&replayed, heap, &options)
                .expect("it completes");
            assert_eq!(outcome.references_to_freed, 0, "{}", program.name());
            assert!(
                outcome.totals.allocations >= recorded.allocations,
                "{}",
                program.name()
            );
        }
    }
}
