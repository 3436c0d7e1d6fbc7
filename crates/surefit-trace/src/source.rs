//! The unpacked bytes of a trace, one by one, from anything that can be read, compressed or not.
#![deny(clippy::arithmetic_side_effects, clippy::cast_possible_truncation)]

use std::fmt;
use std::io::{self, BufRead, BufReader, Cursor, Read};

use crate::Problem;

/// The first bytes of a compressed frame.
const FRAME_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Bytes unpacked at a time.
const BUFFER_BYTES: usize = 64 << 10;

type Whole<R> = io::Chain<Cursor<Vec<u8>>, R>;
type Unpacker<R> = zstd::stream::read::Decoder<'static, BufReader<Whole<R>>>;

enum Input<R: Read> {
    Plain(Whole<R>),
    Packed(Unpacker<R>),
}

/// A buffered byte source that knows how many unpacked bytes it gave. Its memory is bounded: one buffer, and the
/// window of the compressed frame, 128 MiB at most.
pub(crate) struct Source<R: Read> {
    input: Input<R>,
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
    /// Looks at the first bytes of `input` to learn whether it is compressed.
    pub(crate) fn new(mut input: R) -> Result<Self, Problem> {
        let mut first = Vec::with_capacity(FRAME_MAGIC.len());
        let limit = FRAME_MAGIC.len() as u64;
        let read = input.by_ref().take(limit).read_to_end(&mut first);
        read.map_err(Problem::Read)?;
        if first.is_empty() {
            return Err(Problem::Empty);
        }
        let is_packed = first == FRAME_MAGIC;
        let whole = Cursor::new(first).chain(input);
        let input = if is_packed {
            let unpacker = zstd::stream::read::Decoder::new(whole).map_err(Problem::from_read)?;
            Input::Packed(unpacker.single_frame())
        } else {
            Input::Plain(whole)
        };
        Ok(Self {
            input,
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

    /// Verifies that nothing follows, neither in the stream nor after its frame, and that the frame is sound.
    pub(crate) fn expect_end(&mut self) -> Result<(), Problem> {
        if self.byte()?.is_some() || self.has_more_frames()? {
            return Err(Problem::BytesAfterEnd);
        }
        Ok(())
    }

    fn has_more_frames(&mut self) -> Result<bool, Problem> {
        match &mut self.input {
            Input::Plain(_) => Ok(false),
            Input::Packed(unpacker) => {
                let rest = unpacker.get_mut().fill_buf().map_err(Problem::Read)?;
                Ok(!rest.is_empty())
            }
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
        loop {
            let read = match &mut self.input {
                Input::Plain(input) => input.read(&mut self.buffer).map_err(|e| (e, false)),
                Input::Packed(input) => input.read(&mut self.buffer).map_err(|e| (e, true)),
            };
            match read {
                Ok(filled) if filled > self.buffer.len() => {
                    let lie = "the source says that it read more than it was asked for";
                    return Err(Problem::Read(io::Error::other(lie)));
                }
                Ok(filled) => {
                    self.filled = filled;
                    return Ok(filled > 0);
                }
                Err((error, _)) if error.kind() == io::ErrorKind::Interrupted => {}
                Err((error, true)) => return Err(Problem::from_read(error)),
                Err((error, false)) => return Err(Problem::Read(error)),
            }
        }
    }
}
