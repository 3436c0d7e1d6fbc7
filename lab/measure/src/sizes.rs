//! Sizes as people write them: bytes, with `K`, `M` or `G`, or a multiple of a trace's peak.

use std::fmt;
use std::str::FromStr;

use anyhow::{Context, Result, bail};

/// No heap begins in fewer bytes.
const LEAST_BYTES: usize = 256;

/// The size of a heap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum HeapSize {
    /// A number of bytes.
    Bytes(usize),
    /// A multiple of the greatest sum of live requests of the trace.
    TimesPeak(f64),
}

impl HeapSize {
    /// The default of `--heap`: four times the peak.
    pub const DEFAULT: Self = Self::TimesPeak(4.0);

    /// Reads what `--heap` gives. Fewer bytes than any heap begins in are refused: who writes 1
    /// means `1x`.
    ///
    /// # Errors
    /// As [`HeapSize::from_str`], or too few bytes, in one line.
    pub fn asked(text: &str) -> Result<Self> {
        match text.parse()? {
            Self::Bytes(bytes) if bytes < LEAST_BYTES => bail!(
                "{bytes} B: no heap begins in so little; write bytes such as 64K or 16M, or a multiple of \
                 the peak live bytes such as 1x or 4x"
            ),
            heap => Ok(heap),
        }
    }

    /// The bytes for a trace whose live requests peak at `peak_bytes`, rounded up to eight.
    #[must_use]
    pub fn bytes(self, peak_bytes: u64) -> usize {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::TimesPeak(times) => (peak_bytes as f64 * times).ceil() as usize,
        }
        .checked_next_multiple_of(8)
        .unwrap_or(usize::MAX - 7)
    }
}

impl FromStr for HeapSize {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let Some(number) = text.strip_suffix(['x', 'X']) else {
            return bytes(text).map(Self::Bytes);
        };
        let times = number.parse().ok();
        match times.filter(|times: &f64| times.is_finite() && (0.001..=1e6).contains(times)) {
            Some(times) => Ok(Self::TimesPeak(times)),
            None => bail!("`{text}` is not a multiple of the peak: write 1.5x, 4x, …"),
        }
    }
}

impl fmt::Display for HeapSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => write!(f, "{}", Size(*bytes as u64)),
            Self::TimesPeak(times) => write!(f, "{times}x"),
        }
    }
}

/// Reads a size such as `4096`, `64K`, `1.5M` or `2G` (powers of 1024), in bytes; from 1 byte to 1
/// TiB.
///
/// # Errors
/// The text is not such a size; the error is one line that shows valid forms.
pub fn bytes(text: &str) -> Result<usize> {
    let (number, shift) = match text.as_bytes().last().map(u8::to_ascii_uppercase) {
        Some(b'K') => (&text[..text.len() - 1], 10),
        Some(b'M') => (&text[..text.len() - 1], 20),
        Some(b'G') => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    let wrong = || format!("`{text}` is not a size: write bytes, or 64K, 1.5M, 2G");
    let value: f64 = number.parse().ok().with_context(wrong)?;
    let bytes = value * f64::from(1_u32 << shift);
    if !(1.0..=1_099_511_627_776.0).contains(&bytes) || bytes.fract() != 0.0 {
        bail!("{}; from 1 byte to 1024G", wrong());
    }
    Ok(bytes as usize)
}

/// Prints bytes for people: `640 B`, `16.4 kB`, `31.3 MB` (decimal units).
#[derive(Clone, Copy, Debug)]
pub struct Size(pub u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            bytes @ 0..10_000 => write!(f, "{bytes} B"),
            bytes @ 10_000..1_000_000 => write!(f, "{:.1} kB", bytes as f64 / 1e3),
            bytes @ 1_000_000..10_000_000_000 => write!(f, "{:.1} MB", bytes as f64 / 1e6),
            bytes => write!(f, "{:.1} GB", bytes as f64 / 1e9),
        }
    }
}

/// Prints a count for people: `865 k`, `5.5 M`.
#[derive(Clone, Copy, Debug)]
pub struct Count(pub u64);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            count @ 0..10_000 => write!(f, "{count}"),
            count @ 10_000..1_000_000 => write!(f, "{:.0} k", count as f64 / 1e3),
            count => write!(f, "{:.1} M", count as f64 / 1e6),
        }
    }
}

/// A count and the thing counted, in the plural unless the count is one.
#[must_use]
pub fn counted(count: u64, thing: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", Count(count))
}

/// The share of a part in a whole, in per cent; 0 if the whole is 0.
#[must_use]
pub fn per_cent(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::{Count, HeapSize, Size, bytes};

    #[test]
    fn sizes_take_units_of_1024() {
        assert_eq!(bytes("4096").ok(), Some(4096));
        assert_eq!(bytes("64K").ok(), Some(64 << 10));
        assert_eq!(bytes("1.5m").ok(), Some(3 << 19));
        assert_eq!(bytes("2G").ok(), Some(2 << 30));
    }

    #[test]
    fn what_is_no_size_is_refused() {
        for text in [
            "", "K", "-1", "0", "1.3", "12Q", "1e40", "nan", "4x", "2000G", "é",
        ] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_heap_may_be_a_multiple_of_the_peak() {
        let heap: HeapSize = "1.5x".parse().expect("valid");
        assert_eq!(heap.bytes(1000), 1504);
        assert_eq!(
            "1M".parse::<HeapSize>().expect("valid").bytes(1000),
            1 << 20
        );
        let most = HeapSize::TimesPeak(1e6).bytes(u64::MAX);
        assert_eq!(most, usize::MAX - 7);
        assert!(
            HeapSize::asked("1")
                .expect_err("too little")
                .to_string()
                .contains("1 B: no heap")
        );
        assert_eq!(HeapSize::asked("1x").ok(), Some(HeapSize::TimesPeak(1.0)));
        assert_eq!(HeapSize::asked("256").ok(), Some(HeapSize::Bytes(256)));
        for text in ["x", "0x", "-2x", "infx", "nanx", "1e9x"] {
            assert!(text.parse::<HeapSize>().is_err(), "{text}");
        }
    }

    #[test]
    fn numbers_are_short_for_people() {
        assert_eq!(Size(31_281_530).to_string(), "31.3 MB");
        assert_eq!(Size(640).to_string(), "640 B");
        assert_eq!(Count(864_775).to_string(), "865 k");
        assert_eq!(Count(5_500_000).to_string(), "5.5 M");
    }
}
