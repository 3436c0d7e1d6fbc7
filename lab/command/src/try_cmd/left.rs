//! Processes that a program leaves behind: a script's program after the script, a server in the
//! background.
//!
//! Nobody counts what they take, and they are in the way of the next run: they hold its ports. So
//! they become children of this command, which ends them, and says so.

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
const GRACE: Duration = Duration::from_secs(1);

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
    if all_end(GRACE) {
        return Ok(());
    }
    let names: Vec<_> = children().into_iter().map(|child| child.name).collect();
    signal(Signal::TERM);
    if !all_end(PATIENCE) {
        signal(Signal::KILL);
        all_end(PATIENCE);
    }
    let Some(first) = names.first() else {
        return Ok(());
    };
    bail!(
        "{program} ended, but {first}, which it had started, went on, and was ended now; its time \
         and memory do not count: let a script exec its program, and keep a server in the \
         foreground"
    );
}

/// Whether nothing is left within so long.
fn all_end(within: Duration) -> bool {
    let begun = Instant::now();
    loop {
        for child in children() {
            // One that has ended is gone after this.
            let _ = waitpid(Some(child.pid), WaitOptions::NOHANG);
        }
        if children().is_empty() {
            return true;
        }
        if begun.elapsed() > within {
            return false;
        }
        thread::sleep(LOOK);
    }
}

fn signal(signal: Signal) {
    for child in children() {
        // It may have ended meanwhile.
        let _ = kill_process(child.pid, signal);
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
