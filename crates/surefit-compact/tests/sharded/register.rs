//! Which thread gets which instance, and what happens to the memory of an instance that its owner
//! has left.

use surefit_compact::shared::PerClass;
use surefit_compact::{Bound, Handle};
use surefit_core::Refused;

use super::{BIG, Heap, PAGE, bounds, config, is_empty, region};

#[test]
fn threads_are_spread_up_to_the_sharing_degree() {
    let config = config::<PerClass>(Bound::DEFAULT)
        .with_locals(6, 2)
        .unwrap();
    let mut memory = region(1 << 20);
    let heap: Heap<'_> = Heap::new(&mut memory, &config, 4).unwrap();
    assert_eq!((heap.instances(), heap.threads_per_instance()), (4, 2));
    let locals: Vec<_> = (0..6).map(|_| heap.register().unwrap()).collect();
    let instances: Vec<u32> = locals.iter().map(|local| local.instance()).collect();
    assert_eq!(instances, [0, 1, 2, 3, 0, 1]);
    assert_eq!(heap.register().unwrap_err(), Refused::NoLocal);
    assert_eq!(heap.register_in(2).unwrap_err(), Refused::NoLocal);
    drop(locals);
    let first = heap.register_in(2).unwrap();
    let second = heap.register_in(2).unwrap();
    assert_eq!(heap.register_in(2).unwrap_err(), Refused::NoLocal);
    assert_eq!((first.instance(), second.instance()), (2, 2));
    assert_eq!(heap.instance_stats(2).threads, Some(2));
}

#[test]
fn a_vacant_instance_is_adopted_with_its_pages() {
    for bound in bounds() {
        let config = config::<PerClass>(bound);
        let mut memory = region(1 << 20);
        let heap: Heap<'_> = Heap::new(&mut memory, &config, 4).unwrap();
        let leaves = heap.register_in(2).unwrap();
        let (kept, freed) = (
            leaves.insert([7_u8; BIG]).unwrap(),
            leaves.insert([8_u8; BIG]).unwrap(),
        );
        drop(leaves);
        heap.check(false).unwrap();
        assert_eq!(heap.instance_stats(2).bytes, PAGE);
        assert_eq!(heap.instance_stats(2).threads, Some(0));
        let adopts = heap.register().unwrap();
        assert_eq!(adopts.instance(), 2);
        // Its not-full page serves the new owner.
        let more = adopts.insert([9_u8; BIG]).unwrap();
        assert_eq!(heap.instance_stats(2).bytes, PAGE);
        assert_eq!(heap.pin(&kept).unwrap()[BIG - 1], 7);
        for handle in [kept, freed, more] {
            adopts.free(handle).unwrap();
            heap.check(false).unwrap();
        }
        drop(adopts);
        is_empty(&heap, 1 << 20);
    }
}

/// `count` objects of instance 0, whose owner leaves.
fn left<const N: usize>(heap: &Heap<'_>, count: usize) -> Vec<Handle<[u8; N]>> {
    let owner = heap.register_in(0).unwrap();
    (0..count).map(|_| owner.insert([1; N]).unwrap()).collect()
}

#[test]
fn what_others_free_without_the_lock_waits_for_the_owner() {
    let config = config::<PerClass>(Bound::Unbounded);
    let mut memory = region(1 << 20);
    let heap: Heap<'_> = Heap::new(&mut memory, &config, 2).unwrap();
    let (owner, other) = (heap.register_in(0).unwrap(), heap.register_in(1).unwrap());
    let handles: Vec<_> = (0..12)
        .map(|_| owner.insert([1_u8; BIG]).unwrap())
        .collect();
    let sections = heap.instance_stats(0).counters.lock_acquisitions;
    for handle in handles {
        other.free(handle).unwrap();
    }
    // Looking takes the lock of every class once.
    let looked = heap.instance_stats(0).counters.lock_acquisitions - sections;
    assert_eq!(
        looked,
        surefit_compact::Geometry::DEFAULT.class_count() as u64
    );
    assert_eq!(heap.instance_stats(0).counters.live_blocks, 12);
    heap.check(false).unwrap();
    // Two of them are given back by each operation of the owner.
    for left in [10, 6, 2] {
        let handle = owner.insert([1_u8; BIG]).unwrap();
        assert_eq!(heap.instance_stats(0).counters.live_blocks, left + 1);
        heap.check(false).unwrap();
        owner.free(handle).unwrap();
        assert_eq!(heap.instance_stats(0).counters.live_blocks, left - 2);
    }
    drop((owner, other));
    is_empty(&heap, 1 << 20);
}

#[test]
fn memory_freed_by_others_comes_back_when_the_owner_has_left() {
    let config = config::<PerClass>(Bound::Unbounded);
    let mut memory = region(1 << 20);
    let heap: Heap<'_> = Heap::new(&mut memory, &config, 2).unwrap();
    let other = heap.register_in(1).unwrap();

    // Whoever frees objects of a vacant instance drains them.
    for handle in left::<BIG>(&heap, 12) {
        other.free(handle).unwrap();
    }
    assert_eq!(heap.instance_stats(0).counters.live_blocks, 0);

    // What was freed before the owner left: compaction gives it back …
    let freed_before = |count| {
        let owner = heap.register_in(0).unwrap();
        let handles: Vec<_> = (0..count)
            .map(|_| owner.insert([1_u8; BIG]).unwrap())
            .collect();
        for handle in handles {
            other.free(handle).unwrap();
        }
        drop(owner);
        assert_eq!(heap.instance_stats(0).counters.live_blocks, count);
    };
    freed_before(12);
    heap.compact_instance(0, 0);
    assert_eq!(heap.instance_stats(0).bytes, 0);

    // … or the next owner's operations …
    freed_before(4);
    let adopts = heap.register_in(0).unwrap();
    for _ in 0..2 {
        let handle = adopts.insert([1_u8; BIG]).unwrap();
        adopts.free(handle).unwrap();
    }
    drop(adopts);
    assert_eq!(heap.instance_stats(0).bytes, 0);

    // … or somebody who would be refused.
    freed_before(16);
    let pages = heap.usage().free_page_bytes / PAGE;
    let handles: Vec<_> = (0..pages * 4 + 16)
        .map_while(|_| other.insert([2_u8; BIG]).ok())
        .collect();
    assert!(
        handles.len() >= pages * 4,
        "{} of {pages} pages",
        handles.len()
    );
    assert_eq!(heap.instance_stats(0).bytes, 0);
    heap.check(false).unwrap();
    for handle in handles {
        other.free(handle).unwrap();
    }
    drop(other);
    is_empty(&heap, 1 << 20);
}

#[test]
fn buffered_pages_are_taken_back_before_a_refusal() {
    let config = config::<PerClass>(Bound::DEFAULT)
        .with_locals(4, 8)
        .unwrap();
    let mut memory = region(1 << 20);
    let heap: Heap<'_> = Heap::new(&mut memory, &config, 4).unwrap();
    let locals: Vec<_> = (0..4).map(|_| heap.register().unwrap()).collect();
    let fill = |at: usize| {
        let handles = (0..).map_while(|_| locals[at].insert([3_u8; BIG]).ok());
        handles.collect::<Vec<Handle<[u8; BIG]>>>()
    };
    let all = fill(0);
    // Everybody frees some, and buffers their pages.
    let most = all.len();
    for (at, handle) in all.into_iter().enumerate() {
        locals[at / 4 % 4].free(handle).unwrap();
    }
    heap.check(false).unwrap();
    for at in 0..4 {
        let again = fill(at);
        assert_eq!(again.len(), most);
        heap.check(false).unwrap();
        for handle in again {
            locals[(at + 1) % 4].free(handle).unwrap();
        }
    }
    drop(locals);
    is_empty(&heap, 1 << 20);
}

#[test]
fn a_thread_registers_when_it_first_needs_to() {
    let config = config::<PerClass>(Bound::DEFAULT)
        .with_locals(2, 2)
        .unwrap();
    let mut memory = region(1 << 20);
    let heap: Heap<'_> = Heap::new(&mut memory, &config, 2).unwrap();
    let threads = heap.per_thread();
    let here = threads.with(|local| local.instance()).unwrap();
    assert_eq!(threads.with(|local| local.instance()), Ok(here));
    let handle = threads.with(|local| local.insert(5_u64)).unwrap().unwrap();
    // One thread after another takes the place of the one that has ended.
    let mut handle = Some(handle);
    for _ in 0..5 {
        handle = std::thread::scope(|scope| {
            let next = scope.spawn(|| {
                threads
                    .with(|local| {
                        assert_ne!(local.instance(), here);
                        let value = local.remove(handle.take().unwrap()).unwrap();
                        local.insert(value + 1).unwrap()
                    })
                    .unwrap()
            });
            Some(next.join().unwrap())
        });
    }
    assert_eq!(*heap.pin(handle.as_ref().unwrap()).unwrap(), 10);
    threads
        .with(|local| local.free(handle.take().unwrap()))
        .unwrap()
        .unwrap();
    // A third thread at the same time finds no place.
    let barrier = std::sync::Barrier::new(2);
    std::thread::scope(|scope| {
        let asks = || {
            let had = threads.with(|_| ()).is_ok();
            barrier.wait();
            had
        };
        let (first, second) = (scope.spawn(asks), scope.spawn(asks));
        let had = [first.join().unwrap(), second.join().unwrap()];
        assert_eq!(had.iter().filter(|&&had| had).count(), 1);
    });
    drop(threads);
    assert_eq!(heap.instance_stats(0).threads, Some(0));
    is_empty(&heap, 1 << 20);
}
