//! What other tools get of a trace's call sites: frames, and fragmentation by stack.

use std::path::Path;

use anyhow::Result;
use surefit_formats::export::{Frame, UNKNOWN, frames_without_call_sites, without_call_sites};
use surefit_measure::error::{one_line, say};
use surefit_measure::passes::holes::{SiteHoles, by_site};
use surefit_measure::sizes::HeapSize;
use surefit_measure::source::Source;
use surefit_measure::spec::Spec;
use surefit_trace::{Event, Sites, Stack};

/// The heap whose fragmentation is exported.
pub(super) const HEAP: &str = "cf";

/// From where the events of a trace were called.
pub(super) struct CallSites(Option<Sites>);

impl CallSites {
    /// Those of a trace's table; threads and size-classes stand in for none.
    pub(super) fn new(sites: Option<&Sites>) -> Self {
        Self(sites.cloned())
    }

    /// Whether they are known.
    pub(super) fn are_known(&self) -> bool {
        self.0.is_some()
    }

    /// The number of the stack of an event.
    pub(super) fn number(&self, event: Event, stack: Stack) -> u64 {
        match self.are_known() {
            true => stack.number().into(),
            false => without_call_sites(event),
        }
    }

    /// The frames of such a number, the innermost first. An unknown stack has none.
    pub(super) fn frames(&self, number: u64, stack: Stack) -> Vec<Frame> {
        let Some(sites) = &self.0 else {
            return frames_without_call_sites(number);
        };
        let frame = |frame: surefit_trace::Frame<'_>| Frame {
            function: frame.function.unwrap_or_default().to_owned(),
            module: frame.module.to_owned(),
            address: frame.offset,
            ..Frame::default()
        };
        sites.frames(stack).map(frame).collect()
    }

    /// As [`CallSites::frames`]; one frame says that a stack is unknown.
    pub(super) fn named_frames(&self, number: u64, stack: Stack) -> Vec<Frame> {
        match self.are_known() && number == UNKNOWN {
            true => vec![Frame {
                function: "(not known)".to_owned(),
                ..Frame::default()
            }],
            false => self.frames(number, stack),
        }
    }
}

/// The bytes of holes that the objects of each stack keep in the worst valley; the sum is the
/// heap's own.
///
/// `None`, and a line that says why, for a trace that is not replayed: it comes from a pipe, is too
/// long for memory, or does not complete.
pub(super) fn fragmentation(file: &Path) -> Option<Vec<(u64, u64)>> {
    if !file.is_file() {
        return None;
    }
    match holes(file) {
        Ok(holes) => Some(whole_bytes(&holes)),
        Err(error) => {
            let why = one_line(&format!("{error:#}"));
            say(&format!(
                "{}: the profile has no fragmentation: {why}\n",
                file.display()
            ));
            None
        }
    }
}

fn holes(file: &Path) -> Result<Vec<SiteHoles>> {
    let Source { trace, steps, .. } = Source::load(file, None)?;
    let usual = HeapSize::DEFAULT.bytes(steps.peak_live_bytes);
    let heap = HeapSize::Bytes(usual.max(LEAST_HEAP));
    Ok(by_site(&trace, &steps, &Spec::parse(HEAP)?, heap)?.sites)
}

/// The least heap, in bytes: four times the peak of a tiny program has no room for pages.
const LEAST_HEAP: usize = 16 << 20;

/// Whole bytes of each stack. What is rounded off one goes to the next, so that the sum stays.
fn whole_bytes(holes: &[SiteHoles]) -> Vec<(u64, u64)> {
    let (mut sum, mut given) = (0.0, 0);
    let bytes = |site: &SiteHoles| {
        sum += site.hole_bytes;
        let bytes = (f64::round(sum) as u64).saturating_sub(given);
        given += bytes;
        (u64::from(site.stack.number()), bytes)
    };
    holes.iter().map(bytes).collect()
}

#[cfg(test)]
mod tests {
    use surefit_measure::passes::holes::SiteHoles;

    use super::whole_bytes;

    #[test]
    fn parts_of_bytes_are_not_lost() {
        let hole = |hole_bytes| SiteHoles {
            hole_bytes,
            ..SiteHoles::default()
        };
        let bytes = whole_bytes(&[hole(10.4), hole(0.4), hole(0.4), hole(0.8)]);
        let bytes: Vec<_> = bytes.into_iter().map(|(_, bytes)| bytes).collect();
        assert_eq!(bytes, [10, 1, 0, 1]);
    }
}
