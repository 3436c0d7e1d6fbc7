//! The command under any arguments and any files: it ends with status 0, 1 or 2, prints at most two
//! lines on stderr, never panics, and takes bounded time and memory.
//!
//! ```text
//! arguments   a verb, its options, and values at the ends of what they may be; now and then anything at all
//! files       traces, object graphs, demands, classes, scripts: sound, mutated, truncated, empty, and what is no file
//! child       runs one command with limits, and judges how it ended
//! ```
//! Case number N is made from seed N alone. `SUREFIT_FUZZ_CASES` is how many cases to run,
//! `SUREFIT_FUZZ_SEED` the first one; `ci/command-fuzz.sh` runs a minute of them. A case that fails
//! prints its arguments and its seed. `SUREFIT_FUZZ_VERB=tune` tries one verb only; the seeds are
//! then those of other cases.
//!
//! Experiments may take long: only what their arguments mean is tried. `gc lua` prints its figures
//! and tracebacks to stderr, because standard output is the script's: there lines are not counted.
#![cfg(target_os = "linux")]

mod arguments;
mod child;
mod files;

use std::ffi::OsString;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng as Random;

use files::Files;

/// Failures after which no more are looked for.
const ENOUGH: usize = 20;

fn number(variable: &str, usual: u64) -> u64 {
    let value = std::env::var(variable);
    value.map_or(usual, |text| text.parse().expect("a whole number"))
}

#[test]
fn any_arguments_and_files_end_in_a_status_and_two_lines_at_most() {
    let first = number("SUREFIT_FUZZ_SEED", 1);
    let cases = number("SUREFIT_FUZZ_CASES", 400);
    let files = Files::new();
    let mut failures = Vec::new();
    let mut ends = [0_u64; 3];
    for seed in first..first + cases {
        let mut random = Random::seed_from_u64(seed);
        let case = arguments::case(&mut random, &files);
        match child::run(&case) {
            Ok(status) => ends[status] += 1,
            Err(why) => failures.push(described(seed, &case, &why)),
        }
        if failures.len() == ENOUGH {
            break;
        }
    }
    let [done, broken, refused] = ends;
    println!("{cases} cases: {done} with status 0, {broken} with 1, {refused} with 2");
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    // a generator that makes nothing valid, or nothing wrong, tests nothing; most verbs alone break
    // nothing
    let least = if arguments::only_verb().is_none() {
        &ends[..]
    } else {
        &[done, refused]
    };
    assert!(cases < 100 || least.iter().all(|count| *count > cases / 100));
}

fn described(seed: u64, case: &child::Case, why: &str) -> String {
    let shown: Vec<_> = case.arguments.iter().map(quoted).collect();
    format!("seed {seed}: surefit {}\n{why}", shown.join(" "))
}

fn quoted(argument: &OsString) -> String {
    format!("{argument:?}")
}
