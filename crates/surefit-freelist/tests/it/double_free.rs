//! A second free of an object is told, whatever the heap did since: until the bytes before the
//! object's old place are part of another object.

use std::alloc::Layout;
use std::ptr::NonNull;

use surefit_core::{RawHeap, Refused};
use surefit_freelist::{
    Best, Bins, Bitmap, Deferred, First, Heap, Immediate, Index, Linear, Never, Next, NextHitTable,
    PowersOfTwo, Scan, Segregated, SingleList, SizeTree, Tree, TwoLevel, Worst,
};
use surefit_testkit::{JunkRegion, Random};

/// Seeds for each system. Miri takes its time.
const SEEDS: u64 = if cfg!(miri) { 1 } else { 40 };
const STEPS: usize = 400;
/// Bytes of the header before each object.
const HEADER: usize = 4;

/// A heap, its live objects, and the addresses of those that are not.
struct Beside<'m, I> {
    heap: Heap<'m, I>,
    random: Random,
    live: Vec<(NonNull<u8>, Layout)>,
    large: Vec<NonNull<u8>>,
    freed: Vec<NonNull<u8>>,
    /// Second frees that were tried.
    told: usize,
}

impl<I: Index> Beside<'_, I> {
    /// Forgets the addresses whose header is part of an object.
    fn took(&mut self, object: NonNull<u8>, bytes: usize) {
        let start = object.addr().get();
        self.freed.retain(|freed| {
            let header = freed.addr().get() - HEADER;
            header + HEADER < start || header >= start + bytes
        });
    }

    fn layout(&mut self) -> Layout {
        // Chunks of two and three granules, and of those that a last list holds.
        let most = [28, 28, 120, 700][self.random.below(4)];
        let align = [1, 8, 8, 16, 64][self.random.below(5)];
        Layout::from_size_align(self.random.below(most), align).expect("a valid layout")
    }

    fn allocate(&mut self) {
        let layout = self.layout();
        if let Ok(object) = self.heap.allocate(layout) {
            // SAFETY: live.
            let bytes = unsafe { self.heap.usable_bytes(object) };
            self.took(object, bytes);
            // What a header in use looks like. Zeros would look like one that is free.
            // SAFETY: live, and so long.
            unsafe { object.write_bytes(0x80, bytes) };
            self.live.push((object, layout));
        }
    }

    fn free(&mut self) {
        if self.live.is_empty() {
            return;
        }
        let nth = self.random.below(self.live.len());
        let (object, layout) = self.live.swap_remove(nth);
        // SAFETY: live, and of this layout.
        assert_eq!(unsafe { self.heap.try_free(object, layout) }, Ok(()));
        self.freed.push(object);
        self.is_told(object);
    }

    fn resize(&mut self) {
        if self.live.is_empty() {
            return;
        }
        let nth = self.random.below(self.live.len());
        let ((object, old), new) = (self.live[nth], self.layout());
        // SAFETY: live, and of this layout.
        let resized = unsafe { self.heap.resize(object, old, new.size()) };
        if let Ok(resized) = resized {
            let layout = Layout::from_size_align(new.size(), old.align());
            self.live[nth] = (resized, layout.expect("a valid layout"));
            if resized != object {
                self.freed.push(object);
            }
            // SAFETY: live.
            let bytes = unsafe { self.heap.usable_bytes(resized) };
            self.took(resized, bytes);
        }
    }

    /// Moves the end of the lists' chunks.
    fn move_end(&mut self) {
        match self.random.below(4) {
            0 => {
                let bytes = 200 + self.random.below(900);
                if let Ok(object) = self.heap.allocate_large(bytes) {
                    self.took(object, bytes.next_multiple_of(8) + HEADER);
                    self.large.push(object);
                }
            }
            1 if !self.large.is_empty() => {
                let nth = self.random.below(self.large.len());
                let granule = self.heap.granule_of(self.large.swap_remove(nth));
                // SAFETY: a live object of this heap.
                unsafe { self.heap.free_numbered(granule) };
            }
            2 => {
                let bytes = self.heap.limit() - 8 * self.random.below(40);
                self.heap.limit_to(bytes);
            }
            _ => {
                let step = self.random.below(300);
                self.heap.grow(16, step);
            }
        }
    }

    fn is_told(&mut self, object: NonNull<u8>) {
        let layout = Layout::new::<u8>();
        // SAFETY: freed, which the heap finds.
        let again = unsafe { self.heap.try_free(object, layout) };
        assert_eq!(again, Err(Refused::StaleHandle));
        // SAFETY: as above.
        let resized = unsafe { self.heap.resize(object, layout, 9) };
        assert_eq!(resized, Err(Refused::StaleHandle));
        self.told += 1;
    }

    fn step(&mut self) {
        match self.random.below(16) {
            0..7 => self.allocate(),
            7..12 => self.free(),
            12..15 => self.resize(),
            _ => self.move_end(),
        }
        for nth in 0..self.freed.len() {
            self.is_told(self.freed[nth]);
        }
        assert_eq!(self.heap.check(), Ok(()));
        let live = self.live.len() + self.large.len();
        assert_eq!(self.heap.live_objects(), live);
    }
}

fn told_of<I: Index>() {
    for seed in 0..SEEDS {
        let bytes = [3 << 10, 6 << 10][seed as usize % 2];
        let mut region = JunkRegion::new(bytes + 5 * 1024, 64, seed);
        let mut beside = Beside {
            heap: Heap::<I>::new(region.memory()).expect("large enough"),
            random: Random(seed),
            live: Vec::new(),
            large: Vec::new(),
            freed: Vec::new(),
            told: 0,
        };
        (0..STEPS).for_each(|_| beside.step());
        assert!(beside.told > STEPS, "{}", beside.told);
    }
}

/// Generates the test for a group of systems.
macro_rules! told {
    ($($module:ident $($index:ty),+;)+) => {
        mod a_second_free_is_told_whatever_lies_around {
            use super::*;

            $(
                #[test]
                fn $module() {
                    $(told_of::<$index>();)+
                }
            )+
        }
    };
}

told! {
    two_levels TwoLevel;
    powers_of_two PowersOfTwo;
    size_tree SizeTree;
    bins Bins;
    first SingleList<First>;
    next SingleList<Next>;
    best SingleList<Best>;
    worst SingleList<Worst>;
    scan Segregated<Scan, Never, Tree, 16>, Segregated<Scan, Immediate, Linear, 16, 16>;
    table Segregated<NextHitTable, Immediate, Tree, 16>, Segregated<NextHitTable, Deferred, Linear, 128>;
    table_of_trees Segregated<NextHitTable, Deferred, Tree, 16, 16>;
    bitmap Segregated<Bitmap, Immediate, Tree, 256>, Segregated<Bitmap, Immediate, Tree, 16>;
    bitmap_deferred Segregated<Bitmap, Deferred, Tree, 16>, Segregated<Bitmap, Deferred, Linear, 64>;
    bitmap_never Segregated<Bitmap, Never, Tree, 16>, Segregated<Bitmap, Never, Linear, 64, 16>;
}

/// The end of the lists' chunks stops where an object was, and moves on.
fn told_at_the_end<I: Index>() {
    let mut region = JunkRegion::new(8 << 10, 64, 1);
    let mut heap = Heap::<I>::new(region.memory()).expect("large enough");
    let layout = Layout::new::<[u64; 9]>();
    let [before, object] = [(); 2].map(|()| heap.allocate(layout).expect("room"));
    let all = heap.limit();
    for freed in [before, object] {
        // SAFETY: live, and of this layout.
        assert_eq!(unsafe { heap.try_free(freed, layout) }, Ok(()));
    }
    heap.coalesce();
    heap.limit_to(object.addr().get() - before.addr().get());
    assert!(heap.limit() < 100, "{}", heap.limit());
    for step in [None, Some(64), Some(all)] {
        assert!(step.is_none_or(|step| heap.grow(16, step)));
        for freed in [before, object] {
            // SAFETY: freed, which the heap finds.
            let again = unsafe { heap.try_free(freed, layout) };
            assert_eq!(again, Err(Refused::StaleHandle), "{step:?}");
        }
        assert_eq!(heap.check(), Ok(()), "{step:?}");
    }
}

#[test]
fn a_second_free_is_told_where_the_end_was() {
    told_at_the_end::<TwoLevel>();
    told_at_the_end::<PowersOfTwo>();
    told_at_the_end::<SizeTree>();
    told_at_the_end::<Bins>();
    told_at_the_end::<SingleList<First>>();
    told_at_the_end::<Segregated<Bitmap, Immediate, Tree, 256>>();
    told_at_the_end::<Segregated<Scan, Never, Tree, 16>>();
}
