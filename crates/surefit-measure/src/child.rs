//! Replays in a child process: for a malloc that must be preloaded, for a fresh process, and under valgrind.
//!
//! A child whose malloc is measured is fed the trace on its standard input. Its own tables are not malloc's (`main`), and
//! nothing is unpacked there: the first object that the malloc hands out is the first one of the trace.

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};

use crate::error::{BROKEN, Broken};
use crate::results::AllocatorResult;
use crate::source::Source;

/// Names the library to preload; the loader's complaints name it as well, and then go on without the library.
const PRELOAD: &str = "LD_PRELOAD";

/// The hidden verb of a command that measures: what its children are told, see [`crate::as_child`].
pub const VERB: &str = "replay-as-child";

/// Which passes a replay runs; the words of the option `--only` of a child.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passes {
    /// The checking pass.
    pub checking: bool,
    /// The timing pass.
    pub timing: bool,
    /// The access pass.
    pub access: bool,
    /// The percentile pass.
    pub percentiles: bool,
    /// The counting pass, which makes sense under valgrind only.
    pub counting: bool,
}

impl Passes {
    /// What `replay` runs unless it is told otherwise.
    pub const ALL: Self = Self {
        checking: true,
        timing: true,
        access: true,
        percentiles: true,
        counting: false,
    };

    /// No pass.
    pub const NONE: Self = Self {
        checking: false,
        timing: false,
        access: false,
        percentiles: false,
        counting: false,
    };

    fn words(self) -> String {
        let words = [
            (self.checking, "checking"),
            (self.timing, "timing"),
            (self.access, "access"),
            (self.percentiles, "percentiles"),
            (self.counting, "counting"),
        ];
        let chosen: Vec<_> = words
            .iter()
            .filter(|(on, _)| *on)
            .map(|(_, word)| *word)
            .collect();
        chosen.join(",")
    }
}

impl std::str::FromStr for Passes {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut passes = Self::NONE;
        for word in text.split(',') {
            match word {
                "checking" => passes.checking = true,
                "timing" => passes.timing = true,
                "access" => passes.access = true,
                "percentiles" => passes.percentiles = true,
                "counting" => passes.counting = true,
                _ => bail!("there is no pass `{word}`"),
            }
        }
        Ok(passes)
    }
}

/// A replay of the platform's malloc in a child of its own, with `library` preloaded.
#[derive(Clone, Copy, Debug)]
pub struct Child<'a> {
    /// How the user named the allocator, for messages.
    pub allocator: &'a str,
    /// The library to preload.
    pub library: Option<&'a Path>,
    /// The trace.
    pub source: &'a Source,
    /// Whether the checking pass writes every byte.
    pub touch: bool,
    /// Whether each thread of the trace runs on a thread of its own; the rounds of that.
    pub threads: Option<u32>,
}

impl Child<'_> {
    /// Runs these passes, once each.
    ///
    /// # Errors
    /// One line if the child was killed, failed, or printed something else than a result.
    pub fn run(&self, passes: Passes) -> Result<AllocatorResult> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args([VERB, "--allocator", "system"]);
        command.args(["--rounds", &self.threads.unwrap_or(1).to_string()]);
        match self.threads {
            Some(_) => command.arg("--threads"),
            None => command.args(["--only", &passes.words()]),
        };
        if !self.touch {
            command.arg("--no-touch");
        }
        command.args(["--fed", "--"]).arg(self.source.name());
        if let Some(library) = self.library {
            command.env(PRELOAD, library);
        }
        let output = fed(&mut command, &self.source.bytes());
        let output = output.with_context(|| self.allocator.to_owned())?;
        let text = self.printed(&output)?;
        serde_json::from_str(text)
            .with_context(|| format!("{}: the child process printed no result", self.allocator))
    }
}

impl Child<'_> {
    /// The result that the child printed: of a replay that completed, or of one that could not.
    fn printed<'o>(&self, output: &'o Output) -> Result<&'o str> {
        if output.status.code() != Some(i32::from(BROKEN)) {
            return succeeded(self.allocator, output);
        }
        if output.stdout.is_empty() {
            let complaint = last_line(output);
            let broken = complaint.strip_prefix("surefit: ").unwrap_or(&complaint);
            return Err(Broken(format!("{}: {broken}", self.allocator)).into());
        }
        Ok(std::str::from_utf8(&output.stdout)?)
    }
}

/// The last line of what a child complained about.
fn last_line(output: &Output) -> String {
    let complaint = String::from_utf8_lossy(&output.stderr);
    let last = complaint.lines().last();
    last.unwrap_or("no message").to_owned()
}

/// The arguments of a child that counts the calls of one allocator, for valgrind.
pub fn counting_arguments(allocator: &str, heap_bytes: u64, source: &Source) -> Vec<OsString> {
    let heap = heap_bytes.to_string();
    let fixed = [
        VERB,
        "--allocator",
        allocator,
        "--heap",
        &heap,
        "--only",
        "counting",
    ];
    let mut arguments: Vec<_> = fixed.into_iter().map(OsString::from).collect();
    arguments.extend(source.arguments());
    arguments
}

/// Runs a command to its end, gives it `input`, and keeps what it printed.
///
/// # Errors
/// The command cannot be started.
fn fed(command: &mut Command, input: &[u8]) -> Result<Output> {
    command.stdin(Stdio::piped());
    let pipes = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = pipes.spawn().context("cannot start this command again")?;
    if let Some(mut stdin) = child.stdin.take() {
        // a child that ends before it has read everything says why itself
        let _ = stdin.write_all(input);
    }
    Ok(child.wait_with_output()?)
}

/// Runs a command to its end and keeps what it printed.
///
/// # Errors
/// The command cannot be started.
pub fn output(command: &mut Command) -> Result<Output> {
    let program = command.get_program().to_owned();
    let output = command.stdin(Stdio::null()).output();
    output.with_context(|| format!("cannot start {}", program.to_string_lossy()))
}

/// What a child printed, if it succeeded.
///
/// # Errors
/// One line: how it was killed, the last line of what it complained about, or that the loader left the library out.
pub fn succeeded<'a>(what: &str, output: &'a Output) -> Result<&'a str> {
    if !output.status.success() {
        bail!(
            "{what}: the child process ended with {}: {}",
            output.status,
            last_line(output)
        );
    }
    if contains(&output.stderr, PRELOAD.as_bytes()) {
        bail!("{what}: the loader cannot preload it; give a shared library of this platform");
    }
    Ok(std::str::from_utf8(&output.stdout)?)
}

fn contains(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|window| window == word)
}
