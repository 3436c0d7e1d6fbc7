//! Requests: the arguments of one command, found in the bytes that a client sent.
//!
//! `redis-protocol` decodes each argument, which is a bulk string. The array around them is read
//! here, so that an array in an array, which no client sends, cannot nest without bound, and so
//! that a command that comes in many parts is not decoded again from its start.

use std::ops::Range;

use redis_protocol::resp2::decode::decode_range;
use redis_protocol::resp2::types::RangeFrame;

/// The most arguments of a command.
const MOST_ARGUMENTS: usize = 1 << 20;

/// The longest line: an inline command, or the count of an array.
const MOST_LINE: usize = 64 << 10;

/// The longest argument that is waited for, in bytes: the longest value and its length.
const MOST_BULK: usize = (512 << 20) + 64;

/// Why a client's bytes are no command. The connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProtocolError(pub &'static str);

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The command goes on after the bytes.
    Incomplete,
    /// A command that ends before this byte. It has no arguments if the client sent an empty one.
    Complete(usize),
}

/// A command as far as it was read. Positions count from the command's first byte.
#[derive(Debug, Default)]
pub struct Request {
    /// Arguments that follow, once the array's count was read.
    missing: Option<usize>,
    arguments: Vec<Range<usize>>,
    /// Where the next part begins.
    at: usize,
}

impl Request {
    /// The arguments, once the command is complete.
    #[must_use]
    pub fn arguments(&self) -> &[Range<usize>] {
        &self.arguments
    }

    /// Forgets the command.
    pub fn reset(&mut self) {
        self.missing = None;
        self.arguments.clear();
        self.at = 0;
    }

    /// Reads on. `bytes` begin with the command's first byte, whatever was read before.
    ///
    /// # Errors
    /// That the bytes are no command.
    pub fn read(&mut self, bytes: &[u8]) -> Result<Progress, ProtocolError> {
        let Some(&first) = bytes.first() else {
            return Ok(Progress::Incomplete);
        };
        if self.missing.is_none() && first != b'*' {
            return self.read_inline(bytes);
        }
        if self.missing.is_none() && !self.read_count(bytes)? {
            return Ok(Progress::Incomplete);
        }
        while self.missing != Some(0) {
            if !self.read_argument(bytes)? {
                return Ok(Progress::Incomplete);
            }
            self.missing = self.missing.map(|missing| missing - 1);
        }
        Ok(Progress::Complete(self.at))
    }

    /// Words between blanks, on a line.
    fn read_inline(&mut self, bytes: &[u8]) -> Result<Progress, ProtocolError> {
        let Some(end) = line_end(bytes, "Protocol error: too big inline request")? else {
            return Ok(Progress::Incomplete);
        };
        let mut start = None;
        for (at, byte) in bytes[..=end].iter().enumerate() {
            match (byte.is_ascii_whitespace(), start) {
                (true, Some(from)) => {
                    self.arguments.push(from..at);
                    start = None;
                }
                (false, None) => start = Some(at),
                _ => {}
            }
        }
        Ok(Progress::Complete(end + 1))
    }

    /// The count of an array; `false` if its line goes on.
    fn read_count(&mut self, bytes: &[u8]) -> Result<bool, ProtocolError> {
        const WRONG: &str = "Protocol error: invalid multibulk length";
        let Some(end) = line_end(bytes, WRONG)? else {
            return Ok(false);
        };
        let digits = bytes[1..end].strip_suffix(b"\r");
        let count: i64 = digits
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| digits.parse().ok())
            .ok_or(ProtocolError(WRONG))?;
        let count = usize::try_from(count.max(0)).map_err(|_| ProtocolError(WRONG))?;
        if count > MOST_ARGUMENTS {
            return Err(ProtocolError(WRONG));
        }
        (self.missing, self.at) = (Some(count), end + 1);
        Ok(true)
    }

    /// One bulk string; `false` if it goes on.
    fn read_argument(&mut self, bytes: &[u8]) -> Result<bool, ProtocolError> {
        const WRONG: ProtocolError = ProtocolError("Protocol error: invalid bulk length");
        let rest = &bytes[self.at..];
        match rest.first() {
            None => return Ok(false),
            Some(b'$') => {}
            Some(_) => return Err(ProtocolError("Protocol error: expected '$'")),
        }
        match decode_range(rest) {
            Ok(Some((RangeFrame::BulkString((start, end)), taken))) => {
                if !rest[..taken].ends_with(b"\r\n") {
                    return Err(WRONG);
                }
                self.arguments.push(self.at + start..self.at + end);
                self.at += taken;
                Ok(true)
            }
            Ok(None) if rest.len() <= MOST_BULK && !is_long_line(rest) => Ok(false),
            _ => Err(WRONG),
        }
    }
}

/// Whether the length of a bulk string is no line of a few digits.
fn is_long_line(bytes: &[u8]) -> bool {
    bytes.len() > 32 && !bytes[..32].contains(&b'\n')
}

/// The position of the line's end, or `None` if the line goes on.
fn line_end(bytes: &[u8], too_long: &'static str) -> Result<Option<usize>, ProtocolError> {
    let within = &bytes[..bytes.len().min(MOST_LINE)];
    match within.iter().position(|&byte| byte == b'\n') {
        None if bytes.len() >= MOST_LINE => Err(ProtocolError(too_long)),
        end => Ok(end),
    }
}

#[cfg(test)]
mod tests {
    use super::{Progress, ProtocolError, Request};

    /// All commands in some bytes that arrive in parts of `step` bytes.
    fn commands(bytes: &[u8], step: usize) -> Result<Vec<Vec<Vec<u8>>>, ProtocolError> {
        let (mut request, mut start, mut found) = (Request::default(), 0, Vec::new());
        let ends = (step..).step_by(step).take_while(|&end| end < bytes.len());
        for end in ends.chain([bytes.len()]) {
            while let Progress::Complete(len) = request.read(&bytes[start..end])? {
                let words = request.arguments().iter();
                found.push(
                    words
                        .map(|it| bytes[start..][it.clone()].to_vec())
                        .collect(),
                );
                request.reset();
                start += len;
            }
        }
        assert_eq!(start, bytes.len(), "nothing is left");
        Ok(found)
    }

    #[test]
    fn pipelined_commands_are_found_however_they_are_cut() {
        let bytes = b"*2\r\n$3\r\nGET\r\n$5\r\na\r\nb*\r\nPING  x\r\n*0\r\n\r\n*-1\r\n\
            *3\r\n$3\r\nSET\r\n$0\r\n\r\n$4\r\n\0\xFF\r\n\r\nQUIT\n";
        let word = |word: &[u8]| word.to_vec();
        let expected = vec![
            vec![word(b"GET"), word(b"a\r\nb*")],
            vec![word(b"PING"), word(b"x")],
            vec![],
            vec![],
            vec![],
            vec![word(b"SET"), word(b""), word(b"\0\xFF\r\n")],
            vec![word(b"QUIT")],
        ];
        for step in 1..=bytes.len() {
            assert_eq!(commands(bytes, step), Ok(expected.clone()), "{step}");
        }
    }

    #[test]
    fn what_is_no_command_is_refused() {
        for wrong in [
            &b"*x\r\n"[..],
            b"*1048577\r\n",
            b"*99999999999999999999\r\n",
            b"*1\n$1\r\na\r\n",
            b"*1\r\n*1\r\n",
            b"*1\r\n+OK\r\n",
            b"*1\r\n$-1\r\n",
            b"*1\r\n$x\r\n",
            b"*1\r\n$1\r\nabc",
            b"*2\r\n$1\r\na\r\n*1\r\n$1\r\nb\r\n",
        ] {
            let mut request = Request::default();
            assert!(request.read(wrong).is_err(), "{}", wrong.escape_ascii());
        }
    }

    #[test]
    fn lines_that_never_end_are_refused() {
        for start in [&b"PING "[..], b"*1", b"*1\r\n$1"] {
            let mut bytes = start.to_vec();
            bytes.resize(64 << 10, b'1');
            assert!(Request::default().read(&bytes).is_err());
        }
    }
}
