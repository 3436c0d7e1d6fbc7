//! The writer: from steps to the bytes of a recording.
#![deny(clippy::arithmetic_side_effects, clippy::cast_possible_truncation)]

use std::fmt;
use std::io::Write;

use crate::graph::encode::encode;
use crate::graph::layouts::Layouts;
use crate::graph::record::{Edges, Record, check_numbers};
use crate::graph::rules::Rules;
use crate::graph::step::{Object, Step};
use crate::graph::walk::Walk;
use crate::writer::write_error;
use crate::{Position, Problem, TraceError, frame};

/// Encoded bytes kept before they are handed on.
const BUFFER_BYTES: usize = 64 << 10;

/// Writes an object graph step by step, and never an unsound one: it keeps the rules that the
/// reader keeps.
///
/// Reading it gives the same steps, but for these: roots come in another order; field slots are
/// numbered as they appear; and an object that was [found](Step::Find) by a reader that
/// [knew](super::Reader::knowing) how many slots it uses may have more on a first reading.
/// [`Object::slots`], the clock of a walk and [`Walk::live`] are not written as given: they follow
/// from the rest.
pub struct Writer<W: Write> {
    out: W,
    buffer: Vec<u8>,
    /// Bytes handed on.
    written: u64,
    rules: Rules,
}

impl<W: Write> fmt::Debug for Writer<W> {
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "bytes that were written, in 64 bits"
    )]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.written + self.buffer.len() as u64;
        f.debug_struct("Writer")
            .field("bytes", &bytes)
            .finish_non_exhaustive()
    }
}

impl<W: Write> Writer<W> {
    /// Begins a recording. Give a compressor as `out` for a compressed one.
    #[must_use]
    pub fn new(out: W) -> Self {
        Self {
            out,
            buffer: Vec::with_capacity(2 * BUFFER_BYTES),
            written: 0,
            rules: Rules::default(),
        }
    }

    /// Writes the next step.
    ///
    /// # Errors
    /// The rule that the step breaks, or what writing failed with; the writer is then of no further
    /// use.
    pub fn write(&mut self, step: &Step) -> Result<(), TraceError> {
        match step {
            Step::Class(class) => self.record(Record::Class(class.clone())),
            Step::Allocate(object) => {
                self.check_id(object.id)?;
                self.record(Record::Allocation {
                    class: object.class,
                    bytes: object.bytes,
                })
            }
            Step::Find(object) => self.record(Record::Found {
                id: object.id,
                class: object.class,
                bytes: object.bytes,
                length: length_of(object),
            }),
            Step::Revive(object) => {
                self.begin_walk()?;
                self.record(Record::Again {
                    id: object.id,
                    bytes: object.bytes,
                })
            }
            Step::Walk(walk) => self.walk(walk),
        }
    }

    /// Returns what was written to, flushed.
    ///
    /// # Errors
    /// A walk has revived objects and never ended; what writing failed with.
    pub fn finish(mut self) -> Result<W, TraceError> {
        self.rules.accept_end().map_err(|it| self.error(it))?;
        self.flush()?;
        self.out.flush().map_err(write_error)?;
        Ok(self.out)
    }

    fn walk(&mut self, walk: &Walk) -> Result<(), TraceError> {
        self.begin_walk()?;
        for change in walk.changes() {
            let own = change.references.iter();
            self.record(Record::Edges(Edges {
                object: change.object,
                own: own.map(|edge| (edge.slot, edge.target)).collect(),
                class_level: change.class_level.to_vec(),
                class: None,
            }))?;
        }
        let gained = walk.roots_gained.iter().map(|&id| (id, true));
        let lost = walk.roots_lost.iter().map(|&id| (id, false));
        let mut roots: Vec<_> = gained.chain(lost).collect();
        roots.sort_unstable();
        self.record(Record::Roots(roots))?;
        self.record(Record::Deaths(walk.dead.clone()))
    }

    /// Begins the walk that the step belongs to, if none before it did.
    fn begin_walk(&mut self) -> Result<(), TraceError> {
        match self.rules.next_walk() {
            Some(begins) => self.record(begins),
            None => Ok(()),
        }
    }

    #[expect(
        clippy::arithmetic_side_effects,
        reason = "bytes that were written, in 64 bits"
    )]
    fn record(&mut self, record: Record) -> Result<(), TraceError> {
        self.rules.record = self.written + self.buffer.len() as u64;
        let checked = check_numbers(&record);
        checked.map_err(|it| self.error(it))?;
        encode(&record, &mut self.buffer);
        self.rules.accept(record).map_err(|it| self.error(it))?;
        match self.buffer.len() >= BUFFER_BYTES {
            true => self.flush(),
            false => Ok(()),
        }
    }

    /// The ids of allocations are not written, so they must be those that a reader counts.
    fn check_id(&mut self, id: u32) -> Result<(), TraceError> {
        let next = self.rules.next_id();
        match u64::from(id) == next {
            true => Ok(()),
            false => Err(self.error(Problem::FoundId { id, next })),
        }
    }

    fn error(&self, problem: Problem) -> TraceError {
        problem.at(Position {
            event: None,
            byte: Some(self.rules.record),
        })
    }

    #[expect(
        clippy::arithmetic_side_effects,
        reason = "bytes that were written, in 64 bits"
    )]
    fn flush(&mut self) -> Result<(), TraceError> {
        self.out.write_all(&self.buffer).map_err(write_error)?;
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}

/// The bytes of a recording as one compressed frame with a checksum, at a zstd level of 1 to 19. A
/// level outside this range becomes the nearest one.
///
/// # Errors
/// The compressor gives up.
pub fn compressed(bytes: &[u8], level: i32) -> Result<Vec<u8>, TraceError> {
    frame::pack(bytes, level).map_err(write_error)
}

/// The length of the array that a found object is, as far as its slots tell: of a plain object,
/// nothing.
fn length_of(object: &Object) -> Option<u32> {
    let Object { bytes, slots, .. } = *object;
    let is_array = |length| Layouts::of_undeclared(bytes, Some(length)).0 == slots;
    match Layouts::of_undeclared(bytes, None).0 == slots {
        true => None,
        false => [slots, 0].into_iter().find(|&length| is_array(length)),
    }
}
