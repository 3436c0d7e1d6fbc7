//! No memory, at every place: a refused call changes nothing.

use super::*;

/// A full heap: an object in pieces, a vector in pieces, and blocks, of which some were freed.
struct Scene<'m, W: Width> {
    heap: Heap<'m, W>,
    bytes: Bytes<u8>,
    vec: ByteVec,
    fill: Vec<Bytes<MaybeUninit<u8>>>,
}

fn scene<'m, W: Width>(
    memory: &'m mut [MaybeUninit<u8>],
    config: &'m Config,
    free: usize,
) -> Scene<'m, W> {
    let mut heap = Heap::<W>::new(memory, config).expect("large enough");
    let (bytes, _) = object(&heap, 1000, 9);
    let mut vec = ByteVec::with_capacity(&heap, 0).expect("room");
    vec.extend(&mut heap, &pattern(4, 700)).expect("room");
    let mut fill = Vec::new();
    while let Ok(block) = heap.alloc(layout(64, 1)) {
        fill.push(block);
    }
    for _ in 0..free {
        heap.free_bytes(fill.pop().expect("many"));
    }
    Scene {
        heap,
        bytes,
        vec,
        fill,
    }
}

/// What a refused call must not change. Before a heap refuses, it gives back what is parked: here
/// that is done before, too.
fn state<W: Width>(scene: &mut Scene<'_, W>) -> (Stats, Vec<u8>, Vec<u8>, usize) {
    scene.heap.compact(0);
    let vec = scene.vec.chunks(&scene.heap).flatten().copied().collect();
    let of_bytes = content(&scene.heap, &scene.bytes);
    (scene.heap.stats(), of_bytes, vec, scene.vec.capacity())
}

fn allocate<W: Width>(scene: &mut Scene<'_, W>, len: usize) -> bool {
    let bytes = scene.heap.alloc(layout(len, 1));
    bytes.map(|bytes| scene.heap.free_bytes(bytes)).is_ok()
}

fn resize<W: Width>(scene: &mut Scene<'_, W>, len: usize) -> bool {
    scene.heap.resize(&mut scene.bytes, layout(len, 1)).is_ok()
}

fn extend<W: Width>(scene: &mut Scene<'_, W>, len: usize) -> bool {
    scene.vec.extend(&mut scene.heap, &pattern(1, len)).is_ok()
}

fn refuse_everywhere<W: Width>(config: &Config) {
    let (mut refused, mut served) = (0, 0);
    for free in 0..if cfg!(miri) { 6 } else { 60 } {
        for len in [1, 64, 65, 1000, 1024, 1025, 1088, 1500, 2048, 3000, 4161] {
            let mut memory = region(16_000);
            let mut scene = scene::<W>(&mut memory, config, free);
            for call in [allocate, resize, extend] {
                let before = state(&mut scene);
                if call(&mut scene, len) {
                    served += 1;
                    let (_, bytes, vec, _) = state(&mut scene);
                    let kept = bytes.len().min(1000);
                    assert_eq!(bytes[..kept], pattern(9, 1000)[..kept]);
                    assert_eq!(vec[..700], pattern(4, 700));
                } else {
                    assert_eq!(state(&mut scene), before);
                    refused += 1;
                }
                assert_eq!(scene.heap.check(), Ok(()));
            }
            scene.heap.free_bytes(scene.bytes);
            scene.vec.free(&mut scene.heap);
            scene
                .fill
                .into_iter()
                .for_each(|block| scene.heap.free_bytes(block));
            assert_eq!(
                (scene.heap.stats().live_blocks, scene.heap.check()),
                (0, Ok(()))
            );
        }
    }
    assert!(
        refused > 0 && served > 0,
        "{refused} refused, {served} served"
    );
}

#[test]
fn a_refused_allocation_resize_or_extension_changes_nothing() {
    refuse_everywhere::<Wide>(&config(4, 64, Bound::DEFAULT));
    refuse_everywhere::<Medium>(&config(3, 64, Bound::DEFAULT));
    refuse_everywhere::<Narrow>(&config(2, 64, Bound::Pages(1)));
    refuse_everywhere::<Wide>(&mixed(4, 64, Bound::DEFAULT));
}

#[test]
fn an_alignment_beyond_a_page_is_refused_and_leaves_nothing() {
    for config in [config(4, 64, Bound::DEFAULT), mixed(4, 64, Bound::DEFAULT)] {
        let mut memory = region(60_000);
        let heap = Heap::<Wide>::new(&mut memory, &config).expect("large enough");
        for len in [65, 1000, 1024, 5000] {
            let refused = heap
                .alloc(layout(len, 2048))
                .expect_err("no page is aligned so");
            assert!(matches!(refused, surefit_core::Refused::TooAligned { .. }));
            assert_eq!((heap.stats().live_blocks, heap.check()), (0, Ok(())));
        }
        heap.alloc(layout(2000, 1024))
            .map(|_| ())
            .expect("a page is aligned so");
    }
}

#[test]
fn lengths_beyond_every_heap_are_refused() {
    let config = config(4, 64, Bound::DEFAULT);
    let mut memory = region(20_000);
    let mut heap = Heap::<Wide>::new(&mut memory, &config).expect("large enough");
    for capacity in [20_001, isize::MAX as usize, usize::MAX] {
        assert!(ByteVec::with_capacity(&heap, capacity).is_err());
    }
    let mut vec = ByteVec::with_capacity(&heap, 10).expect("room");
    vec.extend(&mut heap, b"seven").expect("room");
    for more in [20_001, isize::MAX as usize, usize::MAX] {
        assert!(vec.reserve(&mut heap, more).is_err());
    }
    assert_eq!((vec.len(), vec.capacity()), (5, 10));
    vec.free(&mut heap);
    assert_eq!((heap.stats().live_blocks, heap.check()), (0, Ok(())));
}

#[test]
fn a_heap_without_pieces_grows_vectors_to_a_page() {
    let config = config(4, 64, Bound::DEFAULT)
        .with_pieces(None)
        .expect("valid");
    let mut memory = region(20_000);
    let mut heap = Heap::<Wide>::new(&mut memory, &config).expect("large enough");
    let mut vec = ByteVec::with_capacity(&heap, 0).expect("room");
    while vec.push(&mut heap, vec.len() as u8).is_ok() {}
    assert!(vec.len() > 900 && vec.len() <= 1024, "{}", vec.len());
    assert!(
        vec.chunks(&heap)
            .flatten()
            .zip(0_u8..=255)
            .all(|(&byte, n)| byte == n)
    );
    assert_eq!(vec.chunks(&heap).len(), 1);
    vec.free(&mut heap);
}

#[test]
fn another_heap_refuses_what_is_not_its_own() {
    let config = config(4, 64, Bound::DEFAULT);
    let (mut first, mut second) = (region(20_000), region(20_000));
    let mut ours = Heap::<Wide>::new(&mut first, &config).expect("large enough");
    let mut other = Heap::<Wide>::new(&mut second, &config).expect("large enough");
    let (mut bytes, _) = object(&ours, 500, 2);
    let mut vec = ByteVec::with_capacity(&ours, 200).expect("room");
    vec.extend(&mut ours, b"content").expect("room");
    let foreign = Err(surefit_core::Refused::ForeignHandle);
    assert_eq!(vec.extend(&mut other, b"more"), foreign);
    assert_eq!(vec.reserve(&mut other, 1), foreign);
    assert_eq!(vec.push(&mut other, 1), foreign);
    let panics = |action: &mut dyn FnMut()| {
        let act = core::panic::AssertUnwindSafe(action);
        assert!(std::panic::catch_unwind(act).is_err());
    };
    panics(&mut || {
        let _ = other.cursor(&bytes);
    });
    panics(&mut || {
        let _ = other.cursor_mut(&mut bytes);
    });
    panics(&mut || {
        let _ = other.chunks(&bytes).slices::<u8>();
    });
    panics(&mut || {
        let _ = other.chunks_mut(&mut bytes).slices::<u8>();
    });
    panics(&mut || {
        let _ = other.chunks(&bytes).io_slices();
    });
    panics(&mut || {
        let _ = other.chunks_mut(&mut bytes).io_slices();
    });
    panics(&mut || {
        let _ = vec.chunks(&other);
    });
    panics(&mut || {
        let _ = vec.chunks_mut(&other);
    });
    panics(&mut || {
        let _ = vec.cursor(&other);
    });
    panics(&mut || {
        let _ = vec.cursor_mut(&other);
    });
    let full = vec.into_bytes(&mut other).expect_err("foreign");
    assert_eq!(full.refused, surefit_core::Refused::ForeignHandle);
    full.value.free(&mut ours);
    ours.free_bytes(bytes);
}
