//! Replays in a child process: for a malloc that must be preloaded, for measurements that need a
//! fresh process, and under valgrind. A child whose malloc is measured reads the trace from its
//! standard input. Its own tables do not come from that malloc (`main`), and it unpacks nothing:
//! the first object that the malloc hands out is the first object of the trace.

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};

use crate::error::{BROKEN, Broken};
use crate::results::AllocatorResult;
use crate::source::Source;

/// The variable that names the library to preload. A loader that cannot load it prints a message
/// with this name, and starts the program without the library.
const PRELOAD: &str = "LD_PRELOAD";

/// The hidden verb with which a command that measures starts its children, see [`crate::as_child`].
pub const VERB: &str = "replay-as-child";

/// The passes that a replay runs; a child takes their names in the option `--only`.
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
    /// The counting pass, which is useful only under valgrind.
    pub counting: bool,
}

impl Passes {
    /// The passes that `replay` runs by default.
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

/// A replay in a child process: of an allocator that has no region of ours, or of the platform's
/// malloc with `library` preloaded.
#[derive(Clone, Copy, Debug)]
pub struct Child<'a> {
    /// The allocator as the user named it.
    pub allocator: &'a str,
    /// The library to preload; its malloc is then what the child measures.
    pub library: Option<&'a Path>,
    /// The trace.
    pub source: &'a Source,
    /// Whether the checking pass writes every byte.
    pub touch: bool,
    /// The number of rounds, if each thread of the trace runs on its own thread.
    pub threads: Option<u32>,
    /// About how many accesses the access pass makes; `None` for some after every event.
    pub most_accesses: Option<u64>,
}

impl Child<'_> {
    /// Runs each of these passes once.
    ///
    /// # Errors
    /// One line if the child was killed, failed, or printed something other than a result.
    pub fn run(&self, passes: Passes) -> Result<AllocatorResult> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args([VERB, "--allocator", self.measured()]);
        command.args(["--rounds", &self.threads.unwrap_or(1).to_string()]);
        match self.threads {
            Some(_) => command.arg("--threads"),
            None => command.args(["--only", &passes.words()]),
        };
        if let Some(most) = self.most_accesses {
            command.args(["--accesses", &most.to_string()]);
        }
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
    /// The allocator that the child measures: a preloaded malloc is its system's.
    const fn measured(&self) -> &str {
        match self.library {
            Some(_) => "system",
            None => self.allocator,
        }
    }

    /// The result that the child printed, whether its replay completed or not.
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

/// The last line of a child's error output.
fn last_line(output: &Output) -> String {
    let complaint = String::from_utf8_lossy(&output.stderr);
    let last = complaint.lines().last();
    last.unwrap_or("no message").to_owned()
}

/// The arguments of a child under valgrind that counts the calls of one allocator.
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

/// Runs a command to its end with `input` on its standard input, and returns its output.
///
/// # Errors
/// The command cannot be started.
fn fed(command: &mut Command, input: &[u8]) -> Result<Output> {
    command.stdin(Stdio::piped());
    let pipes = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = pipes.spawn().context("cannot start this command again")?;
    if let Some(mut stdin) = child.stdin.take() {
        // a child that ends before it has read everything reports the cause itself
        let _ = stdin.write_all(input);
    }
    Ok(child.wait_with_output()?)
}

/// Runs a command to its end and returns its output.
///
/// # Errors
/// The command cannot be started.
pub fn output(command: &mut Command) -> Result<Output> {
    let program = command.get_program().to_owned();
    let output = command.stdin(Stdio::null()).output();
    output.with_context(|| format!("cannot start {}", program.to_string_lossy()))
}

/// The standard output of a child that succeeded.
///
/// # Errors
/// One line: how the child ended, with the last line of its error output, or that the loader did
/// not load the library.
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
