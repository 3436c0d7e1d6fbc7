//! Hostile callers of the clients: scripts that would break memory, clocks that lie, programs of
//! sizes up to the largest, recordings of arbitrary bytes, memory that is shorter than requested.

#[cfg(feature = "lua")]
#[path = "attacks/lua.rs"]
mod lua;
#[path = "attacks/schedules.rs"]
mod schedules;

use std::convert::Infallible;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};

use surefit_clients::bisect::Boundary;
use surefit_clients::java::{self, Clocking, Finds, Lists, MinHeap, Space, Times, min_heap};
use surefit_clients::lists::{Choice, MERGES, merges_name};
use surefit_clients::programs::{Between, Collecting, Program, Stopped, record};
use surefit_freelist::{
    Bitmap, Coalescing, Immediate, Index, LastList, Lookup, Segregated, Tree, TwoLevel, When,
};
use surefit_gc::{Arena, CompactFit, Full, Rootable};
use surefit_trace::graph;
use surefit_trace::{Problem, TraceError};

type Default256 = Segregated<Bitmap, Immediate, Tree, 256>;

/// What happens between the steps of a program: trouble after some of them.
struct Meddles {
    steps: u32,
    unwinds: bool,
}

impl Between for Meddles {
    fn step<R: for<'gc> Rootable<'gc> + ?Sized, I: Index>(
        &mut self,
        arena: &mut Arena<'_, R, I>,
        room: usize,
    ) -> Result<(), Full> {
        arena.collect();
        assert!(arena.check().is_ok());
        self.steps = match self.steps.checked_sub(1) {
            Some(steps) => steps,
            None => {
                assert!(!self.unwinds, "the meddler unwinds");
                return arena.ensure(usize::MAX);
            }
        };
        arena.ensure(room)
    }
}

#[test]
fn programs_of_any_size_end_or_run_out_of_room() {
    for program in Program::ALL {
        assert_eq!(Program::named(program.name()), Some(program));
        for size in [
            0,
            1,
            2,
            3,
            29,
            63,
            64,
            65_536,
            1 << 31,
            u32::MAX - 1,
            u32::MAX,
        ] {
            let mut region = vec![MaybeUninit::uninit(); 256 << 10];
            let mut meddles = Meddles {
                steps: 40,
                unwinds: false,
            };
            let ran = program.run::<Default256>(&mut region, size, &mut meddles);
            let is_told = matches!(ran, Ok(_) | Err(Stopped::Region(_) | Stopped::Full(_)));
            assert!(is_told, "{program:?} {size}: {ran:?}");
            if size < 64 {
                let ran = program.run::<TwoLevel>(&mut region[..8192], size, &mut Collecting);
                assert!(matches!(
                    ran,
                    Ok(_) | Err(Stopped::Region(_) | Stopped::Full(_))
                ));
            }
        }
    }
}

#[test]
fn who_meddles_between_steps_may_unwind() {
    for program in Program::ALL {
        for steps in [0, 1, 7, 30] {
            let mut region = vec![MaybeUninit::uninit(); 4 << 20];
            let mut meddles = Meddles {
                steps,
                unwinds: true,
            };
            let run = || program.run::<Default256>(&mut region, program.size(), &mut meddles);
            assert!(catch_unwind(AssertUnwindSafe(run)).is_err(), "{program:?}");
            let again = program.run::<Default256>(&mut region, 3, &mut Collecting);
            assert!(again.is_ok(), "{program:?}: {again:?}");
        }
    }
}

/// A small recorded program.
fn recorded() -> Vec<u8> {
    let (mut region, mut bytes) = (vec![MaybeUninit::uninit(); 4 << 20], Vec::new());
    let recorded = record(Program::Trees, 5, &mut region, 4096, &mut bytes).expect("room");
    assert!(recorded.walks > 3 && recorded.allocations > 500);
    bytes
}

fn program(bytes: &[u8]) -> java::Program {
    java::Program::read(|| graph::Reader::new(bytes)).expect("sound")
}

#[test]
fn a_program_is_recorded_at_any_interval() {
    for (every, size) in [(0, 2), (1, 3), (1 << 63, 4), (usize::MAX, 5)] {
        let mut region = vec![MaybeUninit::uninit(); 4 << 20];
        let done = record(Program::Trees, size, &mut region, every, std::io::sink());
        assert!(done.expect("room").walks > 0, "{every}");
        assert!(
            record(
                Program::Trees,
                u32::MAX,
                &mut region[..8192],
                every,
                std::io::sink()
            )
            .is_err()
        );
        assert!(record(Program::Rays, size, &mut [], every, std::io::sink()).is_err());
    }
}

#[test]
fn a_recording_may_be_another_one_at_the_second_reading() {
    let sound = recorded();
    let found =
        b"H\x01\x00\x10\x00H\x02\x01\x20\x00S\x01\x00\x00E\x02\x02\x00\x00\x07\x01R+\x02.\x00D\x00"
            .as_slice();
    let pairs = [
        (&sound[..], found),
        (found, &sound[..]),
        (found, b"H\x01\x00\x10\x00"),
        (&sound[..], b"x"),
    ];
    for (first, second) in pairs {
        let mut readings = [first, second].into_iter();
        let open = || graph::Reader::new(readings.next().unwrap_or(second));
        let read: Result<_, TraceError> = java::Program::read(open);
        let mut region = vec![MaybeUninit::uninit(); 1 << 20];
        if let Ok(program) = read {
            assert!(program.sizes().count() as u64 >= program.allocations());
            let given = program.batches().map(|(given, _)| given.len());
            assert_eq!(given.sum::<usize>(), program.sizes().count());
            let replayed = Space::Tlsf.replay(&program, &mut region, &java::Options::default());
            assert!(replayed.is_ok_and(|outcome| outcome.references_to_freed == 0));
        }
    }
    for cut in (0..sound.len()).step_by(97) {
        let read = java::Program::read(|| graph::Reader::new(&sound[..cut]));
        let told = read.err();
        assert!(
            told.is_none_or(|error| matches!(error.problem(), Problem::Truncated | Problem::Empty))
        );
    }
    for allocations in [0, 1, 100, u64::MAX] {
        let first = java::Program::read_first(allocations, || graph::Reader::new(&sound[..]));
        let first = first.expect("sound");
        assert!(first.allocations() >= allocations.min(500));
        assert!(first.most_live().bytes <= first.bytes() + 1000);
    }
}

fn spaces() -> Vec<Space> {
    let lists = |finds, merges, count| {
        Space::Segregated(Lists {
            finds,
            merges,
            is_tree: true,
            count,
        })
    };
    vec![
        Space::FirstFit,
        Space::NextFit,
        Space::BestFit,
        Space::WorstFit,
        Space::TreeFit,
        Space::HalfFit,
        Space::Tlsf,
        lists(Finds::Scan, When::Never, 0),
        lists(Finds::NextHitTable, When::Deferred, u32::MAX),
        lists(Finds::Bitmap, When::Immediate, 4096),
        Space::CompactFit(Box::new(CompactFit::CONFIG)),
    ]
}

#[test]
fn a_replay_ends_in_a_region_of_any_length() {
    let (bytes, mut region) = (recorded(), vec![MaybeUninit::uninit(); 1 << 19]);
    let program = program(&bytes);
    let mut completed = 0;
    for (space, large_from) in spaces()
        .iter()
        .flat_map(|it| [(it, 0), (it, 4096), (it, usize::MAX)])
    {
        for length in [0, 1, 63, 4096, 20_000, 40_000, 1 << 19] {
            let options = java::Options {
                clocking: Clocking::Each,
                check: true,
                free_sizes: true,
                free_before: true,
                large_from,
                ..java::Options::default()
            };
            let replayed = space.replay(&program, &mut region[..length], &options);
            let outcome = java::completed(replayed);
            completed += u32::from(outcome.is_some());
            assert!(outcome.is_none_or(|outcome| outcome.visits_per_allocation().is_finite()));
        }
    }
    assert!(completed > 30, "{completed}");
}

#[test]
fn memory_may_be_shorter_or_longer_than_it_was_asked_for() {
    let bytes = recorded();
    let (program, options) = (program(&bytes), java::Options::default());
    let search = |give: fn(usize) -> Option<usize>| {
        let memory = |bytes| give(bytes).map(|given| vec![MaybeUninit::uninit(); given]);
        min_heap(&Space::Tlsf, &program, &options, memory)
    };
    let honest = search(Some).expect("it completes");
    assert_eq!(search(|bytes| Some(bytes + 77_777)), Some(honest));
    assert_eq!(search(|bytes| Some(bytes - 1)), None);
    assert_eq!(search(|_| Some(0)), None);
    assert_eq!(search(|_| None), None);
    assert!(MinHeap::open_bytes(usize::MAX) <= usize::MAX / 1000);
}

#[test]
fn times_of_any_number_do_not_wrap() {
    let most = Times {
        allocation_ns: u64::MAX,
        mark_ns: u64::MAX,
        sweep_ns: 1,
        ..Times::default()
    };
    assert_eq!(
        (most.collection_ns(), most.management_ns()),
        (u64::MAX, u64::MAX)
    );
    assert_eq!(Times::default().management_ns(), 0);
}

/// Says how many lists were chosen.
struct Count;

impl Choice for Count {
    type Output = usize;

    fn of<L: Lookup<N>, C: Coalescing, T: LastList, const N: usize>(self) -> usize {
        N
    }
}

#[test]
fn any_number_of_lists_chooses_some_type() {
    for count in [0, 1, 15, 16, 17, 256, 4096, 4097, u32::MAX] {
        for (finds, merges) in Finds::ALL.into_iter().flat_map(|f| MERGES.map(|m| (f, m))) {
            let usual = Lists::usual(finds, merges);
            let lists = Lists { count, ..usual };
            let expected = if [16, 4096].contains(&count) {
                count
            } else {
                256
            };
            assert_eq!(lists.choose(Count), expected as usize);
            assert_eq!(lists.choose_usual(Count), expected as usize);
            assert_eq!(lists.to_usual().count, count, "{lists}");
            assert_eq!(lists.choose_merging(Count), 256);
            let name = lists.to_string();
            for part in [finds.key(), merges_name(merges), lists.last()] {
                assert!(name.contains(part), "{name}");
            }
            assert!(!finds.name().is_empty());
        }
    }
}

#[test]
fn a_boundary_may_be_any_two_numbers() {
    let numbers = [0, 1, 7, 8, 1 << 20, usize::MAX - 1, usize::MAX];
    for (below, above) in numbers.into_iter().flat_map(|b| numbers.map(|a| (b, a))) {
        for step in [1, 8, 4096, usize::MAX] {
            for lie in [true, false] {
                let gap = Boundary { below, above };
                let mut tries = 0;
                let found = gap.narrowed(
                    step,
                    |_| 0,
                    |_| {
                        tries += 1;
                        Ok::<_, Infallible>(lie)
                    },
                );
                let Ok(found) = found;
                assert!(tries <= 64 && found.below >= below && found.above <= above);
            }
        }
    }
    let gap = Boundary { below: 0, above: 9 };
    let of_no_step = || gap.narrowed(0, |_| 0, |_| Ok::<_, Infallible>(true));
    assert!(catch_unwind(AssertUnwindSafe(of_no_step)).is_err());
}
