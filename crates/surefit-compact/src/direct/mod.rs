//! DOC
mod classes;
mod memory;
mod pages;
mod runs;

use core::alloc::Layout;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use surefit_core::{Corruption, Parts, RawHeap, Refused};

use classes::{CLASSES, class_of};
use memory::{Block, Memory, Page, UNIT_BYTES};
use pages::NotFull;
use runs::FreeRuns;

/// CF(∞) without abstract addresses
#[derive(Debug)]
pub struct DirectHeap<'m> {
    memory: Memory<'m>,
    not_full: NotFull,
    free_runs: FreeRuns,
}

impl<'m> DirectHeap<'m> {
    /// A heap over a region.
    pub fn new(region: &'m mut [MaybeUninit<u8>]) -> Result<Self, Refused> {
        let mut memory = Memory::new(region)?;
        let free_runs = FreeRuns::new(&mut memory);
        Ok(Self {
            memory,
            not_full: NotFull::new(),
            free_runs,
        })
    }

    #[inline]
    fn allocate_block(&mut self, class: u8) -> Result<NonNull<u8>, Refused> {
        match self.not_full.take(&mut self.memory, class) {
            Some(block) => Ok(self.memory.address(block)),
            None => self.open(class),
        }
    }

    /// M1.
    #[cold]
    fn open(&mut self, class: u8) -> Result<NonNull<u8>, Refused> {
        let page = self
            .free_runs
            .take_page(&mut self.memory)
            .ok_or(Refused::NoPage)?;
        self.not_full.open(&mut self.memory, class, page);
        self.allocate_block(class)
    }

    #[inline(never)]
    fn allocate_run(&mut self, bytes: usize, align: usize) -> Result<NonNull<u8>, Refused> {
        let (units, tail) = units_of(bytes)?;
        let run = self
            .free_runs
            .take(&mut self.memory, units, align, tail)
            .ok_or(Refused::NoPage)?;
        Ok(self.memory.unit_address(run))
    }

    #[cold]
    fn free_last(&mut self, block: Block) {
        if self.memory.record(block.page).class == pages::NOT_BLOCKS {self.free_run(block)} else {self.release(block.page)}
    }
    fn release(&mut self, page: Page) {
        self.not_full.release(&mut self.memory, page);
        self.free_runs.give(&mut self.memory, page.first_unit());
    }

    #[inline(never)]
    fn free_run(&mut self, block: Block) {
        let run = self.memory.unit_at(block);
        self.free_runs.give(&mut self.memory, run);
    }
}

fn units_of(bytes: usize) -> Result<(u32, u32), Refused> {
    let bytes = bytes.max(1);
    let units = bytes.div_ceil(UNIT_BYTES);
    let limit = (1 << 30) - 1;
    if units > limit {
        return Err(Refused::TooLarge { limit: limit * UNIT_BYTES });
    }
    Ok((units as u32, (units * UNIT_BYTES - bytes) as u32))
}

unsafe impl RawHeap for DirectHeap<'_> {
    #[inline]
    fn allocate(&mut self, layout: Layout) -> Result<NonNull<u8>, Refused> {
        match class_of(layout.size(), layout.align()) {
            Some(class) => self.allocate_block(class),
            None => self.allocate_run(layout.size(), layout.align()),
        }
    }

    #[inline]
    unsafe fn free(&mut self, object: NonNull<u8>, _layout: Layout) {
        let block = unsafe { self.memory.block_at(object) };
        if !self.not_full.put_back(&mut self.memory, block, object) {
            self.free_last(block);
        }
    }
    fn parts(&self) -> Parts { Parts::default() }
    fn check(&self) -> Result<(), Corruption> { let n = runs::check_tags(&self.memory)?; self.free_runs.check(&self.memory, n) }
}
