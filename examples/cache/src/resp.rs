//! Requests: where the arguments of one command are in the bytes that a client sent.
//!
//! A request is an array of bulk strings, or a line of words without quotes. One that comes in many
//! parts is not read again from its start.

use std::ops::Range;

/// What one request and its reply may have at most.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Arguments.
    pub arguments: usize,
    /// Bytes, with all heads and line breaks.
    pub bytes: usize,
    /// Bytes of replies above which the client is cut off.
    pub reply: usize,
}

impl Limits {
    /// 65,536 arguments, 64 MiB, replies of 256 MiB.
    pub const DEFAULT: Self = Self {
        arguments: 1 << 16,
        bytes: 64 << 20,
        reply: 256 << 20,
    };

    /// Of a client that has not said the password yet: 10 arguments and 16 KiB, if these are fewer.
    pub(crate) fn of_a_stranger(&self) -> Self {
        Self {
            arguments: self.arguments.min(10),
            bytes: self.bytes.min(16 << 10),
            reply: self.reply,
        }
    }
}

/// The longest line: a request of words, or the head of an array or of a bulk string.
const MOST_LINE: usize = 64 << 10;

/// Why bytes are no request. The connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

/// A request as far as it was read. Places count from its first byte.
#[derive(Debug, Default)]
pub struct Request {
    /// The arguments that follow, once the head of the array was read.
    missing: Option<usize>,
    arguments: Vec<Range<usize>>,
    /// Where the next part begins.
    at: usize,
}

impl Request {
    /// The arguments of a complete request.
    #[must_use]
    pub fn arguments(&self) -> &[Range<usize>] {
        &self.arguments
    }

    /// The bytes of a complete request.
    #[must_use]
    pub fn end(&self) -> usize {
        self.at
    }

    /// Begins with the next request.
    pub fn reset(&mut self) {
        self.missing = None;
        self.arguments.clear();
        self.arguments.shrink_to(64);
        self.at = 0;
    }

    /// Reads on. `bytes` begin with the request's first byte, whatever was read before. Returns
    /// the length of a complete request, or `None` if it goes on behind the bytes.
    ///
    /// # Errors
    /// Why the bytes are no request.
    ///
    /// # Complexity
    /// O(new arguments, and the bytes of an incomplete line).
    pub fn read(&mut self, bytes: &[u8], limits: &Limits) -> Result<Option<usize>, Malformed> {
        if self.missing.is_none() && !self.read_head(bytes, limits)? {
            return Ok(None);
        }
        while let Some(left) = self.missing.filter(|&left| left > 0) {
            let Some((number, start)) = head(bytes, self.at, b'$', "Protocol error: expected '$'")?
            else {
                return Ok(None);
            };
            let len = usize::try_from(number).ok();
            let end = len.and_then(|len| start.checked_add(len)?.checked_add(2));
            let end = end.filter(|&end| end <= limits.bytes);
            let end = end.ok_or(Malformed("Protocol error: invalid bulk length"))?;
            match bytes.get(start..end) {
                None => return Ok(None),
                Some(bulk) if bulk.ends_with(b"\r\n") => {}
                Some(_) => return Err(Malformed("Protocol error: expected a line break")),
            }
            self.arguments.push(start..end - 2);
            (self.at, self.missing) = (end, Some(left - 1));
        }
        Ok(Some(self.at))
    }

    /// Reads the head of an array, or a line of words; whether it was complete.
    fn read_head(&mut self, bytes: &[u8], limits: &Limits) -> Result<bool, Malformed> {
        match bytes.first() {
            None => Ok(false),
            Some(b'*') => {
                let Some((count, start)) = head(bytes, 0, b'*', "Protocol error")? else {
                    return Ok(false);
                };
                // A negative count is an empty request, as in Redis.
                let count = usize::try_from(count.max(0)).unwrap_or(usize::MAX);
                if count > limits.arguments {
                    return Err(Malformed("Protocol error: invalid multibulk length"));
                }
                (self.missing, self.at) = (Some(count), start);
                Ok(true)
            }
            Some(_) => self.read_words(bytes, limits),
        }
    }

    fn read_words(&mut self, bytes: &[u8], limits: &Limits) -> Result<bool, Malformed> {
        let most = MOST_LINE.min(limits.bytes);
        let Some(end) = bytes.iter().take(most).position(|it| *it == b'\n') else {
            return match bytes.len() < most {
                true => Ok(false),
                false => Err(Malformed("Protocol error: too big inline request")),
            };
        };
        let mut at = 0;
        for word in bytes[..end].split(u8::is_ascii_whitespace) {
            if !word.is_empty() {
                self.arguments.push(at..at + word.len());
            }
            at += word.len() + 1;
        }
        if self.arguments.len() > limits.arguments {
            return Err(Malformed("Protocol error: too many arguments"));
        }
        (self.missing, self.at) = (Some(0), end + 1);
        Ok(true)
    }
}

/// The number in the head at a place, and where the head ends.
fn head(
    bytes: &[u8],
    at: usize,
    kind: u8,
    other: &'static str,
) -> Result<Option<(i64, usize)>, Malformed> {
    /// A sign, 19 digits, a line break.
    const MOST_HEAD: usize = 22;
    match bytes.get(at) {
        None => return Ok(None),
        Some(first) if *first == kind => {}
        Some(_) => return Err(Malformed(other)),
    }
    let rest = &bytes[at + 1..];
    let line = &rest[..rest.len().min(MOST_HEAD)];
    let Some(len) = line.iter().position(|it| *it == b'\n') else {
        return match line.len() < MOST_HEAD {
            true => Ok(None),
            false => Err(Malformed("Protocol error: too long a number")),
        };
    };
    let digits = line[..len].strip_suffix(b"\r").and_then(number);
    let number = digits.ok_or(Malformed("Protocol error: not a number"))?;
    Ok(Some((number, at + 1 + len + 1)))
}

/// A whole number as Redis writes it: no blanks, no plus sign, no zeros before others.
#[must_use]
pub fn number(word: &[u8]) -> Option<i64> {
    let negative = word.strip_prefix(b"-");
    let digits = negative.unwrap_or(word);
    match digits {
        b"0" => return negative.is_none().then_some(0),
        [b'1'..=b'9', ..] => {}
        _ => return None,
    }
    digits.iter().try_fold(0_i64, |number, digit| {
        let digit = digit.is_ascii_digit().then(|| i64::from(digit - b'0'))?;
        let tens = number.checked_mul(10)?;
        // There is one more below zero than above.
        match negative {
            Some(_) => tens.checked_sub(digit),
            None => tens.checked_add(digit),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::{Limits, Request, number};
    use crate::reply::Reply;

    #[test]
    fn a_number_is_read_as_it_is_written_and_in_no_other_form() {
        let near = [0, 1, 9, 10, 11, 99, 100, 4096, i64::MAX, i64::MIN];
        for near in near.map(i128::from) {
            for value in near - 2..=near + 2 {
                let word = value.to_string();
                let expected = i64::try_from(value).ok();
                assert_eq!(number(word.as_bytes()), expected, "{word}");
                let mut reply = Reply::default();
                if let Some(expected) = expected {
                    reply.integer(expected);
                    assert_eq!(reply.bytes(), format!(":{word}\r\n").as_bytes());
                }
            }
        }
        for word in [
            "", "-", "-0", "+1", "00", "01", "-01", " 1", "1 ", "1x", "--1", "\u{b2}",
        ] {
            assert_eq!(number(word.as_bytes()), None, "{word}");
        }
        assert_eq!(number(&[b'9'; 1000]), None);
    }

    #[test]
    fn a_line_is_no_longer_than_a_request_may_be() {
        let line = [b'x'; 20 << 10];
        let read = |limits: &Limits| Request::default().read(&line, limits);
        assert_eq!(read(&Limits::DEFAULT).ok(), Some(None));
        assert!(read(&Limits::DEFAULT.of_a_stranger()).is_err());
    }
}
