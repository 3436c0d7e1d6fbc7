//! One run of the program under one malloc.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, bail};
use rustix::process::{Pid, Signal, kill_process};
use surefit_measure::error::one_line;
use surefit_os::children::{Taken, wait};
use surefit_os::resident;

use super::left;
use super::mallocs::Malloc;
use super::sampled::Sampler;

/// What is run.
pub(super) struct Run<'a> {
    pub(super) command: &'a [OsString],
    /// Its standard input.
    pub(super) input: Option<&'a Path>,
    /// A command of the shell that puts load on it.
    pub(super) load: Option<&'a str>,
}

/// What a run took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Took {
    pub(super) cpu_ns: u64,
    pub(super) wall_ns: u64,
    /// Absent if it is not above what this command has, which the system counts as the program's.
    pub(super) peak_resident_bytes: Option<u64>,
    /// The mean over time of the first process; absent if it ran too shortly.
    pub(super) mean_resident_bytes: Option<u64>,
}

/// How long a server may take to end when it is asked to.
const PATIENCE: Duration = Duration::from_secs(10);

/// The number of the signal that asks it.
const TERM: i32 = Signal::TERM.as_raw();

/// The most bytes of what the program says that are looked at.
const MOST_SAID: u64 = 4096;

/// Runs the program once.
///
/// # Errors
/// It cannot be started, or fails; the load fails.
pub(super) fn run(run: &Run<'_>, malloc: &Malloc) -> Result<Took> {
    let mut said = tempfile::tempfile()?;
    let mut command = Command::new(&run.command[0]);
    command.args(&run.command[1..]).stdin(input(run)?);
    command.stdout(Stdio::null()).stderr(said.try_clone()?);
    match &malloc.library {
        Some(library) => command.env("LD_PRELOAD", library),
        None => command.env_remove("LD_PRELOAD"),
    };
    let floor = resident::peak_bytes()? as u64;
    let begun = Instant::now();
    let child = command.spawn();
    let child =
        child.with_context(|| format!("cannot run {}", run.command[0].to_string_lossy()))?;
    let pid = pid(&child)?;
    let resident = Sampler::start(pid);
    let ended = ended(child);
    let loaded = run.load.map(put_load);
    let ended = match loaded {
        Some(_) => asked_to_end(&ended, pid),
        None => ended
            .recv()?
            .map(|ended| (ended, false))
            .map_err(Into::into),
    };
    let wall_ns = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let left = left::nothing(&one_line(&run.command[0].to_string_lossy()));
    let ((status, taken), is_asked) = ended?;
    // A server that was asked to end may end as it likes, but by no other signal. One that ended
    // before is why a load fails.
    let by_another = status.signal().is_some_and(|signal| signal != TERM);
    if by_another || !(status.success() || is_asked) {
        bail!("the program ended with {status}{}", last_line(&mut said));
    }
    left.and(loaded.transpose())?;
    Ok(Took {
        cpu_ns: taken.cpu_ns,
        wall_ns,
        mean_resident_bytes: resident.mean(),
        peak_resident_bytes: Some(taken.peak_resident_bytes).filter(|peak| *peak > floor),
    })
}

fn input(run: &Run<'_>) -> Result<Stdio> {
    let Some(file) = run.input else {
        return Ok(Stdio::null());
    };
    let opened = File::open(file);
    let opened = opened.with_context(|| format!("--input {}: cannot be read", file.display()))?;
    Ok(opened.into())
}

/// Runs the load to its end.
fn put_load(load: &str) -> Result<()> {
    let mut shell = Command::new("sh");
    shell.args(["-c", load]).env_remove("LD_PRELOAD");
    let output = surefit_measure::child::output(&mut shell)?;
    surefit_measure::child::succeeded("--load", &output).map(drop)
}

fn pid(child: &Child) -> Result<Pid> {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    pid.context("a process has a number")
}

type Ended = Receiver<std::io::Result<(ExitStatus, Taken)>>;

/// Waits for the program in a thread.
fn ended(child: Child) -> Ended {
    let (send, receive) = mpsc::channel();
    // Nobody listens any more if the command has failed.
    thread::spawn(move || drop(send.send(wait(child))));
    receive
}

/// Asks a program to end, unless it has; one that does not is killed. Returns how it ended, and
/// whether it was asked to.
fn asked_to_end(ended: &Ended, pid: Pid) -> Result<((ExitStatus, Taken), bool)> {
    if let Ok(ended) = ended.try_recv() {
        return Ok((ended?, false));
    }
    // It may have ended meanwhile: then there is nobody to ask.
    let is_asked = kill_process(pid, Signal::TERM).is_ok();
    if let Ok(ended) = ended.recv_timeout(PATIENCE) {
        return Ok((ended?, is_asked));
    }
    let _ = kill_process(pid, Signal::KILL);
    let _ = ended.recv();
    Err(anyhow!("the program did not end within 10 s of SIGTERM"))
}

/// The last line that the program said, behind a colon.
fn last_line(said: &mut File) -> String {
    let mut text = Vec::new();
    let length = said.seek(SeekFrom::End(0)).unwrap_or(0);
    let from = length.saturating_sub(MOST_SAID);
    let read = said
        .seek(SeekFrom::Start(from))
        .and_then(|_| said.read_to_end(&mut text));
    let text = String::from_utf8_lossy(&text);
    match text.lines().rfind(|line| !line.trim().is_empty()) {
        Some(line) if read.is_ok() => format!(": {}", one_line(line)),
        _ => String::new(),
    }
}
