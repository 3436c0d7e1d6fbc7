//! Replays against a naive model, and recordings that must be rejected.

mod judge;
mod recording;
mod scheduled;

use std::mem::MaybeUninit;

use surefit_freelist::When;
use surefit_gc::{CompactFit, Sweep};
use surefit_trace::graph::Reader;

use self::judge::Judge;
use self::recording::Recording;
use super::{
    Clocking, Finds, FirstFreed, Lists, Options, Outcome, Program, Space, Stopped, min_heap,
};

const ALL: [Space; 7] = [
    Space::FirstFit,
    Space::NextFit,
    Space::BestFit,
    Space::WorstFit,
    Space::TreeFit,
    Space::HalfFit,
    Space::Tlsf,
];

fn segregated(finds: Finds, merges: When) -> Space {
    Space::Segregated(Lists {
        finds,
        merges,
        is_tree: true,
        count: 256,
    })
}

fn nine() -> impl Iterator<Item = Space> {
    let finds = [Finds::Scan, Finds::NextHitTable, Finds::Bitmap];
    let merges = [When::Never, When::Deferred, When::Immediate];
    merges
        .into_iter()
        .flat_map(move |merges| finds.map(|finds| segregated(finds, merges)))
}

fn read(bytes: &[u8]) -> Program {
    Program::read(|| Reader::new(bytes)).expect("a sound recording")
}

fn raytrace() -> Program {
    read(include_bytes!("../../../../graphs/raytrace.sfg.zst"))
}

fn mtrt() -> Program {
    read(include_bytes!("../../../../graphs/mtrt.sfg.zst"))
}

fn replay(
    space: &Space,
    program: &Program,
    bytes: usize,
    options: &Options,
) -> Result<Outcome, Stopped> {
    let mut memory = vec![MaybeUninit::uninit(); bytes];
    space.replay(program, &mut memory, options)
}

const CHECKED: Options = Options {
    sweep: Sweep::Leap,
    clocking: Clocking::Off,
    check: true,
    free_sizes: false,
    free_before: false,
    large_from: 64,
};

#[test]
fn every_collection_keeps_what_a_naive_search_reaches() {
    for seed in 1..4 {
        let program = Recording::random(seed, 150).program();
        for space in ALL.into_iter().chain(nine()) {
            let outcome = replay(&space, &program, 12 << 10, &CHECKED).expect("room enough");
            assert!(outcome.totals.collections > 5, "{space:?}");
            assert_eq!(outcome.references_to_freed, 0, "{space:?}");
            Judge::new(&program).judge(&outcome);
        }
    }
}

#[test]
fn every_number_of_lists_keeps_the_same() {
    let program = Recording::random(4, 50).program();
    for count in Lists::ONLY_TWO_KINDS {
        for finds in [Finds::NextHitTable, Finds::Bitmap] {
            let usual = Lists::usual(finds, When::Immediate);
            let lists = Lists { count, ..usual }.to_usual();
            let outcome = replay(&Space::Segregated(lists), &program, 36 << 10, &CHECKED);
            Judge::new(&program).judge(&outcome.expect("room enough"));
        }
    }
}

#[test]
fn objects_that_move_are_kept_as_well_and_no_collection_is_caused_by_fragmentation() {
    let space = Space::CompactFit(Box::new(CompactFit::CONFIG));
    for (program, bytes) in [
        (Recording::random(5, 1500).program(), 72 << 10),
        (mtrt(), 5 << 19),
    ] {
        let outcome = replay(&space, &program, bytes, &CHECKED).expect("room enough");
        assert!(outcome.totals.collections > 5);
        assert_eq!(outcome.references_to_freed, 0);
        assert_eq!(outcome.moves.expect("it moves").fragmented_collections, 0);
        Judge::new(&program).judge(&outcome);
    }
}

#[test]
fn a_recorded_program_is_kept_as_well() {
    let program = raytrace();
    for space in [Space::Tlsf, segregated(Finds::NextHitTable, When::Deferred)] {
        let outcome = replay(&space, &program, 8 << 20, &CHECKED).expect("room enough");
        assert!(outcome.totals.collections > 1, "{space:?}");
        assert_eq!(outcome.references_to_freed, 0, "{space:?}");
        Judge::new(&program).judge(&outcome);
    }
}

#[test]
fn a_small_heap_collects_often_and_keeps_the_same() {
    let program = mtrt();
    let bytes = 2 * program.most_live().bytes as usize;
    for merges in [When::Deferred, When::Immediate] {
        let space = segregated(Finds::Bitmap, merges);
        let outcome = replay(&space, &program, bytes, &Options::default()).expect("room enough");
        assert!(outcome.totals.collections > 20, "{merges:?}");
        Judge::new(&program).judge(&outcome);
    }
}

#[test]
fn without_merging_free_bytes_do_not_help_a_longer_request() {
    let stopped = replay(
        &segregated(Finds::Scan, When::Never),
        &raytrace(),
        2 << 20,
        &CHECKED,
    );
    let Err(Stopped::Full {
        bytes,
        free_bytes,
        largest_free_bytes,
        ..
    }) = stopped
    else {
        panic!("{stopped:?}");
    };
    assert!(free_bytes > 100_000 && largest_free_bytes < u64::from(bytes));
}

#[test]
fn sweeping_by_leaps_changes_no_count_but_of_headers_read() {
    let program = raytrace();
    let space = segregated(Finds::Bitmap, When::Immediate);
    let of = |sweep| {
        let options = Options {
            sweep,
            ..Options::default()
        };
        replay(&space, &program, 6 << 20, &options).expect("room enough")
    };
    let (walk, leap) = (of(Sweep::Walk), of(Sweep::Leap));
    assert_eq!(walk.samples, leap.samples);
    assert_eq!(walk.counters.visits, leap.counters.visits);
    assert!(walk.totals.visited > leap.totals.visited);
}

#[test]
fn a_reference_to_a_freed_object_is_counted_and_the_first_is_named() {
    let mut recording = Recording::new();
    let lost = recording.allocate();
    recording.walk(&[], &[], &[]);
    for _ in 0..100 {
        recording.allocate_many(20);
        recording.walk(&[], &[], &[]);
    }
    let holder = recording.allocate();
    recording.walk(&[(holder, lost)], &[(holder, true)], &[]);
    let program = recording.program();
    let outcome = replay(&Space::Tlsf, &program, 16 << 10, &CHECKED).expect("room enough");
    assert_eq!(outcome.references_to_freed, 1);
    let first = FirstFreed {
        walk: 102,
        from: Some(holder),
        to: lost,
    };
    assert_eq!(outcome.first_freed, Some(first));
    let outcome = replay(&Space::Tlsf, &program, 1 << 20, &CHECKED).expect("room enough");
    assert_eq!(
        (outcome.totals.collections, outcome.references_to_freed),
        (0, 0)
    );
}

#[test]
fn a_revived_object_is_allocated_again_only_if_it_was_freed() {
    let mut recording = Recording::new();
    let missed = recording.allocate();
    recording.walk(&[], &[], &[missed]);
    for _ in 0..100 {
        recording.allocate_many(20);
        recording.walk(&[], &[], &[]);
    }
    recording.revive(missed);
    let program = recording.program();
    let given = program.allocations() + 1; // the class object
    for (bytes, again) in [(16 << 10, 1), (1 << 20, 0)] {
        let outcome = replay(&Space::Tlsf, &program, bytes, &CHECKED).expect("room enough");
        assert_eq!(outcome.totals.allocations, given + again, "{bytes}");
        assert_eq!(outcome.references_to_freed, 0);
        Judge::new(&program).judge(&outcome);
    }
}

#[test]
fn a_heap_that_is_too_small_names_the_allocation() {
    let program = raytrace();
    let small = replay(&Space::Tlsf, &program, 500_000, &Options::default());
    assert!(
        matches!(
            small,
            Err(Stopped::Full {
                allocation: 1..20_000,
                ..
            })
        ),
        "{small:?}"
    );
    let tiny = replay(&Space::Tlsf, &program, 100, &Options::default());
    assert!(matches!(tiny, Err(Stopped::Region(_))), "{tiny:?}");
}

#[test]
fn the_smallest_heap_suffices_and_a_little_less_does_not() {
    let program = raytrace();
    let space = segregated(Finds::Bitmap, When::Immediate);
    let memory = |bytes| Some(vec![MaybeUninit::uninit(); bytes]);
    let found = min_heap(&space, &program, &Options::default(), memory).expect("some heap does");
    assert!(found.bytes - found.too_small_bytes <= 1024.max(found.bytes / 1000));
    let replay = |bytes| replay(&space, &program, bytes, &Options::default());
    assert!(replay(found.bytes).is_ok());
    assert!(matches!(
        replay(found.too_small_bytes),
        Err(Stopped::Full { .. })
    ));
}

#[test]
fn times_are_taken_only_if_asked_for_and_change_no_count() {
    let program = raytrace();
    let of = |clocking| {
        let options = Options {
            clocking,
            ..Options::default()
        };
        replay(&Space::Tlsf, &program, 4 << 20, &options).expect("room enough")
    };
    let [off, batch, each] = [Clocking::Off, Clocking::Batch, Clocking::Each].map(of);
    assert_eq!((off.times, off.samples), (None, batch.samples));
    assert_eq!(batch.counters, each.counters);
    let (batch, each) = (batch.times.expect("taken"), each.times.expect("taken"));
    assert!(each.readings > 100 * batch.readings);
    assert_eq!(
        batch.management_ns(),
        batch.allocation_ns + batch.mark_ns + batch.sweep_ns
    );
}

#[test]
fn free_sizes_add_up_to_what_the_sweep_left_but_for_one_request() {
    let program = raytrace();
    let options = Options {
        free_sizes: true,
        ..Options::default()
    };
    let space = segregated(Finds::Bitmap, When::Immediate);
    let outcome = replay(&space, &program, 6 << 20, &options).expect("room enough");
    for collected in &outcome.collections {
        let chunks: u64 = collected
            .free_sizes
            .iter()
            .map(|&(_, count)| u64::from(count))
            .sum();
        let left = collected.collection.swept.free_chunks;
        assert!(chunks == left || chunks + 1 == left, "{chunks} of {left}");
    }
}

#[test]
fn a_program_cut_short_ends_with_a_walk_and_does_the_same_until_then() {
    let bytes: &[u8] = include_bytes!("../../../../graphs/raytrace.sfg.zst");
    let short = Program::read_first(100_000, || Reader::new(bytes)).expect("sound");
    assert!((100_000..120_000).contains(&short.allocations()));
    let space = segregated(Finds::NextHitTable, When::Deferred);
    let [short, whole] = [short, raytrace()]
        .map(|program| replay(&space, &program, 4 << 20, &CHECKED).expect("room enough"));
    let common = short.samples.len();
    assert_eq!(short.samples, whole.samples[..common]);
    assert_eq!(short.references_to_freed, 0);
}
