//! How much memory this process holds, as the kernel counts it.

use std::fs;
use std::io;

use crate::OsError;

/// The bytes of this process that are resident now.
///
/// # Errors
/// [`OsError::Residency`] where the kernel does not report it (only Linux does).
pub fn bytes_now() -> Result<usize, OsError> {
    field("VmRSS:")
}

/// The most bytes of this process that were resident at once since [`reset_peak`], or since the
/// process started.
///
/// # Errors
/// [`OsError::Residency`] where the kernel does not report it (only Linux does).
pub fn peak_bytes() -> Result<usize, OsError> {
    field("VmHWM:")
}

/// Resets the peak to the bytes that are resident now.
///
/// # Errors
/// [`OsError::Residency`] where the kernel does not allow it.
pub fn reset_peak() -> Result<(), OsError> {
    fs::write("/proc/self/clear_refs", "5").map_err(|source| OsError::Residency { source })
}

/// The bytes that the system can still give to this process without swapping, within the process's
/// limit of address space.
///
/// # Errors
/// [`OsError::Residency`] where the kernel does not report it (only Linux does).
pub fn available_bytes() -> Result<usize, OsError> {
    let read = |file| fs::read_to_string(file).map_err(|source| OsError::Residency { source });
    let line = "MemAvailable:";
    let available = kibibytes(&read("/proc/meminfo")?, line).ok_or_else(|| missing(line))?;
    let Some(limit) = address_space(&read("/proc/self/limits")?) else {
        return Ok(available);
    };
    Ok(available.min(limit.saturating_sub(field("VmSize:")?)))
}

/// The limit of address space in bytes, if any, from a line such as
/// `Max address space  4096  unlimited  bytes`.
fn address_space(limits: &str) -> Option<usize> {
    let prefix = "Max address space";
    let line = limits.lines().find_map(|line| line.strip_prefix(prefix))?;
    line.split_whitespace().next()?.parse().ok()
}

fn field(name: &str) -> Result<usize, OsError> {
    let status =
        fs::read_to_string("/proc/self/status").map_err(|source| OsError::Residency { source })?;
    kibibytes(&status, name).ok_or_else(|| missing(name))
}

fn missing(line: &str) -> OsError {
    OsError::Residency {
        source: io::Error::new(io::ErrorKind::InvalidData, format!("no {line} line")),
    }
}

/// The value of a line such as `VmRSS:   123 kB`, in bytes.
fn kibibytes(status: &str, name: &str) -> Option<usize> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let number = line.trim().strip_suffix("kB")?.trim();
    number.parse::<usize>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::{address_space, kibibytes};

    #[test]
    fn the_limit_of_address_space_is_the_soft_one() {
        let limits =
            |soft| format!("Limit  Soft\nMax address space    {soft}   unlimited  bytes\n");
        assert_eq!(address_space(&limits("4096")), Some(4096));
        assert_eq!(address_space(&limits("unlimited")), None);
        assert_eq!(address_space(""), None);
    }

    #[test]
    fn a_line_of_kibibytes_is_read_in_bytes() {
        let status = "Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\n";
        assert_eq!(kibibytes(status, "VmHWM:"), Some(2 << 20));
        assert_eq!(kibibytes(status, "VmRSS:"), Some(1 << 20));
        assert_eq!(kibibytes(status, "VmData:"), None);
        for wrong in [
            "VmRSS:",
            "VmRSS: kB",
            "VmRSS: -1 kB",
            "VmRSS: 99999999999999999999 kB",
            "VmRSS: 18446744073709551615 kB",
        ] {
            assert_eq!(kibibytes(wrong, "VmRSS:"), None, "{wrong}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_is_resident() {
        assert!(super::bytes_now().expect("Linux says") > 0);
        assert!(super::peak_bytes().expect("Linux says") > 0);
        assert!(super::available_bytes().expect("Linux says") > 0);
    }
}
