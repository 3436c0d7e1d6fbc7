//! What is wrong with a trace, where, and how to mend it: always one line.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::header::WITH_SITES;

/// An error in a trace: the file, the position, the problem and the mend. It prints as one line.
#[derive(thiserror::Error)]
pub struct TraceError(Box<Inner>);

struct Inner {
    file: Option<PathBuf>,
    position: Position,
    problem: Problem,
}

/// A place in a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// The event, numbered from 0; `None` in the header, in the file as a whole, in an object
    /// graph, and outside any file.
    pub event: Option<u64>,
    /// The first byte of the record or field, counted from 0 in the unpacked stream.
    pub byte: Option<u64>,
}

/// What can be wrong with a trace.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The file cannot be opened.
    #[error("cannot be opened: {0}")]
    Open(io::Error),
    /// Reading failed.
    #[error("cannot be read: {0}")]
    Read(io::Error),
    /// Writing failed.
    #[error("cannot be written: {0}")]
    Write(io::Error),
    /// There is not one byte.
    #[error("is empty")]
    Empty,
    /// The first four bytes are not those of a trace.
    #[error("is not a trace: it does not begin with SFT1")]
    NotATrace,
    /// The version of the format is unknown: that of a newer library, or 0, which never was one.
    #[error("has version {0} of the format; this surefit reads versions up to {newest}", newest = WITH_SITES)]
    Version(u64),
    /// The name is too long to be true.
    #[error("claims a name of {0} bytes, more than {max}", max = crate::Header::MAX_NAME_BYTES)]
    NameTooLong(u64),
    /// The name is not UTF-8.
    #[error("the name is not UTF-8")]
    NameNotUtf8,
    /// The stream or its compressed frame ends before the END record, or an object graph inside a
    /// record or a walk.
    #[error("ends too soon: it was cut short")]
    Truncated,
    /// The compressed frame cannot be unpacked, or its checksum does not match.
    #[error("the compressed frame is damaged ({0})")]
    Damaged(String),
    /// Bytes follow the END record or the compressed frame.
    #[error("bytes follow its END")]
    BytesAfterEnd,
    /// The facts behind the trace are damaged; the trace itself may be sound.
    #[error("the facts behind the trace are damaged: {0}")]
    Facts(String),
    /// An integer takes more than ten bytes, or more than 64 bits.
    #[error("an integer does not fit in 64 bits")]
    LongInteger,
    /// An END record with a value that the format reserves.
    #[error("has the unknown record 7 with value {0}")]
    ReservedRecord(u64),
    /// A thread number that skips one.
    #[error("names thread {number}, but only {appeared} threads appeared before")]
    Thread {
        /// The number.
        number: u64,
        /// How many threads appeared before.
        appeared: u64,
    },
    /// The object was not allocated before.
    #[error("names an object that was not allocated before")]
    NeverAllocated,
    /// The object was freed before.
    #[error("names object {id}, which is not live")]
    NotLive {
        /// The object.
        id: u32,
    },
    /// An allocation that skips or reuses a number; cannot be read from a file, only given to a
    /// writer.
    #[error("allocates object {id} where {next} is next")]
    WrongId {
        /// The number given.
        id: u32,
        /// The number that is next.
        next: u64,
    },
    /// An alignment above 1 GiB.
    #[error("asks for an alignment of 2^{0} bytes, more than 2^{max}", max = crate::Align::MAX_LOG2)]
    Align(u64),
    /// A request above 2^56 bytes.
    #[error("asks for {0} bytes, more than any machine can address")]
    Size(u64),
    /// The sum of all requests does not fit in 64 bits.
    #[error("the sum of all requests does not fit in 64 bits")]
    SumOverflow,
    /// A call site that the table before the events does not have.
    #[error("names call site {0}, which its table does not have")]
    UnknownStack(i64),
    /// A number in the table of call sites that is beyond what is there.
    #[error("has {number} in its table of call sites, beyond its {what}")]
    OutOfTable {
        /// `"texts"`, `"frames"`, `"stacks"` or `"bytes of a text"`.
        what: &'static str,
        /// The number.
        number: u64,
    },
    /// More events, objects, threads or distinct sizes than this library takes.
    #[error("holds more than {limit} {what}, the most that is supported")]
    TooMany {
        /// `"events"`, `"objects"`, `"live objects"`, `"threads"` or `"sizes"`.
        what: &'static str,
        /// The most.
        limit: u64,
    },
    /// The machine has not enough memory for the tables.
    #[error("needs more memory than there is")]
    OutOfMemory,
    /// A counter of the header does not match the records.
    #[error("the header says {field} = {header}, but the records give {counted}")]
    Counter {
        /// The counter, as the format names it.
        field: &'static str,
        /// What the header says.
        header: u64,
        /// What the records give so far, or in all.
        counted: u64,
    },
    /// The first byte is not the letter of a record of an object graph.
    #[error("is not an object graph: it begins with no record of one")]
    NotAGraph,
    /// A record of an object graph with a letter that the format does not know.
    #[error("has a record with the unknown letter {:?}", char::from(*.0))]
    UnknownLetter(u8),
    /// A record that belongs into a walk stands outside, or the other way round.
    #[error("has a record {letter} {place} a walk, where none can be")]
    Misplaced {
        /// The record's letter.
        letter: char,
        /// `"inside"` or `"outside"`.
        place: &'static str,
    },
    /// The clock of a walk does not match the records before it.
    #[error("the walk says {field} = {walk}, but the records give {counted}")]
    Clock {
        /// `"number"`, `"allocations"` or `"bytes"`.
        field: &'static str,
        /// What the walk says.
        walk: u64,
        /// What the records give.
        counted: u64,
    },
    /// An id that no record gave to an object.
    #[error("names object {0}, which no record before gave")]
    UnknownObject(i64),
    /// An object is first seen under an id that is not the next one.
    #[error("finds object {id} where {next} is next")]
    FoundId {
        /// The id given.
        id: u32,
        /// The id that is next.
        next: u64,
    },
    /// An object is found again that was never logged dead.
    #[error("finds object {id} again, which is not dead")]
    NotDead {
        /// The object.
        id: u32,
    },
    /// An object is found again with another size.
    #[error("finds object {id} again with {bytes} bytes, but it had {before}")]
    SizeChanged {
        /// The object.
        id: u32,
        /// Its size here, in bytes.
        bytes: u32,
        /// Its size before, in bytes.
        before: u32,
    },
    /// The class of an allocation was not declared before.
    #[error("allocates an object of class {0}, which was not declared before")]
    UnknownClass(u32),
    /// A class is declared twice.
    #[error("declares class {0} twice")]
    ClassTwice(u32),
    /// A class with more reference fields, or a longer signature, than a virtual machine takes.
    #[error("declares a class with {count} {what}, more than {max}")]
    HugeClass {
        /// `"reference fields"` or `"bytes of signature"`.
        what: &'static str,
        /// How many.
        count: u64,
        /// The most.
        max: u32,
    },
    /// An object of 2 GiB or more.
    #[error("holds an object of {0} bytes, more than 2147483647")]
    HugeObject(u64),
    /// An object too small for its header and its references.
    #[error("holds an object of {bytes} bytes, too small for a header and {slots} references")]
    SmallObject {
        /// Its size, in bytes.
        bytes: u32,
        /// Its reference slots.
        slots: u32,
    },
    /// More references than the object has slots, or a reference behind its last slot.
    #[error("sets slot {slot} of object {id}, which has no room for it among {slots}")]
    Slot {
        /// The object.
        id: u32,
        /// The slot, as recorded.
        slot: u32,
        /// The object's reference slots.
        slots: u32,
    },
    /// A record sets a slot of an object twice.
    #[error("sets slot {slot} of object {id} twice")]
    SlotTwice {
        /// The object.
        id: u32,
        /// The slot, as numbered by the reader, or that of the reference to the class.
        slot: u32,
    },
    /// A root that is one already, or is none.
    #[error("{} object {id} as a root, which is {} one", if *.gained { "adds" } else { "takes" }, if *.gained { "already" } else { "not" })]
    Root {
        /// The object.
        id: u32,
        /// Whether the record makes it a root.
        gained: bool,
    },
    /// A root is logged dead.
    #[error("logs object {id} dead, which is a root")]
    DeadRoot {
        /// The object.
        id: u32,
    },
}

impl Problem {
    /// What to do about it, in a phrase.
    #[must_use]
    pub fn mend(&self) -> &'static str {
        match self {
            Self::Open(_) => "check the path and its permissions",
            Self::Read(error) if error.kind() == io::ErrorKind::IsADirectory => "name a file",
            Self::Read(_) => "check the disk and try again",
            Self::Write(_) => "free some space, or choose another place",
            Self::Empty | Self::NotATrace => "give a .sft or .sft.zst file",
            Self::NotAGraph => "give a .sfg or .sfg.zst file",
            Self::Version(1..) => "read it with a newer surefit, or record the program again",
            Self::ReservedRecord(_) => "fetch a newer surefit, or the file again",
            Self::Truncated | Self::Damaged(_) | Self::LongInteger | Self::BytesAfterEnd => {
                "fetch the file again, or record the program again"
            }
            Self::Facts(_) => {
                "fetch the file again; without its facts, the trace can be used as it is"
            }
            Self::TooMany { .. } | Self::OutOfMemory => {
                "record a shorter run, or a part of the program"
            }
            _ => "the file is damaged or its writer is at fault: record the program again",
        }
    }

    /// This problem at a position.
    pub(crate) fn at(self, position: Position) -> TraceError {
        TraceError(Box::new(Inner {
            file: None,
            position,
            problem: self,
        }))
    }
}

impl TraceError {
    /// What is wrong.
    #[must_use]
    pub fn problem(&self) -> &Problem {
        &self.0.problem
    }

    /// Where it is.
    #[must_use]
    pub fn position(&self) -> Position {
        self.0.position
    }

    /// In which file, if the trace came from one.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        self.0.file.as_deref()
    }

    /// The same error, naming a file.
    #[must_use]
    pub fn in_file(mut self, file: &Path) -> Self {
        self.0.file = Some(file.to_owned());
        self
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.event, self.byte) {
            (Some(event), Some(byte)) => write!(f, "event {event} (unpacked byte {byte}): "),
            (Some(event), None) => write!(f, "event {event}: "),
            (None, Some(byte)) => write!(f, "unpacked byte {byte}: "),
            (None, None) => Ok(()),
        }
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &*self.0;
        match &inner.file {
            Some(file) => write!(f, "{}: ", file.display())?,
            None => f.write_str("trace: ")?,
        }
        let mend = inner.problem.mend();
        write!(f, "{}{}; {mend}", inner.position, inner.problem)
    }
}

impl fmt::Debug for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TraceError")
            .field("file", &self.0.file)
            .field("position", &self.0.position)
            .field("problem", &self.0.problem)
            .finish()
    }
}
