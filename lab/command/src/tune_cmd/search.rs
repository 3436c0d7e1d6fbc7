//! The search: counts for every shape, replays for the best.
//!
//! ```text
//! shapes    page × width × pieces, less those that the user fixed or that cannot be
//! each      its cheapest size-classes by segmentation; its bytes by a count with k=1
//! the best  eight of these also with fewer and with more size-classes, counted likewise
//!           the three of fewest bytes are replayed: the smallest region in which all runs complete
//! bound     the best of them with each bound, replayed; of equals, that which copies least
//! ```

use anyhow::{Context, Result, bail};
use surefit_measure::progress::Progress;
use surefit_measure::registry::Kind;
use surefit_measure::rounds::in_parallel;
use surefit_measure::spec::{Choice, Spec};

use super::choices::{BOUNDS, PAGES, PIECES, WIDTHS, has_key, of_other, with_keys};
use super::classes::Limits;
use super::report::Chosen;
use super::segment::Unfilled;
use super::shape::{Shape, Values, mixes, shape};
use super::subject::{Subject, mean_over_live, moved_per_free, smallest_of_all};

/// What is wrong where no configuration completes the traces.
const NO_CONFIGURATION: &str = "no configuration serves these traces: leave keys of --allocator out, \
    or objects that are aligned to more than a page";

/// How many shapes get fewer and more size-classes.
const VARIED: usize = 8;

/// How many shapes are replayed.
const REPLAYED: usize = 3;

/// With full compaction a class leaves half a page unfilled, on average.
const UNFILLED: Unfilled = Unfilled::Mean(0.5);

/// What leads to more classes, and to fewer.
const OTHERS_UNFILLED: [Unfilled; 2] = [Unfilled::Mean(0.25), Unfilled::Mean(1.0)];

/// Heaps that differ by less are equal: a smallest heap is known to 0.1 %.
const EQUAL: f64 = 0.0015;

/// What was found for an allocator.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// The spec, with all its keys.
    pub(super) spec: String,
    /// The size-classes, if it has any.
    pub(super) sizes: Option<Vec<u32>>,
    /// The mean over the traces of the smallest region over live bytes.
    pub(super) over_live: f64,
    /// For each value of each choice the best with it.
    pub(super) choices: Vec<Chosen>,
    /// How many shapes were counted.
    pub(super) counted: usize,
}

/// The configuration of `spec` that needs the fewest bytes for the subjects, with at most `classes`
/// size-classes; keys that are given are kept.
///
/// # Errors
/// No configuration serves the subjects; the allocator has nothing to tune.
pub(super) fn find(
    subjects: &[&Subject],
    spec: &Spec,
    classes: usize,
    progress: &Progress,
) -> Result<Found> {
    match &spec.choice {
        Choice::InProcess(Kind::Cf(_)) => of_cf(subjects, spec.as_str(), classes, progress),
        _ => of_lists(subjects, spec.as_str(), progress),
    }
}

/// How many steps of progress one search makes at most.
pub(super) fn progress_steps(spec: &Spec) -> u64 {
    let given = spec.as_str();
    let steps = match &spec.choice {
        Choice::InProcess(Kind::Cf(_)) => {
            let varied = VARIED * OTHERS_UNFILLED.len();
            mixes(given).len() + varied + REPLAYED + BOUNDS.open(given).len()
        }
        _ => of_other(name(given)).map_or(0, |choice| choice.values.len()),
    };
    steps as u64
}

/// The name of an allocator, less its keys.
fn name(spec: &str) -> &str {
    spec.split(':').next().unwrap_or(spec)
}

fn of_cf(subjects: &[&Subject], given: &str, classes: usize, progress: &Progress) -> Result<Found> {
    for key in ["classes", "spacing", "min", "order", "config"] {
        if has_key(given, key) {
            bail!("--allocator {given}: tune finds the size-classes itself; leave {key} out");
        }
    }
    let runs: Vec<_> = subjects.iter().map(|subject| &subject.run).collect();
    let all = |values: &[Values], unfilled| {
        let limits = Limits {
            most: classes,
            unfilled,
        };
        let found = in_parallel(values, |values| {
            let shape = shape(&runs, given, *values, limits);
            progress.step("traces", "counted", &values.join(" "));
            shape
        })?;
        Ok::<_, anyhow::Error>(found.into_iter().flatten().collect::<Vec<_>>())
    };
    let mut shapes = best_first(all(&mixes(given), UNFILLED)?);
    let best: Vec<_> = shapes.iter().take(VARIED).map(|it| it.values).collect();
    for unfilled in OTHERS_UNFILLED {
        shapes.extend(all(&best, unfilled)?);
    }
    let mut shapes = best_first(shapes);
    let counted = shapes.len();
    let mut choices = best_with_each(given, &shapes);
    shapes.truncate(REPLAYED);
    let shape = replayed(subjects, given, shapes, progress)?;
    let bounds = bounds(subjects, given, &shape, progress)?;
    let bound = gentlest(&bounds).context("a shape that was replayed has a bound")?;
    choices.extend(bounds.iter().filter(|it| !it.choice.is_empty()).cloned());
    Ok(Found {
        spec: with_keys(&shape.spec, &[&bound.choice]),
        sizes: Some(shape.sizes),
        over_live: bound.over_live,
        choices,
        counted,
    })
}

/// Of the bounds that need as few bytes as any, that which copies least.
fn gentlest(bounds: &[Chosen]) -> Option<&Chosen> {
    let least = bounds.iter().map(|bound| bound.over_live);
    let least = least.min_by(f64::total_cmp)?;
    let equal = bounds.iter().filter(|it| it.over_live <= least + EQUAL);
    let moved = |bound: &Chosen| bound.moved_bytes_per_free.unwrap_or(0.0);
    equal.min_by(|a, b| moved(a).total_cmp(&moved(b)))
}

/// Shapes from the fewest bytes to the most; of equals, those that came first.
fn best_first(mut shapes: Vec<Shape>) -> Vec<Shape> {
    shapes.sort_by(|a, b| a.over_live.total_cmp(&b.over_live));
    shapes
}

/// For each value of each open choice the fewest bytes with it.
fn best_with_each(given: &str, shapes: &[Shape]) -> Vec<Chosen> {
    let mut best = Vec::new();
    for (place, choice) in [PAGES, WIDTHS, PIECES].iter().enumerate() {
        for value in choice.open(given).into_iter().filter(|it| !it.is_empty()) {
            let with = shapes.iter().filter(|shape| shape.values[place] == value);
            let least = with.map(|shape| shape.over_live).min_by(f64::total_cmp);
            best.extend(least.map(|least| Chosen::new(value, least)));
        }
    }
    best
}

/// The best of some shapes by replays with full compaction, or with the bound that is given.
fn replayed(
    subjects: &[&Subject],
    given: &str,
    shapes: Vec<Shape>,
    progress: &Progress,
) -> Result<Shape> {
    let densest = BOUNDS.open(given).last().copied().unwrap_or("");
    let regions = in_parallel(&shapes, |shape| {
        let spec = Spec::parse(&with_keys(&shape.spec, &[densest]))?;
        let bytes = smallest_of_all(subjects, &spec, shape.over_live * 1.01)?;
        progress.step("traces", "replayed", &shape.values.join(" "));
        Ok(bytes.map(|bytes| mean_over_live(subjects, &bytes)))
    })?;
    let each = shapes.into_iter().zip(regions);
    let complete = each.filter_map(|(shape, over_live)| Some((shape, over_live?)));
    let best = complete.min_by(|(_, a), (_, b)| a.total_cmp(b));
    let (shape, _) = best.context(NO_CONFIGURATION)?;
    Ok(shape)
}

/// The shape with each bound that is open.
fn bounds(
    subjects: &[&Subject],
    given: &str,
    shape: &Shape,
    progress: &Progress,
) -> Result<Vec<Chosen>> {
    let found = in_parallel(&BOUNDS.open(given), |bound| {
        let spec = Spec::parse(&with_keys(&shape.spec, &[bound]))?;
        progress.step("traces", "replayed", bound);
        let Some(bytes) = smallest_of_all(subjects, &spec, shape.over_live * 1.02)? else {
            return Ok(None);
        };
        let mut chosen = Chosen::new(bound, mean_over_live(subjects, &bytes));
        chosen.moved_bytes_per_free = moved_per_free(subjects, &spec, &bytes)?;
        Ok(Some(chosen))
    })?;
    Ok(found.into_iter().flatten().collect())
}

/// The best value of an allocator's one parameter, by replays.
fn of_lists(subjects: &[&Subject], given: &str, progress: &Progress) -> Result<Found> {
    let choice = of_other(name(given))?;
    let open = choice.open(given);
    if open == [""] {
        bail!(
            "--allocator {given}: leave {} out: it is what tune finds",
            choice.keys.join(", ")
        );
    }
    let found = in_parallel(&open, |value| {
        let spec = Spec::parse(&with_keys(given, &[value]))?;
        let bytes = smallest_of_all(subjects, &spec, 1.2)?;
        progress.step("traces", "replayed", value);
        Ok(bytes.map(|bytes| Chosen::new(value, mean_over_live(subjects, &bytes))))
    })?;
    let choices: Vec<_> = found.into_iter().flatten().collect();
    let best = choices
        .iter()
        .min_by(|a, b| a.over_live.total_cmp(&b.over_live));
    let best = best.with_context(|| format!("{given}: cannot serve these traces"))?;
    Ok(Found {
        spec: with_keys(given, &[&best.choice]),
        sizes: None,
        over_live: best.over_live,
        counted: choices.len(),
        choices: choices.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::{EQUAL, find, gentlest};
    use crate::tune_cmd::count::smallest_region;
    use crate::tune_cmd::report::Chosen;
    use crate::tune_cmd::subject::Subject;
    use crate::tune_cmd::width::{options, with_width};
    use surefit_measure::progress::Progress;
    use surefit_measure::spec::Spec;
    use surefit_testkit::small_trace;

    /// The count is what a replay needs, to a page and what a heap's control structure takes.
    #[test]
    fn a_count_is_the_smallest_region_of_a_replay() {
        for seed in 1..=3 {
            let trace = small_trace(seed);
            let subject = Subject::load(&trace.path).expect("a trace");
            for keys in [
                "page=1K",
                "page=4K,width=24",
                "page=2K,pieces=2K,width=16",
                "keys",
            ] {
                let spec = Spec::parse(&format!("cf:k=1,{keys}")).expect("valid");
                let options = options(&spec).expect("cf");
                let page = options.config.geometry().page_bytes() as u64;
                let counted =
                    with_width!(options, W => smallest_region::<W>(&subject.run, &options.config));
                let counted = counted.expect("it serves the trace");
                let replayed = subject.smallest(&spec, counted).expect("memory");
                let replayed = replayed.expect("it serves the trace");
                // The bisection ends at 4 KiB.
                let most = counted + 2 * page + 4096;
                assert!(
                    (counted - page..most).contains(&replayed),
                    "{keys}: {counted} {replayed}"
                );
            }
        }
    }

    #[test]
    fn of_equal_bounds_that_which_copies_least_is_taken() {
        let bound = |choice: &str, over_live, moved| Chosen {
            moved_bytes_per_free: Some(moved),
            ..Chosen::new(choice, over_live)
        };
        let taken = |bounds: &[Chosen]| gentlest(bounds).map(|it| it.choice.clone());
        let least = bound("k=1", 1.1, 90.0);
        let equal = bound("k=4", 1.1 + EQUAL / 2.0, 5.0);
        let more = bound("holes=4", 1.1 + EQUAL * 2.0, 1.0);
        let all = [more.clone(), equal, least.clone()];
        assert_eq!(taken(&all).as_deref(), Some("k=4"));
        assert_eq!(taken(&[more, least]).as_deref(), Some("k=1"));
        assert_eq!(taken(&[]), None);
    }

    #[test]
    fn what_is_found_needs_no_more_than_the_default() {
        let trace = small_trace(9);
        let subject = Subject::load(&trace.path).expect("a trace");
        let spec = Spec::parse("cf:page=4K,width=32").expect("valid");
        let found = find(&[&subject], &spec, 30, &Progress::hidden()).expect("a configuration");
        let default = subject
            .smallest(&spec, 1 << 20)
            .expect("memory")
            .expect("served");
        assert!(found.over_live <= subject.over_live(default), "{found:?}");
        assert!(found.sizes.expect("classes").len() <= 30);
        assert!(Spec::parse(&found.spec).is_ok(), "{}", found.spec);
    }
}
