//! Contiguous objects of any length among page-blocks and objects in pieces, beside a model of
//! every byte.

use std::alloc::Layout;

use surefit_compact::{Bytes, Contiguous, Heap, Medium, Narrow, Wide, Width};

use crate::config::config;
use crate::input::Input;
use crate::region::Region;

/// A contiguous object and what it must hold.
struct Whole {
    object: Contiguous<u8>,
    content: Vec<u8>,
    align: usize,
}

/// A byte object, in pieces or not, and what it must hold.
struct Small {
    bytes: Bytes<u8>,
    content: Vec<u8>,
}

struct Run<'m, W: Width> {
    heap: Heap<'m, W>,
    page: usize,
    region_bytes: usize,
    wholes: Vec<Whole>,
    smalls: Vec<Small>,
    steps: usize,
}

/// Runs all operations of an input.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    match input.byte() % 3 {
        0 => run_width::<Wide>(&mut input),
        1 => run_width::<Narrow>(&mut input),
        _ => run_width::<Medium>(&mut input),
    }
}

fn run_width<W: Width<Generation = ()>>(input: &mut Input<'_>) {
    let config = config(input, W::WORD_BYTES);
    let page = config.geometry().page_bytes();
    // Windows need many pages.
    let region_bytes = (input.region_bytes() + 16 * page).min(192 << 10);
    let mut region = Region::new(region_bytes, page, input.below(9));
    let Ok(heap) = Heap::<W>::new(region.memory(), &config) else {
        return;
    };
    let mut run = Run {
        heap,
        page,
        region_bytes,
        wholes: Vec::new(),
        smalls: Vec::new(),
        steps: 0,
    };
    while !input.is_empty() && run.steps < 1000 {
        run.steps += 1;
        run.step(input);
        run.verify();
    }
    run.finish();
}

/// The bytes that step number `seed` writes.
fn fresh(seed: usize, len: usize) -> Vec<u8> {
    (0..len)
        .map(|at| (seed.wrapping_mul(37) ^ (at * 11) ^ at >> 8) as u8)
        .collect()
}

impl<W: Width<Generation = ()>> Run<'_, W> {
    fn step(&mut self, input: &mut Input<'_>) {
        match input.byte() % 16 {
            0..4 => self.allocate(input),
            4 | 5 => self.free(input),
            6 | 7 => self.resize(input),
            8 | 9 => self.allocate_small(input),
            10 | 11 => self.free_small(input),
            12 => self.resize_small(input),
            13 => self.write(input),
            14 => self.alternate(input),
            _ => self.others(input),
        }
    }

    /// All bytes of all objects: any of these operations may move any object.
    fn verify(&self) {
        self.heap.check().expect("every invariant holds");
        assert_eq!(self.heap.usage().total(), self.region_bytes);
        for whole in &self.wholes {
            assert_eq!(self.heap.contiguous(&whole.object), &whole.content[..]);
        }
        for small in &self.smalls {
            let chunks = self.heap.chunks(&small.bytes);
            assert!(chunks.flatten().eq(&small.content));
        }
    }

    fn finish(mut self) {
        for whole in std::mem::take(&mut self.wholes) {
            self.heap.free_contiguous(whole.object);
            self.heap.check().expect("every invariant holds");
        }
        for small in std::mem::take(&mut self.smalls) {
            self.heap.free_bytes(small.bytes);
        }
        self.heap.check().expect("every invariant holds");
        let stats = self.heap.stats();
        assert_eq!((stats.live_blocks, stats.pages, stats.holes), (0, 0, 0));
    }

    /// Mostly some pages, sometimes any size.
    fn len(&self, input: &mut Input<'_>) -> usize {
        if input.byte() < 32 {
            return input.size();
        }
        let pages = input.below(9);
        pages * self.page + input.number() % self.page
    }

    fn align(&self, input: &mut Input<'_>) -> usize {
        let shift = input.below(self.page.ilog2() as usize + 2);
        if input.byte() < 192 { 1 } else { 1 << shift }
    }

    /// The most bytes that one call on an object of so many bytes may copy: (2·g + 2)·s pages, for
    /// a slot of s = 2^i pages and g < i smaller sizes of slots.
    fn most_copied(&self, len: usize) -> u64 {
        let slot = len.div_ceil(self.page).max(1).next_power_of_two();
        ((2 * slot.ilog2() as usize + 2) * slot * self.page) as u64
    }

    fn moved(&self) -> u64 {
        self.heap.stats().moved_bytes_total
    }

    fn allocate(&mut self, input: &mut Input<'_>) {
        let (len, align) = (self.len(input), self.align(input));
        let Ok(layout) = Layout::from_size_align(len, align) else {
            return;
        };
        let promised = self.heap.can_allocate_contiguous(layout);
        let (before, moved) = (self.heap.usage(), self.moved());
        match self.heap.alloc_contiguous_zeroed(layout) {
            Ok(mut object) => {
                assert!(promised, "{layout:?}");
                assert!(self.moved() - moved <= self.most_copied(len));
                assert_eq!(object.len(), len);
                let bytes = self.heap.contiguous_mut(&mut object);
                assert_eq!(bytes.as_ptr().addr() % align, 0);
                assert!(bytes.iter().all(|&byte| byte == 0));
                let content = fresh(self.steps, len);
                bytes.copy_from_slice(&content);
                self.wholes.push(Whole {
                    object,
                    content,
                    align,
                });
            }
            Err(refused) => {
                assert!(!promised, "{layout:?}: {refused}");
                assert_eq!(self.heap.usage(), before, "a refusal changes nothing");
                assert_eq!(self.moved(), moved, "a refusal moves nothing");
            }
        }
    }

    fn free(&mut self, input: &mut Input<'_>) {
        if let Some(which) = input.number().checked_rem(self.wholes.len()) {
            let whole = self.wholes.swap_remove(which);
            let (len, moved) = (whole.content.len(), self.moved());
            self.heap.free_contiguous(whole.object);
            assert!(self.moved() - moved <= self.most_copied(len));
        }
    }

    fn resize(&mut self, input: &mut Input<'_>) {
        let Some(which) = input.number().checked_rem(self.wholes.len()) else {
            return;
        };
        let len = self.len(input);
        // What is parked goes back before the heap refuses.
        let before = self.heap.usage().block_bytes;
        let whole = &mut self.wholes[which];
        let align = match input.byte() {
            0..240 => whole.align,
            _ => 64,
        };
        let Ok(layout) = Layout::from_size_align(len, align) else {
            return;
        };
        let old = whole.content.len();
        if self
            .heap
            .resize_contiguous(&mut whole.object, layout)
            .is_err()
        {
            assert_eq!(
                self.heap.usage().block_bytes,
                before,
                "a refusal changes no object"
            );
            return;
        }
        whole.align = align;
        whole.content.resize(len, 0);
        let bytes = self.heap.contiguous_mut(&mut whole.object);
        assert_eq!(bytes.as_ptr().addr() % align, 0);
        assert_eq!(bytes, &whole.content[..]);
        if len > old {
            let added = fresh(self.steps, len - old);
            bytes[old..].copy_from_slice(&added);
            whole.content[old..].copy_from_slice(&added);
        }
    }

    fn write(&mut self, input: &mut Input<'_>) {
        if let Some(which) = input.number().checked_rem(self.wholes.len()) {
            let whole = &mut self.wholes[which];
            whole.content = fresh(self.steps, whole.content.len());
            self.heap
                .contiguous_mut(&mut whole.object)
                .copy_from_slice(&whole.content);
        }
    }

    // ---- page-blocks and pieces -----------------------------------------------------------------

    fn allocate_small(&mut self, input: &mut Input<'_>) {
        let len = input.size();
        let count = 1 + input.below(24);
        for _ in 0..count {
            if !self.add_small(len) {
                return;
            }
        }
    }

    fn add_small(&mut self, len: usize) -> bool {
        let layout = Layout::from_size_align(len, 8).ok();
        let Some(mut bytes) = layout.and_then(|layout| self.heap.alloc_zeroed(layout).ok()) else {
            return false;
        };
        let content = fresh(self.steps + self.smalls.len(), len);
        self.heap.write_at(&mut bytes, 0, &content);
        self.smalls.push(Small { bytes, content });
        true
    }

    fn free_small(&mut self, input: &mut Input<'_>) {
        for _ in 0..1 + input.below(24) {
            let Some(which) = input.number().checked_rem(self.smalls.len()) else {
                return;
            };
            let small = self.smalls.swap_remove(which);
            self.heap.free_bytes(small.bytes);
            self.heap.check().expect("every invariant holds");
        }
    }

    fn resize_small(&mut self, input: &mut Input<'_>) {
        let Some(which) = input.number().checked_rem(self.smalls.len()) else {
            return;
        };
        let small = &mut self.smalls[which];
        let len = input.size();
        let Ok(layout) = Layout::from_size_align(len, 8) else {
            return;
        };
        if self.heap.resize(&mut small.bytes, layout).is_ok() {
            small.content.resize(len, 0);
        }
    }

    /// Pairs are parked and taken while windows come and go.
    fn alternate(&mut self, input: &mut Input<'_>) {
        let len = input.size() % 1100;
        for _ in 0..input.below(40) {
            match input.byte() % 8 {
                0..3 => self.free_small(&mut Input::new(&[0, input.byte()])),
                3 => self.allocate(input),
                4 => self.free(input),
                _ => {
                    self.add_small(len);
                }
            }
            self.heap.check().expect("every invariant holds");
        }
    }

    fn others(&mut self, input: &mut Input<'_>) {
        let budget = u64::from(input.byte());
        let before = self.heap.stats();
        assert_eq!(self.heap.live_blocks().count(), before.live_blocks as usize);
        let moves = self.heap.compact(budget);
        let after = self.heap.stats();
        assert!(moves <= budget && after.moves_total - before.moves_total == moves);
        assert!(after.pages <= before.pages, "compaction never takes pages");
    }
}
