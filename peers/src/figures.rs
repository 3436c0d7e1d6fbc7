//! What the process took, as it says itself just before it ends.

use std::fs;

/// Where Linux says how much memory a process has, and had.
const STATUS: &str = "/proc/self/status";

/// The line of [`STATUS`] with the most resident memory so far, in KiB.
const PEAK: &str = "VmHWM:";

/// One line for stderr: `cpu_ns=… peak_bytes=…`, and `collections=…` if there is a number.
pub(crate) fn line(collections: Option<u64>) -> Result<String, String> {
    let figures = format!("cpu_ns={} peak_bytes={}", cpu_ns(), peak_bytes()?);
    Ok(match collections {
        Some(count) => format!("{figures} collections={count}"),
        None => figures,
    })
}

/// Processor time of all threads, ended ones too, in nanoseconds.
fn cpu_ns() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the clock writes to the one `timespec` that it is handed; this clock is there on
    // every Linux.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    assert_eq!(status, 0, "Linux has this clock");
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

/// The most resident memory so far (`VmHWM`), in bytes.
fn peak_bytes() -> Result<u64, String> {
    let status = fs::read_to_string(STATUS).map_err(|error| format!("{STATUS}: {error}"))?;
    let line = status.lines().find_map(|line| line.strip_prefix(PEAK));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kib.map(|kib| kib << 10)
        .ok_or(format!("{STATUS} has no {PEAK}"))
}

#[cfg(test)]
mod tests {
    use super::{cpu_ns, peak_bytes};

    #[test]
    fn the_peak_grows_with_what_is_touched_and_stays() {
        let before = peak_bytes().expect("Linux");
        let touched = vec![1_u8; 16 << 20];
        drop(std::hint::black_box(touched));
        assert!(peak_bytes().expect("Linux") >= before + (8 << 20));
    }

    #[test]
    fn processor_time_passes() {
        let before = cpu_ns();
        let sum: u64 = (0..1_000_000).map(std::hint::black_box).sum();
        assert!(sum > 0 && cpu_ns() > before);
    }
}
