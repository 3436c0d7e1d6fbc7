//! Every interleaving of a program and the collector's smallest steps on a heap of a few objects,
//! with the real collector; and faults that must be seen.
//!
//! A state is what the collector knows, the words of all objects that are not freed, the program's
//! registers and the set of objects that the cycle must free. Two states that differ only in the
//! order of a free list count as one.

extern crate alloc;
extern crate std;

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use surefit_compact::{Bound, Config, Geometry, GeometrySpec};
use surefit_freelist::{Deferred, First, Index, Linear, NextHitTable, Segregated, SingleList};
use surefit_testkit::JunkRegion;

use crate::client::{Client, Living, Scanned};
use crate::collector::Collector;
use crate::compact_fit::CompactFit;
use crate::edges::Edges;
use crate::free_list::FreeList;
use crate::incremental::{Incremental, Phase};
use crate::object::Object;
use crate::settings::Settings;
use crate::space::Space;
use crate::stepwise::Stepwise;

/// What is wrong with the program or the collector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Nothing,
    /// References are overwritten without a barrier.
    NoBarrier,
    /// A store shades what it writes instead of what it overwrites.
    ShadesTheNew,
    /// Roots are taken in two parts, and moved in between.
    RootsInTwoParts,
    /// A weak reference is used as it is.
    UpgradesUnshaded,
    /// Births are white.
    WhiteBirths,
    /// Births are black behind the sweep too.
    BlackBirths,
    /// Grey objects that did not fit on the stack are forgotten.
    ForgetsGrey,
    /// The sweep frees a live object.
    SweepsTooMuch,
}

/// The program's registers: its roots, and a weak reference.
#[derive(Debug, Default)]
struct Registers {
    roots: [Option<Object>; 2],
    weak: Option<Object>,
    /// What the first part of the roots found, if they are taken in two.
    early: Option<Option<Object>>,
}

impl<S: Space> Client<S> for Registers {
    fn roots(&mut self, edges: &mut Edges<'_>) {
        let first = self.early.take().unwrap_or(self.roots[0]);
        let roots = [first, self.roots[1]].into_iter().flatten();
        roots.for_each(|root| edges.report(root));
    }

    fn scan(&mut self, object: &Scanned<'_, S>, from: u32, edges: &mut Edges<'_>) {
        // One slot at a time, and late, so that a stack of one entry overflows.
        object
            .reference(from)
            .into_iter()
            .for_each(|target| edges.report(target));
        if from == 0 {
            edges.again_from(1);
        }
    }

    fn weak(&mut self, living: &Living<'_>) {
        self.weak = self.weak.filter(|&object| living.contains(object));
    }
}

/// A machine: program, collector, and what must die.
struct Machine<'m, S> {
    gc: Incremental<'m, S>,
    registers: Registers,
    fault: Fault,
    size: Size,
    /// Dead when the cycle started, and not freed yet.
    dead: BTreeSet<Object>,
}

/// How many actions there are.
const ACTIONS: u8 = 18;

/// How large the programs are that are exhausted.
#[derive(Clone, Copy, Debug)]
struct Size {
    /// The most objects that are not freed.
    objects: u64,
    /// References in an object: 1 or 2.
    slots: u32,
    /// Whether there is a weak reference.
    is_weak: bool,
    /// Entries of the mark stack.
    mark_stack: usize,
    /// Bytes of an object.
    bytes: usize,
}

impl Size {
    /// Whether programs of this size have an action.
    fn has(&self, action: u8) -> bool {
        match action {
            3 | 6 | 9 => self.slots > 1,
            14 | 15 => self.is_weak,
            _ => true,
        }
    }
}

impl<S: Stepwise> Machine<'_, S> {
    /// What the roots lead to.
    fn reached(&self) -> Result<BTreeSet<Object>, String> {
        self.closure(self.registers.roots.into_iter().flatten(), |_| true)
    }

    fn closure(
        &self,
        from: impl IntoIterator<Item = Object>,
        through: impl Fn(Object) -> bool,
    ) -> Result<BTreeSet<Object>, String> {
        let (mut seen, mut queue) = (BTreeSet::new(), from.into_iter().collect::<Vec<_>>());
        while let Some(object) = queue.pop() {
            if !self.gc.gc.contains(object) {
                return Err(format!("{object:?} is reached and was freed"));
            }
            if seen.insert(object) {
                let targets = [0, 1].map(|slot| self.gc.reference(object, slot));
                queue.extend(
                    targets
                        .into_iter()
                        .flatten()
                        .filter(|&target| through(target)),
                );
            }
        }
        Ok(seen)
    }

    /// Whether nothing is wrong.
    fn judge(&self) -> Result<(), String> {
        let reached = self.reached()?;
        if let Some(object) = reached.iter().find(|&&object| !self.gc.contains(object)) {
            return Err(format!("{object:?} is reached and condemned"));
        }
        if self.gc.phase == Phase::Mark && self.fault == Fault::Nothing {
            let is_reached = |object: Object| self.gc.is_reached(object);
            let promised = self.closure(self.gc.pending(), |object| !is_reached(object))?;
            let lost = reached
                .iter()
                .find(|&&it| !is_reached(it) && !promised.contains(&it));
            if let Some(object) = lost {
                return Err(format!("{object:?} is forgotten (G7)"));
            }
        }
        if self.gc.phase == Phase::Idle {
            if let Some(object) = self.dead.first() {
                return Err(format!("{object:?} was dead and is kept"));
            }
        }
        if !matches!(self.fault, Fault::Nothing | Fault::BlackBirths) {
            // A fault must be seen by what it does.
            return Ok(());
        }
        let checked = self.gc.check();
        checked.map_err(|corruption| format!("{corruption}"))
    }

    fn store(&mut self, at: usize, slot: u32, value: Option<Object>) {
        let Some(object) = self.registers.roots[at] else {
            return;
        };
        match self.fault {
            Fault::NoBarrier => {
                self.gc
                    .store_data(object, slot, value.map_or(0, Object::number));
            }
            Fault::ShadesTheNew => {
                if self.gc.keeps_old() {
                    value.into_iter().for_each(|value| self.gc.shade(value));
                }
                self.gc
                    .store_data(object, slot, value.map_or(0, Object::number));
            }
            _ => self.gc.store(object, slot, value),
        }
    }

    fn alloc(&mut self, at: usize) {
        if self.gc.live_objects == self.size.objects {
            return;
        }
        let Ok(object) = self.gc.alloc_as_is(self.size.bytes) else {
            return;
        };
        self.registers.roots[at] = Some(object);
        match self.fault {
            Fault::WhiteBirths => {
                // The second bit of the number before: the object's own.
                let before =
                    Object::of(object.number() - 1).expect("numbers of objects are above 1");
                self.gc.gc.marks.make_black(before);
            }
            Fault::BlackBirths if self.gc.phase >= Phase::Mark => {
                self.gc.gc.marks.reach(object);
            }
            _ => {}
        }
    }

    fn upgrade(&mut self) {
        let Some(object) = self.registers.weak else {
            return;
        };
        let was_white = !self.gc.is_reached(object);
        let upgraded = match self.fault {
            Fault::UpgradesUnshaded => Some(object).filter(|&object| self.gc.contains(object)),
            _ => self.gc.upgrade(object),
        };
        self.registers.roots[0] = upgraded;
        if upgraded.is_some() && was_white {
            let found = self.closure(upgraded, |_| true).unwrap_or_default();
            self.dead.retain(|object| !found.contains(object));
        }
    }

    fn start(&mut self) -> Result<(), String> {
        if self.gc.phase != Phase::Idle {
            return Ok(());
        }
        if self.fault == Fault::RootsInTwoParts && self.registers.early.is_none() {
            self.registers.early = Some(self.registers.roots[0]);
            return Ok(());
        }
        let reached = self.reached()?;
        self.dead = self
            .gc
            .objects()
            .filter(|object| !reached.contains(object))
            .collect();
        self.gc.start(&mut self.registers);
        Ok(())
    }

    fn step(&mut self) {
        if self.fault == Fault::SweepsTooMuch && self.gc.phase == Phase::Sweep {
            self.gc.gc.marks.clear_word(self.gc.cursor as usize);
        }
        self.gc.step(&mut self.registers, 1);
        if self.fault == Fault::ForgetsGrey {
            self.gc.pending.dropped = None;
        }
        let gc = &self.gc;
        self.dead.retain(|&object| gc.gc.contains(object));
    }

    fn act(&mut self, action: u8) -> Result<(), String> {
        let roots = self.registers.roots;
        let slot = |gc: &Incremental<'_, S>, at: usize, slot| {
            roots[at].and_then(|object| gc.reference(object, slot))
        };
        match action {
            0 => self.alloc(0),
            1 => self.alloc(1),
            2 => self.store(0, 0, roots[1]),
            3 => self.store(0, 1, roots[1]),
            4 => self.store(1, 0, roots[0]),
            5 => self.store(0, 0, None),
            6 => self.store(0, 1, None),
            7 => self.store(1, 0, None),
            8 => self.registers.roots[1] = slot(&self.gc, 0, 0),
            9 => self.registers.roots[1] = slot(&self.gc, 0, 1),
            10 => self.registers.roots[0] = slot(&self.gc, 1, 0),
            11 => self.registers.roots[0] = None,
            12 => self.registers.roots[1] = None,
            13 => self.registers.roots.swap(0, 1),
            14 => self.registers.weak = roots[0],
            15 => self.upgrade(),
            16 => self.start()?,
            _ => self.step(),
        }
        Ok(())
    }

    /// The state, as numbers.
    fn key(&self) -> Vec<u32> {
        let (gc, number) = (&self.gc, |object: Option<Object>| {
            object.map_or(0, Object::number)
        });
        let mut key = vec![gc.phase as u32, gc.cursor, number(gc.dying)];
        key.extend([
            number(gc.pending.dropped),
            gc.pending.pass.unwrap_or(u32::MAX),
        ]);
        // Of an object that is freed in parts, how many are left; how much is merged.
        let usage = gc.usage();
        key.extend([usage.block_bytes as u32, usage.free_chunk_bytes as u32]);
        key.extend(self.registers.roots.map(number));
        key.push(number(self.registers.weak));
        key.push(self.registers.early.map_or(u32::MAX, number));
        let stack = gc.gc.stack[..gc.pending.len].iter();
        key.extend(stack.flat_map(|&entry| [(entry >> 32) as u32, entry as u32]));
        for object in gc.objects() {
            key.extend([u32::MAX, object.number()]);
            key.extend([0, 1].map(|slot| number(gc.reference(object, slot))));
            key.push(u32::from(gc.is_reached(object)) + 2 * u32::from(self.dead.contains(&object)));
        }
        let words = gc.gc.marks.bits().words().iter();
        key.extend(words.flat_map(|&word| [word as u32, (word >> 32) as u32]));
        key
    }
}

/// What a search found: its states and their transitions, or the shortest program that shows the
/// fault.
type Found = Result<(usize, usize), (Vec<u8>, String)>;

/// Searches breadth first. `run` runs a program on a new machine, and returns the state that it
/// leads to.
fn search(size: Size, run: impl Fn(&[u8]) -> Result<Vec<u32>, String>) -> Found {
    let (mut seen, mut at, mut transitions) = (BTreeSet::new(), 0, 0);
    // A state is reached by an action from an earlier one.
    let mut reached: Vec<(usize, u8)> = vec![(0, 0)];
    let first = run(&[]).map_err(|fault| (Vec::new(), fault))?;
    seen.insert(first);
    while at < reached.len() {
        let mut program = Vec::new();
        let mut state = at;
        while state > 0 {
            program.push(reached[state].1);
            state = reached[state].0;
        }
        program.reverse();
        for action in (0..ACTIONS).filter(|&action| size.has(action)) {
            program.push(action);
            transitions += 1;
            match run(&program) {
                Ok(key) => {
                    if seen.insert(key) {
                        reached.push((at, action));
                    }
                }
                Err(fault) => return Err((program, fault)),
            }
            program.pop();
        }
        at += 1;
    }
    Ok((reached.len(), transitions))
}

fn run<S: Stepwise>(
    gc: Collector<'_, S>,
    fault: Fault,
    size: Size,
    program: &[u8],
) -> Result<Vec<u32>, String> {
    let mut machine = Machine {
        gc: Incremental::over(gc),
        registers: Registers::default(),
        fault,
        size,
        dead: BTreeSet::new(),
    };
    for &action in program {
        machine.act(action)?;
    }
    // What led here was judged before.
    machine.judge()?;
    Ok(machine.key())
}

/// The smallest region whose heap has room for so many objects.
fn bytes_for<I: Index>(objects: usize, settings: Settings) -> usize {
    let enough = |bytes: &usize| {
        let mut region = JunkRegion::new(*bytes, 8, 1);
        let gc = Collector::<FreeList<'_, I>>::new(region.memory(), settings);
        gc.is_ok_and(|gc| gc.usage().free_chunk_bytes + 4 >= objects * 16)
    };
    (0..).step_by(8).find(enough).expect("some region")
}

fn on_lists<I: Index>(fault: Fault, size: Size) -> Found {
    let settings = Settings {
        mark_stack: size.mark_stack,
        large_from: usize::MAX,
        ..Settings::default()
    };
    let bytes = bytes_for::<I>(size.objects as usize, settings);
    search(size, |program| {
        let mut region = JunkRegion::new(bytes, 8, 1);
        let gc = Collector::<FreeList<'_, I>>::new(region.memory(), settings);
        run(gc.expect("large enough"), fault, size, program)
    })
}

/// On Compact-fit, with objects of two pieces, a spine and a stub.
fn on_compact_fit(bound: Bound, size: Size) -> Found {
    let spec = GeometrySpec {
        page_bytes: 1024,
        ..CompactFit::GEOMETRY
    };
    let geometry = Geometry::new(&spec).expect("classes");
    let config = Config::new(geometry, bound).expect("valid");
    let config = config.with_pieces(Some(64)).expect("valid");
    search(size, |program| {
        let mut region = JunkRegion::new(6 << 10, 1024, 1);
        let gc = Collector::compact_fit(region.memory(), &config, size.mark_stack);
        run(gc.expect("large enough"), Fault::Nothing, size, program)
    })
}

const fn size(objects: u64, slots: u32, is_weak: bool, mark_stack: usize) -> Size {
    Size {
        objects,
        slots,
        is_weak,
        mark_stack,
        bytes: 12,
    }
}

/// States of all programs of a size. With `SUREFIT_EXHAUST` set, larger sizes are exhausted too.
#[test]
fn every_interleaving_of_programs_and_steps_on_free_lists() {
    type Late = Segregated<NextHitTable, Deferred, Linear, 16>;
    let states = |found: Found| found.expect("nothing to object to").0;
    let first = |size| states(on_lists::<SingleList<First>>(Fault::Nothing, size));
    assert_eq!(first(size(2, 1, true, 1)), 6074);
    assert_eq!(first(size(2, 2, false, 1)), 3080);
    assert_eq!(first(size(2, 2, false, 4)), 2408);
    assert_eq!(first(size(3, 1, false, 1)), 31_669);
    let late = |size| states(on_lists::<Late>(Fault::Nothing, size));
    let both = (late(size(2, 1, true, 1)), late(size(2, 2, false, 1)));
    assert_eq!(both, (6515, 3316));
}

#[test]
fn every_interleaving_of_longer_programs_and_steps() {
    if std::env::var_os("SUREFIT_EXHAUST").is_none() {
        return;
    }
    let in_pieces = Size {
        bytes: 100,
        ..size(2, 1, false, 1)
    };
    let found = on_compact_fit(Bound::DEFAULT, in_pieces);
    std::println!("in pieces: {:?}", found.expect("nothing to object to"));
    let sizes = [
        size(2, 2, true, 1),
        size(3, 1, true, 1),
        size(4, 1, false, 1),
        size(3, 2, false, 1),
    ];
    for size in sizes {
        let found = on_lists::<SingleList<First>>(Fault::Nothing, size);
        std::println!("{size:?}: {:?}", found.expect("nothing to object to"));
    }
}

#[test]
fn every_interleaving_of_programs_and_steps_on_compact_fit() {
    let states = |bound, size, bytes| {
        let found = on_compact_fit(bound, Size { bytes, ..size });
        found.expect("nothing to object to").0
    };
    assert_eq!(states(Bound::DEFAULT, size(2, 1, false, 1), 12), 1680);
    assert_eq!(states(Bound::DEFAULT, size(1, 1, false, 1), 100), 601);
    assert_eq!(states(Bound::Pages(1), size(1, 1, false, 1), 100), 628);
}

/// The shortest programs that show a fault. Only the one that leaves marks behind the sweep is told
/// by `check`, the others by what they do.
#[test]
fn every_fault_is_seen() {
    let seen = |fault, size| {
        let (program, said) = on_lists::<SingleList<First>>(fault, size).expect_err("seen");
        (program, said.split_once(' ').expect("words").1.into())
    };
    let condemned = || String::from("is reached and condemned");
    let (two, weak, three) = (
        size(2, 1, false, 1),
        size(2, 1, true, 1),
        size(3, 1, false, 1),
    );
    // a; b; a.0 = b; root 1 = none; start; root 1 = a.0; a.0 = none; steps.
    let overwritten = vec![0, 1, 2, 12, 16, 8, 5, 17, 17, 17];
    assert_eq!(
        seen(Fault::NoBarrier, two),
        (overwritten.clone(), condemned())
    );
    assert_eq!(seen(Fault::ShadesTheNew, two), (overwritten, condemned()));
    // Root 0 is read; a in root 0; root 1 is read.
    assert_eq!(
        seen(Fault::RootsInTwoParts, two),
        (vec![16, 0, 16, 17], condemned())
    );
    // a; weak = a; root 0 = none; start; root 0 = weak.
    let upgraded = vec![0, 14, 10, 16, 15, 17];
    assert_eq!(seen(Fault::UpgradesUnshaded, weak), (upgraded, condemned()));
    assert_eq!(
        seen(Fault::WhiteBirths, two),
        (vec![16, 0, 17], condemned())
    );
    let overflow = vec![0, 1, 4, 0, 16, 17, 17, 17];
    assert_eq!(seen(Fault::ForgetsGrey, three), (overflow, condemned()));
    let freed = String::from("is reached and was freed");
    assert_eq!(
        seen(Fault::SweepsTooMuch, two),
        (vec![16, 0, 17, 17, 17], freed)
    );
    assert_eq!(seen(Fault::BlackBirths, two).0, [16, 17, 17, 17, 0]);
}
