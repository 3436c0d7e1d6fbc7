//! The papers' sizes with the lifetimes of a recorded Emacs: half of the objects die before the
//! next allocation, and few outlive the program.
//!
//! ```text
//! life      of each object by its size: a share of all lives on, the others live for so many allocations, by the
//!           percentiles of the recording of 425,771 objects
//! live on   a share so many times the recorded one that what lives on comes to the bytes asked for; where more would live,
//!           who is due next goes first
//! ```
//! The recording grows to its peak and holds it until it ends, as here; a program in a steady state
//! has its peak from the first turn on.
//!
//! # Source
//! `traces/emacs.sft.zst`: lifetimes in allocations. Craciunas et al. (2009): the sizes.

use std::collections::BTreeMap;

use super::churn::{Churn, EMACS, HUMMINGBIRD, Mix};
use super::error::GenerateError;
use super::random::{Random, draw};
use super::tape::{Object, Sink, Tape, traced};
use crate::Trace;

/// How long objects of up to so many bytes live.
#[derive(Clone, Copy, Debug)]
struct Lives {
    /// The largest of them.
    up_to: u64,
    /// Of a thousand objects, those that live when the program ends.
    live_on: u64,
    /// Allocations that the others live for, at each of [`PERCENTS`].
    at: [u64; PERCENTS.len()],
}

/// The percentiles that are known of lifetimes; the last is that of 99.9 %.
const PERCENTS: [u64; 14] = [0, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 100];

const fn lives(up_to: u64, live_on: u64, at: [u64; PERCENTS.len()]) -> Lives {
    Lives { up_to, live_on, at }
}

/// As recorded. The longest lives, from 99 to 99.9 %, are those of the objects freed as the program
/// ends.
const RECORDED: [Lives; 5] = [
    lives(
        32,
        15,
        [
            1, 3, 3, 9, 2067, 11_364, 21_503, 32_016, 42_528, 53_041, 63_557, 68_814, 73_019,
            425_097,
        ],
    ),
    lives(
        64,
        152,
        [
            1, 1, 2, 133, 285, 470, 768, 2438, 6149, 19_688, 41_195, 57_969, 71_545, 108_058,
        ],
    ),
    lives(
        128,
        17,
        [
            1, 1, 1, 1, 1, 1, 1, 2, 10_660, 30_114, 51_966, 62_947, 71_734, 73_700,
        ],
    ),
    lives(
        1024,
        29,
        [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 477, 4391, 25_175, 425_303],
    ),
    lives(
        u64::MAX,
        200,
        [
            1, 1, 1, 3, 54, 251, 470, 700, 1027, 2047, 4809, 9615, 81_366, 177_938,
        ],
    ),
];

fn of_size(size: u64) -> &'static Lives {
    let found = RECORDED.iter().find(|lives| size <= lives.up_to);
    found.unwrap_or(&RECORDED[RECORDED.len() - 1])
}

impl Lives {
    /// Allocations that one object lives for: evenly between two percentiles.
    fn draw(&self, random: &mut Random) -> u64 {
        let percent = random.below(100);
        let above = PERCENTS.iter().position(|known| *known > percent);
        let above = above.unwrap_or(PERCENTS.len() - 1);
        let (from, to) = (self.at[above - 1], self.at[above]);
        from + random.below(to - from + 1)
    }
}

/// The paper's Emacs by sizes, with the lifetimes of a recorded one: the objects of
/// [`emacs_paper`](super::emacs_paper).
///
/// # Errors
/// Too many allocations, or live bytes below 1 KiB.
///
/// # Examples
/// ```
/// use surefit_trace::generate::{Churn, emacs_lives};
/// let trace = emacs_lives(&Churn { allocations: 1000, ..Churn::EMACS })?;
/// assert_eq!(trace.header().counts.objects, 1000);
/// # Ok::<(), surefit_trace::generate::GenerateError>(())
/// ```
pub fn emacs_lives(churn: &Churn) -> Result<Trace, GenerateError> {
    churn.in_memory()?;
    traced("emacs-lives", |sink| play(&EMACS, churn, sink))
}

/// The paper's web proxy by sizes, with the lifetimes of a recorded Emacs: the objects of
/// [`hummingbird_paper`](super::hummingbird_paper).
///
/// # Errors
/// Too many allocations, or live bytes below 16 KiB.
pub fn hummingbird_lives(churn: &Churn) -> Result<Trace, GenerateError> {
    churn.in_memory()?;
    traced("hummingbird-lives", |sink| play(&HUMMINGBIRD, churn, sink))
}

pub(super) fn play(mix: &Mix, churn: &Churn, sink: Sink<'_>) -> Result<(), GenerateError> {
    let &Churn {
        seed,
        allocations,
        live_bytes,
    } = churn;
    churn.check(mix.iter().map(|(_, sizes)| sizes.most()).max().unwrap_or(0))?;
    let recorded = living_on(mix, churn).max(1);
    let (mut sizes, mut random) = (Random::new(seed), Random::new(!seed));
    let mut tape = Tape::new(sink);
    // by when they are due, then by age; who lives on is due last
    let mut due: BTreeMap<(u64, u64), Object> = BTreeMap::new();
    for now in 0..allocations {
        let size = draw(mix, 100, &mut sizes);
        while let Some(next) = due.first_entry() {
            let is_due = next.key().0 <= now;
            if !is_due && tape.live_bytes() + size <= live_bytes {
                break;
            }
            tape.free(next.remove());
        }
        let lives = of_size(size);
        let share = u128::from(lives.live_on) * u128::from(live_bytes) / u128::from(recorded);
        let until = if u128::from(random.below(1000)) < share {
            u64::MAX
        } else {
            now.saturating_add(lives.draw(&mut random))
        };
        due.insert((until, now), tape.allocate(size));
    }
    Ok(())
}

/// The bytes that would live on by the recorded shares: of the same sizes, which are drawn twice.
fn living_on(mix: &Mix, churn: &Churn) -> u64 {
    let mut sizes = Random::new(churn.seed);
    let thousandths: u128 = (0..churn.allocations)
        .map(|_| {
            let size = draw(mix, 100, &mut sizes);
            u128::from(size) * u128::from(of_size(size).live_on)
        })
        .sum();
    u64::try_from(thousandths / 1000).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::{PERCENTS, RECORDED, of_size};
    use crate::generate::random::Random;

    #[test]
    fn lifetimes_have_the_recorded_percentiles() {
        let mut random = Random::new(3);
        for lives in RECORDED {
            assert!(lives.at.is_sorted() && PERCENTS.is_sorted());
            let mut drawn: Vec<_> = (0..20_000).map(|_| lives.draw(&mut random)).collect();
            drawn.sort_unstable();
            for (percent, known) in PERCENTS.iter().zip(lives.at) {
                let at = drawn[(percent * 199).min(19_999) as usize];
                let (least, most) = (known as f64 * 0.7, known as f64 * 1.4 + 40.0);
                let is_near = (least..=most).contains(&(at as f64));
                assert!(is_near || *percent > 95, "{percent} %: {at}, known {known}");
            }
        }
        assert_eq!((of_size(32).live_on, of_size(33).live_on), (15, 152));
        assert_eq!(of_size(1 << 30).live_on, 200);
    }
}
