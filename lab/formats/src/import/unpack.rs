//! What is compressed by zstd or gzip, unpacked as it is read; anything else as it is.

use std::io::{self, BufReader, Cursor, ErrorKind, Read};

use flate2::read::MultiGzDecoder;
use oxiarc_core::error::OxiArcError;
use oxiarc_core::traits::FlushMode;
use oxiarc_zstd::{ZSTD_MAGIC, ZstdStream};

use super::error::ImportError;

/// The first bytes of a gzip file.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// The largest window that a frame may ask for, in bytes: the default limit of the command `zstd`.
const MAX_WINDOW_BYTES: usize = 128 << 20;

/// Bytes that are read at a time.
const BUFFER_BYTES: usize = 64 << 10;

/// A recording's bytes, unpacked. A compressed file that was cut short ends as if it were whole,
/// and [`Unpacked::is_cut`] says so.
pub(super) struct Unpacked {
    input: Box<dyn Read>,
    is_cut: bool,
}

impl Unpacked {
    /// Looks at the first bytes to learn whether they are compressed.
    pub(super) fn new(mut input: Box<dyn Read>) -> Result<Self, ImportError> {
        let mut first = Vec::new();
        let limit = ZSTD_MAGIC.len() as u64;
        let read = input.by_ref().take(limit).read_to_end(&mut first);
        read.map_err(ImportError::Read)?;
        if first.is_empty() {
            return Err(ImportError::Empty);
        }
        let is_zstd = first == ZSTD_MAGIC;
        let is_gzip = first.starts_with(&GZIP_MAGIC);
        let whole = BufReader::with_capacity(BUFFER_BYTES, Cursor::new(first).chain(input));
        let input: Box<dyn Read> = if is_zstd {
            Box::new(Zstd::new(whole))
        } else if is_gzip {
            Box::new(MultiGzDecoder::new(whole))
        } else {
            Box::new(whole)
        };
        Ok(Self {
            input,
            is_cut: false,
        })
    }

    /// Whether the compressed file was cut short.
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut
    }
}

impl Read for Unpacked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.is_cut {
            return Ok(0);
        }
        match self.input.read(buffer) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                self.is_cut = true;
                Ok(0)
            }
            other => other,
        }
    }
}

/// The error of a recording that could not be read to its end.
pub(super) fn failed(error: io::Error) -> ImportError {
    match error.kind() {
        ErrorKind::InvalidData | ErrorKind::InvalidInput => ImportError::Damaged(error.to_string()),
        _ => ImportError::Read(error),
    }
}

/// Frames of zstd, one after the other.
struct Zstd<R> {
    input: R,
    stream: Box<ZstdStream>,
}

impl<R: io::BufRead> Zstd<R> {
    fn new(input: R) -> Self {
        let stream = ZstdStream::new().with_max_window(MAX_WINDOW_BYTES);
        let stream = Box::new(stream);
        Self { input, stream }
    }
}

impl<R: io::BufRead> Read for Zstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !buffer.is_empty() && !self.stream.is_finished() {
            let input = self.input.fill_buf()?;
            let is_end = input.is_empty();
            let step = self.stream.decode(input, buffer, FlushMode::None);
            let damaged =
                |error: OxiArcError| io::Error::new(ErrorKind::InvalidData, error.to_string());
            let step = step.map_err(damaged)?;
            self.input.consume(step.consumed);
            if step.produced > 0 {
                return Ok(step.produced);
            }
            if is_end {
                let whole = self.stream.finish();
                return whole
                    .map(|()| 0)
                    .map_err(|_| ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(0)
    }
}
