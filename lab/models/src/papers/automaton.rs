//! The decisions of the papers' incremental automaton.
//!
//! An object in motion occupies two page-blocks, its *source* and its *target*. The papers count it
//! at its target from the first step on: the target is used, and the source is neither used nor
//! free.
//!
//! ```text
//! page         u used blocks, s source blocks of π
//! free         u = 0, s = 0
//! not-full     0 < u < π, s = 0      serves allocations
//! full         u = π, s = 0
//! source       u > 0, s > 0          serves no allocation
//! emptying     u = 0, s > 0          serves no allocation; becomes free
//!
//! malloc       no not-full page      M1  open a page, even beside a source page
//!              else                  M2, M3 in a not-full page
//! free         source page           u − 1; emptying if that is 0 (no compaction)
//!              not-full page         F4, F5
//!              full page, n < κ      F1
//!              full page, n ≥ κ      F2: begin a move of a block of the source page, or of a
//!                                    not-full page if there is no source page, into the freed one.
//!                                    That page becomes a source page; F3: an emptying page
//! step         at most ι bytes; the lock of the class is free between steps
//! final step   s − 1: source → not-full and emptying → free, when s = 0
//! X1           the object in motion is freed: final step without a copy, then free of the target
//! X2           another free while a move is suspended: the rules above, with n as it is now
//! X3           the victim is the target of an unfinished move: a new move takes the object from the
//!              original source, and the old move ends
//! X4           the victim is a source block: cannot happen, it is not used
//! ```
//! [`malloc`](surefit_classes::automaton::malloc) and
//! [`step`](surefit_classes::automaton::incremental::step) of surefit-compact are the same there.
//!
//! # Bounds
//! Every function is O(1) in time and space. In every state with m moves in flight,
//!
//! ```text
//! source pages     ≤ 1                        a page becomes one only if there is none
//! not-full+source  ≤ κ + 1                    as the papers count; with the strict rule max(κ, 2)
//! emptying pages   ≤ m
//! pages            ≤ ⌊(h + k(π − 1))/π⌋ + m   k = the line above, at most h
//! transient        ≤ m·π page-blocks          a page for each move
//! ```

/// What F1 compares with κ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Counting {
    /// The not-full pages, as the papers do. A page that becomes a source page leaves their
    /// number, another free may raise it to κ again, and then the page comes back: κ + 1.
    Original,
    /// Not-full and source pages together.
    Strict,
}

/// The numbers of a class that decide a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassCounts {
    /// Not-full pages n.
    pub not_full: u32,
    /// Source pages.
    pub sources: u32,
}

/// The numbers of a page that decide a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageCounts {
    /// Used page-blocks u, targets included.
    pub used: u32,
    /// Source blocks s.
    pub sources: u32,
    /// Page-blocks in the page, π.
    pub blocks: u32,
}

/// The kinds of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Used and free blocks.
    NotFull,
    /// Used blocks, and blocks that moves leave; possibly free ones.
    Source,
    /// No used block, and blocks that moves leave.
    Emptying,
    /// Used blocks only.
    Full,
    /// Neither used nor source blocks: no page of the class any more.
    Free,
}

/// The kind of a page.
#[must_use]
pub const fn kind(page: PageCounts) -> Kind {
    match (page.used, page.sources) {
        (0, 0) => Kind::Free,
        (0, _) => Kind::Emptying,
        (used, 0) if used == page.blocks => Kind::Full,
        (_, 0) => Kind::NotFull,
        (_, _) => Kind::Source,
    }
}

/// What a free does with its page-block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Free {
    /// F5: frees the block and releases the page, which is then empty.
    Release,
    /// F4: frees the block; the page keeps its kind.
    Clear,
    /// Frees the last used block of a source page, which becomes an emptying page.
    Empty,
    /// F1: frees the block; the full page becomes not-full.
    Loosen,
    /// F2 and F3: the block becomes the target of a move; the page stays full.
    Move,
}

/// Decides a free in `page`, whose counts are those before it. `most` is κ.
#[must_use]
pub const fn free(counting: Counting, most: u32, class: ClassCounts, page: PageCounts) -> Free {
    match (kind(page), page.used) {
        (Kind::Source, 1) => Free::Empty,
        (Kind::Source, _) => Free::Clear,
        (_, 1) => Free::Release,
        (Kind::NotFull, _) => Free::Clear,
        _ if counted(counting, class) < most => Free::Loosen,
        _ => Free::Move,
    }
}

/// What the bound κ counts.
const fn counted(counting: Counting, class: ClassCounts) -> u32 {
    match counting {
        Counting::Original => class.not_full,
        Counting::Strict => class.not_full + class.sources,
    }
}

/// The kind of page that gives a block to a new move: a source page before a not-full page.
/// `None` if the class has neither, which [`Free::Move`] excludes for κ ≥ 1.
#[must_use]
pub const fn gives(class: ClassCounts) -> Option<Kind> {
    match (class.sources, class.not_full) {
        (0, 0) => None,
        (0, _) => Some(Kind::NotFull),
        (_, _) => Some(Kind::Source),
    }
}

/// The page after a used block of it became the source of a move.
#[must_use]
pub const fn departed(page: PageCounts) -> PageCounts {
    PageCounts {
        used: page.used - 1,
        sources: page.sources + 1,
        ..page
    }
}

/// The page after a move out of it ended, by its final step or without it.
#[must_use]
pub const fn ended(page: PageCounts) -> PageCounts {
    PageCounts {
        sources: page.sources - 1,
        ..page
    }
}

/// The most not-full and source pages together.
#[must_use]
pub const fn not_full_most(counting: Counting, most: u32) -> u32 {
    match counting {
        Counting::Original => most + 1,
        Counting::Strict if most < 2 => 2,
        Counting::Strict => most,
    }
}

/// The most pages of a class with `live` objects, `blocks` page-blocks per page, and `moves` moves
/// in flight. `most` is κ.
///
/// # Panics
/// If `blocks` is zero: a page has page-blocks.
#[must_use]
pub const fn pages_most(counting: Counting, most: u32, blocks: u32, live: u32, moves: u32) -> u32 {
    let not_full = not_full_most(counting, most);
    let not_full = if not_full < live { not_full } else { live };
    (live + not_full * (blocks - 1)) / blocks + moves
}

/// The most transient fragmentation in page-blocks: a page for each move in flight.
#[must_use]
pub const fn transient_most(blocks: u32, moves: u32) -> u32 {
    blocks * moves
}
