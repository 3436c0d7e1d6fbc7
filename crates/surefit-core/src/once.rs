//! Operations that happen at most once: by compare-and-exchange where the target or
//! `portable-atomic` has it, else without.

#[cfg(any(target_has_atomic = "32", feature = "portable-atomic"))]
pub(crate) use crate::exchange::{Counter, claim};
#[cfg(not(any(target_has_atomic = "32", feature = "portable-atomic")))]
pub(crate) use crate::splitter::{Counter, claim};
