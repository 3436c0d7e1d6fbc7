//! The child that plays one shape, and what it says of itself.
//!
//! ```text
//! cpu_ns=48120931 wall_ns=48300127 peak_bytes=7340032 checksum=11863283 held=1.5
//! ```
#![deny(unsafe_code)]

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};
use surefit_os::resident;

use super::libraries::{Library, MORE_ARE, ONLY_ARE, OURS_IS};
use super::shapes::recorded::Recording;
use super::shapes::{Shape, find};
use super::watch::Watch;
use super::work::Work;
use surefit_measure::{child, output};

/// The name of the hidden verb.
const VERB: &str = "malloc-shape";

/// What the child receives.
#[derive(Debug, clap::Args)]
pub(crate) struct MallocShape {
    /// The shape.
    shape: String,
    /// Play one part of so many.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    part: u64,
    /// Threads that run at once.
    #[arg(long, value_parser = clap::value_parser!(u16).range(2..=64))]
    threads: u16,
    /// The steps of the recorded program.
    #[arg(long, requires_all = ["slots", "times"])]
    steps: Option<PathBuf>,
    /// The most objects of it that live at once.
    #[arg(long)]
    slots: Option<usize>,
    /// How often it is played.
    #[arg(long)]
    times: Option<u64>,
}

/// Plays a shape and prints what it took.
///
/// # Errors
/// There is no such shape; what the shape fails with.
pub(crate) fn play_malloc_shape(args: &MallocShape) -> Result<ExitCode> {
    let shape = find(&args.shape).with_context(|| format!("{}: no such shape", args.shape))?;
    let recording = args.steps.as_ref().map(|file| Recording {
        file: file.clone(),
        slots: args.slots.unwrap_or_default(),
        times: args.times.unwrap_or(1),
    });
    let work = Work {
        part: args.part,
        threads: usize::from(args.threads),
    };
    let mut watch = Watch::default();
    let checksum = shape.run(work, recording.as_ref(), &mut watch)?;
    let took = Took {
        cpu_ns: watch.cpu_ns() as f64,
        wall_ns: watch.wall_ns(),
        peak_bytes: resident::peak_bytes()? as u64,
        checksum,
        held: watch.worst_held(),
    };
    output::print(&took.line())?;
    Ok(ExitCode::SUCCESS)
}

/// What a shape took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Took {
    /// Time of all its threads on processors, in nanoseconds.
    pub(super) cpu_ns: f64,
    /// Time by the clock on the wall, in nanoseconds.
    pub(super) wall_ns: f64,
    /// The most resident memory of the process.
    pub(super) peak_bytes: u64,
    /// What was freed.
    pub(super) checksum: u64,
    /// Held ÷ live at the worst moment, where the shape looks.
    pub(super) held: Option<f64>,
}

impl Took {
    fn line(&self) -> String {
        let Self {
            cpu_ns,
            wall_ns,
            peak_bytes,
            checksum,
            held,
        } = self;
        let held = held.map_or_else(String::new, |held| format!(" held={held}"));
        format!(
            "cpu_ns={cpu_ns} wall_ns={wall_ns} peak_bytes={peak_bytes} checksum={checksum}{held}\n"
        )
    }

    fn read(line: &str) -> Option<Self> {
        let word = |key: &str| {
            let mut words = line.split_whitespace();
            words.find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
        };
        Some(Self {
            cpu_ns: word("cpu_ns")?.parse().ok()?,
            wall_ns: word("wall_ns")?.parse().ok()?,
            peak_bytes: word("peak_bytes")?.parse().ok()?,
            checksum: word("checksum")?.parse().ok()?,
            held: word("held").and_then(|held| held.parse().ok()),
        })
    }
}

/// This program again as a child on a library: its malloc is then the library's.
///
/// # Errors
/// The system does not say where this program is.
pub(super) fn command(library: &Library) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    prepare(&mut command, library);
    Ok(command)
}

/// Lets a command run on a library.
pub(super) fn prepare(command: &mut Command, library: &Library) {
    for variable in [OURS_IS, MORE_ARE, ONLY_ARE] {
        command.env_remove(variable);
    }
    match &library.file {
        Some(file) => command.env("LD_PRELOAD", file),
        None => command.env_remove("LD_PRELOAD"),
    };
}

/// Plays a shape on a library, in a child.
///
/// # Errors
/// The child failed, was killed, or was not given the library; what it says cannot be read.
pub(super) fn run(
    library: &Library,
    shape: &Shape,
    work: Work,
    recording: Option<&Recording>,
) -> Result<Took> {
    let mut command = command(library)?;
    command.args([VERB, shape.name, "--part", &work.part.to_string()]);
    command.args(["--threads", &work.threads.to_string()]);
    if let Some(recording) = recording {
        command.arg("--steps").arg(&recording.file);
        command.args(["--slots", &recording.slots.to_string()]);
        command.args(["--times", &recording.times.to_string()]);
    }
    let what = format!("{}: {}", library.name, shape.name);
    let output = child::output(&mut command)?;
    let printed = child::succeeded(&what, &output)?;
    let took = Took::read(printed).with_context(|| format!("{what}: it printed no figures"))?;
    ensure!(took.cpu_ns > 0.0 && took.wall_ns > 0.0, "{what}: no time");
    Ok(took)
}

#[cfg(test)]
mod tests {
    use super::Took;

    #[test]
    fn what_a_child_says_is_read_as_it_was_meant() {
        let took = Took {
            cpu_ns: 5.0,
            wall_ns: 7.25,
            peak_bytes: 4096,
            checksum: u64::MAX,
            held: Some(1.5),
        };
        assert_eq!(Took::read(&took.line()), Some(took));
        let without = Took { held: None, ..took };
        assert_eq!(Took::read(&without.line()), Some(without));
        assert_eq!(
            Took::read("cpu_ns=5 wall_ns=7 peak_bytes=x checksum=1"),
            None
        );
        assert_eq!(Took::read(""), None);
    }
}
