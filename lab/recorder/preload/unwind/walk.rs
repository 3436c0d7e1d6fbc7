//! The walk by our own tables. What of the stack is as it was when the thread walked before is
//! compared rather than walked.

use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicU32, Ordering, compiler_fence};

use crate::log::MOST_FRAMES;

use super::calls::{Above, Call, Calls, Search};
use super::{entry, platform, rules, stack};

surefit_interpose::thread_bytes!(fn thread_bytes() -> 2176, "surefit_recorder_walk");

/// What a thread keeps of its walk before; zeros are nothing.
#[repr(C)]
struct Memory {
    /// Whether the thread walks: then a signal's handler that interrupts it finds no memory.
    is_used: AtomicU32,
    before: UnsafeCell<Before>,
}

#[repr(C)]
struct Before {
    generation: u32,
    /// The number of the stack; 0 if it has none.
    number: u32,
    calls: Calls,
}

const _: () = assert!(size_of::<Memory>() <= 2176);

/// Why there is no answer.
enum Failure {
    /// Only the platform's unwinder knows.
    Other,
    /// No rule is known for this address.
    Unknown(usize),
}

/// The number that `number` gives to the callers, at most so many, or gave to the same ones before;
/// `None` if only the platform's unwinder can find them.
#[inline]
pub(crate) fn numbered(most: usize, number: impl FnOnce(Callers<'_>) -> u32) -> Option<u32> {
    let call = entry::called()?;
    let end = stack::end_above(call.sp).filter(|_| call.sp % 8 == 0)?;
    let memory = thread_bytes().cast::<Memory>();
    // SAFETY: the thread's own bytes, which were zero.
    let is_used = unsafe { &(*memory).is_used };
    if is_used.load(Ordering::Relaxed) != 0 {
        return None;
    }
    is_used.store(1, Ordering::Relaxed);
    compiler_fence(Ordering::SeqCst);
    // SAFETY: nobody else uses it: `is_used` was 0.
    let before = unsafe { &mut *(*memory).before.get() };
    // SAFETY: from the call's stack pointer to the end the stack is mapped and in use.
    let walked = unsafe { before.walk(Call::first(call), end, most.min(MOST_FRAMES)) };
    let answer = walked.map(|is_same| {
        if !is_same || before.number == 0 {
            before.number = number(before.callers());
        }
        before.number
    });
    compiler_fence(Ordering::SeqCst);
    is_used.store(0, Ordering::Relaxed);
    match answer {
        Ok(number) => Some(number),
        Err(failure) => {
            failure.learn(most);
            None
        }
    }
}

/// The addresses to which the calls of a stack return, the innermost first.
#[derive(Clone)]
pub(crate) struct Callers<'a>(core::slice::Iter<'a, Call>);

impl Iterator for Callers<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        self.0.next().map(|call| call.pc)
    }
}

impl Before {
    fn callers(&self) -> Callers<'_> {
        Callers(self.calls.as_slice().iter())
    }

    /// Walks from a call on; whether the calls are those of the walk before.
    ///
    /// # Safety
    /// The stack is mapped and in use from the call's stack pointer to `end`. The walk before was
    /// on this stack with this end, or on another one: then none of its calls has a stack pointer
    /// in this one, so that none is found again, and no word of it is read.
    #[inline]
    unsafe fn walk(&mut self, first: Call, end: usize, most: usize) -> Result<bool, Failure> {
        let generation = rules::generation();
        if self.generation != generation {
            self.generation = generation;
            self.calls.clear();
        }
        let mut fresh = Fresh::new();
        let mut search = Search::new();
        let mut call = first;
        loop {
            let left = most - fresh.len - 1;
            // SAFETY: the caller's promise.
            let found = unsafe { search.find(&call, self.calls.as_slice(), left) };
            fresh.push(call);
            if let Some(number) = found {
                let is_same = number == 0 && fresh.len == 1;
                let is_same = is_same && self.is_whole(most);
                if !is_same {
                    self.number = 0;
                    self.calls.replace(number + 1, fresh.as_slice(), most);
                    // SAFETY: the caller's promise.
                    unsafe { self.extend(end, most)? };
                }
                return Ok(is_same);
            }
            if left == 0 {
                break self.begin(&fresh, false);
            }
            // SAFETY: the caller's promise.
            match unsafe { call.above(end) } {
                Above::Call(next) => call = next,
                Above::End => break self.begin(&fresh, true),
                Above::Zero => break self.begin(&fresh, false),
                Above::Other => return Err(Failure::Other),
                Above::Unknown => return Err(Failure::Unknown(call.pc)),
            }
        }
        Ok(false)
    }

    /// Whether there are as many calls as there can be.
    fn is_whole(&self, most: usize) -> bool {
        self.calls.has_ended() || self.calls.as_slice().len() == most
    }

    /// The calls are these, and no others.
    fn begin(&mut self, fresh: &Fresh, ended: bool) {
        self.number = 0;
        self.calls.clear();
        fresh
            .as_slice()
            .iter()
            .for_each(|call| self.calls.push(*call));
        if ended {
            self.calls.end();
        }
    }

    /// Walks on from the last call.
    ///
    /// # Safety
    /// As [`Before::walk`]; the last call is on the stack.
    unsafe fn extend(&mut self, end: usize, most: usize) -> Result<(), Failure> {
        while !self.is_whole(most) {
            let Some(last) = self.calls.as_slice().last() else {
                return Err(Failure::Other);
            };
            // SAFETY: the caller's promise.
            match unsafe { last.above(end) } {
                Above::Call(call) => self.calls.push(call),
                Above::End => self.calls.end(),
                Above::Zero => break,
                Above::Other => return Err(Failure::Other),
                Above::Unknown => return Err(Failure::Unknown(last.pc)),
            }
        }
        Ok(())
    }
}

impl Failure {
    /// An address of which nothing is known ends a stack if the platform's unwinder ends there too:
    /// code that was made while the program runs has no tables.
    #[cold]
    fn learn(self, most: usize) {
        if let Self::Unknown(pc) = self {
            let found = platform::found(most);
            let found = found.as_slice();
            rules::learn(pc, found.len() < most && found.last() == Some(&pc));
        }
    }
}

/// The calls of a walk until it meets the one before.
struct Fresh {
    all: [MaybeUninit<Call>; MOST_FRAMES],
    len: usize,
}

impl Fresh {
    #[inline]
    fn new() -> Self {
        Self {
            all: [const { MaybeUninit::uninit() }; MOST_FRAMES],
            len: 0,
        }
    }

    #[inline]
    fn push(&mut self, call: Call) {
        self.all[self.len].write(call);
        self.len += 1;
    }

    #[inline]
    fn as_slice(&self) -> &[Call] {
        let written = &self.all[..self.len];
        // SAFETY: `push` wrote those below `len`; the two types have one layout.
        unsafe { &*(&raw const *written as *const [Call]) }
    }
}
