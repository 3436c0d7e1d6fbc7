//! A whole trace in memory, for those who go through it many times.
#![deny(clippy::arithmetic_side_effects, clippy::cast_possible_truncation)]

use std::io::{Read, Write};
use std::path::Path;

use crate::codec::Encoder;
use crate::header::{MAX_LIVE_OBJECTS, MAX_OBJECTS};
use crate::writer::{END, check_name, encode_header, write_error};
use crate::{
    CheckedReader, Checker, Compressor, Event, Header, Peak, Position, Problem, Sites, Stack,
    TraceError, Writer,
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
    called: Option<Called>,
}

/// From where each event was called.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Called {
    sites: Sites,
    /// One for each event, each of the table.
    stacks: Vec<Stack>,
}

/// Events reserved before the first one is read, whatever the header claims: 1 MiB.
const FIRST_EVENTS: u64 = 1 << 16;

impl Trace {
    /// The most events that are taken into memory: 2^28, which are 4 GiB.
    pub const MAX_EVENTS: u64 = 1 << 28;

    /// The most objects of a trace: 2^32, as many as have numbers.
    pub const MAX_OBJECTS: u64 = MAX_OBJECTS;

    /// The most objects live at once in a trace that is checked, in memory or not: 2^28, whose
    /// table takes 4 GiB. A stream of a few megabytes can allocate more, and no machine would hold
    /// the table of them.
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
            called: None,
        })
    }

    /// The same trace with call sites: a table, and for each event from where it was called, or
    /// unknown.
    ///
    /// # Errors
    /// A stack is not in the table, or there is not one for each event.
    pub fn with_sites(self, sites: Sites, stacks: Vec<Stack>) -> Result<Self, TraceError> {
        let at = |event: usize| Position {
            event: Some(event as u64),
            byte: None,
        };
        if stacks.len() != self.events.len() {
            let shorter = stacks.len().min(self.events.len());
            return Err(Problem::Truncated.at(at(shorter)));
        }
        for (event, stack) in stacks.iter().enumerate() {
            let known = sites.checked(stack.number().into());
            known.map_err(|problem| problem.at(at(event)))?;
        }
        Ok(Self {
            called: Some(Called { sites, stacks }),
            ..self
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

    /// Reads and checks a whole trace from bytes, compressed or plain; never panics, whatever they
    /// are.
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
        let has_sites = reader.sites().is_some();
        let mut stacks = Vec::new();
        while let Some(event) = reader.next().transpose()? {
            if events.len() == events.capacity() && events.try_reserve(1).is_err() {
                return Err(reader.error(Problem::OutOfMemory));
            }
            events.push(event);
            if has_sites {
                stacks.push(reader.stack());
            }
        }
        let peak = reader.peak().unwrap_or_default();
        let (header, sites) = reader.into_parts();
        Ok(Self {
            header,
            events,
            peak,
            called: sites.map(|sites| Called { sites, stacks }),
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

    /// The table of call sites; `None` if the trace has none.
    #[must_use]
    pub fn sites(&self) -> Option<&Sites> {
        self.called.as_ref().map(|called| &called.sites)
    }

    /// From where an event was called, by its number; [`Sites::frames`] has the frames. Unknown for
    /// a free, and in a trace without call sites.
    #[must_use]
    pub fn stack(&self, event: usize) -> Stack {
        let stacks = self.called.as_ref().map(|called| &called.stacks);
        let stack = stacks.and_then(|stacks| stacks.get(event));
        stack.copied().unwrap_or_default()
    }

    /// The trace as the bytes of the format, not compressed.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "events are longer than two bytes in memory"
    )]
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.events.len() * 2);
        encode_header(&self.header, self.sites(), &mut bytes);
        let mut encoder = Encoder::new(self.called.is_some());
        for (number, &event) in self.events.iter().enumerate() {
            encoder.event(event, self.stack(number), &mut bytes);
        }
        bytes.push(END);
        bytes
    }

    /// Writes the trace, not compressed.
    ///
    /// # Errors
    /// What writing failed with.
    pub fn write(&self, out: impl Write) -> Result<(), TraceError> {
        self.write_events(out, |_| {}).map(drop)
    }

    /// Writes the trace compressed, at a zstd level of 1 to 19. A level outside this range becomes
    /// the nearest one. `progress` is called now and then with the number of events written so far.
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
        let out = self.write_events(out, progress)?;
        out.finish().map(drop).map_err(write_error)
    }

    fn write_events<W: Write>(
        &self,
        out: W,
        mut progress: impl FnMut(u64),
    ) -> Result<W, TraceError> {
        let mut writer = Writer::with_sites(out, &self.header, self.sites())?;
        for (number, &event) in self.events.iter().enumerate() {
            if number % (1 << 14) == 0 {
                progress(number as u64);
            }
            writer.write_at(event, self.stack(number))?;
        }
        progress(self.events.len() as u64);
        writer.finish()
    }
}

/// Reads and checks a trace from any bytes, in bounded memory, and returns its verified header: the
/// target of fuzzers.
///
/// # Errors
/// The first rule of the format that the bytes break.
pub fn check_bytes(bytes: &[u8]) -> Result<Header, TraceError> {
    CheckedReader::new(bytes)?.finish()
}
