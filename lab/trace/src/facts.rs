//! What is known of the process that a trace was recorded from, beside its events.
//!
//! The facts lie behind the frames of a compressed trace, in a frame of their own that every
//! decompressor of zstd skips; the module [`mod@crate::format`] describes it. So the trace itself
//! is the same with facts and without.
#![deny(clippy::arithmetic_side_effects, clippy::cast_possible_truncation)]

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::open::open_file;
use crate::{Counts, Position, Problem, TraceError};

/// The first bytes of the frame: one of the sixteen numbers of frames that are skipped.
const MAGIC: [u8; 4] = 0x184D_2A53_u32.to_le_bytes();

/// The last bytes of the frame.
const END: [u8; 4] = *b"SFF1";

/// Bytes before the text: [`MAGIC`], and the bytes that follow.
const HEAD_BYTES: usize = 8;

/// Bytes behind the text: its length, and [`END`].
const FOOT_BYTES: usize = 8;

/// The longest text.
const MOST_TEXT_BYTES: usize = 1 << 16;

/// The most bytes of a frame of facts.
pub(crate) const MOST_BYTES: usize = HEAD_BYTES + MOST_TEXT_BYTES + FOOT_BYTES;

/// What is known of a recorded process. Each part may be missing: times and growth are if the log
/// ended before the recording did. A newer recorder may say more, which is left out here.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), surefit_trace::TraceError> {
/// use surefit_trace::{Facts, Trace};
/// let facts = Facts { cpu_ns: Some(7_000), ..Facts::default() };
/// let file = std::env::temp_dir().join(format!("facts-{}.sft.zst", std::process::id()));
/// let mut bytes = Vec::new();
/// let trace = Trace::new("tiny", Vec::new())?;
/// trace.write_compressed(&mut bytes, 3, |_| {})?;
/// bytes.extend(facts.to_frame());
/// # std::fs::write(&file, &bytes).expect("written");
/// assert_eq!(Trace::from_bytes(&bytes)?, trace);
/// assert_eq!(Facts::load(&file)?, Some(facts));
/// # std::fs::remove_file(&file).expect("removed");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Facts {
    /// What recorded it, and its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorder: Option<String>,
    /// The processor time of the process and its threads, in nanoseconds, user and system, until
    /// the recording ended. The recorder's own work is part of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<u64>,
    /// The time from the program's begin until the recording ended, in nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_ns: Option<u64>,
    /// The most resident memory that was seen, in bytes: program, libraries, stacks and heap,
    /// without the recorder's log. It may have been a little more between two looks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_resident_bytes: Option<u64>,
    /// By how much the resident anonymous memory had grown since the program began, in bytes, where
    /// the most was seen: heaps, however the program got them, and stacks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grown_bytes: Option<u64>,
    /// The library that the program's malloc is in; absent if that is the C library.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allocator: Option<String>,
    /// A function of an allocator that the program brings beside malloc, by its name. What it
    /// serves was not recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_allocator: Option<String>,
    /// Whether malloc's part of the program was asked for, whatever else serves it.
    #[serde(skip_serializing_if = "is_false")]
    pub is_malloc_only: bool,
    /// Whether the calls of all of the process are in the trace; absent if that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_whole: Option<bool>,
}

// The signature is that of serde.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_false(value: &bool) -> bool {
    !value
}

/// A heap that grew beside malloc: the trace cannot be the program's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beside {
    /// By how much the process grew: [`Facts::grown_bytes`].
    pub grown_bytes: u64,
    /// The peak of the live bytes of the trace.
    pub recorded_bytes: u64,
}

/// What a process may grow by without asking malloc: the stacks of threads, static memory, and
/// the caches of libraries.
const LEAST_BESIDE_BYTES: u64 = 16 << 20;

/// How many times what was recorded it has to be: no fragmentation explains more.
const TIMES_BESIDE: u64 = 16;

/// What an object may take beside its request, in bytes.
const OVERHEAD_BYTES: u64 = 64;

impl Facts {
    /// Reads the facts behind a trace's frames, without the trace. `None` if there are none, as in
    /// a trace that is not compressed, or if it is no file, as a pipe.
    ///
    /// # Errors
    /// The file cannot be read, or its facts are damaged; the trace may be sound nevertheless.
    pub fn load(path: impl AsRef<Path>) -> Result<Option<Self>, TraceError> {
        let path = path.as_ref();
        let file = open_file(path)?;
        let is_file = file.metadata().is_ok_and(|about| about.is_file());
        let read = if is_file { Self::of(file) } else { Ok(None) };
        read.map_err(|problem| problem.at(Position::default()).in_file(path))
    }

    /// The facts at the end of a file.
    fn of(mut file: File) -> Result<Option<Self>, Problem> {
        let bytes = file.seek(SeekFrom::End(0)).map_err(Problem::Read)?;
        let start = bytes.saturating_sub(MOST_BYTES as u64);
        file.seek(SeekFrom::Start(start)).map_err(Problem::Read)?;
        let mut last = Vec::new();
        file.read_to_end(&mut last).map_err(Problem::Read)?;
        let Some((rest, foot)) = last.split_last_chunk::<FOOT_BYTES>() else {
            return Ok(None);
        };
        let Some(text_bytes) = text_bytes(*foot) else {
            return Ok(None);
        };
        let begins = text_bytes.checked_add(HEAD_BYTES);
        let begins = begins.and_then(|bytes| rest.len().checked_sub(bytes));
        match begins {
            Some(begins) => Self::of_frame(&last[begins..]).map(Some),
            None => Err(damaged("they claim more bytes than there are")),
        }
    }

    /// The facts of what stands behind a trace: a whole frame. `None` if it is another frame that
    /// decompressors skip.
    pub(crate) fn of_rest(rest: &[u8]) -> Result<Option<Self>, Problem> {
        if rest.is_empty() || rest.len() >= MAGIC.len() && !rest.starts_with(&MAGIC) {
            return Ok(None);
        }
        Self::of_frame(rest).map(Some)
    }

    fn of_frame(frame: &[u8]) -> Result<Self, Problem> {
        let cut = || damaged("they are cut short");
        let (magic, rest) = frame.split_first_chunk().ok_or_else(cut)?;
        let (claimed, rest) = rest.split_first_chunk().ok_or_else(cut)?;
        let (text, foot) = rest.split_last_chunk().ok_or_else(cut)?;
        if *magic != MAGIC || u32::from_le_bytes(*claimed) as usize != rest.len() {
            return Err(cut());
        }
        if text_bytes(*foot) != Some(text.len()) {
            return Err(damaged("their length is another one"));
        }
        if !text.starts_with(b"{") {
            return Err(damaged("they are no object of JSON"));
        }
        serde_json::from_slice(text).map_err(|error| damaged(&error.to_string()))
    }

    /// The frame that is appended to a compressed trace. Text beyond 64 KiB, which no recorder
    /// writes, is left out.
    #[must_use]
    pub fn to_frame(&self) -> Vec<u8> {
        let text = serde_json::to_vec(self).unwrap_or_default();
        let text = match u32::try_from(text.len()) {
            Ok(_) if text.len() <= MOST_TEXT_BYTES => text,
            _ => b"{}".to_vec(),
        };
        let length = |bytes: usize| u32::try_from(bytes).unwrap_or(0).to_le_bytes();
        let payload = text.len().saturating_add(FOOT_BYTES);
        [
            &MAGIC[..],
            &length(payload),
            &text,
            &length(text.len()),
            &END,
        ]
        .concat()
    }

    /// Whether nearly all of the program's memory came from elsewhere than the recorded malloc: it
    /// grew by at least 16 MiB, and by 16 times what all recorded objects can have taken. `counts`
    /// are those of the trace's header.
    #[must_use]
    pub fn beside(&self, counts: &Counts) -> Option<Beside> {
        let grown_bytes = self.grown_bytes?;
        let overhead = counts.peak_objects.saturating_mul(OVERHEAD_BYTES);
        let explained = counts.peak_bytes.saturating_add(overhead);
        let is_beside =
            grown_bytes >= LEAST_BESIDE_BYTES && grown_bytes / TIMES_BESIDE >= explained;
        is_beside.then_some(Beside {
            grown_bytes,
            recorded_bytes: counts.peak_bytes,
        })
    }
}

/// The bytes of the text before a foot; `None` if it is none.
fn text_bytes(foot: [u8; FOOT_BYTES]) -> Option<usize> {
    let (length, end) = foot.split_first_chunk()?;
    (end == END).then(|| u32::from_le_bytes(*length) as usize)
}

fn damaged(why: &str) -> Problem {
    Problem::Facts(why.to_owned())
}

/// Whether bytes behind a trace are a frame that decompressors skip, or the begin of one.
pub(crate) fn is_skipped(rest: &[u8]) -> bool {
    let magic = &MAGIC[1..];
    match rest {
        [] => false,
        [first, others @ ..] => {
            let others = &others[..others.len().min(magic.len())];
            first >> 4 == MAGIC[0] >> 4 && magic.starts_with(others)
        }
    }
}
