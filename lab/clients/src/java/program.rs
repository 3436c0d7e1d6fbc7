//! A recording, ready for many replays.

use std::io::Read;

use surefit_trace::TraceError;
use surefit_trace::graph::{Live, Object, Reader, Step, Walk};

/// A recorded program in memory.
#[derive(Debug, Default)]
pub struct Program {
    pub(super) batches: Vec<Batch>,
    /// The greatest id of an object.
    pub(super) last_id: u32,
    allocations: u64,
    bytes: u64,
    most_live: Live,
}

/// The allocations before a walk, and the walk. The last batch has no walk.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) given: Vec<Object>,
    pub(super) walk: Option<Box<Walk>>,
}

impl Program {
    /// Reads a recording twice: the first reading finds out which slots objects have, the second
    /// uses this.
    ///
    /// # Errors
    /// The error of `open`, or the first rule of the format that the recording breaks.
    pub fn read<R: Read, E: From<TraceError>>(
        open: impl FnMut() -> Result<Reader<R>, E>,
    ) -> Result<Self, E> {
        Self::read_first(u64::MAX, open)
    }

    /// As [`Program::read`], but only up to the end of the first walk after `allocations`
    /// allocations.
    ///
    /// # Errors
    /// As `read`, for the whole recording.
    pub fn read_first<R: Read, E: From<TraceError>>(
        allocations: u64,
        mut open: impl FnMut() -> Result<Reader<R>, E>,
    ) -> Result<Self, E> {
        let layouts = open()?.layouts()?;
        let mut program = Self::default();
        let mut batch = Batch::default();
        for step in open()?.knowing(layouts) {
            match step? {
                Step::Class(_) => {}
                Step::Allocate(object) => {
                    program.allocations += 1;
                    program.bytes += u64::from(object.bytes);
                    batch.given.push(object);
                }
                Step::Find(object) | Step::Revive(object) => batch.given.push(object),
                Step::Walk(walk) => {
                    program.end(&mut batch, walk);
                    if program.allocations >= allocations {
                        break;
                    }
                }
            }
        }
        program.batches.push(batch);
        let given = program.batches.iter().flat_map(|batch| &batch.given);
        program.last_id = given.map(|object| object.id).max().unwrap_or_default();
        Ok(program)
    }

    fn end(&mut self, batch: &mut Batch, walk: Box<Walk>) {
        if walk.live.bytes > self.most_live.bytes {
            self.most_live = walk.live;
        }
        batch.walk = Some(walk);
        self.batches.push(std::mem::take(batch));
    }

    /// The number of recorded allocations.
    #[must_use]
    pub const fn allocations(&self) -> u64 {
        self.allocations
    }

    /// The sum of their sizes in the recorded virtual machine, in bytes.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The sizes of all objects in the recorded virtual machine, in bytes, in the order in which a
    /// replay allocates them. Objects that the recording found or revived are among them.
    pub fn sizes(&self) -> impl Iterator<Item = u32> {
        let given = self.batches.iter().flat_map(|batch| &batch.given);
        given.map(|object| object.bytes)
    }

    /// What was allocated before each walk, and the walk; nothing follows the last batch.
    pub fn batches(&self) -> impl Iterator<Item = (&[Object], Option<&Walk>)> {
        let batches = self.batches.iter();
        batches.map(|batch| (batch.given.as_slice(), batch.walk.as_deref()))
    }

    /// The peak live bytes of the recording, at the end of a walk.
    #[must_use]
    pub const fn most_live(&self) -> Live {
        self.most_live
    }
}
