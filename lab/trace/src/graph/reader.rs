//! The reader: from the bytes of a recording to its steps.
#![deny(clippy::arithmetic_side_effects, clippy::cast_possible_truncation)]

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::graph::layouts::Layouts;
use crate::graph::record::read_record;
use crate::graph::rules::Rules;
use crate::graph::step::Step;
use crate::open::open_file;
use crate::source::Source;
use crate::{Position, Problem, TraceError};

/// Reads an object graph step by step, compressed or plain; it stops at the end or after the first
/// error.
#[derive(Debug)]
pub struct Reader<R: Read> {
    source: Source<R>,
    file: Option<PathBuf>,
    rules: Rules,
    finished: bool,
}

impl Reader<File> {
    /// Opens a file.
    ///
    /// # Errors
    /// The file cannot be opened or read, or is empty.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, TraceError> {
        let path = path.as_ref();
        Self::named(open_file(path)?, path)
    }
}

impl<R: Read> Reader<R> {
    /// Reads from any source of bytes; they are buffered here.
    ///
    /// # Errors
    /// Reading failed, or there is not one byte.
    pub fn new(input: R) -> Result<Self, TraceError> {
        let source =
            Source::of_one_frame(input).map_err(|problem| problem.at(Position::default()))?;
        Ok(Self {
            source,
            file: None,
            rules: Rules::default(),
            finished: false,
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

    /// Reads what is left, for the sake of a second reading.
    ///
    /// # Errors
    /// The first rule of the format that the recording breaks.
    pub fn layouts(mut self) -> Result<Layouts, TraceError> {
        self.by_ref().try_for_each(|step| step.map(drop))?;
        Ok(self.rules.layouts)
    }

    /// The same reader, to which objects have no more slots than an earlier reading of the same
    /// recording found used.
    #[must_use]
    pub fn knowing(mut self, layouts: Layouts) -> Self {
        self.rules.known = Some(layouts);
        self
    }

    fn error(&self, problem: Problem) -> TraceError {
        let error = problem.at(Position {
            event: None,
            byte: Some(self.rules.record),
        });
        match &self.file {
            Some(file) => error.in_file(file),
            None => error,
        }
    }

    /// Reads records until one completes a step; `None` at the end.
    fn read_step(&mut self) -> Result<Option<Step>, Problem> {
        loop {
            self.rules.record = self.source.position();
            let Some(record) = read_record(&mut self.source)? else {
                return self.rules.accept_end().map(|()| None);
            };
            if let Some(step) = self.rules.accept(record)? {
                return Ok(Some(step));
            }
        }
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = Result<Step, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.finished {
            return None;
        }
        match self.read_step() {
            Ok(Some(step)) => Some(Ok(step)),
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
