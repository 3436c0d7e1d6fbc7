//! The output of `surefit certify`.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surefit_compact::certify::Certificate;

use super::proposed::Proposals;
use super::target::Target;
use surefit_measure::error::one_line;
use surefit_measure::output::grouped;
use surefit_measure::results::SCHEMA;
use surefit_measure::sizes::{Count, Size, counted};
use surefit_measure::spec::Spec;

/// The certificates of one demand. The figures at the top are those of the first certificate.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Report {
    /// The version of this format.
    pub(crate) schema: u32,
    /// The name of the trace, or the file of the demand.
    pub(crate) name: String,
    /// The allocator, as given.
    pub(crate) allocator: String,
    /// The greatest sum of live requests of the trace, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) peak_live_bytes: Option<u64>,
    /// The joint demand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) demand: Option<Budget>,
    /// The most work that freeing one object of the trace can cost, all its pieces included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) largest_free: Option<LargestFree>,
    /// The heap size that suffices, in bytes.
    pub(crate) heap_bytes: u64,
    /// What these bytes are used for.
    pub(crate) parts: Parts,
    /// The most moves when one page-block is freed.
    pub(crate) moves_max_per_op: u32,
    /// The most bytes that these moves copy.
    pub(crate) moved_bytes_max_per_op: u64,
    /// The most pages of the region that allocating or freeing one page-block touches.
    pub(crate) pages_touched_max_per_op: u64,
    /// One certificate for each reading of the demand.
    pub(crate) certificates: Vec<Certified>,
    /// Cheaper configurations, where they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) proposals: Option<Proposals>,
    /// The worst calls on a processor, where they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) target: Option<Target>,
}

/// A joint demand.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Budget {
    /// N: the most page-blocks live at once.
    pub(crate) objects: u64,
    /// B: the most bytes of page-blocks live at once.
    pub(crate) block_bytes: u64,
    /// How many size-classes are used.
    pub(crate) classes: u32,
}

impl Budget {
    pub(super) fn new(budget: surefit_compact::certify::Budget) -> Self {
        Self {
            objects: budget.objects,
            block_bytes: budget.block_bytes,
            classes: budget.classes.len(),
        }
    }
}

/// The work of freeing the most expensive object.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LargestFree {
    /// The most page-blocks of one object: pieces, remainder, spine.
    pub(crate) blocks: u64,
    /// The most moves.
    pub(crate) moves_max: u64,
    /// The most bytes that these moves copy.
    pub(crate) moved_bytes_max: u64,
}

/// What the bytes of a certificate are used for. The parts add up to `heap_bytes`.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Parts {
    /// Data pages, back-references included.
    pub(crate) data_page_bytes: u64,
    /// The address table.
    pub(crate) handle_bytes: u64,
    /// Page records.
    pub(crate) page_record_bytes: u64,
    /// Class states.
    pub(crate) class_state_bytes: u64,
    /// Bytes that may be skipped before the first page.
    pub(crate) alignment_bytes: u64,
    /// The heap's own control structure.
    pub(crate) control_bytes: u64,
}

/// One certificate.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Certified {
    /// `joint`: any mix of the joint demand; `per-class`: any order within each class's own peak;
    /// `both`.
    pub(crate) demand: String,
    /// The heap size that suffices, in bytes.
    pub(crate) heap_bytes: u64,
    /// What these bytes are used for.
    pub(crate) parts: Parts,
    /// The most bytes of the data pages that back-references of live objects cause.
    pub(crate) back_reference_bytes: u64,
    /// The most moves when one page-block is freed.
    pub(crate) moves_max_per_op: u32,
    /// The most bytes that these moves copy.
    pub(crate) moved_bytes_max_per_op: u64,
    /// The most pages of the region that allocating or freeing one page-block touches.
    pub(crate) pages_touched_max_per_op: u64,
}

impl Certified {
    pub(super) fn new(demand: &str, certificate: &Certificate, control_bytes: usize) -> Self {
        let parts = certificate.parts;
        Self {
            demand: demand.to_owned(),
            heap_bytes: (certificate.heap_bytes + control_bytes) as u64,
            parts: Parts {
                data_page_bytes: parts.data_page_bytes as u64,
                handle_bytes: parts.handle_bytes as u64,
                page_record_bytes: parts.page_record_bytes as u64,
                class_state_bytes: parts.class_state_bytes as u64,
                alignment_bytes: parts.alignment_bytes as u64,
                control_bytes: control_bytes as u64,
            },
            back_reference_bytes: parts.back_reference_bytes as u64,
            moves_max_per_op: certificate.moves_max_per_op,
            moved_bytes_max_per_op: certificate.moved_bytes_max_per_op,
            pages_touched_max_per_op: certificate.pages_touched_max_per_op,
        }
    }

    /// Administrative bytes that grow with the number of objects: entries and back-references.
    fn handles(&self) -> u64 {
        self.parts.handle_bytes + self.back_reference_bytes
    }
}

impl Report {
    pub(super) fn new(name: &str, spec: &Spec) -> Self {
        Self {
            schema: SCHEMA,
            name: name.to_owned(),
            allocator: spec.to_string(),
            ..Self::default()
        }
    }

    pub(super) fn add(&mut self, certified: Certified) {
        if self.certificates.is_empty() {
            self.heap_bytes = certified.heap_bytes;
            self.parts = certified.parts;
            self.moves_max_per_op = certified.moves_max_per_op;
            self.moved_bytes_max_per_op = certified.moved_bytes_max_per_op;
            self.pages_touched_max_per_op = certified.pages_touched_max_per_op;
        }
        self.certificates.push(certified);
    }

    fn write_head(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}  {}", one_line(&self.name), self.allocator)?;
        if let Some(live) = self.peak_live_bytes {
            write!(f, "  peak live {}", Size(live))?;
        }
        if let Some(demand) = self.demand {
            write!(
                f,
                "  joint demand: N = {} page-blocks, B = {} in {} size-classes",
                Count(demand.objects),
                Size(demand.block_bytes),
                demand.classes
            )?;
        }
        writeln!(f)
    }

    fn write_line(&self, f: &mut fmt::Formatter<'_>, certified: &Certified) -> fmt::Result {
        let Certified {
            demand, heap_bytes, ..
        } = certified;
        write!(f, "{demand:<10} {:>14} B", grouped(*heap_bytes))?;
        if let Some(live) = self.peak_live_bytes {
            write!(f, "  ÷ live {}", ratio(*heap_bytes, live))?;
        }
        if let Some(Budget { block_bytes, .. }) = self.demand {
            let rest = heap_bytes - certified.handles();
            write!(f, "  ÷ B {}", ratio(*heap_bytes, block_bytes))?;
            write!(
                f,
                "  (without handles and back-references {})",
                ratio(rest, block_bytes)
            )?;
        }
        writeln!(f)
    }
}

fn ratio(bytes: u64, of: u64) -> String {
    if of == 0 {
        return "-".to_owned();
    }
    format!("{:.3}", bytes as f64 / of as f64)
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_head(f)?;
        writeln!(
            f,
            "A heap of this many bytes serves every request within the demand, in any order:"
        )?;
        for certified in &self.certificates {
            self.write_line(f, certified)?;
        }
        let parts = self.parts;
        let first = self.certificates.first();
        let handles = first.map_or(0, |certified| certified.back_reference_bytes);
        for (part, bytes) in [
            ("data pages", parts.data_page_bytes),
            ("  of these for back-references", handles),
            ("address table", parts.handle_bytes),
            ("page records", parts.page_record_bytes),
            ("class states", parts.class_state_bytes),
            ("alignment of the region", parts.alignment_bytes),
            ("control structure", parts.control_bytes),
        ] {
            writeln!(f, "  {part:<31} {:>14} B", grouped(bytes))?;
        }
        writeln!(
            f,
            "Freeing one page-block: at most {}, {} B copied, {} touched.",
            counted(u64::from(self.moves_max_per_op), "move"),
            grouped(self.moved_bytes_max_per_op),
            counted(self.pages_touched_max_per_op, "page")
        )?;
        if let Some(largest) = self.largest_free {
            writeln!(
                f,
                "Freeing the largest object: {}, at most {}, {} B copied.",
                counted(largest.blocks, "page-block"),
                counted(largest.moves_max, "move"),
                grouped(largest.moved_bytes_max)
            )?;
        }
        self.target.iter().try_for_each(|it| write!(f, "{it}"))?;
        self.proposals.iter().try_for_each(|it| write!(f, "{it}"))
    }
}

#[cfg(test)]
mod tests {
    use super::{Budget, Certified, Parts, Report};

    #[test]
    fn the_first_certificate_heads_the_report() {
        let mut report = Report {
            peak_live_bytes: Some(1000),
            demand: Some(Budget {
                objects: 10,
                block_bytes: 1100,
                classes: 2,
            }),
            ..Report::default()
        };
        for heap_bytes in [2200, 3300] {
            report.add(Certified {
                demand: "joint".to_owned(),
                heap_bytes,
                parts: Parts {
                    data_page_bytes: heap_bytes,
                    ..Parts::default()
                },
                ..Certified::default()
            });
        }
        assert_eq!(report.heap_bytes, 2200);
        let text = report.to_string();
        assert!(text.contains("2,200 B  ÷ live 2.200  ÷ B 2.000"), "{text}");
    }
}
