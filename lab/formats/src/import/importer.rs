//! One importer for all recordings: it recognises them by their content.

use std::fmt;
use std::io::{BufRead, BufReader, Read};

use surefit_trace::{Event, Sites, Stack};

use super::board::{Board, BoardNotes};
use super::error::ImportError;
use super::heaptrack::{Form, Heaptrack};
use super::lines::Lines;
use super::unpack::{Unpacked, failed};

/// What a recording was recognised as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// heaptrack's, as its preloaded library writes it.
    HeaptrackRaw,
    /// heaptrack's, interpreted.
    HeaptrackInterpreted,
    /// The frames of a board.
    Board,
}

impl Kind {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::HeaptrackRaw => "heaptrack-raw",
            Self::HeaptrackInterpreted => "heaptrack-interpreted",
            Self::Board => "board",
        }
    }
}

/// What a recording does not say, or lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// Frees of objects that the recording does not know; left out.
    pub unknown_frees: u64,
    /// heaptrack: objects that came to an address at which another one lives. A board: objects
    /// whose free is missing; it is put before the object that took their place.
    pub overlapping: u64,
    /// Threads above the 65,536th; their events are those of the last thread.
    pub more_threads: u64,
    /// Whether the file ends in the middle of something.
    pub is_cut: bool,
    /// Whether the recording began while the program ran.
    pub is_attached: bool,
    /// What a board's recording lost; `None` for others.
    pub board: Option<BoardNotes>,
}

/// Reads a recording, and gives its events one after the other.
///
/// # Examples
/// ```
/// use surefit_formats::import::{Importer, Kind};
/// let recording = "v 10400 3\n+ 28 1 7f00\n- 7f00\n";
/// let mut importer = Importer::new(Box::new(recording.as_bytes()))?;
/// let mut events = Vec::new();
/// while let Some(event) = importer.next_event()? {
///     events.push(event);
/// }
/// assert_eq!((events.len(), importer.kind()), (2, Kind::HeaptrackRaw));
/// # Ok::<(), surefit_formats::import::ImportError>(())
/// ```
pub struct Importer(Input);

enum Input {
    Heaptrack(Box<Heaptrack>),
    Board(Box<Board>),
}

impl fmt::Debug for Importer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Importer")
            .field("kind", &self.kind())
            .field("notes", &self.notes())
            .finish_non_exhaustive()
    }
}

impl Importer {
    /// Recognises a recording by its first bytes; it may be compressed by zstd or gzip.
    ///
    /// # Errors
    /// The recording cannot be read, or it is known to be none.
    pub fn new(input: Box<dyn Read>) -> Result<Self, ImportError> {
        let mut input = BufReader::with_capacity(64 << 10, Unpacked::new(input)?);
        let first = input.fill_buf().map_err(failed)?;
        if first.is_empty() {
            let is_cut = input.get_ref().is_cut();
            return Err(if is_cut {
                ImportError::Cut
            } else {
                ImportError::Empty
            });
        }
        if first.starts_with(b"SFT1") {
            return Err(ImportError::Trace);
        }
        let input = if first.starts_with(b"v ") {
            Input::Heaptrack(Box::new(Heaptrack::new(Lines::new(input))?))
        } else {
            Input::Board(Box::new(Board::new(input)))
        };
        Ok(Self(input))
    }

    /// The next event; `None` at the end. The events of a whole recording are a sound trace.
    ///
    /// # Errors
    /// The recording cannot be read, is damaged where it must not be, or is none after all.
    pub fn next_event(&mut self) -> Result<Option<Event>, ImportError> {
        match &mut self.0 {
            Input::Heaptrack(heaptrack) => heaptrack.next_event(),
            Input::Board(board) => board.next_event(),
        }
    }

    /// The stack of the last event that was given, in the table of [`Importer::take_sites`];
    /// unknown for a free.
    #[must_use]
    pub fn stack(&self) -> Stack {
        match &self.0 {
            Input::Heaptrack(heaptrack) if heaptrack.has_call_sites => heaptrack.stack,
            _ => Stack::UNKNOWN,
        }
    }

    /// Whether the recording says call sites. It is known after the first event.
    #[must_use]
    pub fn has_call_sites(&self) -> bool {
        match &self.0 {
            Input::Heaptrack(heaptrack) => heaptrack.has_call_sites,
            Input::Board(_) => false,
        }
    }

    /// Says who knows the functions of a raw recording of heaptrack, which has addresses only: by
    /// the file of a program or library, and where in there a call returns to. Without it, call
    /// sites have no names.
    pub fn name_functions(&mut self, by: impl FnMut(&str, u64) -> Option<String> + 'static) {
        if let Input::Heaptrack(heaptrack) = &mut self.0 {
            heaptrack.places.name_by(Box::new(by));
        }
    }

    /// The table of the stacks, at the end; afterwards it is empty.
    pub fn take_sites(&mut self) -> Sites {
        match &mut self.0 {
            Input::Heaptrack(heaptrack) if heaptrack.has_call_sites => {
                heaptrack.places.take_sites()
            }
            _ => Sites::default(),
        }
    }

    /// The name of the recorded program, where the recording says it.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match &self.0 {
            Input::Heaptrack(heaptrack) => heaptrack.name.as_deref(),
            Input::Board(_) => None,
        }
    }

    /// What the recording is. Of heaptrack's it is known after the first event.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match &self.0 {
            Input::Heaptrack(heaptrack) => match heaptrack.form {
                Some(Form::Interpreted) => Kind::HeaptrackInterpreted,
                _ => Kind::HeaptrackRaw,
            },
            Input::Board(_) => Kind::Board,
        }
    }

    /// What is missing so far.
    #[must_use]
    pub fn notes(&self) -> Notes {
        match &self.0 {
            Input::Heaptrack(heaptrack) => Notes {
                unknown_frees: heaptrack.unknown,
                overlapping: heaptrack.overlapping,
                is_cut: heaptrack.is_cut(),
                is_attached: heaptrack.is_attached,
                ..Notes::default()
            },
            Input::Board(board) => Notes {
                unknown_frees: board.objects.unknown,
                overlapping: board.objects.missed,
                more_threads: board.objects.more_threads(),
                is_cut: board.is_cut(),
                board: Some(board.notes()),
                ..Notes::default()
            },
        }
    }
}
