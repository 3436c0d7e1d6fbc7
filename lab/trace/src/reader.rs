//! The streaming reader: event by event, in memory that does not grow with the trace.
//!
//! [`Reader`] checks what can be checked without tables: the shape of every record, that ids were
//! allocated before, alignments, sizes, that nothing follows the end. [`CheckedReader`] adds a
//! [`Checker`] and so keeps every rule of the format; its memory follows the most objects live at
//! once, not the length of the trace.
#![deny(clippy::arithmetic_side_effects, clippy::cast_possible_truncation)]

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::checker::Checker;
use crate::codec::{self, from_zigzag};
use crate::open::open_file;
use crate::source::Source;
use crate::{
    Align, Call, Counts, Event, Facts, Header, MAX_SIZE, Op, Peak, Position, Problem, Sites, Stack,
    TraceError,
};

/// Reads a trace event by event, compressed or plain; it stops after the END record or the first
/// error.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), surefit_trace::TraceError> {
/// use surefit_trace::{Call, Event, Op, Reader, Trace};
/// let alloc = Op::Alloc { id: 0, size: 40, call: Call::Malloc };
/// let bytes = Trace::new("tiny", vec![Event::new(0, alloc)])?.to_bytes();
/// let mut reader = Reader::new(&bytes[..])?;
/// assert_eq!(reader.header().counts.total_bytes, 40);
/// assert_eq!(reader.next().transpose()?.map(Event::op), Some(alloc));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Reader<R: Read> {
    source: Source<R>,
    header: Header,
    /// The table of call sites, if the trace has one.
    sites: Option<Sites>,
    /// The last stack named, and that of the last event.
    stacks: (Stack, Stack),
    file: Option<PathBuf>,
    /// Events given so far.
    events: u64,
    /// The first byte of the record being read.
    record: u64,
    next_id: u64,
    /// The last freed object plus one.
    predicted: u64,
    thread: u16,
    finished: bool,
    /// What follows the trace, once its END was read.
    rest: Vec<u8>,
}

impl Reader<File> {
    /// Opens a file and reads its header.
    ///
    /// # Errors
    /// The file cannot be opened or read, or its header is not that of a trace.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, TraceError> {
        let path = path.as_ref();
        Self::named(open_file(path)?, path)
    }
}

impl<R: Read> Reader<R> {
    /// Reads the header of a trace from any source of bytes; they are buffered here.
    ///
    /// # Errors
    /// Reading failed, or the header is not that of a trace.
    pub fn new(input: R) -> Result<Self, TraceError> {
        let mut source = Source::new(input).map_err(|problem| problem.at(Position::default()))?;
        let mut field = 0;
        let (header, sites) = read_header(&mut source, &mut field).map_err(|problem| {
            problem.at(Position {
                event: None,
                byte: Some(field),
            })
        })?;
        Ok(Self {
            record: source.position(),
            source,
            header,
            sites,
            stacks: Default::default(),
            file: None,
            events: 0,
            next_id: 0,
            predicted: 0,
            thread: 0,
            finished: false,
            rest: Vec::new(),
        })
    }

    /// As [`Reader::new`], with errors that name a file.
    ///
    /// # Errors
    /// As [`Reader::new`].
    pub fn named(input: R, file: &Path) -> Result<Self, TraceError> {
        let reader = Self::new(input).map_err(|error| error.in_file(file))?;
        let file = Some(file.to_owned());
        Ok(Self { file, ..reader })
    }

    /// What the trace says about itself; not yet checked against its records.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The table of call sites; `None` if the trace has none.
    #[must_use]
    pub fn sites(&self) -> Option<&Sites> {
        self.sites.as_ref()
    }

    /// From where the event that was read last was called: [`Sites::frames`] has its frames.
    /// Unknown for a free, and in a trace without call sites.
    #[inline]
    #[must_use]
    pub fn stack(&self) -> Stack {
        self.stacks.1
    }

    /// The facts behind the trace, once all events were read; `None` before that, and if there are
    /// none.
    ///
    /// # Errors
    /// The facts are damaged; the trace is not.
    pub fn facts(&self) -> Result<Option<Facts>, TraceError> {
        Facts::of_rest(&self.rest).map_err(|problem| {
            let error = problem.at(Position::default());
            match &self.file {
                Some(file) => error.in_file(file),
                None => error,
            }
        })
    }

    /// The next event to be read and where its record begins, in unpacked bytes.
    #[must_use]
    pub fn position(&self) -> Position {
        Position {
            event: Some(self.events),
            byte: Some(self.source.position()),
        }
    }

    /// The error for a problem with the record last read.
    pub(crate) fn error(&self, problem: Problem) -> TraceError {
        let error = problem.at(Position {
            event: Some(self.events),
            byte: Some(self.record),
        });
        match &self.file {
            Some(file) => error.in_file(file),
            None => error,
        }
    }

    /// Reads records up to and including the next event; `None` at END.
    #[inline]
    fn read_event(&mut self) -> Result<Option<Event>, Problem> {
        loop {
            self.record = self.source.position();
            let (op, value) = codec::read_record(&mut self.source)?;
            let op = match op {
                codec::ALLOC => self.allocate(value, Call::Malloc)?,
                codec::ZALLOC => self.allocate(value, Call::Calloc)?,
                codec::AALLOC => self.allocate_aligned(value)?,
                codec::REALLOC => self.reallocate(value)?,
                codec::FREE_AGE => self.free(self.object_of_age(value))?,
                codec::FREE_DELTA => {
                    self.free(self.predicted.checked_add_signed(from_zigzag(value)))?
                }
                codec::THREAD => {
                    self.switch_thread(value)?;
                    continue;
                }
                _ => return self.end(value),
            };
            if self.sites.is_some() {
                self.read_stack(op)?;
            }
            return Ok(Some(Event::new(self.thread, op)));
        }
    }

    #[expect(
        clippy::arithmetic_side_effects,
        reason = "objects have numbers of 32 bits, counted in 64"
    )]
    fn allocate(&mut self, size: u64, call: Call) -> Result<Op, Problem> {
        let size = checked_size(size)?;
        let id = u32::try_from(self.next_id).map_err(|_| Problem::TooMany {
            what: "objects",
            limit: crate::header::MAX_OBJECTS,
        })?;
        self.next_id += 1;
        Ok(Op::Alloc { id, size, call })
    }

    /// Reads from where an event was called.
    fn read_stack(&mut self, op: Op) -> Result<(), Problem> {
        self.stacks.1 = Stack::UNKNOWN;
        if let (Some(sites), Op::Alloc { .. } | Op::Realloc { .. }) = (&self.sites, op) {
            let delta = from_zigzag(codec::read_integer(&mut self.source)?);
            let number = i64::from(self.stacks.0.number()).saturating_add(delta);
            let stack = sites.checked(number)?;
            self.stacks = (stack, stack);
        }
        Ok(())
    }

    fn allocate_aligned(&mut self, log2: u64) -> Result<Op, Problem> {
        let align = u8::try_from(log2).ok().and_then(Align::from_log2);
        let align = align.ok_or(Problem::Align(log2))?;
        let size = codec::read_integer(&mut self.source)?;
        self.allocate(size, Call::Aligned(align))
    }

    fn reallocate(&mut self, age: u64) -> Result<Op, Problem> {
        let id = self.known(self.object_of_age(age))?;
        let size = checked_size(codec::read_integer(&mut self.source)?)?;
        Ok(Op::Realloc { id, size })
    }

    fn free(&mut self, id: Option<u64>) -> Result<Op, Problem> {
        let id = self.known(id)?;
        self.predicted = u64::from(id) + 1;
        Ok(Op::Free { id })
    }

    fn object_of_age(&self, age: u64) -> Option<u64> {
        self.next_id.checked_sub(1)?.checked_sub(age)
    }

    /// The object, if it was allocated before.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "every object that was allocated has a number of 32 bits"
    )]
    fn known(&self, id: Option<u64>) -> Result<u32, Problem> {
        match id {
            Some(id) if id < self.next_id => Ok(id as u32),
            _ => Err(Problem::NeverAllocated),
        }
    }

    fn switch_thread(&mut self, number: u64) -> Result<(), Problem> {
        self.thread = u16::try_from(number).map_err(|_| Problem::TooMany {
            what: "threads",
            limit: 1 << 16,
        })?;
        Ok(())
    }

    fn end(&mut self, value: u64) -> Result<Option<Event>, Problem> {
        if value != 0 {
            return Err(Problem::ReservedRecord(value));
        }
        self.rest = self.source.expect_end_or_facts()?;
        Ok(None)
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = Result<Event, TraceError>;

    #[expect(
        clippy::arithmetic_side_effects,
        reason = "events are counted in 64 bits"
    )]
    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.finished {
            return None;
        }
        match self.read_event() {
            Ok(Some(event)) => {
                self.events += 1;
                Some(Ok(event))
            }
            Ok(None) => {
                self.finished = true;
                None
            }
            Err(problem) => {
                self.finished = true;
                Some(Err(self.error(problem)))
            }
        }
    }
}

fn checked_size(size: u64) -> Result<u64, Problem> {
    if size > MAX_SIZE {
        return Err(Problem::Size(size));
    }
    Ok(size)
}

/// Reads the header; `field` is where the field being read begins.
fn read_header<R: Read>(
    source: &mut Source<R>,
    field: &mut u64,
) -> Result<(Header, Option<Sites>), Problem> {
    for letter in codec::MAGIC {
        // What differs is no trace, however short it is.
        match source.byte()? {
            Some(byte) if byte == letter => {}
            Some(_) => return Err(Problem::NotATrace),
            None => return Err(Problem::Truncated),
        }
    }
    let mut integer = |source: &mut Source<R>| {
        *field = source.position();
        codec::read_integer(source)
    };
    let has_sites = codec::has_sites(integer(source)?)?;
    let name_bytes = integer(source)?;
    let name = read_name(source, name_bytes)?;
    let counts = Counts {
        events: integer(source)?,
        objects: integer(source)?,
        threads: integer(source)?,
        peak_bytes: integer(source)?,
        peak_objects: integer(source)?,
        live_at_end: integer(source)?,
        total_bytes: integer(source)?,
    };
    *field = source.position();
    let sites = has_sites.then(|| Sites::read(source)).transpose()?;
    Ok((Header { name, counts }, sites))
}

fn read_name<R: Read>(source: &mut Source<R>, claimed: u64) -> Result<String, Problem> {
    match usize::try_from(claimed) {
        Ok(bytes) if bytes <= Header::MAX_NAME_BYTES => {
            String::from_utf8(source.bytes(bytes)?).map_err(|_| Problem::NameNotUtf8)
        }
        _ => Err(Problem::NameTooLong(claimed)),
    }
}

/// A [`Reader`] that keeps every rule of the format; the counters of the header are verified at the
/// end.
///
/// Its last item is an error if they do not match, so whoever reads to the end without an error has
/// read a sound trace.
#[derive(Debug)]
pub struct CheckedReader<R: Read> {
    reader: Reader<R>,
    checker: Checker,
    finished: bool,
}

impl CheckedReader<File> {
    /// Opens a file and reads its header.
    ///
    /// # Errors
    /// As [`Reader::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, TraceError> {
        Reader::open(path).map(Self::from)
    }
}

impl<R: Read> From<Reader<R>> for CheckedReader<R> {
    /// Checks what a reader gives; it must not have given any event yet.
    fn from(reader: Reader<R>) -> Self {
        Self {
            checker: Checker::new(),
            reader,
            finished: false,
        }
    }
}

impl<R: Read> CheckedReader<R> {
    /// As [`Reader::new`].
    ///
    /// # Errors
    /// As [`Reader::new`].
    pub fn new(input: R) -> Result<Self, TraceError> {
        Reader::new(input).map(Self::from)
    }

    /// What the trace says about itself; verified once the iteration ended without an error.
    #[must_use]
    pub fn header(&self) -> &Header {
        self.reader.header()
    }

    /// The next event to be read and where its record begins, in unpacked bytes.
    #[must_use]
    pub fn position(&self) -> Position {
        self.reader.position()
    }

    /// The table of call sites; `None` if the trace has none.
    #[must_use]
    pub fn sites(&self) -> Option<&Sites> {
        self.reader.sites()
    }

    /// As [`Reader::facts`].
    ///
    /// # Errors
    /// As [`Reader::facts`].
    pub fn facts(&self) -> Result<Option<Facts>, TraceError> {
        self.reader.facts()
    }

    /// As [`Reader::stack`].
    #[inline]
    #[must_use]
    pub fn stack(&self) -> Stack {
        self.reader.stack()
    }

    /// Where the sum of the live requests was greatest so far; `None` before the first event.
    #[must_use]
    pub fn peak(&self) -> Option<Peak> {
        self.checker.peak()
    }

    /// Reads what is left and returns the header, verified.
    ///
    /// # Errors
    /// The first rule that the trace breaks.
    pub fn finish(mut self) -> Result<Header, TraceError> {
        self.by_ref().try_for_each(|event| event.map(drop))?;
        Ok(self.reader.header)
    }

    pub(crate) fn into_parts(self) -> (Header, Option<Sites>) {
        (self.reader.header, self.reader.sites)
    }

    pub(crate) fn error(&self, problem: Problem) -> TraceError {
        self.reader.error(problem)
    }

    #[expect(clippy::arithmetic_side_effects, reason = "the event was counted")]
    fn accept(&mut self, event: Event) -> Result<Event, TraceError> {
        let accepted = self
            .checker
            .accept(event)
            .and_then(|()| self.checker.verify_bounds(&self.reader.header.counts));
        match accepted {
            Ok(()) => Ok(event),
            Err(problem) => {
                self.finished = true;
                self.reader.events -= 1; // the position is that of the event just read
                Err(self.reader.error(problem))
            }
        }
    }
}

impl<R: Read> Iterator for CheckedReader<R> {
    type Item = Result<Event, TraceError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.finished {
            return None;
        }
        match self.reader.next() {
            Some(Ok(event)) => Some(self.accept(event)),
            Some(error) => {
                self.finished = true;
                Some(error)
            }
            None => {
                self.finished = true;
                let verified = self.checker.verify(&self.reader.header.counts);
                verified
                    .err()
                    .map(|problem| Err(self.reader.error(problem)))
            }
        }
    }
}
