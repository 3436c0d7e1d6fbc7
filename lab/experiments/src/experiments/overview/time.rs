//! From counts to rows of the chart.
//!
//! ```text
//! unbounded   the largest count grows with the live objects or the holes, and faster than a logarithm
//! O(n)        not so, but like the object's size
//! n^a         not so, but like another power of the object's size
//! O(log n)    not so, but like a logarithm of one of the three
//! O(1)        with none of them
//! ```
//! The rules of each growth are those of [`growth`](crate::shared::growth).
#![deny(unsafe_code)]

use super::counts::Counts;
use super::scripts::{Operation, Parameter};
use super::systems::Time;
use crate::shared::growth::{Exponent, Growth, is_constant, power};

/// How one operation of a system grows with each parameter; `None` where the counts do not decide.
#[derive(Clone, Debug)]
pub(super) struct Grown([(Parameter, Option<Growth>); 3]);

impl Grown {
    /// The growth with every parameter.
    pub(super) fn of(counts: &Counts, operation: Operation) -> Self {
        Self(Parameter::ALL.map(|parameter| {
            let points = points(counts, operation, parameter);
            (parameter, Growth::of(&points))
        }))
    }

    /// The row of the chart; `None` if the counts do not decide it.
    pub(super) fn time(&self) -> Option<Time> {
        let [heap, holes, size] = self.0.map(|(_, growth)| growth);
        let faster = |growth: Option<Growth>| growth.map(|growth| growth >= Growth::Linear);
        match (faster(heap), faster(holes)) {
            (Some(true), _) | (_, Some(true)) => return Some(Time::Unbounded),
            (Some(false), Some(false)) => {}
            _ => return None,
        }
        let is_log = [heap, holes, size].contains(&Some(Growth::Logarithmic));
        Some(match size? {
            Growth::Linear => Time::Linear,
            Growth::Power => Time::Power,
            _ if is_log => Time::Logarithmic,
            _ => Time::Constant,
        })
    }

    /// What makes it grow: the parameters of the growth that decided the row.
    pub(super) fn grows_with(&self) -> Vec<&'static str> {
        let decides = |growth: Growth| match self.time() {
            None | Some(Time::Constant) => false,
            Some(Time::Logarithmic) => growth == Growth::Logarithmic,
            Some(_) => growth >= Growth::Linear,
        };
        let of = self
            .0
            .iter()
            .filter(|(_, growth)| growth.is_some_and(decides));
        of.map(|(parameter, _)| parameter.name()).collect()
    }
}

/// The largest counts of an operation, for a fit.
pub(super) fn points(
    counts: &Counts,
    operation: Operation,
    parameter: Parameter,
) -> Vec<(f64, f64)> {
    let largest = counts.largest(operation, parameter);
    let points = largest.iter().map(|&(n, count)| (n as f64, count as f64));
    points.collect()
}

/// The power of the parameter that fits a count best; `None` if it does not grow.
pub(super) fn exponent(
    counts: &Counts,
    operation: Operation,
    parameter: Parameter,
) -> Option<Exponent> {
    let points = points(counts, operation, parameter);
    let grows = is_constant(&points) != Some(true);
    power(&points).filter(|_| grows)
}

#[cfg(test)]
pub(super) mod tests {
    use super::{Counts, Grown, Operation, Parameter, Time};
    use crate::experiments::overview::scripts::Call;

    /// A count by the value of a parameter.
    type Law = fn(f64) -> f64;

    /// Counts of an operation that grow as given with live objects, holes and size.
    pub(in crate::experiments::overview) fn counts(
        operation: Operation,
        grown: [Law; 3],
    ) -> Counts {
        let calls = Parameter::ALL
            .into_iter()
            .zip(grown)
            .flat_map(|(parameter, grown)| {
                parameter.values(false).iter().map(move |&value| {
                    let call = Call {
                        parameter,
                        value,
                        operation,
                        is_refused: false,
                    };
                    (call, grown(value as f64) as u64)
                })
            });
        Counts::new(calls.collect())
    }

    fn time(grown: [Law; 3]) -> (Time, Vec<&'static str>) {
        let grown = Grown::of(&counts(Operation::Free, grown), Operation::Free);
        (grown.time().expect("decided"), grown.grows_with())
    }

    #[test]
    fn the_worst_growth_that_the_program_cannot_know_decides() {
        let same: Law = |_| 50.0;
        let log: Law = |n| 50.0 * n.log2();
        let linear: Law = |n| 50.0 + n;
        assert_eq!(time([same; 3]), (Time::Constant, vec![]));
        assert_eq!(time([same, log, same]), (Time::Logarithmic, vec!["holes"]));
        assert_eq!(time([log, log, linear]), (Time::Linear, vec!["size"]));
        assert_eq!(
            time([same, linear, linear]),
            (Time::Unbounded, vec!["holes", "size"])
        );
        assert_eq!(time([linear, same, same]), (Time::Unbounded, vec!["heap"]));
        let square: Law = |n| 50.0 + n * n;
        assert_eq!(time([same, same, square]), (Time::Power, vec!["size"]));
        assert_eq!(time([same, square, linear]).0, Time::Unbounded);
    }

    #[test]
    fn what_was_not_counted_has_no_row() {
        let counts = counts(Operation::Free, [|_| 1.0; 3]);
        assert_eq!(Grown::of(&counts, Operation::Malloc).time(), None);
    }

    #[test]
    fn holes_alone_make_it_unbounded_where_sizes_decide_nothing() {
        let late: Law = |n| if n > 500_000.0 { 9000.0 } else { 50.0 };
        let linear: Law = |n| 50.0 + n;
        let same: Law = |_| 50.0;
        let of = |grown| Grown::of(&counts(Operation::Free, grown), Operation::Free).time();
        assert_eq!(of([same, linear, late]), Some(Time::Unbounded));
        assert_eq!(of([same, same, late]), None);
        assert_eq!(of([late, same, same]), None);
    }
}
