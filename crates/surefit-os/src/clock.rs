//! The processor time of the calling thread, and of the whole process.
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
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// The processor time that all threads of this process have used, in nanoseconds; those that have
/// ended count too.
///
/// # Panics
/// If the system has no such clock. Linux has one.
///
/// # Complexity
/// One system call.
#[must_use]
pub fn process_cpu_ns() -> u64 {
    read(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// A clock of processor time, in nanoseconds.
fn read(clock: libc::clockid_t) -> u64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `now` is a valid timespec for the call to write; the clock's number is one that Linux
    // defines.
    let status = unsafe { libc::clock_gettime(clock, &raw mut now) };
    assert_eq!(status, 0, "clocks of processor time can be read");
    // The fields of a timespec have 32 bits on 32-bit targets.
    let never_negative = "a processor's time is not negative";
    let seconds = u64::try_from(now.tv_sec).expect(never_negative);
    seconds * 1_000_000_000 + u64::try_from(now.tv_nsec).expect(never_negative)
}

#[cfg(test)]
mod tests {
    use super::{process_cpu_ns, thread_cpu_ns};

    #[test]
    fn processor_time_never_runs_backwards() {
        let before = thread_cpu_ns();
        assert!(thread_cpu_ns() >= before);
    }

    #[test]
    fn a_process_counts_a_thread_that_has_ended() {
        let before = process_cpu_ns();
        let work = || (0..100_000_u64).map(std::hint::black_box).sum::<u64>();
        let thread = std::thread::spawn(move || {
            std::hint::black_box(work());
            thread_cpu_ns()
        });
        let of_thread = thread.join().expect("no panic");
        assert!(process_cpu_ns() - before >= of_thread);
    }
}
