//! The smallest heap in which a program completes, by bisection.

use std::mem::MaybeUninit;

use crate::bisect::Boundary;

use super::outcome::completed;
use super::program::Program;
use super::replay::Options;
use super::space::Space;

/// The bisection ends when its bounds are this close, in bytes, or within a thousandth of each
/// other.
const STEP: usize = 1024;

/// A space is not tried with more than this multiple of the peak live bytes.
const MOST_TIMES: usize = 64;

/// The smallest heap that suffices, and the largest that does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MinHeap {
    /// Bytes of a heap in which the program completes.
    pub bytes: usize,
    /// Bytes of a heap in which it does not: a replay failed, or it has fewer bytes than live. At
    /// most 1 KiB or a thousandth less than `bytes`.
    pub too_small_bytes: usize,
    /// The number of replays that this took.
    pub replays: u32,
}

impl MinHeap {
    /// Bytes by which the smallest heap may be smaller than the one that was found: 1 KiB or a
    /// thousandth.
    #[must_use]
    pub const fn open_bytes(bytes: usize) -> usize {
        match bytes / 1000 {
            thousandth if thousandth > STEP => thousandth,
            _ => STEP,
        }
    }
}

/// Finds the smallest heap in which a program completes, to 1 KiB or a thousandth, whichever is
/// more.
///
/// A space may fail in a larger heap and complete in a smaller one, so this is one boundary between
/// heaps that suffice and heaps that do not. `memory` returns memory of at least a given size;
/// `None`, or less memory, ends the search.
///
/// # Panics
/// As [`completed`].
pub fn min_heap<M: AsMut<[MaybeUninit<u8>]>>(
    space: &Space,
    program: &Program,
    options: &Options,
    mut memory: impl FnMut(usize) -> Option<M>,
) -> Option<MinHeap> {
    let least = program.most_live().bytes as usize;
    least_heap(least, MinHeap::open_bytes, &mut memory, |region| {
        completed(space.replay(program, region, options)).is_some()
    })
}

/// Finds the least heap of at least `least` bytes that suffices, to `open` bytes of what is found.
///
/// Finds one boundary, and ends without one, as [`min_heap`] does.
pub fn least_heap<M: AsMut<[MaybeUninit<u8>]>>(
    least: usize,
    open: impl Fn(usize) -> usize,
    mut memory: impl FnMut(usize) -> Option<M>,
    mut suffices: impl FnMut(&mut [MaybeUninit<u8>]) -> bool,
) -> Option<MinHeap> {
    let most = least.saturating_mul(MOST_TIMES).max(1 << 24);
    let mut replays = 0;
    let mut suffices = |region: &mut [MaybeUninit<u8>]| {
        replays += 1;
        suffices(region)
    };
    let (mut below, mut above) = (least.saturating_sub(1), least.max(STEP));
    let mut region = memory(above)?;
    while !suffices(region.as_mut().get_mut(..above)?) {
        below = above;
        above = above.saturating_add(above / 8);
        if above > most {
            return None;
        }
        region = memory(above)?;
    }
    let boundary = Boundary { below, above };
    let found = boundary.narrowed(1, open, |bytes| {
        let region = region.as_mut().get_mut(..bytes).ok_or(())?;
        Ok::<_, ()>(suffices(region))
    });
    let Boundary { below, above } = found.ok()?;
    Some(MinHeap {
        bytes: above,
        too_small_bytes: below,
        replays,
    })
}
