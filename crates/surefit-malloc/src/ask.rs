//! What a program asks of the heap beside memory: what it holds, and to give back what it does not need.

use core::ffi::c_void;

use surefit_compact::shared_direct::SharedDirectStats;
use surefit_interpose::reports::{Info, Reports};
use surefit_interpose::system;

use crate::global::SurefitMalloc;
use crate::process::heap;
use crate::report::{Lines, Xml};
use crate::text::{Descriptor, Sink, write};
use crate::thread::own;

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

    /// Gives back to the system what this thread, threads that ended and nobody needs. Returns the bytes that went back.
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
