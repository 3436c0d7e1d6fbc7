//! The calls on a stack: one step from a call to its caller, and the calls that a thread's walk
//! before found.

use crate::log::MOST_FRAMES;
use crate::tables::rule::{Frame, Rule};

use super::entry::Registers;
use super::rules;

/// A call that is on the stack: the registers that its function has when it returns, and where the
/// frame pointer was read; 0 if it is the one of the call before.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Call {
    pub(super) pc: usize,
    pub(super) sp: usize,
    fp: usize,
    fp_at: usize,
}

/// What is above a call on the stack.
pub(super) enum Above {
    Call(Call),
    /// Nothing, for ever.
    End,
    /// Nothing now: the word that would be a return address is zero.
    Zero,
    /// What rules do not say.
    Other,
    /// No rule is known for the call's address.
    Unknown,
}

/// # Safety
/// A whole word of the thread's stack that is in use.
#[inline]
unsafe fn word(at: usize) -> usize {
    // SAFETY: the caller's promise.
    unsafe { core::ptr::with_exposed_provenance::<usize>(at).read() }
}

impl Call {
    pub(super) fn first(registers: Registers) -> Self {
        let Registers { pc, sp, fp } = registers;
        let fp_at = 0;
        Self { pc, sp, fp, fp_at }
    }

    /// The call above this one, on a stack that ends at `end`.
    ///
    /// # Safety
    /// The stack is mapped from this call's stack pointer, which is a whole word's address, to
    /// `end`.
    #[inline]
    pub(super) unsafe fn above(&self, end: usize) -> Above {
        match rules::of(self.pc) {
            // SAFETY: the caller's promise.
            Some(Rule::Frame(frame)) => unsafe { self.above_frame(frame, end) },
            Some(Rule::Last) => Above::End,
            Some(Rule::Other) => Above::Other,
            None => Above::Unknown,
        }
    }

    /// # Safety
    /// As [`Call::above`].
    #[inline]
    unsafe fn above_frame(&self, frame: Frame, end: usize) -> Above {
        let base = if frame.from_frame_pointer {
            self.fp
        } else {
            self.sp
        };
        let sp = base.wrapping_add(frame.bytes());
        let saved = frame.saved();
        // The frame is on this stack, and has the words that are read.
        let is_frame = sp > self.sp && sp <= end && sp % 8 == 0 && sp - self.sp >= saved;
        if !is_frame {
            return Above::Other;
        }
        // SAFETY: between this call's stack pointer and the stack's end, by the test.
        let pc = unsafe { word(sp - 8) };
        let (fp, fp_at) = match saved {
            0 => (self.fp, 0),
            // SAFETY: as above.
            _ => (unsafe { word(sp - saved) }, sp - saved),
        };
        match pc {
            0 => Above::Zero,
            _ => Above::Call(Self { pc, sp, fp, fp_at }),
        }
    }

    #[inline]
    fn is(&self, other: &Self) -> bool {
        self.pc == other.pc && self.sp == other.sp && self.fp == other.fp
    }

    /// Whether the words from which this call was found are what they were.
    ///
    /// # Safety
    /// They are in use.
    #[inline]
    unsafe fn is_there(&self) -> bool {
        // SAFETY: the caller's promise.
        unsafe { word(self.sp - 8) == self.pc && (self.fp_at == 0 || word(self.fp_at) == self.fp) }
    }
}

/// Calls from the innermost on.
///
/// # Invariants
/// - The calls were found one above the other, by rules of one generation: so what leads from one
///   to the next depends on nothing but the former's registers and the words that
///   [`Call::is_there`] compares.
#[repr(C)]
pub(super) struct Calls {
    len: u32,
    /// Whether there is nothing above the last, whatever is on the stack.
    ended: bool,
    all: [Call; MOST_FRAMES],
}

impl Calls {
    #[inline]
    pub(super) fn as_slice(&self) -> &[Call] {
        &self.all[..(self.len as usize).min(MOST_FRAMES)]
    }

    pub(super) fn clear(&mut self) {
        self.len = 0;
        self.ended = false;
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }

    pub(super) fn end(&mut self) {
        self.ended = true;
    }

    pub(super) fn push(&mut self, call: Call) {
        if let Some(place) = self.all.get_mut(self.len as usize) {
            *place = call;
            self.len += 1;
        }
    }

    /// Replaces the calls below number `from` by others, and keeps at most `most`.
    #[inline]
    pub(super) fn replace(&mut self, from: usize, with: &[Call], most: usize) {
        let len = self.len as usize;
        let kept = (len - from).min(most - with.len());
        self.ended &= from + kept == len;
        if from != with.len() {
            self.all.copy_within(from..from + kept, with.len());
        }
        self.all[..with.len()].copy_from_slice(with);
        self.len = (with.len() + kept) as u32;
    }
}

/// Looks for a call among those of the walk before.
pub(super) struct Search {
    /// All calls before this number are below those that are still sought.
    next: usize,
    /// Some word of the calls below this number has changed.
    changed: usize,
}

impl Search {
    pub(super) const fn new() -> Self {
        Self {
            next: 0,
            changed: 0,
        }
    }

    /// The number of a call among those before, if the `most` calls above it are on the stack as
    /// they were. The calls that are looked for lead up the stack.
    ///
    /// # Safety
    /// The stack is in use from the call's stack pointer on, as far as the calls before reach.
    #[inline]
    pub(super) unsafe fn find(
        &mut self,
        call: &Call,
        before: &[Call],
        most: usize,
    ) -> Option<usize> {
        while before.get(self.next)?.sp < call.sp {
            self.next += 1;
        }
        if self.next < self.changed || !before[self.next].is(call) {
            return None;
        }
        let above = &before[self.next + 1..];
        for (number, call) in above[..above.len().min(most)].iter().enumerate() {
            // SAFETY: the caller's promise: it is further up the stack.
            if !unsafe { call.is_there() } {
                self.changed = self.next + 1 + number;
                return None;
            }
        }
        Some(self.next)
    }
}
