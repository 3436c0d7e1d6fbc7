//! The one heap, the one thread that allocates, its roots, and how it stops and goes on.

use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use mmtk::scheduler::GCWorker;
use mmtk::util::opaque_pointer::{OpaquePointer, VMMutatorThread, VMThread, VMWorkerThread};
use mmtk::util::options::{GCTriggerSelector, PlanSelector};
use mmtk::util::{Address, ObjectReference};
use mmtk::{MMTK, MMTKBuilder, Mutator, memory_manager};

/// The program, as MMTk sees it.
#[derive(Default)]
pub(crate) struct Peer;

/// More than two for every level of the deepest tree.
const MOST_ROOTS: usize = 64;

/// References that only the program holds: trees whose parent is not built yet, and the tree that
/// stays.
pub(crate) static ROOTS: Roots = Roots {
    words: [const { AtomicUsize::new(0) }; MOST_ROOTS],
    len: AtomicUsize::new(0),
};

static HEAP: OnceLock<&'static MMTK<Peer>> = OnceLock::new();
static MUTATOR: AtomicPtr<Mutator<Peer>> = AtomicPtr::new(std::ptr::null_mut());
static COLLECTIONS: AtomicU64 = AtomicU64::new(0);

/// Whether the thread that allocates waits for the end of a collection.
static IS_STOPPED: Mutex<bool> = Mutex::new(false);
static CHANGED: Condvar = Condvar::new();

/// Makes the heap and its collecting threads; what allocates from it.
pub(crate) fn start(
    heap_bytes: usize,
    threads: usize,
) -> Result<&'static mut Mutator<Peer>, String> {
    let mut builder = MMTKBuilder::new_no_env_vars();
    let options = &mut builder.options;
    let is_set = options.plan.set(PlanSelector::MarkSweep)
        && options.threads.set(threads)
        && options
            .gc_trigger
            .set(GCTriggerSelector::FixedHeapSize(heap_bytes));
    if !is_set {
        return Err(format!(
            "heap={heap_bytes} threads={threads}: both must be at least 1"
        ));
    }
    let heap = *HEAP.get_or_init(|| Box::leak(memory_manager::mmtk_init(&builder)));
    memory_manager::initialize_collection(heap, mutator_thread().0);
    let mutator = Box::into_raw(memory_manager::bind_mutator(heap, mutator_thread()));
    MUTATOR.store(mutator, Ordering::Release);
    Ok(self::mutator())
}

/// MMTk's name of the thread that allocates: any address will do; those that collect are null.
pub(crate) fn mutator_thread() -> VMMutatorThread {
    VMMutatorThread(VMThread(OpaquePointer::from_address(Address::from_ref(
        &MUTATOR,
    ))))
}

/// What the one thread allocates from.
pub(crate) fn mutator() -> &'static mut Mutator<Peer> {
    // SAFETY: `start` set it and nobody frees it. It belongs to the thread that allocates, and to a
    // collecting one while that waits in `stop`; MMTk itself asks for it in this way.
    unsafe { &mut *MUTATOR.load(Ordering::Acquire) }
}

/// The collections so far.
pub(crate) fn collections() -> u64 {
    COLLECTIONS.load(Ordering::Relaxed)
}

/// A collecting thread: it never returns.
pub(crate) fn work(worker: Box<GCWorker<Peer>>) {
    let heap = *HEAP.wait();
    memory_manager::start_worker(heap, VMWorkerThread(VMThread::UNINITIALIZED), worker);
}

/// The thread that allocates waits here for the end of a collection.
pub(crate) fn stop() {
    let mut is_stopped = lock();
    *is_stopped = true;
    CHANGED.notify_all();
    drop(CHANGED.wait_while(is_stopped, |is_stopped| *is_stopped));
}

/// A collecting thread waits here for the one that allocates to stop.
pub(crate) fn await_stop() {
    drop(CHANGED.wait_while(lock(), |is_stopped| !*is_stopped));
}

/// The end of a collection.
pub(crate) fn resume() {
    COLLECTIONS.fetch_add(1, Ordering::Relaxed);
    *lock() = false;
    CHANGED.notify_all();
}

fn lock() -> MutexGuard<'static, bool> {
    IS_STOPPED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A stack of references. Only the thread that allocates writes; a collecting one reads while that
/// waits behind a lock, so no order between these words is needed.
pub(crate) struct Roots {
    words: [AtomicUsize; MOST_ROOTS],
    len: AtomicUsize,
}

impl Roots {
    /// Adds one.
    pub(crate) fn push(&self, node: ObjectReference) {
        let len = self.len.load(Ordering::Relaxed);
        self.words[len].store(node.to_raw_address().as_usize(), Ordering::Relaxed);
        self.len.store(len + 1, Ordering::Relaxed);
    }

    /// Takes the last one away.
    pub(crate) fn pop(&self) -> Option<ObjectReference> {
        let last = self.last()?;
        self.len.fetch_sub(1, Ordering::Relaxed);
        Some(last)
    }

    /// The last one.
    pub(crate) fn last(&self) -> Option<ObjectReference> {
        let len = self.len.load(Ordering::Relaxed);
        self.at(len.checked_sub(1)?)
    }

    /// All of them.
    pub(crate) fn all(&self) -> Vec<ObjectReference> {
        let len = self.len.load(Ordering::Relaxed);
        (0..len).filter_map(|place| self.at(place)).collect()
    }

    fn at(&self, place: usize) -> Option<ObjectReference> {
        let word = self.words[place].load(Ordering::Relaxed);
        // SAFETY: `push` stored an address; any number may be one until it is read through.
        ObjectReference::from_raw_address(unsafe { Address::from_usize(word) })
    }
}
