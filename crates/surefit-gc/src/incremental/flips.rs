//! The campaign of flips, in every phase of a cycle.

extern crate alloc;

use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use core::mem::MaybeUninit;

use super::{Incremental, Phase};
use crate::collector::Collector;
use crate::object::Object;
use crate::stepwise::Stepwise;
use crate::tests::flips::{
    Changed, Drive, Lists, Program, State, Subject, Unmerged, Word, Words, attack_words, config,
    is_asked, region, settings,
};

impl<S: Stepwise + Words> Words for Incremental<'_, S> {
    fn add_words(&mut self, words: &mut Vec<Word>) {
        self.gc.add_words(words);
        let pass = |word: u64| (word >> 32 & 1 == 1).then_some(word as u32);
        let of_pass = |pass: Option<u32>| pass.map_or(0, |number| 1 << 32 | u64::from(number));
        words.extend([
            Word::coded("phase", &mut self.phase, 1, |phase| phase as u64, phase),
            Word::size("entries of the mark stack", &mut self.pending.len),
            Word::object("lowest grey object", &mut self.pending.dropped),
            Word::coded("pass", &mut self.pending.pass, 5, of_pass, pass),
            Word::long("marked", &mut self.cycle.marked),
            Word::long("shaded", &mut self.cycle.shaded),
            Word::long("born", &mut self.cycle.born),
            Word::short("cursor", &mut self.cursor),
            Word::object("dying object", &mut self.dying),
            Word::long("live_objects", &mut self.live_objects),
            Word::long("live_bytes", &mut self.live_bytes),
            Word::long("occupied, objects", &mut self.occupied.objects),
            Word::long("occupied, bytes", &mut self.occupied.bytes),
        ]);
    }
}

fn phase(number: u64) -> Phase {
    match number % 6 {
        0 => Phase::Idle,
        1 => Phase::Roots,
        2 => Phase::Mark,
        3 => Phase::Weak,
        4 => Phase::Sweep,
        _ => Phase::Merge,
    }
}

impl<S: Stepwise> Subject for Incremental<'_, S> {
    fn is_sound(&mut self) -> bool {
        self.check().is_ok()
    }

    fn alloc(&mut self, program: &mut Program, bytes: usize) -> Option<Object> {
        Incremental::alloc(self, program, bytes).ok()
    }

    fn store(&mut self, object: Object, word: u32, to: Option<Object>) {
        Incremental::store(self, object, word, to);
    }

    fn store_data(&mut self, object: Object, word: u32, value: u32) {
        Incremental::store_data(self, object, word, value);
    }

    fn load(&mut self, object: Object, word: u32) -> u32 {
        self.gc.load(object, word)
    }

    fn upgrade(&mut self, object: Object) -> bool {
        Incremental::upgrade(self, object).is_some()
    }

    fn work(&mut self, program: &mut Program) {
        self.start(program);
        self.step(program, 9);
    }

    fn collect(&mut self, program: &mut Program) {
        Incremental::collect(self, program);
    }

    fn live(&mut self) -> usize {
        self.objects().count()
    }
}

/// Only the program knows what its objects refer to: so which of them are marked, if as many are as
/// were counted.
fn is_marking(changes: &[Changed]) -> bool {
    is_asked(changes) || changes.iter().any(|&(name, ..)| name == "mark bits")
}

/// And which marked objects are on the stack, for it defines the slots that were scanned.
fn is_scanning(changes: &[Changed]) -> bool {
    let stack = ["mark stack", "entries of the mark stack"];
    is_marking(changes) || changes.iter().any(|(name, ..)| stack.contains(name))
}

type LeavesOut = fn(&[Changed]) -> bool;

/// Attacks it in every phase, some steps after it began.
fn attack<S: Stepwise + Words>(
    name: &str,
    bytes: usize,
    make: fn(&'static mut [MaybeUninit<u8>]) -> Collector<'static, S>,
) {
    let phases: [(Phase, usize, LeavesOut); 5] = [
        (Phase::Idle, 0, is_asked),
        (Phase::Mark, 6, is_scanning),
        (Phase::Weak, 0, is_marking),
        (Phase::Sweep, 3, is_marking),
        (Phase::Merge, 2, is_asked),
    ];
    for (phase, steps, leaves_out) in phases {
        let (memory, place) = region(bytes);
        let (mut gc, state) = in_phase(Incremental::over(make(memory)), phase, steps);
        // A heap that merges at once has nothing to merge.
        if phase == Phase::Merge && gc.phase == Phase::Idle {
            continue;
        }
        assert_eq!(gc.phase, phase, "{name}: too many steps");
        let name = format!("{name}, {phase:?}");
        attack_words(&name, (&mut *gc, place), &state, 211, leaves_out);
    }
}

fn in_phase<S: Stepwise>(
    mut gc: Incremental<'static, S>,
    phase: Phase,
    steps: usize,
) -> (Box<Incremental<'static, S>>, State) {
    let mut drive = Drive::new(&mut gc);
    drive.steps(100).expect("sound");
    let mut state = drive.state();
    let program = &mut state.program;
    gc.finish(program);
    if phase != Phase::Idle {
        gc.start(program);
    }
    while gc.phase != phase {
        gc.step(program, 1);
    }
    for _ in 0..steps {
        gc.step(program, 1);
    }
    (Box::new(gc), state)
}

#[test]
fn flips_of_a_collector_in_steps_over_lists_are_told_or_harmless() {
    let make = |memory| Collector::<Lists>::new(memory, settings(2 << 10)).expect("large enough");
    attack("Incremental over free lists", 6 << 10, make);
}

#[test]
fn flips_of_a_collector_in_steps_that_merges_are_told_or_harmless() {
    let make =
        |memory| Collector::<Unmerged>::new(memory, settings(2 << 10)).expect("large enough");
    attack("Incremental over unmerged lists", 6 << 10, make);
}

#[test]
fn flips_of_a_collector_in_steps_over_pages_are_told_or_harmless() {
    let make = |memory| Collector::compact_fit(memory, config(), 3).expect("large enough");
    attack("Incremental over Compact-fit", 12 << 10, make);
}
