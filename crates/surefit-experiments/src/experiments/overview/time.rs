//! From counts to rows of the chart.
//!
//! ```text
//! unbounded   the largest count grows like a power of the live objects or of the holes
//! O(n)        not so, but like a power of the object's size
//! O(log n)    not so, but like a logarithm of one of the three
//! O(1)        with none of them
//! ```
#![deny(unsafe_code)]

use super::counts::Counts;
use super::growth::Growth;
use super::scripts::{Operation, Parameter};
use super::systems::Time;

/// How one operation of a system grows with each parameter.
#[derive(Clone, Debug)]
pub(super) struct Grown([(Parameter, Growth); 3]);

impl Grown {
    /// The growth with every parameter; `None` if one of them has too few counts.
    pub(super) fn of(counts: &Counts, operation: Operation) -> Option<Self> {
        let of = |parameter| Growth::of(&counts.largest(operation, parameter));
        let [heap, holes, size] = Parameter::ALL;
        Some(Self([
            (heap, of(heap)?),
            (holes, of(holes)?),
            (size, of(size)?),
        ]))
    }

    /// The row of the chart.
    pub(super) fn time(&self) -> Time {
        let has = |growth, of: &[Parameter]| {
            let mut grown = self.0.iter();
            grown.any(|(parameter, by)| of.contains(parameter) && *by == growth)
        };
        if has(Growth::Power, &[Parameter::Heap, Parameter::Holes]) {
            Time::Unbounded
        } else if has(Growth::Power, &[Parameter::Size]) {
            Time::Linear
        } else if has(Growth::Logarithmic, &Parameter::ALL) {
            Time::Logarithmic
        } else {
            Time::Constant
        }
    }

    /// What makes it grow: the parameters of the growth that decided the row.
    pub(super) fn grows_with(&self) -> Vec<&'static str> {
        let deciding = match self.time() {
            Time::Constant => return Vec::new(),
            Time::Logarithmic => Growth::Logarithmic,
            Time::Linear | Time::Unbounded => Growth::Power,
        };
        let of = self.0.iter().filter(|(_, growth)| *growth == deciding);
        of.map(|(parameter, _)| parameter.name()).collect()
    }
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
        let grown = Grown::of(&counts(Operation::Free, grown), Operation::Free).expect("counted");
        (grown.time(), grown.grows_with())
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
    }

    #[test]
    fn what_was_not_counted_has_no_row() {
        let counts = counts(Operation::Free, [|_| 1.0; 3]);
        assert!(Grown::of(&counts, Operation::Malloc).is_none());
    }
}
