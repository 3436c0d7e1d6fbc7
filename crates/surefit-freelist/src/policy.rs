//! When neighbouring free chunks are merged: never, on demand, or at once.
//!
//! ```text
//! Never      free(c): c stays as it is
//! Deferred   free(c): c stays as it is
//!            a search of the last list merges each visited chunk with neighbours in that list
//!            allocate(n) finds no chunk: merge every group of free neighbours, then try once more
//! Immediate  free(c): merge c with both neighbours, if they are free
//! ```
//! All policies keep boundary tags. So a resize takes the room of free neighbours under each
//! policy; where chunks are not merged at once, it takes only as many as it needs.
//!
//! # Source
//! The thesis on free-list organisation, its three coalescing strategies.
#![deny(unsafe_code)]

/// When free neighbours are merged: one value for each type that implements [`Coalescing`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Never.
    Never,
    /// When the last list is searched, and when a request finds no chunk.
    Deferred,
    /// When a chunk becomes free.
    Immediate,
}

impl When {
    /// Whether no two free chunks are ever neighbours.
    #[inline]
    pub(crate) const fn is_immediate(self) -> bool {
        matches!(self, Self::Immediate)
    }

    /// Whether merging waits until room is needed.
    #[inline]
    pub(crate) const fn is_deferred(self) -> bool {
        matches!(self, Self::Deferred)
    }
}

/// When free neighbours are merged, as a type parameter: [`Never`], [`Deferred`] or [`Immediate`].
pub trait Coalescing {
    /// The policy as a value.
    const WHEN: When;
}

/// Free chunks stay as they are; only a resize changes them.
#[derive(Clone, Copy, Debug)]
pub struct Never;

/// Free chunks stay as they are until the last list is searched, or until a request finds no chunk.
///
/// A refused request has merged all free neighbours: objects are unchanged, but some headers have
/// become free bytes. Each refusal takes time linear in the chunks of the region.
#[derive(Clone, Copy, Debug)]
pub struct Deferred;

/// A chunk that becomes free is merged with its free neighbours through boundary tags, in constant
/// time.
#[derive(Clone, Copy, Debug)]
pub struct Immediate;

impl Coalescing for Never {
    const WHEN: When = When::Never;
}

impl Coalescing for Deferred {
    const WHEN: When = When::Deferred;
}

impl Coalescing for Immediate {
    const WHEN: When = When::Immediate;
}
