//! Lines of text, one by one, and the hexadecimal numbers in them.

use std::io::{BufRead, BufReader, Read};

use super::error::ImportError;
use super::unpack::{Unpacked, failed};

/// The longest line that is read, in bytes. Names of functions fill the long ones.
const MAX_LINE_BYTES: u64 = 1 << 20;

/// The lines of a recording.
pub(super) struct Lines {
    input: BufReader<Unpacked>,
    line: Vec<u8>,
    number: u64,
    is_cut: bool,
}

impl Lines {
    pub(super) fn new(input: BufReader<Unpacked>) -> Self {
        Self {
            input,
            line: Vec::new(),
            number: 0,
            is_cut: false,
        }
    }

    /// Reads the next line; `false` at the end. What the last line lacks, be it no more than the
    /// break at its end, makes it no line: the file was cut short.
    pub(super) fn advance(&mut self) -> Result<bool, ImportError> {
        self.line.clear();
        self.number += 1;
        let limited = &mut self.input.by_ref().take(MAX_LINE_BYTES);
        let read = limited.read_until(b'\n', &mut self.line).map_err(failed)?;
        if self.line.last() == Some(&b'\n') {
            self.line.pop();
            return Ok(true);
        }
        if read as u64 == MAX_LINE_BYTES {
            return Err(self.error("is longer than 1 MiB"));
        }
        self.is_cut = read > 0 || self.input.get_ref().is_cut();
        Ok(false)
    }

    /// The first byte, which is a letter or a sign, and what follows it and a space.
    pub(super) fn split(&self) -> Option<(u8, &[u8])> {
        let (first, rest) = self.line.split_first()?;
        Some((*first, rest.strip_prefix(b" ").unwrap_or(rest)))
    }

    /// Whether the recording ends in the middle of something.
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// The error for the line last read.
    pub(super) fn error(&self, problem: &'static str) -> ImportError {
        let line = self.number;
        ImportError::Line { line, problem }
    }
}

/// Hexadecimal numbers of at most 64 bits with one space between them: at most `N` of them, and how
/// many there are. `None` if something else stands there.
pub(super) fn numbers<const N: usize>(text: &[u8]) -> Option<([u64; N], usize)> {
    let mut found = [0; N];
    let mut count = 0;
    for word in text.split(|byte| *byte == b' ') {
        *found.get_mut(count)? = number(word)?;
        count += 1;
    }
    Some((found, count))
}

/// A hexadecimal number.
pub(super) fn number(word: &[u8]) -> Option<u64> {
    if word.is_empty() || word.len() > 16 {
        return None;
    }
    word.iter().try_fold(0, |value, digit| {
        let digit = char::from(*digit).to_digit(16)?;
        Some(value << 4 | u64::from(digit))
    })
}

#[cfg(test)]
mod tests {
    use super::numbers;

    #[test]
    fn numbers_are_hexadecimal_with_one_space_between_them() {
        assert_eq!(numbers(b"1f"), Some(([0x1f, 0, 0], 1)));
        assert_eq!(numbers(b"0 a FF"), Some(([0, 10, 255], 3)));
        assert_eq!(numbers(b"ffffffffffffffff"), Some(([u64::MAX], 1)));
        for wrong in [
            "",
            " 1",
            "1 ",
            "1  2",
            "x",
            "-1",
            "+1",
            "11111111111111111",
            "1 2 3",
        ] {
            assert_eq!(numbers::<2>(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
