//! A demand as a JSON file.

use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use schemars::JsonSchema;
use serde::Deserialize;
use surefit_compact::certify::{BlockCount, Budget, ClassSet, Demand};
use surefit_compact::{Config, Width};

use surefit_measure::requests::{Requests, Sizes};
use surefit_measure::small_file;
use surefit_measure::steps::LEAST_ALIGN;

/// The smallest request, in bytes, if a file does not say it: smaller ones cost as much.
const SMALLEST: u64 = 16;

/// The contents of a demand file.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DemandFile {
    /// M: the most bytes of requests live at once, in any mix of sizes. What they cost in
    /// page-blocks follows from the configuration.
    pub(crate) request_bytes: Option<u64>,
    /// The smallest of these requests, in bytes; 16 if absent.
    pub(crate) smallest_request_bytes: Option<u64>,
    /// N: the most page-blocks live at once, in any mix of sizes; needs `block_bytes`.
    pub(crate) objects: Option<u64>,
    /// B: the most bytes of page-blocks live at once; needs `objects`.
    pub(crate) block_bytes: Option<u64>,
    /// The largest request, in bytes; if absent, requests use all size-classes up to the piece
    /// size.
    pub(crate) largest_request_bytes: Option<usize>,
    /// The largest byte object that is ever resized, in bytes. What a resize holds twice is added
    /// to N and B.
    pub(crate) resized_bytes: Option<usize>,
    /// The peak of each size of request, on its own.
    pub(crate) per_class: Option<Vec<Peak>>,
}

/// The most objects of one size live at once.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Peak {
    /// The request, in bytes.
    pub(crate) request_bytes: usize,
    /// Its alignment, in bytes; 8 if absent.
    pub(crate) align_bytes: Option<usize>,
    /// How many objects of this size are live at once, at most.
    pub(crate) objects: u32,
}

/// A demand as read from a file.
pub(super) struct Parsed {
    budget: Option<Budget>,
    most: Option<Vec<u32>>,
}

impl DemandFile {
    /// Reads a demand file.
    ///
    /// # Errors
    /// One line that names the file, the problem and the remedy.
    pub(super) fn load(file: &Path) -> Result<Self> {
        let text = small_file::read(file)?;
        serde_json::from_slice(&text).with_context(|| {
            format!(
                "{}: is not a demand file (`surefit certify --help` shows its forms)",
                file.display()
            )
        })
    }

    /// The demand in requests, if the file states one.
    fn requests(&self) -> Result<Option<Requests>> {
        let Some(live) = self.request_bytes else {
            if self.smallest_request_bytes.is_some() {
                bail!("smallest_request_bytes goes with request_bytes: give both");
            }
            return Ok(None);
        };
        if self.objects.is_some() || self.block_bytes.is_some() {
            bail!(
                "request_bytes counts requests, objects and block_bytes count page-blocks: give one of the two"
            );
        }
        let largest = self
            .largest_request_bytes
            .map_or(live, |bytes| bytes as u64);
        let smallest = self.smallest_request_bytes.unwrap_or(SMALLEST.min(largest));
        if smallest == 0 || smallest > largest || largest > live {
            bail!(
                "requests of {smallest} to {largest} bytes, {live} bytes in all: the smallest is at least 1, at most the largest, and that at most all"
            );
        }
        Ok(Some(Requests {
            sizes: Sizes::Any,
            smallest,
            largest,
            live,
        }))
    }
}

impl Parsed {
    /// Reads a demand on heaps of one configuration.
    ///
    /// # Errors
    /// One line that names the problem and the remedy.
    pub(super) fn new<W: Width>(file: &DemandFile, config: &Config) -> Result<Self> {
        let budget = match (file.requests()?, file.objects, file.block_bytes) {
            (Some(requests), ..) => {
                let budget = requests.budget::<W>(config)?;
                Some(with_resize::<W>(file, config, budget)?)
            }
            (None, Some(objects), Some(bytes)) => Some(budget::<W>(file, config, objects, bytes)?),
            (None, None, None) => None,
            _ => bail!(
                "objects (the most live at once) and block_bytes (the most bytes of their page-blocks) need each other: give both"
            ),
        };
        let most = file.per_class.as_deref();
        let most = most.map(|peaks| most_of::<W>(peaks, config)).transpose()?;
        if budget.is_none() && most.is_none() {
            bail!(
                "the file states no demand: give request_bytes, or objects and block_bytes, or per_class; `surefit certify --help` explains them"
            );
        }
        Ok(Self { budget, most })
    }

    pub(super) fn budget(&self) -> Option<Budget> {
        self.budget
    }

    /// The readings of the demand, the most general first.
    pub(super) fn demands(&self) -> Vec<(&'static str, Demand<'_>)> {
        let mut demands = Vec::new();
        if let Some(budget) = self.budget {
            demands.push(("joint", Demand::Joint(budget)));
        }
        if let Some(most) = &self.most {
            demands.push(("per-class", Demand::PerClass(most)));
            if let Some(budget) = self.budget {
                demands.push(("both", Demand::Both(budget, most)));
            }
        }
        demands
    }
}

fn too_large(bytes: usize) -> anyhow::Error {
    anyhow!(
        "{bytes} bytes: a contiguous object cannot be larger than a page; use pieces, or larger pages"
    )
}

fn budget<W: Width>(
    file: &DemandFile,
    config: &Config,
    objects: u64,
    bytes: u64,
) -> Result<Budget> {
    let page = config.geometry().page_bytes();
    let piece = config.piece_bytes().unwrap_or(page);
    let largest = file.largest_request_bytes.unwrap_or(piece).min(piece);
    let classes = ClassSet::of_requests(config.geometry(), largest);
    let large = config.division().large_bytes();
    let has_large = config.piece_bytes().is_some()
        && file
            .largest_request_bytes
            .is_none_or(|bytes| bytes >= large);
    let large = config.geometry().class_for(large, LEAST_ALIGN);
    let budget = Budget {
        objects,
        block_bytes: bytes,
        classes: large
            .filter(|_| has_large)
            .map_or(classes, |large| classes.with(large)),
    };
    with_resize::<W>(file, config, budget)
}

/// A budget, and what the largest resize holds twice.
fn with_resize<W: Width>(file: &DemandFile, config: &Config, budget: Budget) -> Result<Budget> {
    let Some(len) = file.resized_bytes else {
        return Ok(budget);
    };
    let resize = BlockCount::in_resize::<W>(config, len, LEAST_ALIGN);
    let resize = resize.ok_or_else(|| too_large(len))?;
    Ok(Budget {
        objects: budget.objects.saturating_add(resize.blocks),
        block_bytes: budget.block_bytes.saturating_add(resize.bytes),
        ..budget
    })
}

/// The peaks of the size-classes, pieces and spines included.
fn most_of<W: Width>(peaks: &[Peak], config: &Config) -> Result<Vec<u32>> {
    let geometry = config.geometry();
    let mut most = vec![0_u32; geometry.class_count()];
    for peak in peaks {
        let align = peak.align_bytes.unwrap_or(LEAST_ALIGN);
        let bytes = peak.request_bytes;
        for run in surefit_compact::pieces::Pieces::new(
            bytes,
            align,
            config.division(),
            W::SPINE_WORD_BYTES,
        ) {
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
    use super::{DemandFile, Parsed};
    use surefit_compact::certify::Demand;
    use surefit_compact::{Config, Wide};

    fn parse(text: &str) -> anyhow::Result<Parsed> {
        let file: DemandFile = serde_json::from_str(text)?;
        Parsed::new::<Wide>(&file, &Config::DEFAULT)
    }

    #[test]
    fn a_demand_is_joint_or_per_class_or_both() {
        let names = |text: &str| -> Vec<&str> {
            let parsed = parse(text).expect("valid");
            parsed.demands().iter().map(|(name, _)| *name).collect()
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
        let parsed = parse(text).expect("valid");
        let (_, Demand::PerClass(most)) = parsed.demands()[0] else {
            panic!("one demand per class");
        };
        assert_eq!(
            most.iter().sum::<u32>(),
            3 * 4,
            "two pieces, a remainder, a spine each"
        );
    }

    #[test]
    fn what_is_no_demand_is_refused() {
        for text in ["{}", r#"{"objects": 1}"#, r#"{"object": 1}"#, "[]"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_resize_adds_what_it_holds_twice() {
        let text = r#"{"objects": 10, "block_bytes": 1000, "resized_bytes": 5000}"#;
        let budget = parse(text).expect("valid").budget().expect("joint");
        assert_eq!((budget.objects, budget.block_bytes), (12, 1000 + 4096 + 16));
    }
}
