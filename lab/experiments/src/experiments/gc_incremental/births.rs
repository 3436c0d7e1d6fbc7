//! Two generations over lists, over Compact-fit, and over Compact-fit with a nursery, in
//! interleaved rounds.
#![deny(unsafe_code)]

use anyhow::Result;
use surefit_clients::java::{Finds, Lists};
use surefit_freelist::When;
use surefit_gc::CompactFit;
use surefit_os::Reservation;
use surefit_vm::{Collecting, Space, Watched, Watching};

use super::plan::Plan;
use super::ratios::{geometric_mean, over};
use crate::shared::thesis::java::Java;

/// Where objects are born.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Born {
    Lists,
    CompactFit,
    Nursery,
}

impl Born {
    pub(super) const ALL: [Self; 3] = [Self::Lists, Self::CompactFit, Self::Nursery];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Lists => "lists",
            Self::CompactFit => "Compact-fit",
            Self::Nursery => "nursery",
        }
    }

    fn space(self) -> Space {
        match self {
            Self::Lists => Space::Segregated(Lists::usual(Finds::Bitmap, When::Immediate)),
            Self::CompactFit | Self::Nursery => Space::CompactFit(Box::new(CompactFit::CONFIG)),
        }
    }

    /// The nursery has half more than the young bytes: headers lie in it too.
    const fn collecting(self, young_bytes: u64) -> Collecting {
        let nursery = match self {
            Self::Lists | Self::CompactFit => 0,
            Self::Nursery => (young_bytes + young_bytes / 2) as usize,
        };
        Collecting::TwoGenerations {
            nursery,
            young_bytes,
        }
    }
}

/// A program in one heap.
#[derive(Clone, Debug)]
pub(super) struct Births {
    pub(super) born: Born,
    pub(super) multiple: f64,
    /// Bytes at which the young generation is collected.
    pub(super) young_bytes: u64,
    /// Round by round; none if the program did not complete. Only their times differ.
    pub(super) rounds: Vec<Watched>,
}

impl Births {
    fn ns(&self) -> Vec<f64> {
        let ns = |round: &Watched| round.management_ns() as f64;
        self.rounds.iter().map(ns).collect()
    }
}

/// The heap management time over that with a nursery, round by round, over all heaps.
pub(super) fn over_nursery(all: &[Births], base: Born) -> Vec<f64> {
    let at = |born, multiple| {
        let found = all
            .iter()
            .find(|one| (one.born, one.multiple) == (born, multiple));
        found.map_or_else(Vec::new, Births::ns)
    };
    let heaps = all.iter().filter(|one| one.born == base);
    let ratios: Vec<_> = heaps
        .map(|one| over(&at(base, one.multiple), &at(Born::Nursery, one.multiple)))
        .collect();
    geometric_mean(&ratios)
}

/// Measures a program in heaps of multiples of its smallest one. The young generation may have a
/// quarter of what the heap has beyond the smallest.
///
/// # Errors
/// The system gives no memory.
pub(super) fn measure(java: &Java, smallest: usize, plan: &Plan) -> Result<Vec<Births>> {
    let watching = Watching {
        clocked: true,
        ..Watching::default()
    };
    let watching = watching.with_two_ends();
    let mut all = Vec::new();
    for &multiple in &plan.births {
        let bytes = (multiple * smallest as f64) as usize;
        let young_bytes = (bytes - smallest) as u64 / 4;
        let mut region = Reservation::new(bytes)?;
        region.fault_in();
        let start = |born| Births {
            born,
            multiple,
            young_bytes,
            rounds: Vec::new(),
        };
        let mut births = Born::ALL.map(start);
        for _ in 0..plan.rounds {
            for one in &mut births {
                let (space, collecting) = (one.born.space(), one.born.collecting(young_bytes));
                let found = java.watched(&space, collecting, watching, region.memory())?;
                one.rounds.extend(found);
            }
        }
        all.extend(births);
    }
    Ok(all)
}

#[cfg(test)]
pub(super) mod tests {
    use surefit_vm::Watched;

    use super::{Births, Born, over_nursery};

    /// Two heaps and three rounds of made-up times.
    pub(crate) fn made(of: impl Fn(Born) -> u64) -> Vec<Births> {
        let all = Born::ALL.into_iter().flat_map(|born| {
            let round = Watched {
                allocation_ns: of(born),
                ..Watched::default()
            };
            [2.0, 3.0].map(|multiple| Births {
                born,
                multiple,
                young_bytes: 100,
                rounds: vec![round.clone(); 3],
            })
        });
        all.collect()
    }

    #[test]
    fn ratios_are_of_heaps_in_which_both_complete() {
        let mut all = made(|born| if born == Born::Nursery { 100 } else { 150 });
        let near = |all: &[Births]| {
            over_nursery(all, Born::Lists)
                .iter()
                .all(|r| (r - 1.5).abs() < 1e-9)
        };
        assert!(near(&all) && over_nursery(&all, Born::Lists).len() == 3);
        all[1].rounds.clear();
        assert!(near(&all) && over_nursery(&all, Born::Lists).len() == 3);
        all[0].rounds.clear();
        assert_eq!(over_nursery(&all, Born::Lists), Vec::<f64>::new());
    }
}
