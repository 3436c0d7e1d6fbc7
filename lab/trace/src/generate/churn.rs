//! Programs in a steady state: fill, then free random victims to make room for each new object.

use super::error::GenerateError;
use super::random::{Sizes, draw, sum};
use super::script::Script;
use super::tape::{Sink, traced};
use crate::Trace;

/// The parameters of a program in a steady state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Churn {
    /// The seed of all random choices.
    pub seed: u64,
    /// Objects to allocate.
    pub allocations: u64,
    /// The most bytes live at once; the trace's peak is just below.
    pub live_bytes: u64,
}

impl Churn {
    /// The most allocations of a trace in memory: 2^26, so that frees and reallocations stay below
    /// [`Trace::MAX_EVENTS`].
    pub const MAX_ALLOCATIONS: u64 = Trace::MAX_EVENTS / 4;

    /// The most allocations of a trace that is not kept in memory: 2^32 less those of the last
    /// group, so that each object has a number.
    pub const MAX_STREAMED: u64 = Trace::MAX_OBJECTS - (1 << 20);

    /// [`emacs_paper`] as the peers were measured: a million allocations, 7.7 MB live in about
    /// 40,000 objects.
    pub const EMACS: Self = Self {
        seed: 1,
        allocations: 1_000_000,
        live_bytes: 7_700_000,
    };

    /// [`hummingbird_paper`] as the peers were measured: a million allocations, 124 MB live in
    /// about 100,000 objects.
    pub const HUMMINGBIRD: Self = Self {
        seed: 1,
        allocations: 1_000_000,
        live_bytes: 124_000_000,
    };

    /// Whether the trace fits in memory.
    pub(super) fn in_memory(&self) -> Result<(), GenerateError> {
        self.at_most(Self::MAX_ALLOCATIONS)
    }

    fn at_most(&self, most: u64) -> Result<(), GenerateError> {
        if self.allocations > most {
            return Err(GenerateError::TooManyAllocations {
                given: self.allocations,
                most,
            });
        }
        Ok(())
    }

    /// Whether there are numbers for its objects, which fit in at least so many live bytes.
    pub(super) fn check(&self, least: u64) -> Result<(), GenerateError> {
        self.at_most(Self::MAX_STREAMED)?;
        if self.live_bytes < least {
            let given = self.live_bytes;
            return Err(GenerateError::LiveTooSmall { given, least });
        }
        Ok(())
    }
}

/// Shares of all objects in per cent, and their sizes. The shares add up to 100.
pub(super) type Mix = [(u64, Sizes); 4];

/// The paper gives the three shares and calls the rest small: here 23 % log-uniform from 16 B to 1
/// KiB, so that an object has 185 B on average and 7.7 MB hold the peers' 40,000 objects.
pub(super) const EMACS: Mix = [
    (51, Sizes::Exactly(40)),
    (15, Sizes::Exactly(648)),
    (11, Sizes::Exactly(104)),
    (
        23,
        Sizes::LogUniform {
            from: 16,
            octaves: 6,
        },
    ),
];

/// The paper's rest goes from 16 B to 38.1 MB and leaves out what is above 16 KiB, as here: 52 %
/// log-uniform, so that an object has 1,240 B on average.
pub(super) const HUMMINGBIRD: Mix = [
    (25, Sizes::Exactly(8)),
    (23, Sizes::Exactly(32)),
    (
        52,
        Sizes::LogUniform {
            from: 16,
            octaves: 10,
        },
    ),
    (0, Sizes::Exactly(0)),
];

/// The paper's Emacs: 51 % of the objects have 40 B, 15 % 648 B, 11 % 104 B, the rest 16 B to 1
/// KiB.
///
/// # Errors
/// Too many allocations, or live bytes below 1 KiB.
///
/// # Examples
/// ```
/// use surefit_trace::generate::{Churn, emacs_paper};
/// let trace = emacs_paper(&Churn { allocations: 1000, ..Churn::EMACS })?;
/// assert_eq!(trace.header().counts.objects, 1000);
/// # Ok::<(), surefit_trace::generate::GenerateError>(())
/// ```
pub fn emacs_paper(churn: &Churn) -> Result<Trace, GenerateError> {
    churn.in_memory()?;
    traced("emacs-paper", |sink| play(&EMACS, churn, sink))
}

/// The paper's web proxy, Hummingbird: 25 % of the objects have 8 B, 23 % 32 B, the rest 16 B to 16
/// KiB.
///
/// # Errors
/// Too many allocations, or live bytes below 16 KiB.
pub fn hummingbird_paper(churn: &Churn) -> Result<Trace, GenerateError> {
    churn.in_memory()?;
    traced("hummingbird-paper", |sink| play(&HUMMINGBIRD, churn, sink))
}

pub(super) fn play(mix: &Mix, churn: &Churn, sink: Sink<'_>) -> Result<(), GenerateError> {
    let &Churn {
        seed,
        allocations,
        live_bytes,
    } = churn;
    churn.check(mix.iter().map(|(_, sizes)| sizes.most()).max().unwrap_or(0))?;
    let mut script = Script::new(seed, sink);
    for _ in 0..allocations {
        let size = draw(mix, 100, &mut script.random);
        while script.live_bytes() + size > live_bytes {
            script.free_random();
        }
        script.allocate(size);
    }
    Ok(())
}

const _: () = assert!(sum(&EMACS) == 100 && sum(&HUMMINGBIRD) == 100);
