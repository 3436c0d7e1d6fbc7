//! Requests to the heap other than for memory: statistics, limits, and to return unused memory.

use core::ffi::c_void;
use core::ptr::NonNull;

use surefit_direct::shared::SharedDirectStats;
use surefit_interpose::reports::{Info, Reports};
use surefit_interpose::system;

use crate::global::SurefitMalloc;
use crate::process::{heap, options};
use crate::report::{Lines, Xml};
use crate::serve;
use crate::soft_limit::{self, Callback};
use crate::text::{Descriptor, Sink, write};
use crate::thread::{own, with};

/// A stream of the C library.
struct Stream(*mut c_void);

impl Sink for Stream {
    fn put(&self, bytes: &[u8]) {
        // SAFETY: so many bytes; whoever made this promises that the stream is open.
        unsafe { system::fwrite(bytes.as_ptr().cast(), 1, bytes.len(), self.0) };
    }
}

impl SurefitMalloc {
    /// What the heap holds now. `None` if there is no memory for a heap.
    ///
    /// # Complexity
    /// Linear in the units of 8 KiB that were ever used, under the lock for large objects.
    #[must_use]
    pub fn stats(&self) -> Option<SharedDirectStats> {
        heap().map(|heap| heap.stats())
    }

    /// Returns free memory to the system: this thread's, that of threads that ended, and the
    /// pool's. Says how many bytes were returned.
    ///
    /// # Complexity
    /// Linear in the free runs and in the threads that ended.
    #[expect(
        clippy::must_use_candidate,
        reason = "the bytes are for who wants to know"
    )]
    pub fn purge(&self) -> usize {
        let Some(heap) = heap() else { return 0 };
        if let Some(own) = own() {
            own.trim();
        }
        heap.purge()
    }
}

impl SurefitMalloc {
    /// Sets the most bytes that pages and large objects may hold, free ones that were not given
    /// back included; `usize::MAX` for no limit. Calls that would need more are refused.
    pub fn set_limit(&self, bytes: usize) {
        if let Some(heap) = heap() {
            heap.set_limit(bytes);
        }
    }

    /// Sets the bytes of pages and large objects above which a function of the program is called;
    /// `usize::MAX` for never.
    pub fn set_soft_limit(&self, bytes: usize) {
        if let Some(heap) = heap() {
            heap.set_soft_limit(bytes);
        }
    }

    /// Registers a function that is called each time the heap rises above the soft limit. A thread
    /// calls it at the end of a call of the heap, with no lock held: the one whose call crossed the
    /// limit, or another that calls at the same time. The function may allocate and free. It is
    /// called again only after the heap has fallen by 1/32 below the limit. Several threads may run
    /// it at once. `None`: no function.
    ///
    /// Returns `false`, and changes nothing, if there is no memory for it. Each call uses 16 bytes,
    /// which are never freed.
    #[must_use]
    pub fn on_soft_limit(
        &self,
        function: Option<extern "C" fn(*mut c_void)>,
        argument: *mut c_void,
    ) -> bool {
        let Some(function) = function else {
            soft_limit::unset();
            return true;
        };
        let Some(place) = serve::allocate(size_of::<Callback>(), 16) else {
            return false;
        };
        let place: NonNull<Callback> = place.cast();
        // SAFETY: new memory, large enough and aligned to 16 bytes.
        unsafe { place.write(Callback { function, argument }) };
        // SAFETY: it is never freed.
        unsafe { soft_limit::set(place) };
        true
    }

    /// Whether the program should move an object to a new place, if it can: allocate, copy, free.
    /// It should if its size-class has more than κ (`SUREFIT_DEFRAG_PAGES`, by default 4) not-full
    /// pages in this thread's instance, and the object lies in one that new objects will not
    /// fill next. Pages that serve several size-classes count together; a quarter must be free in
    /// one where no new object fits. `false` for large objects, for those of other threads, and for
    /// addresses of no object.
    ///
    /// # Complexity
    /// O(κ), without a lock. The first hint about a size-class in an instance puts what its free
    /// list holds into pages, as calls of free do; from then on each free of the class goes there.
    #[must_use]
    pub fn defrag_hint(&self, object: *const c_void) -> bool {
        let Some(object) = NonNull::new(object.cast_mut().cast()) else {
            return false;
        };
        with(|own| own.defrag_hint(object, options().defrag_pages)).unwrap_or(false)
    }
}

impl Reports for SurefitMalloc {
    fn trim(&self, _keep: usize) -> bool {
        self.purge() > 0
    }

    fn info(&self) -> Info {
        let Some(stats) = self.stats() else {
            return Info::default();
        };
        let small = stats.active - stats.large_bytes.min(stats.active);
        let used = stats.allocated - stats.large_bytes.min(stats.allocated);
        Info {
            arena: small + stats.dirty,
            ordblks: stats.free_runs,
            hblks: stats.large_objects,
            hblkhd: stats.large_bytes,
            uordblks: used,
            fordblks: small - used.min(small) + stats.dirty,
            keepcost: stats.dirty,
            ..Info::default()
        }
    }

    unsafe fn write_info(&self, stream: *mut c_void) {
        if let Some(stats) = self.stats() {
            write(Stream(stream), format_args!("{}", Xml(&stats)));
        }
    }

    fn write_stats(&self) {
        if let Some(stats) = self.stats() {
            // SAFETY: it answers a number.
            let process = unsafe { system::getpid() };
            write(
                Descriptor::ERRORS,
                format_args!("{}", Lines(&stats, process)),
            );
        }
    }
}
