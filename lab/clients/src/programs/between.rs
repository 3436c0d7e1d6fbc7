//! What happens between two steps of a program, and why a program stops.

use surefit_core::Refused;
use surefit_freelist::Index;
use surefit_gc::{Arena, Full, Rootable};

/// What happens to an arena between two steps of a program.
pub trait Between {
    /// Called before a step that may allocate up to `bytes` bytes.
    ///
    /// # Errors
    /// [`Full`] if there is not enough room.
    fn step<R: for<'gc> Rootable<'gc> + ?Sized, I: Index>(
        &mut self,
        arena: &mut Arena<'_, R, I>,
        room: usize,
    ) -> Result<(), Full>;
}

/// Collects when there is no room for the next step.
#[derive(Clone, Copy, Debug, Default)]
pub struct Collecting;

impl Between for Collecting {
    fn step<R: for<'gc> Rootable<'gc> + ?Sized, I: Index>(
        &mut self,
        arena: &mut Arena<'_, R, I>,
        room: usize,
    ) -> Result<(), Full> {
        arena.ensure(room)
    }
}

/// Why a program did not complete.
#[derive(Debug, thiserror::Error)]
pub enum Stopped {
    /// The arena could not be made.
    #[error("the region cannot be used: {0}")]
    Region(#[from] Refused),
    /// There was no room for an object.
    #[error(transparent)]
    Full(#[from] Full),
}
