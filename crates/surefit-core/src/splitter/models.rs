//! Every interleaving of the accesses of two and three callers: replays the real code access by
//! access.
//!
//! To advance a caller by one access, it runs anew: its registers return what it has read before,
//! let one access through to the memory, and unwind at the next. States that were seen before are
//! not explored again.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::panic::AssertUnwindSafe;
use std::collections::HashSet;
use std::panic::{catch_unwind, resume_unwind};

use super::entry::{Register, Splitter, count};

/// The registers' values: the last name, two splitters, the counter.
type Memory = [usize; 4];

/// What a caller has read so far (zero for a store), and its result once it has finished.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Caller {
    read: Vec<usize>,
    got: Option<Vec<Option<u32>>>,
}

/// A run of a caller: how many reads are replayed, and whether the one new access was made.
struct Run<'a> {
    memory: &'a mut Memory,
    read: &'a mut Vec<usize>,
    replayed: usize,
    advanced: bool,
}

impl Run<'_> {
    fn access(&mut self, access: impl FnOnce(&mut Memory) -> usize) -> usize {
        if let Some(&read) = self.read.get(self.replayed) {
            self.replayed += 1;
            return read;
        }
        if core::mem::replace(&mut self.advanced, true) {
            resume_unwind(Box::new("the caller is interrupted here"));
        }
        let read = access(self.memory);
        self.read.push(read);
        self.replayed += 1;
        read
    }
}

struct Replayed<'a, 'b>(&'a RefCell<Run<'b>>, usize);

impl Register for Replayed<'_, '_> {
    fn load(&self) -> usize {
        self.0.borrow_mut().access(|memory| memory[self.1])
    }

    fn store(&self, value: usize) {
        self.0.borrow_mut().access(|memory| {
            memory[self.1] = value;
            0
        });
    }
}

/// What a caller does: its own number, and the way to its registers.
type Call = fn(usize, &RefCell<Run<'_>>) -> Vec<Option<u32>>;

/// Claims at splitter `number`.
fn claim_at(number: usize, me: usize, run: &RefCell<Run<'_>>) -> Vec<Option<u32>> {
    let (last, closed) = (&Replayed(run, 0), &Replayed(run, 1 + number));
    Vec::from([Splitter { last, closed }.enter(me, || 1)])
}

/// Asks for `times` numbers.
fn count_to(times: usize, me: usize, run: &RefCell<Run<'_>>) -> Vec<Option<u32>> {
    let (last, closed) = (&Replayed(run, 0), &Replayed(run, 1));
    let next = Replayed(run, 3);
    let one = |_| count(&Splitter { last, closed }, &next, me);
    (0..times).map(one).collect()
}

fn advance(memory: &mut Memory, caller: &mut Caller, me: usize, call: Call) {
    let run = RefCell::new(Run {
        memory,
        read: &mut caller.read,
        replayed: 0,
        advanced: false,
    });
    let got = catch_unwind(AssertUnwindSafe(|| call(me, &run)));
    caller.got = got.ok();
}

/// Judges the callers' results at every end; returns the number of states.
fn every_interleaving(callers: usize, call: Call, judge: impl Fn(&[Caller])) -> usize {
    let first = ([0; 4], alloc::vec![Caller::default(); callers]);
    let mut seen = HashSet::from([first.clone()]);
    let mut open = Vec::from([first]);
    while let Some((memory, callers)) = open.pop() {
        if callers.iter().all(|caller| caller.got.is_some()) {
            judge(&callers);
        }
        for index in 0..callers.len() {
            if callers[index].got.is_none() {
                let (mut memory, mut callers) = (memory, callers.clone());
                advance(&mut memory, &mut callers[index], index + 1, call);
                let world = (memory, callers);
                if seen.insert(world.clone()) {
                    open.push(world);
                }
            }
        }
    }
    seen.len()
}

fn given(callers: &[Caller]) -> Vec<u32> {
    let got = callers.iter().filter_map(|caller| caller.got.as_ref());
    got.flatten().flatten().copied().collect()
}

#[test]
fn at_most_one_claim_of_a_splitter_is_kept() {
    for callers in [2, 3] {
        let call: Call = |me, run| claim_at(0, me, run);
        let worlds = every_interleaving(callers, call, |callers| {
            assert!(given(callers).len() <= 1, "{callers:?}");
        });
        assert!(worlds > 60, "{worlds}");
    }
}

#[test]
fn splitters_that_share_a_last_name_keep_one_claim_each() {
    let call: Call = |me, run| claim_at(me % 2, me, run);
    every_interleaving(3, call, |callers| {
        assert!(
            given(&[callers[0].clone(), callers[2].clone()]).len() <= 1,
            "{callers:?}"
        );
    });
}

#[test]
fn nobody_gets_a_number_twice() {
    for (callers, call) in [
        (2, (|me, run| count_to(3, me, run)) as Call),
        (3, |me, run| count_to(1, me, run)),
        (3, |me, run| count_to(if me == 1 { 1 } else { 2 }, me, run)),
    ] {
        let worlds = every_interleaving(callers, call, |callers| {
            let numbers = given(callers);
            let unique: HashSet<_> = numbers.iter().collect();
            assert_eq!(unique.len(), numbers.len(), "{callers:?}");
        });
        assert!(worlds > 1000, "{worlds}");
    }
}

#[test]
fn a_caller_that_meets_nobody_is_kept() {
    every_interleaving(
        1,
        |me, run| count_to(3, me, run),
        |callers| {
            assert_eq!(given(callers), [1, 2, 3]);
        },
    );
}
