//! Minimum mutator utilisation, measured: of all windows of one length in a run, the least time
//! that the program had.
//!
//! # Bounds
//! Exact, in one pass over the pauses, without further memory.
//!
//! # Source
//! Cheng and Blelloch (2001), A parallel, real-time garbage collector, define it. The pass is ours.
#![deny(unsafe_code)]

use core::ops::Range;

/// A pause: the program stood from `start` to `end`, in ticks.
pub type Pause = Range<u64>;

/// The fewest ticks that the program had in any window of `window` ticks that lies in `run`. The
/// pauses are in order and do not overlap; parts of them outside the run do not count. `None` if
/// the run is shorter than the window.
///
/// **Only windows that start with a pause, end with one, or lie at an end of the run need to be
/// looked at.** Move a window of fixed length over the run. The pauses in it gain a tick per tick
/// while its end is in a pause, and lose one per tick while its start is in a pause. So their sum
/// is a piecewise linear function of the window's place, and has its maximum at an end of the run
/// or where its slope falls. The slope falls only where the window's start enters a pause, or its
/// end leaves one. ∎
///
/// # Complexity
/// Linear in the pauses.
///
/// # Panics
/// If the pauses are not in order, overlap, or end before they start.
///
/// # Examples
/// ```
/// use surefit_gc::schedule::least_mutator_ticks;
/// let pauses = [10..12, 20..25, 27..30];
/// assert_eq!(least_mutator_ticks(&pauses, 0..100, 10), Some(2)); // from 20 to 30
/// assert_eq!(least_mutator_ticks(&pauses, 0..100, 5), Some(0));
/// assert_eq!(least_mutator_ticks(&pauses, 0..100, 101), None);
/// ```
#[must_use]
pub fn least_mutator_ticks(pauses: &[Pause], run: Range<u64>, window: u64) -> Option<u64> {
    let last = run.end.checked_sub(window)?;
    if last < run.start {
        return None;
    }
    let ordered = pauses.iter().all(|pause| pause.start <= pause.end)
        && pauses.windows(2).all(|pair| pair[0].end <= pair[1].start);
    assert!(ordered, "pauses are in order and do not overlap");
    let within = |start: u64| start.clamp(run.start, last);
    let starts = pauses.iter().map(|pause| within(pause.start));
    let ends = pauses
        .iter()
        .map(|pause| within(pause.end.saturating_sub(window)));
    let at_starts = most_paused(pauses, window, starts.chain([last]));
    let at_ends = most_paused(pauses, window, [run.start].into_iter().chain(ends));
    Some(window - at_starts.max(at_ends))
}

/// The most paused ticks in windows whose starts ascend.
fn most_paused(pauses: &[Pause], window: u64, starts: impl Iterator<Item = u64>) -> u64 {
    let mut from = Before::none(pauses);
    let mut to = Before::none(pauses);
    let paused = starts.map(|start| {
        // A start is at most the run's end less a window.
        to.advance(start + window) - from.advance(start)
    });
    paused.max().unwrap_or(0)
}

/// How many ticks were paused before a time, which only advances.
struct Before<'p> {
    pauses: &'p [Pause],
    /// The sum of the pauses that ended by then, of those before `next`.
    whole: u64,
    next: usize,
}

impl<'p> Before<'p> {
    const fn none(pauses: &'p [Pause]) -> Self {
        Self {
            pauses,
            whole: 0,
            next: 0,
        }
    }

    fn advance(&mut self, time: u64) -> u64 {
        while let Some(pause) = self.pauses.get(self.next) {
            if pause.end > time {
                return self.whole + time.saturating_sub(pause.start);
            }
            self.whole += pause.end - pause.start;
            self.next += 1;
        }
        self.whole
    }
}
