//! Free lists: what a thread freed serves it again, and only so much of it.

use super::super::instance::Instance;
use super::super::sizes::Class;
use super::*;

fn list_of(local: &Local<'_, RawMutex>, heap: &Heap<'_, Fixed>, bytes: usize) -> usize {
    let own: &Instance = heap.common().instance(local.number());
    let class = Class::of(bytes).unwrap();
    let list = chain_of(own, class);
    // SAFETY: nobody uses the heap meanwhile.
    let list = ManuallyDrop::new(unsafe { chain::Chain::from_raw(list) });
    list.addresses(usize::MAX).count()
}

fn chain_of(own: &Instance, class: Class) -> *mut chain::Block {
    own.free_list(class).first()
}

#[test]
fn what_a_thread_freed_is_allocated_next_whoever_allocated_it() {
    let mut memory = region(4 << 20);
    let heap: Heap<'_, Fixed> = SharedDirect::new(&mut memory, SETTINGS).unwrap();
    let (local, other) = (heap.join().unwrap(), heap.join().unwrap());
    for bytes in [33, 100, 1000, 5000, 20_000] {
        // Each has a free list.
        let (mine, theirs) = (
            local.allocate(bytes, 16).unwrap(),
            other.allocate(bytes, 16).unwrap(),
        );
        let freed = [mine, theirs];
        for (by, object) in [(&local, theirs), (&other, mine)] {
            free(by, object).unwrap();
            check(&heap);
            assert_eq!(by.allocate(bytes, 16), Some(object), "{bytes}");
        }
        assert_ne!(freed[0], freed[1]);
        free(&other, mine).unwrap();
        free(&local, theirs).unwrap();
        check(&heap);
    }
    for local in [local, other] {
        local.trim();
        check(&heap);
    }
    assert_eq!((heap.stats().allocated, heap.stats().active), (0, 0));
}

#[test]
fn what_others_freed_is_allocated_next_in_all_size_classes() {
    let mut memory = region(4 << 20);
    let heap: Heap<'_, Fixed> = SharedDirect::new(&mut memory, SETTINGS).unwrap();
    let (local, other) = (heap.join().unwrap(), heap.join().unwrap());
    let sizes = [48, 100, 1000];
    for _ in 0..600 {
        let mine = sizes.map(|bytes| local.allocate(bytes, 16).unwrap());
        for object in mine {
            free(&other, object).unwrap();
        }
        // Its batch is sent.
        other.trim();
        // An allocation that finds its list and its page empty sees what arrived.
        let own = heap.common().instance(local.number());
        let mut taken = Vec::new();
        while !own.inbox().is_empty() {
            taken.push(local.allocate(48, 16).unwrap());
        }
        check(&heap);
        assert_eq!(taken.pop(), Some(mine[0]));
        for (bytes, object) in sizes.into_iter().zip(mine).skip(1) {
            assert_eq!(local.allocate(bytes, 16), Some(object), "{bytes}");
        }
        check(&heap);
        for object in taken.into_iter().chain(mine) {
            free(&local, object).unwrap();
        }
    }
    for local in [local, other] {
        local.trim();
    }
    check(&heap);
    assert_eq!((heap.stats().allocated, heap.stats().active), (0, 0));
}

#[test]
fn free_lists_keep_no_page_from_another_size_class() {
    let mut memory = region(1 << 20);
    let heap: Heap<'_, Fixed> = SharedDirect::new(&mut memory, SETTINGS).unwrap();
    let (local, other) = (heap.join().unwrap(), heap.join().unwrap());
    let mut objects: Vec<_> = core::iter::from_fn(|| local.allocate(64, 16)).collect();
    assert_eq!(local.allocate(1000, 16), None);
    // The first that arrive lie in distinct pages.
    let number = |object: &NonNull<u8>| object.as_ptr() as usize;
    objects.sort_by_key(|object| (number(object) % 8192, number(object)));
    for object in objects {
        free(&other, object).unwrap();
    }
    other.trim();
    let again = local.allocate(1000, 16).expect("everything was freed");
    check(&heap);
    free(&local, again).unwrap();
}

#[test]
fn a_free_list_takes_so_many_frees_and_no_more() {
    let mut memory = region(16 << 20);
    let heap: Heap<'_, Fixed> = SharedDirect::new(&mut memory, SETTINGS).unwrap();
    let local = heap.join().unwrap();
    for (bytes, most) in [
        (16, 128),
        (128, 128),
        (1024, 16),
        (8192, 2),
        (LARGEST_BLOCK, 1),
    ] {
        let objects: Vec<_> = (0..1000).map_while(|_| local.allocate(bytes, 16)).collect();
        let before = list_of(&local, &heap, bytes);
        for object in objects {
            free(&local, object).unwrap();
        }
        assert_eq!(list_of(&local, &heap, bytes), before.max(most), "{bytes}");
        check(&heap);
        local.trim();
        assert_eq!(list_of(&local, &heap, bytes), 0);
        assert_eq!(heap.stats().active, 0);
    }
}

#[test]
fn who_leaves_sends_what_others_allocated() {
    let mut memory = region(2 << 20);
    let heap: Heap<'_, Fixed> = SharedDirect::new(&mut memory, SETTINGS).unwrap();
    let (local, other) = (heap.join().unwrap(), heap.join().unwrap());
    let objects: Vec<_> = (0..100).map(|_| other.allocate(64, 16).unwrap()).collect();
    free(&local, local.allocate(64, 16).unwrap()).unwrap();
    drop(other);
    for object in objects {
        free(&local, object).unwrap();
    }
    assert!(list_of(&local, &heap, 64) >= 100);
    drop(local);
    check(&heap);
    assert_eq!((heap.stats().allocated, heap.stats().active), (0, 0));
}

#[test]
fn a_thread_that_allocates_and_frees_in_turn_gets_the_same_place_each_time() {
    let mut memory = region(1 << 20);
    let heap: Heap<'_, Fixed> = SharedDirect::new(&mut memory, SETTINGS).unwrap();
    let (local, other) = (heap.join().unwrap(), heap.join().unwrap());
    let object = other.allocate(100, 16).unwrap();
    free(&local, local.allocate(100, 16).unwrap()).unwrap();
    for _ in 0..3000 {
        free(&local, object).unwrap();
        assert_eq!(local.allocate(100, 16), Some(object));
    }
    check(&heap);
}

#[test]
fn groups_keep_nothing_of_each_other() {
    let mut memory = region(4 << 20);
    let heap: Heap<'_, Fixed> = SharedDirect::new(&mut memory, SETTINGS).unwrap();
    let made = |group| heap.grouped(group, |local| local.allocate(64, 16).unwrap());
    let objects: Vec<_> = (0..900).map(|at| (at % 3, made(at % 3))).collect();
    for (group, object) in objects {
        heap.grouped(group + 1, |local| free(local, object))
            .unwrap();
    }
    heap.purge();
    check(&heap);
    assert_eq!((heap.stats().allocated, heap.stats().active), (0, 0));
}

#[test]
fn who_takes_an_instance_asked_nothing_about_moves() {
    let mut memory = region(4 << 20);
    let heap: Heap<'_, Fixed> = SharedDirect::new(&mut memory, SETTINGS).unwrap();
    let local = heap.join().unwrap();
    let objects: Vec<_> = (0..300).map(|_| local.allocate(64, 16).unwrap()).collect();
    assert!(!local.defrag_hint(objects[0], 4));
    assert_eq!(list_of(&local, &heap, 64), 0);
    let number = local.number();
    drop(local);
    let next = heap.join().unwrap();
    assert_eq!(next.number(), number);
    // The first one fills the list.
    free(&next, next.allocate(64, 16).unwrap()).unwrap();
    free(&next, objects[0]).unwrap();
    assert_eq!(next.allocate(64, 16), Some(objects[0]));
    check(&heap);
}
