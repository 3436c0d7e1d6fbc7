//! How much of a shared heap one lock covers, chosen by type, and the section that a lock guards.
//!
//! ```text
//! PerHeap    one lock an instance         everything of the instance, one call at a time
//! PerClass   one lock a size-class        the default: calls in different classes run in parallel
//! PerPage    a lock a class and a page    M2 and F4 need only the page's; moves are whole (ι = ∞)
//! ```
//! Locks are [`lock_api::RawMutex`]es, so that a heap runs on an operating system's mutex, a spin lock, or a critical
//! section on bare metal.
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

/// A granularity under which moves may take several steps: a page lock is held over a whole move.
pub trait Stepwise: Granularity {}

/// One lock an instance.
#[derive(Clone, Copy, Debug)]
pub struct PerHeap;

/// One lock a size-class of an instance.
#[derive(Clone, Copy, Debug)]
pub struct PerClass;

/// One lock a size-class and one lock a page.
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
