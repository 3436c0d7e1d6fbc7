//! The smallest heaps of a Compact-fit heap without what saves memory in it: moves, and objects in
//! pieces.

use anyhow::Result;
use surefit_core::Refused;
use surefit_os::Reservation;

use surefit_measure::passes::min_heap::min_heap;
use surefit_measure::passes::replay::{Stop, Stopped};
use surefit_measure::passes::timing::Untouched;
use surefit_measure::progress::Progress;
use surefit_measure::registry::Kind;
use surefit_measure::results::Ablation;
use surefit_measure::rounds::in_parallel;
use surefit_measure::sizes::HeapSize;
use surefit_measure::spec::{Choice, Spec};
use surefit_measure::steps::Steps;
use surefit_measure::subjects::compact::Options;

/// The steps of progress that it makes.
pub(super) const STEPS: u64 = 3;

/// The ablation of the first heap of handles among the allocators; `None` if there is none.
///
/// # Errors
/// The operating system gives no memory.
pub(super) fn ablation(
    specs: &[Spec],
    steps: &Steps,
    progress: &Progress,
) -> Result<Option<Ablation>> {
    let found = specs.iter().find_map(|spec| match &spec.choice {
        Choice::InProcess(Kind::Cf(options)) => Some((spec, options)),
        _ => None,
    });
    let Some((spec, options)) = found else {
        progress.skip(STEPS);
        return Ok(None);
    };
    let variants = [
        options.unbounded()?,
        contiguous(options)?,
        contiguous(&options.unbounded()?)?,
    ];
    let found = in_parallel(&variants, |options| {
        let least = least(options, steps);
        progress.step(&steps.name, "without moves or pieces", spec);
        least
    })?;
    Ok(Some(Ablation {
        allocator: spec.to_string(),
        unmoved_min_heap_bytes: found[0],
        contiguous_min_heap_bytes: found[1],
        unmoved_contiguous_min_heap_bytes: found[2],
    }))
}

/// The same heap without objects in pieces.
fn contiguous(options: &Options) -> Result<Options> {
    options.with_config(|config| Ok(config.clone().with_pieces(None)?))
}

/// The smallest heap; `None` if no heap serves the trace, such as for an object larger than a page,
/// or none of 64 times the peak of live bytes.
fn least(options: &Options, steps: &Steps) -> Result<Option<u64>> {
    let kind = Kind::Cf(Box::new(options.clone())).told(steps);
    let mut region = Reservation::new(kind.heap_bytes(HeapSize::DEFAULT, steps))?;
    if is_hopeless(&kind.run_untimed(region.memory(), Untouched { steps })) {
        return Ok(None);
    }
    drop(region);
    let guess = usize::try_from(steps.peak_live_bytes)?;
    Ok(min_heap(&kind, steps, guess)?.map(|bytes| bytes as u64))
}

/// Whether a replay ended at an object that a larger heap would refuse too.
fn is_hopeless(outcome: &Result<Result<u64, Stopped>, Refused>) -> bool {
    let Ok(Err(stopped)) = outcome else {
        return false;
    };
    matches!(
        stopped.stop,
        Stop::Refused(Refused::TooLarge { .. } | Refused::TooAligned { .. })
    )
}
