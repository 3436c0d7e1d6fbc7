//! The processor time of the calling thread.
//!
//! On a shared machine the wall clock also counts time in which other programs run while this one
//! waits. The processor time of one thread does not. A pass reads it twice, so the cost of reading
//! does not matter.

/// The processor time that the calling thread has used, in nanoseconds.
///
/// # Panics
/// If the system has no such clock. Linux has one.
///
/// # Complexity
/// One system call.
#[must_use]
pub fn thread_cpu_ns() -> u64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `now` is a valid timespec for the call to write; the clock's number is one that Linux
    // defines.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut now) };
    assert_eq!(status, 0, "the thread's processor clock can be read");
    now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::thread_cpu_ns;

    #[test]
    fn processor_time_never_runs_backwards() {
        let before = thread_cpu_ns();
        assert!(thread_cpu_ns() >= before);
    }
}
