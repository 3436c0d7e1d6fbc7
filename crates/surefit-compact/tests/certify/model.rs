//! One size-class as the papers draw it: a vector of pages, a list of the not-full ones.
//! Independent of the heap's code.

use surefit_compact::Bound;

/// A size-class with π page-blocks per page. Pages are named by their position in `pages`, which
/// does not change.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) blocks: u32,
    pub(crate) bound: Bound,
    /// Used page-blocks of each page; 0: the page is free.
    pub(crate) pages: Vec<u32>,
    /// Not-full pages, newest first; with the hole bound the last one is the reservoir.
    pub(crate) not_full: Vec<usize>,
    pub(crate) live: u32,
    pub(crate) peak: u32,
}

impl Model {
    pub(crate) fn new(blocks: u32, bound: Bound) -> Self {
        Self {
            blocks,
            bound,
            pages: Vec::new(),
            not_full: Vec::new(),
            live: 0,
            peak: 0,
        }
    }

    pub(crate) fn page_count(&self) -> u32 {
        self.pages.iter().map(|&used| u32::from(used > 0)).sum()
    }

    /// Free page-blocks of all not-full pages except the reservoir.
    pub(crate) fn holes(&self) -> u32 {
        let but_last = self.not_full.len().saturating_sub(1);
        let pages = &self.not_full[..but_last];
        pages
            .iter()
            .map(|&page| self.blocks - self.pages[page])
            .sum()
    }

    pub(crate) fn limit(&self) -> u32 {
        match self.bound {
            Bound::Holes { base, fraction } => {
                base + self.live * fraction.numerator() / fraction.denominator()
            }
            _ => unreachable!("only the hole bound has a limit"),
        }
    }

    pub(crate) fn malloc(&mut self) {
        self.live += 1;
        self.peak = self.peak.max(self.live);
        if self.not_full.is_empty() {
            let free = self.pages.iter().position(|&used| used == 0);
            let page = free.unwrap_or_else(|| {
                self.pages.push(0);
                self.pages.len() - 1
            });
            self.not_full.push(page);
        }
        self.put(self.not_full[0]);
    }

    fn put(&mut self, page: usize) {
        self.pages[page] += 1;
        if self.pages[page] == self.blocks {
            self.not_full.retain(|&other| other != page);
        }
    }

    fn take(&mut self, page: usize) {
        self.pages[page] -= 1;
        if self.pages[page] == 0 {
            self.not_full.retain(|&other| other != page);
        }
    }

    /// Frees a page-block of a page that has one; returns the moves.
    pub(crate) fn free(&mut self, page: usize) -> u32 {
        self.live -= 1;
        match self.bound {
            Bound::Holes { .. } => self.free_with_holes(page),
            Bound::Pages(most) => self.free_with_pages(page, most as usize),
            Bound::Unbounded => self.free_with_pages(page, usize::MAX),
        }
    }

    fn free_with_pages(&mut self, page: usize, most: usize) -> u32 {
        let was_full = self.pages[page] == self.blocks;
        if was_full && self.blocks > 1 && self.not_full.len() == most {
            let source = *self.not_full.last().expect("at least one page is allowed");
            self.take(source);
            return 1;
        }
        if was_full {
            self.not_full.insert(0, page);
        }
        self.take(page);
        0
    }

    fn free_with_holes(&mut self, page: usize) -> u32 {
        self.take(page);
        if self.pages[page] == 0 {
            return 0;
        }
        if !self.not_full.contains(&page) {
            self.not_full.insert(0, page);
        }
        if self.holes() > self.limit() {
            self.choose_reservoir(page);
        }
        let mut moves = 0;
        while self.holes() > self.limit() {
            let source = *self.not_full.last().expect("holes lie in not-full pages");
            self.put(self.not_full[0]);
            self.take(source);
            moves += 1;
        }
        moves
    }

    fn choose_reservoir(&mut self, page: usize) {
        let reservoir = *self.not_full.last().expect("the page is there");
        if self.pages[page] < self.pages[reservoir] {
            self.not_full.retain(|&other| other != page);
            self.not_full.push(page);
        }
    }

    /// The state without the names of pages: full pages, and the not-full ones in order.
    pub(crate) fn shape(&self) -> (u32, Vec<u32>) {
        let full = self.pages.iter().filter(|&&used| used == self.blocks);
        let not_full = self.not_full.iter().map(|&page| self.pages[page]);
        (full.count() as u32, not_full.collect())
    }
}
