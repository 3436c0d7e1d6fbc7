//! What one cycle did, and what all of them did.
#![deny(unsafe_code)]

/// What a call of [`Incremental::step`](crate::Incremental::step) did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Units of work.
    pub work: u64,
    /// Whether no cycle runs any more.
    pub done: bool,
}

/// What a collector in steps does at the moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// No cycle runs.
    #[default]
    Idle,
    /// A cycle has begun, but the client unwound before it had reported all roots.
    Roots,
    /// References are followed.
    Mark,
    /// Marking has ended; the client clears weak references.
    Weak,
    /// Dead objects are freed, in ascending order of their numbers.
    Sweep,
    /// Free neighbours are merged, if the space left them apart.
    Merge,
}

/// One cycle, from its roots to its last object freed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cycle {
    /// Steps that were called for it.
    pub steps: u64,
    /// Work of all of them, of the roots, and of finishing it at once.
    pub work: u64,
    /// Work of the roots: one, and one per reference that they reported.
    pub roots: u64,
    /// Whether [`alloc`](crate::Incremental::alloc) had no room and finished it at once.
    pub forced: bool,
    /// Objects that were marked, except those born in it.
    pub marked: u64,
    /// References that were reported.
    pub edges: u64,
    /// Passes over the mark bits because the mark stack was too small.
    pub rescans: u64,
    /// The maximum number of entries of the mark stack in use.
    pub deepest: usize,
    /// Objects that a store or an upgrade marked: they may be dead at its end, and are kept.
    pub shaded: u64,
    /// Objects that were allocated while it ran and kept without being looked at: they may be dead
    /// at its end.
    pub born: u64,
    /// Bytes of these.
    pub born_bytes: u64,
    /// Objects that it freed.
    pub freed_objects: u64,
    /// Bytes of these.
    pub freed_bytes: u64,
    /// Objects that lived at its end.
    pub live_objects: u64,
    /// Bytes of these.
    pub live_bytes: usize,
    /// Ticks of all its steps.
    pub ticks: u64,
}

/// What a collector in steps did since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// Cycles that ended.
    pub cycles: u64,
    /// Calls of [`Incremental::step`](crate::Incremental::step) while a cycle ran.
    pub steps: u64,
    /// The most work of one step, except the roots.
    pub largest_step: u64,
    /// The most by which the work of a step exceeded its budget.
    pub largest_excess: u64,
    /// The most work of the roots of one cycle.
    pub largest_roots: u64,
    /// Calls of the client that did more than a step's bound allows for: a scan that reported more
    /// than [`Edges::STRIDE`](crate::Edges::STRIDE) references, or as many weak references at once.
    pub overruns: u64,
    /// Cycles that ran when [`alloc`](crate::Incremental::alloc) had no room, and were finished at
    /// once.
    pub forced: u64,
    /// Whole cycles that it ran at once because that did not help.
    pub whole: u64,
    /// The most work that it did at once for these two.
    pub largest_forced: u64,
    /// Objects that stores and upgrades marked.
    pub shaded: u64,
    /// Objects that were born during cycles.
    pub born: u64,
    /// Objects that were freed.
    pub freed_objects: u64,
    /// Bytes of these.
    pub freed_bytes: u64,
    /// Work of all cycles.
    pub work: u64,
}

impl Steps {
    /// Adds a cycle that ended.
    pub(super) const fn add(&mut self, cycle: &Cycle) {
        self.cycles += 1;
        self.shaded += cycle.shaded;
        self.born += cycle.born;
        self.freed_objects += cycle.freed_objects;
        self.freed_bytes += cycle.freed_bytes;
    }
}
