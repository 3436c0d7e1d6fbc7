//! What the bytes of a certificate are for: the account of its sum.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surefit_compact::Config;
use surefit_compact::certify::{CertifiedParts, Demand, SharedParts};
use surefit_measure::output::grouped;
use surefit_measure::sizes::per_cent;

/// What the bytes of a certificate are used for. The parts add up to `heap_bytes`.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[schemars(rename = "Parts")]
#[serde(deny_unknown_fields)]
pub(crate) struct CertificateParts {
    /// Data pages, back-references included.
    pub(crate) data_page_bytes: u64,
    /// Of a shared heap: further data pages, because pins keep objects from moving.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pin_bytes: Option<u64>,
    /// Of a shared heap: further data pages, because of calls of other threads in progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) call_bytes: Option<u64>,
    /// Of a shared heap: free pages in the buffers of threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) page_buffer_bytes: Option<u64>,
    /// The address table.
    pub(crate) handle_bytes: u64,
    /// Of a shared heap: free entries that are held ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) handle_buffer_bytes: Option<u64>,
    /// Page records.
    pub(crate) page_record_bytes: u64,
    /// Class states; of a shared heap, also those of instances and threads.
    pub(crate) class_state_bytes: u64,
    /// Bytes that may be skipped before the first page.
    pub(crate) alignment_bytes: u64,
    /// The heap's own control structure.
    pub(crate) control_bytes: u64,
}

impl CertificateParts {
    pub(super) fn of_owner(parts: &CertifiedParts, control_bytes: usize) -> Self {
        Self {
            data_page_bytes: parts.data_page_bytes as u64,
            handle_bytes: parts.handle_bytes as u64,
            page_record_bytes: parts.page_record_bytes as u64,
            class_state_bytes: parts.class_state_bytes as u64,
            alignment_bytes: parts.alignment_bytes as u64,
            control_bytes: control_bytes as u64,
            ..Self::default()
        }
    }

    pub(super) fn of_shared(parts: &SharedParts, control_bytes: usize) -> Self {
        Self {
            data_page_bytes: parts.data_page_bytes as u64,
            pin_bytes: Some(parts.pin_bytes as u64),
            call_bytes: Some(parts.call_bytes as u64),
            page_buffer_bytes: Some(parts.page_buffer_bytes as u64),
            handle_bytes: parts.handle_bytes as u64,
            handle_buffer_bytes: Some(parts.handle_buffer_bytes as u64),
            page_record_bytes: parts.page_record_bytes as u64,
            class_state_bytes: parts.state_bytes as u64,
            alignment_bytes: parts.alignment_bytes as u64,
            control_bytes: control_bytes as u64,
        }
    }

    /// The parts after the data pages, with their names.
    fn rest(&self) -> [(&'static str, Option<u64>); 9] {
        [
            ("pages that pins cause", self.pin_bytes),
            ("pages that calls in progress cause", self.call_bytes),
            ("free pages in threads' buffers", self.page_buffer_bytes),
            ("address table", Some(self.handle_bytes)),
            ("entries held ready", self.handle_buffer_bytes),
            ("page records", Some(self.page_record_bytes)),
            ("class states", Some(self.class_state_bytes)),
            ("alignment of the region", Some(self.alignment_bytes)),
            ("control structure", Some(self.control_bytes)),
        ]
    }
}

/// What the data pages are for. The first, the second last and the last add up to
/// `data_page_bytes`.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DataPages {
    /// Live page-blocks.
    pub(crate) page_block_bytes: u64,
    /// Of these, the greatest sum of live requests of any run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) requested_bytes: Option<u64>,
    /// Of these, what rounding up to size-classes adds, and what resizes hold twice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rounding_bytes: Option<u64>,
    /// Of these, the margin, and what calls of other threads may hold besides.
    pub(crate) margin_bytes: u64,
    /// Back-references of live objects.
    pub(crate) back_reference_bytes: u64,
    /// Free page-blocks that the bound allows, and the ends of pages.
    pub(crate) unused_bytes: u64,
}

/// The account of the data pages of a certificate: of the demand before and after the margin.
/// The certificate has so many bytes of data pages, at most so many of them for back-references.
pub(super) fn data_pages(
    config: &Config,
    (before, after): (&Demand<'_>, &Demand<'_>),
    peak_live_bytes: Option<u64>,
    (all, back): (u64, u64),
) -> DataPages {
    let page_block_bytes = live_bytes(config, after).min(all);
    let before = live_bytes(config, before).min(page_block_bytes);
    let requested_bytes = peak_live_bytes.map(|live| live.min(before));
    let back_reference_bytes = back.min(all - page_block_bytes);
    DataPages {
        page_block_bytes,
        requested_bytes,
        rounding_bytes: requested_bytes.map(|requested| before - requested),
        margin_bytes: page_block_bytes - before,
        back_reference_bytes,
        unused_bytes: all - page_block_bytes - back_reference_bytes,
    }
}

/// The most bytes of page-blocks that a demand can have live at once.
fn live_bytes(config: &Config, demand: &Demand<'_>) -> u64 {
    let geometry = config.geometry();
    let of_class = |class| u64::from(geometry.layout(class).block_bytes);
    match demand {
        Demand::PerClass(most) => {
            let peaks = geometry.classes().zip(*most);
            peaks
                .map(|(class, most)| of_class(class) * u64::from(*most))
                .sum()
        }
        Demand::Joint(budget) | Demand::Both(budget, _) => {
            let used = geometry
                .classes()
                .filter(|class| budget.classes.contains(*class));
            let largest = used.map(of_class).max().unwrap_or(0);
            budget
                .block_bytes
                .min(budget.objects.saturating_mul(largest))
        }
    }
}

/// The account as lines: each part, its bytes, and its share of the sum.
pub(super) struct Account<'a> {
    pub(super) parts: &'a CertificateParts,
    pub(super) data_pages: Option<DataPages>,
    pub(super) heap_bytes: u64,
}

impl Account<'_> {
    fn line(&self, f: &mut fmt::Formatter<'_>, part: &str, bytes: u64) -> fmt::Result {
        let share = per_cent(bytes, self.heap_bytes);
        writeln!(f, "  {part:<41} {:>16} B  {share:>5.1} %", grouped(bytes))
    }
}

impl fmt::Display for Account<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.line(f, "data pages", self.parts.data_page_bytes)?;
        if let Some(pages) = self.data_pages {
            self.line(f, "  live page-blocks", pages.page_block_bytes)?;
            for (part, bytes) in [
                ("    live requests at their peak", pages.requested_bytes),
                (
                    "    rounding to size-classes, resizes",
                    pages.rounding_bytes,
                ),
                (
                    "    margin, and calls of other threads",
                    Some(pages.margin_bytes),
                ),
            ] {
                if let Some(bytes) = bytes.filter(|bytes| *bytes > 0) {
                    self.line(f, part, bytes)?;
                }
            }
            self.line(f, "  back-references", pages.back_reference_bytes)?;
            self.line(
                f,
                "  free page-blocks within the bound, ends",
                pages.unused_bytes,
            )?;
        }
        for (part, bytes) in self.parts.rest() {
            if let Some(bytes) = bytes {
                self.line(f, part, bytes)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::data_pages;
    use surefit_compact::Config;
    use surefit_compact::certify::{Budget, ClassSet, Demand};

    fn joint(objects: u64, block_bytes: u64) -> Demand<'static> {
        Demand::Joint(Budget {
            objects,
            block_bytes,
            classes: ClassSet::of_requests(Config::DEFAULT.geometry(), 64),
        })
    }

    #[test]
    fn the_data_pages_are_accounted_for() {
        let (before, after) = (joint(100, 5000), joint(110, 5500));
        let made = (8000, 400);
        let pages = data_pages(&Config::DEFAULT, (&before, &after), Some(4000), made);
        assert_eq!(pages.page_block_bytes, 5500);
        assert_eq!(pages.requested_bytes, Some(4000));
        assert_eq!(pages.rounding_bytes, Some(1000));
        assert_eq!(pages.margin_bytes, 500);
        assert_eq!(
            (pages.back_reference_bytes, pages.unused_bytes),
            (400, 2100)
        );
    }

    #[test]
    fn bytes_that_no_objects_can_fill_are_not_counted() {
        let demand = joint(2, 1 << 40);
        let made = (200, 400);
        let pages = data_pages(&Config::DEFAULT, (&demand, &demand), None, made);
        assert_eq!(pages.page_block_bytes, 2 * 64);
        assert_eq!((pages.back_reference_bytes, pages.unused_bytes), (72, 0));
        let pages = data_pages(&Config::DEFAULT, (&demand, &demand), None, (0, 400));
        assert_eq!(pages, super::DataPages::default());
    }
}
