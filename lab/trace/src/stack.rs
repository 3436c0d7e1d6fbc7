//! The name of a stack of calls.

/// The number of a stack in the table of its trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stack(u32);

impl Stack {
    /// Nobody knows who called.
    pub const UNKNOWN: Self = Self(0);

    /// Whether it is in the table.
    #[must_use]
    pub const fn is_known(self) -> bool {
        self.0 != 0
    }

    /// The stack of this number.
    pub(crate) const fn numbered(number: u32) -> Self {
        Self(number)
    }

    /// Unknown, and then every stack of a table of so many less one.
    pub(crate) fn all(count: usize) -> impl Iterator<Item = Self> {
        (0..=u32::MAX).take(count).map(Self)
    }

    /// The number: from 1 in the order of the table; 0 for [`Stack::UNKNOWN`].
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0
    }
}
