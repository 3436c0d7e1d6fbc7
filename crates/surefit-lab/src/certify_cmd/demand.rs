//! A demand as a JSON file.

use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use schemars::JsonSchema;
use serde::Deserialize;
use surefit_compact::certify::{BlockCount, Budget, ClassSet, Demand};
use surefit_compact::{Config, Width};

use surefit_measure::small_file;
use surefit_measure::steps::LEAST_ALIGN;

/// The contents of a demand file.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DemandFile {
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

impl Parsed {
    /// Reads a demand file.
    ///
    /// # Errors
    /// One line that names the file, the problem and the remedy.
    pub(super) fn load<W: Width>(file: &Path, config: &Config) -> Result<Self> {
        let name = || file.display().to_string();
        let text = small_file::read(file)?;
        let parsed: DemandFile = serde_json::from_slice(&text)
            .with_context(|| format!("{}: is not a demand file", file.display()))?;
        Self::new::<W>(&parsed, config).with_context(name)
    }

    fn new<W: Width>(file: &DemandFile, config: &Config) -> Result<Self> {
        let budget = match (file.objects, file.block_bytes) {
            (Some(objects), Some(bytes)) => Some(budget::<W>(file, config, objects, bytes)?),
            (None, None) => None,
            _ => bail!(
                "objects (the most live at once) and block_bytes (the most bytes of their page-blocks) need each other: give both"
            ),
        };
        let most = file.per_class.as_deref();
        let most = most.map(|peaks| most_of::<W>(peaks, config)).transpose()?;
        if budget.is_none() && most.is_none() {
            bail!(
                "the file states no demand: give objects and block_bytes, or per_class; `surefit certify --help` explains both"
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
    let resize = match file.resized_bytes {
        None => BlockCount::default(),
        Some(len) => {
            BlockCount::in_resize::<W>(config, len, LEAST_ALIGN).ok_or_else(|| too_large(len))?
        }
    };
    let classes = ClassSet::of_requests(config.geometry(), largest);
    let large = config.division().large_bytes();
    let has_large = config.piece_bytes().is_some()
        && file
            .largest_request_bytes
            .is_none_or(|bytes| bytes >= large);
    let large = config.geometry().class_for(large, LEAST_ALIGN);
    Ok(Budget {
        objects: objects.saturating_add(resize.blocks),
        block_bytes: bytes.saturating_add(resize.bytes),
        classes: large
            .filter(|_| has_large)
            .map_or(classes, |large| classes.with(large)),
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
