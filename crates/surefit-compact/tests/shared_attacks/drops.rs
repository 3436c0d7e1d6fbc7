//! Values whose drop uses the heap that is dropping them. No lock is held then, and no work is half
//! done.
//!
//! Under [`Watched`] locks a drop in a section would wait for itself, which panics.

use std::cell::Cell;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::sync::OnceLock;

use surefit_compact::shared::{
    Granularity, PerClass, PerHeap, PerPage, ShardedHeap, SharedConfig, SharedHeap,
};
use surefit_compact::{Bound, Config, Geometry, Handle};
use surefit_testkit::layout;

use crate::lock::{Watched, held};

const REGION: usize = 1 << 19;

thread_local! {
    static DROPS: Cell<u32> = const { Cell::new(0) };
}

/// What a drop does with the heap, as often as there are drops.
trait Meddle: Send + Sync + 'static {
    fn meddle(nth: u32);
}

/// A value that meddles when it is dropped; as large as what is inserted meanwhile.
struct Nosy<M: Meddle>([u64; 5], PhantomData<fn() -> M>);

impl<M: Meddle> Nosy<M> {
    fn new(word: u64) -> Self {
        Self([word; 5], PhantomData)
    }
}

impl<M: Meddle> Drop for Nosy<M> {
    fn drop(&mut self) {
        assert_eq!(held(), 0, "user code runs under a lock");
        assert_eq!(self.0, [self.0[0]; 5]);
        let nth = DROPS.get();
        DROPS.set(nth + 1);
        M::meddle(nth);
        assert_eq!(
            self.0, [self.0[0]; 5],
            "the value is reused while it is dropped"
        );
    }
}

fn config<G: Granularity + Sync>(bound: Bound) -> SharedConfig<G> {
    let config = Config::new(Geometry::DEFAULT, bound).expect("valid");
    SharedConfig::new(config.with_pieces(Some(256)).expect("valid"))
}

fn region() -> &'static mut [MaybeUninit<u8>] {
    Vec::leak(vec![MaybeUninit::new(9); REGION])
}

/// A configuration and a heap for each kind of lock, made once and never dropped.
macro_rules! heap_of {
    ($granularity:ty, $kind:ident, $make:expr) => {{
        static CONFIG: OnceLock<SharedConfig<$granularity>> = OnceLock::new();
        static HEAP: OnceLock<$kind<'static, Watched, $granularity>> = OnceLock::new();
        HEAP.get_or_init(|| {
            let config = CONFIG.get_or_init(|| config(Bound::Pages(1)));
            $make(config).expect("large enough")
        })
    }};
}

/// A heap of handles for each kind of lock.
trait Home: Granularity + Sync {
    fn heap() -> &'static SharedHeap<'static, Watched, Self>
    where
        Self: Sized;
}

macro_rules! home {
    ($($granularity:ty)*) => {$(
        impl Home for $granularity {
            fn heap() -> &'static SharedHeap<'static, Watched, Self> {
                heap_of!($granularity, SharedHeap, |config| SharedHeap::new(region(), config))
            }
        }
    )*};
}
home! { PerHeap PerClass PerPage }

struct InHandles<G>(PhantomData<fn() -> G>);

impl<G: Home> Meddle for InHandles<G> {
    fn meddle(nth: u32) {
        let heap = G::heap();
        let local = heap.register().expect("a place");
        let mut kept: Handle<[u64; 5]> = local.insert([1; 5]).expect("room");
        let other = local.insert([2_u64; 5]).expect("room");
        heap.pin_mut(&mut kept).expect("free")[0] = 3;
        local.free(other).expect("live");
        let mut bytes = local
            .alloc_zeroed(layout(40 + nth as usize % 700))
            .expect("room");
        local.resize(&mut bytes, layout(900)).expect("room");
        local.free_bytes(bytes).expect("live");
        heap.compact(u64::MAX);
        heap.check(true).expect("sound in the middle of a drop");
        assert_eq!(local.remove(kept), Ok([3, 1, 1, 1, 1]));
    }
}

fn in_handles<G: Home>() {
    type Value<G> = Nosy<InHandles<G>>;
    let heap = G::heap();
    let local = heap.register().expect("a place");
    let insert = |word| {
        local
            .insert(Value::<G>::new(word))
            .unwrap_or_else(|full| panic!("{full}"))
    };
    DROPS.set(0);
    let mut values: Vec<_> = (0..300).map(insert).collect();
    for nth in 0..200 {
        let handle = values.swap_remove(nth * 7 % values.len());
        if nth % 2 == 0 {
            local.free(handle).expect("live");
        } else {
            drop(local.remove(handle).expect("live"));
        }
    }
    assert_eq!(DROPS.get(), 200);
    for handle in values {
        local.free(handle).expect("live");
    }
    heap.compact(u64::MAX);
    heap.check(false).expect("sound");
    assert_eq!((heap.stats().live_blocks, DROPS.get()), (0, 300));
}

#[test]
fn a_drop_may_use_the_heap_of_handles_that_frees_it() {
    in_handles::<PerHeap>();
    in_handles::<PerClass>();
    in_handles::<PerPage>();
}

fn instances() -> &'static ShardedHeap<'static, Watched> {
    heap_of!(PerClass, ShardedHeap, |config| ShardedHeap::new(
        region(),
        config,
        3
    ))
}

struct InInstances;

impl Meddle for InInstances {
    /// Destroys an instance that nobody is registered in, over and over.
    fn meddle(nth: u32) {
        let heap = instances();
        let local = heap.register_in(2).expect("a place");
        let handle = local.insert([nth; 10]).expect("room");
        let _leaked = local.insert([nth; 10]).expect("room");
        drop(local);
        assert_eq!(heap.destroy(2), Ok(2));
        assert!(heap.pin(&handle).is_err());
        heap.set_quota(1, usize::MAX);
        heap.compact_instance(0, 5);
        heap.instance_stats(1);
        heap.check(true).expect("sound in the middle of a drop");
    }
}

#[test]
fn a_drop_may_use_the_instances_that_free_it() {
    let heap = instances();
    let locals = [0, 1].map(|instance| heap.register_in(instance).expect("a place"));
    DROPS.set(0);
    for nth in 0..200_u64 {
        let owner = &locals[nth as usize % 2];
        let value = Nosy::<InInstances>::new(nth);
        let handle = owner.insert(value).unwrap_or_else(|full| panic!("{full}"));
        locals[nth as usize / 2 % 2].free(handle).expect("live");
        assert_eq!(u64::from(DROPS.get()), nth + 1);
    }
    heap.compact(u64::MAX);
    heap.check(false).expect("sound");
    assert_eq!(heap.stats().live_blocks, 0);
}

/// A value that finds no room comes back, outside of any lock; so does one of a thread's own
/// `Local` inside another use.
#[test]
fn a_thread_may_use_its_local_inside_a_use_of_it() {
    static CONFIG: SharedConfig = SharedConfig::new(Config::DEFAULT);
    let mut memory = vec![MaybeUninit::new(9); REGION];
    let heap: SharedHeap<parking_lot::RawMutex> =
        SharedHeap::new(&mut memory, &CONFIG).expect("large enough");
    let threads = heap.per_thread();
    let nested = threads.with(|outer| {
        let handle = outer.insert(7_u64).expect("room");
        threads.with(|inner| {
            assert!(core::ptr::eq(outer, inner), "one place a thread");
            inner.remove(handle)
        })
    });
    assert_eq!(nested, Ok(Ok(Ok(7))));
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        threads.with(|local| {
            let _leaked = local.insert(8_u64).expect("room");
            std::panic::resume_unwind(Box::new(()));
        })
    }));
    assert!(panic.is_err());
    assert_eq!(threads.with(|local| local.instance()), Ok(0));
    drop(threads);
    heap.check(false).expect("sound");
    assert_eq!(heap.stats().live_blocks, 1);
    assert_eq!(
        (0..17)
            .map_while(|_| heap.register().ok())
            .collect::<Vec<_>>()
            .len(),
        16
    );
}
