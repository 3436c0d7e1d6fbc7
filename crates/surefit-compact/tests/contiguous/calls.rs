//! Single calls: errors, refusals, alignment, zero bytes, resizing.

use core::alloc::Layout;

use surefit_compact::{Bound, Config, Contiguous, Heap, Wide};
use surefit_core::Refused;
use surefit_testkit::JunkRegion;

use super::setup::{Checked, PAGE, bounds, config, junk, layout};

fn heap_of<'m>(region: &'m mut JunkRegion, config: &'m Config) -> Checked<'m, Wide> {
    Checked::new(region.memory(), config)
}

#[test]
fn requests_that_no_heap_of_the_size_can_serve_have_their_own_error() {
    let config = config(Bound::DEFAULT, 4);
    let mut region = JunkRegion::new(10 * (PAGE + 64) + 512, PAGE, 1);
    let mut checked = heap_of(&mut region, &config);
    let most = 8 * PAGE;
    let too_large = Err(Refused::TooLarge { limit: most });
    let limit = PAGE;
    assert_eq!(checked.alloc_large(most + 1, 1), too_large);
    assert_eq!(checked.alloc_large(isize::MAX as usize, 1), too_large);
    for len in [1, 2 * PAGE] {
        let refused = checked.alloc_large(len, 2 * PAGE);
        assert_eq!(refused, Err(Refused::TooAligned { limit }));
    }
    assert_eq!(checked.alloc_large(most, PAGE), Ok(()));
    assert!(
        !checked
            .heap
            .can_allocate_contiguous(layout(2 * PAGE + 1, 1))
    );
    assert_eq!(checked.alloc_large(2 * PAGE + 1, 1), Err(Refused::NoPage));
    checked.check();
}

#[test]
fn what_can_be_allocated_is_known_before() {
    let config = config(Bound::DEFAULT, 4);
    let mut region = JunkRegion::new(40 * (PAGE + 64), PAGE, 2);
    let mut checked = heap_of(&mut region, &config);
    for step in 0..60 {
        let len = [1, 700, 1500, 2500, 5000][step % 5];
        let can = checked.heap.can_allocate_contiguous(layout(len, 8));
        assert_eq!(can, checked.alloc_large(len, 8).is_ok(), "step {step}");
        if step % 3 == 0 {
            checked.free_large(0);
        }
    }
    assert!(!checked.heap.can_allocate_contiguous(layout(1, 2 * PAGE)));
}

#[test]
fn objects_of_any_length_are_contiguous() {
    // Byte objects over 256 bytes would be in pieces.
    let config = config(Bound::DEFAULT, 4)
        .with_pieces(Some(256))
        .expect("valid");
    let mut region = JunkRegion::new(64 * PAGE, PAGE, 3);
    let mut checked = heap_of(&mut region, &config);
    for len in [0, 1, 255, 257, PAGE - 1, PAGE, PAGE + 1, 2 * PAGE, 7 * PAGE] {
        assert_eq!(checked.alloc_large(len, 16), Ok(()));
        let (object, _) = checked.large.last().expect("allocated");
        assert_eq!((object.len(), object.is_empty()), (len, len == 0));
        checked.check();
    }
    while !checked.large.is_empty() {
        checked.free_large(0);
        checked.check();
    }
}

#[test]
fn bytes_need_not_be_initialised_at_first() {
    let config = Config::DEFAULT;
    let mut memory = junk(1 << 20);
    let mut heap: Heap<'_> = Heap::new(&mut memory, &config).expect("large enough");
    let mut object = heap.alloc_contiguous(layout(40_000, 4096)).expect("served");
    for (at, byte) in heap.contiguous_mut(&mut object).iter_mut().enumerate() {
        byte.write(at as u8);
    }
    // SAFETY: S1: every byte was just written.
    let object: Contiguous = unsafe { object.assume_init() };
    assert!(
        (0..40_000)
            .step_by(997)
            .all(|at| heap.contiguous(&object)[at] == at as u8)
    );
    assert!(format!("{object:?}").ends_with("40000 bytes)"));
    let object = object.into_uninit();
    heap.free_contiguous(object);
    assert_eq!(heap.stats().live_blocks, 0);
}

#[test]
fn an_object_of_another_heap_is_refused() {
    let config = Config::DEFAULT;
    let (mut first, mut second) = (junk(1 << 20), junk(1 << 20));
    let mut heap: Heap<'_> = Heap::new(&mut first, &config).expect("large enough");
    let mut other: Heap<'_> = Heap::new(&mut second, &config).expect("large enough");
    let mut object = other
        .alloc_contiguous_zeroed(layout(40_000, 1))
        .expect("served");
    let resized = heap.resize_contiguous(&mut object, layout(1, 1));
    assert_eq!(resized, Err(Refused::ForeignHandle));
    let read = std::panic::AssertUnwindSafe(|| heap.contiguous(&object).len());
    assert!(std::panic::catch_unwind(read).is_err());
    let freed = std::panic::AssertUnwindSafe(|| heap.free_contiguous(object));
    assert!(std::panic::catch_unwind(freed).is_err());
    assert_eq!(heap.check(), Ok(()));
}

#[test]
fn different_objects_are_borrowed_mutably_at_once() {
    let config = Config::DEFAULT;
    let mut memory = junk(1 << 20);
    let mut heap: Heap<'_> = Heap::new(&mut memory, &config).expect("large enough");
    let mut a = heap
        .alloc_contiguous_zeroed(layout(40_000, 1))
        .expect("served");
    let mut b = heap
        .alloc_contiguous_zeroed(layout(50_000, 1))
        .expect("served");
    let (first, second) = (heap.contiguous_mut(&mut a), heap.contiguous_mut(&mut b));
    first.fill(1);
    second.fill(2);
    first[..10].copy_from_slice(&second[..10]);
    assert_eq!(
        heap.contiguous(&a)
            .iter()
            .filter(|&&byte| byte == 2)
            .count(),
        10
    );
}

#[test]
fn a_resize_keeps_the_slot_if_it_can() {
    let config = config(bounds()[0], 4);
    let mut region = JunkRegion::new(40 * (PAGE + 64), PAGE, 4);
    let mut checked = heap_of(&mut region, &config);
    checked.alloc_large(5 * PAGE, 1).expect("served");
    let place = |checked: &Checked<'_, Wide>| checked.heap.contiguous(&checked.large[0].0).as_ptr();
    let first = place(&checked);
    // Page-blocks of a whole page take the end of the slot, and give it back.
    for _ in 0..3 {
        checked.alloc_small(PAGE).expect("served");
    }
    for pages in [8, 6, 5, 7, 8] {
        checked
            .resize_large(0, pages * PAGE)
            .expect("room in the slot");
        assert_eq!(
            place(&checked),
            first,
            "{pages} pages stay in a slot of eight"
        );
        checked.check();
    }
    for len in [9 * PAGE, 3 * PAGE, 100, 90, 0, 2 * PAGE] {
        checked.resize_large(0, len).expect("served");
        checked.check();
    }
    checked.alloc_large(8 * PAGE, 1).expect("served");
    let (before, shape) = (checked.heap.stats(), checked.shape());
    let refused = checked.resize_large(0, 30 * PAGE);
    assert_eq!(refused, Err(Refused::NoPage));
    assert_eq!((checked.heap.stats(), checked.shape()), (before, shape));
    checked.check();
}

#[test]
fn a_full_heap_refuses_to_grow_an_object_in_its_slot() {
    let config = config(bounds()[3], 4);
    let mut region = JunkRegion::new(20 * (PAGE + 64), PAGE, 5);
    let mut checked = heap_of(&mut region, &config);
    checked.alloc_large(5 * PAGE, 1).expect("served");
    while checked.alloc_small(PAGE).is_ok() {}
    assert_eq!(checked.resize_large(0, 6 * PAGE), Err(Refused::NoPage));
    checked.check();
    checked.free_small(0);
    assert_eq!(checked.resize_large(0, 6 * PAGE), Ok(()));
    checked.check();
}

#[test]
fn the_account_of_bytes_counts_windows() {
    let config = config(bounds()[0], 4);
    let mut region = JunkRegion::new(40 * (PAGE + 64), PAGE, 6);
    let mut checked = heap_of(&mut region, &config);
    let before = checked.heap.usage();
    checked.alloc_large(4 * PAGE + 1, 1).expect("served");
    let after = checked.heap.usage();
    assert_eq!(after.block_bytes - before.block_bytes, 5 * PAGE);
    assert_eq!(after.total(), before.total());
    let blocks: Vec<_> = checked.heap.live_blocks().collect();
    assert_eq!(blocks.len(), 1);
    assert_eq!(blocks[0].block_bytes as usize, 5 * PAGE);
    checked.alloc_small(PAGE).expect("served");
    let bytes: Vec<_> = checked
        .heap
        .live_blocks()
        .map(|it| it.block_bytes)
        .collect();
    assert_eq!(bytes, [5 * PAGE as u32, PAGE as u32]);
}

#[test]
fn layouts_of_any_numbers_are_served_or_refused() {
    let config = config(bounds()[0], 4);
    let mut region = JunkRegion::new(40 * (PAGE + 64), PAGE, 7);
    let mut checked = heap_of(&mut region, &config);
    checked.alloc_large(3 * PAGE, 1).expect("served");
    let (heap, kept) = (&mut checked.heap, &mut checked.large[0].0);
    let powers = (0..usize::BITS).flat_map(|bit| [(1_usize << bit) - 1, 1 << bit, (1 << bit) + 1]);
    for size in powers.chain([usize::MAX - 1, usize::MAX]) {
        for align in (0..usize::BITS - 1).step_by(5).map(|bit| 1 << bit) {
            let Ok(layout) = Layout::from_size_align(size, align) else {
                continue;
            };
            let fits = heap.can_allocate_contiguous(layout);
            let allocated = heap.alloc_contiguous(layout);
            assert_eq!(allocated.is_ok(), fits, "{layout:?}");
            allocated
                .into_iter()
                .for_each(|it| heap.free_contiguous(it));
            let before = kept.len();
            let resized = heap.resize_contiguous(kept, layout);
            assert_eq!(kept.len(), if resized.is_ok() { size } else { before });
        }
        heap.check().expect("the invariants hold");
    }
}
