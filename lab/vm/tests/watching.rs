//! What is noted of a run, and the programs that measure collectors.

use std::mem::MaybeUninit;

use surefit_clients::java::Timing;
use surefit_clients::lists::{Finds, Lists, MERGES};
use surefit_gc::schedule::{Schedule, least_mutator_ticks};
use surefit_vm::{
    Call, Collecting, Measuring, Space, Watched, Watching, clocked, measuring, watch,
};

fn lists() -> Space {
    Space::Segregated(Lists::usual(Finds::NextHitTable, MERGES[2]))
}

fn watched(
    main: &str,
    arguments: &[&str],
    collecting: Collecting,
    watching: Watching,
    bytes: usize,
) -> Option<Watched> {
    let arguments: Vec<_> = arguments.iter().map(ToString::to_string).collect();
    let call = Call {
        program: measuring(),
        main,
        arguments: &arguments,
        space: &lists(),
        collecting,
        steps: u64::MAX,
    };
    let mut region = vec![MaybeUninit::uninit(); bytes];
    watch(&call, watching, &mut region).expect("the machine runs it")
}

fn ray_tracer(collecting: Collecting, watching: Watching) -> Watched {
    let found = watched("Raytrace", &["24"], collecting, watching, 192 << 10);
    found.expect("there is room")
}

#[test]
fn what_is_noted_changes_nothing_that_is_counted() {
    let plain = ray_tracer(Collecting::AtOnce, Watching::default());
    let noted = Watching {
        free_sizes: true,
        sizes: true,
        ..Watching::default()
    };
    let noted = ray_tracer(Collecting::AtOnce, noted);
    let clocked = Watching {
        clocked: true,
        ..Watching::default()
    };
    let timed = ray_tracer(Collecting::AtOnce, clocked);
    let totals = plain.totals;
    assert!(totals.collections > 3, "{totals:?}");
    for other in [&noted, &timed] {
        assert_eq!(plain.counters, other.counters);
        assert_eq!(totals.visited, other.totals.visited);
        assert_eq!(totals.collections, other.totals.collections);
    }
    assert_eq!(noted.sizes.len() as u64, totals.allocations);
    let bytes: u64 = noted.sizes.iter().map(|bytes| u64::from(*bytes)).sum();
    assert_eq!(bytes, totals.requested_bytes);
    assert_eq!(noted.collections.len() as u64, totals.collections);
    assert!(
        noted
            .collections
            .iter()
            .all(|one| !one.free_sizes.is_empty())
    );
    assert_eq!(plain.samples.len() as u64, totals.allocations / 1024);
    assert_eq!(plain.management_ns(), 0, "no times are taken");
    assert!(timed.allocation_ns > 0 && timed.collection_ns > 0);
}

#[test]
fn what_is_free_when_a_request_is_refused_is_less_than_the_heap() {
    let watching = Watching {
        free_before: true,
        ..Watching::default()
    };
    let found = ray_tracer(Collecting::AtOnce, watching);
    let plain = ray_tracer(Collecting::AtOnce, Watching::default());
    assert_eq!(found.totals.collections, plain.totals.collections);
    let free = found.collections.iter().map(|one| one.free_bytes_before);
    let free: Vec<_> = free.map(|bytes| bytes.expect("noted")).collect();
    assert_eq!(free.len() as u64, found.totals.collections);
    assert!(free.iter().all(|bytes| *bytes < 96 << 10), "{free:?}");
}

#[test]
fn a_collection_that_the_program_asks_for_is_noted_as_any_other() {
    let noted = Watching {
        free_sizes: true,
        free_before: true,
        ..Watching::default()
    };
    let nursery = Watching {
        nursery: 64 << 10,
        ..Watching::default()
    };
    let [noted, promoted] = [noted, nursery].map(|watching| {
        let found = watched("Weak", &[], Collecting::AtOnce, watching, 4 << 20);
        found.expect("there is room")
    });
    assert!(noted.totals.collections > 0);
    assert_eq!(noted.collections.len() as u64, noted.totals.collections);
    let grew = noted.collections.iter().filter(|one| {
        let sizes = one.free_sizes.iter();
        let bytes = sizes.map(|(size, count)| u64::from(size * count)).sum();
        one.free_bytes_before < Some(bytes)
    });
    assert!(grew.count() > 0);
    let minors = promoted.promotions.minors.len() as u64;
    assert_eq!(minors, promoted.totals.collections);
}

#[test]
fn each_collector_says_what_it_did() {
    let in_steps = Collecting::InSteps {
        trigger: 128 << 10,
        units: 2000,
    };
    let generations = Collecting::TwoGenerations {
        nursery: 0,
        young_bytes: 8 << 10,
    };
    let clocked = Watching {
        clocked: true,
        ..Watching::default()
    };
    let [at_once, in_steps, generations] =
        [Collecting::AtOnce, in_steps, generations].map(|how| ray_tracer(how, clocked));
    assert_eq!(at_once.forced, at_once.totals.collections);
    assert!(in_steps.totals.collections > in_steps.forced);
    assert!((32 << 10..192 << 10).contains(&in_steps.most_occupied));
    assert!(generations.minor > 10 && generations.minor <= generations.totals.collections);
    for one in [at_once, in_steps, generations] {
        assert!(one.collection_ns > 0 && one.counters.table_updates > 0);
    }
}

#[test]
fn a_nursery_promotes_each_object_once_and_lets_it_die_once() {
    let nursery = 32 << 10;
    let watching = Watching {
        nursery,
        ..Watching::default()
    };
    // In the smaller heap there is no room before the nursery is full.
    let [small, large] = [160 << 10, 1 << 20].map(|bytes| {
        let found = watched("Raytrace", &["24"], Collecting::AtOnce, watching, bytes);
        found.expect("there is room").promotions
    });
    assert!(small.minors.len() > large.minors.len());
    for all in [&small, &large] {
        let (mut serials, mut dead) = (0, std::collections::BTreeSet::new());
        for minor in &all.minors {
            for &serial in &minor.dead {
                assert!(serial < serials && dead.insert(serial));
            }
            serials += minor.large.len() + minor.survivors.len();
            let offsets = minor.survivors.iter().map(|one| one.offset);
            assert!(offsets.clone().is_sorted());
            let ends = minor.survivors.iter().map(|one| one.offset + one.bytes);
            assert!(ends.max() <= Some(all.nursery_bytes as u32));
        }
        assert!(all.minors.len() > 10 && all.most_old_bytes > 16 << 10);
        assert!(
            all.promoted() > 1000 && 2 * all.promoted() < all.born,
            "{}",
            all.promoted()
        );
        assert!(all.nursery_bytes < nursery as usize + 4096);
    }
}

/// In virtual time: a tick is a unit of the collector's work, or a word that the program allocates,
/// reads or writes.
#[test]
fn pauses_are_the_work_of_the_collector_and_leave_the_rest_to_the_program() {
    let run = |collecting| {
        let call = Call {
            program: measuring(),
            main: "Raytrace",
            arguments: &["48".to_owned()],
            space: &lists(),
            collecting,
            steps: u64::MAX,
        };
        let mut region = vec![MaybeUninit::uninit(); 320 << 10];
        let ran = clocked(&call, Timing::Virtual, &mut region).expect("the machine runs it");
        ran.expect("there is room")
    };
    let in_steps = Collecting::InSteps {
        trigger: 192 << 10,
        units: 2000,
    };
    let (stopped, stepped) = (run(Collecting::Scheduled(Schedule::Whole)), run(in_steps));
    for ran in [&stopped, &stepped] {
        let (words, of) = (ran.totals.requested_bytes / 4, ran.stepped.as_ref());
        let of = of.expect("a collector in steps");
        let paused: u64 = of.pauses.iter().map(|pause| pause.end - pause.start).sum();
        assert_eq!(paused, of.steps.work);
        assert!(
            of.steps.cycles > 3 && of.ticks - paused > 2 * words,
            "{:?}",
            of.steps
        );
    }
    let [stopped, stepped] = [stopped, stepped].map(|ran| ran.stepped.expect("seen"));
    let longest = |ran: &surefit_clients::java::Ran| {
        let lengths = ran.pauses.iter().map(|pause| pause.end - pause.start);
        lengths.max().expect("a pause")
    };
    assert_eq!(stepped.steps.forced + stepped.steps.whole, 0);
    let lengths = [longest(&stepped), longest(&stopped)];
    assert!(lengths[0] < 5000 && lengths[1] > 10_000, "{lengths:?}");
    let least = |ran: &surefit_clients::java::Ran| {
        least_mutator_ticks(&ran.pauses, 0..ran.ticks, 10_000).expect("a longer run")
    };
    assert!(
        least(&stepped) > 1000 && least(&stopped) == 0,
        "{}",
        least(&stepped)
    );
    let again = run(in_steps).stepped.expect("seen");
    assert_eq!((again.ticks, again.pauses), (stepped.ticks, stepped.pauses));
}

#[test]
fn without_room_nothing_is_noted() {
    for bytes in [0, 100, 40 << 10] {
        let found = watched(
            "Raytrace",
            &[],
            Collecting::AtOnce,
            Watching::default(),
            bytes,
        );
        assert!(found.is_none(), "{bytes}");
    }
}

#[test]
fn every_program_that_measures_runs() {
    for one in Measuring::ALL {
        let at_once = Collecting::AtOnce;
        let found = watched(one.main, one.quick, at_once, Watching::default(), 16 << 20);
        let found = found.expect("there is room");
        assert!(found.totals.allocations > 1000, "{one:?}");
    }
}
