//! The mark stack: so many entries and no more.
//!
//! An entry is an object and the slot from which it is to be scanned, in one word. Who pushes is told whether it fitted;
//! what does not fit stays grey and is found by its mark bits, so a full stack costs time and nothing else.
#![deny(unsafe_code)]

use crate::space::Object;

/// Objects to be scanned, the newest first.
#[derive(Debug)]
pub(crate) struct Stack<'m> {
    entries: &'m mut [u64],
    len: usize,
    /// The most entries there were.
    deepest: usize,
}

impl<'m> Stack<'m> {
    /// An empty stack in these words.
    pub(crate) const fn over(entries: &'m mut [u64]) -> Self {
        Self {
            entries,
            len: 0,
            deepest: 0,
        }
    }

    /// The most entries that there were at once.
    pub(crate) const fn deepest(&self) -> usize {
        self.deepest
    }

    /// Pushes an object to be scanned from a slot on; returns whether there was room.
    #[inline]
    pub(crate) fn push(&mut self, object: Object, from: u32) -> bool {
        let Some(entry) = self.entries.get_mut(self.len) else {
            return false;
        };
        *entry = u64::from(object.number()) << 32 | u64::from(from);
        self.len += 1;
        self.deepest = self.deepest.max(self.len);
        true
    }

    /// Pops the newest entry.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<(Object, u32)> {
        let top = self.len.checked_sub(1)?;
        let entry = self.entries[top];
        self.len = top;
        Some((Object::of((entry >> 32) as u32)?, entry as u32))
    }
}
