//! What `surefit trace import` says: a line for the trace, and one for each thing that is missing.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use surefit_formats::import::{BoardNotes, Importer, Notes};
use surefit_measure::results::SCHEMA;
use surefit_measure::sizes::{Size, counted};

use crate::trace_cmd::report::Described;
use crate::trace_cmd::summary;

/// The document of `surefit trace import --format json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Document {
    /// The version of this format.
    schema: u32,
    /// The file that was written.
    file: String,
    /// Its bytes.
    file_bytes: u64,
    /// What the recording is: "heaptrack-raw", "heaptrack-interpreted" or "board".
    from: &'static str,
    /// The figures of the trace.
    trace: Described,
    /// Stacks of call sites; absent if the recording says none.
    #[serde(skip_serializing_if = "Option::is_none")]
    stacks: Option<u64>,
    /// Frees of objects that the recording does not know; left out.
    unknown_frees: u64,
    /// Objects placed where another one lives. From heaptrack both live on; on a board the free of
    /// the other one is missing, and is put before.
    overlapping_objects: u64,
    /// Threads above the 65,536th; their events are those of the last thread.
    more_threads: u64,
    /// Whether the recording ends in the middle of something.
    cut_short: bool,
    /// Whether the recording began while the program ran.
    attached: bool,
    /// What got lost on the way from a board; absent for other recordings.
    #[serde(skip_serializing_if = "Option::is_none")]
    board: Option<Board>,
}

/// What got lost on the way from a board.
#[derive(Debug, JsonSchema, Serialize)]
struct Board {
    /// Events that arrived.
    arrived_events: u64,
    /// Events that were sent and did not arrive, as the numbers of the others say.
    lost_events: u64,
    /// Events that came again; left out.
    repeated_events: u64,
    /// Pieces between two frames that are no sound frame: damaged ones, and other output; skipped.
    damaged_pieces: u64,
    /// Their bytes.
    damaged_bytes: u64,
    /// How often the board began anew; what lived then is freed there.
    restarts: u64,
    /// Reallocations of objects whose allocation was lost; they are allocations.
    found_objects: u64,
}

impl From<BoardNotes> for Board {
    fn from(notes: BoardNotes) -> Self {
        Self {
            arrived_events: notes.events,
            lost_events: notes.lost_events,
            repeated_events: notes.repeated_events,
            damaged_pieces: notes.damaged_pieces,
            damaged_bytes: notes.damaged_bytes,
            restarts: notes.restarts,
            found_objects: notes.found_objects,
        }
    }
}

impl Document {
    pub(super) fn new(
        path: &Path,
        file_bytes: u64,
        (trace, stacks): (Described, Option<u64>),
        importer: &Importer,
    ) -> Self {
        let notes: Notes = importer.notes();
        Self {
            schema: SCHEMA,
            file: path.display().to_string(),
            file_bytes,
            from: importer.kind().name(),
            trace,
            stacks,
            unknown_frees: notes.unknown_frees,
            overlapping_objects: notes.overlapping,
            more_threads: notes.more_threads,
            cut_short: notes.is_cut,
            attached: notes.is_attached,
            board: notes.board.map(Board::from),
        }
    }

    pub(super) fn to_text(&self) -> String {
        let mut text = format!(
            "{}: {}, {} on disk\n",
            self.file,
            summary(&self.trace),
            Size(self.file_bytes)
        );
        let mut lines = vec![self.origin().to_owned()];
        if let Some(stacks) = self.stacks {
            lines.push(format!(
                "with call sites: {} (surefit trace stats --sites)",
                counted(stacks, "stack")
            ));
        }
        if self.attached {
            lines.push("heaptrack was attached: what lived before is not in the trace".to_owned());
        }
        if let Some(board) = &self.board {
            lines.extend(board.lines());
        }
        let mut count = |count: u64, thing: &str, note: &str| {
            if count > 0 {
                lines.push(format!("{} {note}", counted(count, thing)));
            }
        };
        count(
            self.unknown_frees,
            "free",
            "of objects that the recording does not know: left out",
        );
        let overlapping = match self.board.is_some() {
            true => "that took the place of one that lived: its missing free is put before",
            false => "at an address where another one lived: both live on",
        };
        count(self.overlapping_objects, "object", overlapping);
        count(
            self.more_threads,
            "more thread",
            "than a trace has numbers for: together they have the last number",
        );
        if self.cut_short {
            lines.push("the recording was cut short: what came before is in the trace".to_owned());
        }
        for line in lines {
            text += &format!("  {line}\n");
        }
        text
    }

    /// What the recording is, and what it cannot say.
    fn origin(&self) -> &'static str {
        match self.from {
            "heaptrack-raw" => {
                "from heaptrack, raw: without threads; a reallocation is a free and an allocation"
            }
            "heaptrack-interpreted" => {
                "from heaptrack, interpreted: as raw, and which object of a size and call site is freed \
                 is a guess"
            }
            _ => "from a board",
        }
    }
}

impl Board {
    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.lost_events > 0 {
            lines.push(format!(
                "{} arrived, {} did not",
                counted(self.arrived_events, "event"),
                counted(self.lost_events, "event")
            ));
        }
        let mut count = |count: u64, thing: &str, note: &str| {
            if count > 0 {
                lines.push(format!("{} {note}", counted(count, thing)));
            }
        };
        count(self.repeated_events, "event", "came again: left out");
        let skipped = format!(
            "({}) that are no frame: skipped",
            counted(self.damaged_bytes, "byte")
        );
        count(self.damaged_pieces, "piece", &skipped);
        count(
            self.restarts,
            "restart",
            "of the board: what lived is freed there",
        );
        count(
            self.found_objects,
            "reallocation",
            "of objects that the recording does not know: allocations",
        );
        lines
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_committed_schema_is_that_of_the_type() {
        surefit_measure::schema::is_committed::<super::Document>("import.json");
    }
}
