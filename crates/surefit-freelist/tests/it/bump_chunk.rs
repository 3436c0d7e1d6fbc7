//! Bump chunks against a list of the objects that were cut: each has its bytes, the heap stays
//! sound, and the rest returns to it.

use core::alloc::Layout;
use core::ptr::NonNull;

use surefit_core::RawHeap;
use surefit_freelist::{
    Bins, Bitmap, BumpChunk, Deferred, First, Heap, Immediate, Index, Linear, Never, PowersOfTwo,
    Scan, Segregated, SingleList, SizeTree, Tree, TwoLevel,
};
use surefit_testkit::{JunkRegion, Random};

/// Live objects, each filled with its own byte.
#[derive(Default)]
struct Objects(Vec<(NonNull<u8>, usize, u8)>);

impl Objects {
    fn add(&mut self, object: NonNull<u8>, bytes: usize) {
        let fill = self.0.len() as u8;
        // SAFETY: an object of so many bytes.
        unsafe { object.write_bytes(fill, bytes) };
        self.0.push((object, bytes, fill));
    }

    fn verify(&self) {
        for &(object, bytes, fill) in &self.0 {
            // SAFETY: live, and written by `add`.
            let found = unsafe { NonNull::slice_from_raw_parts(object, bytes).as_ref() };
            assert!(found.iter().all(|&byte| byte == fill), "object {fill}");
        }
    }
}

/// Cuts random objects from bump chunk after bump chunk, with objects from the lists between, and
/// frees some while no bump chunk is open.
fn cut<I: Index>() {
    let mut region = JunkRegion::misaligned(12 << 10, 64, 3, 5);
    let mut heap = Heap::<I>::new(region.memory()).expect("large enough");
    let (mut random, mut objects, mut cut) = (Random(7), Objects::default(), 0);
    for _ in 0..if cfg!(miri) { 8 } else { 120 } {
        let Some(mut bump) = heap.open_bump_chunk(2 + random.below(9) as u32) else {
            break;
        };
        let left = bump.bytes();
        let before = heap.live_objects();
        let mut used = 0;
        for _ in 0..random.below(12) {
            let granules = 2 + random.below(9) as u32;
            // SAFETY: S1: just opened, and only allocated from since. S2: 2 to 10. S3: no copies.
            let Some(object) = (unsafe { bump.take(granules) }) else {
                break;
            };
            objects.add(object, granules as usize * 8 - 4);
            (cut, used) = (cut + 1, used + granules as usize * 8);
            assert_eq!(bump.bytes(), left - used);
            if random.below(4) == 0 {
                let layout = Layout::new::<[u64; 3]>();
                if let Ok(object) = heap.allocate(layout) {
                    objects.add(object, layout.size());
                }
            }
        }
        if random.below(3) == 0 {
            // SAFETY: as above.
            if let Some(object) = unsafe { bump.take_all(2) } {
                objects.add(object, left - used - 4);
                assert_eq!(bump.bytes(), 0);
            }
        }
        // SAFETY: S1, S2: as above.
        unsafe { heap.close_bump_chunk(bump) };
        heap.check().expect("sound");
        objects.verify();
        assert!(heap.live_objects() >= before - 1);
        assert_eq!(heap.live_objects(), objects.0.len());
        for _ in 0..random.below(6).min(objects.0.len()) {
            let (object, bytes, _) = objects.0.swap_remove(random.below(objects.0.len()));
            let layout = Layout::from_size_align(bytes, 8).expect("small");
            // SAFETY: live; no bump chunk is open.
            unsafe { heap.free(object, layout) };
        }
        heap.check().expect("sound");
    }
    assert!(cut > 10, "{cut}");
    objects.verify();
}

#[test]
fn objects_of_a_bump_chunk_are_objects_of_the_heap() {
    cut::<Segregated<Bitmap, Immediate, Tree, 64>>();
    cut::<Segregated<Bitmap, Immediate, Linear, 32, 16>>();
    cut::<SingleList<First>>();
    cut::<SizeTree>();
    cut::<Bins>();
    cut::<PowersOfTwo>();
    cut::<TwoLevel>();
}

#[test]
fn indexes_that_do_not_merge_at_once_open_none() {
    fn opens<I: Index>() -> bool {
        let mut region = JunkRegion::new(4096, 64, 1);
        let mut heap = Heap::<I>::new(region.memory()).expect("large enough");
        heap.open_bump_chunk(2).is_some()
    }
    assert!(opens::<Segregated<Bitmap, Immediate, Tree, 64>>());
    assert!(!opens::<Segregated<Bitmap, Deferred, Tree, 64>>());
    assert!(!opens::<Segregated<Scan, Never, Linear, 64>>());
}

/// If only one granule would be left of a chunk, the last object gets it.
#[test]
fn nothing_is_cut_that_would_leave_less_than_a_chunk() {
    let mut region = JunkRegion::new(4096, 64, 1);
    let mut heap = Heap::<TwoLevel>::new(region.memory()).expect("large enough");
    let mut bump = heap.open_bump_chunk(2).expect("a chunk");
    let granules = (bump.bytes() / 8) as u32;
    // SAFETY: S1: just opened. S2: more than 2. S3: no copies. So for all below.
    unsafe {
        assert!(bump.take(granules).is_none());
        assert!(bump.take(granules - 1).is_none());
        assert!(bump.take_all(granules + 1).is_none());
        assert_eq!(bump.taken(), 0);
        assert!(bump.take(granules - 2).is_some());
        assert_eq!(bump.taken(), 1);
        assert!(bump.take(2).is_none());
        assert!(bump.take_all(2).is_some());
        assert!(bump.take(2).is_none() && bump.take_all(2).is_none());
        heap.close_bump_chunk(bump);
        heap.close_bump_chunk(BumpChunk::EMPTY);
    }
    assert_eq!(heap.live_objects(), 2);
    heap.check().expect("sound");
}

/// While a bump chunk is open, its rest is one more object. After it is closed, nothing shows that
/// it was open.
#[test]
fn a_bump_chunk_that_is_closed_at_once_leaves_no_trace() {
    let mut region = JunkRegion::new(4096, 64, 1);
    let mut heap = Heap::<SizeTree>::new(region.memory()).expect("large enough");
    let free: Vec<usize> = heap.free_sizes().collect();
    let bump = heap.open_bump_chunk(2).expect("a chunk");
    assert_eq!((heap.live_objects(), heap.free_sizes().count()), (1, 0));
    heap.check().expect("sound, the rest is an object");
    // SAFETY: S1, S2: just opened.
    unsafe { heap.close_bump_chunk(bump) };
    assert_eq!(heap.live_objects(), 0);
    assert_eq!(heap.free_sizes().collect::<Vec<_>>(), free);
    heap.check().expect("sound");
}
