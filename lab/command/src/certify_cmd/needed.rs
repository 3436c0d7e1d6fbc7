//! What a heap must serve: a joint budget, the peaks of the size-classes, or both.

use anyhow::{Context, Result};
use surefit_compact::Geometry;
use surefit_compact::certify::{BlockCount, Budget, ClassSet, Demand, DemandMeter};

use super::margin::Margin;

/// A demand on heaps of one configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Needed {
    pub(super) budget: Option<Budget>,
    /// The most page-blocks of each size-class, by its index.
    pub(super) most: Option<Vec<u32>>,
}

/// What a resize of a heap holds besides the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resizes {
    /// Heaps of one owner keep what stays in place.
    InPlace,
    /// Shared heaps hold the whole old object beside the new one, in each of so many threads.
    ByCopy {
        /// The threads.
        threads: u32,
    },
}

impl Needed {
    /// The demand that was counted along a trace.
    pub(super) fn of_meter(meter: &DemandMeter<'_>) -> Self {
        let most = match meter.per_class() {
            Demand::PerClass(most) => Some(most.to_vec()),
            _ => None,
        };
        Self {
            budget: Some(meter.budget()),
            most,
        }
    }

    /// The demand of whichever of two runs asks for more, figure by figure.
    pub(super) fn or(self, other: &Self, geometry: &Geometry) -> Self {
        let budget = match (self.budget, other.budget) {
            (Some(a), Some(b)) => Some(Budget {
                objects: a.objects.max(b.objects),
                block_bytes: a.block_bytes.max(b.block_bytes),
                classes: union(geometry, a.classes, b.classes),
            }),
            (a, b) => a.or(b),
        };
        let most = match (self.most, &other.most) {
            (Some(a), Some(b)) => Some(a.iter().zip(b).map(|(a, b)| *a.max(b)).collect()),
            _ => None,
        };
        Self { budget, most }
    }

    /// The same with a margin on every figure.
    pub(super) fn with(mut self, margin: Margin) -> Self {
        self.budget = self.budget.map(|budget| with_margin(budget, margin));
        for most in self.most.iter_mut().flatten() {
            *most = u32::try_from(margin.on(u64::from(*most))).unwrap_or(u32::MAX);
        }
        self
    }

    /// The same with every size-class up to the largest one used: a further run of a program may
    /// use sizes between those that were seen.
    pub(super) fn with_sizes_between(mut self, geometry: &Geometry) -> Self {
        if let Some(budget) = &mut self.budget {
            let used = geometry
                .classes()
                .filter(|class| budget.classes.contains(*class));
            if let Some(largest) = used.max_by_key(|class| class.index()) {
                let up_to = geometry
                    .classes()
                    .filter(|class| class.index() <= largest.index());
                budget.classes = up_to.fold(ClassSet::EMPTY, ClassSet::with);
            }
        }
        self
    }

    /// The same with so many more page-blocks of so many bytes live at once, each of which may be
    /// of any class used.
    pub(super) fn and(mut self, more: BlockCount) -> Self {
        if let Some(budget) = &mut self.budget {
            budget.objects = budget.objects.saturating_add(more.blocks);
            budget.block_bytes = budget.block_bytes.saturating_add(more.bytes);
        }
        self
    }

    /// The readings of the demand, the most general first.
    pub(super) fn readings(&self) -> Vec<(&'static str, Demand<'_>)> {
        let mut readings = Vec::new();
        if let Some(budget) = self.budget {
            readings.push(("joint", Demand::Joint(budget)));
        }
        if let Some(most) = &self.most {
            readings.push(("per-class", Demand::PerClass(most)));
            if let Some(budget) = self.budget {
                readings.push(("both", Demand::Both(budget, most)));
            }
        }
        readings
    }

    /// The first reading.
    ///
    /// # Errors
    /// There is none.
    pub(super) fn first(&self) -> Result<Demand<'_>> {
        let first = self.readings().into_iter().next();
        Ok(first.context("a demand has a reading")?.1)
    }
}

/// A budget with a margin on both figures.
pub(super) fn with_margin(budget: Budget, margin: Margin) -> Budget {
    Budget {
        objects: margin.on(budget.objects),
        block_bytes: margin.on(budget.block_bytes),
        ..budget
    }
}

/// The classes of both sets.
pub(super) fn union(geometry: &Geometry, a: ClassSet, b: ClassSet) -> ClassSet {
    let of_b = geometry.classes().filter(|class| b.contains(*class));
    of_b.fold(a, ClassSet::with)
}

#[cfg(test)]
mod tests {
    use super::{Margin, Needed};
    use surefit_compact::certify::{Demand, DemandMeter, certify};
    use surefit_compact::{Config, Wide};

    /// The demand of objects of these sizes, all live at once.
    fn run(sizes: &[usize]) -> Needed {
        let mut meter = DemandMeter::new::<Wide>(&Config::DEFAULT);
        for size in sizes {
            meter.allocate(*size, 8).expect("counted");
        }
        Needed::of_meter(&meter)
    }

    #[test]
    fn the_greater_of_two_runs_serves_both() {
        let geometry = Config::DEFAULT.geometry().clone();
        let (a, b) = (run(&[16; 100]), run(&[3000, 16]));
        let both = a.clone().or(&b, &geometry);
        let bytes = |needed: &Needed, reading: usize| {
            let (_, demand) = needed.readings()[reading];
            certify::<Wide>(&Config::DEFAULT, &demand)
                .expect("certifiable")
                .heap_bytes
        };
        for reading in 0..3 {
            assert!(bytes(&both, reading) >= bytes(&a, reading));
            assert!(bytes(&both, reading) >= bytes(&b, reading));
        }
        let budget = both.budget.expect("joint");
        assert_eq!(budget.objects, 100);
        assert_eq!(budget.block_bytes, b.budget.expect("joint").block_bytes);
        assert_eq!(budget.classes.len(), 2);
        let between = both.clone().with_sizes_between(&geometry);
        assert!(between.budget.expect("joint").classes.len() > 20);
        let Demand::PerClass(most) = both.readings()[1].1 else {
            panic!("peaks");
        };
        assert_eq!(most.iter().filter(|most| **most > 0).count(), 2);
    }

    #[test]
    fn a_margin_is_on_every_figure() {
        let margin: Margin = "10".parse().expect("a margin");
        let needed = run(&[16; 101]).with(margin);
        let budget = needed.budget.expect("joint");
        assert_eq!(budget.objects, 112, "rounded up");
        let most = needed.most.expect("peaks");
        assert_eq!(most.iter().max(), Some(&112));
        assert_eq!(
            most.iter().filter(|most| **most == 0).count(),
            most.len() - 1
        );
    }
}
