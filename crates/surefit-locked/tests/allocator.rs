//! Locked heaps as allocators of collections, and as global allocators that tests call themselves.

use std::alloc::{GlobalAlloc, Layout};
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use allocator_api2::alloc::Allocator;
use allocator_api2::boxed::Box;
use allocator_api2::vec::Vec;
use hashbrown::{DefaultHashBuilder, HashMap};
use proptest::prelude::*;
use spinning_top::RawSpinlock;
use surefit_core::{Page1K, Page4K, RawHeap, Refused, Region};
use surefit_direct::{DirectDemand, DirectHeap, PooledHeap, Tiny, region_bytes};
use surefit_freelist::{Buddy, FirstFit, SegregatedFit, Tlsf};
use surefit_locked::{Locked, OneThread};

fn bytes(n: usize) -> &'static mut [MaybeUninit<u8>] {
    std::boxed::Box::leak(vec![MaybeUninit::uninit(); n].into_boxed_slice())
}

/// A pointer with an address and nothing behind it.
fn at(address: usize) -> NonNull<u8> {
    NonNull::new(std::ptr::without_provenance_mut(address)).expect("not zero")
}

/// Frees of what is not live are refused, where a heap finds them, and change nothing.
fn refusals<H: RawHeap>(mut heap: H) {
    let layout = Layout::from_size_align(5000, 8).unwrap();
    let [_before, object, _after] = [(); 3].map(|()| heap.allocate(layout).unwrap());
    let mut free = |object: NonNull<u8>| {
        let before = heap.usage();
        // SAFETY: an object of this layout, or none that is live, which the heap finds.
        let result = unsafe { heap.try_free(object, layout) };
        assert_eq!(heap.check(), Ok(()));
        assert!(result.is_ok() || heap.usage() == before);
        result
    };
    let outside = [8, 1 << 20, object.addr().get() + (2 << 20), usize::MAX - 7];
    let within = [object.addr().get() + 1, object.addr().get() + 4];
    for address in outside.into_iter().chain(within) {
        assert_eq!(
            free(at(address)),
            Err(Refused::ForeignHandle),
            "{address:#x}"
        );
    }
    assert_eq!(free(object), Ok(()));
    assert_eq!(free(object), Err(Refused::StaleHandle));
}

/// Runs a test on every kind of heap.
macro_rules! on_every_heap {
    ($($name:ident: $heap:expr;)*) => {
        mod vectors_and_tables {$(
            #[test]
            fn $name() {
                super::vectors_and_tables(super::Locked::over($heap));
            }
        )*}
        mod refusals {$(
            #[test]
            fn $name() {
                super::refusals($heap);
            }
        )*}
        mod layouts_change {$(
            #[test]
            fn $name() {
                super::layouts_change(super::Locked::over($heap));
            }
        )*}
    };
}

on_every_heap! {
    direct: super::DirectHeap::new(super::bytes(1 << 20)).unwrap();
    tlsf: super::Tlsf::new(super::bytes(1 << 20)).unwrap();
    segregated: <super::SegregatedFit>::new(super::bytes(1 << 20)).unwrap();
    first_fit: super::FirstFit::new(super::bytes(1 << 20)).unwrap();
    buddy: <super::Buddy>::new(super::bytes(1 << 20)).unwrap();
}

/// Vectors, boxes and a hash table of one heap, which is empty again at the end.
fn vectors_and_tables<H: RawHeap>(heap: Locked<OneThread, H>) {
    let free_before = heap.inspect(|it| it.usage()).unwrap();
    {
        let mut table: HashMap<u32, Vec<u32, _>, DefaultHashBuilder, _> = HashMap::new_in(&heap);
        for i in 0..1000_u32 {
            let list = table.entry(i % 37).or_insert_with(|| Vec::new_in(&heap));
            list.push(i);
        }
        assert_eq!(
            table[&5].iter().sum::<u32>(),
            (0..27).map(|i| 5 + 37 * i).sum()
        );
        let boxed = Box::new_in([7_u64; 40], &heap);
        assert_eq!(boxed.iter().sum::<u64>(), 280);
        heap.inspect(|it| assert_eq!(it.check(), Ok(()))).unwrap();
    }
    heap.inspect(|it| {
        assert_eq!(it.check(), Ok(()));
        assert_eq!(it.usage().total(), free_before.total());
    })
    .unwrap();
}

/// Every pair of layouts, grown or shrunk, keeps the bytes that both have.
fn layouts_change<H: RawHeap>(heap: Locked<OneThread, H>) {
    let heap = &heap;
    let sizes = [0, 1, 7, 8, 100, 2048, 5000, 20_000];
    for (old_size, new_size) in sizes.iter().flat_map(|a| sizes.map(|b| (*a, b))) {
        for (old_align, new_align) in [(1, 1), (8, 8), (8, 64), (256, 8), (1, 1024)] {
            let old = Layout::from_size_align(old_size, old_align).unwrap();
            let new = Layout::from_size_align(new_size, new_align).unwrap();
            let object = heap.allocate(old).unwrap();
            assert_eq!(
                (object.len(), object.cast::<u8>().align_offset(old_align)),
                (old_size, 0)
            );
            // SAFETY: the object is live and `old_size` bytes long.
            unsafe { object.cast::<u8>().write_bytes(0xa5, old_size) };
            // SAFETY: the object is live and has the layout `old`.
            let moved = unsafe {
                if new_size >= old_size {
                    heap.grow_zeroed(object.cast(), old, new).unwrap()
                } else {
                    heap.shrink(object.cast(), old, new).unwrap()
                }
            };
            assert_eq!(
                (moved.len(), moved.cast::<u8>().align_offset(new_align)),
                (new_size, 0)
            );
            // SAFETY: every byte was written: before the change, or by `grow_zeroed`.
            let seen = unsafe { moved.as_ref() };
            let kept = old_size.min(new_size);
            assert!(seen[..kept].iter().all(|it| *it == 0xa5));
            assert!(seen[kept..].iter().all(|it| *it == 0));
            heap.inspect(|it| assert_eq!(it.check(), Ok(()))).unwrap();
            // SAFETY: the object is live and has the layout `new`.
            unsafe { heap.deallocate(moved.cast(), new) };
        }
    }
}

#[test]
fn objects_without_bytes_take_nothing() {
    let heap: Locked<OneThread, _> = Locked::over(Tlsf::new(bytes(16 << 10)).unwrap());
    let layout = Layout::from_size_align(0, 4096).unwrap();
    let object = (&heap).allocate(layout).unwrap();
    assert_eq!(
        (object.len(), object.cast::<u8>().align_offset(4096)),
        (0, 0)
    );
    assert_eq!(heap.inspect(Tlsf::live_objects), Ok(0));
    // SAFETY: the object has this layout.
    unsafe { (&heap).deallocate(object.cast(), layout) };
    let units: Vec<(), _> =
        std::iter::repeat_n((), 1000).fold(Vec::new_in(&heap), |mut all, unit| {
            all.push(unit);
            all
        });
    assert_eq!(
        (units.len(), heap.inspect(Tlsf::live_objects)),
        (1000, Ok(0))
    );
}

#[test]
fn a_region_that_is_taken_or_too_small_is_refused_and_tried_again() {
    static MEMORY: Region<8192, Page4K> = Region::new();
    static TRIES: AtomicU32 = AtomicU32::new(0);
    static LATE: Locked<RawSpinlock, Tlsf<'static>> = Locked::new(|| {
        if TRIES.fetch_add(1, Ordering::Relaxed) < 2 {
            return Err(Refused::Busy);
        }
        Tlsf::new(MEMORY.take().ok_or(Refused::Busy)?)
    });
    static TAKEN: Locked<RawSpinlock, Tlsf<'static>> =
        Locked::new(|| Tlsf::new(MEMORY.take().ok_or(Refused::Busy)?));
    static SMALL: Locked<RawSpinlock, Tlsf<'static>> = Locked::new(|| Tlsf::new(&mut []));

    let layout = Layout::new::<[u64; 4]>();
    assert_eq!(LATE.init(), Err(Refused::Busy));
    // SAFETY: the layout has bytes.
    assert!(unsafe { LATE.alloc(layout) }.is_null());
    assert_eq!(LATE.init(), Ok(()));
    // SAFETY: as above.
    let object = unsafe { LATE.alloc(layout) };
    assert!(!object.is_null());
    assert_eq!(TAKEN.init(), Err(Refused::Busy));
    assert!((&TAKEN).allocate(layout).is_err());
    assert!(matches!(SMALL.init(), Err(Refused::Region { needed }) if needed > 0));
    // SAFETY: the object is live and has this layout.
    unsafe { LATE.dealloc(object, layout) };
    assert_eq!(
        (
            LATE.inspect(Tlsf::live_objects),
            TRIES.load(Ordering::Relaxed)
        ),
        (Ok(0), 3)
    );
}

/// A certified heap in a static of exactly its bytes: within the demand nothing is refused, and
/// what exceeds it is.
#[test]
fn a_certified_heap_serves_its_demand_from_a_static() {
    const DEMAND: [DirectDemand; 3] = [
        DirectDemand::new(96, 20),
        DirectDemand::new(400, 20),
        DirectDemand::new(1600, 20),
    ];
    static MEMORY: Region<{ region_bytes::<Tiny>(&DEMAND) }, Page1K> = Region::new();
    static HEAP: Locked<RawSpinlock, PooledHeap<'static, Tiny>> =
        Locked::new(|| PooledHeap::certified(MEMORY.take().ok_or(Refused::Busy)?, &DEMAND));
    for _ in 0..3 {
        let mut vectors: std::vec::Vec<Vec<u32, _>> = std::vec::Vec::new();
        // Each grows from 96 bytes over 400 to 1600; the one that grows has both its places.
        for number in 0..19 {
            vectors.push(Vec::with_capacity_in(24, &HEAP));
            for capacity in [100, 400] {
                let vector = &mut vectors[number];
                vector.resize(vector.capacity(), 7);
                vector.reserve_exact(capacity - vector.len());
            }
        }
        assert!(vectors.iter().all(|all| all[..100] == [7; 100]));
        // SAFETY: the layout has bytes.
        let exceeds = unsafe { HEAP.alloc(Layout::new::<[u8; 1601]>()) };
        assert!(exceeds.is_null());
        HEAP.inspect(|heap| assert_eq!(heap.check(), Ok(())))
            .unwrap();
    }
    assert_eq!(HEAP.inspect(|heap| heap.stats().live_objects), Ok(0));
}

#[test]
#[should_panic(expected = "used inside a use of it")]
fn a_heap_of_one_thread_is_not_used_while_it_is_looked_at() {
    let heap: Locked<OneThread, _> = Locked::over(Tlsf::new(bytes(16 << 10)).unwrap());
    let _ = heap.inspect(|_| heap.inspect(|_| ()));
}

#[test]
fn what_is_exhausted_is_refused_and_free_again() {
    static MEMORY: Region<{ 32 << 10 }, Page4K> = Region::new();
    static HEAP: Locked<RawSpinlock, DirectHeap<'static>> =
        Locked::new(|| DirectHeap::new(MEMORY.take().ok_or(Refused::Busy)?));
    let layout = Layout::from_size_align(500, 4).unwrap();
    let fill = || {
        // SAFETY: the layout has bytes.
        let objects = std::iter::from_fn(|| NonNull::new(unsafe { HEAP.alloc(layout) }));
        objects.collect::<std::vec::Vec<_>>()
    };
    let all = fill();
    assert!(all.len() > 30);
    // SAFETY: the object is live; a refusal leaves it so.
    assert!(unsafe { HEAP.realloc(all[0].as_ptr(), layout, 30 << 10) }.is_null());
    for object in &all {
        // SAFETY: the object is live and has this layout.
        unsafe { HEAP.dealloc(object.as_ptr(), layout) };
    }
    assert_eq!(fill().len(), all.len());
    HEAP.inspect(|heap| assert_eq!(heap.check(), Ok(())))
        .unwrap();
}

proptest! {
    /// Vectors of a heap do what vectors of the program's do.
    #[test]
    fn vectors_are_as_the_programs(
        steps in prop::collection::vec((0_usize..6, 0_usize..5, 0_usize..700), 0..200)
    ) {
        let heap: Locked<OneThread, _> = Locked::over(DirectHeap::new(bytes(1 << 19)).unwrap());
        let mut ours: [Vec<u16, _>; 6] = std::array::from_fn(|_| Vec::new_in(&heap));
        let mut model: [std::vec::Vec<u16>; 6] = Default::default();
        for (i, (which, step, n)) in steps.into_iter().enumerate() {
            let (a, b) = (&mut ours[which], &mut model[which]);
            match step {
                0 => { a.resize(n, i as u16); b.resize(n, i as u16) }
                1 => { a.truncate(n); b.truncate(n); a.shrink_to_fit() }
                2 => { a.reserve(n) }
                3 => { a.push(i as u16); b.push(i as u16) }
                _ => { a.clear(); b.clear(); a.shrink_to_fit() }
            }
            prop_assert_eq!(a.as_slice(), b.as_slice());
        }
        prop_assert_eq!(heap.inspect(|it| it.check()).unwrap(), Ok(()));
    }
}
