//! The threaded replay: each thread of the trace runs on its own thread, on a malloc that many
//! threads may call. The calls for one object keep their order: each waits until the previous call
//! for that object is done, on any thread. So a free waits for its allocation. Nothing else is
//! ordered. An event waits only for an earlier event, so the earliest event that is not done can
//! always proceed.
//!
//! # Invariants
//! - C1: the call number k of an object runs when `done` is k; it alone touches `address` until it
//!   makes `done` k + 1.
//! - C2: between two calls `address` is the live object, with the size and alignment that the next
//!   call carries.

use std::alloc::Layout;
use std::ptr::{self, NonNull};
use std::sync::Barrier;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use std::thread;
use std::time::Instant;

use anyhow::Result;
use surefit_os::platform;
use surefit_trace::Trace;

use crate::error::Broken;
use crate::steps::{Action, Step, Steps};

/// A step of one thread, with its object and the number of its call.
#[derive(Clone, Copy, Debug)]
struct Turn {
    step: Step,
    object: u32,
    /// The number of this call among those of the object, from 0.
    call: u32,
}

/// An object as the threads share it.
#[derive(Debug)]
struct Shared {
    address: AtomicPtr<u8>,
    done: AtomicU32,
}

/// A trace split by threads.
#[derive(Debug)]
pub struct Threads {
    turns: Vec<Vec<Turn>>,
    objects: Vec<Shared>,
}

impl Threads {
    /// Splits a trace by threads; `steps` are its steps.
    ///
    /// # Errors
    /// This machine cannot represent a number of the trace.
    pub fn new(trace: &Trace, steps: &Steps) -> Result<Self> {
        let count = usize::try_from(steps.objects)?;
        let mut turns = vec![Vec::new(); usize::try_from(steps.threads)?];
        let mut calls = vec![0_u32; count];
        for (event, step) in trace.events().iter().zip(steps.steps()) {
            let call = &mut calls[event.id() as usize];
            turns[usize::from(event.thread())].push(Turn {
                step: *step,
                object: event.id(),
                call: *call,
            });
            *call += 1;
        }
        let objects = (0..count).map(|_| Shared::new()).collect();
        Ok(Self { turns, objects })
    }

    /// Replays on the platform's malloc; returns the wall time from the first call to the last, in
    /// nanoseconds.
    ///
    /// # Errors
    /// The malloc refused a request.
    pub fn run(&self) -> Result<u64> {
        self.replay(call_platform)
    }

    /// The same without any call: the cost of waiting and of finding objects.
    ///
    /// # Errors
    /// Never; the signature is that of [`Threads::run`].
    pub fn run_empty(&self) -> Result<u64> {
        self.replay(|_, address| Some(address))
    }

    fn replay(&self, call: impl Fn(Step, *mut u8) -> Option<*mut u8> + Copy + Send) -> Result<u64> {
        let objects = &self.objects;
        let start = Barrier::new(self.turns.len() + 1);
        let (took, served) = thread::scope(|scope| {
            let start = &start;
            let workers: Vec<_> = self
                .turns
                .iter()
                .map(|turns| {
                    scope.spawn(move || {
                        start.wait();
                        serve(turns, objects, call)
                    })
                })
                .collect();
            start.wait();
            let before = Instant::now();
            let served = workers
                .into_iter()
                .all(|worker| worker.join().unwrap_or(false));
            (before.elapsed(), served)
        });
        self.free_left();
        if !served {
            return Err(Broken("the platform's malloc refused a request".to_owned()).into());
        }
        Ok(took.as_nanos() as u64)
    }

    /// Frees the objects that the trace never frees, and prepares the objects for another replay.
    fn free_left(&self) {
        for object in &self.objects {
            object.done.store(0, Ordering::Relaxed);
            if let Some(left) =
                NonNull::new(object.address.swap(ptr::null_mut(), Ordering::Acquire))
            {
                // SAFETY: all threads have ended, so nobody else uses the object; it is live (C2).
                unsafe { platform::free(left) };
            }
        }
    }
}

impl Shared {
    fn new() -> Self {
        Self {
            address: AtomicPtr::new(ptr::null_mut()),
            done: AtomicU32::new(0),
        }
    }

    /// Waits until call number `call` of the object may run.
    fn wait_for(&self, call: u32) {
        while self.done.load(Ordering::Acquire) != call {
            thread::yield_now();
        }
    }
}

/// Replays one thread's part of the trace; returns false if a request was refused. A refused object
/// counts as freed, so that no thread waits for it forever.
fn serve(
    turns: &[Turn],
    objects: &[Shared],
    call: impl Fn(Step, *mut u8) -> Option<*mut u8>,
) -> bool {
    let mut served = true;
    for turn in turns {
        let object = &objects[turn.object as usize];
        object.wait_for(turn.call);
        let address = call(turn.step, object.address.load(Ordering::Relaxed));
        served &= address.is_some();
        object
            .address
            .store(address.unwrap_or(ptr::null_mut()), Ordering::Relaxed);
        object.done.store(turn.call + 1, Ordering::Release);
    }
    served
}

/// Makes one call to the platform's malloc and writes the object's first byte. Returns the object's
/// new address, which is null after a free; `None` if the call was refused.
fn call_platform(step: Step, address: *mut u8) -> Option<*mut u8> {
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
    if step.size > 0 {
        // SAFETY: the object is at least one byte long and this thread's alone (C1).
        unsafe { made.as_ptr().write(1) };
    }
    Some(made.as_ptr())
}

fn resize(live: NonNull<u8>, layout: Layout, new_size: usize) -> Option<NonNull<u8>> {
    // SAFETY: C1 and C2: the object is live, has this layout, and this call alone uses it.
    unsafe { platform::resize(live, layout, new_size) }
}

#[cfg(test)]
mod tests {
    use super::Threads;
    use crate::steps::Steps;
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
        assert_eq!(threads.turns.len(), 2);
        threads.run().expect("malloc serves it");
        threads.run_empty().expect("nothing is called");
    }
}
