//! The resident memory of a process over time.

use std::fs;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::process::Pid;

/// The time between two looks.
const LOOK: Duration = Duration::from_millis(10);

/// With fewer looks the mean says nothing.
const LEAST: u64 = 20;

/// Looks at a process until it is asked for the mean.
pub(super) struct Sampler {
    stop: Sender<()>,
    looks: JoinHandle<Looks>,
}

#[derive(Clone, Copy, Default)]
struct Looks {
    count: u64,
    kibibytes: u64,
}

impl Looks {
    fn mean_bytes(self) -> Option<u64> {
        let mean = self.kibibytes.checked_div(self.count)?;
        (self.count >= LEAST).then(|| mean.saturating_mul(1024))
    }
}

impl Sampler {
    /// Begins to look at a process.
    pub(super) fn start(pid: Pid) -> Self {
        let (stop, stopped) = mpsc::channel();
        let file = format!("/proc/{}/status", pid.as_raw_pid());
        let looks = thread::spawn(move || {
            let mut looks = Looks::default();
            while stopped.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                // A process that has ended has no memory, and is looked at no more.
                let Some(kibibytes) = fs::read_to_string(&file).ok().and_then(|it| resident(&it))
                else {
                    break;
                };
                looks.count += 1;
                looks.kibibytes += kibibytes;
            }
            looks
        });
        Self { stop, looks }
    }

    /// The mean over all looks; `None` if they were few.
    pub(super) fn mean(self) -> Option<u64> {
        drop(self.stop);
        self.looks.join().ok()?.mean_bytes()
    }
}

/// The resident memory that the lines of a process's `status` state, in KiB; one that has ended has
/// none.
fn resident(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{LEAST, Looks, resident};

    #[test]
    fn a_process_that_has_ended_has_no_memory() {
        let status = "Name:\ta\nVmHWM:\t  900 kB\nVmRSS:\t  120 kB\n";
        assert_eq!(resident(status), Some(120));
        assert_eq!(resident("Name:\ta\nState:\tZ (zombie)\n"), None);
    }

    #[test]
    fn few_looks_have_no_mean() {
        let looks = |count| Looks {
            count,
            kibibytes: 7 * count,
        };
        assert_eq!(looks(LEAST - 1).mean_bytes(), None);
        assert_eq!(looks(LEAST).mean_bytes(), Some(7 << 10));
        assert_eq!(Looks::default().mean_bytes(), None);
    }
}
