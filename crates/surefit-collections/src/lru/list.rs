//! The order of the entries: links by their numbers in a vector without gaps.
//!
//! # Invariants
//! - L1 From `oldest` on, `newer` leads through all links to `newest`, and `older` the same way
//!   back. Both end with [`NONE`].
#![deny(unsafe_code)]

use core::convert::Infallible;

use surefit_core::{Corruption, Refused, ensure};

use crate::clone::TryClone;
use crate::heap::ByteHeap;
use crate::names::Names;
use crate::release::Release;
use crate::storage::Vec;

/// No link.
pub(super) const NONE: u32 = u32::MAX;

/// Links by which the vector may be too long before it is shortened.
const SPARE: usize = 128;

/// The place of an entry in the order.
#[derive(Clone, Copy)]
pub(super) struct Link {
    pub(super) older: u32,
    pub(super) newer: u32,
    /// That of the key.
    pub(super) hash: u32,
}

impl<H: ?Sized> Release<H> for Link {
    const OWNS_NOTHING: bool = true;
}

impl<H: ?Sized> TryClone<H> for Link {
    type Partial = Infallible;

    fn try_clone_in(&self, _: &H) -> Result<Self, (Option<Infallible>, Refused)> {
        Ok(*self)
    }
}

/// A link that has another number now, and the hash of its key.
pub(super) struct Renamed {
    pub(super) former: u32,
    pub(super) hash: u32,
}

/// Entries in the order of their last use.
pub(super) struct List<N: Names> {
    links: Vec<Link, N>,
    newest: u32,
    oldest: u32,
}

impl<N: Names> List<N> {
    pub(super) const fn new() -> Self {
        Self {
            links: Vec::new(),
            newest: NONE,
            oldest: NONE,
        }
    }

    #[inline]
    pub(super) const fn len(&self) -> usize {
        self.links.len()
    }

    pub(super) const fn newest(&self) -> u32 {
        self.newest
    }

    pub(super) const fn oldest(&self) -> u32 {
        self.oldest
    }

    pub(super) fn is_of<H: ByteHeap<Names = N>>(&self, heap: &H) -> bool {
        self.links.is_of(heap)
    }

    /// A link; `None` for [`NONE`].
    #[inline]
    pub(super) fn get<H: ByteHeap<Names = N>>(&self, heap: &H, link: u32) -> Option<Link> {
        self.links.get(heap, link as usize).copied()
    }

    #[inline]
    fn set<H: ByteHeap<Names = N>>(&mut self, heap: &H, link: u32, change: impl FnOnce(&mut Link)) {
        let there = self.links.get_mut(heap, link as usize);
        change(there.expect("the number of a link"));
    }

    /// Makes the neighbours of a link, or the ends of the list, name others for it.
    #[inline]
    fn rename<H: ByteHeap<Names = N>>(&mut self, heap: &H, link: Link, older: u32, newer: u32) {
        match link.older {
            NONE => self.oldest = newer,
            neighbour => self.set(heap, neighbour, |it| it.newer = newer),
        }
        match link.newer {
            NONE => self.newest = older,
            neighbour => self.set(heap, neighbour, |it| it.older = older),
        }
    }

    /// Makes room for one more link. May move objects.
    pub(super) fn reserve<H: ByteHeap<Names = N>>(&mut self, heap: &mut H) -> Result<(), Refused> {
        if self.len() >= NONE as usize {
            return Err(Refused::TooLarge {
                limit: NONE as usize,
            });
        }
        self.links.reserve(heap, 1)
    }

    /// Adds the newest link, for which there is room.
    #[expect(clippy::cast_possible_truncation, reason = "there are fewer than NONE")]
    pub(super) fn push<H: ByteHeap<Names = N>>(&mut self, heap: &H, hash: u32) {
        let number = self.len() as u32;
        let link = Link {
            older: self.newest,
            newer: NONE,
            hash,
        };
        let pushed = self.links.push_within_capacity(heap, link);
        debug_assert!(pushed.is_ok(), "room was made");
        self.rename_ends(heap, link, number);
    }

    /// Makes the neighbours of a link, or the ends of the list, name it.
    fn rename_ends<H: ByteHeap<Names = N>>(&mut self, heap: &H, link: Link, number: u32) {
        self.rename(heap, link, number, number);
    }

    /// Makes a link the newest.
    #[inline]
    pub(super) fn promote<H: ByteHeap<Names = N>>(&mut self, heap: &H, number: u32) {
        if self.newest != number {
            self.put(heap, number, |list| (list.newest, NONE));
        }
    }

    /// Makes a link the oldest.
    pub(super) fn demote<H: ByteHeap<Names = N>>(&mut self, heap: &H, number: u32) {
        if self.oldest != number {
            self.put(heap, number, |list| (NONE, list.oldest));
        }
    }

    /// Takes a link out of the order, and puts it between those that are chosen then.
    fn put<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &H,
        number: u32,
        between: impl FnOnce(&Self) -> (u32, u32),
    ) {
        let mut link = self.get(heap, number).expect("the number of a link");
        self.rename(heap, link, link.older, link.newer);
        (link.older, link.newer) = between(self);
        self.set(heap, number, |it| *it = link);
        self.rename_ends(heap, link, number);
    }

    /// Takes a link out. The last one of the vector gets its number, if it is another one.
    #[expect(clippy::cast_possible_truncation, reason = "there are fewer than NONE")]
    pub(super) fn remove<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &mut H,
        number: u32,
    ) -> Option<Renamed> {
        let link = self.get(heap, number).expect("the number of a link");
        self.rename(heap, link, link.older, link.newer);
        self.links.swap_remove(heap, number as usize);
        let renamed = self.get(heap, number);
        if let Some(link) = renamed {
            self.rename_ends(heap, link, number);
        }
        let len = self.len();
        if self.links.capacity(heap) - len > len.max(SPARE) {
            // What is refused here leaves the vector too long.
            let _ = self.links.shrink_to(heap, len + len / 2);
        }
        renamed.map(|link| Renamed {
            former: len as u32,
            hash: link.hash,
        })
    }

    pub(super) fn try_clone<H: ByteHeap<Names = N>>(&self, heap: &mut H) -> Result<Self, Refused> {
        Ok(Self {
            links: crate::clone::try_clone(&self.links, heap)?,
            ..*self
        })
    }

    /// Frees the links. May move objects.
    pub(super) fn free<H: ByteHeap<Names = N>>(self, heap: &mut H) {
        self.links.free(heap);
    }

    /// Verifies L1, and that the links are whole.
    pub(super) fn check<H: ByteHeap<Names = N>>(&self, heap: &H) -> Result<(), Corruption> {
        self.links.check(heap)?;
        let (mut older, mut number, mut seen) = (NONE, self.oldest, 0);
        while let Some(link) = self.get(heap, number) {
            let is_linked = link.older == older && seen < self.len();
            ensure(is_linked, "L1", "a link names others than they do", seen)?;
            (older, number, seen) = (number, link.newer, seen + 1);
        }
        ensure(
            number == NONE && self.newest == older && seen == self.len(),
            "L1",
            "the order ends elsewhere",
            seen,
        )
    }
}
