//! The writer: from events to the bytes of the format.
#![deny(clippy::arithmetic_side_effects, clippy::cast_possible_truncation)]

use std::fmt;
use std::io::Write;

use crate::checker::Checker;
use crate::codec::{self, Encoder};
use crate::{Event, Header, Position, Problem, Sites, Stack, TraceError};

/// Encoded bytes kept before they are handed on.
const BUFFER_BYTES: usize = 64 << 10;

/// Writes a trace event by event, and never an unsound one: every event is checked, and the header
/// at the end.
///
/// The header comes first in the format, so its counters must be known; [`crate::Trace::new`] and
/// [`Checker::counts`] count them. Give a compressor as `out` for a compressed file.
pub struct Writer<W: Write> {
    out: W,
    buffer: Vec<u8>,
    header: Header,
    checker: Checker,
    encoder: Encoder,
    /// Stacks of the table.
    stacks: usize,
}

impl<W: Write> fmt::Debug for Writer<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer")
            .field("header", &self.header)
            .field("counts", &self.checker.counts())
            .finish_non_exhaustive()
    }
}

impl<W: Write> Writer<W> {
    /// Begins a trace with its header.
    ///
    /// # Errors
    /// The name is too long.
    pub fn new(out: W, header: &Header) -> Result<Self, TraceError> {
        Self::with_sites(out, header, None)
    }

    /// As [`Writer::new`], for a trace with call sites, if there are any: [`Writer::write_at`]
    /// names them.
    ///
    /// # Errors
    /// As [`Writer::new`].
    pub fn with_sites(out: W, header: &Header, sites: Option<&Sites>) -> Result<Self, TraceError> {
        check_name(&header.name)?;
        let mut buffer = Vec::with_capacity(2 * BUFFER_BYTES);
        encode_header(header, sites, &mut buffer);
        Ok(Self {
            out,
            buffer,
            header: header.clone(),
            checker: Checker::new(),
            encoder: Encoder::new(sites.is_some()),
            stacks: sites.map_or(0, Sites::len),
        })
    }

    /// Writes the next event.
    ///
    /// # Errors
    /// The rule that the event breaks, which is then left out; or what writing failed with: then
    /// the writer is of no further use.
    pub fn write(&mut self, event: Event) -> Result<(), TraceError> {
        self.write_at(event, Stack::UNKNOWN)
    }

    /// Writes the next event, an allocation or reallocation from a stack of the table. A trace
    /// without call sites takes any stack, and forgets it.
    ///
    /// # Errors
    /// As [`Writer::write`]; the stack is not in the table.
    pub fn write_at(&mut self, event: Event, stack: Stack) -> Result<(), TraceError> {
        let position = self.position();
        if self.encoder.has_sites() && stack.number() as usize > self.stacks {
            return Err(Problem::UnknownStack(stack.number().into()).at(position));
        }
        self.checker
            .accept(event)
            .map_err(|problem| problem.at(position))?;
        self.encoder.event(event, stack, &mut self.buffer);
        if self.buffer.len() >= BUFFER_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes the END record and returns what was written to, flushed.
    ///
    /// # Errors
    /// The header does not match the events, or what writing failed with.
    pub fn finish(mut self) -> Result<W, TraceError> {
        let verified = self.checker.verify(&self.header.counts);
        verified.map_err(|problem| problem.at(self.position()))?;
        self.buffer.push(END);
        self.flush()?;
        self.out.flush().map_err(write_error)?;
        Ok(self.out)
    }

    fn position(&self) -> Position {
        Position {
            event: Some(self.checker.counts().events),
            byte: None,
        }
    }

    fn flush(&mut self) -> Result<(), TraceError> {
        self.out.write_all(&self.buffer).map_err(write_error)?;
        self.buffer.clear();
        Ok(())
    }
}

/// The END record.
pub(crate) const END: u8 = 7;

pub(crate) fn write_error(error: std::io::Error) -> TraceError {
    Problem::Write(error).at(Position::default())
}

/// Whether the format has room for a name.
pub(crate) fn check_name(name: &str) -> Result<(), TraceError> {
    if name.len() <= Header::MAX_NAME_BYTES {
        return Ok(());
    }
    let problem = Problem::NameTooLong(name.len() as u64);
    Err(problem.at(Position::default()))
}

/// Appends a header, whose name was checked, and the table of call sites.
pub(crate) fn encode_header(header: &Header, sites: Option<&Sites>, out: &mut Vec<u8>) {
    out.extend(codec::MAGIC);
    codec::write_integer(codec::version(sites.is_some()), out);
    codec::write_integer(header.name.len() as u64, out);
    out.extend(header.name.as_bytes());
    for (_, count) in header.counts.named() {
        codec::write_integer(count, out);
    }
    if let Some(sites) = sites {
        sites.encode(out);
    }
}
