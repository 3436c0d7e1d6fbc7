//! What is noted of a run, and the programs that measure collectors.

use std::mem::MaybeUninit;

use surefit_clients::lists::{Finds, Lists, MERGES};
use surefit_vm::{Call, Collecting, Measuring, Space, Watched, Watching, measuring, watch};

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
