//! Objects and their bytes, counted.
#![deny(unsafe_code)]

/// Objects and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) objects: u64,
    pub(super) bytes: u64,
}

impl Count {
    pub(super) const fn add(&mut self, bytes: u64) {
        self.objects += 1;
        self.bytes += bytes;
    }

    /// The space may count more bytes than the words have, so what is left is not exact.
    pub(super) const fn remove(&mut self, bytes: u64) {
        self.objects -= 1;
        self.bytes = self.bytes.saturating_sub(bytes);
    }

    pub(super) const fn without(self, other: Self) -> Self {
        Self {
            objects: self.objects - other.objects,
            bytes: self.bytes.saturating_sub(other.bytes),
        }
    }
}
