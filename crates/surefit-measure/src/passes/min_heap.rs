//! The smallest region in which a trace completes, by bisection.

use std::mem::MaybeUninit;

use anyhow::Result;
use surefit_os::Reservation;

use super::replay::Stopped;
use super::timing::Untouched;
use crate::registry::Kind;
use crate::steps::Steps;

/// The bisection ends when its bounds are this close, in bytes, or within [`RELATIVE`] of each other.
const ABSOLUTE: usize = 4096;

/// One part in a thousand.
const RELATIVE: usize = 1000;

/// Beyond this multiple of the peak an allocator is not tried.
const MOST_TIMES: usize = 64;

/// The smallest region, in bytes, in which an allocator completes a trace; to 4 KiB or 0.1 %, whichever is more.
///
/// `guess` is a size to try first, such as the footprint of an earlier replay. `None` if not even 64 times the peak
/// suffices.
///
/// # Errors
/// The operating system gives no memory.
pub fn min_heap(kind: &Kind, steps: &Steps, guess: usize) -> Result<Option<usize>> {
    let least = usize::try_from(steps.peak_live_bytes)?;
    let Some((mut region, enough)) = first_enough(kind, steps, guess.max(least))? else {
        return Ok(None);
    };
    let least = least.saturating_sub(1);
    let found = bisect(least, enough, |bytes| {
        completes(kind, steps, &mut region.memory()[..bytes])
    });
    Ok(Some(found))
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
    let outcome: Result<Result<u64, Stopped>, _> = kind.run(memory, Untouched { steps });
    matches!(outcome, Ok(Ok(_)))
}

/// The least size that suffices between `too_small` and `enough`, found by halving, rounded to eight bytes.
fn bisect(too_small: usize, enough: usize, mut suffices: impl FnMut(usize) -> bool) -> usize {
    let (mut below, mut above) = (too_small, enough);
    while above.saturating_sub(below) > ABSOLUTE.max(above / RELATIVE) {
        let middle = (below + (above - below) / 2).next_multiple_of(8);
        if suffices(middle) {
            above = middle;
        } else {
            below = middle;
        }
    }
    above
}

#[cfg(test)]
mod tests {
    use super::bisect;

    #[test]
    fn the_boundary_is_found_to_4_kib_or_a_thousandth() {
        for boundary in [10_000, 1_000_000, 77_777_777] {
            let mut tries = 0;
            let found = bisect(0, 100_000_000, |bytes| {
                tries += 1;
                bytes >= boundary
            });
            assert!(found >= boundary, "{found} suffices");
            assert!(
                found - boundary <= (boundary / 999).max(4096),
                "{found} for {boundary}"
            );
            assert!(tries <= 16);
        }
    }

    #[test]
    fn equal_bounds_need_no_try() {
        assert_eq!(bisect(5000, 5000, |_| unreachable!("nothing to try")), 5000);
    }
}
