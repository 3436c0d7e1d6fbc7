//! Compressed frames: unpacked as their bytes are asked for, packed in one go.
#![deny(clippy::arithmetic_side_effects, clippy::cast_possible_truncation)]

use std::fmt;
use std::io::{self, BufRead, BufReader, Read};

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

/// One frame being unpacked. Its memory is bounded: a window of at most 128 MiB, which grows with
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

    /// Unpacks some bytes into `buffer`, which is not empty, and returns their number: 0 at the end of
    /// a sound frame.
    ///
    /// # Errors
    /// The frame is cut short or damaged, or its checksum does not match; or the input cannot be read.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Problem> {
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

    /// Whether bytes follow the frame, which was read to its end.
    ///
    /// # Errors
    /// The input cannot be read.
    pub(crate) fn is_followed(&mut self) -> Result<bool, Problem> {
        Ok(!self.stream.unused_input().is_empty() || !fill(&mut self.input)?.is_empty())
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

/// The bytes as one compressed frame with a checksum. A level outside 1 to 19 becomes the nearest one.
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
