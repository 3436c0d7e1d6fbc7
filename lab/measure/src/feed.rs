//! The steps of a trace in parts: those in memory at once, those of a file as it is read.

use std::borrow::Cow;
use std::fs::File;
use std::path::Path;

use anyhow::{Context as _, Result};
use surefit_trace::Reader;

use crate::passes::replay::Stop;
use crate::steps::{InParts, Left, Slots, Step, Steps};

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

    /// The steps of a file, which was checked.
    ///
    /// # Errors
    /// It cannot be read.
    pub(crate) fn open(file: &Path) -> Result<Self> {
        Ok(Self::File(Box::new(Making {
            reader: Reader::open(file)?,
            slots: Slots::default(),
            part: Vec::with_capacity(PART_STEPS),
            broken: None,
        })))
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

impl InParts for Feed<'_> {
    fn next_part(&mut self) -> Option<&[Step]> {
        match self {
            Self::Whole(_, true) => None,
            Self::Whole(steps, given) => {
                *given = true;
                Some(steps.steps())
            }
            Self::File(making) => making.next_part(),
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
