//! One process: binary trees on one collector, from its start to its end.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use surefit_measure::child;

/// The depth of the smallest trees of the program.
const SHALLOWEST: u32 = 4;

/// What a process took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Took {
    /// From before it was started to after it ended, in nanoseconds.
    pub(super) wall_ns: f64,
    /// Processor time of all its threads, in nanoseconds.
    pub(super) cpu_ns: f64,
    /// Its most resident memory.
    pub(super) peak_bytes: u64,
    /// Its collections, if it counts them.
    pub(super) collections: Option<u64>,
}

/// Runs a binary; what it prints is checked if it makes trees at all.
///
/// # Errors
/// It cannot be started, fails, counts other nodes than there are, or says of itself what cannot be
/// read.
pub(super) fn run(binary: &Path, depth: u32, settings: &str, has_trees: bool) -> Result<Took> {
    let name = binary.display().to_string();
    let mut command = Command::new(binary);
    command
        .arg(depth.to_string())
        .args(settings.split_whitespace());
    let start = Instant::now();
    let output = child::output(&mut command)?;
    let wall_ns = start.elapsed().as_secs_f64() * 1e9;
    let printed = child::succeeded(&name, &output)?;
    ensure!(
        !has_trees || printed == expected(depth),
        "{name}: it counts other nodes than the trees have"
    );
    let figures = String::from_utf8_lossy(&output.stderr);
    let last = figures.lines().last().unwrap_or_default();
    figure(last, "cpu_ns")
        .zip(figure(last, "peak_bytes"))
        .map(|(cpu_ns, peak_bytes)| Took {
            wall_ns,
            cpu_ns: cpu_ns as f64,
            peak_bytes,
            collections: figure(last, "collections"),
        })
        .with_context(|| format!("{name}: its last line has no figures: {last}"))
}

/// The figure after `KEY=` in a line of such words.
fn figure(line: &str, key: &str) -> Option<u64> {
    let mut words = line.split_whitespace();
    words.find_map(|word| word.strip_prefix(key)?.strip_prefix('=')?.parse().ok())
}

/// What the program prints at this depth.
pub(super) fn expected(depth: u32) -> String {
    let nodes = |depth: u32| (2_u64 << depth) - 1;
    let stretch = depth + 1;
    let mut lines = vec![format!(
        "stretch tree of depth {stretch}\t check: {}",
        nodes(stretch)
    )];
    lines.extend((SHALLOWEST..=depth).step_by(2).map(|shallow| {
        let count = 1_u64 << (depth - shallow + SHALLOWEST);
        let check = count * nodes(shallow);
        format!("{count}\t trees of depth {shallow}\t check: {check}")
    }));
    lines.push(format!(
        "long lived tree of depth {depth}\t check: {}",
        nodes(depth)
    ));
    lines.join("\n") + "\n"
}

#[cfg(test)]
pub(super) mod tests {
    use std::path::Path;
    use std::process::Command;

    use super::{Took, expected, run};

    /// Writes a program for the shell that prints these lines and these figures.
    pub(in super::super) fn script(file: &Path, printed: &str, figures: &str) {
        let text = format!("#!/bin/sh\ncat <<'END'\n{printed}END\necho '{figures}' >&2\n");
        // Another process writes it: what this one has open, a child started meanwhile by another
        // thread has open as well, and then the file cannot be run.
        let mut shell = Command::new("sh");
        shell.args([
            "-c",
            "printf %s \"$1\" >\"$2\" && chmod +x \"$2\"",
            "sh",
            &text,
        ]);
        assert!(shell.arg(file).status().expect("a shell").success());
    }

    fn took(printed: &str, figures: &str, has_trees: bool) -> Result<Took, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("peer");
        script(&file, printed, figures);
        run(&file, 6, "heap=8M", has_trees).map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn figures_are_read_and_nodes_are_checked() {
        let took_it = took(&expected(6), "cpu_ns=5 peak_bytes=4096 collections=2", true);
        let took_it = took_it.expect("all is well");
        assert_eq!(
            (took_it.cpu_ns, took_it.peak_bytes, took_it.collections),
            (5.0, 4096, Some(2))
        );
        assert!(took_it.wall_ns > 0.0);
        let wrong = took(&expected(8), "cpu_ns=5 peak_bytes=4096", true);
        assert!(wrong.expect_err("other trees").contains("other nodes"));
        assert!(took("", "cpu_ns=5 peak_bytes=4096", false).is_ok());
        assert!(took(&expected(6), "cpu_ns=5", true).is_err());
    }

    #[test]
    fn the_program_makes_these_trees() {
        let lines = expected(4);
        assert_eq!(
            lines,
            "stretch tree of depth 5\t check: 63\n16\t trees of depth 4\t check: 496\n\
             long lived tree of depth 4\t check: 31\n"
        );
    }
}
