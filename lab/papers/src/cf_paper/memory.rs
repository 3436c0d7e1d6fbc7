//! The region of a published heap. Only this module accesses its bytes.
//!
//! ```text
//! base                                      pages · 16 KiB             + 8 · pages
//! | payload | header | payload | header | … | one record for each page | less than a page |
//! ```
//!
//! # Invariants
//! - M1 `base .. base + pages · (16384 + 8)` belongs to this heap alone for `'m`; `base` is a
//!   multiple of eight.
//! - M2 A [`Page`] is below `opened`. Only this module makes pages, from numbers that it checks.
//! - M3 A page below `opened` has a header, unless it belongs to a run: then all its bytes are an
//!   object's. No list and no caller holds a [`Page`] of a run. (`heap` unlinks a page before
//!   [`Memory::join`], and forgets it.)
//! - M4 Every page below `opened` has a record.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr::NonNull;

use surefit_core::Refused;

use super::classes::{PAGE_BYTES, PAYLOAD_BYTES};
use super::header::{Header, Page};

/// What is known of a page outside of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
struct Record {
    /// The pages of the run that begins here; [`Record::INSIDE`] behind the first one; 0 if the
    /// page has a header.
    run: u32,
    /// The bytes of the run that its object leaves unused.
    tail: u32,
}

impl Record {
    const INSIDE: u32 = u32::MAX;
}

/// A run of pages that holds one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) pages: u32,
    pub(super) tail: u32,
}

/// What a page is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// It has a header, and page-blocks if it is not free.
    Page(Page),
    /// A run begins here.
    Run(Run),
    /// It belongs to the run of a page before it.
    Inside,
}

/// The region, as pages.
#[derive(Debug)]
pub(super) struct Memory<'m> {
    base: NonNull<u8>,
    pages: u32,
    opened: u32,
    outside: usize,
    owner: PhantomData<&'m mut [MaybeUninit<u8>]>,
}

impl<'m> Memory<'m> {
    /// Takes the whole pages of a region. Writes nothing.
    pub(super) fn new(region: &'m mut [MaybeUninit<u8>]) -> Result<Self, Refused> {
        let all = region.len();
        let skipped = region.as_ptr().align_offset(align_of::<Header>()).min(all);
        let each = PAGE_BYTES + size_of::<Record>();
        let pages = u32::try_from((all - skipped) / each).unwrap_or(u32::MAX - 1);
        let pages = pages.min(u32::MAX - 1);
        if pages == 0 {
            return Err(Refused::Region {
                needed: each + align_of::<Header>(),
            });
        }
        Ok(Self {
            base: NonNull::from(&mut region[skipped..]).cast(),
            pages,
            opened: 0,
            outside: all - pages as usize * PAGE_BYTES,
            owner: PhantomData,
        })
    }

    /// The bytes of the region outside its pages.
    pub(super) fn outside_bytes(&self) -> usize {
        self.outside
    }

    /// The pages of the region.
    pub(super) fn pages(&self) -> u32 {
        self.pages
    }

    /// The pages that were ever used: their numbers are below this one.
    pub(super) fn opened(&self) -> u32 {
        self.opened
    }

    #[inline]
    fn page_place(&self, number: u32) -> NonNull<u8> {
        debug_assert!(number < self.pages, "M2");
        // SAFETY: M1, M2: inside the pages.
        unsafe { self.base.add(number as usize * PAGE_BYTES) }
    }

    #[inline]
    fn header_place(&self, number: u32) -> NonNull<Header> {
        // SAFETY: M1: the page has as many bytes, and its header is a multiple of eight behind the
        // base.
        unsafe { self.page_place(number).add(PAYLOAD_BYTES).cast() }
    }

    #[inline]
    fn record_place(&self, number: u32) -> NonNull<Record> {
        debug_assert!(number < self.pages, "M2");
        let at = self.pages as usize * PAGE_BYTES + number as usize * size_of::<Record>();
        // SAFETY: M1: behind the pages, one for each; a multiple of eight behind the base.
        unsafe { self.base.add(at).cast() }
    }

    #[inline]
    fn record(&self, number: u32) -> Record {
        debug_assert!(number < self.opened, "M4");
        // SAFETY: M4: it was written.
        unsafe { self.record_place(number).read() }
    }

    fn set_record(&mut self, number: u32, record: Record) {
        // SAFETY: M1: it is this heap's.
        unsafe { self.record_place(number).write(record) };
    }

    /// A page's header.
    #[inline]
    pub(super) fn header(&self, page: Page) -> &Header {
        // SAFETY: M3: the page has a header; it is borrowed as long as the heap.
        unsafe { self.header_place(page.number()).as_ref() }
    }

    /// A page's header.
    #[inline]
    pub(super) fn header_mut(&mut self, page: Page) -> &mut Header {
        // SAFETY: M3: the page has a header; it is borrowed exclusively, as the heap is.
        unsafe { self.header_place(page.number()).as_mut() }
    }

    /// What a page that was ever used is used for.
    pub(super) fn used_for(&self, number: u32) -> Use {
        assert!(number < self.opened, "M2");
        let Record { run: pages, tail } = self.record(number);
        match pages {
            0 => Use::Page(Page::new(number)),
            Record::INSIDE => Use::Inside,
            pages => Use::Run(Run { pages, tail }),
        }
    }

    /// Opens the first page that was never used; `None` if there is none.
    pub(super) fn open(&mut self) -> Option<Page> {
        let number = self.opened;
        if number == self.pages {
            return None;
        }
        self.opened += 1;
        self.give_header(number);
        Some(Page::new(number))
    }

    fn give_header(&mut self, number: u32) {
        self.set_record(number, Record::default());
        // SAFETY: M1, M3: the page is free, so the place is the heap's.
        unsafe { self.header_place(number).write(Header::default()) };
    }

    /// The page and the offset of a live page-block.
    ///
    /// # Safety
    /// S1: a live page-block of this heap begins at `object`.
    #[inline]
    pub(super) unsafe fn block_at(&self, object: NonNull<u8>) -> (Page, u16) {
        let at = object.addr().get() - self.base.addr().get();
        (
            Page::new((at / PAGE_BYTES) as u32),
            (at % PAGE_BYTES) as u16,
        )
    }

    /// The number of the first page of a live run.
    ///
    /// # Safety
    /// S1: a live run of this heap begins at `object`.
    pub(super) unsafe fn run_at(&self, object: NonNull<u8>) -> u32 {
        ((object.addr().get() - self.base.addr().get()) / PAGE_BYTES) as u32
    }

    /// The address `offset` bytes behind a page's first one; `offset` is in its payload.
    #[inline]
    pub(super) fn address(&self, page: Page, offset: usize) -> NonNull<u8> {
        debug_assert!(offset < PAYLOAD_BYTES, "a page-block begins in the payload");
        // SAFETY: M1, M2: inside the page.
        unsafe { self.page_place(page.number()).add(offset % PAGE_BYTES) }
    }

    /// Makes pages a run; they are free and in no list. Returns the run's address.
    pub(super) fn join(&mut self, pages: Range<u32>, tail: u32) -> NonNull<u8> {
        let first = pages.start;
        for number in pages.clone() {
            let run = Record::INSIDE;
            self.set_record(number, Record { run, tail: 0 });
        }
        let run = pages.end - first;
        self.set_record(first, Record { run, tail });
        self.page_place(first)
    }

    /// Changes how many bytes of its run an object leaves unused.
    pub(super) fn set_tail(&mut self, first: u32, run: Run) {
        let Run { pages, tail } = run;
        self.set_record(first, Record { run: pages, tail });
    }

    /// Gives the pages of a run, or of its end, headers again. They are free.
    pub(super) fn part(&mut self, pages: Range<u32>) -> impl Iterator<Item = Page> + use<> {
        for number in pages.clone() {
            self.give_header(number);
        }
        pages.map(Page::new)
    }

    /// Copies bytes of one live object into another.
    ///
    /// # Safety
    /// S2: two different live objects of this heap, both at least `bytes` long.
    pub(super) unsafe fn copy(&mut self, from: NonNull<u8>, to: NonNull<u8>, bytes: usize) {
        // SAFETY: S2; live objects are disjoint.
        unsafe { from.copy_to_nonoverlapping(to, bytes) };
    }
}
