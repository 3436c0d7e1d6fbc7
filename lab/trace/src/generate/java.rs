//! A program with the sizes and lifetimes of Java objects, that frees them itself.

use super::churn::Churn;
use super::error::GenerateError;
use super::groups::{Groups, Order};
use super::random::{Sizes, draw, sum};
use super::tape::{Sink, traced};
use crate::Trace;

impl Churn {
    /// [`java_like`] with as much live as HSQLDB had, the least of the three recordings.
    pub const JAVA: Self = Self {
        seed: 1,
        allocations: 1_000_000,
        live_bytes: 4_400_000,
    };
}

const fn of(share: u64, size: u64) -> (u64, Sizes) {
    (share, Sizes::Exactly(size))
}

const fn from(share: u64, from: u64) -> (u64, Sizes) {
    (share, Sizes::LogUniform { from, octaves: 1 })
}

/// Shares of all objects in parts of 10,000, and the sizes that the virtual machine gives them,
/// header included, rounded up to 8 bytes. The mean of javac, HSQLDB and Drools; sizes with less
/// than 8 parts are drawn from their octave. Objects of 64 KiB and more, 0.4 parts, are left out.
const SIZES: [(u64, Sizes); 30] = [
    of(594, 16),
    of(4353, 24),
    of(1983, 32),
    of(934, 40),
    of(394, 48),
    of(410, 56),
    of(197, 64),
    of(177, 72),
    of(191, 80),
    of(275, 88),
    of(46, 96),
    of(64, 104),
    of(34, 112),
    of(45, 120),
    of(15, 128),
    of(38, 144),
    of(9, 152),
    of(9, 160),
    of(96, 272),
    of(33, 528),
    of(12, 1040),
    from(33, 128),
    from(14, 256),
    from(10, 512),
    from(9, 1024),
    from(12, 2048),
    from(6, 4096),
    from(4, 8192),
    from(2, 16_384),
    from(1, 32_768),
];

const OF: u64 = 10_000;
const _: () = assert!(sum(&SIZES) == OF);

/// Objects in a row that die young: 11 on average, as recorded.
const MOST_YOUNG: u64 = 21;
/// Objects in a row that survive: 3.5 on average. So they are 24 % of all, as recorded.
const MOST_OLD: u64 = 6;
/// An object of this many bytes ends its row, so that no row is large.
const ENDS_A_ROW: u64 = 4096;
/// Live bytes that hold more than any row.
const LEAST_LIVE: u64 = 256 << 10;

/// Java-like, synthetic: sizes and lifetimes recorded from javac, HSQLDB and Drools, the three of
/// six programs that do not make more than two thirds of their objects in one size. See the module
/// `groups` for the lifetimes.
///
/// The row in the making when the number of allocations is reached is completed.
///
/// # Errors
/// Too many allocations, or live bytes below 256 KiB.
///
/// # Examples
/// ```
/// use surefit_trace::generate::{Churn, java_like};
/// let trace = java_like(&Churn { allocations: 1000, ..Churn::JAVA })?;
/// assert!((1000..1021).contains(&trace.header().counts.objects));
/// # Ok::<(), surefit_trace::generate::GenerateError>(())
/// ```
pub fn java_like(churn: &Churn) -> Result<Trace, GenerateError> {
    churn.in_memory()?;
    traced("java-like", |sink| play(churn, sink))
}

pub(super) fn play(churn: &Churn, sink: Sink<'_>) -> Result<(), GenerateError> {
    churn.check(LEAST_LIVE)?;
    let mut groups = Groups::new(churn.seed, churn.live_bytes, Order::OldestFirst, sink);
    let mut is_young = true;
    while groups.objects() < churn.allocations {
        let most = if is_young { MOST_YOUNG } else { MOST_OLD };
        row(&mut groups, most);
        groups.end(is_young);
        is_young = !is_young;
    }
    Ok(())
}

/// Allocates 1 to `most` objects.
fn row(groups: &mut Groups<'_>, most: u64) {
    for _ in 0..=groups.random.below(most) {
        let size = draw(&SIZES, OF, &mut groups.random).next_multiple_of(8);
        groups.allocate(size);
        if size >= ENDS_A_ROW {
            return;
        }
    }
}
