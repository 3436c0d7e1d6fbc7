//! The instructions of every call beside few and beside many objects, roots, remembered objects and
//! types: `docs/growth/gc.md`. Needs valgrind.
//!
//! `cargo bench -p surefit-gc --bench growth` compares with the table, and with `-- --write` writes
//! it anew.
#![allow(missing_docs, reason = "a benchmark")]
#![allow(clippy::too_many_lines, reason = "a row takes a few lines")]

mod arenas;
mod paced;
mod scene;
mod spaces;
mod steps;
mod young;

use std::path::Path;
use std::process::ExitCode;

use surefit_testkit::growth::{Table, main as counted};

const TITLE: &str = "\
# How the calls of the collectors grow

Instructions of one call on x86-64, counted by callgrind, in a heap with few and with many of what it may
have many of. `cargo bench -p surefit-gc --bench growth` counts them, and fails if a call grows that is
documented not to.";

fn main() -> ExitCode {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/growth/gc.md");
    counted(&file, TITLE, |table: &mut Table| {
        spaces::whole(table);
        steps::incremental(table);
        paced::whole(table);
        young::generational(table);
        arenas::whole(table);
        arenas::in_steps(table);
        spaces::schedules(table);
    })
}
