//! Why a synthetic program is not made.

/// Why a synthetic program cannot be made as asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// The largest object does not fit in the live bytes.
    #[error("{given} live bytes are too few for this program; give at least {least}")]
    LiveTooSmall {
        /// The live bytes asked for.
        given: u64,
        /// The fewest that do.
        least: u64,
    },
    /// The trace would not fit in memory.
    #[error("{given} live bytes make too long a trace; give at most {most}")]
    LiveTooLarge {
        /// The live bytes asked for.
        given: u64,
        /// The most that do.
        most: u64,
    },
    /// The trace would not fit in memory.
    #[error("{given} allocations make too long a trace; give at most {most}")]
    TooManyAllocations {
        /// The allocations asked for.
        given: u64,
        /// The most.
        most: u64,
    },
    /// `phase` allocates as often as its live bytes need.
    #[error("the allocations of phase follow from its live bytes; leave their number out")]
    AllocationsFollow,
    /// More phases than sizes can grow.
    #[error("{given} phases let sizes grow beyond reason; give 1 to {most}")]
    Phases {
        /// The phases asked for.
        given: u32,
        /// The most.
        most: u32,
    },
}
