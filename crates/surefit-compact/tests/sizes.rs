//! Every safe function of every heap that takes a size, a count or an alignment, with extreme
//! values: refused, and nothing changes.

use core::alloc::Layout;

use surefit_compact::layout::{class_state_bytes, fixed_bytes, page_record_bytes, pages_in};
use surefit_compact::pieces::{Division, Pieces};
use surefit_compact::shared::{PerClass, PerPage, ShardedHeap, SharedConfig, SharedHeap};
use surefit_compact::{
    Bound, Config, EntryHeap, Geometry, GeometrySpec, Heap, KeyHeap, Medium, Narrow, Tail, Wide,
    Width,
};
use surefit_core::Refused;
use surefit_testkit::extremes::{HALF, SIZES, too_aligned, too_large};
use surefit_testkit::{JunkRegion, layout};

type Lock = parking_lot::RawMutex;

fn check_heap<W: Width<Generation = ()>>(width: usize, piece: Option<usize>) {
    let spec = GeometrySpec {
        tail: Tail::BackReferences { bytes: width },
        page_bytes: 4096,
        ..GeometrySpec::DEFAULT
    };
    let config = Config::new(Geometry::new(&spec).expect("valid"), Bound::DEFAULT).expect("valid");
    let config = config.with_pieces(piece).expect("valid");
    let mut region = JunkRegion::new(120_000, 4096, 1);
    let mut heap = EntryHeap::<W>::new(region.memory(), &config).expect("large enough");
    let size = if piece.is_some() { 5000 } else { 4000 };
    let mut object = heap
        .alloc(Layout::from_size_align(size, 8).expect("valid"))
        .expect("room");
    let before = (heap.stats(), heap.usage());
    for layout in too_large().chain(too_aligned()) {
        assert!(heap.alloc(layout).is_err(), "{layout:?}");
        assert!(heap.alloc_zeroed(layout).is_err(), "{layout:?}");
        assert!(heap.resize(&mut object, layout).is_err(), "{layout:?}");
    }
    assert_eq!((heap.stats(), heap.usage()), before);
    for size in SIZES {
        let fits = size <= heap.details().largest_free_bytes();
        assert_eq!(heap.can_allocate_bytes(size, 1), fits, "{size}");
        let _ = (
            heap.is_split(size),
            heap.details().degree_of_fragmentation(size),
        );
        let _ = heap
            .allocate_entry(size)
            .map(|entry| assert!(size < 120_000, "{entry}"));
    }
    assert!(heap.stats() != before.0 && heap.check().is_ok());
    assert_eq!(object.len(), size);
    assert_eq!(heap.compact(0), 0);
    heap.compact(u64::MAX);
    heap.free_bytes(object);
    assert_eq!(heap.check(), Ok(()));
}

#[test]
fn a_heap_refuses_what_no_region_holds() {
    for piece in [Some(64), Some(1024), Some(4096), None] {
        check_heap::<Wide>(4, piece);
        check_heap::<Medium>(3, piece);
        check_heap::<Narrow>(2, piece);
    }
}

/// The last page-block of the largest region has the largest location that words of three bytes can
/// hold.
#[test]
#[cfg_attr(miri, ignore = "a region of 128 MiB")]
fn words_of_three_bytes_name_all_of_128_mib() {
    let page = 64 << 10;
    let spec = GeometrySpec {
        tail: Tail::BackReferences { bytes: 3 },
        page_bytes: page,
        ..GeometrySpec::DEFAULT
    };
    let config = Config::new(Geometry::new(&spec).expect("valid"), Bound::DEFAULT).expect("valid");
    let config = config.with_pieces(None).expect("valid");
    let fixed = fixed_bytes::<Medium>(config.geometry().class_count(), 2048);
    let mut region = JunkRegion::new((128 << 20) + fixed + 2 * page, page, 0);
    let memory = region.memory();
    assert_eq!(
        Heap::<Medium>::new(memory, &config).err(),
        Some(Refused::TooLarge { limit: 128 << 20 })
    );
    let most = (128 << 20) + fixed + page / 2;
    let mut heap = Heap::<Medium>::new(&mut memory[..most], &config).expect("large enough");
    let layout = Layout::from_size_align(page, 8).expect("valid");
    let mut kept = Vec::new();
    while let Ok(mut bytes) = heap.alloc_zeroed(layout) {
        heap.write_at(&mut bytes, page - 8, &kept.len().to_ne_bytes());
        kept.push(bytes);
    }
    assert_eq!(kept.len(), 2048);
    heap.check().expect("sound");
    for (number, bytes) in kept.into_iter().enumerate() {
        let mut read = [0; size_of::<usize>()];
        heap.read_at(&bytes, page - 8, &mut read);
        assert_eq!(read, number.to_ne_bytes());
        heap.free_bytes(bytes);
    }
    heap.check().expect("sound");
}

#[test]
fn a_heap_of_keys_compacts_by_any_number() {
    let config = Config::DEFAULT;
    let mut region = JunkRegion::new(200_000, 1 << 14, 2);
    let mut heap = KeyHeap::<Wide>::new(region.memory(), &config).expect("large enough");
    let keys: Vec<_> = (0..1000_u64)
        .map(|n| heap.insert(n).expect("room"))
        .collect();
    for key in keys.into_iter().step_by(2) {
        heap.remove(key).expect("live");
    }
    heap.compact(u64::MAX);
    assert_eq!(heap.check(), Ok(()));
}

#[test]
fn shared_heaps_refuse_what_no_region_holds() {
    for piece in [Some(64), Some(4096), None] {
        let config = Config::DEFAULT.with_pieces(piece).expect("valid");
        let config = SharedConfig::<PerPage>::new(config).with_pins(u32::MAX);
        let mut region = JunkRegion::new(300_000, 1 << 14, 5);
        let heap =
            SharedHeap::<Lock, PerPage>::new(region.memory(), &config).expect("large enough");
        let local = heap.register().expect("one");
        let mut object = local.alloc_zeroed(layout(3000)).expect("room");
        for size in SIZES.into_iter().filter(|&size| size > 300_000) {
            for align in [1, 8, 4096, 1 << 14, 1 << (usize::BITS - 1)] {
                let Ok(layout) = Layout::from_size_align(size, align) else {
                    continue;
                };
                assert!(local.alloc_zeroed(layout).is_err(), "{layout:?}");
                assert!(local.resize(&mut object, layout).is_err(), "{layout:?}");
            }
        }
        heap.compact(u64::MAX);
        local.free_bytes(object).expect("own");
        assert_eq!(heap.check(true), Ok(()));
    }
}

#[test]
fn the_largest_configuration_of_a_shared_heap_is_refused_by_what_it_needs() {
    let config = SharedConfig::<PerClass>::new(Config::DEFAULT).with_pins(u32::MAX);
    let config = config.with_locals(u16::MAX, u16::MAX).expect("some");
    let config = config.with_handle_buffer(u16::MAX).expect("some");
    let config = config
        .with_increment(u32::MAX - 15)
        .expect("a multiple of 16");
    assert!(
        SharedConfig::<PerClass>::new(Config::DEFAULT)
            .with_increment(u32::MAX)
            .is_err()
    );
    let mut region = JunkRegion::new(300_000, 1 << 14, 5);
    let refused = SharedHeap::<Lock>::new(region.memory(), &config).expect_err("too small");
    assert!(
        matches!(refused, Refused::Region { needed } if needed > 300_000),
        "{refused}"
    );
    for instances in [64, 65, u16::MAX] {
        assert!(ShardedHeap::<Lock, PerClass>::new(region.memory(), &config, instances).is_err());
    }
}

#[test]
fn a_quota_may_be_any_number() {
    let config = SharedConfig::<PerClass>::new(Config::DEFAULT);
    let mut region = JunkRegion::new(400_000, 1 << 14, 6);
    let heap =
        ShardedHeap::<Lock, PerClass>::new(region.memory(), &config, 2).expect("large enough");
    let local = heap.register_in(1).expect("one");
    for bytes in SIZES {
        heap.set_quota(1, bytes);
        let quota = heap.instance_stats(1).quota_bytes;
        assert!(
            quota.is_none_or(|quota| quota <= bytes),
            "{quota:?} of {bytes}"
        );
        let inserted = local.alloc_zeroed(layout(100));
        assert_eq!(inserted.is_ok(), bytes >= 1 << 14, "{bytes}");
        heap.compact_instance(1, u64::MAX);
    }
}

// ---- what heaps are made of --------------------------------------------------------------------

#[test]
fn layouts_of_any_numbers_saturate() {
    for a in SIZES {
        for b in SIZES {
            let fixed = fixed_bytes::<Wide>(a, b);
            let states = a as u128 * class_state_bytes::<Wide>() as u128;
            let exact = states + b as u128 * page_record_bytes::<Wide>() as u128;
            assert!(fixed as u128 >= exact.min(usize::MAX as u128), "{a} {b}");
            for bytes in SIZES {
                let pages = pages_in::<Narrow>(bytes, a, b);
                assert!(
                    pages as u128 * a as u128 <= bytes as u128,
                    "{bytes} {a} {b}"
                );
            }
        }
    }
}

#[test]
fn pieces_of_any_numbers_are_finite_and_add_up() {
    const MOST: usize = 1 << (usize::BITS - 1);
    for len in SIZES {
        for small in [2, 4, 64, 4096, HALF, MOST]
            .into_iter()
            .filter(|n| n.is_power_of_two())
        {
            for large in [small, small.saturating_mul(4).min(MOST), MOST] {
                let division = Division::new(Some(small), large);
                let words = [1, 2, 4, 8, HALF].into_iter();
                for word in words.filter(|word| *word <= small / 2) {
                    let mut pieces = Pieces::new(len, 8, division, word).without_spine();
                    let sum = |sum: u128, run: surefit_compact::pieces::Run| {
                        sum + run.bytes as u128 * run.count as u128
                    };
                    assert_eq!(pieces.by_ref().fold(0, sum), len as u128);
                    assert!(Pieces::new(len, 8, division, word).count() <= 195);
                    let [mut one, mut other] = [0; 2].map(|_| Pieces::new(len, 8, division, word));
                    assert_eq!(one.next_run(), other.next());
                }
            }
        }
        assert_eq!(Pieces::new(len, usize::MAX, Division::NONE, 4).count(), 1);
    }
}

#[test]
fn pieces_that_are_not_powers_of_two_panic() {
    for (small, large) in [
        (0, 0),
        (1, 3),
        (3, 4),
        (64, 32),
        (64, 0),
        (usize::MAX, usize::MAX),
    ] {
        let made = std::panic::catch_unwind(|| Division::new(Some(small), large));
        assert!(made.is_err(), "{small} {large}");
    }
    let division = Division::new(Some(64), 1024);
    assert_eq!((division.small_bytes(), division.large_bytes()), (64, 1024));
    assert_eq!(Division::NONE.small_bytes(), usize::MAX);
    assert!(Division::NONE.large_bytes() > 0);
}

#[test]
fn a_piece_of_less_than_two_words_panics() {
    for (piece, word) in [(1, 1), (64, 0), (64, 33), (2, usize::MAX), (64, HALF + 1)] {
        let division = Division::new(Some(piece), piece);
        let made = std::panic::catch_unwind(|| Pieces::new(1000, 8, division, word));
        assert!(made.is_err(), "{piece} {word}");
    }
}
