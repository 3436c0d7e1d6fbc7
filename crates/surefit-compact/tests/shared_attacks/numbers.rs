//! Numbers of any size, up to the largest, given to heaps that threads share.

use std::alloc::Layout;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};

use surefit_compact::shared::{
    Granularity, Local, PerClass, PerHeap, PerPage, ShardedHeap, SharedConfig, SharedHeap,
};
use surefit_compact::{Bound, Config, Geometry};
use surefit_core::Refused;
use surefit_testkit::layout;

type Lock = parking_lot::RawMutex;

const REGION: usize = 1 << 17;

/// Around every power of two, and both ends.
fn sizes() -> Vec<usize> {
    let powers = (0..usize::BITS).flat_map(|bit| {
        let power = 1_usize << bit;
        [power - 1, power, power + 1]
    });
    powers.chain([usize::MAX - 1, usize::MAX]).collect()
}

fn words() -> Vec<u32> {
    let all = sizes()
        .into_iter()
        .filter_map(|size| u32::try_from(size).ok());
    all.collect()
}

fn halves() -> Vec<u16> {
    let all = sizes()
        .into_iter()
        .filter_map(|size| u16::try_from(size).ok());
    all.collect()
}

/// Runs what must panic, and leaves the heap as it was.
fn panics<T>(call: impl FnOnce() -> T) {
    assert!(catch_unwind(AssertUnwindSafe(|| drop(call()))).is_err());
}

fn config<G: Granularity + Sync>(bound: Bound, piece: Option<usize>) -> SharedConfig<G> {
    let config = Config::new(Geometry::DEFAULT, bound).expect("valid");
    SharedConfig::new(config.with_pieces(piece).expect("valid"))
}

/// Offsets beyond an object panic before anything is read or written.
fn offsets<G: Granularity>(heap: &SharedHeap<'_, Lock, G>, local: &Local<'_, '_, Lock, G>) {
    let mut kept = local.alloc_zeroed(layout(1000)).expect("room");
    for offset in [1001, 1 << 31, 1 << 32, usize::MAX / 2 + 1, usize::MAX] {
        panics(|| heap.chunk(&kept, offset).map(|chunk| chunk.len()));
        panics(|| heap.chunk_mut(&mut kept, offset).map(|chunk| chunk.len()));
        panics(|| heap.read_at(&kept, offset, &mut [0]));
        panics(|| heap.write_at(&mut kept, offset, &[0]));
    }
    let mut read = [7; 1001];
    panics(|| heap.read_at(&kept, 0, &mut read));
    assert_eq!(read, [7; 1001]);
    panics(|| heap.write_at(&mut kept, 1000, &[7]));
    panics(|| heap.write_at(&mut kept, 990, &[7; 11]));
    panics(|| heap.write_at(&mut kept, 0, &[7; 1001]));
    assert_eq!(heap.read_at(&kept, 0, &mut read[..1000]), Ok(()));
    assert_eq!(read[..1000], [0; 1000]);
    assert_eq!(heap.chunk(&kept, 1000).expect("free").len(), 0);
    assert_eq!(heap.read_at(&kept, usize::MAX, &mut []), Ok(()));
    assert_eq!(heap.write_at(&mut kept, usize::MAX, &[]), Ok(()));
    local.free_bytes(kept).expect("live");
}

fn lengths<G: Granularity + Sync>(bound: Bound, piece: Option<usize>) {
    let config = config::<G>(bound, piece);
    let mut memory = vec![MaybeUninit::new(9); REGION];
    let heap: SharedHeap<Lock, G> = SharedHeap::new(&mut memory, &config).expect("large enough");
    let local = heap.register().expect("a place");
    let mut kept = local.alloc_zeroed(layout(500)).expect("room");
    let mut served = 0;
    for len in sizes() {
        for align in [1, 8, 4096, 16384, 32768, usize::MAX / 2 + 1] {
            let Ok(layout) = Layout::from_size_align(len, align) else {
                continue;
            };
            if let Ok(bytes) = local.alloc(layout) {
                assert!(len < REGION && bytes.len() == len && align <= 16384);
                served += u32::from(align == 8);
                local.free_bytes(bytes).expect("live");
            }
            let before = kept.len();
            match local.resize(&mut kept, layout) {
                Ok(()) => assert_eq!(kept.len(), len),
                Err(_) => assert_eq!(kept.len(), before),
            }
        }
    }
    local.free_bytes(kept).expect("live");
    offsets(&heap, &local);
    for budget in [0, 1, u64::MAX] {
        heap.compact(budget);
    }
    assert!(served > 20, "{served}");
    heap.compact(u64::MAX);
    heap.check(false).expect("sound");
    assert_eq!(heap.stats().live_blocks, 0);
    assert_eq!(heap.usage().total(), REGION);
}

#[test]
fn a_heap_answers_lengths_of_any_size() {
    for bound in [Bound::Pages(1), Bound::DEFAULT, Bound::Unbounded] {
        for piece in [None, Some(64), Some(4096)] {
            lengths::<PerHeap>(bound, piece);
            lengths::<PerClass>(bound, piece);
            lengths::<PerPage>(bound, piece);
        }
    }
}

#[test]
fn instances_answer_numbers_and_lengths_of_any_size() {
    let config = config::<PerClass>(Bound::DEFAULT, Some(64));
    let mut memory = vec![MaybeUninit::new(9); REGION];
    let heap: ShardedHeap<Lock> = ShardedHeap::new(&mut memory, &config, 3).expect("large enough");
    for instance in [3, 4, 255, 1 << 16, u32::MAX / 2, u32::MAX] {
        panics(|| heap.register_in(instance));
        panics(|| heap.set_quota(instance, 0));
        panics(|| heap.destroy(instance));
        panics(|| heap.instance_stats(instance));
        panics(|| heap.compact_instance(instance, 1));
    }
    let local = heap.register_in(1).expect("a place");
    for quota in sizes() {
        heap.set_quota(1, quota);
        let found = heap.instance_stats(1).quota_bytes;
        assert!(found.is_none_or(|bytes| bytes <= quota && quota - bytes < 16384));
        match local.alloc_zeroed(layout(100)) {
            Ok(bytes) => local.free_bytes(bytes).expect("live"),
            // Two pieces and a spine, of three size-classes.
            Err(refused) => assert_eq!((refused, quota < 3 * 16384), (Refused::Quota, true)),
        }
        heap.compact_instance(1, u64::MAX);
    }
    heap.set_quota(1, usize::MAX);
    for len in sizes() {
        let layout = Layout::from_size_align(len, 8);
        if let Some(mut bytes) = layout
            .ok()
            .and_then(|layout| local.alloc_zeroed(layout).ok())
        {
            assert!(len < REGION);
            panics(|| heap.chunk(&bytes, len + 1).map(|chunk| chunk.len()));
            panics(|| {
                heap.chunk_mut(&mut bytes, usize::MAX)
                    .map(|chunk| chunk.len())
            });
            panics(|| heap.read_at(&bytes, len, &mut [0]));
            panics(|| heap.write_at(&mut bytes, usize::MAX, &[0]));
            local.free_bytes(bytes).expect("live");
        }
    }
    heap.check(false).expect("sound");
    assert_eq!(
        (heap.stats().live_blocks, heap.usage().total()),
        (0, REGION)
    );
}

/// A configuration takes any number that makes sense, and a heap of it works or is refused.
#[test]
fn configurations_of_any_numbers_work_or_are_refused() {
    fn works<G: Granularity + Sync>(config: &SharedConfig<G>) -> bool {
        let mut memory = vec![MaybeUninit::new(9); REGION];
        let Ok(heap) = SharedHeap::<Lock, G>::new(&mut memory, config) else {
            return false;
        };
        let local = heap.register().expect("one at least");
        let mut values: Vec<_> = (0..600_u64)
            .map_while(|n| local.insert([n; 4]).ok())
            .collect();
        for nth in 1..values.len() {
            local
                .free(values.swap_remove(nth * 31 % values.len()))
                .expect("live");
        }
        heap.check(false).expect("sound");
        assert_eq!(heap.usage().total(), REGION);
        true
    }
    let plain = || config::<PerClass>(Bound::Pages(1), None);
    let mut heaps = [0, 0];
    let mut count = |works: bool| heaps[usize::from(works)] += 1;
    for word in words() {
        assert_eq!(plain().with_pins(word).pins(), word);
        count(works(&plain().with_pins(word)));
        match plain().with_increment(word) {
            Ok(config) => {
                assert_ne!(config.increment(), plain().increment());
                count(works(&config));
            }
            Err(_) => assert!(word == 0 || word % 16 != 0),
        }
    }
    for half in halves() {
        assert_eq!(plain().with_locals(half, 0).is_err(), half == 0);
        assert_eq!(plain().with_handle_buffer(half).is_err(), half == 0);
        for locals in [1, 16, u16::MAX] {
            count(works(&plain().with_locals(locals, half).expect("some")));
        }
        if half > 0 {
            let many = plain().with_locals(half, 2).expect("some");
            assert_eq!((many.locals(), many.page_buffer()), (half, 2));
            count(works(&many));
            let long = plain().with_handle_buffer(half).expect("some");
            assert_eq!(long.handle_buffer(), half);
            count(works(&long));
            count(works(
                &config::<PerPage>(Bound::Unbounded, None)
                    .with_locals(half, 2)
                    .expect("some"),
            ));
        }
    }
    assert!(heaps[0] > 10 && heaps[1] > 100, "(refused, made) {heaps:?}");
}

#[test]
fn any_number_of_instances_works_or_is_refused() {
    let config = config::<PerClass>(Bound::DEFAULT, None);
    let mut memory = vec![MaybeUninit::new(9); 1 << 21];
    panics(|| ShardedHeap::<Lock>::new(&mut [], &config, 0).is_ok());
    let mut made = 0;
    for instances in halves().into_iter().filter(|&instances| instances > 0) {
        if let Ok(heap) = ShardedHeap::<Lock>::new(&mut memory, &config, instances) {
            made += 1;
            assert_eq!(heap.instances(), u32::from(instances));
            assert!(heap.threads_per_instance() >= 1);
            let last = heap.register_in(heap.instances() - 1).expect("a place");
            last.free(last.insert(7_u64).expect("room")).expect("live");
            heap.check(false).expect("sound");
        }
    }
    assert!(made > 5);
}

/// Values that no page holds come back; those without bytes have names all the same.
#[test]
fn values_of_any_size_come_back_or_live() {
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(align(32768))]
    struct Aligned(u8);
    let config = config::<PerClass>(Bound::DEFAULT, None);
    let mut memory = vec![MaybeUninit::new(9); REGION];
    let heap: SharedHeap<Lock> = SharedHeap::new(&mut memory, &config).expect("large enough");
    let local = heap.register().expect("one");
    assert_eq!(
        local.insert(Aligned(1)).expect_err("too aligned").value,
        Aligned(1)
    );
    let one = local.insert(()).expect("room");
    assert_eq!(local.remove(one), Ok(()));
    heap.check(false).expect("sound");
    assert_eq!(heap.stats().live_blocks, 0);
}
