//! Numbers of any size, up to the largest: they are served if possible, otherwise refused, and then
//! the heap is unchanged.

use core::alloc::Layout;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};

use surefit_compact::{Bound, Narrow, PageOrder, Wide, Width};
use surefit_papers::block_table::{BlockTableConfig, BlockTableHeap, Bytes};
use surefit_papers::cf_paper::{FROM_16, FROM_32, Published};
use surefit_testkit::JunkRegion;
use surefit_testkit::extremes::{SIZES, sizes, too_aligned, too_large};

const REGION: usize = 40_000;

/// The valid layouts of these sizes and alignments.
fn layouts() -> Vec<Layout> {
    let aligns = (0..usize::BITS - 1).step_by(5).map(|bit| 1 << bit);
    let all = aligns.flat_map(|align| sizes().into_iter().map(move |size| (size, align)));
    all.filter_map(|(size, align)| Layout::from_size_align(size, align).ok())
        .collect()
}

/// Runs a call that must panic and leave the heap unchanged.
fn panics<T>(call: impl FnOnce() -> T) {
    assert!(catch_unwind(AssertUnwindSafe(|| drop(call()))).is_err());
}

#[test]
fn offsets_beyond_an_object_panic_before_anything_is_read() {
    let config = BlockTableConfig::DEFAULT;
    let mut memory = vec![MaybeUninit::new(9); REGION];
    let table: BlockTableHeap = BlockTableHeap::new(&mut memory, &config).expect("room");
    for len in [0, 1, 40, 64, 65, 3000] {
        let layout = Layout::from_size_align(len, 1).expect("valid");
        let mut frames = table.alloc_zeroed(layout).expect("room");
        for offset in sizes().into_iter().filter(|&offset| offset > len) {
            panics(|| table.chunk(&frames, offset).len());
            panics(|| table.chunk_mut(&mut frames, offset).len());
            panics(|| table.read_at(&frames, offset, &mut [0]));
            panics(|| table.write_at(&mut frames, offset, &[0]));
            panics(|| table.address(&frames, offset));
        }
        panics(|| table.read_at(&frames, 0, &mut vec![0; len + 1]));
        panics(|| table.write_at(&mut frames, len, &[0]));
        panics(|| table.address(&frames, len));
        assert!(table.chunk(&frames, len).is_empty());
        // Nothing at all may be copied from anywhere.
        table.write_at(&mut frames, usize::MAX, &[]);
    }
    table.check().expect("sound");
}

fn assert_frames(frame: usize, page_bytes: usize) {
    let config = BlockTableConfig::with_pages::<Wide>(frame, Bound::DEFAULT, page_bytes);
    let Ok(config) = config else { return };
    for len in sizes() {
        assert!(config.frames_of(len) >= len / frame);
    }
    assert!(config.region_max::<Narrow>() <= config.region_max::<Wide>());
    let original = config.with_order(PageOrder::Original);
    assert!(original.is_err(), "a bound in holes");
}

#[test]
fn specifications_of_any_numbers_are_refused_or_valid() {
    for page_bytes in sizes() {
        sizes()
            .into_iter()
            .for_each(|frame| assert_frames(frame, page_bytes));
    }
}

#[test]
fn a_block_table_answers_lengths_of_any_size() {
    fn run<W: Width<Generation = ()>>(frame: usize) {
        let config = BlockTableConfig::with_pages::<W>(frame, Bound::DEFAULT, 1024);
        let config = config.expect("valid");
        let mut memory = vec![MaybeUninit::new(9); REGION];
        let heap: BlockTableHeap<'_, W> = BlockTableHeap::new(&mut memory, &config).expect("room");
        let mut kept: Bytes<u8> = heap.alloc_zeroed(Layout::new::<[u64; 40]>()).expect("room");
        for layout in layouts() {
            let fits = heap.can_allocate(layout.size(), layout.align());
            let allocated = heap.alloc(layout);
            assert_eq!(allocated.is_ok(), fits, "{layout:?}");
            allocated
                .into_iter()
                .for_each(|bytes| heap.free_bytes(bytes));
            let before = kept.len();
            match heap.resize(&mut kept, layout) {
                Ok(()) => assert_eq!(kept.len(), layout.size()),
                Err(_) => assert_eq!(kept.len(), before),
            }
            assert!(heap.chunks(&kept).flatten().all(|&byte| byte == 0));
        }
        for size in sizes() {
            let _ = heap.row_class_stats(size);
            for align in sizes() {
                assert!(!heap.can_allocate(size, align) || size < REGION);
            }
        }
        for budget in [0, 1, u64::MAX] {
            heap.compact(budget);
        }
        heap.check().expect("sound");
        assert_eq!(heap.usage().total(), REGION);
    }
    for frame in [16, 32, 1024] {
        run::<Wide>(frame);
        run::<Narrow>(frame);
    }
}

/// The caller promises the length and the bytes again; both calls are unsafe.
#[test]
fn names_get_their_lengths_back() {
    let mut memory = vec![MaybeUninit::new(9); REGION];
    let table: BlockTableHeap =
        BlockTableHeap::new(&mut memory, &BlockTableConfig::DEFAULT).expect("room");
    for len in [0, 1, 32, 33, 5000] {
        let layout = Layout::from_size_align(len, 1).expect("valid");
        let name = table
            .alloc_zeroed(layout)
            .expect("room")
            .into_uninit()
            .into_name();
        // SAFETY: the object has this length, and its bytes are zeros.
        let bytes = unsafe { name.with_len(len).assume_init() };
        assert_eq!((bytes.len(), bytes.is_empty()), (len, len == 0));
        assert!(table.chunks(&bytes).flatten().all(|&byte| byte == 0));
        table.free_bytes(bytes);
    }
    table.check().expect("sound");
}

#[test]
fn the_heap_of_the_papers_answers_regions_and_lengths_of_any_size() {
    let around_a_page = 16_380..16_410;
    let regions = sizes().into_iter().filter(|&bytes| bytes <= REGION);
    for region in regions.chain(around_a_page).chain([REGION]) {
        for classes in [&FROM_16, &FROM_32] {
            let mut memory = vec![MaybeUninit::new(9); region];
            let Ok(mut heap) = Published::new(&mut memory, classes) else {
                assert!(region < 16_400, "{region}");
                continue;
            };
            for bytes in sizes() {
                if let Ok(object) = heap.allocate(bytes) {
                    assert!(bytes <= region);
                    // SAFETY: the object is live and has so many bytes.
                    unsafe { heap.free(object, bytes) };
                }
                heap.check().expect("sound");
                assert_eq!(heap.usage().total(), region);
            }
        }
    }
}

/// Values that no frame can hold are returned, whatever their type.
#[test]
fn values_of_any_size_and_alignment_come_back_or_live() {
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(align(4096))]
    struct Aligned(u8);
    let config = BlockTableConfig::DEFAULT;
    let mut memory = vec![MaybeUninit::new(9); REGION];
    let table: BlockTableHeap = BlockTableHeap::new(&mut memory, &config).expect("room");
    assert_eq!(
        table.insert(Aligned(1)).expect_err("too aligned").value,
        Aligned(1)
    );
    assert!(table.insert([7_u8; 33]).is_err());
    table.free(table.insert(()).expect("room"));
    table.check().expect("sound");
}

fn small() -> Layout {
    Layout::from_size_align(5000, 8).expect("valid")
}

#[test]
fn a_block_table_heap_refuses_what_no_region_holds() {
    for (frame, page) in [(16, 1024), (32, 4096), (4096, 4096), (4096, 1 << 15)] {
        let config =
            BlockTableConfig::with_pages::<Wide>(frame, Bound::DEFAULT, page).expect("valid");
        let mut region = JunkRegion::new(9 * page + 20_000, page, 3);
        let heap = BlockTableHeap::<Wide>::new(region.memory(), &config).expect("large enough");
        let mut object = heap.alloc(small()).expect("room");
        let before = (heap.stats(), heap.usage());
        for layout in too_large()
            .filter(|layout| layout.size() > 400_000)
            .chain(too_aligned())
        {
            assert!(heap.alloc(layout).is_err(), "{layout:?}");
            assert!(heap.alloc_zeroed(layout).is_err(), "{layout:?}");
            assert!(heap.resize(&mut object, layout).is_err(), "{layout:?}");
        }
        for size in SIZES {
            assert!(!heap.can_allocate(size, usize::MAX), "{size}");
            assert_eq!(
                heap.can_allocate(size, 0),
                size <= heap.largest_free(),
                "{size}"
            );
            let _ = (heap.row_class_stats(size), config.frames_of(size));
        }
        heap.compact(u64::MAX);
        assert_eq!((heap.stats(), heap.usage()), before);
        assert_eq!(heap.check(), Ok(()));
    }
}
