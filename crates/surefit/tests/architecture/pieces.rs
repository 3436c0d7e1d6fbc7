//! Objects in pieces.

use core::alloc::Layout;

use surefit::compact::{Config, Heap};

use surefit_testkit::JunkRegion;

use crate::steps::Walk;

static CONFIG: Config = Config::DEFAULT;
static SMALL_PIECES: Config = match Config::DEFAULT.with_pieces(Some(64)) {
    Ok(config) => config,
    Err(_) => panic!("a power of two"),
};

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, 8).expect("a layout")
}

/// The sizes of all page-blocks in use, in ascending order.
fn block_sizes(heap: &Heap<'_>) -> Vec<u32> {
    let mut sizes: Vec<_> = heap.live_blocks().map(|block| block.block_bytes).collect();
    sizes.sort_unstable();
    sizes
}

/// The size of the page-block that serves a request.
fn block_bytes(bytes: usize) -> u32 {
    let geometry = CONFIG.geometry();
    geometry
        .layout(geometry.class_for(bytes, 8).expect("a class"))
        .block_bytes
}

#[test]
fn objects_in_pieces() {
    let mut walk = Walk::of("Objects in pieces");
    let mut memory = JunkRegion::new(1 << 20, 1 << 16, 7);
    let mut heap: Heap<'_> =
        Heap::new(memory.memory(), &CONFIG).expect("the region is large enough");

    walk.step("Split the object");
    assert_eq!(CONFIG.piece_bytes(), Some(4096));
    let object = heap.alloc_zeroed(layout(10_000)).expect("room");
    let spine = block_bytes(3 * 4);
    let remainder = block_bytes(10_000 - 2 * 4096);
    assert_eq!(block_sizes(&heap), [spine, remainder, 4096, 4096]);

    walk.step("Keep the entries in a spine");
    let mut small = JunkRegion::new(1 << 20, 1 << 16, 7);
    let small: Heap<'_> =
        Heap::new(small.memory(), &SMALL_PIECES).expect("the region is large enough");
    let _long = small.alloc_zeroed(layout(17 * 64)).expect("room");
    let spine = [block_bytes(2 * 4), block_bytes(4)];
    let spine_and_pieces = 2 + (1 + 17);
    assert_eq!(
        block_sizes(&small).len(),
        spine_and_pieces,
        "68 bytes of spine are in pieces"
    );
    assert_eq!(block_sizes(&small)[..2], spine);

    walk.step("Access it chunk by chunk");
    let chunks: Vec<_> = heap.chunks(&object).map(<[u8]>::len).collect();
    assert_eq!(chunks, [4096, 4096, 10_000 - 2 * 4096]);
    assert_eq!(heap.chunk(&object, 5000).len(), 2 * 4096 - 5000);
    heap.free_bytes(object);

    // More than a page is never contiguous, and is served all the same.
    let page = CONFIG.geometry().page_bytes();
    assert!(!heap.can_allocate(3 * page, 8, 1) && heap.can_allocate_bytes(3 * page, 8));
    let large = heap.alloc_zeroed(layout(3 * page + 5000)).expect("room");
    let chunks: Vec<_> = heap.chunks(&large).map(<[u8]>::len).collect();
    assert_eq!(chunks, [page, page, page, 4096, 5000 - 4096]);
    heap.check().expect("every invariant");
}
