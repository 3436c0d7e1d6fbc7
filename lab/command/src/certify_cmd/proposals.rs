//! The configuration that needs the fewest bytes for a demand, and what each choice costs.
//!
//! Every mix of the values below is certified. Keys that the user gave are kept. What cannot be
//! (pieces larger than a page, words too short for so many pages) is left out.

use anyhow::{Result, bail};
use surefit_measure::progress::Progress;
use surefit_measure::spec::Spec;

use super::asked::Asked;
use super::certified::report;
use super::proposed::{Chosen, Proposal, Proposals};

/// What can be chosen: keys of which any one fixes it, and the values that are tried.
struct Choice {
    keys: &'static [&'static str],
    values: &'static [&'static str],
}

/// The size-classes of `Config::MICRO`.
const FEW: &str = "classes=[32 64 128 256 512]";

/// The value with which every object is contiguous.
const WHOLE: &str = "pieces=off";

/// Every choice. Of values that need as many bytes, the first is taken.
const CHOICES: [Choice; 5] = [
    Choice {
        keys: &["page"],
        values: &[
            "page=1K", "page=2K", "page=4K", "page=8K", "page=16K", "page=32K", "page=64K",
        ],
    },
    Choice {
        keys: &["width", "keys", "branded"],
        values: &["width=32", "width=24", "width=16"],
    },
    Choice {
        keys: &["spacing", "classes"],
        values: &[
            FEW,
            "spacing=1/2",
            "spacing=1/4",
            "spacing=1/8",
            "spacing=1/16",
        ],
    },
    Choice {
        keys: &["k", "holes", "frac"],
        values: &["holes=4,frac=1/16", "k=2", "k=1"],
    },
    Choice {
        keys: &["pieces", "large"],
        values: &[
            WHOLE,
            "pieces=16K",
            "pieces=4K",
            "pieces=1K",
            "pieces=1K,large=page",
            "pieces=256",
            "pieces=64",
        ],
    },
];

/// Certifies every mix of choices that the spec leaves open.
///
/// # Errors
/// No configuration can serve the demand.
pub(super) fn find(asked: &Asked, spec: &Spec) -> Result<Proposals> {
    let open: Vec<_> = CHOICES.iter().filter(|it| it.is_open(spec)).collect();
    let mut mixes = vec![Vec::new()];
    for choice in &open {
        let with = |mix: &Vec<&'static str>| {
            let mix = mix.clone();
            choice
                .values
                .iter()
                .map(move |value| [&mix[..], &[*value]].concat())
        };
        mixes = mixes.iter().flat_map(with).collect();
    }
    let progress = Progress::new(mixes.len() as u64);
    let mut found: Vec<(Vec<&str>, Proposal)> = Vec::new();
    for mix in mixes {
        let text = with_keys(spec.as_str(), &mix);
        progress.step("demand", "certified", &text);
        if let Some(proposal) = certify(asked, text) {
            found.push((mix, proposal));
        }
    }
    let least = |value: Option<&str>| {
        let with = found
            .iter()
            .filter(|(mix, _)| value.is_none_or(|it| mix.contains(&it)));
        with.map(|(_, proposal)| proposal)
            .min_by_key(|it| it.heap_bytes)
    };
    let chosen = |value: &&'static str| {
        let proposal = least(Some(value))?.clone();
        Some(Chosen {
            choice: (*value).to_owned(),
            proposal,
        })
    };
    let Some(cheapest) = least(None) else {
        // What is wrong with the demand is wrong for every configuration.
        let why = report(asked, spec).err();
        let why = why.map_or_else(String::new, |why| format!(": {why:#}"));
        bail!("no configuration serves the demand{why}");
    };
    Ok(Proposals {
        cheapest: cheapest.clone(),
        contiguous: least(Some(WHOLE)).cloned(),
        choices: open
            .iter()
            .flat_map(|choice| choice.values)
            .filter_map(chosen)
            .collect(),
        configurations: found.len() as u64,
    })
}

/// The heap of a spec, if it can serve the demand.
fn certify(asked: &Asked, allocator: String) -> Option<Proposal> {
    let report = report(asked, &Spec::parse(&allocator).ok()?).ok()?;
    Some(Proposal {
        allocator,
        heap_bytes: report.heap_bytes,
        moves_max_per_op: report.moves_max_per_op,
        moved_bytes_max_per_op: report.moved_bytes_max_per_op,
    })
}

impl Choice {
    fn is_open(&self, spec: &Spec) -> bool {
        let (name, keys) = spec.as_str().split_once(':').unwrap_or((spec.as_str(), ""));
        // Words of shared heaps have one width.
        if name != "cf" && self.keys.contains(&"width") {
            return false;
        }
        let is_given = |key: &str| self.keys.contains(&key.split('=').next().unwrap_or(key));
        !keys.split(',').any(is_given)
    }
}

/// A spec with more keys.
fn with_keys(spec: &str, keys: &[&str]) -> String {
    if keys.is_empty() {
        return spec.to_owned();
    }
    let mark = if spec.contains(':') { ',' } else { ':' };
    format!("{spec}{mark}{}", keys.join(","))
}
