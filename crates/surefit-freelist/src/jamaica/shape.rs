//! How the blocks of an object are connected: as a list or as a tree.
//!
//! ```text
//! Object    | next | 0 .. B-5 |  ->  | next | B-4 .. |  ->  ...
//! Array     leaves 0 .. l-1; level 1 has one node per f = B / 4 leaves, level 2 one per f nodes,
//!          , ..., the root
//! ```
//! Both shapes grow and shrink at their end. So a new object is one block that has grown, and
//! freeing an object first shrinks it to one block.
#![deny(unsafe_code)]

use super::blocks::{Blocks, WORD};

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Object {}
    impl Sealed for super::Array {}
}

/// Numbers of blocks by their contents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    pub(super) listed: usize,
    pub(super) leaves: usize,
    pub(super) inner: usize,
}

impl Count {
    pub(super) const fn total(self) -> usize {
        self.listed + self.leaves + self.inner
    }

    pub(super) const fn add(&mut self, other: Self) {
        self.listed += other.listed;
        self.leaves += other.leaves;
        self.inner += other.inner;
    }

    pub(super) const fn remove(&mut self, other: Self) {
        self.listed -= other.listed;
        self.leaves -= other.leaves;
        self.inner -= other.inner;
    }
}

/// The shape of an object: [`Object`] or [`Array`].
pub trait Shape: sealed::Sealed + Sized + 'static {
    /// Bytes in each block before those of the object.
    #[doc(hidden)]
    const LEAD: usize;

    /// The blocks of an object of `len` bytes.
    #[doc(hidden)]
    fn count<const B: usize>(len: usize) -> Count;

    /// Grows an object that starts at `first` from `old` to `new` bytes; the blocks for this are
    /// available. Returns its new start. An object of zero bytes is one block.
    #[doc(hidden)]
    fn grow<const B: usize>(blocks: &mut Blocks<'_, B>, first: u32, old: usize, new: usize) -> u32;

    /// Frees the blocks that an object does not need when it shrinks from `old` to `new` bytes.
    /// Returns its new start.
    #[doc(hidden)]
    fn shrink<const B: usize>(
        blocks: &mut Blocks<'_, B>,
        first: u32,
        old: usize,
        new: usize,
    ) -> u32;

    /// The block that holds the nth part of an object of `len` bytes, and the number of links on
    /// the way to it.
    #[doc(hidden)]
    fn seek<const B: usize>(
        blocks: &Blocks<'_, B>,
        first: u32,
        len: usize,
        nth: usize,
    ) -> (u32, u64);

    /// As `seek`, for the part after the one that `block` holds.
    #[doc(hidden)]
    fn step<const B: usize>(
        blocks: &Blocks<'_, B>,
        first: u32,
        len: usize,
        block: u32,
        nth: usize,
    ) -> (u32, u64);

    /// Visits every block of an object of `len` bytes in a fixed order until `visit` returns false.
    /// Returns whether `visit` accepted all blocks, and no link is missing or left over.
    #[doc(hidden)]
    fn walk<const B: usize>(
        blocks: &Blocks<'_, B>,
        first: u32,
        len: usize,
        visit: &mut impl FnMut(u32) -> bool,
    ) -> bool;
}

/// A singly linked list of blocks: access is linear in the position.
#[derive(Clone, Copy, Debug)]
pub struct Object;

impl Shape for Object {
    const LEAD: usize = WORD;

    fn count<const B: usize>(len: usize) -> Count {
        Count {
            listed: len.div_ceil(B - WORD).max(1),
            ..Count::default()
        }
    }

    fn grow<const B: usize>(blocks: &mut Blocks<'_, B>, first: u32, old: usize, new: usize) -> u32 {
        let (had, has) = (Self::count::<B>(old).listed, Self::count::<B>(new).listed);
        if had < has {
            let (mut last, _) = Self::seek(blocks, first, old, had - 1);
            for _ in had..has {
                let block = blocks.take();
                blocks.set_link(last, 0, block + 1);
                last = block;
            }
        }
        first
    }

    fn shrink<const B: usize>(
        blocks: &mut Blocks<'_, B>,
        first: u32,
        _old: usize,
        new: usize,
    ) -> u32 {
        let has = Self::count::<B>(new).listed;
        let (last, _) = Self::seek(blocks, first, new, has - 1);
        let mut rest = blocks.link(last, 0);
        blocks.set_link(last, 0, 0);
        while rest != 0 {
            let block = rest - 1;
            rest = blocks.link(block, 0);
            blocks.give(block);
        }
        first
    }

    fn seek<const B: usize>(
        blocks: &Blocks<'_, B>,
        first: u32,
        _len: usize,
        nth: usize,
    ) -> (u32, u64) {
        let block = (0..nth).fold(first, |block, _| blocks.linked(block, 0));
        (block, nth as u64)
    }

    fn step<const B: usize>(
        blocks: &Blocks<'_, B>,
        _first: u32,
        _len: usize,
        block: u32,
        _nth: usize,
    ) -> (u32, u64) {
        (blocks.linked(block, 0), 1)
    }

    fn walk<const B: usize>(
        blocks: &Blocks<'_, B>,
        first: u32,
        len: usize,
        visit: &mut impl FnMut(u32) -> bool,
    ) -> bool {
        let mut link = first.wrapping_add(1);
        for _ in 0..Self::count::<B>(len).listed {
            if link == 0 || !visit(link - 1) {
                return false;
            }
            link = blocks.link(link - 1, 0);
        }
        link == 0
    }
}

/// A tree of blocks with data in the leaves: access is logarithmic in the length.
#[derive(Clone, Copy, Debug)]
pub struct Array;

impl Array {
    const fn leaves<const B: usize>(len: usize) -> usize {
        let leaves = len.div_ceil(B);
        if leaves == 0 { 1 } else { leaves }
    }

    /// The bits of a leaf's number that one level uses.
    const fn bits<const B: usize>() -> u32 {
        (B / WORD).ilog2()
    }

    /// Levels above the leaves.
    const fn levels<const B: usize>(leaves: usize) -> u32 {
        (usize::BITS - (leaves - 1).leading_zeros()).div_ceil(Self::bits::<B>())
    }

    /// Leaves below a node of a level. Level 0 is the leaves themselves.
    const fn reach<const B: usize>(level: u32) -> usize {
        1 << (level * Self::bits::<B>())
    }

    /// The leaves below the nth child of a node with `leaves` leaves. The children belong to
    /// `level`.
    fn below<const B: usize>(leaves: usize, nth: usize, level: u32) -> usize {
        let reach = Self::reach::<B>(level);
        leaves.saturating_sub(nth * reach).min(reach)
    }

    /// Extends a subtree of a level from `had` to `has` leaves; makes the subtree if it had none.
    /// Returns its root.
    fn extend<const B: usize>(
        blocks: &mut Blocks<'_, B>,
        root: Option<u32>,
        level: u32,
        had: usize,
        has: usize,
    ) -> u32 {
        let root = root.unwrap_or_else(|| blocks.take());
        if level == 0 {
            return root;
        }
        for nth in 0..B / WORD {
            let old = Self::below::<B>(had, nth, level - 1);
            let new = Self::below::<B>(has, nth, level - 1);
            if old < new {
                let child = (old > 0).then(|| blocks.linked(root, nth));
                let child = Self::extend(blocks, child, level - 1, old, new);
                blocks.set_link(root, nth, child + 1);
            }
        }
        root
    }

    /// Cuts a subtree of a level from `had` to `has` leaves; frees the root too if no leaf is left.
    fn cut<const B: usize>(
        blocks: &mut Blocks<'_, B>,
        root: u32,
        level: u32,
        had: usize,
        has: usize,
    ) {
        let children = if level == 0 { 0 } else { B / WORD };
        for nth in 0..children {
            let old = Self::below::<B>(had, nth, level - 1);
            let new = Self::below::<B>(has, nth, level - 1);
            if new < old {
                Self::cut(blocks, blocks.linked(root, nth), level - 1, old, new);
            }
            if new == 0 {
                blocks.set_link(root, nth, 0);
            }
        }
        if has == 0 {
            blocks.give(root);
        }
    }

    /// Walks a subtree of a level with `leaves` leaves; see [`Shape::walk`]. The number of levels
    /// bounds the recursion.
    fn walk_below<const B: usize>(
        blocks: &Blocks<'_, B>,
        root: u32,
        level: u32,
        leaves: usize,
        visit: &mut impl FnMut(u32) -> bool,
    ) -> bool {
        if !visit(root) {
            return false;
        }
        let children = if level == 0 { 0 } else { B / WORD };
        (0..children).all(|nth| {
            let below = Self::below::<B>(leaves, nth, level - 1);
            match blocks.link(root, nth).checked_sub(1) {
                Some(child) if below > 0 => {
                    Self::walk_below(blocks, child, level - 1, below, visit)
                }
                child => child.is_none() && below == 0,
            }
        })
    }
}

impl Shape for Array {
    const LEAD: usize = 0;

    fn count<const B: usize>(len: usize) -> Count {
        let leaves = Self::leaves::<B>(len);
        let levels = 1..=Self::levels::<B>(leaves);
        Count {
            leaves,
            inner: levels
                .map(|level| leaves.div_ceil(Self::reach::<B>(level)))
                .sum(),
            ..Count::default()
        }
    }

    fn grow<const B: usize>(blocks: &mut Blocks<'_, B>, first: u32, old: usize, new: usize) -> u32 {
        let (had, has) = (Self::leaves::<B>(old), Self::leaves::<B>(new));
        let (lower, upper) = (Self::levels::<B>(had), Self::levels::<B>(has));
        let root = (lower..upper).fold(first, |below, _| {
            let root = blocks.take();
            blocks.set_link(root, 0, below + 1);
            root
        });
        Self::extend(blocks, Some(root), upper, had, has)
    }

    fn shrink<const B: usize>(
        blocks: &mut Blocks<'_, B>,
        first: u32,
        old: usize,
        new: usize,
    ) -> u32 {
        let (had, has) = (Self::leaves::<B>(old), Self::leaves::<B>(new));
        let (upper, lower) = (Self::levels::<B>(had), Self::levels::<B>(has));
        Self::cut(blocks, first, upper, had, has);
        (lower..upper).fold(first, |root, _| {
            let below = blocks.linked(root, 0);
            blocks.give(root);
            below
        })
    }

    fn seek<const B: usize>(
        blocks: &Blocks<'_, B>,
        first: u32,
        len: usize,
        nth: usize,
    ) -> (u32, u64) {
        let levels = Self::levels::<B>(Self::leaves::<B>(len));
        let leaf = (0..levels).rev().fold(first, |node, level| {
            let child = nth >> (level * Self::bits::<B>()) & (B / WORD - 1);
            blocks.linked(node, child)
        });
        (leaf, u64::from(levels))
    }

    fn step<const B: usize>(
        blocks: &Blocks<'_, B>,
        first: u32,
        len: usize,
        _block: u32,
        nth: usize,
    ) -> (u32, u64) {
        Self::seek(blocks, first, len, nth)
    }

    fn walk<const B: usize>(
        blocks: &Blocks<'_, B>,
        first: u32,
        len: usize,
        visit: &mut impl FnMut(u32) -> bool,
    ) -> bool {
        let leaves = Self::leaves::<B>(len);
        Self::walk_below(blocks, first, Self::levels::<B>(leaves), leaves, visit)
    }
}
