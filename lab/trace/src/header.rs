//! What a trace says about itself before its first event.
#![deny(clippy::arithmetic_side_effects, clippy::cast_possible_truncation)]

/// The most objects of a trace: as many as have numbers.
pub(crate) const MAX_OBJECTS: u64 = 1 << 32;

/// The most objects live at once in a trace that is checked;
/// [`Trace::MAX_LIVE_OBJECTS`](crate::Trace::MAX_LIVE_OBJECTS) says why.
pub(crate) const MAX_LIVE_OBJECTS: u64 = 1 << 28;

/// The version of a trace without call sites.
pub(crate) const PLAIN: u64 = 1;

/// The version of a trace with call sites: the newest one. All are read, for ever; docs/traces.md
/// has the policy.
pub(crate) const WITH_SITES: u64 = 2;

/// The seven counters of a trace's header. A checked trace has counted them again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Events: allocations, reallocations and frees.
    pub events: u64,
    /// Objects ever allocated; they are numbered from 0 to this less one.
    pub objects: u64,
    /// Threads that appear; they are numbered from 0 to this less one.
    pub threads: u64,
    /// The greatest sum of the requests of live objects, in bytes.
    pub peak_bytes: u64,
    /// The greatest number of live objects, not necessarily at the same event.
    pub peak_objects: u64,
    /// Objects never freed.
    pub live_at_end: u64,
    /// The sum of all requests, in bytes: those of allocations and the new ones of reallocations.
    pub total_bytes: u64,
}

impl Counts {
    /// The counters with the names that the format gives them, in the order of the header.
    #[must_use]
    pub const fn named(&self) -> [(&'static str, u64); 7] {
        [
            ("n_events", self.events),
            ("n_objects", self.objects),
            ("n_threads", self.threads),
            ("peak_bytes", self.peak_bytes),
            ("peak_objects", self.peak_objects),
            ("live_at_end", self.live_at_end),
            ("total_bytes", self.total_bytes),
        ]
    }
}

/// The header of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The trace's name, usually the program's. It comes from the file: escape it before printing.
    pub name: String,
    /// What the file claims to hold.
    pub counts: Counts,
}

impl Header {
    /// The longest name that is read or written, in bytes.
    pub const MAX_NAME_BYTES: usize = 4096;
}

/// Where the sum of the live requests is greatest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Peak {
    /// The first event after which the sum is greatest, numbered from 0.
    pub event: u64,
    /// The sum after that event, in bytes.
    pub live_bytes: u64,
    /// The live objects after that event.
    pub live_objects: u64,
}
