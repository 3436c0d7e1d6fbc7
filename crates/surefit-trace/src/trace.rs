//! A whole trace in memory, for those who go through it many times.
#![deny(clippy::arithmetic_side_effects, clippy::cast_possible_truncation)]

use std::io::{Read, Write};
use std::path::Path;

use crate::header::{MAX_LIVE_OBJECTS, MAX_OBJECTS};
use crate::codec::Encoder;
use crate::writer::{END, check_name, encode_header, write_error};
use crate::{
    CheckedReader, Checker, Event, Header, Peak, Compressor, Position, Problem, TraceError, Writer,
};

/// A sound trace in memory: 16 bytes an event.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), surefit_trace::TraceError> {
/// use surefit_trace::{Call, Event, Op, Trace};
/// let script = [Op::Alloc { id: 0, size: 40, call: Call::Calloc }, Op::Free { id: 0 }];
/// let trace = Trace::new("tiny", script.map(|op| Event::new(0, op)).to_vec())?;
/// assert_eq!(trace.header().counts.peak_bytes, 40);
/// assert_eq!(Trace::from_bytes(&trace.to_bytes())?, trace);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    header: Header,
    /// Every rule of the format holds for them, and the header counts them.
    events: Vec<Event>,
    peak: Peak,
}

/// Events reserved before the first one is read, whatever the header claims: 1 MiB.
const FIRST_EVENTS: u64 = 1 << 16;

impl Trace {
    /// The most events that are taken into memory: 2^28, which are 4 GiB.
    pub const MAX_EVENTS: u64 = 1 << 28;

    /// The most objects of a trace: 2^32, as many as have numbers.
    pub const MAX_OBJECTS: u64 = MAX_OBJECTS;

    /// The most objects live at once in a trace that is checked, in memory or not: 2^28, whose table takes 10 GB. A
    /// stream of a few megabytes can allocate more, and no machine would hold the table of them.
    pub const MAX_LIVE_OBJECTS: u64 = MAX_LIVE_OBJECTS;

    /// A trace of these events; its header is counted.
    ///
    /// # Errors
    /// The first rule of the format that the events break, or a name that is too long.
    pub fn new(name: &str, events: Vec<Event>) -> Result<Self, TraceError> {
        check_name(name)?;
        let mut checker = Checker::new();
        for (number, &event) in (0..).zip(&events) {
            checker.accept(event).map_err(|problem| {
                problem.at(Position {
                    event: Some(number),
                    byte: None,
                })
            })?;
        }
        Ok(Self {
            header: Header {
                name: name.to_owned(),
                counts: checker.counts(),
            },
            events,
            peak: checker.peak().unwrap_or_default(),
        })
    }

    /// Reads and checks a whole file.
    ///
    /// # Errors
    /// The file cannot be read, or breaks a rule of the format; or it is too large for memory.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, TraceError> {
        Self::collect(CheckedReader::open(path)?)
    }

    /// Reads and checks a whole trace from any source of bytes, compressed or plain.
    ///
    /// # Errors
    /// As [`Trace::load`].
    pub fn read(input: impl Read) -> Result<Self, TraceError> {
        Self::collect(CheckedReader::new(input)?)
    }

    /// Reads and checks a whole trace from bytes, compressed or plain; never panics, whatever they are.
    ///
    /// # Errors
    /// As [`Trace::load`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, TraceError> {
        Self::read(bytes)
    }

    fn collect<R: Read>(mut reader: CheckedReader<R>) -> Result<Self, TraceError> {
        let claimed = reader.header().counts.events;
        if claimed > Self::MAX_EVENTS {
            return Err(reader.error(Problem::TooMany {
                what: "events",
                limit: Self::MAX_EVENTS,
            }));
        }
        let mut events = Vec::with_capacity(claimed.min(FIRST_EVENTS) as usize);
        while let Some(event) = reader.next().transpose()? {
            if events.len() == events.capacity() && events.try_reserve(1).is_err() {
                return Err(reader.error(Problem::OutOfMemory));
            }
            events.push(event);
        }
        Ok(Self {
            peak: reader.peak().unwrap_or_default(),
            header: reader.into_header(),
            events,
        })
    }

    /// The name and the counters.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The trace's name. It may come from a file: escape it before printing.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.header.name
    }

    /// The events, numbered by their place.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Where the sum of the live requests is greatest; all zero for a trace without events.
    #[must_use]
    pub fn peak(&self) -> Peak {
        self.peak
    }

    /// The trace as the bytes of the format, not compressed.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "events are longer than two bytes in memory"
    )]
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.events.len() * 2);
        encode_header(&self.header, &mut bytes);
        let mut encoder = Encoder::default();
        for &event in &self.events {
            encoder.event(event, &mut bytes);
        }
        bytes.push(END);
        bytes
    }

    /// Writes the trace, not compressed.
    ///
    /// # Errors
    /// What writing failed with.
    pub fn write(&self, out: impl Write) -> Result<(), TraceError> {
        self.write_events(Writer::new(out, &self.header)?, |_| {})
            .map(drop)
    }

    /// Writes the trace compressed, at a zstd level of 1 to 19. A level outside this range becomes the
    /// nearest one. `progress` is called now and then with the number of events written so far.
    ///
    /// # Errors
    /// What writing failed with.
    pub fn write_compressed(
        &self,
        out: impl Write,
        level: i32,
        progress: impl FnMut(u64),
    ) -> Result<(), TraceError> {
        let out = Compressor::new(out, level);
        let out = self.write_events(Writer::new(out, &self.header)?, progress)?;
        out.finish().map(drop).map_err(write_error)
    }

    #[expect(clippy::arithmetic_side_effects, reason = "events of a vector")]
    fn write_events<W: Write>(
        &self,
        mut writer: Writer<W>,
        mut progress: impl FnMut(u64),
    ) -> Result<W, TraceError> {
        let mut written = 0;
        for events in self.events.chunks(1 << 14) {
            events.iter().try_for_each(|&event| writer.write(event))?;
            written += events.len() as u64;
            progress(written);
        }
        writer.finish()
    }
}

/// Reads and checks a trace from any bytes, in bounded memory, and returns its verified header: the target of fuzzers.
///
/// # Errors
/// The first rule of the format that the bytes break.
pub fn check_bytes(bytes: &[u8]) -> Result<Header, TraceError> {
    CheckedReader::new(bytes)?.finish()
}
