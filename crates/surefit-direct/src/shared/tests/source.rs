//! A source that counts what it holds, fails where it is told, and has a clock that stands still;
//! and numbers at random.

use super::Vec;
use core::mem::MaybeUninit;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

use surefit_testkit::Random;

use super::super::{Settings, SharedDirect, Source, UNIT_BYTES};
use super::{Heap, std, vec};

/// Memory for one heap. It is committed and purged unit by unit.
pub(super) struct Counted {
    memory: core::cell::UnsafeCell<Vec<MaybeUninit<u64>>>,
    shared: Shared,
}

#[derive(Debug, Default)]
pub(super) struct Shared {
    now: AtomicU32,
    told: AtomicU32,
    is_sparse: AtomicBool,
    /// The bytes from which on no memory can be taken back at once.
    pinned_from: AtomicUsize,
    purged: AtomicUsize,
    committed: AtomicUsize,
    commits: AtomicUsize,
    purges: AtomicUsize,
    /// The commit that fails, from 1 on, and those after it, and then every other purge too; 0 for
    /// none.
    fails_at: AtomicUsize,
    /// What the next call to take memory back does: 0 if it goes on, [`STOPS`], or it is
    /// [`STOPPED`], or [`WENT_ON`].
    stop: AtomicU32,
}

const STOPS: u32 = 1;
const STOPPED: u32 = 2;
const WENT_ON: u32 = 3;

impl Counted {
    pub(super) fn new(bytes: usize) -> Self {
        let words = (bytes + UNIT_BYTES) / 8;
        Self {
            memory: vec![MaybeUninit::new(0); words].into(),
            shared: Shared::default(),
        }
    }

    /// The one heap over it.
    pub(super) fn heap(&self, settings: Settings) -> Heap<'_, &Shared> {
        self.try_heap(settings).unwrap()
    }

    pub(super) fn try_heap(
        &self,
        settings: Settings,
    ) -> Result<Heap<'_, &Shared>, surefit_core::Refused> {
        // SAFETY: there is one heap, which alone uses the words.
        let memory = unsafe { &mut *self.memory.get() };
        let bytes = memory.len() * 8;
        let start: NonNull<u8> = NonNull::from(memory.as_mut_slice()).cast();
        let skipped = start.as_ptr().align_offset(UNIT_BYTES);
        // SAFETY: inside the words; the heap has them for as long as they are borrowed; they are
        // zero.
        unsafe { SharedDirect::over(start.add(skipped), bytes - skipped, settings, &self.shared) }
    }

    /// How often the heap rose above its soft limit.
    pub(super) fn told(&self) -> u32 {
        self.shared.told.load(Ordering::Relaxed)
    }

    pub(super) fn shared(&self) -> &Shared {
        &self.shared
    }

    pub(super) fn pass(&self, milliseconds: u32) {
        self.shared.now.fetch_add(milliseconds, Ordering::Relaxed);
    }

    /// Says that programs write hardly any of their objects, or do.
    pub(super) fn set_sparse(&self, is_sparse: bool) {
        self.shared.is_sparse.store(is_sparse, Ordering::Relaxed);
    }

    /// Says that memory of so many bytes, or more, can not be taken back; 0 that all can.
    pub(super) fn set_pinned(&self, from: usize) {
        self.shared.pinned_from.store(from, Ordering::Relaxed);
    }

    pub(super) fn fail_at(&self, commit: usize) {
        self.shared.fails_at.store(commit, Ordering::Relaxed);
    }

    pub(super) fn commits(&self) -> usize {
        self.shared.commits.load(Ordering::Relaxed)
    }

    /// Bytes that were purged.
    pub(super) fn purged(&self) -> usize {
        self.shared.purged.load(Ordering::Relaxed)
    }

    /// Bytes committed by whole megabytes and not purged since: at least what is held for objects.
    pub(super) fn held(&self) -> usize {
        let committed = self.shared.committed.load(Ordering::Relaxed);
        committed.saturating_sub(self.purged())
    }
}

impl Shared {
    /// Has the next call to take memory back wait for [`go_on`](Self::go_on), but for a while only.
    pub(super) fn stop_at_the_next_purge(&self) {
        self.stop.store(STOPS, Ordering::SeqCst);
    }

    pub(super) fn was_stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst) >= STOPPED
    }

    pub(super) fn wait_until_it_stops(&self) {
        while !self.was_stopped() {
            std::thread::yield_now();
        }
    }

    pub(super) fn go_on(&self) {
        self.stop.store(WENT_ON, Ordering::SeqCst);
    }
}

// SAFETY: all of it is usable and zero from the start; what is purged is cleared.
unsafe impl Source for &Shared {
    const ZEROED: bool = true;
    const PURGES: bool = true;

    unsafe fn commit(&self, _at: NonNull<u8>, bytes: usize) -> bool {
        let fails_at = self.fails_at.load(Ordering::Relaxed);
        let commit = self.commits.fetch_add(1, Ordering::Relaxed) + 1;
        if fails_at != 0 && commit >= fails_at {
            return false;
        }
        self.committed.fetch_add(bytes, Ordering::Relaxed);
        true
    }

    unsafe fn purge(&self, at: NonNull<u8>, bytes: usize) -> bool {
        let pinned_from = self.pinned_from.load(Ordering::Relaxed);
        if pinned_from > 0 && bytes >= pinned_from {
            return false;
        }
        if self.stop.load(Ordering::SeqCst) == STOPS {
            self.stop.store(STOPPED, Ordering::SeqCst);
            for _ in 0..100 {
                if self.stop.load(Ordering::SeqCst) != STOPPED {
                    break;
                }
                std::thread::sleep(core::time::Duration::from_millis(1));
            }
        }
        let before = self.purges.fetch_add(1, Ordering::Relaxed);
        if self.fails_at.load(Ordering::Relaxed) != 0 && before % 2 == 0 {
            return false;
        }
        // SAFETY: the heap says that nobody needs these bytes.
        unsafe { at.write_bytes(0, bytes) };
        self.purged.fetch_add(bytes, Ordering::Relaxed);
        true
    }

    unsafe fn is_sparse(&self, _at: NonNull<u8>, _bytes: usize) -> bool {
        self.is_sparse.load(Ordering::Relaxed)
    }

    unsafe fn withdraw(&self, _at: NonNull<u8>, _bytes: usize) -> bool {
        self.fails_at.load(Ordering::Relaxed) == 0
    }

    fn above(&self) {
        self.told.fetch_add(1, Ordering::Relaxed);
    }

    fn now(&self) -> u32 {
        self.now.load(Ordering::Relaxed)
    }
}

/// Numbers below a bound, the same for the same seed.
pub(super) fn random(seed: u64) -> impl FnMut(usize) -> usize {
    let mut random = Random(seed);
    move |below| random.below(below)
}
