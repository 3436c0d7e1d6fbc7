//! What a recorded process has taken: processor time and memory.

use std::fs;
use std::mem::offset_of;

use crate::bytes::word;
use crate::log::{Header, Seen};

/// What a process said of itself in its log: see [`Seen`]. What it did not see is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inside {
    /// When the program began, by the system's clock, in nanoseconds.
    pub begun_ns: u64,
    /// From the program's begin until it saw itself last, in nanoseconds.
    pub wall_ns: u64,
    /// Processor time between these, in nanoseconds.
    pub cpu_ns: u64,
    /// The most resident bytes, without the log.
    pub peak_resident_bytes: u64,
    /// Resident anonymous bytes when the program began, and the most of them.
    pub anonymous_bytes: (u64, u64),
    /// Whether it saw itself end.
    pub is_last: bool,
}

impl Inside {
    pub(crate) fn read(header: &[u8]) -> Self {
        let of = |at| word(header, offset_of!(Header, seen) + at);
        Self {
            begun_ns: of(offset_of!(Seen, begun_ns)),
            wall_ns: of(offset_of!(Seen, wall_ns)),
            cpu_ns: of(offset_of!(Seen, cpu_ns)),
            peak_resident_bytes: of(offset_of!(Seen, peak_resident_bytes)),
            anonymous_bytes: (
                of(offset_of!(Seen, begun_anonymous_bytes)),
                of(offset_of!(Seen, anonymous_bytes)),
            ),
            is_last: of(offset_of!(Seen, is_last)) != 0,
        }
    }
}

/// What the system says of a process to others. What it does not say is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outside {
    /// Processor time so far, in nanoseconds, in steps of ten milliseconds.
    pub cpu_ns: u64,
    /// The most resident bytes, the log among them.
    pub peak_resident_bytes: u64,
    /// Resident anonymous bytes.
    pub anonymous_bytes: u64,
}

/// Nanoseconds of the unit in which the system counts processor time for users.
const TICK_NS: u64 = 10_000_000;

impl Outside {
    /// A process now. One that has ended, and that nobody has waited for, still has its time.
    #[must_use]
    pub fn of(pid: u32) -> Self {
        let read = |file: &str| fs::read_to_string(format!("/proc/{pid}/{file}"));
        let status = read("status").unwrap_or_default();
        let memory = |name: &str| {
            let mut lines = status.lines();
            let value = lines.find_map(|line| line.strip_prefix(name))?;
            let kib: u64 = value.split_whitespace().next()?.parse().ok()?;
            Some(kib * 1024)
        };
        Self {
            cpu_ns: ticks(&read("stat").unwrap_or_default()).unwrap_or(0) * TICK_NS,
            peak_resident_bytes: memory("VmHWM:").unwrap_or(0),
            anonymous_bytes: memory("RssAnon:").unwrap_or(0),
        }
    }

    /// The greater of both, part by part.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self {
            cpu_ns: self.cpu_ns.max(other.cpu_ns),
            peak_resident_bytes: self.peak_resident_bytes.max(other.peak_resident_bytes),
            anonymous_bytes: self.anonymous_bytes.max(other.anonymous_bytes),
        }
    }
}

/// User and system time: the 12th and 13th word behind the program's name, which may have blanks.
fn ticks(stat: &str) -> Option<u64> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut words = rest.split_whitespace().skip(11).map(str::parse::<u64>);
    Some(words.next()?.ok()? + words.next()?.ok()?)
}

#[cfg(test)]
mod tests {
    use super::{Outside, ticks};

    #[test]
    fn times_are_behind_the_name_whatever_that_is() {
        let stat = "7 (a) b (c)) S 1 7 7 0 -1 4194560 1 2 3 4 30 12 9 9 20 0 1 0";
        assert_eq!(ticks(stat), Some(42));
        assert_eq!(ticks("7 (a) S 1 7"), None);
        assert_eq!(ticks(""), None);
    }

    #[test]
    fn this_process_has_memory_and_none_has_nothing() {
        let own = Outside::of(std::process::id());
        assert!(own.anonymous_bytes > 0 && own.peak_resident_bytes > own.anonymous_bytes);
        assert_eq!(Outside::of(u32::MAX), Outside::default());
        assert_eq!(own.max(Outside::default()), own);
    }
}
