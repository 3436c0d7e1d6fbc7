//! Every program computes the same, whatever the heap, the index and the moments of collection.

use surefit_freelist::{Bitmap, First, Immediate, Segregated, SingleList, Tree, TwoLevel};

use super::*;

type Lists = Segregated<Bitmap, Immediate, Tree, 256>;

/// Collects before every step but a few, and checks the arena.
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

/// Collects never, and counts what was allocated.
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
        Program::Scheduler => (3_000, 0xb6a4_8d8c_7755_0ad8, 64 << 10),
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
    // The scheduler's few live packets fit anywhere.
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
