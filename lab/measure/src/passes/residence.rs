//! What is resident over time, in samples.
//!
//! In a region, the kernel says which pages were touched (`mincore`): that is exact. An allocator
//! without a region replays in a process of its own, and what counts is how much this process grew
//! since the replay began: the malloc's memory, with a few hundred kilobytes of the process itself.

use surefit_core::Usage;
use surefit_os::{Extent, resident};

use crate::results::{AtPeak, ResidentSample};
use crate::steps::{Action, Step};

/// How many times a replay is sampled after its first event.
const SAMPLES: usize = 128;

/// Where the objects of a replay are resident.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// In a region.
    Region(Extent),
    /// Somewhere in this process, in which nothing else happens.
    Process,
    /// It does not matter: no samples are taken.
    Unsampled,
}

/// The samples of one replay.
#[derive(Debug)]
pub struct Residence {
    place: Place,
    /// Events from one sample to the next.
    distance: usize,
    /// The last event, which is sampled too: what a program holds at its end is asked for.
    last: usize,
    /// What is live now.
    live_bytes: u64,
    /// What was resident in the process before the replay.
    before: u64,
    /// Written before the replay begins, so that they are resident.
    samples: Vec<ResidentSample>,
    taken: usize,
}

impl Residence {
    /// Samples of a replay of so many events.
    #[must_use]
    pub fn new(place: Place, events: usize) -> Self {
        let none = ResidentSample {
            event: u64::MAX,
            live_bytes: u64::MAX,
            resident_bytes: u64::MAX,
            parts: None,
        };
        Self {
            place,
            distance: events.div_ceil(SAMPLES).max(1),
            last: events.saturating_sub(1),
            live_bytes: 0,
            before: 0,
            samples: vec![none; SAMPLES + 1],
            taken: 0,
        }
    }

    /// The replay begins.
    pub fn begin(&mut self) {
        if let Place::Process = self.place {
            self.before = resident::bytes_now().map_or(0, |bytes| bytes as u64);
        }
    }

    /// A step is done. Returns whether a sample is due.
    #[inline]
    #[must_use]
    pub fn done(&mut self, step: Step, event: usize) -> bool {
        let (size, old) = (u64::from(step.size), u64::from(step.old));
        self.live_bytes = match step.action {
            Action::Allocate | Action::AllocateZeroed => self.live_bytes + size,
            Action::Free => self.live_bytes - size,
            Action::Resize => self.live_bytes - old + size,
        };
        event % self.distance == 0 || event == self.last
    }

    /// The sum of live requests.
    #[must_use]
    pub const fn live_bytes(&self) -> u64 {
        self.live_bytes
    }

    /// Takes a sample, if the kernel says what is resident; `usage` is the account of the region.
    #[cold]
    pub fn sample(&mut self, event: usize, usage: Option<Usage>) {
        let resident = match self.place {
            Place::Region(extent) => extent.touched_bytes().map(|bytes| bytes as u64),
            Place::Process => {
                resident::bytes_now().map(|bytes| (bytes as u64).saturating_sub(self.before))
            }
            Place::Unsampled => return,
        };
        if let (Ok(resident_bytes), Some(sample)) = (resident, self.samples.get_mut(self.taken)) {
            self.taken += 1;
            *sample = ResidentSample {
                event: event as u64,
                live_bytes: self.live_bytes,
                resident_bytes,
                parts: usage.map(|usage| AtPeak::of(usage, self.live_bytes)),
            };
        }
    }

    /// The samples that were taken.
    #[must_use]
    pub fn samples(mut self) -> Vec<ResidentSample> {
        self.samples.truncate(self.taken);
        self.samples
    }
}

/// The sum of what was resident over the sum of what was live; `None` without samples, or if
/// nothing was ever live.
#[must_use]
pub fn over_live(samples: &[ResidentSample]) -> Option<f64> {
    let resident: u64 = samples.iter().map(|sample| sample.resident_bytes).sum();
    let live: u64 = samples.iter().map(|sample| sample.live_bytes).sum();
    (live > 0).then(|| resident as f64 / live as f64)
}

#[cfg(test)]
mod tests {
    use surefit_core::Usage;
    use surefit_os::Reservation;

    use super::{Place, Residence, SAMPLES, over_live};
    use crate::results::{AtPeak, ResidentSample};
    use crate::steps::{Action, Step};

    const USAGE: Usage = Usage {
        block_bytes: 128,
        page_internal_bytes: 0,
        size_class_bytes: 0,
        transient_bytes: 0,
        large_tail_bytes: 0,
        administrative_bytes: 8,
        free_chunk_bytes: 0,
        free_page_bytes: 1,
    };

    fn step(action: Action, size: u32, old: u32) -> Step {
        Step {
            size,
            old,
            slot: 0,
            action,
            align_log2: 3,
        }
    }

    #[test]
    fn samples_say_what_is_live_and_what_of_the_region_is_touched() {
        let mut region = Reservation::new(1 << 20).expect("memory");
        let mut residence = Residence::new(Place::Region(region.extent()), 4);
        residence.begin();
        let steps = [
            (step(Action::Allocate, 100, 0), 4096, 100),
            (step(Action::Resize, 300, 100), 8192, 300),
            (step(Action::AllocateZeroed, 50, 0), 3 * 4096, 350),
            (step(Action::Free, 300, 0), 4 * 4096, 50),
        ];
        for (event, (step, ..)) in steps.iter().enumerate() {
            region.memory()[4096 * event].write(1);
            assert!(residence.done(*step, event));
            residence.sample(event, (event == 0).then_some(USAGE));
        }
        let samples = residence.samples();
        let expected = steps
            .iter()
            .enumerate()
            .map(|(event, step)| ResidentSample {
                event: event as u64,
                live_bytes: step.2,
                resident_bytes: step.1,
                parts: (event == 0).then(|| AtPeak::of(USAGE, 100)),
            });
        assert_eq!(samples, expected.collect::<Vec<_>>());
        assert_eq!(over_live(&samples), Some(10.0 * 4096.0 / 800.0));
    }

    #[test]
    fn a_long_replay_has_no_more_samples_than_a_short_one() {
        for events in [1, SAMPLES - 1, SAMPLES, SAMPLES + 1, 1000, 100_003] {
            let mut residence = Residence::new(Place::Process, events);
            residence.begin();
            for event in 0..events {
                if residence.done(step(Action::Allocate, 1, 0), event) {
                    residence.sample(event, None);
                }
            }
            let samples = residence.samples();
            assert!(samples.len() <= SAMPLES + 1, "{events}");
            assert!(samples.len() >= events.min(SAMPLES) / 2, "{events}");
            assert_eq!(samples.last().map(|it| it.event), Some(events as u64 - 1));
        }
        let residence = Residence::new(Place::Unsampled, 10);
        assert_eq!(over_live(&residence.samples()), None);
    }
}
