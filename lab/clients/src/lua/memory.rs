//! Serves Lua's requests: a heap, its counters, and a reserve.
//!
//! ```text
//! request:  serve; else refuse: Lua collects if it is for a new object, and requests again;
//!           if not, the machine makes Lua collect first (`vm`)
//! again:    refill the reserve; serve, else lend, else refuse
//! lend:     free the reserve, serve, and keep what is left of it
//! ```
//! Temporary buffers of Lua's libraries ask only once: a refusal is an error of the script, even if
//! there is garbage. Nothing identifies their requests. But they never claim to be for a new
//! object, as most other requests do. So if any request that is not for a new object is refused,
//! the machine requests an object that nobody needs. Both of its requests are refused; between them
//! Lua collects. It does not while it moves a stack: then the next new object pays with a
//! collection.
//!
//! # Invariants
//! - V1 is that of `reserve`.
//! - V2: If the last request that was not a free was refused for the first time, `refused` is that
//!   request.
//!
//! # Bounds
//! The reserve is meant to have from 1/13 to 1/3 of the heap; it has less where small objects
//! needed it, or the heap has no such pieces. A request of an array or a buffer makes Lua collect
//! at most twice.

use core::ptr::NonNull;

use mlua_sys::lua_State;
use surefit_core::RawHeap;
use surefit_gc::Clock;

use super::layout::layout;
use super::reserve::Reserve;

/// An object that is shorter than this part of the reserve is small: if it has no room elsewhere,
/// small objects take half of the reserve for good.
const SMALL_PART: usize = 16;

/// After an object of so many bytes was freed, the reserve is refilled if it lacks anything.
const LONG: usize = 1024;

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
    /// Refused requests that were not made again: errors of buffers.
    pub uncollected: u64,
    /// Requests that found room only when the reserve was freed.
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
    reserve: Reserve,
    /// Whether the reserve may have less than it should, and more was freed since.
    may_lack: bool,
    /// A thread of the machine with which it collects, from when it is complete.
    collector: Option<NonNull<lua_State>>,
    /// Whether the machine makes Lua collect: its request for an object is refused.
    collects: bool,
    /// Whether it could not, because Lua was moving a stack or collecting: the next new object
    /// makes it collect.
    owes_collection: bool,
    refuse_every: u64,
    refused: Option<Request>,
    refused_at: u64,
    counts: Counts,
}

impl<'h, H: RawHeap, K: Clock> Memory<'h, H, K> {
    /// A memory without a reserve: it must not refuse what Lua requests before it can collect.
    pub(super) fn new(heap: &'h mut H, clock: K) -> Self {
        Self {
            heap,
            clock,
            reserve: Reserve::none(),
            may_lack: false,
            collector: None,
            collects: false,
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
    pub(super) fn complete(&mut self, refuse_every: u64, collector: Option<NonNull<lua_State>>) {
        self.refuse_every = refuse_every;
        self.collector = collector;
    }

    /// Called when the script is loaded: from now on there is a reserve.
    pub(super) fn start_reserve(&mut self) {
        self.reserve.start(self.heap);
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
        self.end_call(began);
        answer
    }

    /// Counts the time of a call.
    fn end_call(&mut self, began: u64) {
        let ended = self.clock.now();
        self.counts.timed_calls += 1;
        let ticks = ended.saturating_sub(began);
        self.counts.call_ticks = self.counts.call_ticks.saturating_add(ticks);
        self.refused_at = ended;
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
        self.may_lack |= bytes >= LONG;
    }

    /// # Safety
    /// S1 of `answer`.
    unsafe fn request(&mut self, request: Request, now: u64) -> Option<NonNull<u8>> {
        if !request.is_object() {
            let largest = &mut self.counts.largest_array_bytes;
            *largest = (*largest).max(request.bytes as u64);
            self.may_lack |= self.reserve.expect(request.bytes);
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
            false => unsafe { self.serve(request) },
        };
        if served.is_none() {
            self.refused = Some(request);
        } else if self.may_lack {
            self.may_lack = false;
            if self.reserve.lacks() {
                self.reserve.fill(self.heap);
            }
        }
        served
    }

    /// Serves the second request, after a collection; refuses that of [`Memory::begin_collection`].
    ///
    /// # Safety
    /// S1 of `answer`.
    unsafe fn answer_again(&mut self, request: Request, now: u64) -> Option<NonNull<u8>> {
        self.counts.collections += 1;
        let ticks = now.saturating_sub(self.refused_at);
        self.counts.collection_ticks = self.counts.collection_ticks.saturating_add(ticks);
        self.counts.peak_kept_bytes = self.counts.peak_kept_bytes.max(self.counts.live_bytes);
        self.owes_collection = false;
        self.reserve.forget();
        if self.collects && request.is_object() {
            self.collects = false;
            return None;
        }
        // SAFETY: S1 is the caller's.
        let served = unsafe { self.serve_or_lend(request) };
        if served.is_none() {
            self.counts.exhausted += 1;
            self.counts.exhausted_bytes = request.bytes as u64;
        }
        served
    }

    /// If the last request was refused and Lua may not collect for it: the thread with which the
    /// machine is to request an object. That is refused twice, so that Lua collects and nothing is
    /// made.
    ///
    /// A refused request for less than an object has makes it collect nothing: Lua shrinks its
    /// table of strings only after it has emptied the rest, and could not bear a collection then.
    pub(super) fn begin_collection(&mut self) -> Option<NonNull<lua_State>> {
        let refused = self.refused?;
        let shrinks = refused.object.is_some() && refused.bytes <= refused.old;
        if self.collects || refused.is_object() || shrinks {
            return None;
        }
        let collector = self.collector?;
        (self.refused, self.collects) = (None, true);
        Some(collector)
    }

    /// Serves the request for which the machine collected.
    ///
    /// # Safety
    /// S1 of `answer`: the request is the one that was refused.
    pub(super) unsafe fn end_collection(
        &mut self,
        object: Option<NonNull<u8>>,
        old: usize,
        bytes: usize,
    ) -> Option<NonNull<u8>> {
        let request = Request { object, old, bytes };
        let began = self.clock.now();
        self.owes_collection |= core::mem::take(&mut self.collects);
        // SAFETY: S1 is the caller's.
        let served = unsafe { self.serve_or_lend(request) };
        self.refused = served.is_none().then_some(request);
        self.end_call(began);
        served
    }

    /// Whether a request is refused so that a collection takes place.
    const fn is_due(&self, request: Request) -> bool {
        let every = self.refuse_every;
        let is_test = every != 0 && self.counts.allocations % every == 0;
        request.is_object() && (self.collects || self.owes_collection || is_test)
    }

    /// Serves a request after a collection.
    ///
    /// # Safety
    /// S1 of `answer`.
    unsafe fn serve_or_lend(&mut self, request: Request) -> Option<NonNull<u8>> {
        self.reserve.fill(self.heap);
        // SAFETY: S1 is the caller's.
        let served = unsafe { self.serve(request) };
        if served.is_some() || self.reserve.bytes() == 0 {
            return served;
        }
        if request.is_object() && request.bytes < self.reserve.bytes() / SMALL_PART {
            self.reserve.halve();
        }
        self.reserve.release(self.heap);
        // SAFETY: S1 is the caller's: a refused object did not change.
        let served = unsafe { self.serve(request) };
        self.reserve.fill(self.heap);
        if served.is_some() {
            let (loans, largest) = (&mut self.counts.loans, &mut self.counts.largest_loan_bytes);
            *loans += 1;
            *largest = (*largest).max(request.bytes as u64);
        }
        served
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
                self.may_lack |= old.size() >= LONG;
                (served, request.old)
            }
        };
        self.counts.live_bytes += request.bytes as u64;
        self.counts.live_bytes -= old_bytes as u64;
        self.counts.peak_bytes = self.counts.peak_bytes.max(self.counts.live_bytes);
        Some(served)
    }

    /// Frees the reserve.
    pub(super) fn close(&mut self) {
        self.reserve.release(self.heap);
    }
}
