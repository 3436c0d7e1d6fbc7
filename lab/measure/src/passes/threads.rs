//! The threaded replay: each thread of the trace runs on a thread of its own, on a malloc that many
//! threads may call. A replaying thread begins before the first event of its thread and ends after
//! the last: so a malloc sees threads end, and no more of them at once than the program had.
//!
//! The trace is cut into spans of consecutive events. All threads that have events of a span run at
//! once, and the next span begins when they are done. So no thread runs far ahead of the others,
//! and between two spans exactly those objects live that lived in the program.
//!
//! Within a span, the calls for one object keep their order: each waits until the previous call for
//! that object is done, on any thread. So a free waits for its allocation. Nothing else is ordered.
//! An event waits only for an earlier event, so the earliest event that is not done can always
//! proceed. If a thread cannot begin, or unwinds, nobody waits any more: all end, and the replay
//! says why.
//!
//! # Invariants
//! - C1: the call number k of an object runs when `done` is k; it alone touches `address` until it
//!   makes `done` k + 1.
//! - C2: between two calls `address` is the live object, with the size and alignment that the next
//!   call carries.

use std::alloc::Layout;
use std::io;
use std::ops::Range;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use std::thread::{self, Builder, ScopedJoinHandle, Thread};
use std::time::Instant;

use anyhow::{Result, anyhow};
use surefit_os::platform;
use surefit_trace::Trace;

use crate::error::Broken;
use crate::lives::Lives;
use crate::steps::{Action, Step, Steps};

/// The most events of a span; a short trace has shorter ones.
const MOST_OF_SPAN: usize = 1 << 14;

/// A trace has about so many spans, or more.
const SPANS: usize = 256;

/// Bytes of a page.
const PAGE: usize = 4096;

/// What is written into each object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write {
    /// Its first byte.
    First,
    /// A byte of each of its pages, so that all of it is resident.
    EveryPage,
}

/// A step of one thread, with its object and the number of its call.
#[derive(Clone, Copy, Debug)]
struct Turn {
    step: Step,
    object: u32,
    /// The number of this call among those of the object, from 0.
    call: u32,
}

/// What one thread does.
#[derive(Debug, Default)]
struct Part {
    turns: Vec<Turn>,
    /// For each span in which it has turns, the span and these turns.
    spans: Vec<(usize, Range<usize>)>,
}

/// Consecutive events.
#[derive(Debug, Default)]
struct Span {
    /// The thread whose first event is the first one here.
    begins: Option<usize>,
    /// The threads that have events here.
    busy: Vec<usize>,
    /// Those of them that have none later.
    ends: Vec<usize>,
}

/// A trace split by threads.
#[derive(Debug)]
pub struct Threads {
    parts: Vec<Part>,
    spans: Vec<Span>,
    objects: Vec<Shared>,
}

impl Threads {
    /// Splits a trace by threads; `steps` are its steps.
    ///
    /// # Errors
    /// This machine cannot represent a number of the trace.
    pub fn new(trace: &Trace, steps: &Steps) -> Result<Self> {
        let count = usize::try_from(steps.objects)?;
        let lives = Lives::of(trace);
        let longest = (steps.steps().len() / SPANS).clamp(1, MOST_OF_SPAN);
        let mut parts: Vec<Part> = Vec::new();
        parts.resize_with(lives.threads(), Part::default);
        let mut spans: Vec<Span> = Vec::new();
        let mut calls = vec![0_u32; count];
        let mut began = 0;
        for (number, (event, step)) in trace.events().iter().zip(steps.steps()).enumerate() {
            let thread = usize::from(event.thread());
            let is_first = lives.first(thread) == Some(number);
            if is_first || spans.is_empty() || number - began >= longest {
                began = number;
                spans.push(Span {
                    begins: is_first.then_some(thread),
                    ..Span::default()
                });
            }
            let call = &mut calls[event.id() as usize];
            let turn = Turn {
                step: *step,
                object: event.id(),
                call: *call,
            };
            *call += 1;
            let at = spans.len() - 1;
            if parts[thread].add(at, turn) {
                spans[at].busy.push(thread);
            }
            if lives.last(thread) == Some(number) {
                spans[at].ends.push(thread);
            }
        }
        let objects = (0..count).map(|_| Shared::new()).collect();
        Ok(Self {
            parts,
            spans,
            objects,
        })
    }

    /// Replays on the platform's malloc; returns the wall time from the first call to the last, in
    /// nanoseconds.
    ///
    /// # Errors
    /// The malloc refused a request; a thread cannot begin, or panicked.
    pub fn run(&self, write: Write) -> Result<u64> {
        self.replay(move |step, address| call_platform(step, address, write))
    }

    /// The same without any call: the cost of threads, of waiting and of finding objects.
    ///
    /// # Errors
    /// A thread cannot begin.
    pub fn run_empty(&self) -> Result<u64> {
        self.replay(|_, address| Some(address))
    }

    fn replay(&self, call: impl Fn(Step, *mut u8) -> Option<*mut u8> + Copy + Send) -> Result<u64> {
        let stage = Stage::new();
        let before = Instant::now();
        let served = thread::scope(|scope| {
            let mut running: Vec<_> = self.parts.iter().map(|_| None).collect();
            let served = self.direct(&stage, &mut running, |thread| {
                let (part, objects, stage) = (&self.parts[thread], &self.objects, &stage);
                Builder::new().spawn_scoped(scope, move || part.run(stage, objects, call))
            });
            if served.is_err() {
                stage.fail();
            }
            // None are left unless the replay has failed.
            let left = running.into_iter().flatten().map(ended);
            left.fold(served, |served, left| Ok(served? & left?))
        });
        let took = before.elapsed();
        self.free_left();
        if !served? {
            return Err(Broken("the platform's malloc refused a request".to_owned()).into());
        }
        Ok(took.as_nanos() as u64)
    }

    /// Opens one span after the other; begins threads, and joins them. Returns whether every
    /// request was served. If a thread fails, it returns early: whoever joins the others sees why.
    ///
    /// # Errors
    /// A thread cannot begin, or has failed.
    fn direct<'scope>(
        &self,
        stage: &Stage,
        running: &mut [Option<ScopedJoinHandle<'scope, bool>>],
        begin: impl Fn(usize) -> io::Result<ScopedJoinHandle<'scope, bool>>,
    ) -> Result<bool> {
        let mut served = true;
        for (number, span) in self.spans.iter().enumerate() {
            if let Some(thread) = span.begins {
                running[thread] = Some(begin(thread).map_err(|error| not_begun(thread, &error))?);
            }
            stage.open(number, span.busy.len());
            let busy = span.busy.iter();
            for worker in busy.filter_map(|thread| running[*thread].as_ref()) {
                worker.thread().unpark();
            }
            if !stage.wait_for_all() {
                break;
            }
            for thread in &span.ends {
                served &= running[*thread].take().map_or(Ok(true), ended)?;
            }
        }
        Ok(served)
    }

    /// Frees the objects that the trace never frees, and prepares the objects for another replay.
    fn free_left(&self) {
        for object in &self.objects {
            object.done.store(0, Ordering::Relaxed);
            if let Some(left) =
                NonNull::new(object.address.swap(ptr::null_mut(), Ordering::Acquire))
            {
                // SAFETY: all threads have ended, so nobody else uses the object; it is live (C2). A
                // call that unwinds does so before it reaches malloc: it leaves the object as it was.
                unsafe { platform::free(left) };
            }
        }
    }
}

fn not_begun(thread: usize, error: &io::Error) -> anyhow::Error {
    anyhow!(
        "the replay cannot begin thread {thread} of the trace: {error}; raise `ulimit -u` and \
         `ulimit -v`"
    )
}

/// Waits for the end of a thread. Returns whether every request of it was served.
///
/// # Errors
/// It panicked.
fn ended(worker: ScopedJoinHandle<'_, bool>) -> Result<bool> {
    worker.thread().unpark();
    worker.join().map_err(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said = said.or_else(|| panic.downcast_ref::<&str>().copied());
        let said = said.unwrap_or("it panicked");
        Broken(format!("a thread of the replay failed: {said}")).into()
    })
}

/// Where the replay is.
#[derive(Debug)]
struct Stage {
    /// The next span plus one; 0 before the first.
    opened: AtomicUsize,
    /// How many threads are still busy in it.
    busy: AtomicUsize,
    /// Whether a thread has failed: then nobody waits any more.
    has_failed: AtomicBool,
    /// Who opens spans.
    director: Thread,
}

impl Stage {
    fn new() -> Self {
        Self {
            opened: AtomicUsize::new(0),
            busy: AtomicUsize::new(0),
            has_failed: AtomicBool::new(false),
            director: thread::current(),
        }
    }

    fn open(&self, span: usize, busy: usize) {
        self.busy.store(busy, Ordering::Relaxed);
        self.opened.store(span + 1, Ordering::Release);
    }

    /// Returns false if a thread has failed.
    fn wait_for_all(&self) -> bool {
        self.park_until(|| self.busy.load(Ordering::Acquire) == 0)
    }

    /// Returns false if a thread has failed.
    fn wait_for(&self, span: usize) -> bool {
        self.park_until(|| self.opened.load(Ordering::Acquire) > span)
    }

    fn park_until(&self, is_so: impl Fn() -> bool) -> bool {
        while !is_so() {
            if self.has_failed() {
                return false;
            }
            thread::park();
        }
        true
    }

    fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Acquire)
    }

    fn fail(&self) {
        self.has_failed.store(true, Ordering::Release);
        self.director.unpark();
    }

    /// A thread has done its turns of the span.
    fn done(&self) {
        if self.busy.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.director.unpark();
        }
    }
}

/// Says that the replay has failed if its thread unwinds.
struct Working<'s>(&'s Stage);

impl Drop for Working<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.fail();
        }
    }
}

impl Part {
    /// Adds a turn of a span. Returns whether it is the first one there.
    fn add(&mut self, span: usize, turn: Turn) -> bool {
        let at = self.turns.len();
        self.turns.push(turn);
        match self.spans.last_mut() {
            Some((last, turns)) if *last == span => {
                turns.end = at + 1;
                false
            }
            _ => {
                self.spans.push((span, at..at + 1));
                true
            }
        }
    }

    /// Replays it, span by span, until a thread fails; returns false if a request was refused.
    fn run(
        &self,
        stage: &Stage,
        objects: &[Shared],
        call: impl Fn(Step, *mut u8) -> Option<*mut u8> + Copy,
    ) -> bool {
        let _working = Working(stage);
        let mut served = true;
        for (span, turns) in &self.spans {
            if !stage.wait_for(*span) {
                break;
            }
            served &= serve(stage, &self.turns[turns.clone()], objects, call);
            stage.done();
        }
        served
    }
}

/// An object as the threads share it.
#[derive(Debug)]
struct Shared {
    address: AtomicPtr<u8>,
    done: AtomicU32,
}

impl Shared {
    fn new() -> Self {
        Self {
            address: AtomicPtr::new(ptr::null_mut()),
            done: AtomicU32::new(0),
        }
    }

    /// Waits until call number `call` of the object may run. Returns false if a thread has failed,
    /// which may be the one that is waited for.
    fn wait_for(&self, call: u32, stage: &Stage) -> bool {
        while self.done.load(Ordering::Acquire) != call {
            if stage.has_failed() {
                return false;
            }
            thread::yield_now();
        }
        true
    }
}

/// Replays turns of one thread; returns false if a request was refused, or a thread has failed. A
/// refused object counts as freed, so that no thread waits for it forever.
fn serve(
    stage: &Stage,
    turns: &[Turn],
    objects: &[Shared],
    call: impl Fn(Step, *mut u8) -> Option<*mut u8>,
) -> bool {
    let mut served = true;
    for turn in turns {
        let object = &objects[turn.object as usize];
        if !object.wait_for(turn.call, stage) {
            return false;
        }
        let address = call(turn.step, object.address.load(Ordering::Relaxed));
        served &= address.is_some();
        object
            .address
            .store(address.unwrap_or(ptr::null_mut()), Ordering::Relaxed);
        object.done.store(turn.call + 1, Ordering::Release);
    }
    served
}

/// Makes one call to the platform's malloc and writes the object. Returns the object's new address,
/// which is null after a free; `None` if the call was refused.
fn call_platform(step: Step, address: *mut u8, write: Write) -> Option<*mut u8> {
    let live = NonNull::new(address);
    let made = match (step.action, live) {
        (Action::Allocate, _) => platform::allocate(step.layout())?,
        (Action::AllocateZeroed, _) => platform::allocate_zeroed(step.layout())?,
        (Action::Free, Some(live)) => {
            // SAFETY: C1 and C2: the object is live, and this call alone uses it.
            unsafe { platform::free(live) };
            return Some(ptr::null_mut());
        }
        (Action::Resize, Some(live)) => resize(live, step.old_layout(), step.size as usize)?,
        (Action::Free | Action::Resize, None) => return Some(ptr::null_mut()),
    };
    let size = step.size as usize;
    let (written, last) = match write {
        Write::First => (size.min(1), None),
        Write::EveryPage => (size, size.checked_sub(1)),
    };
    for offset in (0..written).step_by(PAGE).chain(last) {
        // SAFETY: the byte is one of the object, which is this thread's alone (C1).
        unsafe { made.as_ptr().add(offset).write(1) };
    }
    Some(made.as_ptr())
}

fn resize(live: NonNull<u8>, layout: Layout, new_size: usize) -> Option<NonNull<u8>> {
    // SAFETY: C1 and C2: the object is live, has this layout, and this call alone uses it.
    unsafe { platform::resize(live, layout, new_size) }
}

#[cfg(test)]
mod tests {
    use super::{Threads, Write};
    use crate::steps::{Action, Steps};
    use surefit_trace::{Call, Event, Op, Trace};

    #[test]
    fn what_one_thread_allocates_another_frees() {
        let call = Call::Malloc;
        let mut events = Vec::new();
        for id in 0..1000 {
            let first = u16::from(id > 0 && id % 2 == 1);
            events.push(Event::new(
                first,
                Op::Alloc {
                    id,
                    size: 100,
                    call,
                },
            ));
            events.push(Event::new(0, Op::Realloc { id, size: 5000 }));
            if id > 0 && id % 3 != 0 {
                events.push(Event::new(1 - first, Op::Free { id }));
            }
        }
        let trace = Trace::new("threads", events).expect("sound");
        let steps = Steps::new(&trace).expect("small");
        let threads = Threads::new(&trace, &steps).expect("small");
        assert_eq!(threads.parts.len(), 2);
        for write in [Write::First, Write::EveryPage] {
            threads.run(write).expect("malloc serves it");
        }
        threads.run_empty().expect("nothing is called");
    }

    /// Workers that come one after the other, beside a thread that lives throughout.
    #[test]
    fn threads_that_never_live_at_once_never_run_at_once() {
        let call = Call::Malloc;
        let alloc = |thread, id| {
            Event::new(
                thread,
                Op::Alloc {
                    id,
                    size: 9000,
                    call,
                },
            )
        };
        let events: Vec<_> = (1..6)
            .flat_map(|worker| {
                let id = u32::from(worker) - 1;
                [
                    alloc(0, 2 * id),
                    alloc(worker, 2 * id + 1),
                    Event::new(worker, Op::Free { id: 2 * id + 1 }),
                ]
            })
            .collect();
        let trace = Trace::new("workers", events).expect("sound");
        let steps = Steps::new(&trace).expect("small");
        assert_eq!((steps.threads, steps.threads_at_once), (6, Some(2)));
        let threads = Threads::new(&trace, &steps).expect("small");
        let mut alive = 0_usize;
        for span in &threads.spans {
            alive += usize::from(span.begins.is_some());
            assert!(alive <= 2, "{:?}", threads.spans);
            alive -= span.ends.len();
        }
        assert_eq!(alive, 0, "all have ended");
        threads.run(Write::EveryPage).expect("malloc serves it");
    }

    /// Three threads that begin in the order of their numbers: the first two pass objects on, and
    /// the third waits from its first event to the last of all.
    fn passed_on() -> Threads {
        let call = Call::Malloc;
        let alloc = |thread, id, size| Event::new(thread, Op::Alloc { id, size, call });
        let mut events: Vec<_> = (0..3).map(|id| alloc(id, u32::from(id), 8)).collect();
        for id in 3..=600 {
            events.extend([alloc(0, id, 9000), Event::new(1, Op::Free { id })]);
        }
        events.push(Event::new(2, Op::Free { id: 2 }));
        let trace = Trace::new("passed on", events).expect("sound");
        let steps = Steps::new(&trace).expect("small");
        Threads::new(&trace, &steps).expect("small")
    }

    #[test]
    fn a_thread_that_panics_ends_the_replay() {
        let threads = passed_on();
        for broken in [Action::Allocate, Action::Free] {
            let replayed = threads.replay(|step, address| {
                let is_theirs = step.action == broken && step.size == 9000;
                assert!(!is_theirs, "a call that breaks");
                Some(address)
            });
            let error = replayed.expect_err("it panicked").to_string();
            assert!(error.contains("a call that breaks"), "{broken:?}: {error}");
        }
        // Nothing of it is left for the next replay.
        threads.run(Write::First).expect("malloc serves it");
    }
}
