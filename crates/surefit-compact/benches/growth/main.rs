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
mod shared;
mod shared_bytes;
mod shared_direct;
mod single;

use std::mem::MaybeUninit;
use std::path::Path;
use std::process::ExitCode;

use surefit_testkit::growth::{Table, main as counted};

/// An object of 40 bytes.
type Object = [u64; 5];

/// A few and many of what there may be many of.
const OBJECTS: (&str, [usize; 2]) = ("objects", [1000, 100_000]);
const RUNS: (&str, [usize; 2]) = ("free runs", [100, 10_000]);
const THREADS: (&str, [usize; 2]) = ("threads", [2, 200]);
const INSTANCES: (&str, [usize; 2]) = ("instances", [2, 60]);

const TITLE: &str = "\
# How the calls of the heaps of Compact-fit grow

Instructions of one call on x86-64, counted by callgrind, in a heap with few and with many of what it may
have many of. `cargo bench -p surefit-compact --bench growth` counts them, and fails if a call grows that is
documented not to.";

/// Memory that begins at 16 KiB, so that two heaps of one size are divided alike. It is not
/// touched.
fn region(bytes: usize) -> &'static mut [MaybeUninit<u8>] {
    let memory = Box::leak(Box::new_uninit_slice(bytes + (16 << 10)));
    let first = memory.as_ptr().align_offset(16 << 10);
    &mut memory[first..][..bytes]
}

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
