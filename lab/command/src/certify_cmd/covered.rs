//! Whether the figures of a processor are about the objects of a demand.

use anyhow::{Context, Result, bail};
use surefit_measure::steps::LEAST_ALIGN;
use surefit_trace::{Op, Trace};

use super::asked::Source;
use super::demand_file::{Counted, DemandFile};
use super::target::largest;

/// Refuses a demand with objects that the figures of a target are not about.
///
/// # Errors
/// Such an object, and what the figures are about.
pub(super) fn check(name: &str, source: &Source) -> Result<()> {
    let covered = match source {
        Source::Demand(_, file) => covers_file(file),
        Source::Traces(traces) => traces.iter().try_for_each(covers_trace),
    };
    covered.with_context(|| {
        format!(
            "the figures of {name} are of objects with one page-block: at most {} bytes, aligned to at most {LEAST_ALIGN}; leave --target out",
            largest()
        )
    })
}

fn covers_trace(trace: &Trace) -> Result<()> {
    trace
        .events()
        .iter()
        .try_for_each(|event| match event.op() {
            Op::Alloc { size, call, .. } => is_covered(size, call.align_at_least(LEAST_ALIGN)),
            // Its alignment is that of its allocation.
            Op::Realloc { size, .. } => is_covered(size, LEAST_ALIGN),
            Op::Free { .. } => Ok(()),
        })
}

fn covers_file(file: &DemandFile) -> Result<()> {
    for peak in file.per_class.iter().flatten() {
        let align = peak.align_bytes.unwrap_or(LEAST_ALIGN);
        is_covered(peak.request_bytes as u64, align)?;
    }
    for budget in file.budgets()? {
        let (largest, align) = match budget {
            Counted::Requests(requests, align) => (Some(requests.largest), align),
            Counted::Objects(_, longest, align) => (Some(longest as u64), align),
            Counted::Blocks(_, _, largest, align) => (largest.map(|it| it as u64), align),
        };
        let largest = largest
            .context("the demand does not say its largest request: give largest_request_bytes")?;
        is_covered(largest, align)?;
    }
    let resized = file.resized_bytes.map(|it| it as u64);
    resized.map_or(Ok(()), |bytes| is_covered(bytes, LEAST_ALIGN))
}

/// Whether the figures are of such objects.
fn is_covered(bytes: u64, align: usize) -> Result<()> {
    if bytes > largest() as u64 || align > LEAST_ALIGN {
        bail!("the demand has an object of {bytes} bytes, aligned to {align}");
    }
    Ok(())
}
