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
    // The fields of a timespec have 32 bits on 32-bit targets.
    let never_negative = "a thread's time is not negative";
    let seconds = u64::try_from(now.tv_sec).expect(never_negative);
    seconds * 1_000_000_000 + u64::try_from(now.tv_nsec).expect(never_negative)
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
