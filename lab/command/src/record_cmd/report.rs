//! What `surefit record` says: a line for each trace, or a document.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::io;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use surefit_measure::libraries::{Known, called_like};
use surefit_measure::output::grouped;
use surefit_measure::results::{BesideMalloc, SCHEMA};
use surefit_measure::sizes::{Size, counted};
use surefit_recorder::begun::Unheard;
use surefit_recorder::convert::Gaps;
use surefit_recorder::living::Living;
use surefit_recorder::lost::{Why, lost};
use surefit_recorder::read::{Described as Log, Ended};
use surefit_trace::{Counts, Facts};

use crate::trace_cmd::facts::{self, Process};
pub(super) use crate::trace_cmd::report::Described;
use crate::trace_cmd::summary;

/// The document of `surefit record --format json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct Document {
    /// The version of this format.
    schema: u32,
    /// How long the program was recorded: until it ended, or for the time given; absent with
    /// --logs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) program_seconds: Option<f64>,
    /// The traces; the program's own is first.
    recorded: Vec<Recorded>,
    /// Processes of which there is no trace.
    not_recorded: Vec<NotRecorded>,
    /// Further processes that could not begin a log, of which nothing else is known.
    more_lost: u64,
    /// Why there is no trace of the program itself; absent if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    no_trace: Option<String>,
}

/// The most further processes that are printed for people; the document has all.
const MOST_PRINTED: usize = 8;

/// What is said of a process that outlives the program.
const LEFT_BEHIND: &str = "the process runs on after the program's end; to record more of it, let \
     the program stay in the foreground, or end it later";

/// A trace that was written.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct Recorded {
    /// Whether it is the program's own.
    #[serde(skip)]
    is_own: bool,
    /// What began the program, if that is not the command alone.
    #[serde(skip)]
    by: Option<String>,
    /// The file; bytes of its name that are no UTF-8 are replaced here.
    file: String,
    /// Its bytes.
    file_bytes: u64,
    /// The program, as it was called.
    program: String,
    /// The process.
    pid: u32,
    /// Whether it is a copy of its parent, in which no program began.
    forked: bool,
    /// The library that its malloc is in; absent if that is the C library, or not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    allocator: Option<String>,
    /// The figures of the trace.
    trace: Described,
    /// What is known of the process. It also lies behind a trace that is compressed.
    process: Process,
    /// That in words.
    #[serde(skip)]
    taken: Option<String>,
    /// What the trace cannot hold of the program's, if that is known.
    #[serde(skip)]
    beside: Option<String>,
    /// Frees and reallocations of objects from before the recording, or of the parent; left out.
    unknown_frees: u64,
    /// Objects whose free the recorder did not see; it is put before the next object at the
    /// address.
    missed_frees: u64,
    /// Threads above the 65,536th; their events are those of the last thread.
    more_threads: u64,
    /// Allocations after the 4,294,967,296th, which have no number in a trace; left out.
    more_objects: u64,
    /// Allocations whose stack was not recorded, because there was no room for it.
    lost_stacks: u64,
    /// Why the recording ended before the process did; absent if it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<String>,
}

/// A process of which there is no trace.
#[derive(Debug, JsonSchema, Serialize)]
struct NotRecorded {
    /// The program, as it was called.
    program: String,
    /// The process.
    pid: u32,
    /// Why not.
    reason: String,
}

impl Document {
    /// `why_not`: why there is no trace of the program, if that is known.
    pub(crate) fn new(why_not: Option<String>) -> Self {
        let nobody = "nothing was recorded: the system did not preload the recorder into the program; choose a place with -o from which programs may run";
        Self {
            schema: SCHEMA,
            program_seconds: None,
            recorded: Vec::new(),
            not_recorded: Vec::new(),
            more_lost: 0,
            no_trace: Some(why_not.unwrap_or_else(|| nobody.to_owned())),
        }
    }

    /// Notes a process without events. A copy of its parent that only began another program is no
    /// process of its own to anybody.
    pub(crate) fn skip(&mut self, log: &Log, is_main: bool) {
        let reason = if log.own_malloc {
            "it has a malloc of its own, and nothing can stand in for that".to_owned()
        } else if let Some(ended) = log.ended {
            why(ended, log)
        } else if log.forked {
            return;
        } else {
            "it called no malloc, or one of its own".to_owned()
        };
        if is_main {
            self.no_trace = Some(format!("nothing was recorded of {}: {reason}", log.program));
            return;
        }
        let (program, pid) = (log.program.clone(), log.pid);
        self.not_recorded.push(NotRecorded {
            program,
            pid,
            reason,
        });
    }

    /// Notes the programs that were begun and of which there is no log, each once.
    pub(crate) fn note_unheard(&mut self, unheard: Vec<Unheard>) {
        let mut seen = HashSet::new();
        let once = unheard.into_iter();
        let once = once.filter(|it| seen.insert(it.program.clone()));
        self.not_recorded.extend(once.map(|it| NotRecorded {
            program: it.program,
            pid: it.pid,
            reason: it.reason,
        }));
    }

    /// Notes the processes that could not begin a log, the program among them.
    pub(crate) fn note_lost(&mut self, folder: &Path, first: Option<u32>) {
        let (all, more) = lost(folder);
        for it in all {
            let reason = no_log(it.why);
            if first == Some(it.pid) && self.no_trace.is_some() {
                self.no_trace = Some(format!("nothing was recorded of {}: {reason}", it.program));
            } else {
                self.not_recorded.push(NotRecorded {
                    program: it.program,
                    pid: it.pid,
                    reason,
                });
            }
        }
        self.more_lost += more;
    }

    /// Adds the trace of a further process.
    pub(crate) fn add(&mut self, recorded: Recorded) {
        self.recorded.push(recorded);
    }

    /// Adds the program's own trace, and what began it, if that is not the command alone.
    pub(crate) fn add_own(&mut self, recorded: Recorded, by: Option<String>) {
        self.no_trace = None;
        let is_own = true;
        self.recorded.push(Recorded {
            is_own,
            by,
            ..recorded
        });
    }

    /// The program's own trace first, then the others, the longest first.
    pub(crate) fn sort(&mut self) {
        self.recorded
            .sort_by_key(|recorded| (!recorded.is_own, Reverse(recorded.trace.events)));
    }

    /// Says of each process that outlives the program that its trace ends before it does, or that
    /// it has none. `left` are those that ran when the recording ended.
    pub(crate) fn note_left_behind(&mut self, left: &[Living], runs: impl Fn(u32) -> bool) {
        let is_left = |pid| runs(pid) || left.iter().any(|it| it.pid == pid);
        let recorded = self.recorded.iter_mut().filter(|it| is_left(it.pid));
        recorded.for_each(|it| {
            it.ended.get_or_insert_with(|| LEFT_BEHIND.to_owned());
        });
        for process in left {
            let is_noted = self.recorded.iter().any(|it| it.pid == process.pid)
                || self.not_recorded.iter().any(|it| it.pid == process.pid);
            if !is_noted {
                self.not_recorded.push(NotRecorded {
                    program: process.program.clone(),
                    pid: process.pid,
                    reason: format!("it had called no malloc yet; {LEFT_BEHIND}"),
                });
            }
        }
    }

    /// Why there is no trace of the program itself.
    pub(crate) fn no_trace(&self) -> Option<&str> {
        self.no_trace.as_deref()
    }

    pub(crate) fn to_text(&self) -> String {
        let mut text: String = self
            .recorded
            .iter()
            .take(1 + MOST_PRINTED)
            .map(Recorded::to_text)
            .collect();
        let more = self.recorded.len().saturating_sub(1 + MOST_PRINTED);
        if more > 0 {
            text += &format!("… and {more} shorter ones, of further processes, beside them\n");
        }
        for process in &self.not_recorded {
            text += &format!(
                "not recorded: {} ({}): {}\n",
                process.program, process.pid, process.reason
            );
        }
        if self.more_lost > 0 {
            let more = grouped(self.more_lost);
            text += &format!("not recorded: {more} more that could not begin a log\n");
        }
        text
    }
}

impl Recorded {
    pub(crate) fn new(
        (path, bytes): (&Path, u64),
        log: &Log,
        (trace, (facts, counts)): (Described, (&Facts, &Counts)),
        (gaps, lost): (Gaps, u64),
    ) -> Self {
        let taken = Some(facts::taken(facts)).filter(|taken| !taken.is_empty());
        let taken = taken.map(|taken| format!("its process: {taken}"));
        Self {
            process: Process::new(facts, counts),
            taken,
            beside: BesideMalloc::of(facts, counts).map(|it| it.why()),
            is_own: false,
            by: None,
            program: log.program.clone(),
            file: path.display().to_string(),
            file_bytes: bytes,
            pid: log.pid,
            forked: log.forked,
            allocator: log.library.as_ref().map(|file| file.display().to_string()),
            trace,
            unknown_frees: gaps.unknown,
            missed_frees: gaps.overlapping,
            more_threads: gaps.more_threads,
            more_objects: gaps.more_objects,
            lost_stacks: lost,
            ended: log.ended.map(|ended| why(ended, log)),
        }
    }

    fn to_text(&self) -> String {
        let mut text = format!(
            "{}: {}, {} on disk\n",
            self.file,
            summary(&self.trace),
            Size(self.file_bytes)
        );
        let mut note = |note: String| text.push_str(&format!("  {note}\n"));
        let taken = self.taken.clone().filter(|_| self.is_own);
        let by = self.by.clone();
        by.into_iter()
            .chain(taken)
            .chain(self.beside.clone())
            .for_each(&mut note);
        if let Some(library) = &self.allocator {
            let is_it = |known: &Known| {
                let found = known.find().ok().flatten();
                found.and_then(|it| it.canonicalize().ok())
                    == Path::new(library).canonicalize().ok()
            };
            let joins = match called_like(Path::new(library)) {
                Some(known) if is_it(known) => "surefit compare has it in its table".to_owned(),
                _ => format!("to compare with it: --allocators cf,tlsf,preload:{library}"),
            };
            note(format!("its malloc is that of {library}: {joins}"));
        }
        if self.unknown_frees > 0 {
            let objects = counted(self.unknown_frees, "free");
            note(format!(
                "left out: {objects} of objects from before the recording or of the parent"
            ));
        }
        if self.missed_frees > 0 {
            note(format!(
                "{} that the recorder did not see: put before the next object there",
                counted(self.missed_frees, "free")
            ));
        }
        if self.more_threads > 0 {
            note(format!(
                "{} more threads than a trace has numbers for: together they have the last number",
                grouped(self.more_threads)
            ));
        }
        if self.more_objects > 0 {
            let objects = counted(self.more_objects, "allocation");
            note(format!(
                "left out: {objects} more than a trace has numbers for"
            ));
        }
        if self.lost_stacks > 0 {
            let lost = counted(self.lost_stacks, "allocation");
            note(format!(
                "{lost} without a stack: there was no room; raise `ulimit -v` and `ulimit -f` if they are limited, or give --stacks fewer frames"
            ));
        }
        if let Some(ended) = &self.ended {
            note(format!("not all of it: {ended}"));
        }
        text
    }
}

/// Why a recording ended before the process did, and how to mend it.
fn why(ended: Ended, log: &Log) -> String {
    let events = grouped(log.events);
    match ended {
        Ended::Full => format!("the log was full near event {events}; --max-size gives it more"),
        Ended::Addresses => format!(
            "the log could not grow near event {events}, because the process may have only so many addresses: raise `ulimit -v`, or record less with --for"
        ),
        Ended::Error(number) => {
            let error = io::Error::from_raw_os_error(number);
            let mend = how_to_mend(number);
            format!("the log could not grow near event {events}: {error}; {mend}")
        }
    }
}

/// Why a process has no log, and how to mend it.
fn no_log(why: Why) -> String {
    match why {
        Why::Addresses => {
            "it may have only so many addresses, and a log needs more: raise `ulimit -v`".into()
        }
        Why::Environment => {
            "it is a copy of a process that had cleared its environment, which says where logs are"
                .into()
        }
        Why::Error(number) => {
            let error = io::Error::from_raw_os_error(number);
            format!("no log could be begun: {error}; {}", how_to_mend(number))
        }
    }
}

/// What helps when a log could not grow.
fn how_to_mend(error: i32) -> &'static str {
    use surefit_recorder::errors::{ACCESS, MISSING, NO_DESCRIPTOR};
    match error {
        NO_DESCRIPTOR => "the program has as many files open as it may: raise `ulimit -n`",
        MISSING | ACCESS => {
            "the program closed the recorder's file and may not open it again: record it without a change of root or user"
        }
        _ => "choose another place with -o, or record less with --for",
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_committed_schema_is_that_of_the_type() {
        surefit_measure::schema::is_committed::<super::Document>("record.json");
    }
}
