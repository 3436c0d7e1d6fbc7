//! A million objects that own each other through counted handles, taken apart on a small stack.

use std::mem::MaybeUninit;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use surefit_compact::Config;
use surefit_compact::shared::{Local, PerClass, SharedConfig, SharedCounted, SharedHeap};

type Lock = parking_lot::RawMutex;
type Heap = SharedHeap<'static, Lock>;
type Link<N> = Option<SharedCounted<'static, 'static, N, Lock>>;

/// As many as the review had in its chain.
const LONG: u32 = 1_000_000;
/// A stack that is too small for a recursion of that depth: it has less than a byte per object.
const STACK: usize = 1 << 17;
const REGION: usize = 64 << 20;

static CONFIG: SharedConfig = SharedConfig::new(Config::DEFAULT);
/// One test after the other uses the heap, so that each sees its own objects only.
static HEAP: OnceLock<(Heap, std::sync::Mutex<()>)> = OnceLock::new();
static DROPPED: AtomicU32 = AtomicU32::new(0);

/// Runs a test on a thread with a small stack; afterwards the heap is empty.
fn on_a_small_stack(test: fn(&'static Heap, &Local<'static, 'static, Lock, PerClass>)) {
    let (heap, turn) = HEAP.get_or_init(|| {
        let memory = Vec::leak(vec![MaybeUninit::uninit(); REGION]);
        let heap = SharedHeap::new(memory, &CONFIG).expect("large enough");
        (heap, std::sync::Mutex::new(()))
    });
    let _turn = turn.lock().expect("no test has panicked");
    DROPPED.store(0, Ordering::Relaxed);
    let small = thread::Builder::new().stack_size(STACK);
    let thread = small.spawn(move || test(heap, &heap.register().expect("a place")));
    thread.expect("a thread").join().expect("no panic");
    heap.check(false).expect("sound");
    assert_eq!((heap.stats().live_blocks, heap.stats().pages), (0, 0));
}

/// A node whose drop takes the chain behind it apart in a loop.
struct Looping {
    next: Link<Looping>,
}

impl Drop for Looping {
    fn drop(&mut self) {
        DROPPED.fetch_add(1, Ordering::Relaxed);
        let mut next = self.next.take();
        while let Some(link) = next {
            next = link.into_inner().and_then(|mut node| node.next.take());
        }
    }
}

fn chain(heap: &'static Heap, local: &Local<'static, 'static, Lock, PerClass>) -> Link<Looping> {
    (0..LONG).fold(None, |next, _| {
        let link = heap.insert_counted(local, Looping { next });
        Some(link.unwrap_or_else(|full| panic!("{full}")))
    })
}

#[test]
fn a_million_counted_objects_in_a_chain_are_dropped_in_a_loop() {
    on_a_small_stack(|heap, local| {
        drop(chain(heap, local));
        assert_eq!(DROPPED.load(Ordering::Relaxed), LONG);
    });
}

/// The loop ends at an object that has other owners, and what is behind it lives on.
#[test]
fn a_chain_is_dropped_up_to_the_first_object_that_others_own() {
    on_a_small_stack(|heap, local| {
        let mut at = chain(heap, local);
        let head = at.clone();
        for _ in 0..LONG / 2 {
            let next = at
                .as_ref()
                .expect("half of the chain")
                .pin_settled()
                .expect("free")
                .next
                .clone();
            at = next;
        }
        drop(head);
        assert_eq!(DROPPED.load(Ordering::Relaxed), LONG / 2);
        assert_eq!(at.as_ref().expect("the middle").count(), 1);
        drop(at);
        assert_eq!(DROPPED.load(Ordering::Relaxed), LONG);
    });
}

#[test]
fn of_all_handles_the_last_one_gets_the_value() {
    on_a_small_stack(|heap, local| {
        let first = heap.insert_counted(local, Box::new(7)).expect("room");
        let second = first.clone();
        assert_eq!(first.into_inner(), None);
        assert_eq!(second.count(), 1);
        assert_eq!(second.into_inner(), Some(Box::new(7)));
        // Threads that give theirs up at once: one gets it, in each of many rounds.
        for round in 0..200_u32 {
            let handle = heap.insert_counted(local, round).expect("room");
            let got: Vec<Option<u32>> = thread::scope(|threads| {
                let all: Vec<_> = (0..4)
                    .map(|_| handle.clone())
                    .map(|handle| threads.spawn(move || handle.into_inner()))
                    .collect();
                let mut got: Vec<_> = all
                    .into_iter()
                    .map(|one| one.join().expect("no panic"))
                    .collect();
                got.push(handle.into_inner());
                got
            });
            assert_eq!(got.into_iter().flatten().collect::<Vec<_>>(), [round]);
        }
    });
}
