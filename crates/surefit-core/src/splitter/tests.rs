//! Interrupts a caller at every access; and tests the registers in memory, on the machine of the
//! tests.

use alloc::vec::Vec;
use core::cell::Cell;

use super::entry::{Register, Splitter, named};
use super::registers::{Counter, claim};

/// A caller that is interrupted after `steps` accesses by another that runs to its end.
struct Interrupted<'a> {
    word: &'a Cell<usize>,
    left: &'a Cell<usize>,
    interrupt: &'a dyn Fn(),
}

impl Interrupted<'_> {
    fn step(&self) {
        if self.left.get() == 1 {
            self.left.set(0);
            (self.interrupt)();
        } else {
            self.left.set(self.left.get().saturating_sub(1));
        }
    }
}

impl Register for Interrupted<'_> {
    fn load(&self) -> usize {
        self.step();
        self.word.get()
    }

    fn store(&self, value: usize) {
        self.step();
        self.word.set(value);
    }
}

#[test]
fn of_a_caller_and_its_interrupt_exactly_one_is_kept() {
    let mut outcomes = Vec::new();
    for interrupted_before in 1..=6 {
        let (last, closed, never) = (Cell::new(0), Cell::new(0), Cell::new(0));
        let inner = Cell::new(false);
        let claims = |left: &Cell<usize>, interrupt: &dyn Fn(), me| {
            let register = |word| Interrupted {
                word,
                left,
                interrupt,
            };
            let (last, closed) = (&register(&last), &register(&closed));
            Splitter { last, closed }.enter(me, || ()).is_some()
        };
        let interrupt = || inner.set(claims(&never, &|| (), 2));
        let outer = claims(&Cell::new(interrupted_before), &interrupt, 1);
        outcomes.push((outer, inner.get()));
    }
    // Before each of the five accesses, and never: the inner caller is kept until it finds what the
    // outer one closed.
    let (inner, outer) = ((false, true), (true, false));
    assert_eq!(outcomes, [inner, inner, inner, inner, outer, outer]);
}

#[test]
fn a_byte_in_memory_is_claimed_once() {
    let mut byte = 0_u8;
    // SAFETY: S1: only these calls reach the byte.
    let claims = [(); 2].map(|()| unsafe { claim(&raw mut byte) });
    assert_eq!(claims, [true, false]);
}

#[test]
fn a_counter_in_memory_counts_from_one() {
    static COUNTER: Counter = Counter::new();
    assert_eq!(
        [(); 3].map(|()| COUNTER.next()),
        [Some(1), Some(2), Some(3)]
    );
}

#[test]
fn calls_in_progress_have_different_names() {
    named(|outer| named(|inner| assert!(outer != inner && inner != 0)));
}
