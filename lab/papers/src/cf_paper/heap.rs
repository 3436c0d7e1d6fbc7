//! The published heap itself: allocate, free, resize, and its account.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr::NonNull;

use surefit_core::{Corruption, Refused, Usage, ensure};

use super::classes::{Classes, MOST_CLASSES, PAGE_BYTES, PAYLOAD_BYTES};
use super::header::{HEADER_BYTES, Header, Page};
use super::memory::{Memory, Run, Use};

/// Pages in the order in which they came.
#[derive(Clone, Copy, Debug, Default)]
struct List {
    newest: Option<Page>,
    oldest: Option<Page>,
}

impl List {
    fn push(&mut self, memory: &mut Memory<'_>, page: Page) {
        let header = memory.header_mut(page);
        (header.newer, header.older) = (None, self.newest);
        match self.newest {
            Some(newest) => memory.header_mut(newest).newer = Some(page),
            None => self.oldest = Some(page),
        }
        self.newest = Some(page);
    }

    fn remove(&mut self, memory: &mut Memory<'_>, page: Page) {
        let Header { newer, older, .. } = *memory.header(page);
        match newer {
            Some(newer) => memory.header_mut(newer).older = older,
            None => self.newest = older,
        }
        match older {
            Some(older) => memory.header_mut(older).newer = newer,
            None => self.oldest = newer,
        }
    }

    /// The number of pages, of which there are at most `most`; `None` if it has more, or a link
    /// does not lead back, or a page does not belong here.
    fn length(
        &self,
        memory: &Memory<'_>,
        most: u32,
        belongs: impl Fn(&Header) -> bool,
    ) -> Option<u32> {
        let (mut newer, mut page, mut length) = (None, self.newest, 0);
        while let Some(this) = page {
            let header = memory.header(this);
            if header.newer != newer || !belongs(header) || length == most {
                return None;
            }
            length += 1;
            (newer, page) = (page, header.older);
        }
        (newer == self.oldest).then_some(length)
    }
}

/// CF(∞) without abstract addresses, as published.
#[derive(Debug)]
pub struct Published<'m> {
    memory: Memory<'m>,
    classes: &'static Classes,
    free: List,
    not_full: [List; MOST_CLASSES],
}

impl<'m> Published<'m> {
    /// A heap over a region.
    ///
    /// # Errors
    /// The region holds no page.
    pub fn new(
        region: &'m mut [MaybeUninit<u8>],
        classes: &'static Classes,
    ) -> Result<Self, Refused> {
        Ok(Self {
            memory: Memory::new(region)?,
            classes,
            free: List::default(),
            not_full: [List::default(); MOST_CLASSES],
        })
    }

    #[inline]
    fn list(&mut self, class: u8) -> &mut List {
        &mut self.not_full[usize::from(class) % MOST_CLASSES]
    }

    /// Allocates `bytes` bytes, aligned to four.
    ///
    /// # Errors
    /// No page is free, or no run of pages.
    #[inline]
    pub fn allocate(&mut self, bytes: usize) -> Result<NonNull<u8>, Refused> {
        match self.classes.of(bytes) {
            Some(class) => self.allocate_block(class),
            None => self.allocate_run(bytes),
        }
    }

    #[inline]
    fn allocate_block(&mut self, class: u8) -> Result<NonNull<u8>, Refused> {
        let page = match self.list(class).oldest {
            Some(page) => page,
            None => self.open(class)?,
        };
        let block_bytes = usize::from(self.classes.block_bytes(class));
        let header = self.memory.header_mut(page);
        let block = header.take();
        if header.used == self.classes.blocks(class) {
            self.fill(class, page);
        }
        Ok(self.memory.address(page, usize::from(block) * block_bytes))
    }

    /// M3: the page is full now.
    fn fill(&mut self, class: u8, page: Page) {
        self.not_full[usize::from(class) % MOST_CLASSES].remove(&mut self.memory, page);
    }

    /// M1: a free page becomes the class's only not-full one.
    fn open(&mut self, class: u8) -> Result<Page, Refused> {
        let page = match self.free.newest {
            Some(page) => {
                self.free.remove(&mut self.memory, page);
                page
            }
            None => self.memory.open().ok_or(Refused::NoPage)?,
        };
        *self.memory.header_mut(page) = Header::of_class(class, self.classes.blocks(class));
        self.not_full[usize::from(class) % MOST_CLASSES].push(&mut self.memory, page);
        Ok(page)
    }

    /// Frees an object of `bytes` bytes.
    ///
    /// # Safety
    /// S1: the object is live, this heap's, and has `bytes` bytes.
    #[inline]
    pub unsafe fn free(&mut self, object: NonNull<u8>, bytes: usize) {
        if bytes > PAYLOAD_BYTES {
            // SAFETY: S1: an object of this size is a run.
            let first = unsafe { self.memory.run_at(object) };
            return self.free_run(first);
        }
        // SAFETY: S1: an object of this size is a page-block.
        let (page, offset) = unsafe { self.memory.block_at(object) };
        let header = self.memory.header_mut(page);
        let class = header.class;
        header.put_back(offset / self.classes.block_bytes(class));
        let (used, blocks) = (header.used, self.classes.blocks(class));
        if used == 0 {
            self.release(class, page, blocks);
        } else if used == blocks - 1 {
            // F1
            self.not_full[usize::from(class) % MOST_CLASSES].push(&mut self.memory, page);
        }
    }

    /// F5: the page is empty now.
    fn release(&mut self, class: u8, page: Page, blocks: u16) {
        if blocks > 1 {
            self.not_full[usize::from(class) % MOST_CLASSES].remove(&mut self.memory, page);
        }
        self.free.push(&mut self.memory, page);
    }

    /// Changes an object's size from `old` to `new` bytes.
    ///
    /// # Errors
    /// No page is free, or no run of pages; the object is unchanged.
    ///
    /// # Safety
    /// S1: the object is live, this heap's, and has `old` bytes.
    pub unsafe fn resize(
        &mut self,
        object: NonNull<u8>,
        old: usize,
        new: usize,
    ) -> Result<NonNull<u8>, Refused> {
        // SAFETY: S1.
        if unsafe { self.resize_in_place(object, old, new) } {
            return Ok(object);
        }
        let moved = self.allocate(new)?;
        // SAFETY: S1; both are live and different, and as long.
        unsafe { self.memory.copy(object, moved, old.min(new)) };
        // SAFETY: S1.
        unsafe { self.free(object, old) };
        Ok(moved)
    }

    /// Whether the object could keep its place: within its class, or as a run that does not grow.
    ///
    /// # Safety
    /// S1: the object is live, this heap's, and has `old` bytes.
    unsafe fn resize_in_place(&mut self, object: NonNull<u8>, old: usize, new: usize) -> bool {
        match (self.classes.of(old), self.classes.of(new)) {
            (Some(old), Some(new)) => old == new,
            (None, None) if pages_of(new) <= pages_of(old) => {
                // SAFETY: S1: it has no class, so it is a run.
                let first = unsafe { self.memory.run_at(object) };
                self.shrink_run(first, pages_of(old), new);
                true
            }
            _ => false,
        }
    }

    fn shrink_run(&mut self, first: u32, pages: u32, bytes: usize) {
        let kept = pages_of(bytes);
        self.give_back(first + kept..first + pages);
        let tail = tail_of(bytes);
        self.memory.set_tail(first, Run { pages: kept, tail });
    }

    // ---- runs of pages
    // -------------------------------------------------------------------------------------------

    /// Linear in the region's pages: the papers' programs have no such objects.
    #[inline(never)]
    fn allocate_run(&mut self, bytes: usize) -> Result<NonNull<u8>, Refused> {
        if bytes.div_ceil(PAGE_BYTES) > self.memory.pages() as usize {
            return Err(Refused::NoPage);
        }
        let pages = self.find_run(pages_of(bytes)).ok_or(Refused::NoPage)?;
        let opened = self.memory.opened();
        for number in pages.start..pages.end.min(opened) {
            if let Use::Page(page) = self.memory.used_for(number) {
                self.free.remove(&mut self.memory, page);
            }
        }
        while self.memory.opened() < pages.end {
            self.memory.open();
        }
        Ok(self.memory.join(pages, tail_of(bytes)))
    }

    /// The first so many adjacent free pages. Those that were never used count as free.
    fn find_run(&self, wanted: u32) -> Option<Range<u32>> {
        let mut start = 0;
        for number in 0..self.memory.opened() {
            if number - start == wanted {
                break;
            }
            let is_free = match self.memory.used_for(number) {
                Use::Page(page) => self.memory.header(page).used == 0,
                Use::Run(_) | Use::Inside => false,
            };
            if !is_free {
                start = number + 1;
            }
        }
        let end = start.checked_add(wanted)?;
        (end <= self.memory.pages()).then_some(start..end)
    }

    fn free_run(&mut self, first: u32) {
        let Use::Run(run) = self.memory.used_for(first) else {
            unreachable!("S1: a foreign or double free of a run");
        };
        self.give_back(first..first + run.pages);
    }

    fn give_back(&mut self, pages: Range<u32>) {
        for page in self.memory.part(pages) {
            self.free.push(&mut self.memory, page);
        }
    }

    // ---- the account
    // ---------------------------------------------------------------------------------------------

    fn uses(&self) -> impl Iterator<Item = Use> {
        (0..self.memory.opened()).map(|number| self.memory.used_for(number))
    }

    /// Where every byte of the region is.
    #[must_use]
    pub fn usage(&self) -> Usage {
        let never_used = self.memory.pages() - self.memory.opened();
        let mut usage = Usage {
            administrative_bytes: self.memory.outside_bytes(),
            free_page_bytes: never_used as usize * PAGE_BYTES,
            ..Usage::default()
        };
        for used_for in self.uses() {
            match used_for {
                Use::Page(page) => self.add_page(&mut usage, self.memory.header(page)),
                Use::Run(run) => {
                    usage.block_bytes += run.pages as usize * PAGE_BYTES - run.tail as usize;
                    usage.large_tail_bytes += run.tail as usize;
                }
                Use::Inside => {}
            }
        }
        usage
    }

    fn add_page(&self, usage: &mut Usage, header: &Header) {
        if header.used == 0 {
            usage.free_page_bytes += PAGE_BYTES;
            return;
        }
        let block = usize::from(self.classes.block_bytes(header.class));
        let used = usize::from(header.used) * block;
        let all = usize::from(self.classes.blocks(header.class)) * block;
        usage.block_bytes += used;
        usage.size_class_bytes += all - used;
        usage.page_internal_bytes += PAYLOAD_BYTES - all;
        usage.administrative_bytes += HEADER_BYTES;
    }

    /// Verifies Q1 to Q3.
    ///
    /// # Errors
    /// The first of them that does not hold.
    pub fn check(&self) -> Result<(), Corruption> {
        let mut free = 0;
        let mut not_full = [0; MOST_CLASSES];
        let mut inside = 0;
        for (number, used_for) in self.uses().enumerate() {
            let is_inside = used_for == Use::Inside;
            ensure(
                is_inside == (inside > 0),
                "Q3",
                "a run ends early or late",
                number,
            )?;
            match used_for {
                Use::Page(page) => {
                    let header = self.memory.header(page);
                    if header.used == 0 {
                        free += 1;
                        continue;
                    }
                    self.check_page(header, number)?;
                    let is_full = header.used == self.classes.blocks(header.class);
                    not_full[usize::from(header.class)] += u32::from(!is_full);
                }
                Use::Run(run) => inside = run.pages - 1,
                Use::Inside => inside -= 1,
            }
        }
        let opened = self.memory.opened() as usize;
        ensure(
            inside == 0,
            "Q3",
            "a run ends behind the pages in use",
            opened,
        )?;
        self.check_lists(free, &not_full)
    }

    fn check_page(&self, header: &Header, number: usize) -> Result<(), Corruption> {
        let exists = header.class < self.classes.count();
        ensure(exists, "Q1", "a page's class does not exist", number)?;
        let is_sound = header.is_sound(self.classes.blocks(header.class));
        ensure(is_sound, "Q1", "a page's bitmap and count disagree", number)
    }

    fn check_lists(&self, free: u32, not_full: &[u32; MOST_CLASSES]) -> Result<(), Corruption> {
        let listed = self
            .free
            .length(&self.memory, free, |header| header.used == 0);
        ensure(listed == Some(free), "Q2", "a free page is in no list", 0)?;
        for (class, (list, count)) in self.not_full.iter().zip(not_full).enumerate() {
            let blocks = self.classes.blocks(class as u8);
            let belongs = |header: &Header| {
                usize::from(header.class) == class && (1..blocks).contains(&header.used)
            };
            let listed = list.length(&self.memory, *count, belongs);
            ensure(
                listed == Some(*count),
                "Q2",
                "a not-full page is in no list of its class",
                class,
            )?;
        }
        Ok(())
    }
}

/// The pages of a run.
fn pages_of(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(PAGE_BYTES)).unwrap_or(u32::MAX)
}

/// The bytes of the last page of a run that its object leaves unused.
fn tail_of(bytes: usize) -> u32 {
    (bytes.next_multiple_of(PAGE_BYTES) - bytes) as u32
}

#[cfg(test)]
mod tests;
