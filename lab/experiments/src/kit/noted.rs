//! The verdicts of unit tests, noted for `ci/claims.sh`: one line per verdict, `file:line kind`.

use std::env;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::panic::Location;

use super::verdict::Verdict;

/// The environment variable that names the file; without it nothing is noted.
const FILE: &str = "SUREFIT_CLAIMS";

/// Adds a line for one verdict.
pub(super) fn note(place: &Location<'_>, verdict: Verdict) {
    let Some(path) = env::var_os(FILE) else {
        return;
    };
    let line = format!("{}:{} {}\n", place.file(), place.line(), kind(verdict));
    let file = OpenOptions::new().append(true).create(true).open(path);
    let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
    written.expect("the file of verdicts can be written");
}

/// A verdict over programs that held on some only is both.
const fn kind(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "holds",
        Verdict::DoesNot => "does-not",
        Verdict::NotComparable => "not-comparable",
        Verdict::HoldsOn { .. } => "holds-on-some",
    }
}
