//! The threads and guards that use a shared heap at once.
#![deny(
    unsafe_code,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use surefit_classes::Geometry;

use crate::certify::budget::Spread;
use crate::certify::demand::ClassSet;

/// The threads and guards that use a shared heap at once.
///
/// # Examples
/// ```
/// use surefit_compact::certify::Sharing;
/// // Four threads, which together hold at most two guards at once.
/// let sharing = Sharing::new(4).with_guards(2);
/// assert_eq!(sharing.pins(), 5);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sharing {
    pub(super) instances: u32,
    pub(super) threads: u32,
    pub(super) guards: u32,
    pub(super) pinned: Option<ClassSet>,
    /// Whether the heap has other instances, which have demands of their own.
    pub(super) is_beside_others: bool,
}

impl Sharing {
    /// T threads that share one instance and hold no guards: registered threads, and threads that
    /// call `compact`.
    #[must_use]
    pub const fn new(threads: u32) -> Self {
        Self {
            instances: 1,
            threads: if threads == 0 { 1 } else { threads },
            guards: 0,
            pinned: None,
            is_beside_others: false,
        }
    }

    /// The same with up to `guards` objects of any class pinned at once by guards.
    ///
    /// A call in progress pins one object, which is counted separately. If threads access byte
    /// objects in pieces, count as guards what each of them pins besides that one: a piece, and a
    /// spine for every level.
    #[must_use]
    pub const fn with_guards(mut self, guards: u32) -> Self {
        self.guards = guards;
        self
    }

    /// The same with guards only on objects of these classes: other classes owe nothing because of
    /// guards.
    #[must_use]
    pub const fn with_pinned_classes(mut self, classes: ClassSet) -> Self {
        self.pinned = Some(classes);
        self
    }

    /// The same with G instances, between which objects are divided in any way: n-CF.
    #[must_use]
    pub const fn with_instances(mut self, instances: u32) -> Self {
        self.instances = if instances == 0 { 1 } else { instances };
        self
    }

    /// Π: the most objects that are pinned at once when a free looks for one to move: those of
    /// guards, and one for each of the other threads. `u32::MAX` if there are more, which
    /// [`certify_shared`](super::certify_shared) refuses.
    #[must_use]
    pub const fn pins(&self) -> u32 {
        self.guards.saturating_add(self.other_threads())
    }

    pub(super) const fn other_threads(&self) -> u32 {
        self.threads.saturating_sub(1)
    }

    pub(super) const fn spread(&self, geometry: &Geometry) -> Spread {
        Spread {
            instances: self.instances,
            busy: self.other_threads(),
            guards: self.guards,
            pinned: match self.pinned {
                Some(classes) => classes,
                None => ClassSet::all(geometry),
            },
        }
    }
}
