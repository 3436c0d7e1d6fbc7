//! The chart: rows for the growth of time, columns for the predictability of space, and the slides'
//! chart beside it.
#![deny(unsafe_code)]

use super::counts::Counts;
use super::scripts::{Operation, Parameter};
use super::space::Degrees;
use super::systems::{METRONOME, Space, System, Time};
use super::time::{Grown, exponent};
use crate::kit::{Claim, Grid, GridRow, Placed, Verdict, Whose};

/// What was measured of one system.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    /// The system.
    pub(super) system: System,
    /// Its counts; `None` without valgrind.
    pub(super) counts: Option<Counts>,
    /// Its degrees of fragmentation.
    pub(super) degrees: Degrees,
}

impl Measured {
    /// The row of an operation, and what it grows with.
    fn grown(&self, operation: Operation) -> Option<(Grown, Time)> {
        let grown = Grown::of(self.counts.as_ref()?, operation);
        let time = grown.time()?;
        Some((grown, time))
    }

    /// The operations that are in a cell, in words; `None` if none is.
    fn entry(&self, time: Time, space: Space) -> Option<String> {
        if self.degrees.space() != Some(space) {
            return None;
        }
        let words = |operation: &Operation| {
            let (grown, found) = self.grown(*operation)?;
            (found == time).then(|| in_words(*operation, &grown, time))
        };
        let operations: Vec<_> = Operation::ALL.iter().filter_map(words).collect();
        let name = self.system.name;
        (!operations.is_empty()).then(|| format!("{name}: {}", operations.join(", ")))
    }

    /// Whether an operation is where the slides have it; not comparable if it was not counted, its
    /// counts do not decide how it grows, or no order ran to its end.
    fn verdict(&self, operation: Operation, time: Time, space: Space) -> Verdict {
        let found = self.grown(operation).map(|(_, found)| found);
        let found = found.zip(self.degrees.space());
        Verdict::of(found.map(|found| found == (time, space)))
    }
}

/// `malloc (holes)`: an operation and what it grows with, unless that is the object's size.
fn in_words(operation: Operation, grown: &Grown, time: Time) -> String {
    let name = operation.name();
    match (time, grown.grows_with()) {
        (Time::Logarithmic | Time::Unbounded, with) => format!("{name} ({})", with.join(", ")),
        _ => name.to_owned(),
    }
}

/// The chart.
pub(super) fn grid(measured: &[Measured]) -> Grid {
    let row = |time: Time| GridRow {
        name: time.name().to_owned(),
        cells: Space::ALL.map(|space| cell(measured, time, space)).into(),
    };
    // the slides have no row for other powers: it is there only if something is in it
    let is_shown = |row: &GridRow, time: Time| {
        time != Time::Power || row.cells.iter().any(|cell| !cell.is_empty())
    };
    let rows = Time::ALL
        .into_iter()
        .map(|time| (row(time), time))
        .filter(|(row, time)| is_shown(row, *time))
        .map(|(row, _)| row);
    Grid {
        title: "Time by space: how the largest instruction count of an operation grows (with the object's size n; in brackets, \
                with live objects or holes), and whether the degree of fragmentation depends on the order of operations"
            .to_owned(),
        columns: Space::ALL.map(|space| format!("{} space", space.name())).into(),
        rows: rows.collect(),
        aside: METRONOME.to_owned(),
    }
}

fn cell(measured: &[Measured], time: Time, space: Space) -> Vec<Placed> {
    let ours = measured.iter().filter_map(|one| one.entry(time, space));
    let mut cell: Vec<_> = ours
        .map(|name| Placed {
            name,
            whose: Whose::Ours,
            verdict: None,
        })
        .collect();
    for one in measured {
        let slides = one.system.slides.filter(|slides| slides.space == space);
        for operation in Operation::ALL {
            if slides.and_then(|slides| slides.time(operation)) == Some(time) {
                cell.push(Placed {
                    name: format!("{}: {}", one.system.name, operation.name()),
                    whose: Whose::Papers,
                    verdict: Some(one.verdict(operation, time, space)),
                });
            }
        }
    }
    cell
}

/// A verdict for each system and operation of the slides.
pub(super) fn claims(measured: &[Measured]) -> Vec<Claim> {
    let mut claims = Vec::new();
    for one in measured {
        for operation in Operation::ALL {
            claims.extend(claim(one, operation));
        }
    }
    claims
}

fn claim(one: &Measured, operation: Operation) -> Option<Claim> {
    let slides = one.system.slides?;
    let (time, space) = (slides.time(operation)?, slides.space);
    let ours = match one.grown(operation) {
        None if one.counts.is_none() => "not counted".to_owned(),
        None => "not decided".to_owned(),
        Some((grown, time)) if grown.grows_with().is_empty() => time.name().to_owned(),
        Some((grown, time)) => format!("{} in {}", time.name(), grown.grows_with().join(", ")),
    };
    let found = one.degrees.space().map_or("not measured", Space::name);
    let spread = one.degrees.spread_percent().unwrap_or(0.0);
    Some(
        Claim::that(format!(
            "{} ({}): {} is {} in {} space",
            one.system.name,
            one.system.spec,
            operation.name(),
            time.name(),
            space.name()
        ))
        .of("chart")
        .papers(format!("{}, {}", time.name(), space.name()))
        .ours(format!(
            "{ours}, {found} (spread {spread:.1} %); {}",
            evidence(one, operation)
        ))
        .judged(
            one.verdict(operation, time, space),
            "it is in the slides' row and in their column: instructions fit a + b·nᵖ; O(1) if nothing rises any more, \
             O(log n) and O(n) if 0 or 1 is in the interval of p, give or take 0.1; predictable if every order leaves as many pieces of \
             every size; not comparable without valgrind, or if both 0 and 1 are in the interval",
        ),
    )
}

/// The largest counts at the least and at the greatest value of each parameter, and the power that
/// they grow with.
fn evidence(one: &Measured, operation: Operation) -> String {
    let Some(counts) = &one.counts else {
        return "valgrind is missing".to_owned();
    };
    let ends = |parameter: Parameter| {
        let largest = counts.largest(operation, parameter);
        let (first, last) = (largest.first()?.1, largest.last()?.1);
        let exponent = exponent(counts, operation, parameter);
        let exponent = exponent.map_or(String::new(), |exponent| format!(", p {exponent}"));
        Some(format!("{} {first} to {last}{exponent}", parameter.name()))
    };
    let ends: Vec<_> = Parameter::ALL.into_iter().filter_map(ends).collect();
    format!("instructions by {}", ends.join(", by "))
}

#[cfg(test)]
mod tests {
    use super::{Measured, claims, grid};
    use crate::experiments::overview::scripts::Operation;
    use crate::experiments::overview::space::Degrees;
    use crate::experiments::overview::systems::{Slides, Space, System, Time};
    use crate::experiments::overview::time::tests::counts;
    use crate::kit::{Verdict, Whose};

    const SEARCHES: fn(f64) -> f64 = |n| 100.0 + 16.0 * n;
    const FINDS: fn(f64) -> f64 = |_| 100.0;

    fn measured(holes: fn(f64) -> f64, degrees: (u64, u64)) -> Measured {
        Measured {
            system: System {
                name: "FF",
                spec: "first-fit",
                slides: Some(Slides {
                    space: Space::Unpredictable,
                    times: &[(Operation::Malloc, Time::Unbounded)],
                }),
            },
            counts: Some(counts(Operation::Malloc, [FINDS, holes, FINDS])),
            degrees: Degrees([Some(degrees); 4]),
        }
    }

    fn verdict(measured: Measured) -> Verdict {
        let claims = claims(&[measured]);
        assert_eq!(claims.len(), 1);
        claims[0].verdict
    }

    #[test]
    fn a_claim_holds_in_its_row_and_column_only() {
        assert_eq!(verdict(measured(SEARCHES, (3, 9))), Verdict::Holds);
        assert_eq!(verdict(measured(FINDS, (3, 9))), Verdict::DoesNot);
        assert_eq!(verdict(measured(SEARCHES, (9, 9))), Verdict::DoesNot);
        let uncounted = Measured {
            counts: None,
            ..measured(SEARCHES, (3, 9))
        };
        assert_eq!(verdict(uncounted), Verdict::NotComparable);
    }

    #[test]
    fn the_chart_has_what_was_measured_beside_the_slides() {
        let grid = grid(&[measured(FINDS, (3, 9))]);
        let cell = &grid.rows[0].cells[0];
        assert_eq!(cell.len(), 1);
        assert_eq!(
            (cell[0].name.as_str(), cell[0].whose),
            ("FF: malloc", Whose::Ours)
        );
        let theirs = &grid.rows[3].cells[0][0];
        assert_eq!(theirs.whose, Whose::Papers);
        assert_eq!(theirs.verdict, Some(Verdict::DoesNot));
        assert!(grid.rows.iter().all(|row| row.cells[1].is_empty()));
        assert_eq!(grid.rows.len(), 4, "no row for other powers");
        assert!(grid.aside.starts_with("Metronome"));
    }
}
