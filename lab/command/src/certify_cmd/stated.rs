//! What a demand file states for heaps of one configuration.
//!
//! ```text
//! budgets     added up, and what the largest resize holds besides
//! peaks       of page-blocks: those of the pieces and spines of each size
//! both        Demand::Joint of N + Σ most page-blocks and B + Σ β·most bytes, in the classes of either
//! ```
//! All of a file is live at once, so budgets and peaks add up. A sum of both is a budget: that of Σ
//! most objects admits every mix within the peaks.

use anyhow::{Context, Result, anyhow, bail};
use surefit_compact::certify::{BlockCount, Budget, ClassSet};
use surefit_compact::pieces::Pieces;
use surefit_compact::{Config, Geometry, Width};
use surefit_measure::steps::LEAST_ALIGN;

use super::demand_file::{Counted, DemandFile, Peak, aligned};
use super::margin::Margin;
use super::needed::{Needed, Resizes, union, with_margin};

/// The budgets and the peaks of a file.
#[derive(Clone, Debug)]
pub(super) struct Stated {
    /// The sum of the budgets, and what resizes hold twice.
    pub(super) budget: Option<Budget>,
    /// The largest request of the budgets, `usize::MAX` if they do not say it, and the strictest
    /// alignment.
    pub(super) widest: (usize, usize),
    /// The peaks of sizes.
    pub(super) peaks: Option<Vec<Peak>>,
}

impl Stated {
    /// What a file states.
    ///
    /// # Errors
    /// One line that names the problem and the remedy.
    pub(super) fn of_file<W: Width>(
        file: &DemandFile,
        config: &Config,
        resizes: Resizes,
    ) -> Result<Self> {
        let page = config.geometry().page_bytes();
        let strictest = file.strictest()?;
        if strictest > page {
            bail!("align_bytes = {strictest}: a page has {page} bytes; use larger pages");
        }
        let mut sum = None;
        let mut widest = (file.resized_bytes.unwrap_or(0), LEAST_ALIGN);
        for counted in file.budgets()? {
            let (largest, align) = counted.widest();
            widest = (widest.0.max(largest), widest.1.max(align));
            let budget = counted_in::<W>(config, counted)?;
            sum = Some(sum.map_or(budget, |sum| both_at_once(config.geometry(), sum, budget)));
        }
        if sum.is_none() && file.per_class.is_none() {
            bail!(
                "the file states no demand: give request_bytes, or objects and largest_request_bytes, or per_class; `surefit certify --help` explains them"
            );
        }
        if sum.is_none() && file.resized_bytes.is_some() {
            bail!(
                "resized_bytes goes with request_bytes or objects: while an object of per_class is resized, it counts at both lengths"
            );
        }
        let budget = sum
            .map(|budget| with_resize::<W>(file, config, budget, resizes))
            .transpose()?;
        // A budget without objects adds nothing to peaks.
        let budget = budget.filter(|budget| budget.objects > 0 || file.per_class.is_none());
        Ok(Self {
            budget,
            widest,
            peaks: file.per_class.clone(),
        })
    }

    /// The same with a margin on every figure.
    pub(super) fn with(mut self, margin: Margin) -> Self {
        self.budget = self.budget.map(|budget| with_margin(budget, margin));
        for peak in self.peaks.iter_mut().flatten() {
            peak.objects = u32::try_from(margin.on(u64::from(peak.objects))).unwrap_or(u32::MAX);
        }
        self
    }

    /// The demand: of all at once.
    ///
    /// # Errors
    /// One line that names the problem and the remedy.
    pub(super) fn needed<W: Width>(&self, config: &Config) -> Result<Needed> {
        let most = self.peaks.as_deref();
        let most = most.map(|peaks| most_of::<W>(peaks, config)).transpose()?;
        Ok(match (self.budget, most) {
            (Some(budget), Some(most)) => Needed {
                budget: Some(budget.and_per_class(config.geometry(), &most)),
                most: None,
            },
            (budget, most) => Needed { budget, most },
        })
    }
}

/// A budget of page-blocks.
fn counted_in<W: Width>(config: &Config, counted: Counted) -> Result<Budget> {
    match counted {
        Counted::Requests(requests, align) => requests.budget_aligned::<W>(config, align),
        Counted::Objects(objects, longest, align) => {
            let each = BlockCount::most::<W>(config, longest, align);
            let each = each.ok_or_else(|| too_large(longest))?;
            Ok(Budget {
                objects: objects.saturating_mul(each.blocks),
                block_bytes: objects.saturating_mul(each.bytes),
                classes: ClassSet::of_objects(config, longest, align),
            })
        }
        Counted::Blocks(objects, block_bytes, largest, align) => Ok(Budget {
            objects,
            block_bytes,
            classes: ClassSet::of_objects(config, largest.unwrap_or(usize::MAX), align),
        }),
    }
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
    let in_flight = Budget {
        objects: of_all(resize.blocks),
        block_bytes: of_all(resize.bytes),
        classes: ClassSet::of_objects(config, len, align),
    };
    Ok(both_at_once(config.geometry(), budget, in_flight))
}

/// The peaks of the size-classes, pieces and spines included.
pub(super) fn most_of<W: Width>(peaks: &[Peak], config: &Config) -> Result<Vec<u32>> {
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
    use super::{Budget, DemandFile, Margin, Needed, Resizes, Stated};
    use surefit_compact::{Config, Wide};

    fn parse_for(text: &str, resizes: Resizes) -> anyhow::Result<Needed> {
        let file: DemandFile = serde_json::from_str(text)?;
        Stated::of_file::<Wide>(&file, &Config::DEFAULT, resizes)?.needed::<Wide>(&Config::DEFAULT)
    }

    fn parse(text: &str) -> anyhow::Result<Needed> {
        parse_for(text, Resizes::InPlace)
    }

    #[test]
    fn a_file_has_one_reading() {
        let names = |text: &str| -> Vec<&str> {
            let needed = parse(text).expect("valid");
            needed.readings().iter().map(|(name, _)| *name).collect()
        };
        let joint = r#""objects": 10, "block_bytes": 1000"#;
        let classes = r#""per_class": [{"request_bytes": 40, "objects": 3}]"#;
        assert_eq!(names(&format!("{{{joint}}}")), ["joint"]);
        assert_eq!(names(&format!("{{{classes}}}")), ["per-class"]);
        assert_eq!(names(&format!("{{{joint}, {classes}}}")), ["joint"]);
    }

    #[test]
    fn budgets_and_peaks_that_hold_at_once_add_up() {
        let text = r#"{"objects": 10, "block_bytes": 160, "largest_request_bytes": 16, "resized_bytes": 16,
            "per_class": [{"request_bytes": 200, "objects": 4, "align_bytes": 64},
                          {"request_bytes": 10000, "objects": 1}]}"#;
        let needed = parse(text).expect("valid");
        assert_eq!(needed.most, None);
        let budget = needed.budget.expect("joint");
        // A resize may be that of an aligned object. In pieces: two of 4096 bytes, 1808, 12 bytes
        // of spine.
        let in_flight = (1, 64);
        assert_eq!(budget.objects, 10 + in_flight.0 + 4 + 4);
        assert_eq!(
            budget.block_bytes,
            160 + in_flight.1 + 4 * 256 + 2 * 4096 + 1808 + 16
        );
        let class = |bytes, align| {
            let class = Config::DEFAULT.geometry().class_for(bytes, align);
            class.expect("a class")
        };
        let used = [(8, 8), (16, 8), (16, 64), (200, 64), (4096, 8), (1808, 8)];
        for (bytes, align) in used {
            assert!(budget.classes.contains(class(bytes, align)), "{bytes}");
        }
        assert!(!budget.classes.contains(class(100, 8)));
    }

    #[test]
    fn a_margin_is_on_every_figure_of_a_file() {
        let text = r#"{"objects": 10, "block_bytes": 1000,
            "per_class": [{"request_bytes": 40, "objects": 3}]}"#;
        let file: DemandFile = serde_json::from_str(text).expect("a file");
        let stated = Stated::of_file::<Wide>(&file, &Config::DEFAULT, Resizes::InPlace);
        let stated = stated
            .expect("valid")
            .with("10".parse::<Margin>().expect("a margin"));
        let budget = stated.budget.expect("a budget");
        assert_eq!((budget.objects, budget.block_bytes), (11, 1100));
        assert_eq!(stated.peaks.expect("peaks")[0].objects, 4, "rounded up");
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
            r#"{"per_class": [{"request_bytes": 8, "objects": 1, "align_bytes": 32768}]}"#,
            r#"{"objects": 1, "block_bytes": 8, "align_bytes": 32768}"#,
            r#"{"per_class": [{"request_bytes": 8, "objects": 1}], "resized_bytes": 8}"#,
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
    fn objects_up_to_a_length_are_those_of_the_library() {
        for (objects, longest) in [(20, 300), (1, 1), (7, 5_000), (3, 100_000)] {
            let text = format!(r#"{{"objects": {objects}, "largest_request_bytes": {longest}}}"#);
            let stated = parse(&text).expect("valid").budget;
            let library = Budget::of_requests::<Wide>(&Config::DEFAULT, objects, longest);
            assert_eq!(stated, library.ok(), "{text}");
        }
        let aligned = r#"{"objects": 20, "largest_request_bytes": 300, "align_bytes": 64}"#;
        let budget = parse(aligned).expect("valid").budget.expect("joint");
        assert_eq!((budget.objects, budget.block_bytes), (20, 20 * 320));
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
}
