//! The pages of page-blocks of a heap, by which of their page-blocks are live.

use std::collections::BTreeMap;

use surefit_direct::{Partitioning, Standard};

/// Bytes of a page.
pub(super) const PAGE_BYTES: usize = Standard::PAGE_BYTES;

/// Words that have a bit for every page-block of eight bytes, the least.
const WORDS: usize = PAGE_BYTES / 8 / 64;

/// A page in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Page {
    /// β: names its size-class.
    block_bytes: usize,
    used: usize,
    /// A bit for each page-block: whether it is live.
    live: [u64; WORDS],
}

impl Page {
    fn new(block_bytes: usize) -> Self {
        Self {
            block_bytes,
            used: 0,
            live: [0; WORDS],
        }
    }

    /// π.
    pub(super) fn blocks(&self) -> usize {
        PAGE_BYTES / self.block_bytes
    }

    /// Live page-blocks.
    pub(super) fn used(&self) -> usize {
        self.used
    }

    /// Whether the live page-blocks of two pages of a class could lie in one physical page: none
    /// has its number in both.
    pub(super) fn fits(&self, other: &Self) -> bool {
        let both = self.live.iter().zip(&other.live);
        self.block_bytes == other.block_bytes && both.into_iter().all(|(a, b)| a & b == 0)
    }

    /// Makes a page-block live, or not. Returns `false`, and changes nothing, if it already was so.
    fn set(&mut self, block: usize, live: bool) -> bool {
        let (word, bit) = (&mut self.live[block / 64], 1 << (block % 64));
        if (*word & bit != 0) == live {
            return false;
        }
        *word ^= bit;
        self.used = if live { self.used + 1 } else { self.used - 1 };
        true
    }

    #[cfg(test)]
    pub(super) fn with(block_bytes: usize, live: impl IntoIterator<Item = usize>) -> Self {
        let mut page = Self::new(block_bytes);
        for block in live {
            assert!(block < page.blocks() && page.set(block, true));
        }
        page
    }
}

/// All pages in use, by number.
#[derive(Clone, Debug, Default)]
pub(super) struct Pages {
    /// By page; `None` for those that hold no page-blocks.
    pages: Vec<Option<Box<Page>>>,
    used: usize,
}

impl Pages {
    /// Notes a new page-block of `block_bytes` bytes, at so many bytes from the first page.
    ///
    /// # Errors
    /// No page-block can begin there, in words.
    pub(super) fn add(&mut self, offset: usize, block_bytes: usize) -> Result<(), &'static str> {
        if !(8..=PAGE_BYTES).contains(&block_bytes) {
            return Err("no page-block at an object");
        }
        let number = offset / PAGE_BYTES;
        if self.pages.len() <= number {
            self.pages.resize(number + 1, None);
        }
        let slot = &mut self.pages[number];
        self.used += usize::from(slot.is_none());
        let page = slot.get_or_insert_with(|| Box::new(Page::new(block_bytes)));
        if page.block_bytes != block_bytes {
            return Err("two size-classes in one page");
        }
        let block = block_at(page, offset)?;
        page.set(block, true)
            .then_some(())
            .ok_or("two objects in one page-block")
    }

    /// Notes that a page-block is free again.
    ///
    /// # Errors
    /// No live page-block is there, in words.
    pub(super) fn remove(&mut self, offset: usize) -> Result<(), &'static str> {
        let slot = self.pages.get_mut(offset / PAGE_BYTES);
        let slot = slot.ok_or("a free in no page")?;
        let page = slot.as_deref_mut().ok_or("a free in no page")?;
        let block = block_at(page, offset)?;
        if !page.set(block, false) {
            return Err("a free of a free page-block");
        }
        if page.used == 0 {
            *slot = None;
            self.used -= 1;
        }
        Ok(())
    }

    /// Pages in use.
    pub(super) fn len(&self) -> usize {
        self.used
    }

    /// The pages of each size-class in the order of their addresses, by the bytes of its
    /// page-blocks.
    pub(super) fn by_class(&self) -> BTreeMap<usize, Vec<&Page>> {
        let mut classes: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for page in self.pages.iter().flatten() {
            classes
                .entry(page.block_bytes)
                .or_default()
                .push(page.as_ref());
        }
        classes
    }
}

/// The number of the page-block that begins at an offset.
fn block_at(page: &Page, offset: usize) -> Result<usize, &'static str> {
    let inside = offset % PAGE_BYTES;
    let block = inside / page.block_bytes;
    (inside == block * page.block_bytes && block < page.blocks())
        .then_some(block)
        .ok_or("an object that begins inside a page-block")
}

#[cfg(test)]
mod tests {
    use super::{PAGE_BYTES, Page, Pages};

    #[test]
    fn a_page_is_in_use_from_its_first_object_to_its_last() {
        let mut pages = Pages::default();
        for offset in [0, 48, PAGE_BYTES] {
            pages.add(offset, 48).expect("a page-block");
        }
        let classes = pages.by_class();
        let expected = [Page::with(48, [0, 1]), Page::with(48, [0])];
        assert_eq!(classes[&48], expected.iter().collect::<Vec<_>>());
        for (offset, left) in [(0, 2), (PAGE_BYTES, 1), (48, 0)] {
            pages.remove(offset).expect("live");
            assert_eq!(pages.len(), left);
        }
        assert!(pages.by_class().is_empty());
    }

    #[test]
    fn what_no_heap_may_do_is_an_error() {
        let mut pages = Pages::default();
        pages.add(0, 40).expect("a page-block");
        assert!(pages.add(0, 40).is_err(), "twice");
        assert!(pages.add(80, 48).is_err(), "another class");
        assert!(pages.add(41, 40).is_err(), "inside a page-block");
        assert!(
            pages.add(PAGE_BYTES - 32, 40).is_err(),
            "behind the last one"
        );
        for bytes in [0, 7, PAGE_BYTES + 1] {
            assert!(pages.add(PAGE_BYTES, bytes).is_err(), "{bytes}");
        }
        assert!(pages.remove(40).is_err(), "free");
        assert!(pages.remove(PAGE_BYTES * 9).is_err(), "no page");
        assert_eq!(pages.len(), 1);
    }
}
