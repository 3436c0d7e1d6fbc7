//! The page faults of the calling thread: how often it waited for the kernel to provide a page.

use crate::OsError;

/// The page faults of the calling thread so far, with and without reading from a disk.
///
/// # Errors
/// [`OsError::Residency`] where the kernel does not count them per thread (only Linux does).
///
/// # Complexity
/// One system call.
#[cfg(target_os = "linux")]
pub fn of_this_thread() -> Result<u64, OsError> {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: `usage` is a valid place for the call to write.
    let status = unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) };
    if status != 0 {
        let source = std::io::Error::last_os_error();
        return Err(OsError::Residency { source });
    }
    // SAFETY: the call filled it; zeros are numbers as well.
    let usage = unsafe { usage.assume_init() };
    // The kernel's counters are not negative.
    let count = |faults| u64::try_from(faults).unwrap_or(0);
    Ok(count(usage.ru_minflt) + count(usage.ru_majflt))
}

/// As on Linux, where this counts.
///
/// # Errors
/// [`OsError::Residency`], always.
#[cfg(not(target_os = "linux"))]
pub fn of_this_thread() -> Result<u64, OsError> {
    let source = std::io::ErrorKind::Unsupported.into();
    Err(OsError::Residency { source })
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::of_this_thread;
    use crate::{Reservation, page_bytes};

    #[test]
    fn each_page_that_is_touched_first_is_a_fault() {
        let mut region = Reservation::new(100 * page_bytes()).expect("memory");
        let touch = |region: &mut Reservation| {
            let before = of_this_thread().expect("Linux counts");
            for page in region.memory().chunks_mut(page_bytes()) {
                page[0].write(1);
            }
            of_this_thread().expect("Linux counts") - before
        };
        assert!(touch(&mut region) >= 100);
        assert_eq!(touch(&mut region), 0);
    }
}
