//! What this process has taken so far, written into the log's header.

use core::sync::atomic::{AtomicU64, Ordering};

use surefit_interpose::system;

use crate::log::{HEADER_BYTES, Header, SLOT_BYTES};

/// The program begins, or a copy of one does.
pub(crate) fn begins(header: &Header) {
    let seen = &header.seen;
    let memory = Memory::now();
    let put = |to: &AtomicU64, value: u64| to.store(value, Ordering::Relaxed);
    put(&seen.begun_ns, now_ns());
    put(&seen.begun_cpu_ns, clock(system::CLOCK_PROCESS_CPUTIME_ID));
    put(&seen.begun_anonymous_bytes, memory.anonymous_bytes);
}

/// Notes what it has taken by now.
pub(crate) fn look(header: &Header) {
    let seen = &header.seen;
    let memory = Memory::now();
    let log_bytes = HEADER_BYTES as u64 + header.ready.load(Ordering::Relaxed) * SLOT_BYTES as u64;
    let resident = memory.peak_bytes.saturating_sub(log_bytes);
    let raise = |to: &AtomicU64, value: u64| {
        to.fetch_max(value, Ordering::Relaxed);
    };
    raise(
        &seen.peak_resident_bytes,
        resident.max(memory.anonymous_bytes),
    );
    raise(&seen.anonymous_bytes, memory.anonymous_bytes);
    let since = |begin: &AtomicU64, of| clock(of).saturating_sub(begin.load(Ordering::Relaxed));
    raise(
        &seen.wall_ns,
        since(&seen.begun_ns, system::CLOCK_MONOTONIC),
    );
    let cpu = since(&seen.begun_cpu_ns, system::CLOCK_PROCESS_CPUTIME_ID);
    raise(&seen.cpu_ns, cpu);
}

/// The system's clock, in nanoseconds.
pub(crate) fn now_ns() -> u64 {
    clock(system::CLOCK_MONOTONIC)
}

/// A clock of the system, in nanoseconds; 0 if there is none.
fn clock(of: core::ffi::c_int) -> u64 {
    let mut time = [0; 2];
    // SAFETY: a place for seconds and nanoseconds.
    unsafe { system::clock_gettime(of, &raw mut time) };
    time[0].unsigned_abs() * 1_000_000_000 + time[1].unsigned_abs()
}

/// What the system says of this process's memory; 0 where it does not.
#[derive(Default)]
struct Memory {
    /// The most bytes that were resident, the log among them.
    peak_bytes: u64,
    anonymous_bytes: u64,
}

impl Memory {
    fn now() -> Self {
        let mut bytes = [0; 2048];
        let flags = system::O_RDONLY | system::O_CLOEXEC;
        // SAFETY: a text that ends with zero.
        let file = unsafe { system::open(c"/proc/self/status".as_ptr(), flags) };
        if file < 0 {
            return Self::default();
        }
        // SAFETY: so many bytes can be written; the file was opened above.
        let count = unsafe {
            let count = system::read(file, bytes.as_mut_ptr().cast(), bytes.len());
            system::close(file);
            count
        };
        let text = &bytes[..usize::try_from(count).unwrap_or(0)];
        let of = |name: &[u8]| {
            let mut lines = text.split(|byte| *byte == b'\n');
            lines
                .find_map(|line| kib(line.strip_prefix(name)?))
                .unwrap_or(0)
                * 1024
        };
        Self {
            peak_bytes: of(b"VmHWM:"),
            anonymous_bytes: of(b"RssAnon:"),
        }
    }
}

/// The number of `\t    1234 kB`.
fn kib(text: &[u8]) -> Option<u64> {
    let digits = text.trim_ascii().split(|byte| *byte == b' ').next()?;
    core::str::from_utf8(digits).ok()?.parse().ok()
}
