//! What is known of a recorded process, from its log and from those who looked at it.

use std::time::Duration;

use surefit_recorder::log::{HEADER_BYTES, SLOT_BYTES};
use surefit_recorder::read::Described;
use surefit_recorder::seen::Outside;
use surefit_trace::Facts;

/// What the command itself saw of the program.
#[derive(Clone, Debug)]
pub(super) struct Watched {
    /// The program.
    pub(super) pid: u32,
    /// What it had taken.
    pub(super) seen: Outside,
    /// How long it was recorded.
    pub(super) time: Duration,
    /// Whether it ended meanwhile.
    pub(super) has_ended: bool,
    /// A function of the allocator that it brings, if it does.
    pub(super) own_allocator: Option<String>,
}

/// What the user asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    /// The callers as well.
    pub(super) stacks: bool,
    /// Malloc's part only, of every process.
    pub(super) malloc_only: bool,
}

/// The facts of a process. Where its log was cut, what the whole process took is not known: it
/// would be set against a part of the calls.
pub(super) fn of(log: &Described, watched: Option<&Watched>, asked: Asked) -> Facts {
    let inside = log.seen;
    let watched = watched.filter(|it| it.pid == log.pid && !log.forked);
    let outside = watched.map(|it| it.seen).unwrap_or_default();
    let (begun, most) = inside.anonymous_bytes;
    // The recorder has the kernel map slots ahead of those that are written.
    let log_bytes = HEADER_BYTES as u64 + log.ready * SLOT_BYTES as u64;
    let resident = outside.peak_resident_bytes.saturating_sub(log_bytes);
    let is_cut = log.ended.is_some();
    let times = match watched {
        _ if is_cut => None,
        _ if inside.is_last => Some((inside.cpu_ns, inside.wall_ns)),
        Some(it) => Some((
            inside.cpu_ns.max(outside.cpu_ns),
            u64::try_from(it.time.as_nanos()).unwrap_or(u64::MAX),
        )),
        // The last look was some time before the end.
        None => None,
    };
    let has_ended = inside.is_last || watched.is_some_and(|it| it.has_ended);
    let known = |value: u64| Some(value).filter(|value| *value > 0);
    let grown = known(most.max(outside.anonymous_bytes)).filter(|_| !is_cut);
    let how = if asked.stacks { " --stacks" } else { "" };
    Facts {
        recorder: Some(format!("surefit {} record{how}", env!("CARGO_PKG_VERSION"))),
        cpu_ns: times.map(|it| it.0),
        wall_ns: times.map(|it| it.1),
        peak_resident_bytes: known(inside.peak_resident_bytes.max(resident)),
        grown_bytes: grown.map(|bytes| bytes.saturating_sub(begun)),
        allocator: log.library.as_ref().map(|file| file.display().to_string()),
        own_allocator: watched.and_then(|it| it.own_allocator.clone()),
        is_malloc_only: asked.malloc_only,
        is_whole: match (is_cut, has_ended) {
            (true, _) => Some(false),
            (false, true) => Some(true),
            (false, false) => watched.map(|_| false),
        },
    }
}
