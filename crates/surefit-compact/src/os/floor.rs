//! The memory that a heap never gives back, and that never waits for the kernel.
#![deny(unsafe_code)]

use crate::certify::Certificate;

/// The memory that an [`OsHeap`](super::OsHeap) locks before its first call: what stays within it
/// never waits for the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Floor {
    /// Bytes of the pages in which objects lie. They are rounded up to whole pages.
    pub page_bytes: usize,
    /// Objects at once, every piece of a long one counted: each has an entry of the address table.
    pub objects: usize,
}

impl Floor {
    /// The floor for a certified demand: a program that keeps to the demand never leaves it.
    #[must_use]
    pub fn of(certificate: &Certificate) -> Self {
        Self {
            page_bytes: certificate.parts.data_page_bytes,
            objects: usize::try_from(certificate.entries).unwrap_or(usize::MAX),
        }
    }
}
