//! Values whose drop panics, or uses the heap that drops them.

use core::alloc::Layout;
use core::cell::RefCell;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use surefit_papers::block_table::{BlockTableConfig, BlockTableHeap, Bytes, Handle};

static TABLE_CONFIG: BlockTableConfig = BlockTableConfig::DEFAULT;

/// Panics when it is dropped, without the message of a failed test.
#[derive(Debug)]
struct Bomb(u64);

impl Drop for Bomb {
    fn drop(&mut self) {
        resume_unwind(Box::new(self.0));
    }
}

fn blows<T>(call: impl FnOnce() -> T) {
    let panic = catch_unwind(AssertUnwindSafe(|| drop(call()))).expect_err("it blows");
    assert!(panic.is::<u64>());
}

#[test]
fn a_drop_that_panics_frees_its_memory_all_the_same() {
    let mut memory = vec![MaybeUninit::new(9); 1 << 20];
    let table: BlockTableHeap = BlockTableHeap::new(&mut memory, &TABLE_CONFIG).expect("room");
    let bombs: Vec<Handle<Bomb>> = (0..200)
        .map(|n| table.insert(Bomb(n)).expect("room"))
        .collect();
    for bomb in bombs {
        blows(|| table.free(bomb));
    }
    table.check().expect("sound");
    assert_eq!(
        (table.stats().live_objects, table.stats().live_frames),
        (0, 0)
    );
}

thread_local! {
    /// A heap that drops can find. A value must be `Send`, so it has no reference to the heap.
    static TABLE: BlockTableHeap<'static> = {
        let memory = Vec::leak(vec![MaybeUninit::new(9); 1 << 18]);
        BlockTableHeap::new(memory, &TABLE_CONFIG).expect("large enough")
    };
    static BYTES: RefCell<Vec<Bytes<u8>>> = const { RefCell::new(Vec::new()) };
}

/// A value whose drop allocates, frees, resizes and compacts in its own heap, and drops what it
/// owns there.
struct Busy {
    next: Option<Handle<Busy>>,
    depth: u64,
}

impl Drop for Busy {
    fn drop(&mut self) {
        TABLE.with(|heap| {
            let layout = |len: u64| Layout::from_size_align(len as usize, 1).expect("valid");
            let fresh = heap
                .alloc_zeroed(layout(30 * (self.depth % 60) + 1))
                .expect("room");
            let mut all = BYTES.take();
            all.push(fresh);
            if self.depth % 3 == 0 {
                let nth = self.depth as usize % all.len();
                heap.free_bytes(all.swap_remove(nth));
            }
            if let Some(last) = all.last_mut() {
                heap.resize(last, layout(self.depth * 7 % 900))
                    .expect("room");
            }
            BYTES.set(all);
            heap.compact(u64::MAX);
            heap.check().expect("sound in the middle of a free");
            if let Some(next) = self.next.take() {
                assert_eq!(heap.get(&next).depth + 1, self.depth);
                heap.free(next);
            }
        });
    }
}

#[test]
fn a_drop_may_use_the_block_table_that_frees_it() {
    TABLE.with(|heap| {
        for _ in 0..3 {
            let mut chain = None;
            for depth in 0..100 {
                let busy = Busy { next: chain, depth };
                chain = Some(heap.insert(busy).unwrap_or_else(|full| panic!("{full}")));
            }
            heap.free(chain.expect("a hundred"));
            assert!(BYTES.with_borrow(|all| {
                let zero = |bytes| heap.chunks(bytes).flatten().all(|&byte| byte == 0);
                all.iter().all(zero)
            }));
            BYTES
                .take()
                .into_iter()
                .for_each(|bytes| heap.free_bytes(bytes));
            assert_eq!(heap.stats().live_objects, 0);
            heap.check().expect("sound");
        }
    });
}
