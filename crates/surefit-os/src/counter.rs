//! The instructions of the calling thread, counted by the processor.
//!
//! The count is exact: unlike a clock it does not depend on other programs, on caches or on the
//! processor's speed. Not every machine has such a counter: virtual machines and containers often
//! hide it.

use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::OsError;

/// The attributes of a counter, as the first version of the interface has them; later versions
/// accept them.
#[derive(Default)]
#[repr(C)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint: u32,
    address: u64,
}

const _: () = assert!(
    size_of::<Attributes>() == 64,
    "the interface's first version"
);

/// A counter of the hardware.
const HARDWARE: u32 = 0;
/// It counts instructions.
const INSTRUCTIONS: u64 = 1;
/// It is never shared with other counters; it counts neither the kernel nor a hypervisor.
const PINNED_WITHOUT_KERNEL: u64 = 1 << 2 | 1 << 5 | 1 << 6;

/// No child process inherits the counter.
const CLOSE_ON_EXEC: libc::c_ulong = 1 << 3;

/// A counter of the instructions that the thread which opened it executes outside the kernel.
#[derive(Debug)]
pub struct Instructions(OwnedFd);

impl Instructions {
    /// Opens a counter for the calling thread.
    ///
    /// # Errors
    /// [`OsError::Counter`] if the machine has no such counter, or does not let this process use
    /// it.
    ///
    /// # Complexity
    /// Three system calls.
    pub fn open() -> Result<Self, OsError> {
        let attributes = Attributes {
            kind: HARDWARE,
            size: size_of::<Attributes>() as u32,
            config: INSTRUCTIONS,
            flags: PINNED_WITHOUT_KERNEL,
            ..Attributes::default()
        };
        let (this_thread, any_processor, no_group) = (0, -1, -1);
        // a long word, as the kernel reads it
        let flags: libc::c_ulong = CLOSE_ON_EXEC;
        // SAFETY: the attributes are valid, as long as they say, and outlive the call.
        let descriptor = unsafe {
            libc::syscall(
                libc::SYS_perf_event_open,
                &raw const attributes,
                this_thread,
                any_processor,
                no_group,
                flags,
            )
        };
        let Ok(descriptor @ 0..) = i32::try_from(descriptor) else {
            return Err(OsError::Counter {
                source: io::Error::last_os_error(),
            });
        };
        // SAFETY: the call made this descriptor, and nobody else has it.
        let counter = Self(unsafe { OwnedFd::from_raw_fd(descriptor) });
        match (counter.read(), counter.read()) {
            (Some(first), Some(second)) if first < second => Ok(counter),
            _ => Err(OsError::Counter {
                source: io::ErrorKind::Unsupported.into(),
            }),
        }
    }

    /// The instructions so far, since the counter was opened; `None` if the machine has taken the
    /// counter away. Two readings in a row differ by the same small number each time.
    ///
    /// # Complexity
    /// One system call.
    #[inline]
    #[must_use]
    pub fn read(&self) -> Option<u64> {
        let mut count = [0_u8; 8];
        // SAFETY: the descriptor is open, and the eight bytes are ours to write.
        let bytes = unsafe { libc::read(self.0.as_raw_fd(), count.as_mut_ptr().cast(), 8) };
        (bytes == 8).then(|| u64::from_ne_bytes(count))
    }
}

#[cfg(test)]
mod tests {
    use super::Instructions;

    #[test]
    fn the_same_work_takes_the_same_instructions_where_they_are_counted() {
        let Ok(counter) = Instructions::open() else {
            return;
        };
        let mut counts: Vec<_> = (0..100)
            .map(|_| {
                let before = counter.read().expect("open");
                let sum: u64 = std::hint::black_box([1_u64; 64]).iter().sum();
                std::hint::black_box(sum);
                counter.read().expect("open") - before
            })
            .collect();
        counts.sort_unstable();
        assert!(counts[0] >= 64 && counts[50] == counts[10], "{counts:?}");
    }
}
