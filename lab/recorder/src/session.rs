//! Runs a program with the recorder in it.

use std::cell::Cell;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::mem::offset_of;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process, test_kill_process, waitid,
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use tempfile::TempDir;

use crate::LIBRARY;
use crate::living::{self, Living};
use crate::log::{self, Header};
use crate::lost;
use crate::seen::Outside;

/// How often a program is looked at while it runs: of one that is killed, nothing else says what it
/// took.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// How stacks are recorded.
#[derive(Clone, Copy, Debug)]
pub struct Stacks {
    /// The most frames of one.
    pub depth: u32,
    /// How they are found.
    pub unwinding: Unwinding,
}

/// How the callers of a function are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unwinding {
    /// By the tables that compilers write for exceptions: nearly all programs have them.
    #[default]
    Tables,
    /// By frame pointers: they are there if the program and its libraries were built with them.
    FramePointers,
    /// By the tables twice: by our own reading of them, and by the platform's unwinder, for
    /// [`crate::sites::compared`].
    Compared,
}

/// Why a program was not started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// What the recorder needs beside the logs cannot be written.
    #[error("cannot write what the recorder needs")]
    Write(#[source] io::Error),
    /// The program cannot be run.
    #[error("cannot run the program")]
    Run(#[source] io::Error),
}

/// A program that runs, and is recorded.
#[derive(Debug)]
pub struct Session {
    folder: PathBuf,
    library: PathBuf,
    pid: u32,
    ended: Receiver<io::Result<(ExitStatus, Outside)>>,
    /// What the program has taken so far.
    seen: Cell<Outside>,
    /// The place of the library if it is not in `folder`; it goes with the session.
    _elsewhere: Option<TempDir>,
}

impl Session {
    /// Starts a program: `command` is its path, and then its arguments. Logs go into `folder`,
    /// which exists; each may have `most_bytes`. With `stacks`, who called is recorded.
    ///
    /// Until the program ends, what a terminal sends at Ctrl-C ends the program, not us, and what
    /// else asks us to end is passed on to it. After that it ends us; before, `leave` gets the
    /// folder.
    ///
    /// # Errors
    /// The library cannot be written, or the program not be started.
    pub fn start(
        command: &[OsString],
        folder: &Path,
        most_bytes: Option<u64>,
        stacks: Option<Stacks>,
        leave: impl Fn(&Path) + Send + 'static,
    ) -> Result<Self, StartError> {
        let (folder, library, elsewhere) = made(folder).map_err(StartError::Write)?;
        Self::start_with(
            command,
            (folder, library, elsewhere),
            (most_bytes, stacks),
            leave,
        )
        .map_err(StartError::Run)
    }

    fn start_with(
        command: &[OsString],
        (folder, library, elsewhere): Place,
        (most_bytes, stacks): (Option<u64>, Option<Stacks>),
        leave: impl Fn(&Path) + Send + 'static,
    ) -> io::Result<Self> {
        let mut preload = library.clone().into_os_string();
        if let Some(others) = env::var_os("LD_PRELOAD").filter(|others| !others.is_empty()) {
            preload.push(":");
            preload.push(others);
        }
        let [program, arguments @ ..] = command else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let mut signals = Signals::new([SIGINT, SIGQUIT, SIGTERM, SIGHUP])?;
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env("LD_PRELOAD", preload)
            .env(name(log::FOLDER), &folder);
        if let Some(bytes) = most_bytes {
            command.env(name(log::MAX_BYTES), bytes.to_string());
        }
        if let Some(Stacks { depth, unwinding }) = stacks {
            let by = match unwinding {
                Unwinding::Tables => "",
                Unwinding::FramePointers => log::stacks::BY_POINTERS,
                Unwinding::Compared => log::stacks::COMPARED,
            };
            command.env(name(log::STACKS), format!("{depth}{by}"));
        }
        let child = command.spawn()?;
        let pid = child.id();
        let has_ended = Arc::new(AtomicBool::new(false));
        let ended = wait_for(child, Arc::clone(&has_ended));
        let logs = folder.clone();
        thread::spawn(move || {
            for signal in signals.forever() {
                if has_ended.load(Ordering::Acquire) {
                    leave(&logs);
                    // It ends this process.
                    let _ = emulate_default_handler(signal);
                } else {
                    pass_on(signal, pid);
                }
            }
        });
        Ok(Self {
            folder,
            library,
            pid,
            ended,
            seen: Cell::default(),
            _elsewhere: elsewhere,
        })
    }

    /// The process of the program.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Waits until the program ends, for `at_most` if given; `None` if it runs then.
    ///
    /// # Errors
    /// The system does not say how it ended.
    pub fn wait(&self, at_most: Option<Duration>) -> io::Result<Option<ExitStatus>> {
        let begun = Instant::now();
        loop {
            let left = at_most.map(|time| time.saturating_sub(begun.elapsed()));
            let pause = left.map_or(LOOK_EVERY, |left| left.min(LOOK_EVERY));
            match self.ended.recv_timeout(pause) {
                Ok(ended) => {
                    let (status, seen) = ended?;
                    self.note(seen);
                    return Ok(Some(status));
                }
                Err(RecvTimeoutError::Timeout) => self.note(Outside::of(self.pid)),
                Err(RecvTimeoutError::Disconnected) => {
                    let lost = "the thread that waits for the program ended";
                    return Err(io::Error::other(lost));
                }
            }
            if left.is_some_and(|left| left <= LOOK_EVERY) {
                return Ok(None);
            }
        }
    }

    fn note(&self, seen: Outside) {
        self.seen.set(self.seen.get().max(seen));
    }

    /// What the program had taken when it was looked at last: while [`Session::wait`] waits, and
    /// when it ends.
    #[must_use]
    pub fn seen(&self) -> Outside {
        self.seen.get()
    }

    /// The processes that run and belong to the recording, whether they have a log or not.
    #[must_use]
    pub fn living(&self) -> Vec<Living> {
        living::with(&self.library)
    }

    /// Ends the recording of every process that still runs; they go on.
    ///
    /// # Errors
    /// A log cannot be written.
    pub fn stop(&self) -> io::Result<()> {
        File::create(self.folder.join(log::STOP))?;
        for log in logs(&self.folder)? {
            let file = OpenOptions::new().write(true).open(log)?;
            file.write_all_at(&1_u32.to_ne_bytes(), offset_of!(Header, stop) as u64)?;
        }
        Ok(())
    }
}

/// The folder of the logs, the library, and the library's folder if that is another one.
type Place = (PathBuf, PathBuf, Option<TempDir>);

/// Writes what the recorder needs.
fn made(folder: &Path) -> io::Result<Place> {
    let folder = fs::canonicalize(folder)?;
    let elsewhere = elsewhere(&folder)?;
    let place = elsewhere.as_ref().map_or(&*folder, TempDir::path);
    let library = place.join(log::LIBRARY_NAME);
    fs::write(&library, LIBRARY)?;
    lost::make_page(&folder)?;
    Ok((folder, library, elsewhere))
}

fn name(text: &std::ffi::CStr) -> &OsStr {
    OsStr::new(text.to_str().expect("plain letters"))
}

/// A folder for the library, where its name can stand in LD_PRELOAD: `None` if it can in `folder`.
fn elsewhere(folder: &Path) -> io::Result<Option<TempDir>> {
    // The loader takes both for the end of a name, and knows no way to write them.
    let can_stand = |path: &Path| {
        let mut bytes = path.as_os_str().as_bytes().iter();
        !bytes.any(|byte| byte.is_ascii_whitespace() || *byte == b':')
    };
    if can_stand(folder) {
        return Ok(None);
    }
    // By the name that the system shows of a library that a process has.
    let other = tempfile::Builder::new()
        .prefix("surefit-record-")
        .tempdir_in(fs::canonicalize(env::temp_dir())?)?;
    if can_stand(other.path()) {
        return Ok(Some(other));
    }
    Err(io::Error::other(format!(
        "neither {} nor {} can be preloaded from: each has a blank or a colon in its name; choose \
         another place with -o, or another TMPDIR",
        folder.display(),
        other.path().display()
    )))
}

/// Waits for the program in a thread, which sets `has_ended` before the process's number can be
/// another's.
fn wait_for(
    mut child: Child,
    has_ended: Arc<AtomicBool>,
) -> Receiver<io::Result<(ExitStatus, Outside)>> {
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        let ends = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Some(pid) = process(child.id()) {
            // A signal may interrupt it.
            if !matches!(waitid(WaitId::Pid(pid), ends), Err(Errno::INTR)) {
                break;
            }
        }
        has_ended.store(true, Ordering::Release);
        let seen = Outside::of(child.id());
        // Nobody listens any more if we end before the program does.
        drop(send.send(child.wait().map(|status| (status, seen))));
    });
    receive
}

fn process(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

/// Whether a process runs, or at least has not been waited for.
#[must_use]
pub fn runs(pid: u32) -> bool {
    process(pid).is_some_and(|pid| test_kill_process(pid) != Err(Errno::SRCH))
}

/// A terminal sends Ctrl-C to all its processes, so to the program too; other signals are for us.
fn pass_on(signal: i32, pid: u32) {
    let signal = match signal {
        SIGTERM => Signal::TERM,
        SIGHUP => Signal::HUP,
        _ => return,
    };
    if let Some(pid) = process(pid) {
        // It may have ended meanwhile, but nobody has waited for it.
        let _ = kill_process(pid, signal);
    }
}

/// The logs in a folder, in the order in which each process began its own.
///
/// # Errors
/// The folder cannot be read.
pub fn logs(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let stem = path.file_stem().and_then(OsStr::to_str).unwrap_or_default();
        let numbers = stem.split_once('-').and_then(|(pid, number)| {
            Some((pid.parse::<u32>().ok()?, number.parse::<u32>().ok()?))
        });
        if let (Some(numbers), Some("log")) = (numbers, path.extension().and_then(OsStr::to_str)) {
            found.push((numbers, path));
        }
    }
    found.sort();
    Ok(found.into_iter().map(|(_, path)| path).collect())
}
