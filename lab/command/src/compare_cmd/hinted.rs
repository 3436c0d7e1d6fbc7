//! What a hint would save: the trace on a heap of raw pointers in a program that moves objects.

use anyhow::Result;
use surefit_measure::held::Held;
use surefit_measure::results::AllocatorResult;
use surefit_measure::rounds::Plan;
use surefit_measure::single;
use surefit_measure::source::Source;
use surefit_measure::spec::{Choice, Spec, is_malloc};

/// The allocator: [`surefit_measure::subjects::cooperating`].
const NAME: &str = "cf-cooperating";

/// One replay, if a malloc among the rows creeps; `None` if it does not complete.
///
/// # Errors
/// The heap broke a rule; no memory.
pub(super) fn hinted(
    source: &Source,
    plan: Plan,
    rows: &[AllocatorResult],
) -> Result<Option<Box<AllocatorResult>>> {
    let creeps = |row: &AllocatorResult| Held::resident(row).is_some_and(|held| held.creeps());
    let mut mallocs = rows.iter().filter(|row| is_malloc(&row.allocator));
    if !mallocs.any(creeps) {
        return Ok(None);
    }
    let spec = Spec::parse(NAME)?;
    let Choice::InProcess(kind) = &spec.choice else {
        return Ok(None);
    };
    let row = single::check(&spec, kind, &source.steps, plan.setting)?;
    Ok(row.completed.then(|| Box::new(row)))
}
