//! A demand as people write it: a file of TOML or JSON.

use std::path::Path;

use anyhow::{Result, anyhow, bail};
use schemars::JsonSchema;
use serde::Deserialize;
use surefit_measure::requests::{Requests, Sizes};
use surefit_measure::small_file;
use surefit_measure::steps::LEAST_ALIGN;

/// The smallest request, in bytes, if a file does not say it: smaller ones cost as much.
const SMALLEST: u64 = 16;

/// The contents of a demand file.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DemandFile {
    /// M: the most bytes of requests live at once, in any mix of sizes. What they cost in
    /// page-blocks follows from the configuration.
    pub(crate) request_bytes: Option<u64>,
    /// The smallest of these requests, in bytes; 16 if absent.
    pub(crate) smallest_request_bytes: Option<u64>,
    /// The most objects live at once, each of up to `largest_request_bytes`; with `block_bytes`,
    /// N: the most page-blocks live at once, in any mix of sizes.
    pub(crate) objects: Option<u64>,
    /// B: the most bytes of page-blocks live at once; needs `objects`.
    pub(crate) block_bytes: Option<u64>,
    /// The largest request, in bytes; if absent, requests use all size-classes up to the piece
    /// size. `objects` without `block_bytes` needs it.
    pub(crate) largest_request_bytes: Option<usize>,
    /// The strictest alignment of these requests, in bytes; 8 if absent. A page-block is a multiple
    /// of it.
    pub(crate) align_bytes: Option<usize>,
    /// Further joint budgets. All budgets of the file hold at once: their sum is certified.
    #[serde(default)]
    pub(crate) budgets: Vec<BudgetOfFile>,
    /// The largest byte object that is ever resized, in bytes. What a resize holds twice is added
    /// to N and B, for shared heaps once for each thread.
    pub(crate) resized_bytes: Option<usize>,
    /// The peak of each size of request, on its own, besides the budgets.
    pub(crate) per_class: Option<Vec<Peak>>,
    /// For shared heaps: how many threads use the heap at once.
    pub(crate) threads: Option<u32>,
    /// For shared heaps: how many objects guards keep pinned at once, all threads together. The one
    /// that each call in progress pins is not among them.
    pub(crate) pins: Option<u32>,
    /// For shared heaps: the largest object that a guard pins, in bytes; objects of any size if
    /// absent.
    pub(crate) largest_pinned_bytes: Option<usize>,
}

/// One joint budget: of requests, of objects, or of page-blocks.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BudgetOfFile {
    /// The most bytes of requests live at once.
    pub(crate) request_bytes: Option<u64>,
    /// The smallest of these requests, in bytes; 16 if absent.
    pub(crate) smallest_request_bytes: Option<u64>,
    /// The most objects live at once, each of up to `largest_request_bytes`; with `block_bytes`,
    /// the most page-blocks.
    pub(crate) objects: Option<u64>,
    /// The most bytes of page-blocks live at once; needs `objects`.
    pub(crate) block_bytes: Option<u64>,
    /// The largest request, in bytes.
    pub(crate) largest_request_bytes: Option<usize>,
    /// The strictest alignment of these requests, in bytes; 8 if absent.
    pub(crate) align_bytes: Option<usize>,
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

/// What a budget counts.
pub(super) enum Counted {
    /// Requests, and their strictest alignment.
    Requests(Requests, usize),
    /// Objects, the longest of them, and their strictest alignment.
    Objects(u64, usize, usize),
    /// Page-blocks, their bytes, the largest request, and the strictest alignment.
    Blocks(u64, u64, Option<usize>, usize),
}

impl Counted {
    /// The largest request, `usize::MAX` if it is not said, and the strictest alignment.
    pub(super) fn widest(&self) -> (usize, usize) {
        match self {
            Self::Requests(requests, align) => {
                let largest = usize::try_from(requests.largest);
                (largest.unwrap_or(usize::MAX), *align)
            }
            Self::Objects(_, longest, align) => (*longest, *align),
            Self::Blocks(_, _, largest, align) => (largest.unwrap_or(usize::MAX), *align),
        }
    }
}

impl DemandFile {
    /// Reads a demand file: TOML if its name ends in `.toml`, JSON if it ends in `.json`, and
    /// otherwise JSON if it begins with a brace.
    ///
    /// # Errors
    /// One line that names the file, the problem and the remedy.
    pub(super) fn load(file: &Path) -> Result<Self> {
        let name = file.display();
        let text = String::from_utf8(small_file::read(file)?)
            .map_err(|_| anyhow!("{name}: is not text; write TOML or JSON"))?;
        let parsed = match file.extension().and_then(|it| it.to_str()) {
            Some("toml") => Self::from_toml(&text),
            Some("json") => Self::from_json(&text),
            _ if text.trim_start().starts_with('{') => Self::from_json(&text),
            _ => Self::from_toml(&text),
        };
        parsed.map_err(|why| {
            anyhow!(
                "{name}: is not a demand file: {why} (`surefit certify --help` shows its forms)"
            )
        })
    }

    fn from_json(text: &str) -> Result<Self> {
        Ok(serde_json::from_str(text)?)
    }

    /// Reads TOML; the error names the line.
    fn from_toml(text: &str) -> Result<Self> {
        toml::from_str(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            let before = text.get(..start).unwrap_or(text);
            let line = before.matches('\n').count() + 1;
            anyhow!("line {line}: {}", error.message().trim_end())
        })
    }

    /// The joint budgets that the file states.
    ///
    /// # Errors
    /// One line that names the problem and the remedy.
    pub(super) fn budgets(&self) -> Result<Vec<Counted>> {
        let own = BudgetOfFile {
            request_bytes: self.request_bytes,
            smallest_request_bytes: self.smallest_request_bytes,
            objects: self.objects,
            block_bytes: self.block_bytes,
            largest_request_bytes: self.largest_request_bytes,
            align_bytes: self.align_bytes,
        };
        let own = own.counted()?;
        let further = self.budgets.iter().map(|budget| {
            let counted = budget.counted()?;
            counted.ok_or_else(|| {
                anyhow!(
                    "a budget states nothing: give request_bytes, or objects and largest_request_bytes"
                )
            })
        });
        own.into_iter().map(Ok).chain(further).collect()
    }

    /// The strictest alignment of all that the file states.
    ///
    /// # Errors
    /// As [`aligned`].
    pub(super) fn strictest(&self) -> Result<usize> {
        let budgets = self.budgets.iter().map(|budget| budget.align_bytes);
        let peaks = self.per_class.iter().flatten();
        let further = budgets.chain(peaks.map(|peak| peak.align_bytes));
        further.fold(aligned(self.align_bytes), |strictest, align| {
            Ok(strictest?.max(aligned(align)?))
        })
    }
}

impl BudgetOfFile {
    /// What the budget counts, if it states anything.
    fn counted(&self) -> Result<Option<Counted>> {
        let align = aligned(self.align_bytes)?;
        if let Some(requests) = self.requests()? {
            return Ok(Some(Counted::Requests(requests, align)));
        }
        match (self.objects, self.block_bytes) {
            (Some(objects), Some(bytes)) => Ok(Some(Counted::Blocks(
                objects,
                bytes,
                self.largest_request_bytes,
                align,
            ))),
            (Some(objects), None) => match self.largest_request_bytes {
                Some(longest) => Ok(Some(Counted::Objects(objects, longest, align))),
                None => bail!(
                    "objects (the most live at once) says no size: give largest_request_bytes, the longest of them"
                ),
            },
            (None, None) => Ok(None),
            (None, Some(_)) => bail!(
                "block_bytes (the most bytes of page-blocks live at once) goes with objects (the most page-blocks): give both"
            ),
        }
    }

    /// The demand in requests, if the budget states one.
    fn requests(&self) -> Result<Option<Requests>> {
        let Some(live) = self.request_bytes else {
            if self.smallest_request_bytes.is_some() {
                bail!("smallest_request_bytes goes with request_bytes: give both");
            }
            return Ok(None);
        };
        if self.objects.is_some() || self.block_bytes.is_some() {
            bail!(
                "request_bytes counts all bytes of requests, objects counts objects or, with block_bytes, page-blocks: give one of the two"
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

/// An alignment of a file: a power of two, and at least the least.
///
/// # Errors
/// One line that names the problem and the remedy.
pub(super) fn aligned(align_bytes: Option<usize>) -> Result<usize> {
    let align = align_bytes.unwrap_or(LEAST_ALIGN);
    if !align.is_power_of_two() {
        bail!("align_bytes = {align}: write a power of two");
    }
    Ok(align.max(LEAST_ALIGN))
}

#[cfg(test)]
mod tests {
    use super::DemandFile;

    #[test]
    fn toml_and_json_say_the_same() {
        let toml = "request_bytes = 65536\nlargest_request_bytes = 256\nthreads = 4\npins = 2\n\
                    [[budgets]]\nobjects = 3\nblock_bytes = 300\n\
                    [[per_class]]\nrequest_bytes = 48\nobjects = 200\n";
        let json = r#"{"request_bytes": 65536, "largest_request_bytes": 256, "threads": 4, "pins": 2,
            "budgets": [{"objects": 3, "block_bytes": 300}],
            "per_class": [{"request_bytes": 48, "objects": 200}]}"#;
        let [toml, json] = [DemandFile::from_toml(toml), DemandFile::from_json(json)]
            .map(|file| format!("{:?}", file.expect("a demand")));
        assert_eq!(toml, json);
        assert!(toml.contains("pins: Some(2)"), "{toml}");
    }

    #[test]
    fn a_mistake_in_toml_names_its_line() {
        for (text, word) in [
            (
                "objects = 3\nblock_byte = 5\n",
                "line 2: unknown field `block_byte`",
            ),
            ("objects = 3\n\nblock_bytes = -1\n", "line 3: "),
            ("objects = \"many\"\n", "line 1: "),
            ("objects = 3\nobjects = 4\n", "line 2: "),
            (
                "[[per_class]]\nrequest_bytes = 1\n",
                "missing field `objects`",
            ),
        ] {
            let error = DemandFile::from_toml(text)
                .expect_err("a mistake")
                .to_string();
            assert!(error.contains(word), "{text}: {error}");
        }
    }

    #[test]
    fn budgets_are_told_apart() {
        let of = |text: &str| DemandFile::from_json(text).expect("a file").budgets();
        assert_eq!(of("{}").expect("none").len(), 0);
        let two = r#"{"request_bytes": 100, "budgets": [{"objects": 1, "block_bytes": 8}]}"#;
        assert_eq!(of(two).expect("two").len(), 2);
        let objects = r#"{"objects": 20, "largest_request_bytes": 300, "budgets": [{"objects": 1, "largest_request_bytes": 8}]}"#;
        assert_eq!(of(objects).expect("two").len(), 2);
        assert!(of(r#"{"block_bytes": 300, "largest_request_bytes": 300}"#).is_err());
        assert!(of(r#"{"budgets": [{}]}"#).is_err());
        assert!(of(r#"{"budgets": [{"objects": 1}]}"#).is_err());
    }
}
