//! Quotas are exact, after compaction too, and a refusal changes nothing.

use surefit_compact::Bound;
use surefit_compact::shared::PerClass;
use surefit_core::Refused;
use surefit_testkit::layout;

use super::{BIG, BIG_IN_PAGE, Heap, PAGE, bounds, config, is_empty, region};

#[test]
fn an_instance_has_exactly_the_pages_of_its_quota() {
    for bound in bounds() {
        let config = config::<PerClass>(bound);
        let mut memory = region(1 << 20);
        let heap: Heap<'_> = Heap::new(&mut memory, &config, 2).unwrap();
        let (limited, free) = (heap.register_in(0).unwrap(), heap.register_in(1).unwrap());
        // The last part of a page is not one.
        heap.set_quota(0, 3 * PAGE + PAGE - 1);
        assert_eq!(heap.instance_stats(0).quota_bytes, Some(3 * PAGE));
        assert_eq!(heap.instance_stats(1).quota_bytes, None);
        let mut handles = Vec::new();
        for _ in 0..3 * BIG_IN_PAGE {
            handles.push(limited.insert([1_u8; BIG]).unwrap());
            heap.check(false).unwrap();
        }
        let before = (heap.usage(), heap.instance_stats(0).counters.live_blocks);
        let full = limited.insert([2_u8; BIG]).unwrap_err();
        assert_eq!((full.refused, full.value), (Refused::Quota, [2; BIG]));
        assert_eq!(
            limited.alloc_zeroed(layout(10)).unwrap_err(),
            Refused::Quota
        );
        heap.check(false).unwrap();
        assert_eq!(
            (heap.usage(), heap.instance_stats(0).counters.live_blocks),
            before
        );
        assert_eq!(heap.instance_stats(0).bytes, 3 * PAGE);
        // The other instance has none.
        free.free(free.insert([2_u8; BIG]).unwrap()).unwrap();
        // One object less makes room for one more.
        limited.free(handles.pop().unwrap()).unwrap();
        handles.push(limited.insert([1_u8; BIG]).unwrap());
        // A lower quota leaves what is there, and adds nothing.
        heap.set_quota(0, PAGE);
        assert_eq!(heap.instance_stats(0).bytes, 3 * PAGE);
        assert_eq!(
            limited.insert([1_u8; BIG]).unwrap_err().refused,
            Refused::Quota
        );
        heap.set_quota(0, usize::MAX);
        assert_eq!(heap.instance_stats(0).quota_bytes, None);
        handles.push(limited.insert([1_u8; BIG]).unwrap());
        for handle in handles {
            free.free(handle).unwrap();
            heap.check(false).unwrap();
        }
        drop((limited, free));
        is_empty(&heap, 1 << 20);
    }
}

/// A quarter of each page's objects stays, so that only compaction makes room within the quota.
fn thinned(bound: Bound, by_owner: bool) -> (u64, Refused) {
    let config = config::<PerClass>(bound);
    let mut memory = region(1 << 20);
    let heap: Heap<'_> = Heap::new(&mut memory, &config, 2).unwrap();
    let (local, other) = (heap.register_in(0).unwrap(), heap.register_in(1).unwrap());
    heap.set_quota(0, 4 * PAGE);
    let mut handles: Vec<_> = (0..4 * BIG_IN_PAGE)
        .map(|_| local.insert([1_u8; BIG]).unwrap())
        .collect();
    for at in (0..handles.len()).rev().filter(|at| at % BIG_IN_PAGE != 0) {
        let handle = handles.swap_remove(at);
        if by_owner { &local } else { &other }.free(handle).unwrap();
    }
    let moves = heap.stats().moves_total;
    // Another size-class needs a page of its own.
    let small: Vec<_> = (0..3_u8)
        .map(|n| local.insert([n; 1000]).unwrap())
        .collect();
    let needed = heap.stats().moves_total - moves;
    heap.check(false).unwrap();
    for handle in &handles {
        assert_eq!(*heap.pin(handle).unwrap(), [1; BIG]);
    }
    // One page of four objects, one of the other class, and two for these.
    let more: Vec<_> = (0..2 * BIG_IN_PAGE)
        .map(|_| local.insert([1_u8; BIG]).unwrap())
        .collect();
    let refused = local.insert([1_u8; BIG]).unwrap_err().refused;
    for handle in handles.into_iter().chain(more) {
        other.free(handle).unwrap();
    }
    for handle in small {
        other.free(handle).unwrap();
    }
    drop((local, other));
    is_empty(&heap, 1 << 20);
    (needed, refused)
}

#[test]
fn compaction_makes_room_within_the_quota() {
    // Nothing was moved by the frees, so three objects are now.
    assert_eq!(thinned(Bound::Unbounded, true), (3, Refused::Quota));
    assert_eq!(thinned(Bound::Unbounded, false), (3, Refused::Quota));
    // Frees have moved already what the bound asks for.
    let (moved, refused) = thinned(Bound::Pages(1), true);
    assert_eq!((moved, refused), (0, Refused::Quota));
    let (moved, _) = thinned(Bound::Pages(3), false);
    assert!(moved <= 2);
}

#[test]
fn a_pinned_object_is_not_moved_for_a_quota() {
    let config = config::<PerClass>(Bound::Unbounded);
    let mut memory = region(1 << 20);
    let heap: Heap<'_> = Heap::new(&mut memory, &config, 2).unwrap();
    let local = heap.register_in(0).unwrap();
    heap.set_quota(0, 2 * PAGE);
    let mut handles: Vec<_> = (0..2 * BIG_IN_PAGE)
        .map(|_| local.insert([1_u8; BIG]).unwrap())
        .collect();
    for at in [7, 6, 5, 3, 2, 1] {
        local.free(handles.remove(at)).unwrap();
    }
    {
        let pins: Vec<_> = handles
            .iter()
            .map(|handle| heap.pin(handle).unwrap())
            .collect();
        assert_eq!(
            local.insert([0_u8; 100]).unwrap_err().refused,
            Refused::Quota
        );
        assert!(pins.iter().all(|pin| **pin == [1; BIG]));
        heap.check(true).unwrap();
    }
    handles
        .iter()
        .for_each(|handle| assert_eq!(*heap.pin(handle).unwrap(), [1; BIG]));
    let small = local.insert([0_u8; 100]).unwrap();
    local.free(small).unwrap();
    for handle in handles {
        local.free(handle).unwrap();
    }
    drop(local);
    is_empty(&heap, 1 << 20);
}
