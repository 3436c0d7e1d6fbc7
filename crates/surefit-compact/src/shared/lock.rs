//! How much of a shared heap one lock covers. A type parameter chooses it.
//!
//! ```text
//! PerHeap    one lock per instance       one call at a time in an instance
//! PerClass   one lock per size-class     the default: calls in different classes run in parallel
//! PerPage    one per class and page      M2 and F4 need only the page's; moves are whole (ι = ∞)
//! ```
//! A lock is any [`lock_api::RawMutex`]. So a heap runs with the mutex of an operating system, with
//! a spin lock, or with a critical section on bare metal.
//!
//! # Source
//! Craciunas et al. (2009): lock granularities of concurrent Compact-fit.
#![deny(unsafe_code)]

mod sealed {
    pub trait Sealed {}
}

/// How much one lock covers.
pub trait Granularity: sealed::Sealed + core::fmt::Debug + Send + Sync + 'static {
    /// Whether pages have locks of their own.
    const PAGES: bool;
    /// Whether all classes of an instance share one lock.
    const ONE: bool;
}

/// A granularity under which a move may take several steps. `PerPage` is none, because a page lock
/// is held over a whole move.
pub trait Stepwise: Granularity {}

/// One lock per instance.
#[derive(Clone, Copy, Debug)]
pub struct PerHeap;

/// One lock per size-class of an instance.
#[derive(Clone, Copy, Debug)]
pub struct PerClass;

/// One lock per size-class and one lock per page.
#[derive(Clone, Copy, Debug)]
pub struct PerPage;

impl sealed::Sealed for PerHeap {}
impl sealed::Sealed for PerClass {}
impl sealed::Sealed for PerPage {}

impl Granularity for PerHeap {
    const PAGES: bool = false;
    const ONE: bool = true;
}

impl Granularity for PerClass {
    const PAGES: bool = false;
    const ONE: bool = false;
}

impl Granularity for PerPage {
    const PAGES: bool = true;
    const ONE: bool = false;
}

impl Stepwise for PerHeap {}
impl Stepwise for PerClass {}
