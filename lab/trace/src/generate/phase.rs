//! A program whose sizes drift: the long-lived server that size-class allocators cannot serve well.

use super::error::GenerateError;
use super::script::Script;
use super::tape::{Sink, traced};
use crate::Trace;

/// The parameters of [`phase()`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phases {
    /// The seed of all random choices.
    pub seed: u64,
    /// The live bytes to which each phase fills; the trace's peak is just below.
    pub live_bytes: u64,
    /// How many phases.
    pub phases: u32,
}

/// The smallest object of the first phase, in bytes.
const SMALLEST: u64 = 24;
/// The largest object of the first phase, in bytes.
const LARGEST: u64 = 40;
/// Sizes grow by the factor 17 / 10 from phase to phase.
const GROWTH: (u64, u64) = (17, 10);
/// The objects freed at the end of each phase: four of five.
const FREED: (usize, usize) = (4, 5);

impl Phases {
    /// As the peers were measured: ten phases of 16 MiB (16.8 MB).
    pub const DEFAULT: Self = Self {
        seed: 1,
        live_bytes: 16 << 20,
        phases: 10,
    };

    /// For a region of 1 MiB, of which it leaves a quarter to the allocator: ten phases of 768 KiB.
    pub const SMALL: Self = Self {
        live_bytes: 768 << 10,
        ..Self::DEFAULT
    };

    /// The most live bytes: 1 GiB, about a hundred million allocations.
    pub const MAX_LIVE_BYTES: u64 = 1 << 30;

    /// The most phases; the largest object is then 0.6 MB.
    pub const MAX_PHASES: u32 = 19;

    fn check(&self) -> Result<(), GenerateError> {
        if !(1..=Self::MAX_PHASES).contains(&self.phases) {
            return Err(GenerateError::Phases {
                given: self.phases,
                most: Self::MAX_PHASES,
            });
        }
        let (given, least, most) = (
            self.live_bytes,
            grown(LARGEST, self.phases - 1),
            Self::MAX_LIVE_BYTES,
        );
        if given < least {
            return Err(GenerateError::LiveTooSmall { given, least });
        }
        if given > most {
            return Err(GenerateError::LiveTooLarge { given, most });
        }
        Ok(())
    }
}

/// A size of the first phase, as large as it is `phase` phases later.
fn grown(size: u64, phase: u32) -> u64 {
    let (up, down) = GROWTH;
    let grown = u128::from(size) * u128::from(up).pow(phase) / u128::from(down).pow(phase);
    grown as u64
}

/// Fills to the live bytes, frees a random 80 % of the objects, and begins again with sizes 1.7
/// times as large.
///
/// The first phase's objects have 24 to 40 bytes, uniformly; the tenth's 2.8 to 4.7 KB. The peaks
/// of live bytes are at the ends of the fills.
///
/// # Errors
/// Live bytes or phases out of range.
///
/// # Examples
/// ```
/// use surefit_trace::generate::{Phases, phase};
/// let trace = phase(&Phases::SMALL)?;
/// assert!(trace.peak().live_bytes > Phases::SMALL.live_bytes - 5000);
/// # Ok::<(), surefit_trace::generate::GenerateError>(())
/// ```
pub fn phase(parameters: &Phases) -> Result<Trace, GenerateError> {
    traced("phase", |sink| play(parameters, sink))
}

pub(super) fn play(parameters: &Phases, sink: Sink<'_>) -> Result<(), GenerateError> {
    parameters.check()?;
    let mut script = Script::new(parameters.seed, sink);
    for number in 0..parameters.phases {
        fill(&mut script, number, parameters.live_bytes);
        let (freed, of) = FREED;
        for _ in 0..script.live_objects() * freed / of {
            script.free_random();
        }
    }
    Ok(())
}

fn fill(script: &mut Script<'_>, phase: u32, live_bytes: u64) {
    loop {
        let first = SMALLEST + script.random.below(LARGEST - SMALLEST + 1);
        let size = grown(first, phase);
        if script.live_bytes() + size > live_bytes {
            return;
        }
        script.allocate(size);
    }
}
