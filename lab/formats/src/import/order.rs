//! The frames of a board in their order: what is lost, repeated, or cannot be.
//!
//! ```text
//! the next number                   taken
//! a frame that was taken lately     a repetition: left out
//! any other number                  held, until the next frame says whether it can be
//!   held ≤ next frame               taken: the numbers between are lost; or, if it is behind, the
//!                                   board began anew, and the frame that says so is lost
//!   otherwise                       damage that the check sequence missed: left out
//! ```

use std::collections::VecDeque;

use super::deframe::{Frame, Record};

/// Frames of which repetitions are recognised.
const REMEMBERED: u32 = 4096;

/// A number this far ahead, modulo 2^32, is behind.
const BEHIND: u32 = 1 << 31;

/// What is done with a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The board began: nothing of before lives.
    Begin,
    /// This happened.
    Take(Frame),
}

/// Puts frames in order.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// The number that is next.
    next: u32,
    /// The check sequences of the last frames before `next`, in order; of a lost one, nothing.
    last: VecDeque<Option<u16>>,
    held: Option<Frame>,
    has_begun: bool,
    /// Events that were taken.
    pub(super) taken: u64,
    /// Frames that are missing.
    pub(super) lost: u64,
    /// Frames that came again.
    pub(super) repeated: u64,
    /// Frames whose number cannot be.
    pub(super) impossible: u64,
    /// How often the board began anew.
    pub(super) restarts: u64,
}

impl Order {
    /// Takes the next sound frame, and appends what follows from it.
    pub(super) fn push(&mut self, frame: Frame, steps: &mut VecDeque<Step>) {
        if self.is_repeated(frame) {
            self.repeated += 1;
            return;
        }
        match self.held.take() {
            None => {}
            Some(held) if held.number == frame.number && frame.record != Record::Begin => {
                let is_same = held.fcs == frame.fcs;
                self.repeated += u64::from(is_same);
                self.impossible += u64::from(!is_same);
                self.held = Some(held);
                return;
            }
            Some(held) if self.can_precede(held, frame) => self.accept(held, steps),
            Some(_) => self.impossible += 1,
        }
        if frame.number == self.next || frame.record == Record::Begin {
            self.accept(frame, steps);
        } else {
            self.held = Some(frame);
        }
    }

    /// Ends: a held frame that is ahead is the last one.
    pub(super) fn finish(&mut self, steps: &mut VecDeque<Step>) {
        match self.held.take() {
            Some(held) if self.is_behind(held) => self.impossible += 1,
            Some(held) => self.accept(held, steps),
            None => {}
        }
    }

    /// Whether a held frame lies between the last one that was taken and this one.
    fn can_precede(&self, held: Frame, frame: Frame) -> bool {
        if frame.record == Record::Begin {
            return !self.is_behind(held);
        }
        let from_held = frame.number.wrapping_sub(held.number);
        let from_next = frame.number.wrapping_sub(self.next);
        from_held <= from_next
    }

    fn is_behind(&self, frame: Frame) -> bool {
        frame.number.wrapping_sub(self.next) >= BEHIND
    }

    /// Whether a frame was taken lately. That a board begins is the same frame each time: only
    /// directly after itself it is a repetition.
    fn is_repeated(&self, frame: Frame) -> bool {
        if frame.record == Record::Begin && self.next != 1 {
            return false;
        }
        let back = self.next.wrapping_sub(frame.number) as usize;
        let place = self.last.len().checked_sub(back);
        let known = place.and_then(|place| self.last.get(place));
        known.is_some_and(|fcs| *fcs == Some(frame.fcs))
    }

    fn accept(&mut self, frame: Frame, steps: &mut VecDeque<Step>) {
        let is_new = frame.record == Record::Begin || self.is_behind(frame);
        if is_new {
            self.restarts += u64::from(self.has_begun);
            (self.next, self.has_begun) = (0, true);
            self.last.clear();
            steps.push_back(Step::Begin);
        }
        let lost = frame.number.wrapping_sub(self.next);
        self.lost += u64::from(lost);
        for _ in 0..lost.min(REMEMBERED) {
            self.remember(None);
        }
        self.remember(Some(frame.fcs));
        self.next = frame.number.wrapping_add(1);
        self.has_begun = true;
        if frame.record != Record::Begin {
            self.taken += 1;
            steps.push_back(Step::Take(frame));
        }
    }

    fn remember(&mut self, fcs: Option<u16>) {
        if self.last.len() == REMEMBERED as usize {
            self.last.pop_front();
        }
        self.last.push_back(fcs);
    }
}
