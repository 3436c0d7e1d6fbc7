//! The traces a command works on: files, or those that are bundled.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use surefit_trace::{Reader, Trace};

use crate::error::{complain, one_line};
use crate::leave_out::leave_out;
use crate::memory::affordable_events;
use crate::recorded;
use crate::results::{BesideMalloc, LeftOut};
use crate::steps::Steps;

/// What names a bundled trace on the command line, before its name.
const BUNDLED: &str = "bundled:";

/// The traces inside the command, recorded from real programs.
const TRACES: [(&str, &[u8]); 5] = [
    ("redis", include_bytes!("../../../traces/redis.sft.zst")),
    (
        "redis-drift",
        include_bytes!("../../../traces/redis-drift.sft.zst"),
    ),
    ("emacs", include_bytes!("../../../traces/emacs.sft.zst")),
    (
        "python-a",
        include_bytes!("../../../traces/python-a.sft.zst"),
    ),
    (
        "python-b",
        include_bytes!("../../../traces/python-b.sft.zst"),
    ),
];

/// The bundled traces that a comparison without files measures, in this order.
///
/// In `redis`, objects in pieces and compaction save memory. In `redis-drift`, the sizes of objects
/// change over time, which scatters free memory. In `emacs`, both change little, and the handles of
/// a moving heap are a cost only.
const COMPARED: [&str; 3] = ["redis", "redis-drift", "emacs"];

/// A trace, ready for replaying, and where a child process finds it again.
#[derive(Debug)]
pub struct Source {
    file: PathBuf,
    /// The trace.
    pub trace: Trace,
    /// The trace as steps.
    pub steps: Steps,
    /// What was left out of the file's trace.
    pub left_out: Option<LeftOut>,
    /// Whether the program's memory came from elsewhere than the recorded malloc.
    pub beside_malloc: Option<BesideMalloc>,
    /// Whether this process is a child that was fed the trace: what it measures, it measures here.
    pub is_fed: bool,
}

impl Source {
    /// Loads a file, or a bundled trace named `bundled:NAME`, without the objects that are ever
    /// larger than `largest` bytes.
    ///
    /// # Errors
    /// One line that names the file, the position and the mend; nothing is ever live.
    pub fn load(file: &Path, largest: Option<usize>) -> Result<Self> {
        let whole = load_trace(file)?;
        let counts = whole.header().counts;
        let beside = recorded::facts(file).and_then(|facts| BesideMalloc::of(&facts, &counts));
        let (trace, left_out) = match largest {
            None => (whole, None),
            Some(largest) => {
                let (trace, left_out) = leave_out(&whole, largest as u64)?;
                (trace, Some(left_out))
            }
        };
        let steps = Steps::new(&trace)?;
        steps.live(file, left_out.is_some())?;
        Ok(Self {
            file: file.to_owned(),
            trace,
            steps,
            left_out,
            beside_malloc: beside,
            is_fed: false,
        })
    }

    /// The trace on standard input, which a parent feeds to this process with [`Source::bytes`].
    ///
    /// # Errors
    /// As [`Source::load`].
    pub fn fed(file: &Path) -> Result<Self> {
        let trace = Trace::read(io::stdin().lock())?;
        Ok(Self {
            is_fed: true,
            ..Self::of(file, trace)?
        })
    }

    /// A trace that was made here, under the name that made it; no child process finds it again,
    /// unless it is fed.
    ///
    /// # Errors
    /// A request of 4 GiB or more.
    pub fn made(name: &str, trace: Trace) -> Result<Self> {
        Self::of(Path::new(name), trace)
    }

    /// As [`Source::made`], without the objects that are ever larger than `largest` bytes.
    ///
    /// # Errors
    /// A request of 4 GiB or more.
    pub fn made_up_to(name: &str, whole: &Trace, largest: usize) -> Result<Self> {
        let (trace, _) = leave_out(whole, largest as u64)?;
        Self::made(name, trace)
    }

    /// The processor time that the whole program took while it was recorded, in nanoseconds; `None`
    /// if it is not known, or if some of its objects are left out.
    #[must_use]
    pub fn recorded_cpu_ns(&self) -> Option<u64> {
        if self.left_out.is_some() {
            return None;
        }
        recorded::facts(&self.file)?.cpu_ns
    }

    /// Its first `events` events.
    ///
    /// # Errors
    /// There is no memory for them.
    pub fn first(&self, events: usize) -> Result<Self> {
        let whole = self.trace.events();
        let part = whole[..events.min(whole.len())].to_vec();
        Ok(Self {
            is_fed: self.is_fed,
            ..Self::of(&self.file, Trace::new(self.trace.name(), part)?)?
        })
    }

    fn of(file: &Path, trace: Trace) -> Result<Self> {
        let steps = Steps::new(&trace)?;
        Ok(Self {
            file: file.to_owned(),
            trace,
            steps,
            left_out: None,
            beside_malloc: None,
            is_fed: false,
        })
    }

    /// What a child process is fed on its standard input so that it replays the same trace: not
    /// compressed, so that the child needs no memory of the C library to read it.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.trace.to_bytes()
    }

    /// What names the trace on the command line of a child that is fed.
    #[must_use]
    pub fn name(&self) -> &Path {
        &self.file
    }

    /// What a child process is given on its command line so that it replays the same trace.
    #[must_use]
    pub fn arguments(&self) -> Vec<OsString> {
        let mut arguments = Vec::new();
        if let Some(left_out) = self.left_out {
            let largest = left_out.larger_than_bytes.to_string();
            arguments.extend(["--largest".into(), largest.into()]);
        }
        arguments.extend(["--".into(), self.file.clone().into()]);
        arguments
    }
}

/// Loads a trace for advice on its program. Of a trace that was recorded for malloc's part only, a
/// line on standard error says so.
///
/// # Errors
/// As [`load_trace`]; the program's memory came from elsewhere than the recorded malloc.
pub fn load_for_advice(file: &Path) -> Result<Trace> {
    let trace = load_trace(file)?;
    let Some(facts) = recorded::facts(file) else {
        return Ok(trace);
    };
    let Some(beside) = BesideMalloc::of(&facts, &trace.header().counts) else {
        return Ok(trace);
    };
    let (file, why) = (file.display(), beside.why());
    if !beside.is_malloc_only {
        bail!("{file}: {why}");
    }
    complain(&one_line(&format!(
        "{file}: what follows is of malloc's part only: {why}"
    )));
    Ok(trace)
}

/// Loads the trace in a file, or a bundled one named `bundled:NAME`.
///
/// # Errors
/// One line that names the file, the position and the mend.
pub fn load_trace(file: &Path) -> Result<Trace> {
    match file.to_str().and_then(|name| name.strip_prefix(BUNDLED)) {
        Some(name) => Ok(Trace::from_bytes(bundled(name)?)?),
        None => {
            // what is no regular file cannot be opened twice
            if file.is_file() {
                affordable_events(events_claimed(file)?)?;
            }
            Ok(Trace::load(file)?)
        }
    }
}

/// How many events a file says that it has; no more than are ever taken into memory.
fn events_claimed(file: &Path) -> Result<u64> {
    let events = Reader::open(file)?.header().counts.events;
    Ok(if events > Trace::MAX_EVENTS {
        0
    } else {
        events
    })
}

/// The bundled traces that a comparison without files measures, as FILE arguments.
#[must_use]
pub fn compared_files() -> Vec<PathBuf> {
    arguments(&COMPARED)
}

/// The bundled traces that an experiment without files measures, as FILE arguments: a steady one
/// and one that drifts.
#[must_use]
pub fn bundled_files() -> Vec<PathBuf> {
    arguments(&["emacs", "redis-drift"])
}

fn arguments(names: &[&str]) -> Vec<PathBuf> {
    let names = names.iter().map(|name| format!("{BUNDLED}{name}"));
    names.map(PathBuf::from).collect()
}

fn bundled(name: &str) -> Result<&'static [u8]> {
    let found = TRACES.iter().find(|(known, _)| *known == name);
    found.map(|(_, bytes)| *bytes).ok_or_else(|| {
        let known: Vec<_> = TRACES.iter().map(|(known, _)| *known).collect();
        anyhow!(
            "{BUNDLED}{name}: no such bundled trace: known are {}",
            known.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::{
        BUNDLED, Path, PathBuf, Source, TRACES, bundled_files, compared_files, load_trace,
    };

    #[test]
    fn every_bundled_trace_loads_under_its_name() {
        for (name, _) in TRACES {
            let trace = load_trace(Path::new(&format!("{BUNDLED}{name}"))).expect("a sound trace");
            assert!(trace.header().counts.events > 100_000, "{name}");
        }
    }

    #[test]
    fn the_first_events_are_a_trace() {
        let file = Path::new("bundled:emacs");
        let whole = Source::load(file, None).expect("a sound trace");
        let part = whole.first(1000).expect("a sound trace");
        assert_eq!(part.trace.events(), &whole.trace.events()[..1000]);
        assert!(part.steps.peak_event < 1000 && !part.steps.left().is_empty());
        let all = whole.first(usize::MAX).expect("a sound trace");
        assert_eq!(all.steps.events, whole.steps.events);
    }

    #[test]
    fn what_is_measured_without_files_is_bundled() {
        let known = TRACES.map(|(name, _)| PathBuf::from(format!("{BUNDLED}{name}")));
        let files = [compared_files(), bundled_files()].concat();
        assert_eq!(files.len(), 5);
        assert!(files.iter().all(|file| known.contains(file)), "{files:?}");
    }

    #[test]
    fn an_unknown_bundled_trace_lists_the_known_ones() {
        let error = load_trace(Path::new("bundled:vim")).expect_err("not bundled");
        let text = error.to_string();
        assert!(text.contains("vim") && text.contains("python-b"), "{text}");
    }
}
