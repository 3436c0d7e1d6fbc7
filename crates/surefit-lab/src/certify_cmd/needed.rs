//! What a heap must serve: a joint budget, the peaks of the size-classes, or both.

use anyhow::{Context, Result, anyhow, bail};
use surefit_compact::certify::{BlockCount, Budget, ClassSet, Demand, DemandMeter};
use surefit_compact::pieces::Pieces;
use surefit_compact::{Config, Geometry, Width};

use super::demand_file::{Counted, DemandFile, Peak, aligned};
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
    /// The demand of a file.
    ///
    /// # Errors
    /// One line that names the problem and the remedy.
    pub(super) fn of_file<W: Width>(
        file: &DemandFile,
        config: &Config,
        resizes: Resizes,
    ) -> Result<Self> {
        let mut sum = None;
        for counted in file.budgets()? {
            let budget = match counted {
                Counted::Requests(requests, align) => {
                    requests.budget_aligned::<W>(config, align)?
                }
                Counted::Blocks(objects, bytes, largest, align) => Budget {
                    objects,
                    block_bytes: bytes,
                    classes: ClassSet::of_objects(config, largest.unwrap_or(usize::MAX), align),
                },
            };
            sum = Some(sum.map_or(budget, |sum| both_at_once(config.geometry(), sum, budget)));
        }
        let budget = sum
            .map(|budget| with_resize::<W>(file, config, budget, resizes))
            .transpose()?;
        let most = file.per_class.as_deref();
        let most = most.map(|peaks| most_of::<W>(peaks, config)).transpose()?;
        if budget.is_none() && most.is_none() {
            bail!(
                "the file states no demand: give request_bytes, or objects and block_bytes, or per_class; `surefit certify --help` explains them"
            );
        }
        Ok(Self { budget, most })
    }

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
        if let Some(budget) = &mut self.budget {
            budget.objects = margin.on(budget.objects);
            budget.block_bytes = margin.on(budget.block_bytes);
        }
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

fn union(geometry: &Geometry, a: ClassSet, b: ClassSet) -> ClassSet {
    let of_b = geometry.classes().filter(|class| b.contains(*class));
    of_b.fold(a, ClassSet::with)
}

/// Two budgets that are used at once.
fn both_at_once(geometry: &Geometry, a: Budget, b: Budget) -> Budget {
    Budget {
        objects: a.objects.saturating_add(b.objects),
        block_bytes: a.block_bytes.saturating_add(b.block_bytes),
        classes: union(geometry, a.classes, b.classes),
    }
}

fn too_large(bytes: usize) -> anyhow::Error {
    anyhow!(
        "{bytes} bytes: a contiguous object cannot be larger than a page; use pieces, or larger pages"
    )
}

/// A budget, and what the largest resizes hold twice.
fn with_resize<W: Width>(
    file: &DemandFile,
    config: &Config,
    budget: Budget,
    resizes: Resizes,
) -> Result<Budget> {
    let Some(len) = file.resized_bytes else {
        return Ok(budget);
    };
    let align = file.strictest()?;
    let (resize, times) = match resizes {
        Resizes::InPlace => (BlockCount::in_resize::<W>(config, len, align), 1),
        Resizes::ByCopy { threads } => (BlockCount::of::<W>(config, len, align), threads.max(1)),
    };
    let resize = resize.ok_or_else(|| too_large(len))?;
    let of_all = |one: u64| one.saturating_mul(u64::from(times));
    Ok(Budget {
        objects: budget.objects.saturating_add(of_all(resize.blocks)),
        block_bytes: budget.block_bytes.saturating_add(of_all(resize.bytes)),
        ..budget
    })
}

/// The peaks of the size-classes, pieces and spines included.
fn most_of<W: Width>(peaks: &[Peak], config: &Config) -> Result<Vec<u32>> {
    let geometry = config.geometry();
    let mut most = vec![0_u32; geometry.class_count()];
    for peak in peaks {
        let align = aligned(peak.align_bytes)?;
        let bytes = peak.request_bytes;
        for run in Pieces::new(bytes, align, config.division(), W::SPINE_WORD_BYTES) {
            let class = geometry.class_for(run.bytes, run.align);
            let class = class.ok_or_else(|| too_large(bytes))?;
            let count = u32::try_from(run.count)
                .ok()
                .and_then(|n| n.checked_mul(peak.objects));
            let sum = count.and_then(|count| most[class.index()].checked_add(count));
            most[class.index()] = sum.context("more than 2^32 page-blocks of one size-class")?;
        }
    }
    Ok(most)
}

#[cfg(test)]
mod tests {
    use super::{DemandFile, Margin, Needed, Resizes};
    use surefit_compact::certify::{Demand, DemandMeter, certify};
    use surefit_compact::{Config, Wide};

    fn parse_for(text: &str, resizes: Resizes) -> anyhow::Result<Needed> {
        let file: DemandFile = serde_json::from_str(text)?;
        Needed::of_file::<Wide>(&file, &Config::DEFAULT, resizes)
    }

    fn parse(text: &str) -> anyhow::Result<Needed> {
        parse_for(text, Resizes::InPlace)
    }

    #[test]
    fn a_demand_is_joint_or_per_class_or_both() {
        let names = |text: &str| -> Vec<&str> {
            let needed = parse(text).expect("valid");
            needed.readings().iter().map(|(name, _)| *name).collect()
        };
        let joint = r#""objects": 10, "block_bytes": 1000"#;
        let classes = r#""per_class": [{"request_bytes": 40, "objects": 3}]"#;
        assert_eq!(names(&format!("{{{joint}}}")), ["joint"]);
        assert_eq!(names(&format!("{{{classes}}}")), ["per-class"]);
        assert_eq!(
            names(&format!("{{{joint}, {classes}}}")),
            ["joint", "per-class", "both"]
        );
    }

    #[test]
    fn large_objects_are_pieces_and_spines() {
        let text = r#"{"per_class": [{"request_bytes": 10000, "objects": 3}]}"#;
        let most = parse(text).expect("valid").most.expect("peaks");
        assert_eq!(
            most.iter().sum::<u32>(),
            3 * 4,
            "two pieces, a remainder, a spine each"
        );
    }

    #[test]
    fn what_is_no_demand_is_refused() {
        for text in [
            "{}",
            r#"{"objects": 1}"#,
            r#"{"object": 1}"#,
            "[]",
            r#"{"per_class": [{"request_bytes": 8, "objects": 1, "align_bytes": 12}]}"#,
            r#"{"per_class": [{"request_bytes": 8, "objects": 4000000000},
                              {"request_bytes": 8, "objects": 4000000000}]}"#,
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_resize_adds_what_it_holds_twice() {
        let text = r#"{"objects": 10, "block_bytes": 1000, "resized_bytes": 5000}"#;
        let budget = parse(text).expect("valid").budget.expect("joint");
        assert_eq!((budget.objects, budget.block_bytes), (12, 1000 + 4096 + 16));
        let shared = parse_for(text, Resizes::ByCopy { threads: 3 }).expect("valid");
        let budget = shared.budget.expect("joint");
        assert_eq!(budget.objects, 10 + 3 * 3, "a piece, a remainder, a spine");
    }

    #[test]
    fn budgets_that_hold_at_once_add_up() {
        let text = r#"{"objects": 10, "block_bytes": 1000, "largest_request_bytes": 16,
            "budgets": [{"objects": 5, "block_bytes": 9000, "largest_request_bytes": 2048}]}"#;
        let budget = parse(text).expect("valid").budget.expect("joint");
        assert_eq!((budget.objects, budget.block_bytes), (15, 10_000));
        let one = r#"{"objects": 15, "block_bytes": 10000, "largest_request_bytes": 2048}"#;
        assert_eq!(parse(one).expect("valid").budget, Some(budget));
    }

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
