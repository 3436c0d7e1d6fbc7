//! The mark stack: a fixed number of entries.
//!
//! An entry is an object and the slot from which it is to be scanned, in one word. A push returns
//! whether there was room. The caller makes an object grey that did not fit; it is found again by
//! its mark bits. So a full stack costs only time.
#![deny(unsafe_code)]

use crate::object::Object;

/// Objects that are to be scanned, newest first.
#[derive(Debug)]
pub(crate) struct Stack<'m> {
    entries: &'m mut [u64],
    len: usize,
    /// The maximum number of entries so far.
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

    /// The stack in these words as it was left, with so many entries.
    pub(crate) const fn resumed(entries: &'m mut [u64], len: usize, deepest: usize) -> Self {
        Self {
            entries,
            len,
            deepest,
        }
    }

    /// How many entries there are.
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// The maximum number of entries so far.
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
