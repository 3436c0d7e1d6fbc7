//! Processes that a program leaves behind: a script's program after the script, a server in the
//! background.
//!
//! Nobody counts what they take, and they are in the way of the next run: they hold its ports. So
//! they become children of this command, which ends them, and says so.

use std::collections::HashSet;
use std::fs;
use std::process;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use rustix::process::{
    Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid,
};
use surefit_measure::error::one_line;

/// How long they may take to end by themselves, as helpers do whose program has ended.
const GRACE: Duration = Duration::from_secs(3);

/// How long they may take when they are asked to.
const PATIENCE: Duration = Duration::from_secs(10);

/// The time between two looks at them.
const LOOK: Duration = Duration::from_millis(5);

/// Makes this process the parent of what its programs leave behind.
pub(super) fn adopt() -> Result<()> {
    set_child_subreaper(Some(getpid())).context("processes left behind cannot be adopted")
}

/// Waits for what a program has left behind; what goes on is ended.
///
/// # Errors
/// Something went on: its name.
pub(super) fn nothing(program: &str) -> Result<()> {
    let left = wait(GRACE, None);
    let Some(first) = left.first() else {
        return Ok(());
    };
    let ended = wait(PATIENCE, Some(Signal::TERM)).is_empty()
        || wait(PATIENCE, Some(Signal::KILL)).is_empty();
    let now = match ended {
        true => "was ended now",
        false => "cannot be ended",
    };
    bail!(
        "{program} ended, but {} went on, and {now}; its time and memory do not count: let a \
         script exec its program, and keep a server in the foreground",
        first.name
    );
}

/// Waits so long, at most, until nothing is left, and returns what is. Each process gets the signal
/// once, also one that is left when its own parent has ended.
fn wait(most: Duration, signal: Option<Signal>) -> Vec<Child> {
    let begun = Instant::now();
    let mut asked = HashSet::new();
    loop {
        for child in children() {
            // One that has ended is gone after this.
            let _ = waitpid(Some(child.pid), WaitOptions::NOHANG);
            if let Some(signal) = signal.filter(|_| asked.insert(child.pid)) {
                // It may have ended meanwhile.
                let _ = kill_process(child.pid, signal);
            }
        }
        let left = children();
        if left.is_empty() || begun.elapsed() > most {
            return left;
        }
        thread::sleep(LOOK);
    }
}

struct Child {
    pid: Pid,
    name: String,
}

/// The children of this process.
fn children() -> Vec<Child> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    numbers.filter_map(child).collect()
}

/// The process of a number, if it is a child of this one.
fn child(number: i32) -> Option<Child> {
    let stat = fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
    let (name, rest) = parts(&stat)?;
    // After the name: the state, and the parent.
    let parent: u32 = rest.split_ascii_whitespace().nth(1)?.parse().ok()?;
    (parent == process::id()).then_some(Child {
        pid: Pid::from_raw(number)?,
        name: format!("{} (process {number})", one_line(name)),
    })
}

/// The name of a process, which may have any characters in it, and what follows.
fn parts(stat: &str) -> Option<(&str, &str)> {
    let (_, name) = stat.split_once('(')?;
    name.rsplit_once(')')
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn a_name_ends_at_the_last_bracket() {
        assert_eq!(parts("7 (a) b) S 1 7"), Some(("a) b", " S 1 7")));
        assert_eq!(parts("7"), None);
    }
}
