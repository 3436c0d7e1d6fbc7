//! Lists of lengths of any size: what can be served, what would fit, and room for them.

use core::alloc::Layout;
use core::mem::MaybeUninit;

use surefit_compact::{Config, EntryHeap, Geometry, GeometrySpec, Spacing, Wide};
use surefit_core::Refused;

fn junk(bytes: usize) -> Vec<MaybeUninit<u8>> {
    vec![MaybeUninit::new(0xa5); bytes]
}

/// A length of each size-class.
fn one_of_each(config: &Config) -> Vec<usize> {
    let geometry = config.geometry();
    let sizes = geometry
        .classes()
        .map(|class| geometry.layout(class).block_bytes as usize);
    sizes.filter(|&bytes| bytes <= 4096).collect()
}

#[test]
fn lengths_of_all_size_classes_can_be_asked_for() {
    let config = Config::DEFAULT;
    let lens = one_of_each(&config);
    assert!(lens.len() > 40, "{} classes", lens.len());
    let mut memory = junk(4 << 20);
    let mut heap = EntryHeap::<Wide>::new(&mut memory, &config).expect("large enough");
    assert_eq!(heap.can_serve(&lens), Ok(()));
    assert!(heap.would_fit(&lens));
    assert_eq!(heap.make_room(&lens), Ok(()));
    let objects: Vec<_> = lens
        .iter()
        .map(|&len| {
            heap.alloc(Layout::from_size_align(len, 8).expect("valid"))
                .expect("served")
        })
        .collect();
    assert_eq!(heap.check(), Ok(()));
    for object in objects {
        heap.free_bytes(object);
    }
    let pages = heap.stats().fresh_pages + heap.stats().freed_pages;
    let many: Vec<_> = core::iter::repeat_n(&lens, pages as usize)
        .flatten()
        .copied()
        .collect();
    assert_eq!(heap.can_serve(&many), Err(Refused::NoPage));
    assert!(!heap.would_fit(&many));
    assert_eq!(heap.make_room(&many), Err(Refused::NoPage));
}

#[test]
fn lengths_of_the_most_size_classes_there_can_be_are_asked_for() {
    let sizes: [u32; 127] = core::array::from_fn(|index| 8 * (index as u32 + 1));
    let spec = GeometrySpec {
        page_bytes: 1024,
        spacing: Spacing::Explicit(&sizes),
        ..GeometrySpec::DEFAULT
    };
    let geometry = Geometry::new(&spec).expect("128 classes");
    let config = Config::new(geometry, Default::default()).expect("valid");
    let config = config.with_pieces(None).expect("valid");
    let lens: Vec<usize> = (1..=128).map(|number| 8 * number).collect();
    let mut memory = junk(1 << 20);
    let mut heap = EntryHeap::<Wide>::new(&mut memory, &config).expect("large enough");
    assert_eq!(heap.can_serve(&lens), Ok(()));
    assert_eq!(heap.make_room(&lens), Ok(()));
    assert!(heap.would_fit(&lens));
}

/// What a heap with one live object reports for lengths that it never serves.
fn assert_refused(heap: &mut EntryHeap<'_, Wide>, lens: &[usize]) {
    assert!(heap.can_serve(lens).is_err(), "{lens:?}");
    assert!(!heap.would_fit(lens), "{lens:?}");
    assert!(heap.make_room(lens).is_err(), "{lens:?}");
}

#[test]
fn lengths_up_to_the_largest_are_refused() {
    for piece in [Some(64), Some(4096), None] {
        let config = Config::DEFAULT.with_pieces(piece).expect("valid");
        let mut memory = junk(1 << 20);
        let mut heap = EntryHeap::<Wide>::new(&mut memory, &config).expect("large enough");
        let _live = heap.insert(1_u64).expect("room");
        for len in [1 << 31, isize::MAX as usize, usize::MAX - 7, usize::MAX] {
            for lens in [&[len][..], &[len, len, len, len], &[8, len], &[len, 8]] {
                assert_refused(&mut heap, lens);
            }
            for align in [0, 1, 3, 16, 1 << 20, usize::MAX] {
                let (bytes, block) = (
                    heap.can_allocate_bytes(len, align),
                    heap.can_allocate(len, align, 1),
                );
                assert!(!bytes && !block, "{len} by {align}");
            }
            assert_eq!(heap.details().degree_of_fragmentation(len), 0);
        }
        for lens in [vec![8; 200_000], vec![0; 200_000], vec![60_000; 1 << 16]] {
            assert_refused(&mut heap, &lens);
        }
        assert!(!heap.can_allocate(8, 8, u32::MAX));
        assert_eq!(heap.can_serve(&[]), Ok(()));
        assert_eq!(heap.check(), Ok(()));
    }
}
