//! The unpacked bytes of a trace, one by one, from anything that can be read, compressed or not.
#![deny(clippy::arithmetic_side_effects, clippy::cast_possible_truncation)]

use std::fmt;
use std::io::{self, Cursor, Read};

use crate::Problem;
use crate::facts::{MOST_BYTES, is_skipped};
use crate::frame::{MAGIC, Unpacker};

/// Bytes unpacked at a time.
const BUFFER_BYTES: usize = 64 << 10;

type Whole<R> = io::Chain<Cursor<Vec<u8>>, R>;

enum Input<R: Read> {
    Plain(Whole<R>),
    Packed(Unpacker<Whole<R>>),
}

/// A buffered byte source that counts the unpacked bytes it gave. Its memory is bounded: one
/// buffer, and for compressed frames at most 129 MiB more.
pub(crate) struct Source<R: Read> {
    input: Input<R>,
    has_one_frame: bool,
    buffer: Box<[u8]>,
    next: usize,
    filled: usize,
    before: u64,
}

impl<R: Read> fmt::Debug for Source<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source")
            .field("position", &self.position())
            .finish_non_exhaustive()
    }
}

impl<R: Read> Source<R> {
    /// As [`Source::new`], for a stream whose end is that of its one frame.
    pub(crate) fn of_one_frame(input: R) -> Result<Self, Problem> {
        Ok(Self {
            has_one_frame: true,
            ..Self::new(input)?
        })
    }

    /// Looks at the first bytes of `input` to learn whether it is compressed.
    pub(crate) fn new(mut input: R) -> Result<Self, Problem> {
        let mut first = Vec::with_capacity(MAGIC.len());
        let limit = MAGIC.len() as u64;
        let read = input.by_ref().take(limit).read_to_end(&mut first);
        read.map_err(Problem::Read)?;
        if first.is_empty() {
            return Err(Problem::Empty);
        }
        let is_packed = first == MAGIC;
        let whole = Cursor::new(first).chain(input);
        let input = if is_packed {
            Input::Packed(Unpacker::new(whole))
        } else {
            Input::Plain(whole)
        };
        Ok(Self {
            input,
            has_one_frame: false,
            buffer: vec![0; BUFFER_BYTES].into_boxed_slice(),
            next: 0,
            filled: 0,
            before: 0,
        })
    }

    /// The unpacked bytes given so far.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "bytes that were read, in 64 bits"
    )]
    pub(crate) fn position(&self) -> u64 {
        self.before + self.next as u64
    }

    /// The next byte; `None` where the stream ends.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "asked where next is below what is filled"
    )]
    #[inline]
    pub(crate) fn byte(&mut self) -> Result<Option<u8>, Problem> {
        if self.next == self.filled && !self.fill()? {
            return Ok(None);
        }
        let byte = self.buffer[self.next];
        self.next += 1;
        Ok(Some(byte))
    }

    /// The next `count` bytes.
    pub(crate) fn bytes(&mut self, count: usize) -> Result<Vec<u8>, Problem> {
        (0..count)
            .map(|_| self.byte()?.ok_or(Problem::Truncated))
            .collect()
    }

    /// Verifies that nothing follows, neither in the stream nor after its frame, and that the frame
    /// is sound.
    pub(crate) fn expect_end(&mut self) -> Result<(), Problem> {
        match self.end(1)?.is_empty() {
            true => Ok(()),
            false => Err(Problem::BytesAfterEnd),
        }
    }

    /// As [`Source::expect_end`], but a frame that decompressors skip may follow; returns it, or
    /// what there is of it, at most one byte more than facts have.
    pub(crate) fn expect_end_or_facts(&mut self) -> Result<Vec<u8>, Problem> {
        let rest = self.end(MOST_BYTES.saturating_add(1))?;
        match rest.is_empty() || is_skipped(&rest) {
            true => Ok(rest),
            false => Err(Problem::BytesAfterEnd),
        }
    }

    /// Verifies that the stream ends here; returns what follows its frame, at most so many bytes.
    fn end(&mut self, most: usize) -> Result<Vec<u8>, Problem> {
        let has_more = self.next < self.filled
            || match &mut self.input {
                Input::Plain(input) => read_plain(input, &mut self.buffer)? > 0,
                Input::Packed(unpacker) => unpacker.read_frame(&mut self.buffer)? > 0,
            };
        match &mut self.input {
            _ if has_more => Err(Problem::BytesAfterEnd),
            Input::Plain(_) => Ok(Vec::new()),
            Input::Packed(unpacker) => unpacker.rest(most),
        }
    }

    #[expect(
        clippy::arithmetic_side_effects,
        reason = "bytes that were read, in 64 bits"
    )]
    #[cold]
    fn fill(&mut self) -> Result<bool, Problem> {
        self.before += self.filled as u64;
        (self.next, self.filled) = (0, 0);
        self.filled = match &mut self.input {
            Input::Plain(input) => read_plain(input, &mut self.buffer)?,
            Input::Packed(unpacker) if self.has_one_frame => {
                unpacker.read_frame(&mut self.buffer)?
            }
            Input::Packed(unpacker) => unpacker.read(&mut self.buffer)?,
        };
        Ok(self.filled > 0)
    }
}

fn read_plain(input: &mut impl Read, buffer: &mut [u8]) -> Result<usize, Problem> {
    loop {
        match input.read(buffer) {
            Ok(filled) if filled > buffer.len() => {
                let lie = "the source says that it read more than it was asked for";
                return Err(Problem::Read(io::Error::other(lie)));
            }
            Ok(filled) => return Ok(filled),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Problem::Read(error)),
        }
    }
}
