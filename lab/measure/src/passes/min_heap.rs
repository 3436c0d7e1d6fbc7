//! Finds the smallest region in which a trace completes, by bisection.

use std::convert::Infallible;
use std::mem::MaybeUninit;

use anyhow::Result;
use surefit_clients::bisect::Boundary;
use surefit_os::Reservation;

use super::replay::Stopped;
use super::timing::Untouched;
use crate::registry::Kind;
use crate::steps::Steps;

/// The bisection ends when its bounds differ by at most this many bytes, or by at most
/// [`RELATIVE`].
const ABSOLUTE: usize = 4096;

/// One part in a thousand.
const RELATIVE: usize = 1000;

/// The largest region that is tried, as a multiple of the peak.
const MOST_TIMES: usize = 64;

/// The smallest region, in bytes, in which an allocator completes a trace; exact to 4 KiB or 0.1 %,
/// whichever is more.
///
/// `guess` is a size to try first, such as the footprint of an earlier replay. `None` if even 64
/// times the peak is too small.
///
/// # Errors
/// The operating system has not enough memory.
pub fn min_heap(kind: &Kind, steps: &Steps, guess: usize) -> Result<Option<usize>> {
    let least = usize::try_from(steps.peak_live_bytes)?;
    let Some((mut region, enough)) = first_enough(kind, steps, guess.max(least))? else {
        return Ok(None);
    };
    let least = least.saturating_sub(1);
    let boundary = Boundary {
        below: least,
        above: enough,
    };
    let open = |above: usize| ABSOLUTE.max(above / RELATIVE);
    let Ok(found) = boundary.narrowed(8, open, |bytes| {
        Ok::<_, Infallible>(completes(kind, steps, &mut region.memory()[..bytes]))
    });
    Ok(Some(found.above))
}

/// A size that suffices and a region of it.
fn first_enough(kind: &Kind, steps: &Steps, guess: usize) -> Result<Option<(Reservation, usize)>> {
    let most = (steps.peak_live_bytes as usize)
        .saturating_mul(MOST_TIMES)
        .max(1 << 24);
    let mut bytes = guess.max(ABSOLUTE);
    while bytes <= most {
        let mut region = Reservation::new(bytes)?;
        if completes(kind, steps, region.memory()) {
            return Ok(Some((region, bytes)));
        }
        bytes += bytes / 8 + ABSOLUTE;
    }
    Ok(None)
}

fn completes(kind: &Kind, steps: &Steps, memory: &mut [MaybeUninit<u8>]) -> bool {
    let outcome: Result<Result<u64, Stopped>, _> = kind.run_untimed(memory, Untouched { steps });
    matches!(outcome, Ok(Ok(_)))
}
