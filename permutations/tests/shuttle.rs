//! The real shared heap under a permutation tester: threads are switched at every lock and every
//! access of an atomic.
//!
//! Each scenario is a tiny heap and two or three threads that meet in one place of the protocol.
//! Every byte of every object is compared under pins; when a scenario is over everything is freed,
//! no page, page-block or entry is lost, no size-class is over its bound, and no section has copied
//! more than min(β, ι) bytes. Schedules come from fixed seeds: random ones, and such with few
//! preemptions at random places.
//!
//! Runs with `RUSTFLAGS="--cfg surefit_shuttle"` only (ci/models.sh); `SUREFIT_SHUTTLE=10` explores
//! ten times as much.
#![cfg(surefit_shuttle)]

#[path = "shuttle/beside.rs"]
mod beside;
#[path = "shuttle/pages.rs"]
mod pages;
#[path = "shuttle/pins.rs"]
mod pins;
#[path = "shuttle/scripts.rs"]
mod scripts;
#[path = "shuttle/slack.rs"]
mod slack;
#[path = "shuttle/world.rs"]
mod world;
