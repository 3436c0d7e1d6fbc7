//! The kinds of calls that are told apart, by what they did.

/// How many kinds there are.
pub const EVENTS: usize = 9;

/// A kind of call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// An allocation from a page that is open: M2 or M3; with raw pointers, every allocation.
    Alloc,
    /// An allocation that opens a page: M1.
    AllocOpens,
    /// An allocation that is refused.
    AllocRefused,
    /// A free without a move: F1 or F4; with raw pointers, every free.
    Free,
    /// A free that releases a page: F5.
    FreeReleases,
    /// A free with a move: F2.
    FreeMoves,
    /// A free with a move that releases a page: F3.
    FreeMovesReleases,
    /// The address of an object's bytes.
    Access,
    /// A resize.
    Resize,
}

/// All kinds, in the order of their numbers.
pub const ALL: [Event; EVENTS] = [
    Event::Alloc,
    Event::AllocOpens,
    Event::AllocRefused,
    Event::Free,
    Event::FreeReleases,
    Event::FreeMoves,
    Event::FreeMovesReleases,
    Event::Access,
    Event::Resize,
];

impl Event {
    /// Its name in the table, for a heap of handles or one of raw pointers.
    pub const fn name(self, handles: bool) -> &'static str {
        match self {
            Self::Alloc if handles => "alloc M2/M3",
            Self::Alloc => "malloc",
            Self::AllocOpens => "alloc M1",
            Self::AllocRefused if handles => "alloc refused",
            Self::AllocRefused => "malloc refused",
            Self::Free if handles => "free F1/F4",
            Self::Free => "free",
            Self::FreeReleases => "free F5",
            Self::FreeMoves => "free F2",
            Self::FreeMovesReleases => "free F3",
            Self::Access => "access",
            Self::Resize => "resize",
        }
    }
}
