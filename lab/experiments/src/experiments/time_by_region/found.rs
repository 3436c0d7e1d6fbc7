//! What was found of a program, and geometric means over programs.

use surefit_measure::results::Ratio;

/// The heap whose time is compared, and those that it is compared with.
pub(super) const HEAPS: [&str; 3] = ["cf", "rlsf", "talc"];

/// Places in [`HEAPS`].
pub(super) const CF: usize = 0;
pub(super) const RLSF: usize = 1;
pub(super) const TALC: usize = 2;

/// The regions, as tables call them.
pub(super) const REGIONS: [&str; 5] = ["certified", "1.25x", "1.5x", "2x", "4x"];

/// The regions after the first one, as multiples of the most live bytes.
pub(super) const TIMES_LIVE: [f64; 4] = [1.25, 1.5, 2.0, 4.0];

/// Places in [`REGIONS`].
pub(super) const CERTIFIED: usize = 0;
pub(super) const HALF_MORE: usize = 2;
pub(super) const FOUR_TIMES: usize = 4;

/// One region of a program.
#[derive(Clone, Debug, Default)]
pub(super) struct Region {
    pub(super) bytes: u64,
    /// Moves of `cf` in the whole run; `None` if it does not complete.
    pub(super) moves: Option<u64>,
    /// Of `cf`, in the mean; `None` if they were not counted.
    pub(super) instructions_per_free: Option<f64>,
    /// Nanoseconds of an allocation with its free, round by round, of each of [`HEAPS`]; none if it
    /// does not complete.
    pub(super) pair_ns: [Vec<f64>; HEAPS.len()],
}

/// What was found of one program.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) name: String,
    pub(super) live_bytes: u64,
    /// For each of [`REGIONS`].
    pub(super) regions: [Region; REGIONS.len()],
}

impl Found {
    /// Bytes ÷ the most live bytes.
    pub(super) fn to_live(&self, bytes: u64) -> f64 {
        bytes as f64 / self.live_bytes.max(1) as f64
    }

    /// The region whose time of another heap stands for that in this one: the smallest in which it
    /// completes, of this one and the larger ones.
    pub(super) fn standing(&self, place: usize, heap: usize) -> Option<&Region> {
        let least = self.regions[place].bytes;
        let all = self.regions.iter();
        all.filter(|region| region.bytes >= least && !region.pair_ns[heap].is_empty())
            .min_by_key(|region| region.bytes)
    }

    /// The time of `cf` in a region ÷ that of another heap, round by round; none if one of them was
    /// not timed.
    pub(super) fn rounds(&self, place: usize, heap: usize) -> Vec<f64> {
        let own = &self.regions[place].pair_ns[CF];
        let Some(other) = self.standing(place, heap) else {
            return Vec::new();
        };
        let pairs = own.iter().zip(&other.pair_ns[heap]);
        pairs.map(|(own, other)| own / other).collect()
    }

    /// The same, with its spread over the rounds.
    pub(super) fn ratio(&self, place: usize, heap: usize) -> Option<Ratio> {
        Ratio::of(&self.rounds(place, heap))
    }
}

/// The geometric mean of the programs' ratios, round by round.
pub(super) fn mean_rounds(all: &[&Found], place: usize, heap: usize) -> Vec<f64> {
    let of: Vec<_> = all.iter().map(|found| found.rounds(place, heap)).collect();
    let rounds = of.iter().map(Vec::len).min().unwrap_or(0);
    let mean = |round: usize| {
        let logarithms = of.iter().map(|ratios| ratios[round].ln());
        (logarithms.sum::<f64>() / of.len() as f64).exp()
    };
    (0..rounds).map(mean).collect()
}

/// Their geometric mean over the programs on which both heaps were timed.
pub(super) fn mean(all: &[Found], place: usize, heap: usize) -> Option<Ratio> {
    let is_timed = |found: &&Found| !found.rounds(place, heap).is_empty();
    let timed: Vec<_> = all.iter().filter(is_timed).collect();
    Ratio::of(&mean_rounds(&timed, place, heap))
}

#[cfg(test)]
pub(super) mod tests {
    use super::{CERTIFIED, CF, FOUR_TIMES, Found, REGIONS, RLSF, Region, TALC, mean};

    /// A program on which `cf` takes so much time in each region, and the others take 100 from the
    /// second region on.
    pub(in super::super) fn found(cf: [&[f64]; REGIONS.len()]) -> Found {
        let mut place = 0;
        let regions = cf.map(|ns| {
            place += 1;
            let peer = match place {
                1 => Vec::new(),
                _ => vec![100.0; ns.len()],
            };
            Region {
                bytes: 1000 * place,
                moves: Some(7),
                instructions_per_free: Some(80.0),
                pair_ns: [ns.to_vec(), peer.clone(), peer],
            }
        });
        Found {
            name: "t".to_owned(),
            live_bytes: 1000,
            regions,
        }
    }

    #[test]
    fn a_heap_that_does_not_complete_is_represented_by_the_smallest_region_in_which_it_does() {
        let mut found = found([&[50.0, 60.0, 70.0]; REGIONS.len()]);
        found.regions[1].pair_ns[RLSF] = vec![100.0, 200.0, 100.0];
        let standing = found.standing(CERTIFIED, RLSF).expect("it completes");
        assert_eq!(standing.bytes, 2000);
        assert_eq!(found.rounds(CERTIFIED, RLSF), [0.5, 0.3, 0.7]);
        for region in &mut found.regions {
            region.pair_ns[TALC].clear();
        }
        assert!(found.ratio(CERTIFIED, TALC).is_none());
    }

    #[test]
    fn a_smaller_region_represents_no_larger_one() {
        let mut found = found([&[50.0]; REGIONS.len()]);
        found.regions[FOUR_TIMES].pair_ns[RLSF].clear();
        assert!(found.standing(FOUR_TIMES, RLSF).is_none());
        // the certified bytes may be more than a multiple
        found.regions[CERTIFIED].bytes = 2500;
        let standing = found.standing(CERTIFIED, RLSF).expect("it completes");
        assert_eq!(standing.bytes, 3000);
    }

    #[test]
    fn the_mean_is_geometric_and_taken_in_each_round() {
        let [fast, slow] = [[50.0, 25.0, 50.0], [200.0, 100.0, 100.0]];
        let [fast, slow] = [&fast, &slow].map(|ns| found([ns; REGIONS.len()]));
        let mut absent = found([&[1.0; 3]; REGIONS.len()]);
        absent.regions[FOUR_TIMES].pair_ns[CF].clear();
        let mean = mean(&[fast, slow, absent], FOUR_TIMES, RLSF).expect("two programs");
        assert!((mean.max - 1.0).abs() < 1e-9 && (mean.min - 0.5).abs() < 1e-9);
        assert!((mean.median - 0.5_f64.sqrt()).abs() < 1e-9, "{mean}");
    }
}
