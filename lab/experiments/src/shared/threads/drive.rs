//! The threads of one run: from a common start to the end of the last.
//!
//! ```text
//! warm-up | barrier | calls …, the clock on the wall | barrier | what is left is freed
//! ```
//! A free that another thread is to make goes into its mailbox, 32 at a time; a thread empties its
//! own whenever it sends, and when it is done until all are. Nobody sends to a full mailbox.
//! Mailboxes are locks of their own, not the heap's, and are not counted.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Barrier, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{mem, thread};

use anyhow::{Context, Result};
use surefit_core::Refused;
use surefit_os::clock;

use super::figures::{Times, nanoseconds};
use super::load::{Call, Load};
use super::lock::{self, Locks};
use super::worker::Worker;

/// Frees that travel together.
const BATCH: usize = 32;

/// Frees that wait in a mailbox before nobody sends more.
const FULL: usize = 16 * BATCH;

/// How often a thread that is done looks into its mailbox.
const IDLE: Duration = Duration::from_micros(100);

/// How often a watcher looks.
const WATCH: Duration = Duration::from_micros(50);

/// What the calls of one kind did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Calls {
    /// How many there were.
    pub(crate) count: u64,
    /// What they did with locks, if these count.
    pub(crate) locks: Locks,
}

impl Calls {
    fn and(self, other: Self) -> Self {
        Self {
            count: self.count + other.count,
            locks: self.locks.and(other.locks),
        }
    }

    /// Acquisitions per call.
    pub(crate) fn locks_each(&self) -> f64 {
        self.locks.taken as f64 / self.count.max(1) as f64
    }

    /// Contended acquisitions per call.
    pub(crate) fn contended_each(&self) -> f64 {
        self.locks.contended as f64 / self.count.max(1) as f64
    }
}

/// What a run found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Driven {
    /// Nanoseconds on the wall from the first call of the first thread to the last call of the
    /// last.
    pub(crate) ns: u64,
    /// Nanoseconds of processor time that all threads took for their calls.
    pub(crate) cpu_ns: u64,
    /// Allocations.
    pub(crate) mallocs: Calls,
    /// Frees.
    pub(crate) frees: Calls,
    /// All frees since the heap was made, warm-up and clearing up included.
    pub(crate) frees_in_all: u64,
    /// How long locks were held and waited for, if these are timed.
    pub(crate) times: Option<Times>,
}

impl Driven {
    /// Nanoseconds of processor time for an allocation and its free: of one thread, other programs
    /// on the machine do not count.
    pub(crate) fn cpu_ns_each(&self) -> f64 {
        self.cpu_ns as f64 / self.mallocs.count.max(1) as f64
    }

    /// Allocations a second, all threads together.
    pub(crate) fn per_second(&self) -> f64 {
        self.mallocs.count as f64 * 1e9 / self.ns.max(1) as f64
    }
}

type Mail<O> = Mutex<Vec<(O, u32)>>;

/// A thread's mailbox, locked.
fn opened<O>(mail: &Mail<O>) -> std::sync::MutexGuard<'_, Vec<(O, u32)>> {
    mail.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a load, one thread per worker; `watch` is called now and then by a thread of its own.
///
/// # Errors
/// The heap refused a request.
pub(crate) fn drive<W: Worker>(
    workers: Vec<W>,
    load: &Load,
    watch: Option<&(dyn Fn() + Sync)>,
) -> Result<Driven> {
    let mail: Vec<Mail<W::Object>> = workers.iter().map(|_| Mutex::default()).collect();
    let barrier = Barrier::new(workers.len());
    let over = AtomicBool::new(false);
    let busy = AtomicUsize::new(workers.len());
    let (mail, barrier, over, busy) = (&mail, &barrier, &over, &busy);
    let found = thread::scope(|scope| {
        let threads: Vec<_> = workers
            .into_iter()
            .enumerate()
            .map(|(number, worker)| {
                let mut thread = Thread::new(worker, load, number, mail);
                scope.spawn(move || thread.run(load, barrier, busy))
            })
            .collect();
        let watcher = watch.map(|watch| {
            scope.spawn(move || {
                while !over.load(Relaxed) {
                    watch();
                    thread::sleep(WATCH);
                }
            })
        });
        let found: Vec<_> = threads
            .into_iter()
            .map(thread::ScopedJoinHandle::join)
            .collect();
        over.store(true, Relaxed);
        drop(watcher);
        found
    });
    let mut all = Driven::default();
    let mut span: Option<(Instant, Instant)> = None;
    for one in found {
        let (one, began, ended) = one
            .expect("no thread panics")
            .context("a heap refused a request of the load")?;
        span = span.map_or(Some((began, ended)), |(first, last)| {
            Some((first.min(began), last.max(ended)))
        });
        all.cpu_ns += one.cpu_ns;
        all.mallocs = all.mallocs.and(one.mallocs);
        all.frees = all.frees.and(one.frees);
        all.frees_in_all += one.frees_in_all;
        if let Some(times) = one.times {
            all.times.get_or_insert_with(Times::new).add(&times);
        }
    }
    all.ns = span.map_or(0, |(first, last)| nanoseconds(last - first));
    Ok(all)
}

/// A thread of a run.
struct Thread<'a, W: Worker> {
    worker: W,
    script: Vec<Call>,
    objects: Vec<Option<(W::Object, u32)>>,
    inbox: &'a Mail<W::Object>,
    outbox: &'a Mail<W::Object>,
    leaving: Vec<(W::Object, u32)>,
    found: Driven,
    /// All frees so far.
    freed: u64,
    /// Whether frees are sent to the next thread: not before all have come to the common start,
    /// where nobody reads mail.
    sends: bool,
    /// The first refusal; the thread still goes to the barriers, so that the others do.
    refused: Option<Refused>,
}

impl<'a, W: Worker> Thread<'a, W> {
    fn new(worker: W, load: &Load, number: usize, mail: &'a [Mail<W::Object>]) -> Self {
        Self {
            worker,
            script: load.script(number),
            objects: (0..load.slots).map(|_| None).collect(),
            inbox: &mail[number],
            outbox: &mail[(number + 1) % mail.len()],
            leaving: Vec::new(),
            found: Driven::default(),
            freed: 0,
            sends: false,
            refused: None,
        }
    }

    fn run(
        &mut self,
        load: &Load,
        barrier: &Barrier,
        busy: &AtomicUsize,
    ) -> Result<(Driven, Instant, Instant), Refused> {
        self.calls(load.warm_up());
        self.found = Driven::default();
        lock::take_times();
        self.sends = true;
        barrier.wait();
        let (began, before) = (Instant::now(), clock::thread_cpu_ns());
        self.calls(load.calls);
        let (ended, after) = (Instant::now(), clock::thread_cpu_ns());
        let times = lock::take_times();
        let mut found = Driven {
            times,
            cpu_ns: after - before,
            ..mem::take(&mut self.found)
        };
        self.send();
        busy.fetch_sub(1, Relaxed);
        while busy.load(Relaxed) > 0 {
            self.receive();
            thread::sleep(IDLE);
        }
        barrier.wait();
        self.receive();
        for at in 0..self.objects.len() {
            if let Some((object, bytes)) = self.objects[at].take() {
                self.free(object, bytes);
            }
        }
        found.frees_in_all = self.freed;
        match self.refused.take() {
            Some(refused) => Err(refused),
            None => Ok((found, began, ended)),
        }
    }

    fn calls(&mut self, count: u64) {
        let mut at = 0;
        for _ in 0..count {
            if self.refused.is_some() {
                return;
            }
            let call = self.script[at];
            at = if at + 1 == self.script.len() {
                0
            } else {
                at + 1
            };
            self.call(call);
        }
    }

    #[inline]
    fn call(&mut self, call: Call) {
        let slot = call.slot as usize;
        match self.objects[slot].take() {
            None => self.allocate(slot, call.bytes),
            Some((object, bytes)) if call.is_foreign && self.sends => {
                self.leaving.push((object, bytes));
                if self.leaving.len() >= BATCH {
                    self.send();
                    self.receive();
                }
            }
            Some((object, bytes)) => self.free(object, bytes),
        }
    }

    #[inline]
    fn allocate(&mut self, slot: usize, bytes: u32) {
        let before = Self::counted();
        match self.worker.allocate(bytes) {
            Ok(object) => self.objects[slot] = Some((object, bytes)),
            Err(refused) => self.refused = Some(refused),
        }
        let locks = Self::counted().since(before);
        self.found.mallocs = self.found.mallocs.and(Calls { count: 1, locks });
    }

    #[inline]
    fn free(&mut self, object: W::Object, bytes: u32) {
        self.freed += 1;
        let before = Self::counted();
        if let Err(refused) = self.worker.free(object, bytes) {
            self.refused = Some(refused);
        }
        let locks = Self::counted().since(before);
        self.found.frees = self.found.frees.and(Calls { count: 1, locks });
    }

    /// What this thread's locks counted; nothing if the heap's do not count.
    #[inline]
    fn counted() -> Locks {
        if W::COUNTS {
            lock::counted()
        } else {
            Locks::default()
        }
    }

    fn send(&mut self) {
        while opened(self.outbox).len() > FULL {
            self.receive();
            thread::yield_now();
        }
        if !self.leaving.is_empty() {
            opened(self.outbox).append(&mut self.leaving);
        }
    }

    fn receive(&mut self) {
        let arrived = mem::take(&mut *opened(self.inbox));
        for (object, bytes) in arrived {
            self.free(object, bytes);
        }
    }
}
