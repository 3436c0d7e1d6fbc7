//! Every invariant broken on purpose: the checker must say which.

extern crate alloc;
use alloc::boxed::Box;
use alloc::vec::Vec;

mod flips;

use super::{ArenaPhase, GcCell, StepArena, StepWeak};
use crate::{Gc, Rootable};

type Pair<'gc> = (
    GcCell<'gc, Option<Gc<'gc, u64>>>,
    GcCell<'gc, Option<StepWeak<'gc, u64>>>,
);
type Small<'m> = StepArena<'m, Rootable!['gc => Gc<'gc, Pair<'gc>>]>;

/// An arena in which a pair refers to a number and to its weak cell, with its phase reached.
fn small(region: &mut [core::mem::MaybeUninit<u8>], phase: ArenaPhase) -> Small<'_> {
    let mut arena = Small::new(region, |mc| {
        let number = mc.alloc(7)?;
        let weak = mc.downgrade(number)?;
        mc.alloc(GcCell::new(Some(number)))?;
        mc.alloc((GcCell::new(Some(number)), GcCell::new(Some(weak))))
    })
    .expect("room");
    if phase != ArenaPhase::Idle {
        arena.start();
    }
    while arena.phase() != phase {
        arena.step(1);
    }
    assert_eq!(arena.check(), Ok(()));
    arena
}

/// The invariant that the checker names after a change in a phase.
fn told(phase: ArenaPhase, change: impl FnOnce(&mut Small<'_>, &[u32])) -> &'static str {
    let mut region = Box::<[u8]>::new_uninit_slice(1 << 15);
    let mut arena = small(&mut region, phase);
    let heap = &arena.store.open().0.allocator.closed().0.heap;
    let numbers: Vec<u32> = heap.objects().collect();
    change(&mut arena, &numbers);
    arena.check().expect_err("it must object").invariant
}

#[test]
fn the_checker_objects_to_every_broken_invariant() {
    use ArenaPhase::{Drop, Idle, Mark, Sweep, Weak};
    let tables = |arena: &mut Small<'_>, change: fn(&mut super::tables::Tables<'_>, u32), at| {
        change(&mut arena.store.open().1, at);
    };
    for phase in [Idle, Mark, Weak, Drop, Sweep] {
        let lost = told(phase, |arena, of| {
            tables(arena, |it, at| it.live.reset(at), of[0])
        });
        let extra = told(phase, |arena, of| {
            tables(arena, |it, at| it.live.set(at + 1), of[0])
        });
        assert_eq!((lost, extra), ("A4", "A4"), "{phase:?}");
        let count = |arena: &mut Small<'_>, _: &[u32]| arena.store.state.live_objects += 1;
        assert_eq!(told(phase, count), "A4");
        let grey = told(phase, |arena, of| {
            tables(arena, |it, at| it.marks.set(at + 1), of[0])
        });
        let known = ["A5", "A6", "A7"];
        assert!(known.contains(&grey), "{phase:?}: {grey}");
    }
    let mark = |arena: &mut Small<'_>, of: &[u32]| tables(arena, |it, at| it.marks.set(at), of[0]);
    assert_eq!(told(Idle, mark), "A5");
    let stack = |arena: &mut Small<'_>, _: &[u32]| arena.store.state.pending.len = 1;
    assert_eq!(told(Sweep, stack), "A6");
    // In Mark, only the pair is marked, and on the stack.
    let unmark =
        |arena: &mut Small<'_>, of: &[u32]| tables(arena, |it, at| it.marks.reset(at), of[3]);
    assert_eq!(told(Mark, unmark), "A6");
    // After it, the number is marked: the pair and the weak cell refer to it.
    let unmark =
        |arena: &mut Small<'_>, of: &[u32]| tables(arena, |it, at| it.marks.reset(at), of[0]);
    for phase in [Weak, Drop, Sweep] {
        assert_eq!(told(phase, unmark), "A8", "{phase:?}");
    }
}

/// Numbers that lead beyond the tables, and lists that are exchanged: what lives would be dropped.
#[test]
fn the_checker_objects_to_places_beyond_the_tables_and_to_living_that_are_to_be_dropped() {
    use ArenaPhase::{Drop, Idle, Mark, Sweep, Weak};
    for wrong in [1025, usize::MAX] {
        let len = |arena: &mut Small<'_>, _: &[u32]| arena.store.state.pending.len = wrong;
        assert_eq!(told(Mark, len), "A6");
    }
    let pass = |arena: &mut Small<'_>, _: &[u32]| arena.store.state.pending.pass = Some(u32::MAX);
    assert_eq!(told(Mark, pass), "A7");
    let cursor = |arena: &mut Small<'_>, _: &[u32]| arena.store.state.cursor = u32::MAX;
    assert_eq!(told(Sweep, cursor), "A5");
    let lists = |arena: &mut Small<'_>| {
        let heads = arena.store.open().0.allocator.closed().2.heads_mut();
        heads[0].swap(heads[2]);
    };
    for phase in [Idle, Mark, Drop, Sweep] {
        assert_eq!(told(phase, |arena, _| lists(arena)), "A3", "{phase:?}");
    }
    let processed = |arena: &mut Small<'_>, _: &[u32]| {
        let heads = arena.store.open().0.allocator.closed().2.heads_mut();
        heads[0].swap(heads[1]);
    };
    assert_eq!(told(Idle, processed), "A3");
    let dying = |arena: &mut Small<'_>, _: &[u32]| {
        let heads = arena.store.open().0.allocator.closed().2.heads_mut();
        heads[1].swap(heads[2]);
    };
    assert_eq!(told(Weak, dying), "A3");
}
