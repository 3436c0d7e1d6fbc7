//! Chunks: headers, boundary tags, and the links of free chunks.
//!
//! ```text
//!            word  2c-1     2c                                              2(c+n)-2   2(c+n)-1
//! chunk c,        +--------+-----------------------------------------------+----------+--------
//! n granules,     | header | payload: 8n - 4 bytes, aligned to 8                      | header of
//! in use          +--------+-----------------------------------------------+----------+ c + n
//! free            | header | next  | back  |            ...                | size n   |
//!                 +--------+-------+-------+-------------------------------+----------+--------
//! header = this chunk is in use << 31 | predecessor is free << 30 | size in granules
//! ```
//! A chunk's name is the granule at which its payload starts; its header is the word before. The
//! smallest chunk, two granules, has room for the header, both links and the footer. `next` names
//! the next free chunk of the list (0: none). `back` names the *word* that names this chunk: the
//! head of its list, or the `next` of the chunk before it. So a chunk can leave its list without
//! knowing which list that is.
//!
//! # Invariants
//! - H7: an odd word that an index writes into a free chunk reads as the header of a free chunk:
//!   the number of a word or of a granule has no bit 31. So does the header of an object that
//!   `try_free` freed or `resize` moved, which is an odd word, and the end that there was: a second
//!   `try_free` reads it as free, until it is part of another object. L1, D1 and A1 verify what
//!   they say of these words.
#![deny(unsafe_code)]

use crate::memory::{GRANULE, MOST_GRANULES, Memory, Slot, WORD};

/// Set in a header if the chunk is in use; clear in every number of a word or granule (H7).
const IN_USE: u32 = 1 << 31;
/// Set in a header if the chunk before is free: then the word before the header is that chunk's
/// footer.
const BEFORE_FREE: u32 = 1 << 30;
const _: () = assert!(MOST_GRANULES < BEFORE_FREE as usize && 2 * MOST_GRANULES < IN_USE as usize);
/// Granules of the smallest chunk: a header, two links and a footer.
pub(crate) const SMALLEST: u32 = 2;
const _: () = assert!(4 * WORD == SMALLEST as usize * GRANULE);

/// The chunk that the link at the end of a list names. `join` may write the words of granule 0;
/// nobody reads them.
const NOBODY: Chunk = Chunk(0);
/// The words of granule 0, which belong to no chunk and no table.
pub(crate) const NOBODYS_WORDS: usize = 2;

/// A chunk, named by the granule at which its payload starts; 0 only for [`NOBODY`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Chunk(u32);

impl Chunk {
    /// The chunk whose payload starts at a granule.
    #[inline]
    pub(crate) const fn at(granule: u32) -> Self {
        Self(granule)
    }

    /// The granule at which the payload starts.
    #[inline]
    pub(crate) const fn granule(self) -> u32 {
        self.0
    }

    /// The chunk that starts `granules` later.
    #[inline]
    pub(crate) const fn after(self, granules: u32) -> Self {
        Self(self.0 + granules)
    }

    /// The chunk that starts `granules` earlier.
    #[inline]
    pub(crate) const fn before(self, granules: u32) -> Self {
        Self(self.0 - granules)
    }

    #[inline]
    const fn header(self) -> Slot {
        Slot::new(2 * self.0 as usize - 1)
    }

    /// The word that names the next free chunk in the list.
    #[inline]
    pub(crate) const fn next(self) -> Slot {
        Slot::new(2 * self.0 as usize)
    }

    #[inline]
    const fn back(self) -> Slot {
        Slot::new(2 * self.0 as usize + 1)
    }

    /// One of the two words of a large free chunk that name the roots of subtrees. These words have
    /// odd numbers; those of `next` are even.
    #[inline]
    pub(crate) const fn branch(self, bit: u32) -> Slot {
        Slot::new(2 * self.0 as usize + 3 + 2 * bit as usize)
    }

    #[inline]
    const fn footer_before(self) -> Slot {
        Slot::new(2 * self.0 as usize - 2)
    }
}

/// The contents of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header(u32);

impl Header {
    /// The header of a chunk in use.
    #[inline]
    pub(crate) const fn in_use(granules: u32, before_free: bool) -> Self {
        Self(Self::free(granules, before_free).0 | IN_USE)
    }

    /// The header of a free chunk.
    #[inline]
    pub(crate) const fn free(granules: u32, before_free: bool) -> Self {
        Self(granules | if before_free { BEFORE_FREE } else { 0 })
    }

    /// The header as a word.
    #[inline]
    pub(crate) const fn word(self) -> u32 {
        self.0
    }

    /// The size of the chunk, header included, in granules.
    #[inline]
    pub(crate) const fn granules(self) -> u32 {
        self.0 & (BEFORE_FREE - 1)
    }

    /// Whether the chunk is free.
    #[inline]
    pub(crate) const fn is_free(self) -> bool {
        self.0 & IN_USE == 0
    }

    /// Whether the chunk before it is free.
    #[inline]
    pub(crate) const fn is_before_free(self) -> bool {
        self.0 & BEFORE_FREE != 0
    }

    /// The same chunk, free.
    #[inline]
    pub(crate) const fn freed(self) -> Self {
        Self(self.0 & !IN_USE)
    }

    /// The same chunk, in use, with another size.
    #[inline]
    pub(crate) const fn resized(self, granules: u32) -> Self {
        Self::in_use(granules, self.is_before_free())
    }
}

/// Granules of the chunk that serves a request: its bytes and a header, but at least the smallest
/// chunk.
#[inline]
pub(crate) const fn granules_for(request: usize) -> u32 {
    let granules = ((request + WORD + GRANULE - 1) >> GRANULE.ilog2()) as u32;
    if cfg!(not(target_pointer_width = "64")) && granules < SMALLEST {
        return SMALLEST;
    }
    // One granule is the only size below the smallest chunk. This is a maximum without a branch.
    granules + (granules < SMALLEST) as u32
}

/// Bytes of the payload of a chunk.
#[inline]
pub(crate) const fn payload_bytes(granules: u32) -> usize {
    granules as usize * GRANULE - WORD
}

impl Memory<'_> {
    #[inline]
    pub(crate) fn header(&self, chunk: Chunk) -> Header {
        Header(self.get(chunk.header()))
    }

    #[inline]
    pub(crate) fn set_header(&mut self, chunk: Chunk, header: Header) {
        self.set(chunk.header(), header.0);
    }

    /// Writes the header and the footer of a free chunk; the chunk before it is in use.
    #[inline]
    pub(crate) fn tag_free(&mut self, chunk: Chunk, granules: u32) {
        self.tag_free_behind(chunk, granules, false);
    }

    /// Writes the header and the footer of a free chunk; `before_free` is whether the chunk before
    /// it is free.
    #[inline]
    pub(crate) fn tag_free_behind(&mut self, chunk: Chunk, granules: u32, before_free: bool) {
        self.set_header(chunk, Header::free(granules, before_free));
        self.set(chunk.after(granules).footer_before(), granules);
    }

    /// Records in the chunk's header that the chunk before it, in use until now, is free.
    ///
    /// This adds instead of using `or`: compilers write only the byte that an `or` changes, and
    /// then the next read of the word must wait.
    #[inline]
    pub(crate) fn tag_before_free(&mut self, chunk: Chunk) {
        let header = self.header(chunk);
        debug_assert!(!header.is_before_free(), "H2");
        self.set(chunk.header(), header.0 + BEFORE_FREE);
    }

    /// Records in the chunk's header that the chunk before it, free until now, is in use. It
    /// subtracts, as `tag_before_free` adds.
    #[inline]
    pub(crate) fn tag_before_in_use(&mut self, chunk: Chunk) {
        let header = self.header(chunk);
        debug_assert!(header.is_before_free(), "H2");
        self.set(chunk.header(), header.0 - BEFORE_FREE);
    }

    /// The size of the free chunk before this one, from its footer.
    #[inline]
    pub(crate) fn granules_before(&self, chunk: Chunk) -> u32 {
        self.get(chunk.footer_before())
    }

    /// The chunk that a link names, or `None` at the end of a list.
    #[inline]
    pub(crate) fn linked(&self, link: Slot) -> Option<Chunk> {
        match self.get(link) {
            0 => None,
            granule => Some(Chunk::at(granule)),
        }
    }

    /// The word that names this free chunk.
    #[inline]
    pub(crate) fn back(&self, chunk: Chunk) -> Slot {
        Slot::new(self.get(chunk.back()) as usize)
    }

    /// The number of the word that names this free chunk, not yet trusted.
    pub(crate) fn raw_back(&self, chunk: Chunk) -> u32 {
        self.get(chunk.back())
    }

    /// Inserts a chunk after a link; returns the chunk that the link named before, which now
    /// follows.
    #[inline]
    pub(crate) fn link(&mut self, link: Slot, chunk: Chunk) -> Option<Chunk> {
        let following = self.linked(link);
        self.join(chunk.next(), following);
        self.join(link, Some(chunk));
        following
    }

    /// Takes a chunk out of its list; returns the link that named it, and the chunk that this link
    /// names now.
    ///
    /// Always inlined: with `inline` alone, a free under a linear last list takes two more
    /// instructions.
    #[inline(always)]
    pub(crate) fn unlink(&mut self, chunk: Chunk) -> (Slot, Option<Chunk>) {
        let (back, next) = (self.back(chunk), self.linked(chunk.next()));
        self.join(back, next);
        (back, next)
    }

    /// Takes out the chunk that a link names; returns it, and the chunk that the link names now.
    ///
    /// The link must name a chunk.
    #[inline]
    pub(crate) fn unlink_at(&mut self, link: Slot) -> (Chunk, Option<Chunk>) {
        let chunk = Chunk::at(self.get(link));
        let next = self.linked(chunk.next());
        self.join(link, next);
        (chunk, next)
    }

    /// Makes a link name a chunk, and records the link in the chunk.
    ///
    /// Has no branch: whether a list ends here is hard to predict. At the end of a list it writes
    /// the words of granule 0.
    #[inline]
    pub(crate) fn join(&mut self, link: Slot, chunk: Option<Chunk>) {
        let named = chunk.unwrap_or(NOBODY);
        self.set(link, named.granule());
        self.set(named.back(), link.number());
    }
}
