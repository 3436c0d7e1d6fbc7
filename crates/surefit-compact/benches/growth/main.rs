//! The instructions of every call beside few and beside many objects, classes, threads, instances,
//! pins, banks and free runs: `docs/growth/compact.md`. Needs valgrind.
//!
//! `cargo bench -p surefit-compact --bench growth` compares with the table, and with `-- --write`
//! writes it anew.
#![allow(missing_docs, reason = "a benchmark")]

mod classes;
mod direct;
mod entries;
mod grown;
mod purging;
mod scale;
mod shared;
mod shared_bytes;
mod shared_direct;
mod single;

use std::path::Path;
use std::process::ExitCode;

use surefit_testkit::growth::{Table, main as counted};

const TITLE: &str = "\
# How the calls of the heaps of Compact-fit grow

Instructions of one call on x86-64, counted by callgrind, in a heap with few and with many of what it may
have many of. `cargo bench -p surefit-compact --bench growth` counts them, and fails if a call grows that is
documented not to.";

fn main() -> ExitCode {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/growth/compact.md");
    counted(&file, TITLE, |table: &mut Table| {
        single::heap(table);
        classes::heap(table);
        entries::entries(table);
        entries::contiguous(table);
        grown::in_banks(table);
        grown::branded(table);
        grown::os(table);
        single::keys(table);
        shared::threads(table);
        shared_bytes::rows(table);
        shared::instances(table);
        direct::alone(table);
        direct::pooled(table);
        shared_direct::rows(table);
        purging::rows(table);
    })
}
