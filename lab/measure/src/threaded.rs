//! A replay on as many threads as the trace has: growth of the process, with every page of each
//! object written, then wall time.

use anyhow::Result;

use crate::child::{Child, Passes};
use crate::growth::Growth;
use crate::passes::threads::{Threads, Write};
use crate::ratio::median;
use crate::results::AllocatorResult;
use crate::rounds::{self, Plan};
use crate::single;
use crate::source::Source;
use crate::spec::Spec;

/// Replays the trace on an allocator that serves many threads: the platform's malloc, in a child
/// that reads the trace from standard input.
///
/// # Errors
/// The malloc refused a request, or the child process failed.
pub fn measure(source: &Source, spec: &Spec, plan: Plan) -> Result<AllocatorResult> {
    if source.is_fed {
        return measure_here(source, spec, plan);
    }
    let child = Child {
        threads: Some(plan.rounds),
        ..rounds::child(source, spec, plan)
    };
    Ok(AllocatorResult {
        allocator: spec.to_string(),
        ..child.run(Passes::NONE)?
    })
}

fn measure_here(source: &Source, spec: &Spec, plan: Plan) -> Result<AllocatorResult> {
    let steps = &source.steps;
    let threads = Threads::new(&source.trace, steps)?;
    let growth = Growth::over(|| threads.run_empty());
    threads.run(match plan.setting.touch {
        true => Write::EveryPage,
        false => Write::First,
    })?;
    let peak_resident_bytes = growth.bytes(plan.setting.written_at_peak(steps));
    let times = (0..plan.rounds).map(|_| threads.run(Write::First));
    let times = times.collect::<Result<Vec<_>>>()?;
    let empty = threads.run_empty()?;
    let pairs = steps.calls.pairs().max(1) as f64;
    let figures: Vec<_> = times
        .iter()
        .map(|took| took.saturating_sub(empty) as f64 / pairs)
        .collect();
    Ok(AllocatorResult {
        completed: true,
        pair_ns_mean: median(&figures),
        pair_ns_rounds: Some(figures),
        peak_resident_bytes,
        ..single::empty_row(spec, steps, plan.setting)
    })
}
