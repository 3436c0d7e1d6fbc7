//! A trace that is replayed as it is read, in memory that follows its live objects.
//!
//! It is read twice: first to check it and to count what a replay must know before its first event,
//! then to replay it.

use std::borrow::Cow;
use std::fs::File;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use surefit_trace::{CheckedReader, Op, Reader};

use crate::memory;
use crate::passes::replay::Stop;
use crate::results::AllocatorResult;
use crate::single::{self, Setting};
use crate::spec::{Choice, Spec};
use crate::steps::{Calls, Left, Slots, Step, Steps, too_large};

/// Steps that are made at a time.
const PART_STEPS: usize = 1 << 14;

/// The steps of a trace, in parts.
#[derive(Debug)]
pub(crate) enum Feed<'s> {
    /// All at once; what is left of them.
    Whole(&'s Steps, bool),
    /// As a file is read.
    File(Box<Making>),
}

/// Steps in the making.
#[derive(Debug)]
pub(crate) struct Making {
    reader: Reader<File>,
    slots: Slots,
    part: Vec<Step>,
    /// Why the file does not go on as it did when it was checked.
    broken: Option<String>,
}

impl<'s> Feed<'s> {
    /// The steps of a trace in memory.
    pub(crate) fn of(steps: &'s Steps) -> Self {
        Self::Whole(steps, false)
    }

    fn open(file: &Path) -> Result<Self> {
        Ok(Self::File(Box::new(Making {
            reader: Reader::open(file)?,
            slots: Slots::default(),
            part: Vec::with_capacity(PART_STEPS),
            broken: None,
        })))
    }

    /// The next steps; `None` after the last.
    pub(crate) fn next_part(&mut self) -> Option<&[Step]> {
        match self {
            Self::Whole(_, true) => None,
            Self::Whole(steps, given) => {
                *given = true;
                Some(steps.steps())
            }
            Self::File(making) => making.next_part(),
        }
    }

    /// Whether the steps that came are those of the whole trace.
    pub(crate) fn sound(&self) -> Result<(), Stop> {
        match self {
            Self::File(making) => match &making.broken {
                Some(why) => Err(Stop::Broken(why.as_str().into())),
                None => Ok(()),
            },
            Self::Whole(..) => Ok(()),
        }
    }

    /// The objects that live after the last step.
    pub(crate) fn left(&mut self) -> Cow<'s, [Left]> {
        match self {
            Self::Whole(steps, _) => steps.left().into(),
            Self::File(making) => std::mem::take(&mut making.slots).into_left().into(),
        }
    }
}

impl Making {
    fn next_part(&mut self) -> Option<&[Step]> {
        self.part.clear();
        while self.part.len() < PART_STEPS && self.broken.is_none() {
            match self.next_step() {
                Ok(Some(step)) => self.part.push(step),
                Ok(None) => break,
                Err(error) => self.broken = Some(format!("the file changed: {error:#}")),
            }
        }
        (!self.part.is_empty()).then_some(&self.part)
    }

    fn next_step(&mut self) -> Result<Option<Step>> {
        let Some(event) = self.reader.next().transpose()? else {
            return Ok(None);
        };
        let step = self.slots.step(event.op())?;
        step.map(Some).context("it has another object")
    }
}

/// Replays a file on one allocator as it is read: each byte is written and verified, and memory is
/// measured, but no time. Also returns what is known of the trace.
///
/// # Errors
/// The file is no sound trace; the allocator lives in no region, or broke a rule. If it had no room, the row says so.
pub fn replay(file: &Path, spec: &Spec, setting: Setting) -> Result<(Steps, AllocatorResult)> {
    let kind = match &spec.choice {
        Choice::InProcess(kind) if kind.in_region() => kind,
        _ => bail!(
            "{spec}: --stream replays in a region of its own; leave it out, or choose an allocator that lives in one"
        ),
    };
    let steps = describe(file)?;
    memory::affordable("a heap", kind.heap_bytes(setting.heap, &steps) as u64)?;
    let row = single::check_fed(spec, kind, &steps, &mut Feed::open(file)?, setting)?;
    Ok((steps, row))
}

/// Checks the trace of a file, and says what a replay must know before its first event.
fn describe(file: &Path) -> Result<Steps> {
    let mut reader = CheckedReader::open(file)?;
    let (mut calls, mut event) = (Calls::default(), 0);
    while let Some(next) = reader.next().transpose()? {
        let (count, size) = match next.op() {
            Op::Alloc { size, .. } => (&mut calls.mallocs, size),
            Op::Realloc { size, .. } => (&mut calls.reallocs, size),
            Op::Free { .. } => (&mut calls.frees, 0),
        };
        *count += 1;
        if u32::try_from(size).is_err() {
            return Err(too_large(&reader.header().name, event));
        }
        event += 1;
    }
    let (header, peak) = (reader.header(), reader.peak().unwrap_or_default());
    let mut steps = Steps::described(&header.name, header.counts, peak)?;
    steps.calls = calls;
    Ok(steps)
}
