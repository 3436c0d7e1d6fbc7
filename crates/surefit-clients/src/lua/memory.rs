//! What answers Lua's requests: a heap, what is counted about it, and a reserve.
//!
//! ```text
//! request:  the second time, after a refusal: a collection has ended; serve, and fill the reserve again
//!           a new object, while a collection is owed: refuse
//!           else serve, else lend from the reserve, else refuse
//! lend:     only what may be a buffer and fits: the reserve is freed, the request served; a collection is owed
//! ```
//! Temporary buffers of Lua's libraries ask without a second time: a refusal is an error of the script, whatever garbage
//! there is. Nothing says which requests are theirs; but they never say that they are for a new object, as most others do. So
//! what is not for a new object may have the reserve, and the next new object pays for it with a collection.
//!
//! # Invariants
//! - V1: `reserve` is a live object of the heap that Lua was never given.
//! - V2: `refused` is the last request since which there were only frees, if that request was refused.
//!
//! # Bounds
//! The reserve is 1/16 of the heap. A buffer grows by half: a string of `s` bytes needs at most `1.5 s` while it is made.
//! Larger buffers are served as long as the heap has room outside the reserve.

use core::alloc::Layout;
use core::ptr::NonNull;

use surefit_core::RawHeap;
use surefit_gc::Clock;

/// The alignment of whatever Lua asks for, in bytes: its `LUAI_MAXALIGN` is a union of a double, a pointer and integers.
const ALIGN: usize = 8;

const _: () = assert!(
    align_of::<f64>() <= ALIGN && align_of::<i64>() <= ALIGN && align_of::<*const ()>() <= ALIGN,
    "the members of LUAI_MAXALIGN"
);

/// The reserve is one of so many parts of the heap.
///
/// Measured with TLSF: without a reserve the smallest heap of the program `strings` is 3.5 times as large; that of programs
/// without large buffers is up to a tenth smaller.
const RESERVE_PART: usize = 16;

/// What a virtual machine asked for and was given, since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Objects, arrays and buffers that were allocated.
    pub allocations: u64,
    /// Those that were freed.
    pub frees: u64,
    /// Those that got another size.
    pub resizes: u64,
    /// Bytes that the allocations asked for.
    pub requested_bytes: u64,
    /// Bytes that are live.
    pub live_bytes: u64,
    /// The most bytes that were live, garbage included.
    pub peak_bytes: u64,
    /// Bytes that were live after a collection, the most of them.
    pub peak_kept_bytes: u64,
    /// Refusals after which Lua collected and asked again.
    pub collections: u64,
    /// Of the frees: those of collections.
    pub swept: u64,
    /// Refusals after which it did neither: errors of buffers.
    pub uncollected: u64,
    /// Requests that were served from the reserve.
    pub loans: u64,
    /// The largest of them, in bytes.
    pub largest_loan_bytes: u64,
    /// The largest request that was not for a new object, and so might have been a buffer's, in bytes.
    pub largest_array_bytes: u64,
    /// Requests that were refused once more after a collection.
    pub exhausted: u64,
    /// The last request that was refused for good, in bytes.
    pub exhausted_bytes: u64,
    /// Calls whose time is in `call_ticks`, two readings of the clock each.
    pub timed_calls: u64,
    /// Ticks inside calls of the heap, but for the frees of collections.
    pub call_ticks: u64,
    /// Ticks from a refusal to the second request: marking and all frees, one reading of the clock each.
    pub collection_ticks: u64,
}

/// One request for memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Request {
    /// What is to get another size; `None` for what is new.
    object: Option<NonNull<u8>>,
    /// The bytes that it has; of a new one, what kind of object it is, or 0.
    old: usize,
    /// The bytes that it shall have.
    bytes: usize,
}

impl Request {
    /// Whether it says that it is for a new object, so that Lua collects if it is refused.
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
    /// A memory without a reserve: what Lua asks for before it can collect is not refused for its sake.
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

    /// Says that the machine is complete: from now on it collects when it is refused something, which is done without need
    /// to every `refuse_every`-th request for a new object, if that is not 0.
    pub(super) fn complete(&mut self, refuse_every: u64) {
        self.reserve_bytes = self.heap.parts().total() / RESERVE_PART;
        self.refuse_every = refuse_every;
        self.fill_reserve();
    }

    /// The heap.
    pub(super) const fn heap(&self) -> &H {
        self.heap
    }

    /// What was counted so far.
    pub(super) fn counts(&self) -> Counts {
        let mut counts = self.counts;
        if let Some(refused) = self.refused {
            counts.uncollected += 1;
            counts.exhausted_bytes = refused.bytes as u64;
        }
        counts
    }

    /// Answers Lua: `old` bytes become `bytes`, or what is live is freed if `bytes` is 0.
    ///
    /// # Safety
    /// S1: `object` is `None` or was answered to Lua before and not freed since; then `old` is its size.
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

    /// Whether a request is refused for the sake of a collection.
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
        // SAFETY: S1 is the caller's: what was refused did not change.
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
                // SAFETY: S1: live, of this heap, of this layout; the new size makes a layout, so it does not overflow.
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

    /// Gives the reserve back.
    pub(super) fn close(&mut self) {
        if let Some((reserve, layout)) = self.reserve.take().zip(layout(self.reserve_bytes)) {
            // SAFETY: V1: it is live, of this heap, and was allocated with this layout.
            unsafe { self.heap.free(reserve, layout) };
        }
    }
}
