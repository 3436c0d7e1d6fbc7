//! A configuration on a trace that it was not tuned on, beside the free lists.

use std::fmt;

use anyhow::Result;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surefit_measure::error::one_line;
use surefit_measure::output::grouped;
use surefit_measure::registry::Kind;
use surefit_measure::results::AtPeak;
use surefit_measure::rounds::in_parallel;
use surefit_measure::sizes::per_cent;
use surefit_measure::spec::{Choice, Spec};

use super::account::{Administration, administration};
use super::least::{Least, least};
use super::subject::Subject;

/// How a tuned configuration fares on another run.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Judged {
    /// The trace.
    pub(crate) trace: String,
    /// The greatest sum of live requests, in bytes.
    pub(crate) peak_live_bytes: u64,
    /// What it was tuned on.
    pub(crate) tuned_on: Vec<String>,
    /// The configuration, as a name of an allocator.
    pub(crate) allocator: String,
    /// The smallest region of the tuned configuration; absent if it cannot serve the trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tuned_min_heap_bytes: Option<u64>,
    /// That of the same allocator without keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) default_min_heap_bytes: Option<u64>,
    /// That of `tlsf`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tlsf_min_heap_bytes: Option<u64>,
    /// That of `peer-rlsf`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) peer_rlsf_min_heap_bytes: Option<u64>,
    /// The tuned region over the smaller one of `tlsf` and `peer-rlsf`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) over_better: Option<f64>,
    /// Where the bytes of the tuned region are at the peak of live bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) at_peak: Option<AtPeak>,
    /// What of the administrative bytes is for objects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) administration: Option<Administration>,
    /// The least that any configuration needs there; absent for allocators other than `cf`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) least: Option<Least>,
}

/// What the search could choose.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open<'a> {
    /// The allocator, with the keys that are kept.
    pub(super) given: &'a Spec,
    /// The most size-classes.
    pub(super) classes: usize,
}

/// Judges a configuration.
///
/// # Errors
/// An allocator broke a rule, or the operating system has not enough memory.
pub(super) fn judge(
    subject: &Subject,
    allocator: &str,
    open: Open<'_>,
    tuned_on: &[String],
) -> Result<Judged> {
    let default = allocator.split(':').next().unwrap_or(allocator);
    let specs = Spec::parse_list(&format!("{default},tlsf,peer-rlsf"))?;
    let specs = [&[Spec::parse(allocator)?], &specs[..]].concat();
    let found = in_parallel(&specs, |spec| {
        subject.smallest(spec, subject.steps.peak_live_bytes)
    })?;
    let [tuned, default, tlsf, rlsf] = found[..] else {
        anyhow::bail!("four allocators have four heaps");
    };
    let better = [tlsf, rlsf].into_iter().flatten().min();
    let at_peak = match tuned {
        Some(bytes) => Some(subject.account(&specs[0], bytes)?).and_then(|row| row.at_peak),
        None => None,
    };
    let least = match &open.given.choice {
        Choice::InProcess(Kind::Cf(_)) => least(&subject.run, open.given.as_str(), open.classes)?,
        _ => None,
    };
    let over_better = |bytes: u64| better.map(|better| bytes as f64 / better as f64);
    Ok(Judged {
        trace: subject.name.clone(),
        peak_live_bytes: subject.steps.peak_live_bytes,
        tuned_on: tuned_on.to_vec(),
        allocator: allocator.to_owned(),
        tuned_min_heap_bytes: tuned,
        default_min_heap_bytes: default,
        tlsf_min_heap_bytes: tlsf,
        peer_rlsf_min_heap_bytes: rlsf,
        over_better: tuned.and_then(over_better),
        at_peak,
        administration: administration(subject, &specs[0]),
        least: least.map(|it| Least {
            over_better: over_better(it.bytes),
            ..it
        }),
    })
}

impl Judged {
    /// The cells of its row.
    pub(super) fn row(&self) -> Vec<String> {
        let over_live = |bytes: Option<u64>| {
            let ratio = bytes.map(|bytes| bytes as f64 / self.peak_live_bytes.max(1) as f64);
            ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.3}"))
        };
        let over_better = self.over_better;
        let over_better = over_better.map_or("-".to_owned(), |ratio| format!("{ratio:.3}"));
        vec![
            one_line(&self.trace),
            over_live(self.tuned_min_heap_bytes),
            over_live(self.default_min_heap_bytes),
            over_live(self.tlsf_min_heap_bytes),
            over_live(self.peer_rlsf_min_heap_bytes),
            over_better,
        ]
    }

    /// What the region holds beside live bytes at their peak.
    fn parts(&self) -> Vec<(&'static str, u64)> {
        let Some(peak) = self.at_peak else {
            return Vec::new();
        };
        let own = self.administration.unwrap_or_default();
        let of_objects = own.back_reference_bytes + own.entry_bytes;
        let other = peak.administrative_bytes.saturating_sub(of_objects);
        vec![
            (OF_OBJECTS, of_objects),
            (OTHER_TABLES, other),
            (UNFILLED, peak.size_class_bytes),
            (IN_BLOCKS, peak.page_block_internal_bytes),
            (IN_PAGES, peak.page_internal_bytes),
            ("unfinished moves", peak.transient_bytes),
            ("free pages", peak.free_page_bytes),
            ("free chunks", peak.free_chunk_bytes),
            ("ends of runs of pages", peak.large_tail_bytes),
        ]
    }

    /// Whether a configuration that was fitted to this very trace could do better than the free
    /// list.
    fn possible(&self, least: &Least) -> String {
        let live = self.peak_live_bytes;
        let parts = least.parts;
        let of_objects = parts.back_reference_bytes + parts.entry_bytes;
        let parts = [
            ("live requests", parts.live_bytes),
            (OF_OBJECTS, of_objects),
            (OTHER_TABLES, parts.other_table_bytes),
            (UNFILLED, parts.size_class_bytes),
            (IN_BLOCKS, parts.page_block_internal_bytes),
            (IN_PAGES, parts.page_internal_bytes),
        ];
        let over = least.over_better.unwrap_or_default();
        let verdict = if over > 1.0 {
            "No choice of page, words, pieces and size-classes could do better"
        } else {
            "Only a choice fitted to this very trace could do better"
        };
        let after = grouped(least.after_events);
        let bytes = grouped(least.bytes);
        let parts = in_words(&parts, live);
        format!(
            "{verdict}: after event {after} the least is {bytes} B ({over:.3} × the better free list): {parts}."
        )
    }
}

/// Parts of a region.
const OF_OBJECTS: &str = "back-references and entries";
const OTHER_TABLES: &str = "other tables";
const UNFILLED: &str = "unfilled pages";
const IN_BLOCKS: &str = "page-block-internal waste";
const IN_PAGES: &str = "page-internal waste";

/// Parts in bytes and per cent of live bytes, the largest first.
fn in_words(parts: &[(&str, u64)], live: u64) -> String {
    let mut parts: Vec<_> = parts.iter().filter(|(_, bytes)| *bytes > 0).collect();
    parts.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    let words = parts.iter().map(|(name, bytes)| {
        let share = per_cent(*bytes, live);
        format!("{name} {} B ({share:.1} %)", grouped(*bytes))
    });
    words.collect::<Vec<_>>().join(", ")
}

impl fmt::Display for Judged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let trace = one_line(&self.trace);
        let Some(over) = self.over_better else {
            return write!(f, "{trace}: not comparable: a heap cannot serve it");
        };
        let is_missed = over > 1.0;
        let verdict = if is_missed {
            "missed: more than the better free list"
        } else {
            "no more than the better free list"
        };
        let parts = in_words(&self.parts(), self.peak_live_bytes);
        write!(f, "{trace}: {verdict}. Beside live bytes: {parts}.")?;
        match &self.least {
            Some(least) if is_missed => write!(f, " {}", self.possible(least)),
            _ => Ok(()),
        }
    }
}
