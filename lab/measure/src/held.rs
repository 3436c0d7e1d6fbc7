//! What an allocator holds over a run, beside what is live: in the mean, at the end, and in the
//! worst valley.
//!
//! A valley is a time after the first climb to half of the peak at which less is live than before
//! and than later: the program needs the memory again, but not now. The worst one is where most is
//! held for what is live.

use crate::results::{AllocatorResult, ResidentSample};

/// Before this part of the peak is live, a program only fills its memory.
const CLIMBED: f64 = 0.5;

/// A program with less than this part of the peak live at its end has freed nearly all of it.
const NEARLY_ALL: f64 = 0.1;

/// Before a valley, and after it, so many times as much is live.
const RISES: f64 = 1.25;

/// A malloc that holds so many times what is live, in a valley or at the end, is worth a sentence.
const CREEPS: f64 = 1.5;

/// A program for which a malloc holds less than this beyond what is live needs no advice.
const WORTH_BYTES: u64 = 1 << 20;

/// What was held and what was live after an event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// The event.
    pub event: u64,
    /// The sum of live requests, in bytes.
    pub live_bytes: u64,
    /// What was held, in bytes.
    pub held_bytes: u64,
}

impl Moment {
    /// What was held over what was live.
    #[must_use]
    pub fn over_live(&self) -> f64 {
        self.held_bytes as f64 / self.live_bytes.max(1) as f64
    }

    fn creeps(&self) -> bool {
        let beyond = self.held_bytes.saturating_sub(self.live_bytes);
        self.over_live() >= CREEPS && beyond >= WORTH_BYTES
    }
}

/// What an allocator held over a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Held {
    /// The sum of what was held over the sum of what was live, over all samples.
    pub mean: f64,
    /// The end; `None` if the program had freed nearly all by then.
    pub end: Option<Moment>,
    /// The worst valley; `None` if there was none.
    pub valley: Option<Moment>,
}

impl Held {
    /// What was resident; `None` without samples, or if nothing was live.
    #[must_use]
    pub fn resident(row: &AllocatorResult) -> Option<Self> {
        let samples = row.resident_over_time.iter().flatten();
        Self::of(samples.map(|sample| Moment {
            held_bytes: sample.resident_bytes,
            ..live(sample)
        }))
    }

    /// What was in use: all but free pages and chunks, which can go back to the system. `None` if
    /// the allocator does not report it.
    #[must_use]
    pub fn in_use(row: &AllocatorResult) -> Option<Self> {
        let samples = row.resident_over_time.iter().flatten();
        Self::of(samples.filter_map(|sample| {
            Some(Moment {
                held_bytes: sample.parts?.in_use_bytes(),
                ..live(sample)
            })
        }))
    }

    /// These moments, in the order of the run.
    fn of(moments: impl Iterator<Item = Moment>) -> Option<Self> {
        let moments: Vec<_> = moments.collect();
        let sum = |of: fn(&Moment) -> u64| moments.iter().map(|it| of(it) as f64).sum::<f64>();
        let (held, live) = (sum(|it| it.held_bytes), sum(|it| it.live_bytes));
        let peak = moments.iter().map(|it| it.live_bytes).max()? as f64;
        (live > 0.0).then(|| Self {
            mean: held / live,
            end: moments
                .last()
                .filter(|end| end.live_bytes as f64 >= NEARLY_ALL * peak)
                .copied(),
            valley: worst_valley(&moments, peak),
        })
    }

    /// The greater of the end and the worst valley, over live; `None` without both.
    #[must_use]
    pub fn most(&self) -> Option<f64> {
        self.moments().map(Moment::over_live).reduce(f64::max)
    }

    /// Whether a valley or the end holds 1.5 times what is live or more, and 1 MiB beyond it.
    #[must_use]
    pub fn creeps(&self) -> bool {
        self.moments().any(Moment::creeps)
    }

    fn moments(&self) -> impl Iterator<Item = &Moment> {
        self.end.iter().chain(&self.valley)
    }
}

fn live(sample: &ResidentSample) -> Moment {
    Moment {
        event: sample.event,
        live_bytes: sample.live_bytes,
        held_bytes: 0,
    }
}

fn worst_valley(moments: &[Moment], peak: f64) -> Option<Moment> {
    let climbed = |moment: &Moment| moment.live_bytes as f64 >= CLIMBED * peak;
    let after = &moments[moments.iter().position(climbed)?..];
    let valleys = after.iter().enumerate().filter(|(at, moment)| {
        let enough = RISES * moment.live_bytes as f64;
        let rises = |side: &[Moment]| side.iter().any(|it| it.live_bytes as f64 >= enough);
        moment.live_bytes > 0 && rises(&after[..*at]) && rises(&after[*at..])
    });
    let valleys = valleys.map(|(_, moment)| *moment);
    valleys.max_by(|a, b| a.over_live().total_cmp(&b.over_live()))
}

#[cfg(test)]
mod tests {
    use super::{Held, Moment};

    /// The moments of these live MiB, with as much held as was ever live.
    fn held(live: &[u64]) -> Option<Held> {
        of_units(live, 1 << 20)
    }

    fn of_units(live: &[u64], unit: u64) -> Option<Held> {
        let mut most = 0;
        let moments = (0..).zip(live).map(|(event, &live)| {
            let live_bytes = live * unit;
            most = most.max(live_bytes);
            Moment {
                event,
                live_bytes,
                held_bytes: most,
            }
        });
        Held::of(moments)
    }

    #[test]
    fn the_worst_valley_lies_between_two_climbs() {
        let found = held(&[1, 10, 60, 100, 40, 20, 50, 90, 80]).expect("samples");
        assert_eq!(
            found.valley.map(|it| (it.event, it.over_live())),
            Some((5, 5.0))
        );
        assert_eq!(found.end.map(|it| it.over_live()), Some(1.25));
        assert_eq!(found.most(), Some(5.0));
        assert!(found.creeps());
    }

    #[test]
    fn what_a_program_frees_as_it_ends_is_no_valley() {
        let found = held(&[10, 60, 100, 70, 40, 5, 0]).expect("samples");
        assert_eq!((found.valley, found.end), (None, None));
        let found = held(&[10, 60, 100, 50]).expect("samples");
        assert_eq!(found.valley, None);
        assert!(found.creeps(), "{found:?}");
        assert!(!held(&[10, 60, 100, 95]).expect("samples").creeps());
    }

    #[test]
    fn a_mean_without_a_valley_or_an_end_does_not_creep() {
        let moments = [(40, 100), (100, 100), (5, 100)].map(|(live, held)| Moment {
            event: 0,
            live_bytes: live << 20,
            held_bytes: held << 20,
        });
        let found = Held::of(moments.into_iter()).expect("samples");
        assert!(found.mean > 1.5, "{found:?}");
        assert_eq!((found.end, found.valley, found.most()), (None, None, None));
        assert!(!found.creeps());
    }

    #[test]
    fn less_than_a_mebibyte_beyond_live_does_not_creep() {
        let creeps = |unit| of_units(&[10, 100, 50], unit).is_some_and(|held| held.creeps());
        assert!(creeps(20 * 1024 + 1024) && !creeps(20 * 1024));
    }

    #[test]
    fn nothing_is_said_of_nothing() {
        assert_eq!(held(&[]), None);
        assert_eq!(held(&[0, 0]), None);
    }
}
