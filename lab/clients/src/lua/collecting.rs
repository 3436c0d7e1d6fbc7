//! When a machine collects.
#![deny(unsafe_code)]

/// When a machine collects. A request that the heap refuses makes it collect in any case.
///
/// A tuning of 0 is the one that Lua comes with. One that is greater than Lua can take is lowered
/// to what it can.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Collecting {
    /// Only after a refusal: Lua's own collector is stopped.
    #[default]
    WhenRefused,
    /// Lua's incremental collector: steps between allocations.
    Incremental {
        /// When a new cycle starts, in percent of what was in use after the last one; at most
        /// 1000, and 200 as it comes.
        pause: u16,
        /// How fast it marks, in percent of how fast the script allocates; at most 1000, and 100
        /// as it comes.
        step_multiplier: u16,
    },
    /// Lua's generational collector.
    Generational {
        /// When young objects are collected: memory grew by so many percent; at most 100, and 20
        /// as it comes.
        minor: u16,
        /// When all objects are collected: memory grew by so many percent since the last time; at
        /// most 1000, and 100 as it comes.
        major: u16,
    },
}
