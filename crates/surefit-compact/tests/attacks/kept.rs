//! Things that are kept across operations: iterators and slices, used while the same heap
//! allocates, opens and reuses pages, grows its tables and, if that moves no object, frees.

use core::alloc::Layout;
use std::collections::BTreeSet;
use std::mem::MaybeUninit;

use surefit_compact::{
    Bound, Bytes, Config, EntryHeap, Geometry, GeometrySpec, Heap, KeyHeap, Medium, Narrow,
    SizeClass, Spacing, Tail, Wide, Width,
};

const REGION: usize = 60_000;

fn config(word_bytes: usize) -> Config {
    let spec = GeometrySpec {
        page_bytes: 1024,
        granule: 8,
        smallest: 8,
        spacing: Spacing::Explicit(&[8, 16, 64, 128, 256, 512, 1024]),
        tail: Tail::BackReferences { bytes: word_bytes },
    };
    let config = Config::new(Geometry::new(&spec).expect("valid"), Bound::DEFAULT).expect("valid");
    config.with_pieces(Some(64)).expect("valid")
}

/// A heap whose pages were all used by another size-class before and are free now: records and
/// tails are stale.
fn used_before<'m, W: Width>(
    memory: &'m mut [MaybeUninit<u8>],
    config: &'m Config,
    len: usize,
) -> Heap<'m, W> {
    // The same pages wherever the memory lies: how many there are decides whether one is left.
    let page = config.geometry().page_bytes();
    let first = memory.as_ptr().align_offset(page);
    let memory = &mut memory[first..][..REGION - page];
    let mut heap: Heap<'m, W> = Heap::new(memory, config).expect("large enough");
    let layout = Layout::from_size_align(len, 8).expect("valid");
    let all: Vec<Bytes<_>> = core::iter::from_fn(|| heap.alloc(layout).ok()).collect();
    for bytes in all {
        heap.free_bytes(bytes);
    }
    assert_eq!(heap.stats().fresh_pages, 0);
    heap
}

/// Fills a heap with objects of a length, all bytes of which are `content`.
fn fill<W: Width>(heap: &Heap<'_, W>, len: usize, content: u8, most: usize) -> Vec<Bytes<u8>> {
    let layout = Layout::from_size_align(len, 8).expect("valid");
    let one = || {
        let mut bytes = heap.alloc_zeroed(layout).ok()?;
        heap.write_at(&mut bytes, 0, &vec![content; len]);
        Some(bytes)
    };
    core::iter::from_fn(one).take(most).collect()
}

fn slices_while_the_heap_fills<W: Width>() {
    let config = config(W::WORD_BYTES);
    for (former, len) in [(8, 3000), (64, 1000), (512, 5000), (16, 63)] {
        let mut memory = vec![MaybeUninit::new(0xA5); REGION];
        let heap = used_before::<W>(&mut memory, &config, former);
        let mut kept = fill(&heap, len, 1, 2);
        let mut written = kept.pop().expect("room");
        let mut slices: Vec<&mut [u8]> = Vec::new();
        let mut others = Vec::new();
        let (mut reads, mut writes) = (heap.chunks(&kept[0]), heap.chunks_mut(&mut written));
        loop {
            let (read, slice) = (reads.next(), writes.next());
            others.extend(fill(&heap, 8 << (others.len() % 7), 2, 3));
            let (Some(read), Some(slice)) = (read, slice) else {
                break;
            };
            assert!(read.iter().all(|&byte| byte == 1));
            slices.push(slice);
        }
        // Writes through all of them after the heap is full, then checks them again.
        others.extend(fill(&heap, 16, 2, usize::MAX));
        slices.iter_mut().for_each(|slice| slice.fill(3));
        assert_eq!(slices.iter().map(|slice| slice.len()).sum::<usize>(), len);
        heap.check().expect("sound");
        for (bytes, content) in others
            .iter()
            .map(|b| (b, 2))
            .chain([(&kept[0], 1), (&written, 3)])
        {
            assert!(heap.chunks(bytes).flatten().all(|&byte| byte == content));
        }
    }
}

#[test]
fn slices_stay_good_while_the_heap_fills() {
    slices_while_the_heap_fills::<Wide>();
    slices_while_the_heap_fills::<Medium>();
    slices_while_the_heap_fills::<Narrow>();
}

fn lists_while_the_heap_fills<W: Width<Generation = ()>>() {
    let config = config(W::WORD_BYTES);
    for former in [8, 16, 64, 512] {
        let mut memory = vec![MaybeUninit::new(0xA5); REGION];
        let heap = EntryHeap::from(used_before::<W>(&mut memory, &config, former));
        for class in config.geometry().classes() {
            let before = fill(&heap, 8 << class.index(), 1, 5);
            let live: BTreeSet<u32> = heap.live_blocks().map(|block| block.index).collect();
            let in_class: BTreeSet<u32> = heap.entries_in(class).collect();
            let (mut all, mut own) = (heap.live_blocks(), heap.entries_in(class));
            let (mut told, mut told_own) = (BTreeSet::new(), BTreeSet::new());
            loop {
                let (block, entry) = (all.next(), own.next());
                // Meanwhile, free pages are opened whose records still name another size-class.
                let _leaked = heap.allocate_entry(8 << (told.len() % 7));
                let _leaked = heap.insert([told.len(); 5]);
                told.extend(block.map(|block| block.index));
                told_own.extend(entry);
                if block.is_none() && entry.is_none() {
                    break;
                }
            }
            assert!(told.is_superset(&live), "what lived is told");
            assert!(told_own.is_superset(&in_class));
            let now: BTreeSet<u32> = heap.live_blocks().map(|block| block.index).collect();
            assert!(now.is_superset(&told), "what is told lives");
            assert!(
                heap.entries_in(class)
                    .collect::<BTreeSet<_>>()
                    .is_superset(&told_own)
            );
            heap.check().expect("sound");
            for bytes in &before {
                assert!(heap.chunks(bytes).flatten().all(|&byte| byte == 1));
            }
        }
    }
}

#[test]
fn lists_of_what_lives_stay_true_while_the_heap_fills() {
    lists_while_the_heap_fills::<Wide>();
    lists_while_the_heap_fills::<Medium>();
    lists_while_the_heap_fills::<Narrow>();
}

/// A heap with many parked page-blocks in the class of 64 bytes, and the class.
fn with_parked<'m, W: Width<Generation = ()>>(
    memory: &'m mut [MaybeUninit<u8>],
    config: &'m Config,
) -> (EntryHeap<'m, W>, SizeClass) {
    let mut heap: EntryHeap<'m, W> = EntryHeap::new(memory, config).expect("large enough");
    let mut objects = fill(&heap, 64, 1, 400);
    for _ in 0..40 {
        heap.free_bytes(objects.pop().expect("400 objects"));
    }
    let class = config.geometry().class_for(64, 8).expect("fits");
    (heap, class)
}

/// Calls by which a shared borrow takes or gives back what is parked, and overwrites its links.
fn take_parked<W: Width<Generation = ()>>(heap: &EntryHeap<'_, W>, class: SizeClass, call: usize) {
    match call {
        0 => (0..40).for_each(|_| {
            let _leaked = heap.insert([u64::MAX; 8]).expect("room");
        }),
        1 => (0..40).for_each(|_| {
            let layout = Layout::new::<[u64; 8]>();
            let _leaked = heap.alloc_zeroed(layout).expect("room");
        }),
        2 => assert!(!heap.can_allocate(64, 8, u32::MAX)),
        3 => assert!(heap.can_serve(&[64; 4000]).is_err()),
        _ => assert!(heap.entries_in(class).count() > 300),
    }
    fill(heap, 64, 0xFF, usize::MAX);
}

fn parked_pages_of_the_call<W: Width<Generation = ()>>() {
    let config = config(W::WORD_BYTES);
    for call in 0..5 {
        for told in [0, 1, 5] {
            let mut memory = vec![MaybeUninit::new(0xA5); REGION];
            let (heap, class) = with_parked::<W>(&mut memory, &config);
            let before: Vec<u32> = heap.details().parked_pages(class).collect();
            assert!(before.len() > 5, "{} are parked", before.len());
            let mut pages = heap.details().parked_pages(class);
            let mut first: Vec<u32> = pages.by_ref().take(told).collect();
            take_parked(&heap, class, call);
            first.extend(pages);
            assert_eq!(first, before, "call {call}, {told} told before it");
            assert_eq!(heap.details().parked_pages(class).count(), 0);
            heap.check().expect("sound");
        }
    }
}

#[test]
fn parked_pages_are_those_of_the_call() {
    parked_pages_of_the_call::<Wide>();
    parked_pages_of_the_call::<Medium>();
    parked_pages_of_the_call::<Narrow>();
}

#[test]
fn references_stay_good_while_the_heap_fills() {
    let config = config(4);
    let mut memory = vec![MaybeUninit::new(0xA5); REGION];
    let heap: Heap = used_before(&mut memory, &config, 8);
    let mut handles: Vec<_> = (0..200_u64)
        .map(|n| heap.insert([n; 4]).expect("room"))
        .collect();
    let (mutable, shared) = handles.split_at_mut(100);
    let mut writers: Vec<_> = mutable
        .iter_mut()
        .map(|handle| heap.get_mut(handle))
        .collect();
    let readers: Vec<_> = shared.iter().map(|handle| heap.get(handle)).collect();
    fill(&heap, 16, 2, usize::MAX);
    for writer in &mut writers {
        writer[3] += 1000;
    }
    assert!(heap.stats().live_blocks > 1000);
    heap.check().expect("sound");
    for (number, reader) in (100..).zip(readers) {
        assert_eq!(*reader, [number; 4]);
    }
    for (number, writer) in (0..).zip(writers) {
        assert_eq!(*writer, [number, number, number, number + 1000]);
    }

    let mut memory = vec![MaybeUninit::new(0xA5); REGION];
    let keys: KeyHeap = KeyHeap::new(&mut memory, &config).expect("large enough");
    let first = keys.insert([7_u64; 4]).expect("room");
    let kept = keys.get(first).expect("live");
    while keys.insert([8_u64; 3]).is_ok() {}
    assert_eq!((*kept, keys.check()), ([7; 4], Ok(())));
}
