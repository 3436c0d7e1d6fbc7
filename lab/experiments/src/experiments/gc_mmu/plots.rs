//! Utilisation against the window, for every program in the smaller heap.
#![deny(unsafe_code)]

use super::measure::{Found, InHeap, Run, WINDOWS};
use super::schedules::Kind;
use crate::kit::{Axis, Plot, Series};

/// One for each program and space.
pub(super) fn all(found: &[Found]) -> Vec<Plot> {
    let heaps = found
        .iter()
        .filter_map(|one| Some((one, one.heaps.first()?)));
    heaps.map(|(one, heap)| plot(one, heap)).collect()
}

fn plot(found: &Found, heap: &InHeap) -> Plot {
    // A schedule that did not run here keeps its colour: an empty line.
    let mut series: Vec<Series> = [Kind::Stop]
        .into_iter()
        .chain(Kind::IN_STEPS)
        .map(|kind| line(heap, kind))
        .collect();
    series.extend(heap.runs.iter().filter_map(promised));
    Plot {
        title: format!("{}: least utilisation at {}x", found.name(), heap.multiple),
        x: Axis::logarithmic("window, ticks"),
        y: Axis::from_zero("% of a window"),
        series,
    }
}

fn line(heap: &InHeap, kind: Kind) -> Series {
    let run = heap.run(kind);
    let points = WINDOWS
        .iter()
        .filter_map(|&window| Some((window as f64, 100.0 * run?.utilisation(window)?)));
    Series::new(kind.name(), points.collect::<Vec<_>>())
}

/// The formula of its quanta, where the run has windows as long.
fn promised(run: &Run) -> Option<Series> {
    run.quanta?;
    let points = WINDOWS.iter().filter_map(|&window| {
        run.utilisation(window)?;
        Some((window as f64, 100.0 * run.formula(window)?))
    });
    let name = run.kind.name().replace("by time", "u(Δ)");
    Some(Series::papers(name, points.collect::<Vec<_>>()))
}

#[cfg(test)]
#[expect(
    clippy::single_range_in_vec_init,
    reason = "a list of one pause, not of its ticks"
)]
mod tests {
    use super::super::measure::tests::{found, run};
    use super::super::schedules::Kind;
    use super::all;

    #[test]
    fn the_formula_is_drawn_beside_the_schedules_that_ran() {
        let runs = vec![run(Kind::Stop, &[0..90]), run(Kind::Time(3, 1), &[0..10])];
        let plots = all(&[found(runs)]);
        let drawn = || {
            plots[0]
                .series
                .iter()
                .filter(|line| !line.points.is_empty())
        };
        let names: Vec<_> = drawn().map(|line| &line.name).collect();
        assert_eq!(names, ["stop the world", "by time 3:1", "u(Δ) 3:1, paper"]);
        assert!(drawn().all(|line| line.points.len() == 4));
    }
}
