//! Instructions of chosen calls in a child process, counted by callgrind: exact, and the same on
//! every run.
//!
//! The C library copies by vectors there, however many bytes: of an instruction that repeats
//! itself, valgrind counts every byte.
//!
//! Functions are named by their whole path, or by `*NAME`: callgrind 3.19 does not see the end of a
//! call that `*NAME*` names twice.

use std::process::Command;

use anyhow::{Context, Result};

use surefit_measure::child;

/// The path of [`call`], as valgrind knows it.
pub(crate) const CALL: &str = concat!(module_path!(), "::call");

/// Makes a call that valgrind counts. There is only this one: the compiler makes one function of
/// two that do the same, and valgrind knows it by the other name. It looks at something last,
/// because a function that ends with a call never returns for valgrind.
#[inline(never)]
pub(crate) fn call(call: &mut dyn FnMut()) {
    call();
    std::hint::black_box(());
}

/// No copy is long enough for an instruction that repeats itself.
const BY_VECTORS: &str = "glibc.cpu.x86_rep_movsb_threshold=1073741824:\
                          glibc.cpu.x86_rep_stosb_threshold=1073741824";

/// Runs this program again under callgrind, with `arguments`, and counts inside the calls of
/// `call` only. A part ends with each of these calls, and where `dumps` say; returns what the child
/// printed, and the instructions of every part. `what` names the child in errors.
///
/// # Errors
/// valgrind failed, or the child did.
pub(crate) fn counted(
    what: &str,
    call: &str,
    dumps: &[String],
    arguments: impl FnOnce(&mut Command),
) -> Result<(String, Vec<u64>)> {
    let directory = tempfile::tempdir().context("cannot make a directory for valgrind's counts")?;
    let file = directory.path().join("counts");
    let mut command = Command::new("valgrind");
    command.env("GLIBC_TUNABLES", BY_VECTORS);
    command.args([
        "--tool=callgrind",
        "--combine-dumps=yes",
        "--collect-atstart=no",
    ]);
    command.arg(format!("--callgrind-out-file={}", file.display()));
    command.arg(format!("--toggle-collect={call}"));
    command.args(dumps);
    command.arg(format!("--dump-after={call}"));
    command.arg(std::env::current_exe()?);
    arguments(&mut command);
    let output = child::output(&mut command)?;
    let printed = child::succeeded(what, &output)?.to_owned();
    let written = std::fs::read_to_string(&file).context("valgrind wrote no counts")?;
    Ok((printed, parts(&written)?))
}

/// What callgrind counted in each part of its file except the last, the rest of the program.
fn parts(text: &str) -> Result<Vec<u64>> {
    let numbers = text
        .lines()
        .filter_map(|line| line.strip_prefix("summary: "));
    let mut counts = numbers.map(str::parse).collect::<Result<Vec<u64>, _>>()?;
    counts.pop();
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn the_last_part_is_the_rest_of_the_program() {
        let text = "part: 1\nsummary: 57\ntotals: 57\npart: 2\nsummary: 212\n\nsummary: 0\n";
        assert_eq!(parts(text).expect("numbers"), [57, 212]);
        assert!(parts("summary: many\n").is_err());
    }
}
