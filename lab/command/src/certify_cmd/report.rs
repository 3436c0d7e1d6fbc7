//! The output of `surefit certify`.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::account::{Account, CertificateParts, DataPages};
use super::proposed::Proposals;
use super::runs::Runs;
use super::target::Target;
use super::users::{SharedWork, Users};
use surefit_measure::error::one_line;
use surefit_measure::output::grouped;
use surefit_measure::results::SCHEMA;
use surefit_measure::sizes::{Count, Size, counted};
use surefit_measure::spec::Spec;

/// What the names of several certificates mean.
const READINGS: &str = "\
  joint: any mix within N and B. per-class: of each size-class as many as were
  ever live at once. both: within both, so less. The rest is about joint, and
  --emit writes joint.
";

/// The certificates of one demand. The figures at the top are those of the first certificate.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Report {
    /// The version of this format.
    pub(crate) schema: u32,
    /// The name of the trace, or the file of the demand.
    pub(crate) name: String,
    /// The allocator, as given; of a shared heap, with keys for its threads and pins.
    pub(crate) allocator: String,
    /// The greatest sum of live requests of the traces, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) peak_live_bytes: Option<u64>,
    /// The joint demand, with the margin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) demand: Option<Budget>,
    /// What several traces ask for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) runs: Option<Runs>,
    /// The margin on every figure of the demand, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) margin_percent: Option<f64>,
    /// Who uses a shared heap at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) users: Option<Users>,
    /// The most work that freeing one object of the trace can cost, all its pieces included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) largest_free: Option<LargestFree>,
    /// The heap size that suffices, in bytes.
    pub(crate) heap_bytes: u64,
    /// What these bytes are used for.
    pub(crate) parts: CertificateParts,
    /// What the data pages among them are for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) data_pages: Option<DataPages>,
    /// The most moves when one page-block is freed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) moves_max_per_op: Option<u32>,
    /// The most bytes that these moves copy.
    pub(crate) moved_bytes_max_per_op: u64,
    /// The most pages of the region that allocating or freeing one page-block touches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pages_touched_max_per_op: Option<u64>,
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

/// One certificate.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Certified {
    /// `joint`: any mix of the joint demand; `per-class`: any order within each class's own peak;
    /// `both`: any order within both at once.
    pub(crate) demand: String,
    /// The heap size that suffices, in bytes.
    pub(crate) heap_bytes: u64,
    /// What these bytes are used for.
    pub(crate) parts: CertificateParts,
    /// The most bytes of the data pages that back-references of live objects cause.
    pub(crate) back_reference_bytes: u64,
    /// The most moves when one page-block is freed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) moves_max_per_op: Option<u32>,
    /// The most bytes that these moves copy; of a shared heap, that the steps of one free copy.
    pub(crate) moved_bytes_max_per_op: u64,
    /// The most pages of the region that allocating or freeing one page-block touches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pages_touched_max_per_op: Option<u64>,
    /// What a call of a shared heap costs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) shared: Option<SharedWork>,
}

impl Certified {
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

    /// What the demand is of, beyond its name: the runs, and the margin. A line for source text, or
    /// none.
    pub(super) fn origin(&self) -> Option<String> {
        let runs = self.runs.as_ref();
        let runs = runs.map(|runs| format!("the greatest of {}", runs.title()));
        let margin = self
            .margin_percent
            .map(|percent| format!("with a margin of {percent} %"));
        let parts: Vec<_> = runs.into_iter().chain(margin).collect();
        (!parts.is_empty()).then(|| format!("The demand is {}.", parts.join(", ")))
    }

    fn write_head(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", one_line(&self.name), self.allocator)?;
        if let Some(live) = self.peak_live_bytes {
            write!(f, ", peak live {}", Size(live))?;
        }
        if let Some(demand) = self.demand {
            write!(
                f,
                ", joint demand: N = {} page-blocks, B = {} in {} size-classes",
                Count(demand.objects),
                Size(demand.block_bytes),
                demand.classes
            )?;
        }
        writeln!(f)?;
        if let Some(users) = self.users {
            writeln!(
                f,
                "Users at once: {}, and guards that pin at most {} besides those of calls in progress.",
                counted(u64::from(users.threads), "thread"),
                counted(u64::from(users.pins), "object")
            )?;
        }
        self.write_runs(f)
    }

    /// The runs, the margin that they propose, and the margin taken.
    fn write_runs(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(runs) = &self.runs else {
            return self.write_margin(f);
        };
        write!(f, "{runs}")?;
        match runs.proposed_margin_percent {
            Some(percent) if self.margin_percent.is_none() => writeln!(
                f,
                "Proposed: --margin {percent}, so that a further run is covered in 99 of 100 tries."
            )?,
            Some(_) => {}
            None => writeln!(
                f,
                "They lie too far apart to propose a margin: record more, or certify each kind on its own."
            )?,
        }
        self.write_margin(f)
    }

    fn write_margin(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.margin_percent {
            Some(percent) => writeln!(f, "With a margin of {percent} % on every figure."),
            None => Ok(()),
        }
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
            let rest = heap_bytes.saturating_sub(certified.handles());
            write!(f, "  ÷ B {}", ratio(*heap_bytes, block_bytes))?;
            write!(f, "  (without handles {})", ratio(rest, block_bytes))?;
        }
        writeln!(f)
    }

    fn write_calls(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((moves, pages)) = self.moves_max_per_op.zip(self.pages_touched_max_per_op) {
            writeln!(
                f,
                "Freeing one page-block: at most {}, {} B copied; that or allocating one: {} touched.",
                counted(u64::from(moves), "move"),
                grouped(self.moved_bytes_max_per_op),
                counted(pages, "page")
            )?;
        }
        if let Some(work) = self.certificates.first().and_then(|it| it.shared) {
            writeln!(
                f,
                "Freeing one page-block: at most {} of moves, {} B copied; {} B and {} while a lock is held once.",
                counted(work.steps_max_per_free, "step"),
                grouped(self.moved_bytes_max_per_op),
                grouped(work.copied_bytes_max_per_section),
                counted(work.pages_touched_max_per_section, "page")
            )?;
        }
        if let Some(largest) = self.largest_free {
            writeln!(
                f,
                "Freeing the largest object: {}, at most {}, {} B copied.",
                counted(largest.blocks, "page-block"),
                counted(largest.moves_max, "move"),
                grouped(largest.moved_bytes_max)
            )?;
        }
        Ok(())
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
        if self.certificates.len() > 1 {
            write!(f, "{READINGS}")?;
        }
        let account = Account {
            parts: &self.parts,
            data_pages: self.data_pages,
            heap_bytes: self.heap_bytes,
        };
        write!(f, "{account}")?;
        self.write_calls(f)?;
        self.target.iter().try_for_each(|it| write!(f, "{it}"))?;
        if self.allocator == "cf" && self.proposals.is_none() {
            writeln!(
                f,
                "This is the default configuration; --propose finds that of the fewest bytes."
            )?;
        }
        self.proposals.iter().try_for_each(|it| write!(f, "{it}"))
    }
}

#[cfg(test)]
mod tests {
    use super::{Budget, CertificateParts, Certified, Report, Runs};

    fn two_certificates() -> Report {
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
                parts: CertificateParts {
                    data_page_bytes: heap_bytes,
                    ..CertificateParts::default()
                },
                ..Certified::default()
            });
        }
        report
    }

    #[test]
    fn the_first_certificate_heads_the_report() {
        let report = two_certificates();
        assert_eq!(report.heap_bytes, 2200);
        let text = report.to_string();
        assert!(text.contains("2,200 B  ÷ live 2.200  ÷ B 2.000"), "{text}");
        assert!(text.contains("100.0 %"), "{text}");
    }

    #[test]
    fn a_margin_is_proposed_until_one_is_taken() {
        let mut report = two_certificates();
        report.runs = Some(Runs {
            proposed_margin_percent: Some(7.4),
            ..Runs::default()
        });
        assert!(report.to_string().contains("--margin 7.4"));
        report.margin_percent = Some(8.0);
        let text = report.to_string();
        assert!(
            text.contains("margin of 8 %") && !text.contains("--margin"),
            "{text}"
        );
        report.runs = Some(Runs::default());
        assert!(report.to_string().contains("too far apart"));
    }

    #[test]
    fn the_committed_schema_is_that_of_the_type() {
        surefit_measure::schema::is_committed::<Report>("certify.json");
    }
}
