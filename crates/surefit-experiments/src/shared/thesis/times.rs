//! The three times of all programs: `gc-times` shows them, `gc-turn-around` compares them.

use std::sync::Arc;

use anyhow::Result;

use super::measured::{Measured, measure};
use super::recorded::{self, Recorded};
use crate::kit::Request;

/// A program and what was measured of it.
pub(crate) type Found = (Recorded, Arc<Measured>);

/// Measures all programs, or takes what was measured before.
///
/// # Errors
/// Bad input; the system gives no memory.
pub(crate) fn all(request: &Request) -> Result<Vec<Found>> {
    let clients = recorded::all(request)?
        .collect::<Result<Vec<_>>>()?
        .into_iter();
    let measured = clients.map(|client| {
        let measured = measure(&client, request)?;
        Ok((client, measured))
    });
    measured.collect()
}

/// How it was measured.
pub(crate) fn setting() -> Vec<String> {
    vec![
        "256 lists and a last one, which is searched from end to end, as the thesis's, unless it is said to be a tree; scan: heads are walked; \
         table: the Next Hit Table; bitmap: ours."
            .to_owned(),
        "Heaps are multiples of the common minimum: the smallest heap in which any of the strategies completes, all bytes \
         counted. Minima are found with the bitmap and a tree; \
         the table takes a little more room."
            .to_owned(),
        "Processor time, in interleaved rounds; allocation by batches between two walks of the recording, less the same without \
         allocating; updates of the table included; the clock's own cost is taken off."
            .to_owned(),
    ]
}
