//! What is measured, and how often.
#![deny(unsafe_code)]

use surefit_freelist::When;

use crate::kit::Request;

/// What is measured.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) merges: Vec<When>,
    /// Heaps in multiples of the smallest.
    pub(super) multiples: Vec<f64>,
    /// Nurseries in bytes.
    pub(super) nurseries: Vec<u32>,
    /// Heaps for two generations, in multiples of the smallest.
    pub(super) births: Vec<f64>,
    pub(super) rounds: u32,
}

impl Plan {
    pub(super) fn of(request: &Request) -> Self {
        let is_quick = request.quick;
        let first = |all: usize| if is_quick { 1 } else { all };
        Self {
            merges: [When::Immediate, When::Deferred][..first(2)].to_vec(),
            multiples: vec![2.0],
            nurseries: [64 << 10, 256 << 10][..first(2)].to_vec(),
            births: [2.0, 3.0][..first(2)].to_vec(),
            rounds: request.rounds.unwrap_or(if is_quick { 1 } else { 2 }),
        }
    }
}
