//! The JSON of `surefit trace`. Every key names its unit; a figure that has no meaning is absent.

use std::path::{Path, PathBuf};

use super::facts::Process;
use super::graphs::GraphStats;
use schemars::JsonSchema;
use serde::Serialize;
use surefit_measure::sizes::per_cent;
use surefit_trace::{Call, Event, Facts, Header, Op, Peak, SizeCount, Stats, TraceError};

/// The version of these documents.
const SCHEMA: u32 = 1;

/// The document of `surefit trace stats --format json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StatsDocument {
    /// The version of the document: 1.
    schema: u32,
    traces: Vec<TraceStats>,
    /// The object graphs; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    graphs: Vec<GraphStats>,
}

impl StatsDocument {
    pub(crate) fn new(
        files: &[PathBuf],
        (all, facts): (&[Stats], &[Option<Facts>]),
        top: usize,
        graphs: Vec<GraphStats>,
    ) -> Self {
        let traces = files.iter().zip(all.iter().zip(facts));
        Self {
            schema: SCHEMA,
            traces: traces
                .map(|(file, (stats, facts))| TraceStats {
                    process: facts
                        .as_ref()
                        .map(|facts| Process::new(facts, &stats.counts)),
                    ..TraceStats::new(file, stats, top)
                })
                .collect(),
            graphs,
        }
    }
}

/// The statistics of one trace.
#[derive(Debug, Serialize, JsonSchema)]
struct TraceStats {
    /// The path as given.
    file: String,
    #[serde(flatten)]
    trace: Described,
    /// What is known of the recorded process; absent if nothing is.
    #[serde(skip_serializing_if = "Option::is_none")]
    process: Option<Process>,
    /// Events that are plain allocations.
    malloc_events: u64,
    /// Events that allocate zeroed memory.
    calloc_events: u64,
    /// Events that allocate with an alignment.
    aligned_events: u64,
    /// Events that resize an object.
    realloc_events: u64,
    /// Events that free an object.
    free_events: u64,
    /// Events on a different thread than the event before them.
    thread_switches: u64,
    /// Frees by a different thread than the one that last allocated or resized the object.
    foreign_frees: u64,
    /// The mean lifetime of the freed objects, from allocation to free; absent if none was freed.
    #[serde(skip_serializing_if = "Option::is_none")]
    mean_life_events: Option<f64>,
    /// Distinct sizes of requests.
    distinct_sizes: u64,
    /// The largest request; absent without a request.
    #[serde(skip_serializing_if = "Option::is_none")]
    largest_request_bytes: Option<u64>,
    /// The most frequent sizes, the most frequent first.
    top_sizes: Vec<SizeShare>,
    /// Requests by power-of-two class.
    size_classes: Vec<ClassShare>,
    /// The alignments that the trace requests.
    alignments: Vec<AlignCount>,
}

/// How often a size occurs. A request is an allocation or a reallocation.
#[derive(Debug, Serialize, JsonSchema)]
struct SizeShare {
    size_bytes: u64,
    requests: u64,
    requests_percent: f64,
    /// Live objects of this size after the first event with the most live bytes.
    live_at_peak_objects: u64,
}

/// A power-of-two class: sizes above half of `up_to_bytes`, up to `up_to_bytes`; the class of 1
/// holds 0 too.
#[derive(Debug, Serialize, JsonSchema)]
struct ClassShare {
    up_to_bytes: u64,
    requests: u64,
    requests_percent: f64,
    /// Live objects of this class after the first event with the most live bytes.
    live_at_peak_objects: u64,
}

/// How often an alignment is requested.
#[derive(Debug, Serialize, JsonSchema)]
struct AlignCount {
    align_bytes: u64,
    events: u64,
}

impl TraceStats {
    fn new(file: &Path, stats: &Stats, top: usize) -> Self {
        let calls = stats.calls;
        Self {
            file: file.display().to_string(),
            trace: Described::of(stats),
            process: None,
            malloc_events: calls.malloc,
            calloc_events: calls.calloc,
            aligned_events: calls.aligned,
            realloc_events: calls.realloc,
            free_events: calls.free,
            thread_switches: stats.thread_switches,
            foreign_frees: stats.foreign_frees,
            mean_life_events: stats.mean_life_events(),
            distinct_sizes: stats.sizes.len() as u64,
            largest_request_bytes: stats.max_size(),
            top_sizes: top_sizes(stats, top),
            size_classes: size_classes(stats),
            alignments: alignments(stats),
        }
    }
}

fn top_sizes(stats: &Stats, top: usize) -> Vec<SizeShare> {
    let share = |count: SizeCount| SizeShare {
        size_bytes: count.size,
        requests: count.requests,
        requests_percent: per_cent(count.requests, stats.requests()),
        live_at_peak_objects: count.live_at_peak,
    };
    stats.top_sizes(top).into_iter().map(share).collect()
}

fn size_classes(stats: &Stats) -> Vec<ClassShare> {
    let classes = stats.histogram().into_iter();
    classes
        .map(|class| ClassShare {
            up_to_bytes: class.up_to,
            requests: class.requests,
            requests_percent: per_cent(class.requests, stats.requests()),
            live_at_peak_objects: class.live_at_peak,
        })
        .collect()
}

fn alignments(stats: &Stats) -> Vec<AlignCount> {
    let counts = stats.alignments.iter();
    counts
        .map(|&(align, events)| AlignCount {
            align_bytes: align.bytes() as u64,
            events,
        })
        .collect()
}

/// The figures of a trace's header, and the event of its peak.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Described {
    /// The trace's name, usually the program's.
    pub(crate) name: String,
    /// Events: allocations, reallocations and frees.
    pub(crate) events: u64,
    /// Objects that were allocated.
    pub(crate) objects: u64,
    /// Threads that allocate or free.
    pub(crate) threads: u64,
    /// The greatest sum of the requests of live objects, in bytes.
    pub(crate) peak_live_bytes: u64,
    /// The first event after which that sum is greatest, numbered from 0; absent without events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) peak_event: Option<u64>,
    /// The live objects after that event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) peak_event_live_objects: Option<u64>,
    /// The greatest number of live objects, at any event.
    pub(crate) peak_live_objects: u64,
    /// Objects that are never freed.
    pub(crate) live_at_end_objects: u64,
    /// The sum of all requests.
    pub(crate) total_requested_bytes: u64,
}

impl Described {
    pub(crate) fn new(header: &Header, peak: Peak) -> Self {
        let counts = header.counts;
        let has_events = counts.events > 0;
        Self {
            name: header.name.clone(),
            events: counts.events,
            objects: counts.objects,
            threads: counts.threads,
            peak_live_bytes: counts.peak_bytes,
            peak_event: has_events.then_some(peak.event),
            peak_event_live_objects: has_events.then_some(peak.live_objects),
            peak_live_objects: counts.peak_objects,
            live_at_end_objects: counts.live_at_end,
            total_requested_bytes: counts.total_bytes,
        }
    }

    fn of(stats: &Stats) -> Self {
        let header = Header {
            name: stats.name.clone(),
            counts: stats.counts,
        };
        Self::new(&header, stats.peak)
    }
}

/// The document of `surefit trace check --format json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CheckDocument {
    /// The version of the document: 1.
    schema: u32,
    pub(crate) files: Vec<CheckedFile>,
}

impl CheckDocument {
    pub(crate) fn new(files: Vec<CheckedFile>) -> Self {
        let schema = SCHEMA;
        Self { schema, files }
    }
}

/// The result of checking one file.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CheckedFile {
    /// The path as given.
    pub(crate) file: String,
    /// Whether the file keeps every rule of the format.
    pub(crate) sound: bool,
    /// The figures of a sound file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) trace: Option<Described>,
    /// The problem of a file that is not sound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<FoundError>,
}

/// The first rule that a file breaks.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FoundError {
    /// One line that names the file, the place, the problem and the remedy.
    pub(crate) message: String,
    /// The event, numbered from 0; absent outside the records.
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<u64>,
    /// The byte of the unpacked stream where the record or field begins; absent if nothing could be
    /// read.
    #[serde(skip_serializing_if = "Option::is_none")]
    unpacked_byte: Option<u64>,
}

impl CheckedFile {
    pub(crate) fn new(file: &Path, checked: anyhow::Result<Described>) -> Self {
        let (trace, error) = match checked {
            Ok(trace) => (Some(trace), None),
            Err(error) => (None, Some(error)),
        };
        Self {
            file: file.display().to_string(),
            sound: trace.is_some(),
            trace,
            error: error.map(|error| FoundError::new(&error)),
        }
    }
}

impl FoundError {
    fn new(error: &anyhow::Error) -> Self {
        let found = error.downcast_ref::<TraceError>();
        let position = found.map(TraceError::position).unwrap_or_default();
        Self {
            message: format!("{error:#}"),
            event: position.event,
            unpacked_byte: position.byte,
        }
    }
}

/// The document of `surefit trace head --format json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct HeadDocument {
    /// The version of the document: 1.
    schema: u32,
    traces: Vec<TraceHead>,
}

impl HeadDocument {
    pub(crate) fn new(traces: Vec<TraceHead>) -> Self {
        let schema = SCHEMA;
        Self { schema, traces }
    }
}

/// The header and the first events of one trace.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TraceHead {
    /// The path as given.
    pub(crate) file: String,
    /// The figures of the header. They are not verified, because the records are not read to the
    /// end.
    #[serde(flatten)]
    pub(crate) trace: Described,
    /// The first events.
    pub(crate) first_events: Vec<EventRow>,
}

/// One event.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct EventRow {
    /// The event, numbered from 0.
    pub(crate) event: u64,
    /// The thread, numbered from 0 by first appearance.
    pub(crate) thread: u16,
    /// `malloc`, `calloc`, `aligned`, `realloc` or `free`.
    pub(crate) call: &'static str,
    /// The object, numbered from 0 by allocation.
    pub(crate) object: u32,
    /// The requested size, for a resize the new one; absent for a free.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) size_bytes: Option<u64>,
    /// The requested alignment; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) align_bytes: Option<u64>,
}

impl EventRow {
    pub(crate) fn new(number: u64, event: Event) -> Self {
        let (call, size_bytes, align) = match event.op() {
            Op::Alloc { size, call, .. } => match call {
                Call::Malloc => ("malloc", Some(size), None),
                Call::Calloc => ("calloc", Some(size), None),
                Call::Aligned(align) => ("aligned", Some(size), Some(align)),
            },
            Op::Realloc { size, .. } => ("realloc", Some(size), None),
            Op::Free { .. } => ("free", None, None),
        };
        Self {
            event: number,
            thread: event.thread(),
            call,
            object: event.id(),
            size_bytes,
            align_bytes: align.map(|align| align.bytes() as u64),
        }
    }
}
