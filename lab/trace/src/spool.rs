//! Writing a trace whose counters are known only after its last event.
#![deny(clippy::arithmetic_side_effects, clippy::cast_possible_truncation)]

use std::fmt;
use std::io::{self, Read, Seek, SeekFrom, Write};

use crate::checker::Checker;
use crate::codec::Encoder;
use crate::writer::{END, check_name, encode_header, write_error};
use crate::{Counts, Event, Header, Peak, Position, Sites, Stack, TraceError};

/// Encoded bytes kept before they are handed on.
const BUFFER_BYTES: usize = 64 << 10;

/// Takes a trace event by event, and never an unsound one. A header with the counters comes first
/// in the format; so the records go into a file of their own, and behind the header when all are
/// there.
///
/// Its memory follows the most objects live at once, its file the length of the trace: some three
/// bytes an event.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), surefit_trace::TraceError> {
/// use std::io::Cursor;
/// use surefit_trace::{Call, Event, Op, Spool, Trace};
/// let mut spool = Spool::new(Cursor::new(Vec::new()));
/// spool.write(Event::new(0, Op::Alloc { id: 0, size: 40, call: Call::Malloc }))?;
/// let mut bytes = Vec::new();
/// spool.finish("tiny", &mut bytes)?;
/// assert_eq!(Trace::from_bytes(&bytes)?.header().counts.peak_bytes, 40);
/// # Ok(())
/// # }
/// ```
pub struct Spool<F> {
    file: F,
    buffer: Vec<u8>,
    /// Bytes in the file.
    flushed: u64,
    checker: Checker,
    encoder: Encoder,
    /// The greatest of all stacks so far.
    last_stack: Stack,
}

impl<F> fmt::Debug for Spool<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spool")
            .field("counts", &self.checker.counts())
            .finish_non_exhaustive()
    }
}

impl<F: Read + Write + Seek> Spool<F> {
    /// No event yet. The file is written from its beginning; a temporary one does.
    pub fn new(file: F) -> Self {
        Self::made(file, false)
    }

    /// As [`Spool::new`], for a trace whose allocations name their call sites.
    pub fn with_stacks(file: F) -> Self {
        Self::made(file, true)
    }

    fn made(file: F, has_sites: bool) -> Self {
        Self {
            file,
            buffer: Vec::new(),
            flushed: 0,
            checker: Checker::new(),
            encoder: Encoder::new(has_sites),
            last_stack: Stack::UNKNOWN,
        }
    }

    /// Takes the next event.
    ///
    /// # Errors
    /// The rule that the event breaks, which is then left out; or what writing failed with: then
    /// the spool is of no further use.
    pub fn write(&mut self, event: Event) -> Result<(), TraceError> {
        self.write_at(event, Stack::UNKNOWN)
    }

    /// Takes the next event, an allocation or reallocation from a stack of the table that
    /// [`Spool::finish_with`] gets.
    ///
    /// # Errors
    /// As [`Spool::write`].
    pub fn write_at(&mut self, event: Event, stack: Stack) -> Result<(), TraceError> {
        self.checker.accept(event).map_err(|problem| {
            problem.at(Position {
                event: Some(self.checker.counts().events),
                byte: None,
            })
        })?;
        self.last_stack = self.last_stack.max(stack);
        self.encoder.event(event, stack, &mut self.buffer);
        if self.buffer.len() >= BUFFER_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    /// The header's counters, as counted so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.checker.counts()
    }

    /// Where the sum of the live requests was greatest so far; all zero before the first event.
    #[must_use]
    pub fn peak(&self) -> Peak {
        self.checker.peak().unwrap_or_default()
    }

    /// The bytes of the records so far.
    #[must_use]
    pub fn encoded_bytes(&self) -> u64 {
        self.flushed.saturating_add(self.buffer.len() as u64)
    }

    /// Writes the whole trace under a name, and returns its header.
    ///
    /// # Errors
    /// The name is too long, or what writing failed with.
    pub fn finish(self, name: &str, out: impl Write) -> Result<Header, TraceError> {
        self.finish_with(name, &Sites::default(), out)
    }

    /// As [`Spool::finish`], with the table of call sites; it is left out if the spool was made
    /// without stacks.
    ///
    /// # Errors
    /// As [`Spool::finish`]; an event's stack is not in the table.
    pub fn finish_with(
        mut self,
        name: &str,
        sites: &Sites,
        mut out: impl Write,
    ) -> Result<Header, TraceError> {
        check_name(name)?;
        let sites = self.encoder.has_sites().then_some(sites);
        if let Some(sites) = sites {
            let last = sites.checked(self.last_stack.number().into());
            last.map_err(|problem| problem.at(Position::default()))?;
        }
        self.buffer.push(END);
        self.flush()?;
        let header = Header {
            name: name.to_owned(),
            counts: self.checker.counts(),
        };
        encode_header(&header, sites, &mut self.buffer);
        out.write_all(&self.buffer).map_err(write_error)?;
        self.file.seek(SeekFrom::Start(0)).map_err(write_error)?;
        io::copy(&mut self.file, &mut out).map_err(write_error)?;
        out.flush().map_err(write_error)?;
        Ok(header)
    }

    fn flush(&mut self) -> Result<(), TraceError> {
        self.file.write_all(&self.buffer).map_err(write_error)?;
        self.flushed = self.encoded_bytes();
        self.buffer.clear();
        Ok(())
    }
}
