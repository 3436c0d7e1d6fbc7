//! Serves Lua's requests: a heap, its counters, and a reserve.
//!
//! ```text
//! request:  the second time, after a refusal: a collection has ended; serve, and refill the
//!               reserve
//!           a new object, while a collection is owed: refuse
//!           else serve, else lend from the reserve, else refuse
//! lend:     only to what may be a buffer and fits: the reserve is freed, the request is served,
//!           and a collection is owed
//! ```
//! Temporary buffers of Lua's libraries ask only once: a refusal is an error of the script, even if
//! there is garbage. Nothing identifies their requests. But they never claim to be for a new
//! object, as most other requests do. So a request that is not for a new object may use the
//! reserve, and the next new object pays for it with a collection.
//!
//! # Invariants
//! - V1: `reserve` is a live object of the heap that Lua never received.
//! - V2: If the last request that was not a free was refused, `refused` is that request.
//!
//! # Bounds
//! The reserve is 1/16 of the heap. A buffer grows by half, so a string of `s` bytes needs at most
//! `1.5 s` bytes while it is built. Larger buffers are served as long as the heap has room outside
//! the reserve.

use core::alloc::Layout;
use core::ptr::NonNull;

use surefit_core::RawHeap;
use surefit_gc::Clock;

/// The alignment of all memory that Lua requests, in bytes: its `LUAI_MAXALIGN` is a union of a
/// double, a pointer and integers.
const ALIGN: usize = 8;

const _: () = assert!(
    align_of::<f64>() <= ALIGN && align_of::<i64>() <= ALIGN && align_of::<*const ()>() <= ALIGN,
    "the members of LUAI_MAXALIGN"
);

/// The reserve is this fraction of the heap.
///
/// Measured with TLSF: without a reserve the smallest heap of the program `strings` is 3.5 times as
/// large, and that of programs without large buffers is up to 10 % smaller.
const RESERVE_PART: usize = 16;

/// What a virtual machine requested and received since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Objects, arrays and buffers that were allocated.
    pub allocations: u64,
    /// Of these, how many were freed.
    pub frees: u64,
    /// Of these, how often one was resized.
    pub resizes: u64,
    /// Bytes that the allocations requested.
    pub requested_bytes: u64,
    /// Live bytes.
    pub live_bytes: u64,
    /// The maximum of live bytes, garbage included.
    pub peak_bytes: u64,
    /// The maximum of live bytes after a collection.
    pub peak_kept_bytes: u64,
    /// Refusals after which Lua collected and requested again.
    pub collections: u64,
    /// Frees that were part of a collection.
    pub swept: u64,
    /// Refusals after which it did neither: errors of buffers.
    pub uncollected: u64,
    /// Requests that were served from the reserve.
    pub loans: u64,
    /// The largest of these requests, in bytes.
    pub largest_loan_bytes: u64,
    /// The largest request that was not for a new object, in bytes. It might have been a buffer's.
    pub largest_array_bytes: u64,
    /// Requests that were refused again after a collection.
    pub exhausted: u64,
    /// The last of these requests, in bytes.
    pub exhausted_bytes: u64,
    /// Calls whose time is part of `call_ticks`; each includes two readings of the clock.
    pub timed_calls: u64,
    /// Ticks inside calls of the heap, except the frees of collections.
    pub call_ticks: u64,
    /// Ticks from a refusal to the second request, for marking and all frees; each includes one
    /// reading of the clock.
    pub collection_ticks: u64,
}

/// One request for memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Request {
    /// The object that is resized; `None` for a new one.
    object: Option<NonNull<u8>>,
    /// Its bytes; for a new object its kind, or 0.
    old: usize,
    /// Its new bytes.
    bytes: usize,
}

impl Request {
    /// Whether it is for a new object, so that Lua collects if it is refused.
    const fn is_object(self) -> bool {
        self.object.is_none() && self.old != 0
    }
}

/// The memory of one virtual machine.
#[derive(Debug)]
pub(super) struct Memory<'h, H, K> {
    heap: &'h mut H,
    clock: K,
    reserve: Option<NonNull<u8>>,
    reserve_bytes: usize,
    owes_collection: bool,
    refuse_every: u64,
    refused: Option<Request>,
    refused_at: u64,
    counts: Counts,
}

fn layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes, ALIGN).ok()
}

impl<'h, H: RawHeap, K: Clock> Memory<'h, H, K> {
    /// A memory without a reserve: it must not refuse what Lua requests before it can collect.
    pub(super) fn new(heap: &'h mut H, clock: K) -> Self {
        Self {
            heap,
            clock,
            reserve: None,
            reserve_bytes: 0,
            owes_collection: false,
            refuse_every: 0,
            refused: None,
            refused_at: 0,
            counts: Counts::default(),
        }
    }

    /// Called when the machine is complete: from now on it collects after a refusal. If
    /// `refuse_every` is not 0, every `refuse_every`-th request for a new object is refused without
    /// need.
    pub(super) fn complete(&mut self, refuse_every: u64) {
        self.reserve_bytes = self.heap.parts().total() / RESERVE_PART;
        self.refuse_every = refuse_every;
        self.fill_reserve();
    }

    /// The heap.
    pub(super) const fn heap(&self) -> &H {
        self.heap
    }

    /// The counts so far.
    pub(super) fn counts(&self) -> Counts {
        let mut counts = self.counts;
        if let Some(refused) = self.refused {
            counts.uncollected += 1;
            counts.exhausted_bytes = refused.bytes as u64;
        }
        counts
    }

    /// Serves a call of Lua: `old` bytes become `bytes`; if `bytes` is 0, the object is freed.
    ///
    /// # Safety
    /// S1: `object` is `None`, or Lua received it before and has not freed it since; then `old` is
    /// its size.
    pub(super) unsafe fn answer(
        &mut self,
        object: Option<NonNull<u8>>,
        old: usize,
        bytes: usize,
    ) -> Option<NonNull<u8>> {
        if let (0, Some(_)) = (bytes, self.refused) {
            self.counts.swept += u64::from(object.is_some());
            // SAFETY: S1 is the caller's.
            unsafe { self.free(object, old) };
            return None;
        }
        let began = self.clock.now();
        let answer = match bytes {
            0 => {
                // SAFETY: S1 is the caller's.
                unsafe { self.free(object, old) };
                None
            }
            _ => {
                let request = Request { object, old, bytes };
                // SAFETY: S1 is the caller's.
                unsafe { self.request(request, began) }
            }
        };
        let ended = self.clock.now();
        self.counts.timed_calls += 1;
        let ticks = ended.saturating_sub(began);
        self.counts.call_ticks = self.counts.call_ticks.saturating_add(ticks);
        self.refused_at = ended;
        answer
    }

    /// # Safety
    /// S1 of `answer`.
    unsafe fn free(&mut self, object: Option<NonNull<u8>>, bytes: usize) {
        let Some((object, layout)) = object.zip(layout(bytes)) else {
            return;
        };
        // SAFETY: S1: Lua got it from this heap, and frees it with the size that it asked for.
        unsafe { self.heap.free(object, layout) };
        self.counts.frees += 1;
        self.counts.live_bytes -= bytes as u64;
    }

    /// # Safety
    /// S1 of `answer`.
    unsafe fn request(&mut self, request: Request, now: u64) -> Option<NonNull<u8>> {
        if !request.is_object() {
            let largest = &mut self.counts.largest_array_bytes;
            *largest = (*largest).max(request.bytes as u64);
        }
        match self.refused.take() {
            Some(refused) if refused == request => {
                // SAFETY: S1 is the caller's.
                return unsafe { self.answer_again(request, now) };
            }
            Some(refused) => {
                self.counts.uncollected += 1;
                self.counts.exhausted_bytes = refused.bytes as u64;
            }
            None => {}
        }
        let served = match self.is_due(request) {
            true => None,
            // SAFETY: S1 is the caller's.
            false => unsafe { self.serve_or_lend(request) },
        };
        if served.is_none() {
            self.refused = Some(request);
        }
        served
    }

    /// Serves the second request, after a collection.
    ///
    /// # Safety
    /// S1 of `answer`.
    unsafe fn answer_again(&mut self, request: Request, now: u64) -> Option<NonNull<u8>> {
        self.counts.collections += 1;
        let ticks = now.saturating_sub(self.refused_at);
        self.counts.collection_ticks = self.counts.collection_ticks.saturating_add(ticks);
        self.counts.peak_kept_bytes = self.counts.peak_kept_bytes.max(self.counts.live_bytes);
        self.owes_collection = false;
        // SAFETY: S1 is the caller's.
        let served = unsafe { self.serve_or_lend(request) };
        if served.is_none() {
            self.counts.exhausted += 1;
            self.counts.exhausted_bytes = request.bytes as u64;
        } else if self.reserve.is_none() {
            self.fill_reserve();
            self.owes_collection &= self.reserve.is_none();
        }
        served
    }

    /// Whether a request is refused so that a collection takes place.
    const fn is_due(&self, request: Request) -> bool {
        let every = self.refuse_every;
        let is_test = every != 0 && self.counts.allocations % every == 0;
        request.is_object() && (self.owes_collection || is_test)
    }

    /// # Safety
    /// S1 of `answer`.
    unsafe fn serve_or_lend(&mut self, request: Request) -> Option<NonNull<u8>> {
        // SAFETY: S1 is the caller's.
        let served = unsafe { self.serve(request) };
        if served.is_some() || request.is_object() || request.bytes > self.reserve_bytes {
            return served;
        }
        let reserve = self.reserve.take()?;
        if let Some(layout) = layout(self.reserve_bytes) {
            // SAFETY: V1: it is live, of this heap, and was allocated with this layout.
            unsafe { self.heap.free(reserve, layout) };
        }
        self.owes_collection = true;
        // SAFETY: S1 is the caller's: a refused object did not change.
        let served = unsafe { self.serve(request) }?;
        self.counts.loans += 1;
        self.counts.largest_loan_bytes = self.counts.largest_loan_bytes.max(request.bytes as u64);
        Some(served)
    }

    /// # Safety
    /// S1 of `answer`.
    unsafe fn serve(&mut self, request: Request) -> Option<NonNull<u8>> {
        let new = layout(request.bytes)?;
        let (served, old_bytes) = match request.object {
            None => {
                let served = self.heap.allocate(new).ok()?;
                self.counts.allocations += 1;
                self.counts.requested_bytes += request.bytes as u64;
                (served, 0)
            }
            Some(object) => {
                let old = layout(request.old)?;
                // SAFETY: S1: live, of this heap, of this layout; the new size makes a layout, so
                // it does not overflow.
                let served = unsafe { self.heap.resize(object, old, new.size()) }.ok()?;
                self.counts.resizes += 1;
                (served, request.old)
            }
        };
        self.counts.live_bytes += request.bytes as u64;
        self.counts.live_bytes -= old_bytes as u64;
        self.counts.peak_bytes = self.counts.peak_bytes.max(self.counts.live_bytes);
        Some(served)
    }

    fn fill_reserve(&mut self) {
        let layout = layout(self.reserve_bytes).filter(|layout| layout.size() > 0);
        self.reserve = layout.and_then(|layout| self.heap.allocate(layout).ok());
    }

    /// Frees the reserve.
    pub(super) fn close(&mut self) {
        if let Some((reserve, layout)) = self.reserve.take().zip(layout(self.reserve_bytes)) {
            // SAFETY: V1: it is live, of this heap, and was allocated with this layout.
            unsafe { self.heap.free(reserve, layout) };
        }
    }
}
