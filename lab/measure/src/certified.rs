//! Compares certificates with measurements: what is proven from counts must hold in every replay.

use anyhow::Result;
use surefit_os::Reservation;

use crate::error::Broken;
use crate::passes::timing::Untouched;
use crate::registry::Kind;
use crate::results::AllocatorResult;
use crate::steps::Steps;
use crate::subject::Certified;

/// Certifies the trace's joint demand, stores the certificate in the row, and replays the trace in
/// a region of exactly the certified size.
///
/// # Errors
/// [`Broken`] if a measurement is above its proven bound; any error if there is not enough memory.
pub fn certify(kind: &Kind, steps: &Steps, row: &mut AllocatorResult) -> Result<Option<Certified>> {
    let Some(certified) = kind.certified(steps) else {
        return Ok(None);
    };
    row.certified_bytes = Some(certified.heap_bytes);
    let context = format!("{}: {}", steps.name, row.allocator);
    within(&context, row, certified)?;
    suffices(&context, kind, steps, certified)?;
    Ok(Some(certified))
}

/// Replays the trace in a region of exactly the certified size.
fn suffices(context: &str, kind: &Kind, steps: &Steps, certified: Certified) -> Result<()> {
    let mut region = Reservation::new(usize::try_from(certified.heap_bytes)?)?;
    match kind.run_untimed(region.memory(), Untouched { steps }) {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(stop)) => Err(too_small(
            context,
            certified,
            &format!("event {}: {:?}", stop.event, stop.stop),
        )),
        Err(refused) => Err(too_small(context, certified, &refused.to_string())),
    }
}

/// Compares the figures of the checking pass with the certificate.
fn within(context: &str, row: &AllocatorResult, certified: Certified) -> Result<()> {
    if let (Some(error), Some(heap)) = (&row.error, row.heap_bytes) {
        if heap >= certified.heap_bytes {
            let why = format!("event {}: {} in {heap} bytes", error.event, error.kind);
            return Err(too_small(context, certified, &why));
        }
    }
    let (moved, most) = (row.moved_bytes_max_per_op, certified.moved_bytes_max_per_op);
    match moved.filter(|moved| *moved > most) {
        Some(moved) => Err(Broken(format!(
            "{context}: one free copied {moved} bytes, more than the {most} certified"
        ))
        .into()),
        None => Ok(()),
    }
}

fn too_small(context: &str, certified: Certified, why: &str) -> anyhow::Error {
    let bytes = certified.heap_bytes;
    Broken(format!(
        "{context}: the certified {bytes} bytes were not enough: {why}"
    ))
    .into()
}

#[cfg(test)]
mod tests {
    use super::{suffices, within};
    use crate::error::{Broken, status};
    use crate::results::{AllocatorResult, ReplayError};
    use crate::spec::{Choice, Spec};
    use crate::steps::Steps;
    use crate::subject::Certified;
    use surefit_trace::{Call, Event, Op, Trace};

    const CERTIFIED: Certified = Certified {
        heap_bytes: 1000,
        moved_bytes_max_per_op: 100,
        demand_bytes: 800,
        demand_objects: 10,
        table_bytes: 40,
        back_reference_bytes: 40,
    };

    fn row(moved: u64, heap: u64, error: bool) -> AllocatorResult {
        AllocatorResult {
            moved_bytes_max_per_op: Some(moved),
            heap_bytes: Some(heap),
            error: error.then(|| ReplayError {
                kind: "no_page".to_owned(),
                event: 7,
            }),
            ..AllocatorResult::default()
        }
    }

    #[test]
    fn a_measurement_within_its_bound_passes() {
        assert!(within("t", &row(100, 4000, false), CERTIFIED).is_ok());
        assert!(within("t", &row(0, 999, true), CERTIFIED).is_ok());
    }

    #[test]
    fn a_measurement_above_its_bound_is_broken() {
        for row in [row(101, 4000, false), row(0, 1000, true)] {
            let error = within("t", &row, CERTIFIED).expect_err("above the bound");
            assert!(error.is::<Broken>());
        }
    }

    /// A hundred objects of one kilobyte, all live at the end.
    fn hundred() -> Steps {
        let call = Call::Malloc;
        let alloc = |id| Op::Alloc {
            id,
            size: 1000,
            call,
        };
        let events = (0..100).map(|id| Event::new(0, alloc(id))).collect();
        Steps::new(&Trace::new("hundred", events).expect("sound")).expect("small")
    }

    #[test]
    fn a_certificate_that_is_too_small_ends_with_status_1() {
        let Choice::InProcess(kind) = Spec::parse("cf").expect("known").choice else {
            panic!("cf runs in this process");
        };
        let steps = hundred();
        let sound = kind.certified(&steps).expect("cf certifies");
        assert!(suffices("t", &kind, &steps, sound).is_ok());
        for heap_bytes in [40_000, 1] {
            let forged = Certified {
                heap_bytes,
                ..sound
            };
            let error = suffices("t", &kind, &steps, forged).expect_err("too small");
            assert_eq!(status(&error), 1, "{error}");
        }
    }
}
