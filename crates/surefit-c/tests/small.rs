//! Heaps without pieces, bounds in holes and tables for many size-classes, as in a small image:
//! `cargo test -p surefit-c --no-default-features --features std,words16 --test small`.
#![cfg(not(any(feature = "pieces", feature = "holes", feature = "many-classes")))]

use core::alloc::Layout;
use core::mem::MaybeUninit;

use surefit_compact::{
    Bound, Config, ConfigError, Geometry, GeometryError, GeometrySpec, KeyHeap, Narrow, Spacing,
};
use surefit_core::Refused;

static TINY: Config = Config::TINY;

fn layout(bytes: usize) -> Layout {
    Layout::array::<u8>(bytes).expect("a small size")
}

#[test]
fn objects_keep_their_bytes_while_others_come_and_go() {
    let mut memory = vec![MaybeUninit::uninit(); 32 << 10];
    let mut heap: KeyHeap<'_, Narrow> = KeyHeap::new(&mut memory, &TINY).expect("enough");
    let (mut live, mut random, mut refused) = (Vec::new(), 1_u32, 0);
    for step in 0..20_000_u32 {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let byte = step.to_le_bytes()[0];
        if random >> 31 == 0 {
            let at = (random >> 8) as usize % (live.len() + 1);
            if at < live.len() {
                let (key, byte) = live.swap_remove(at);
                let chunk = heap.chunk(key, 0).expect("a live key");
                assert!(chunk.iter().all(|&found| found == byte), "step {step}");
                heap.free_bytes(key).expect("a live key");
                assert_eq!(heap.free_bytes(key), Err(Refused::StaleHandle));
            }
        } else if let Ok(key) = heap.alloc_zeroed(layout((random >> 8) as usize % 1025)) {
            heap.chunk_mut(key, 0).expect("a live key").fill(byte);
            live.push((key, byte));
        } else {
            refused += 1;
        }
        if step % 100 == 0 {
            heap.check().expect("every invariant holds");
        }
    }
    assert!(refused > 0 && live.len() > 10, "the heap was full at times");
    assert!(heap.stats().moves_total > 0, "objects moved");
}

#[test]
fn no_object_is_larger_than_a_page() {
    let mut memory = vec![MaybeUninit::uninit(); 32 << 10];
    let mut heap: KeyHeap<'_, Narrow> = KeyHeap::new(&mut memory, &TINY).expect("enough");
    let page = TINY.geometry().page_bytes();
    let limit = Refused::TooLarge { limit: page };
    assert_eq!(heap.alloc(layout(page + 1)), Err(limit));
    let whole = heap.alloc_zeroed(layout(page)).expect("a page");
    assert_eq!(heap.chunk(whole, 0).map(<[u8]>::len), Ok(page));
    assert!(heap.can_allocate_bytes(page, 1) && !heap.can_allocate_bytes(page + 1, 1));
    assert_eq!(heap.largest_free_bytes(), page);
    let half = heap.resize(whole, layout(page / 2)).expect("it shrinks");
    assert_eq!(heap.resize(half, layout(page + 1)), Err(limit));
    heap.free_bytes(half).expect("a live key");
}

#[test]
fn what_was_not_compiled_in_is_refused() {
    let built = Config::new(TINY.geometry().clone(), Bound::DEFAULT);
    assert_eq!(built.err(), Some(ConfigError::Bound));
    let built = Config::new(TINY.geometry().clone(), Bound::Unbounded);
    assert_eq!(built.err(), Some(ConfigError::Bound));
    assert_eq!(
        Config::TINY.with_pieces(Some(256)).err(),
        Some(ConfigError::Pieces)
    );
    assert_eq!(TINY.piece_bytes(), None);
    // 55 size-classes.
    let built = Geometry::new(&GeometrySpec::DEFAULT);
    assert_eq!(built.err(), Some(GeometryError::TooManyClasses));
}

/// With few classes a bucket of the table is a whole power of two: what is found there is still the
/// smallest class that holds the request.
#[test]
fn each_request_has_the_smallest_class_on_pages_of_every_size() {
    let mut geometries = 0;
    for page_bytes in (10..=16).map(|log2| 1_usize << log2) {
        let half = u32::try_from(page_bytes / 2).expect("at most 32 KiB");
        let near: Vec<_> = (1..=28).map(|n| half + 8 * n).collect();
        let spacings = [
            Spacing::Fraction(1),
            Spacing::Fraction(2),
            Spacing::Explicit(&[64, 256]),
            Spacing::Explicit(&near),
        ];
        for spacing in spacings {
            let spec = GeometrySpec {
                page_bytes,
                spacing,
                ..GeometrySpec::DEFAULT
            };
            // Page-blocks of 8 bytes are too many for a large page.
            let Ok(geometry) = Geometry::new(&spec) else {
                continue;
            };
            geometries += 1;
            let sizes = geometry.classes().map(|class| geometry.layout(class));
            let sizes: Vec<_> = sizes.map(|layout| layout.block_bytes as usize).collect();
            for bytes in 0..=page_bytes {
                let class = geometry.class_for_bytes(bytes).expect("a page holds it");
                let smallest = sizes.iter().position(|&size| size >= bytes);
                assert_eq!(Some(class.index()), smallest, "{bytes} of {sizes:?}");
            }
            assert_eq!(geometry.class_for_bytes(page_bytes + 1), None);
        }
    }
    assert!(geometries >= 20, "{geometries}");
}
