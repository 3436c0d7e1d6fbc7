//! The shared heap under more threads than cores. Every byte of every object is known, and one
//! thread watches the bounds.
//!
//! Eight threads insert, read, write, hand on and free objects of 16 bytes to 16 KiB, hold pins
//! across the frees of others, and insert values that must be dropped once. A ninth thread samples
//! the counters: no section copies more than min(β, ι) bytes (R4), and no size-class needs more
//! pages than its bound allows for eight frees in progress. After the last free all pages are back,
//! and no size-class owes a move.
//!
//! Seeds and amounts of work are fixed; the machine chooses the schedules. `SUREFIT_STRESS=10` does
//! ten times as much.
#![cfg(not(surefit_shuttle))]

#[path = "stress/panics.rs"]
mod panics;
#[path = "stress/work.rs"]
mod work;

use surefit_compact::shared::{Granularity, PerClass, PerHeap, PerPage, SharedConfig, Stepwise};
use surefit_compact::{Bound, Config, Geometry};
use work::{PINS, THREADS, stress};

const BOUNDS: [Bound; 4] = [
    Bound::Pages(1),
    Bound::Pages(4),
    Bound::DEFAULT,
    Bound::Unbounded,
];

fn whole<G: Granularity + Sync>(bound: Bound) -> SharedConfig<G> {
    let config = Config::new(Geometry::DEFAULT, bound).unwrap();
    let config = config.with_pieces(None).unwrap();
    SharedConfig::new(config)
        .with_pins(PINS)
        .with_locals(THREADS + 1, 2)
        .unwrap()
}

fn in_steps<G: Stepwise + Sync>(increment: u32) {
    for (seed, bound) in BOUNDS.into_iter().enumerate() {
        stress(
            &whole::<G>(bound).with_increment(increment).unwrap(),
            seed as u64,
        );
    }
}

fn in_whole_moves<G: Granularity + Sync>() {
    for (seed, bound) in BOUNDS.into_iter().enumerate() {
        stress(&whole::<G>(bound), seed as u64);
    }
}

#[test]
fn class_locks() {
    in_whole_moves::<PerClass>();
    in_steps::<PerClass>(64);
    in_steps::<PerClass>(1024);
}

#[test]
fn one_lock() {
    in_whole_moves::<PerHeap>();
    in_steps::<PerHeap>(64);
    in_steps::<PerHeap>(1024);
}

#[test]
fn page_locks() {
    in_whole_moves::<PerPage>();
}
