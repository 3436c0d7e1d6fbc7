//! A list of return addresses.

use crate::log::MOST_FRAMES;

use super::entry;

/// Return addresses, the innermost first.
#[derive(Clone, Copy)]
pub(crate) struct Addresses {
    all: [usize; MOST_FRAMES],
    len: usize,
    most: usize,
}

impl Addresses {
    pub(super) fn new(most: usize) -> Self {
        Self {
            all: [0; MOST_FRAMES],
            len: 0,
            most: most.min(MOST_FRAMES),
        }
    }

    pub(crate) fn as_slice(&self) -> &[usize] {
        &self.all[..self.len]
    }

    /// Appends one, unless it is of this library; whether there is room for another.
    pub(super) fn push(&mut self, address: usize) -> bool {
        let is_ours = self.len == 0 && entry::is_ours(address);
        if !is_ours && self.len < self.most {
            self.all[self.len] = address;
            self.len += 1;
        }
        self.len < self.most
    }
}
