//! The campaign of flips: the tables of an arena in steps, in every phase of a cycle.

extern crate alloc;
extern crate std;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::Cell;
use core::ptr::NonNull;

use surefit_testkit::Random;

use super::super::{ArenaPhase, Barriered, GcCell, StepArena};
use crate::tests::flips::{Changed, Target, Word, attack, region};
use crate::{Gc, Limits, Rootable, Trace, Tracer};

std::thread_local! {
    /// The numbers of dropped nodes.
    static DROPPED: Cell<u64> = const { Cell::new(0) };
}

type Link<'gc> = Option<Gc<'gc, Node<'gc>>>;
type Roots = Rootable!['gc => [GcCell<'gc, Link<'gc>>; 4]];
type Nodes = StepArena<'static, Roots>;

/// It knows its number twice.
struct Node<'gc> {
    next: GcCell<'gc, Link<'gc>>,
    number: [u64; 2],
}

// SAFETY: T1: the only reference is traced. T2: `drop` follows none. T3: nothing is changed. T4: of
// `'gc`.
unsafe impl Trace for Node<'_> {
    const TRACED: bool = true;
    fn trace(&self, tracer: &mut Tracer<'_>) {
        self.next.trace(tracer);
    }
}

// SAFETY: B1: the reference is in a cell with a barrier.
unsafe impl Barriered for Node<'_> {}

impl Drop for Node<'_> {
    fn drop(&mut self) {
        DROPPED.set(DROPPED.get() + self.number[0]);
    }
}

/// Stacks of nodes, each with the numbers of its nodes, the top first.
#[derive(Clone, Default)]
struct Model {
    stacks: [Vec<u64>; 4],
    made: u64,
}

impl Model {
    fn look(&self, arena: &mut Nodes) -> Result<(), String> {
        arena.mutate(|_, roots| {
            for (root, stack) in roots.iter().zip(&self.stacks) {
                let mut node = root.get();
                for number in stack {
                    let found = node.filter(|node| node.number == [*number; 2]);
                    node = found.ok_or(format!("node {number} is lost"))?.next.get();
                }
                if node.is_some() {
                    return Err("a list is too long".into());
                }
            }
            Ok(())
        })
    }

    fn steps(&mut self, arena: &mut Nodes, seed: u64) -> Result<(), String> {
        let mut random = Random(seed);
        for nth in 0..60 {
            let [at, other] = [(); 2].map(|()| random.below(4));
            match random.below(9) {
                0 | 1 => {
                    arena.mutate(|mc, roots| {
                        let top = roots[at].get();
                        roots[at].set(mc, top.and_then(|top| top.next.get()));
                    });
                    if !self.stacks[at].is_empty() {
                        self.stacks[at].remove(0);
                    }
                }
                // The rest of a list below its top moves to another root, whose list dies.
                2 if at != other && !self.stacks[at].is_empty() => {
                    arena.mutate(|mc, roots| {
                        let top = roots[at].get().expect("there");
                        roots[other].set(mc, top.next.take(mc));
                    });
                    self.stacks[other] = self.stacks[at].split_off(1);
                }
                _ => {
                    self.made += 1;
                    let number = self.made;
                    let done = arena.retry(|mc, roots| {
                        let next = GcCell::new(roots[at].get());
                        let number = [number; 2];
                        roots[at].set(mc, Some(mc.alloc(Node { next, number })?));
                        Ok(())
                    });
                    done.map_err(|_| "no room")?;
                    self.stacks[at].insert(0, number);
                }
            }
            if nth % 5 == 0 {
                arena.start();
                arena.step(5);
            }
        }
        self.look(arena)
    }

    fn whole(mut self, arena: &mut Nodes) -> Result<u64, String> {
        DROPPED.set(0);
        self.look(arena)?;
        self.steps(arena, 5)?;
        arena.collect();
        self.look(arena)?;
        self.stacks = <[Vec<u64>; 4]>::default();
        arena.mutate(|mc, roots| roots.iter().for_each(|root| root.set(mc, None)));
        arena.collect();
        let live = arena.store.state.live_objects;
        match (live, arena.check()) {
            (0, Ok(())) => Ok(DROPPED.get()),
            _ => Err(format!("{live} live in the end")),
        }
    }
}

fn words(arena: &mut Nodes) -> Vec<Word> {
    let mut words = Vec::new();
    let (store, tables) = arena.store.open();
    let [newest, pending, dying] = store.allocator.closed().2.heads_mut();
    let (mut live, mut marks) = (tables.live, tables.marks);
    words.extend(Word::table("live bits", live.words_mut()));
    words.extend(Word::table("mark bits", marks.words_mut()));
    words.extend(Word::table("mark stack", tables.stack));
    words.extend([
        Word::half("newest", newest),
        Word::half("pending", pending),
        Word::half("dying", dying),
    ]);
    let state = tables.state;
    let some = |word: u64| (word >> 32 & 1 == 1).then_some(word as u32);
    let of = |number: Option<u32>| number.map_or(0, |number| 1 << 32 | u64::from(number));
    words.extend([
        Word::coded("phase", &mut state.phase, 1, |phase| phase as u64, phase),
        Word::short("cursor", &mut state.cursor),
        Word::size("entries of the mark stack", &mut state.pending.len),
        Word::coded("grey", &mut state.pending.grey, 5, of, some),
        Word::coded("pass", &mut state.pending.pass, 5, of, some),
        Word::long("live_objects", &mut state.live_objects),
    ]);
    words
}

fn phase(number: u64) -> ArenaPhase {
    use ArenaPhase::{Drop, Idle, Mark, Merge, Roots, Sweep, Weak};
    [Idle, Roots, Mark, Weak, Drop, Sweep, Merge][number as usize % 7]
}

/// While it marks, which live objects are marked, and which of these are on the stack, is not
/// known: what they refer to may have changed since the snapshot. Afterwards the checker traces
/// all.
fn is_marking(changes: &[Changed]) -> bool {
    let of_marking = ["mark bits", "mark stack", "entries of the mark stack"];
    changes.iter().any(|(name, ..)| of_marking.contains(name))
}

#[test]
fn flips_of_an_arena_in_steps_are_told_or_harmless() {
    use ArenaPhase::{Drop, Idle, Mark, Sweep, Weak};
    for (phase, steps) in [(Idle, 0), (Mark, 2), (Weak, 2), (Drop, 2), (Sweep, 3)] {
        let (memory, place) = region(8 << 10);
        let limits = Limits {
            mark_stack: 3,
            kinds: 4,
            heap: 3 << 10,
        };
        let mut arena =
            Nodes::with_limits(memory, limits, |_| Ok([const { GcCell::new(None) }; 4]))
                .expect("large enough");
        let mut model = Model::default();
        model.steps(&mut arena, 3).expect("sound");
        arena.finish();
        if phase != Idle {
            arena.start();
        }
        while arena.phase() != phase {
            arena.step(1);
        }
        for _ in 0..steps {
            arena.step(1);
        }
        assert_eq!(arena.phase(), phase);
        let target = Target {
            words: words(&mut arena),
            subject: NonNull::from(&mut arena),
            region: place,
        };
        let name = format!("StepArena, {phase:?}");
        let drive = |arena: &mut Nodes| model.clone().whole(arena);
        let leaves_out = |changes: &[Changed]| phase == Mark && is_marking(changes);
        let is_sound = |arena: &mut Nodes| arena.check().is_ok();
        attack(&name, &target, 211, is_sound, drive, leaves_out);
    }
}
