//! What a child process took, when it has ended.

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ExitStatus};

/// What a child took, and those of its own children for which it waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Processor time, user and system, in nanoseconds.
    pub cpu_ns: u64,
    /// The most bytes that were resident at once, of one of these processes. Not less than what
    /// this process had when it began the child: until it begins its program, that is its memory.
    pub peak_resident_bytes: u64,
}

/// Waits until a child ends; says how it ended, and what it took. Its standard input is closed
/// first, if it is a pipe that this process has: a child that reads to the end ends too.
///
/// # Errors
/// Somebody else has waited for it.
///
/// # Complexity
/// One system call, more if signals interrupt it.
pub fn wait(mut child: Child) -> io::Result<(ExitStatus, Taken)> {
    drop(child.stdin.take());
    let pid = libc::pid_t::try_from(child.id()).map_err(io::Error::other)?;
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    let mut status = 0;
    loop {
        // SAFETY: both are valid places for the call to write.
        let waited = unsafe { libc::wait4(pid, &raw mut status, 0, usage.as_mut_ptr()) };
        if waited == pid {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    // SAFETY: the call filled it; zeros are numbers as well.
    let usage = unsafe { usage.assume_init() };
    Ok((
        ExitStatus::from_raw(status),
        Taken {
            cpu_ns: ns(usage.ru_utime) + ns(usage.ru_stime),
            peak_resident_bytes: u64::try_from(usage.ru_maxrss).unwrap_or(0) * UNIT,
        },
    ))
}

/// The bytes of which the kernel counts the peak.
const UNIT: u64 = if cfg!(target_os = "macos") { 1 } else { 1024 };

fn ns(time: libc::timeval) -> u64 {
    // Times of processes are not negative.
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let micros = u64::try_from(time.tv_usec).unwrap_or(0);
    seconds * 1_000_000_000 + micros * 1000
}

#[cfg(test)]
mod tests {
    use super::wait;
    use std::process::{Command, Stdio};

    #[test]
    fn a_child_ends_as_it_says_and_has_taken_something() {
        let shell = |text| Command::new("sh").args(["-c", text]).spawn().expect("sh");
        let (status, taken) = wait(shell("exit 3")).expect("ours");
        assert_eq!(status.code(), Some(3));
        // No program needs less, and none that begins and ends so much: the kernel counts KiB.
        let kib = taken.peak_resident_bytes >> 10;
        assert!((64..16 << 20).contains(&kib), "{kib} KiB");
        let busy = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";
        let (status, more) = wait(shell(busy)).expect("ours");
        assert!(status.success() && more.cpu_ns > 0);
    }

    #[test]
    fn a_child_that_reads_to_the_end_ends() {
        let mut cat = Command::new("cat");
        let cat = cat.stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
        let (status, _) = wait(cat.expect("cat")).expect("ours");
        assert!(status.success());
    }
}
