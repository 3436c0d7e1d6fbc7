//! Compressed frames, one after the other: unpacked as their bytes are asked for, packed as they
//! are written.
#![deny(clippy::arithmetic_side_effects, clippy::cast_possible_truncation)]

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};

use oxiarc_core::error::OxiArcError;
use oxiarc_core::traits::FlushMode;
use oxiarc_zstd::{ZstdEncoder, ZstdStatus, ZstdStream};

use crate::Problem;

/// The first bytes of a compressed frame.
pub(crate) const MAGIC: [u8; 4] = oxiarc_zstd::ZSTD_MAGIC;

/// The largest window that a frame may ask for, in bytes: the default limit of the command `zstd`.
const MAX_WINDOW_BYTES: usize = 128 << 20;

/// The levels of compression, from fast to small.
const LEVELS: (i32, i32) = (1, 19);

/// Frames being unpacked. Their memory is bounded: a window of at most 128 MiB, which grows with
/// what is unpacked, and buffers of less than 1 MiB.
pub(crate) struct Unpacker<R> {
    input: BufReader<R>,
    stream: Box<ZstdStream>,
}

impl<R> fmt::Debug for Unpacker<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unpacker")
            .field("unpacked", &self.stream.total_out())
            .finish_non_exhaustive()
    }
}

impl<R: Read> Unpacker<R> {
    /// Begins with the frame's first byte.
    pub(crate) fn new(input: R) -> Self {
        let stream = ZstdStream::new()
            .with_max_window(MAX_WINDOW_BYTES)
            .with_multi_frame(false);
        Self {
            input: BufReader::new(input),
            stream: Box::new(stream),
        }
    }

    /// Unpacks some bytes into `buffer`, which is not empty, and returns their number: 0 at the end
    /// of the last frame, if all are sound.
    ///
    /// # Errors
    /// A frame is cut short or damaged, or its checksum does not match; what follows it is no
    /// frame; or the input cannot be read.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Problem> {
        loop {
            let produced = self.read_frame(buffer)?;
            if produced > 0 || fill(&mut self.input)?.is_empty() {
                return Ok(produced);
            }
            self.stream.reset();
        }
    }

    /// As [`Unpacker::read`], up to the end of the frame that is being read.
    pub(crate) fn read_frame(&mut self, buffer: &mut [u8]) -> Result<usize, Problem> {
        while !self.stream.is_finished() {
            let input = fill(&mut self.input)?;
            let is_end = input.is_empty();
            let step = self.stream.decode(input, buffer, FlushMode::None);
            let step = step.map_err(damaged)?;
            self.input.consume(step.consumed);
            if step.produced > 0 {
                return Ok(step.produced);
            }
            if is_end && step.status != ZstdStatus::StreamEnd {
                return Err(Problem::Truncated);
            }
        }
        Ok(0)
    }

    /// The bytes behind the frame that was read to its end, at most so many.
    ///
    /// # Errors
    /// The input cannot be read.
    pub(crate) fn rest(&mut self, most: usize) -> Result<Vec<u8>, Problem> {
        let mut rest = self.stream.unused_input().to_vec();
        while rest.len() < most {
            let more = fill(&mut self.input)?;
            let taken = more.len().min(most.saturating_sub(rest.len()));
            if taken == 0 {
                break;
            }
            rest.extend_from_slice(&more[..taken]);
            self.input.consume(taken);
        }
        Ok(rest)
    }
}

/// The bytes that are read and not used yet; none at the end.
fn fill<R: Read>(input: &mut BufReader<R>) -> Result<&[u8], Problem> {
    loop {
        match input.fill_buf() {
            Ok(_) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Problem::Read(error)),
        }
    }
    Ok(input.buffer())
}

fn damaged(error: OxiArcError) -> Problem {
    Problem::Damaged(match error {
        OxiArcError::CorruptedData { message, .. } => message,
        other => other.to_string(),
    })
}

/// The bytes as one compressed frame with a checksum. A level outside 1 to 19 becomes the nearest
/// one.
///
/// # Errors
/// The compressor gives up.
pub(crate) fn pack(bytes: &[u8], level: i32) -> io::Result<Vec<u8>> {
    ZstdEncoder::new()
        .set_level(level.clamp(LEVELS.0, LEVELS.1))
        .set_checksum(true)
        .compress(bytes)
        .map_err(io::Error::other)
}

/// Bytes of a trace that go into one frame: a longer one has several, so that neither the writer
/// nor a tool that unpacks it holds more.
const FRAME_BYTES: usize = 32 << 20;

/// Compresses what is written to it, into one frame after the other.
///
/// Each has a checksum, and holds at most 32 MiB; what is shorter is one frame.
/// [`Compressor::finish`] writes the last one.
#[derive(Debug)]
pub struct Compressor<W: Write> {
    out: W,
    level: i32,
    bytes: Vec<u8>,
    frames: u64,
}

impl<W: Write> Compressor<W> {
    /// Nothing is written yet. A level outside 1 to 19 becomes the nearest one.
    pub fn new(out: W, level: i32) -> Self {
        Self {
            out,
            level,
            bytes: Vec::new(),
            frames: 0,
        }
    }

    /// Writes the last frame, and returns what was written to, flushed.
    ///
    /// # Errors
    /// What writing failed with.
    pub fn finish(mut self) -> io::Result<W> {
        if self.frames == 0 || !self.bytes.is_empty() {
            self.pack()?;
        }
        self.out.flush()?;
        Ok(self.out)
    }

    #[expect(clippy::arithmetic_side_effects, reason = "frames, counted in 64 bits")]
    fn pack(&mut self) -> io::Result<()> {
        self.out.write_all(&pack(&self.bytes, self.level)?)?;
        self.bytes.clear();
        self.frames += 1;
        Ok(())
    }
}

impl<W: Write> Write for Compressor<W> {
    #[expect(clippy::arithmetic_side_effects, reason = "never more than a frame")]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() == FRAME_BYTES {
            self.pack()?;
        }
        let taken = bytes.len().min(FRAME_BYTES - self.bytes.len());
        self.bytes.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    /// What is not yet a whole frame is kept.
    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
