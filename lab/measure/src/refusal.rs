//! Why a replay stopped, as names for programs.

use crate::passes::replay::{Stop, Stopped};
use crate::results::ReplayError;

use surefit_core::Refused;

/// The name of a refusal, for programs.
#[must_use]
pub fn refusal_kind(refused: Refused) -> &'static str {
    match refused {
        Refused::NoPage => "no_page",
        Refused::NoHandle => "no_handle",
        Refused::NoChunk => "no_chunk",
        Refused::TooLarge { .. } => "too_large",
        Refused::TooAligned { .. } => "too_aligned",
        Refused::Region { .. } => "region_too_small",
        Refused::Limit { .. } => "limit",
        Refused::ForeignHandle | Refused::StaleHandle => "handle",
        _ => "other",
    }
}

/// The row's error for a replay that stopped. If the allocator broke a rule, this call fails.
///
/// # Errors
/// [`crate::error::Broken`] if the allocator broke a rule.
pub fn stopped(allocator: &str, stopped: &Stopped) -> anyhow::Result<ReplayError> {
    match &stopped.stop {
        Stop::Refused(refused) => Ok(ReplayError {
            kind: refusal_kind(*refused).to_owned(),
            event: stopped.event as u64,
        }),
        Stop::Broken(what) => Err(crate::error::Broken(format!(
            "{allocator}: event {}: {what}",
            stopped.event
        ))
        .into()),
    }
}
