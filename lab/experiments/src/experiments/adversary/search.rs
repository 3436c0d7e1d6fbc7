//! How many words a program needs on a system.
#![deny(unsafe_code)]

use anyhow::Result;

use super::ground::{Attempt, Ground};
use super::program::{BestFit, Program, Robson};

/// Nothing is tried beyond this multiple of the bound; a region of this multiple of the bound is
/// ample.
const AMPLE: u64 = 8;

/// What a system needs for a program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    /// Words below which the theory says that the program cannot end.
    pub(super) bound: u64,
    /// M: the most words live at once.
    pub(super) live: u64,
    /// In the largest region of fewer words than the bound.
    pub(super) below: Attempt,
    /// In the least region in which the program was seen to end; `None` if it never did.
    pub(super) least: Option<Attempt>,
    /// In an ample region.
    pub(super) ample: Attempt,
}

/// A program in an ample region.
///
/// # Errors
/// No region is as large.
pub(super) fn ample(ground: &mut impl Ground, best_fit: BestFit) -> Result<Attempt> {
    ground.at_least(AMPLE * best_fit.bound(), Program::BestFit(best_fit))
}

impl Found {
    /// The words that the program needs.
    pub(super) fn needed(&self) -> Option<u64> {
        self.least.map(|least| least.capacity)
    }

    /// The same, as a multiple of what is live.
    pub(super) fn ratio(&self) -> Option<f64> {
        Some(self.needed()? as f64 / self.live as f64)
    }

    /// Whether the program ended in fewer words than the bound.
    pub(super) fn is_below_bound(&self) -> bool {
        self.below.run.completed || self.needed().is_some_and(|needed| needed < self.bound)
    }
}

/// P_R: every capacity from the bound on, until the program ends.
///
/// # Errors
/// No region is as large.
pub(super) fn robson(ground: &mut impl Ground, robson: Robson) -> Result<Found> {
    let (program, bound) = (Program::Robson(robson), robson.bound());
    let below = ground.below(bound, program)?;
    let mut tried = ground.at_least(bound, program)?;
    while !tried.run.completed && tried.capacity < AMPLE * bound {
        tried = ground.at_least(tried.capacity + 1, program)?;
    }
    Ok(Found {
        bound,
        live: robson.live,
        below,
        least: Some(tried).filter(|tried| tried.run.completed),
        ample: ground.at_least(AMPLE * bound, program)?,
    })
}

/// The program against best fit. What it spans in an ample heap, or twice that and so on, is needed
/// if one word less is not enough. Else bisection between the live words and that, and then every
/// capacity of the m below what was found: since the program does not adapt to a heap that ends, a
/// larger heap is not always enough where a smaller one is.
///
/// # Errors
/// No region is as large.
pub(super) fn best_fit(ground: &mut impl Ground, best_fit: BestFit) -> Result<Found> {
    let program = Program::BestFit(best_fit);
    let (bound, live) = (best_fit.bound(), best_fit.live());
    let ample = ample(ground, best_fit)?;
    let mut words = ample.run.account.span().max(live);
    let mut spanned = ground.at_least(words, program)?;
    while !spanned.run.completed && words < AMPLE * bound {
        words *= 2;
        spanned = ground.at_least(words, program)?;
    }
    let enough = Some(spanned).filter(|spanned| spanned.run.completed);
    Ok(Found {
        bound,
        live,
        below: ground.below(bound, program)?,
        least: match enough {
            Some(enough) if ground.below(words, program)?.run.completed => {
                Some(less(ground, best_fit, enough)?)
            }
            enough => enough,
        },
        ample,
    })
}

/// The least capacity that suffices below one that does, as far as bisection finds it.
fn less(ground: &mut impl Ground, best_fit: BestFit, mut enough: Attempt) -> Result<Attempt> {
    let program = Program::BestFit(best_fit);
    let mut short = best_fit.live() - 1;
    while short + 1 < enough.capacity {
        let middle = short.midpoint(enough.capacity);
        let tried = ground.at_least(middle, program)?;
        if tried.run.completed && tried.capacity < enough.capacity {
            enough = tried;
        } else {
            short = middle;
        }
    }
    let near = enough.capacity.saturating_sub(best_fit.largest);
    for words in near.max(best_fit.live())..enough.capacity {
        let tried = ground.at_least(words, program)?;
        if tried.run.completed {
            return Ok(tried);
        }
    }
    Ok(enough)
}
