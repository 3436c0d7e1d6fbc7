//! The increments ι, the heaps that have them, and what all three parts run.

use crate::kit::Request;
use crate::shared::threads::heaps::{Scheme, Setup, or_infinite};
use crate::shared::threads::load::{Load, Sizes};

/// The experiment's name.
pub(super) const NAME: &str = "figure-12";

/// The increments of the left and the right part, decreasing.
pub(super) const INCREMENTS: [Option<u32>; 9] = [
    None,
    Some(8192),
    Some(4096),
    Some(2048),
    Some(1024),
    Some(512),
    Some(256),
    Some(128),
    Some(64),
];

/// Threads of the middle and the right part.
pub(super) const THREADS: usize = 8;

/// A heap with an increment.
pub(super) fn setup(increment: Option<u32>) -> Setup {
    Setup::new(Scheme::OneClassLocks, Some(1)).with_increment(increment)
}

/// What each thread does.
pub(super) fn load(request: &Request) -> Load {
    Load {
        slots: 200,
        calls: if request.quick { 1_000 } else { 200_000 },
        sizes: Sizes::FIGURE_12,
        foreign_percent: 0,
    }
}

/// The increments on an axis.
pub(super) fn ticks() -> impl Iterator<Item = String> {
    INCREMENTS.into_iter().map(|increment| match increment {
        Some(bytes) if bytes >= 1024 => format!("{}K", bytes / 1024),
        other => or_infinite(other),
    })
}
