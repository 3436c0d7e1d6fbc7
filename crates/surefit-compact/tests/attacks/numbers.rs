//! Numbers of any size, up to the largest: they are served if possible, otherwise refused, and then
//! the heap is unchanged.

use core::alloc::Layout;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};

use surefit_compact::certify::{Budget, ClassSet};
use surefit_compact::{
    Bound, Config, ConfigError, EntryHeap, Fraction, Generation, Geometry, GeometrySpec, Heap,
    KeyHeap, Keyed, Medium, Narrow, PageOrder, Spacing, Tail, Wide, Width, Word, layout,
};
use surefit_core::{RawHeap, Refused};
use surefit_direct::DirectHeap;
use surefit_testkit::extremes::sizes;

fn words() -> Vec<u32> {
    let powers = (0..u32::BITS).flat_map(|bit| [(1_u32 << bit) - 1, 1 << bit, (1 << bit) + 1]);
    powers.chain([u32::MAX - 1, u32::MAX]).collect()
}

/// The valid layouts of these sizes and alignments.
fn layouts() -> Vec<Layout> {
    let aligns = (0..usize::BITS - 1).step_by(5).map(|bit| 1 << bit);
    let all = aligns.flat_map(|align| sizes().into_iter().map(move |size| (size, align)));
    all.filter_map(|(size, align)| Layout::from_size_align(size, align).ok())
        .collect()
}

fn config(word_bytes: usize, piece: Option<usize>, bound: Bound) -> Config {
    let spec = GeometrySpec {
        page_bytes: 1024,
        granule: 8,
        smallest: 8,
        spacing: Spacing::Fraction(4),
        tail: Tail::BackReferences { bytes: word_bytes },
    };
    let config = Config::new(Geometry::new(&spec).expect("valid"), bound).expect("valid");
    config.with_pieces(piece).expect("valid")
}

fn bounds() -> [Bound; 5] {
    let fraction = Fraction::new(u32::MAX / 2, u32::MAX).expect("less than one half");
    let base = u32::MAX;
    [
        Bound::DEFAULT,
        Bound::Pages(1),
        Bound::Pages(u32::MAX),
        Bound::Holes { base, fraction },
        Bound::Unbounded,
    ]
}

const REGION: usize = 40_000;

fn lengths_in_a_heap<W: Width<Generation = ()>>(piece: Option<usize>, bound: Bound) {
    let config = config(W::WORD_BYTES, piece, bound);
    let mut memory = vec![MaybeUninit::new(9); REGION];
    let mut heap: EntryHeap<'_, W> = EntryHeap::new(&mut memory, &config).expect("large enough");
    let mut kept = heap.alloc_zeroed(Layout::new::<[u64; 40]>()).expect("room");
    for layout in layouts() {
        let fits = heap.can_allocate_bytes(layout.size(), layout.align());
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
        let _ = heap.is_split(size);
        let _ = heap.details().degree_of_fragmentation(size);
        for align in sizes() {
            for count in [0, 1, u32::MAX] {
                let _ = heap.can_allocate(size, align, count);
            }
            let _ = heap.can_allocate_bytes(size, align);
        }
        for allocated in [heap.allocate_entry(size), heap.allocate_entry_uninit(size)] {
            let Ok(entry) = allocated else { continue };
            assert!(size < REGION);
            assert!(heap.live_blocks().any(|block| block.index == entry));
        }
    }
    heap.check().expect("sound");
    assert_eq!(
        heap.usage().total(),
        REGION.max(heap.details().handle_bytes())
    );
    for budget in [0, 1, u64::MAX] {
        heap.compact(budget);
    }
    heap.free_bytes(kept.into_uninit());
    heap.check().expect("sound");
}

#[test]
fn a_heap_answers_lengths_of_any_size() {
    for bound in bounds() {
        for piece in [None, Some(64), Some(1024)] {
            lengths_in_a_heap::<Wide>(piece, bound);
            lengths_in_a_heap::<Medium>(piece, bound);
            lengths_in_a_heap::<Narrow>(piece, bound);
        }
    }
}

/// Runs a call that must panic and leave the heap unchanged.
fn panics<T>(call: impl FnOnce() -> T) {
    assert!(catch_unwind(AssertUnwindSafe(|| drop(call()))).is_err());
}

#[test]
fn offsets_beyond_an_object_panic_before_anything_is_read() {
    let config = config(4, Some(64), Bound::DEFAULT);
    let mut memory = vec![MaybeUninit::new(9); REGION];
    let heap: Heap = Heap::new(&mut memory, &config).expect("large enough");
    for len in [0, 1, 40, 64, 65, 3000] {
        let layout = Layout::from_size_align(len, 1).expect("valid");
        let mut bytes = heap.alloc_zeroed(layout).expect("room");
        for offset in sizes().into_iter().filter(|&offset| offset > len) {
            panics(|| heap.chunk(&bytes, offset).len());
            panics(|| heap.chunk_start(&bytes, offset).1);
            panics(|| heap.chunk_mut(&mut bytes, offset).len());
            panics(|| heap.read_at(&bytes, offset, &mut [0]));
            panics(|| heap.write_at(&mut bytes, offset, &[0]));
        }
        panics(|| heap.read_at(&bytes, 0, &mut vec![0; len + 1]));
        panics(|| heap.write_at(&mut bytes, len, &[0]));
        assert!(heap.chunk(&bytes, len).is_empty());
        assert_eq!(heap.chunk_start(&bytes, len).1, 0);
        assert_eq!(heap.block_start(&bytes).is_some(), len <= 64);
        // Nothing at all may be copied from anywhere.
        heap.read_at(&bytes, usize::MAX, &mut []);
    }
    heap.check().expect("sound");
}

/// Size-classes of a partitioning with more of them than the heap has.
#[test]
fn size_classes_of_another_partitioning_hold_nothing() {
    let many = Geometry::DEFAULT;
    let few = Config::new(
        Geometry::new(&GeometrySpec {
            page_bytes: 1024,
            granule: 8,
            smallest: 16,
            spacing: Spacing::Explicit(&[16, 1024]),
            tail: Tail::BackReferences { bytes: 4 },
        })
        .expect("valid"),
        Bound::DEFAULT,
    )
    .expect("valid");
    let mut memory = vec![MaybeUninit::new(9); REGION];
    let heap: EntryHeap = EntryHeap::new(&mut memory, &few).expect("large enough");
    let _leaked = heap.insert([0_u8; 16]).expect("room");
    for class in many.classes() {
        let own = class.index() < 2;
        let live = u32::from(class.index() == 0);
        assert_eq!(heap.details().class_usage(class), (live, live));
        assert_eq!(heap.details().class_counts(class).live, live);
        assert_eq!(heap.entries_in(class).count(), live as usize);
        assert_eq!(heap.details().parked_pages(class).count(), 0);
        assert_eq!(few.geometry().class(class.index()).is_some(), own);
        let page = few.geometry().page_bytes();
        let geometry = few.geometry();
        assert!(geometry.layout(class).block_bytes as usize <= page);
        assert!(geometry.smallest_request(class) <= page + 1);
        assert!(geometry.leaf_bytes(class) < page && geometry.back_reference_bytes(class) < page);
        assert!(geometry.page_internal_bytes(class) <= page);
    }
}

/// A configuration takes pieces of at most a page, and the original order, as its bound is in
/// pages.
fn assert_pieces_and_order(config: Result<Config, ConfigError>, page_bytes: usize) {
    let Ok(config) = config else { return };
    for piece in sizes() {
        if let Ok(known) = config.clone().with_pieces(Some(piece)) {
            assert!(piece <= page_bytes && known.piece_bytes() == Some(piece));
            for large in sizes() {
                let mixed = known.clone().with_large_pieces(large);
                assert_eq!(
                    mixed.is_ok(),
                    large.is_power_of_two() && (piece..=page_bytes).contains(&large)
                );
                let division = mixed.map_or(known.division(), |mixed| mixed.division());
                assert_eq!(division.small_bytes(), piece);
            }
        }
    }
    let original = config.with_order(PageOrder::Original);
    let original = original.expect("a bound in pages");
    assert_eq!(original.order(), PageOrder::Original);
}

#[test]
fn specifications_of_any_numbers_are_refused_or_valid() {
    let mut valid = 0;
    for page_bytes in sizes() {
        for smallest in sizes() {
            for (granule, spacing) in [
                (8, Spacing::Fraction(8)),
                (16, Spacing::Fraction(1)),
                (8, Spacing::Fraction(u32::MAX)),
                (0, Spacing::Explicit(&[])),
                (usize::MAX, Spacing::Explicit(&[0, u32::MAX])),
                (8, Spacing::Explicit(&[u32::MAX - 7])),
            ] {
                for tail in [Tail::None, Tail::BackReferences { bytes: 4 }] {
                    let spec = GeometrySpec {
                        page_bytes,
                        granule,
                        smallest,
                        spacing,
                        tail,
                    };
                    match Geometry::new(&spec) {
                        Ok(geometry) => {
                            valid += 1;
                            assert_eq!(geometry.page_bytes(), 1 << geometry.page_shift());
                            assert_eq!(geometry.page_bytes(), page_bytes);
                            let bound = Bound::Pages(u32::MAX);
                            assert_pieces_and_order(Config::new(geometry, bound), page_bytes);
                        }
                        Err(error) => assert!(!error.message().is_empty()),
                    }
                }
            }
        }
    }
    assert!(valid > 100);
}

/// Values that no page can hold are returned, whatever their type.
#[test]
fn values_of_any_size_and_alignment_come_back_or_live() {
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(align(4096))]
    struct Aligned(u8);
    let config = config(4, None, Bound::DEFAULT);
    let mut memory = vec![MaybeUninit::new(9); REGION];
    let mut heap: Heap = Heap::new(&mut memory, &config).expect("large enough");
    let mut memory = vec![MaybeUninit::new(9); REGION];
    let mut keys: KeyHeap = KeyHeap::new(&mut memory, &config).expect("large enough");
    assert_eq!(
        heap.insert(Aligned(1)).expect_err("too aligned").value,
        Aligned(1)
    );
    assert_eq!(
        keys.insert(Aligned(1)).expect_err("too aligned").value,
        Aligned(1)
    );
    let refused = heap.insert([7_u8; 1025]).expect_err("too large").refused;
    assert_eq!(refused, Refused::TooLarge { limit: 1024 });
    assert!(keys.insert([7_u8; 1025]).is_err());
    // An empty object has its own name, and is dropped once.
    let (one, two) = (
        heap.insert(()).expect("room"),
        heap.insert(()).expect("room"),
    );
    assert_ne!(format!("{one:?}"), format!("{two:?}"));
    heap.free(one);
    heap.free(two);
    let key = keys.insert(()).expect("room");
    assert_eq!(
        (keys.remove(key), keys.remove(key)),
        (Ok(()), Err(Refused::StaleHandle))
    );
    heap.check().expect("sound");
    keys.check().expect("sound");
}

/// Regions of every small length, at every small misalignment.
#[test]
fn regions_of_any_length_are_refused_or_whole() {
    let config = config(4, Some(64), Bound::DEFAULT);
    let narrow = config_of_narrow();
    let mut made = 0;
    let mut memory = vec![MaybeUninit::new(9); 5000];
    for len in (0..4500).step_by(7).chain([4500]) {
        for from in [0, 1, 2, 3, 7, 8, 13] {
            let region = &mut memory[from..from + len];
            if let Ok(heap) = Heap::<Wide>::new(region, &config) {
                made += 1;
                assert_eq!(heap.usage().total(), len);
                heap.check().expect("sound");
            }
            let region = &mut memory[from..from + len];
            if let Ok(heap) = Heap::<Narrow>::new(region, &narrow) {
                assert_eq!(heap.usage().total(), len);
                heap.check().expect("sound");
            }
            let region = &mut memory[from..from + len];
            if let Ok(heap) = EntryHeap::<Wide>::new(region, &config) {
                assert_eq!(heap.usage().total(), len);
                heap.check().expect("sound");
            }
            let region = &mut memory[from..from + len];
            if let Ok(heap) = DirectHeap::new(region) {
                assert_eq!(heap.usage().total(), len);
            }
            assert!(layout::pages_in::<Wide>(len, 1024, 20) <= len / 1024);
        }
    }
    assert!(made > 100);
}

fn config_of_narrow() -> Config {
    config(2, Some(64), Bound::DEFAULT)
}

/// Impossible regions: what cannot be counted becomes the largest number, and no more pages fit
/// than there are bytes for.
#[test]
fn divisions_of_regions_of_any_size_do_not_wrap() {
    for pages in sizes() {
        for classes in sizes() {
            let fixed = layout::fixed_bytes::<Wide>(classes, pages);
            assert!(
                fixed >= pages && fixed >= classes,
                "{classes}, {pages}: {fixed}"
            );
            for page in [1, 1024, 65536, usize::MAX] {
                let fit = layout::pages_in::<Keyed<Narrow, u32>>(pages, page, classes);
                assert!(fit <= pages / page);
            }
        }
    }
    assert!(layout::class_state_bytes::<Wide>() > layout::class_state_bytes::<Narrow>());
    assert!(layout::page_record_bytes::<Wide>() > layout::page_record_bytes::<Narrow>());
}

/// Sets of size-classes take the classes of any partitioning.
#[test]
fn sets_take_size_classes_of_any_partitioning() {
    let few = config(4, None, Bound::DEFAULT);
    for class in Geometry::DEFAULT.classes() {
        let set = ClassSet::of_requests(few.geometry(), usize::MAX)
            .with(class)
            .with(class);
        assert!(set.contains(class) && !set.is_empty());
        for number in words() {
            let number = number as usize;
            let set = ClassSet::of_objects(&few, number, number);
            assert!(!set.is_empty() && set.len() <= ClassSet::all(few.geometry()).len());
        }
        assert!(set.len() <= 128 && ClassSet::all(few.geometry()).len() <= set.len());
    }
}

/// Peaks beside a budget: any numbers of them, more or fewer than there are size-classes.
#[test]
fn budgets_take_peaks_of_any_number() {
    let few = config(4, None, Bound::DEFAULT);
    for number in words() {
        for peaks in [0, 1, few.geometry().class_count(), 200] {
            let budget = Budget {
                objects: number.into(),
                block_bytes: u64::MAX - u64::from(number),
                classes: ClassSet::EMPTY,
            };
            let sum = budget.and_per_class(few.geometry(), &vec![number; peaks]);
            let counted = peaks.min(few.geometry().class_count()) as u64;
            assert_eq!(sum.objects, u64::from(number) * (1 + counted));
            assert!(sum.block_bytes >= budget.block_bytes);
            assert_eq!(sum.classes.is_empty(), number == 0 || peaks == 0);
        }
    }
}

/// Words and generations have public functions, for the bounds of types; no heap takes one from a
/// caller.
#[test]
fn words_of_numbers_that_do_not_fit_are_caught_or_cut() {
    for number in words() {
        assert_eq!(Word::get(<u32 as Word>::new(number)), number);
        let cut = catch_unwind(|| Word::get(<u16 as Word>::new(number)));
        assert!(cut.is_err() || cut.is_ok_and(|cut| cut == number & 0xFFFF));
        let next = Generation::next(number);
        assert!(next.is_none_or(|next| next == number + 1 && next != u32::MAX));
        assert_eq!(Generation::get(number), number);
    }
}
