//! What an arena in steps does at the moment.
#![deny(unsafe_code)]

/// What an arena in steps does at the moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ArenaPhase {
    /// No cycle runs.
    #[default]
    Idle,
    /// A cycle has begun, but the trace of the root unwound before it had reported everything.
    Roots,
    /// References are followed.
    Mark,
    /// Marking has ended. Weak references are cleared, and values that are to be dropped collected.
    Weak,
    /// Dead values are dropped.
    Drop,
    /// Dead objects are freed, in ascending order of their numbers.
    Sweep,
    /// Free neighbours are merged, if the index leaves them apart.
    Merge,
}
