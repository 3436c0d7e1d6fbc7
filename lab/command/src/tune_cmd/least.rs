//! The fewest bytes with which any configuration serves a run: what no search can save.
//!
//! At every event, whatever the bound, a size-class of h live page-blocks has at least ⌈h/π⌉ pages,
//! and the address table has an entry for each of the most objects until then. So the bytes for one
//! event are a bound from below for the region of the whole run. The event is where a heap needs
//! the most, about. For each shape, segmentation finds the size-classes of least bytes for exactly
//! what is live there.
//!
//! The bound is exact to a page, and to objects that are aligned to more than eight bytes: these
//! may be served by a class that is not a multiple of their alignment in the segmentation, not in a
//! heap.

use anyhow::Result;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surefit_compact::{Config, Width};
use surefit_measure::rounds::in_parallel;
use surefit_measure::spec::Spec;

use super::classes::Limits;
use super::count::{blocks_of, smallest_region};
use super::live::Run;
use super::segment::Unfilled;
use super::shape::{mixes, shape};
use super::width::{options, with_width};

/// The fewest bytes that a trace needs in any configuration, and where they are.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Least {
    /// The configuration that needs them, as a name of an allocator.
    pub(crate) allocator: String,
    /// The bytes of a region.
    pub(crate) bytes: u64,
    /// These over the smaller one of `tlsf` and `peer-rlsf`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) over_better: Option<f64>,
    /// They are needed after so many events.
    pub(crate) after_events: u64,
    /// Where they are.
    pub(crate) parts: RegionParts,
}

/// The parts of a region after one event, with full compaction. Their sum is the region.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[schemars(rename = "Parts")]
#[serde(deny_unknown_fields)]
pub(crate) struct RegionParts {
    /// Requests that are live then.
    pub(crate) live_bytes: u64,
    /// Page-blocks in use less these requests; spines too.
    pub(crate) page_block_internal_bytes: u64,
    /// Bytes of pages that belong to nothing.
    pub(crate) page_internal_bytes: u64,
    /// Free page-blocks of the last page of each size-class.
    pub(crate) size_class_bytes: u64,
    /// Back-references of page-blocks in use, in pages of more than eight page-blocks.
    pub(crate) back_reference_bytes: u64,
    /// Entries of the address table.
    pub(crate) entry_bytes: u64,
    /// Records of pages, states of size-classes, bitmaps, and back-references that nobody uses.
    pub(crate) other_table_bytes: u64,
}

/// What is least over all shapes that `given` leaves open, with at most `classes` size-classes;
/// `None` if no shape serves the run.
///
/// # Errors
/// The spec is not one of `cf`.
pub(super) fn least(run: &Run, given: &str, classes: usize) -> Result<Option<Least>> {
    let (run, event) = run.at_peak();
    let limits = Limits {
        most: classes,
        unfilled: Unfilled::Rest,
    };
    let shapes = in_parallel(&mixes(given), |values| {
        shape(&[&run], given, *values, limits)
    })?;
    let shapes = shapes.into_iter().flatten();
    let Some(best) = shapes.min_by(|a, b| a.over_live.total_cmp(&b.over_live)) else {
        return Ok(None);
    };
    let spec = Spec::parse(&best.spec)?;
    let options = options(&spec)?;
    let found = with_width!(options, W => of_width::<W>(&run, &options.config));
    Ok(found.map(|(bytes, parts)| Least {
        allocator: best.spec,
        bytes,
        over_better: None,
        after_events: event as u64 + 1,
        parts,
    }))
}

fn of_width<W: Width>(run: &Run, config: &Config) -> Option<(u64, RegionParts)> {
    let bytes = smallest_region::<W>(run, config)?;
    let used = blocks_used::<W>(run, config)?;
    let most_entries = used.iter().sum::<u64>().max(run.most_before as u64);
    let geometry = config.geometry();
    let requests = run.kinds.iter().zip(&run.weights);
    let requests = requests.map(|(kind, count)| kind.size as u64 * *count as u64);
    let mut parts = RegionParts {
        live_bytes: requests.sum(),
        entry_bytes: most_entries * W::ENTRY_BYTES as u64,
        ..RegionParts::default()
    };
    let mut in_blocks = 0;
    for (class, used) in geometry.classes().zip(used) {
        let layout = geometry.layout(class);
        let (blocks, block_bytes) = (u64::from(layout.blocks), u64::from(layout.block_bytes));
        let pages = used.div_ceil(blocks);
        in_blocks += used * block_bytes;
        parts.size_class_bytes += (pages * blocks - used) * block_bytes;
        parts.page_internal_bytes += pages * geometry.page_internal_bytes(class) as u64;
        parts.back_reference_bytes += used * geometry.back_reference_bytes(class) as u64 / blocks;
    }
    parts.page_block_internal_bytes = in_blocks - parts.live_bytes;
    let known = parts.size_class_bytes + parts.page_internal_bytes + parts.back_reference_bytes;
    parts.other_table_bytes = bytes - in_blocks - known - parts.entry_bytes;
    Some((bytes, parts))
}

/// The live page-blocks of each class; `None` if the configuration cannot serve an object.
fn blocks_used<W: Width>(run: &Run, config: &Config) -> Option<Vec<u64>> {
    let mut used = vec![0; config.geometry().class_count()];
    for (kind, count) in run.kinds.iter().zip(&run.weights) {
        if *count == 0.0 {
            continue;
        }
        for block in blocks_of::<W>(config, *kind) {
            let (class, blocks) = block?;
            used[usize::from(class)] += u64::from(blocks) * *count as u64;
        }
    }
    Some(used)
}

#[cfg(test)]
mod tests {
    use super::{Least, least};
    use crate::tune_cmd::search::find;
    use crate::tune_cmd::subject::Subject;
    use surefit_measure::progress::Progress;
    use surefit_measure::spec::Spec;
    use surefit_testkit::small_trace;
    use surefit_trace::{Call, Event, Op, Trace};

    fn sum(least: &Least) -> u64 {
        let parts = least.parts;
        parts.live_bytes
            + parts.page_block_internal_bytes
            + parts.page_internal_bytes
            + parts.size_class_bytes
            + parts.back_reference_bytes
            + parts.entry_bytes
            + parts.other_table_bytes
    }

    /// The search may find what is least, and nothing less, to a page.
    #[test]
    fn no_search_finds_less() {
        for seed in 1..=3 {
            let trace = small_trace(seed);
            let subject = Subject::load(&trace.path).expect("a trace");
            for given in ["cf:page=4K,width=32", "cf:width=24,pieces=256"] {
                let spec = Spec::parse(given).expect("valid");
                let found = find(&[&subject], &spec, 40, &Progress::hidden());
                let found = found.expect("a configuration").over_live;
                let found = found * subject.steps.peak_live_bytes as f64;
                let least = least(&subject.run, given, 40).expect("cf");
                let least = least.expect("a shape serves it");
                assert_eq!(sum(&least), least.bytes, "{least:?}");
                assert!(least.bytes as f64 <= found + 4096.0, "{found} {least:?}");
                assert!(least.bytes as f64 > found * 0.95, "{found} {least:?}");
            }
        }
    }

    /// 500 objects of 40 bytes: 4096 bytes hold 92 of 40 + 4, two words of bitmap and none beside,
    /// so that six pages are 552 page-blocks.
    #[test]
    fn the_parts_of_objects_of_one_size_are_known() {
        let call = Call::Malloc;
        let alloc = |id| Event::new(0, Op::Alloc { id, size: 37, call });
        let trace = Trace::new("t", (0..500).map(alloc).collect()).expect("sound");
        let subject = Subject::new(&trace, "t".to_owned()).expect("live");
        let given = "cf:page=4096,width=32,pieces=off";
        let least = least(&subject.run, given, 64).expect("cf").expect("served");
        assert_eq!(least.after_events, 500);
        assert_eq!(least.parts.live_bytes, 500 * 37);
        assert_eq!(least.parts.page_block_internal_bytes, 500 * 3);
        assert_eq!(least.parts.size_class_bytes, 52 * 40);
        assert_eq!(least.parts.back_reference_bytes, 500 * 4);
        assert_eq!(least.parts.entry_bytes, 500 * 4);
        assert_eq!(least.parts.page_internal_bytes, 6 * (4096 - 92 * 44 - 16));
        assert_eq!(sum(&least), least.bytes);
        assert!(least.allocator.contains("classes=[40 4096]"), "{least:?}");
    }
}
