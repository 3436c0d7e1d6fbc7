//! Runs a program with the recorder in it.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::mem::offset_of;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::LIBRARY;
use crate::log::{self, Header};

/// The name of the preloaded library in the folder of logs.
const LIBRARY_NAME: &str = "libsurefit_recorder.so";

/// A file of this name in the folder: no further process is recorded.
const STOP_NAME: &str = "stop";

/// A program that runs, and is recorded.
#[derive(Debug)]
pub struct Session {
    folder: PathBuf,
    pid: u32,
    ended: Receiver<io::Result<ExitStatus>>,
}

impl Session {
    /// Starts a program: `command` is its path, and then its arguments. Logs go into `folder`, which
    /// exists; each may have `most_bytes`.
    ///
    /// From now on what a terminal sends at Ctrl-C ends the program, not us, and what else asks us to
    /// end is passed on to it.
    ///
    /// # Errors
    /// The library cannot be written, or the program not be started.
    pub fn start(command: &[OsString], folder: &Path, most_bytes: Option<u64>) -> io::Result<Self> {
        let folder = fs::canonicalize(folder)?;
        let library = folder.join(LIBRARY_NAME);
        fs::write(&library, LIBRARY)?;
        let mut preload = library.into_os_string();
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
        let child = command.spawn()?;
        let pid = child.id();
        thread::spawn(move || {
            for signal in signals.forever() {
                pass_on(signal, pid);
            }
        });
        Ok(Self {
            folder,
            pid,
            ended: wait_for(child),
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
        let lost = || io::Error::other("the thread that waits for the program ended");
        match at_most {
            None => self.ended.recv().map_err(|_| lost())?.map(Some),
            Some(time) => match self.ended.recv_timeout(time) {
                Ok(status) => status.map(Some),
                Err(RecvTimeoutError::Timeout) => Ok(None),
                Err(RecvTimeoutError::Disconnected) => Err(lost()),
            },
        }
    }

    /// Ends the recording; the program goes on.
    ///
    /// # Errors
    /// A log cannot be written.
    pub fn stop(&self) -> io::Result<()> {
        File::create(self.folder.join(STOP_NAME))?;
        for log in logs(&self.folder)? {
            let file = OpenOptions::new().write(true).open(log)?;
            file.write_all_at(&1_u32.to_ne_bytes(), offset_of!(Header, stop) as u64)?;
        }
        Ok(())
    }
}

fn name(text: &std::ffi::CStr) -> &OsStr {
    OsStr::new(text.to_str().expect("plain letters"))
}

fn wait_for(mut child: Child) -> Receiver<io::Result<ExitStatus>> {
    let (send, receive) = mpsc::channel();
    // Nobody listens any more if we end before the program does.
    thread::spawn(move || drop(send.send(child.wait())));
    receive
}

/// A terminal sends Ctrl-C to all its processes, so to the program too; other signals are for us.
fn pass_on(signal: i32, pid: u32) {
    let signal = match signal {
        SIGTERM => Signal::TERM,
        SIGHUP => Signal::HUP,
        _ => return,
    };
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        // It may have ended meanwhile.
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
