//! Hostile mutations of arenas in steps: every phase is met by every kind of change, with drops and
//! closures that unwind, with no room, and with values that are too large for one piece of work.

use super::*;
use surefit_gc::{
    Arena, ArenaPhase, Full, Gc, GcArray, GcCell, GcStr, Limits, Rootable, StepArena, StepMutation,
    StepWeak, Trace,
};

#[derive(Trace)]
struct Node<'gc> {
    next: GcCell<'gc, Option<Gc<'gc, Node<'gc>>>>,
    weak: GcCell<'gc, Option<StepWeak<'gc, Node<'gc>>>>,
    number: u64,
    #[trace(skip)]
    _loud: Option<Loud>,
}

impl<'gc> Node<'gc> {
    fn new(number: u64, next: Option<Gc<'gc, Node<'gc>>>) -> Self {
        Self {
            next: GcCell::new(next),
            weak: GcCell::default(),
            number,
            _loud: None,
        }
    }
}

std::thread_local! {
    static DROPS: Cell<u32> = const { Cell::new(0) };
    static UNWINDS: Cell<u32> = const { Cell::new(u32::MAX) };
}

/// Unwinds at every so manieth drop, and makes and collects an arena of its own in every one.
struct Loud;

impl Drop for Loud {
    fn drop(&mut self) {
        let mut region = JunkRegion::new(1 << 14, 8, 3);
        let arena = Chain::<TwoLevel>::new(region.memory(), |mc| {
            Ok(Cell::new(mc.alloc(Node::new(0, None)).ok()))
        });
        arena.expect("large enough").collect();
        DROPS.set(DROPS.get() + 1);
        assert!(DROPS.get() % UNWINDS.get() != 0, "the drop unwinds");
    }
}

/// The root changes without a barrier: it may.
type Chain<'m, I = Lists> = StepArena<'m, Rootable!['gc => Cell<Option<Gc<'gc, Node<'gc>>>>], I>;

const PHASES: [ArenaPhase; 6] = [
    ArenaPhase::Idle,
    ArenaPhase::Mark,
    ArenaPhase::Weak,
    ArenaPhase::Drop,
    ArenaPhase::Sweep,
    ArenaPhase::Merge,
];

/// A chain of so many nodes; each names the next but one weakly.
fn chain(region: &mut JunkRegion, length: u64) -> Chain<'_> {
    let mut arena = Chain::new(region.memory(), |_| Ok(Cell::new(None))).expect("room");
    arena.mutate(|mc, root| {
        for number in 0..length {
            let node = mc.alloc(Node::new(number, root.get())).expect("room");
            let far = root.get().and_then(|next| next.next.get());
            let weak = far.map(|far| mc.downgrade(far).expect("room"));
            assert!(node.weak.replace(mc, weak).is_none());
            root.set(Some(node));
        }
    });
    arena
}

fn numbers(arena: &mut Chain<'_>) -> Vec<u64> {
    arena.mutate(|_, root| {
        let nodes = std::iter::successors(root.get(), |node| node.next.get());
        nodes.map(|node| node.number).collect()
    })
}

/// Goes on until a phase is reached, and so many units more, at most to its end.
fn advance(arena: &mut Chain<'_>, phase: ArenaPhase, units: u64) -> bool {
    if phase == ArenaPhase::Idle {
        arena.finish();
        return units == 0;
    }
    if arena.is_idle() {
        arena.start();
    }
    while !arena.is_idle() && arena.phase() != phase {
        arena.step(1);
    }
    for _ in 0..units {
        if arena.phase() == phase {
            arena.step(1);
        }
    }
    arena.phase() == phase
}

/// In every phase, after every number of units: the rest of the chain is moved behind a new node,
/// its only other reference removed. Neither is freed.
#[test]
fn what_moves_behind_a_new_object_is_kept_in_every_phase() {
    for phase in PHASES {
        for units in 0..60 {
            let mut region = JunkRegion::new(1 << 14, 8, units);
            let mut arena = chain(&mut region, 12);
            if !advance(&mut arena, phase, units) {
                break;
            }
            arena.mutate(|mc, root| {
                assert_eq!(mc.phase(), phase);
                let first = root.get().expect("a chain");
                let rest = first.next.take(mc);
                let weak = rest.and_then(|rest| rest.next.get());
                let weak = mc.downgrade(weak.expect("long")).expect("room");
                assert!(weak.upgrade(mc).is_some());
                let node = mc.alloc(Node::new(100, rest)).expect("room");
                node.weak.set(mc, Some(weak));
                root.set(Some(node));
            });
            assert_eq!(arena.check(), Ok(()), "{phase:?} {units}");
            let mut expected = vec![100];
            expected.extend((0..11).rev());
            for budget in 0..100 {
                arena.step(budget % 3);
                assert_eq!(arena.check(), Ok(()), "{phase:?} {units}");
                assert_eq!(numbers(&mut arena), expected, "{phase:?} {units}");
            }
            arena.collect();
            assert_eq!(numbers(&mut arena), expected, "{phase:?} {units}");
            // 12 nodes; weak cells of those that are far enough from the end.
            assert_eq!(arena.cycle().live_objects, 12 + 10, "{phase:?} {units}");
        }
    }
}

/// In every phase, what only a weak reference leads to: back to the root if it is not known to be
/// dead, and then all of it; else it is told so at once, before its cell is cleared.
#[test]
fn weak_references_tell_the_truth_in_every_phase() {
    let mut late = 0;
    for phase in PHASES {
        for units in 0..60 {
            let mut region = JunkRegion::new(1 << 14, 8, units);
            let mut arena = chain(&mut region, 12);
            // Only the weak reference of the first node leads to the rest.
            arena.mutate(|mc, root| root.get().expect("a chain").next.set(mc, None));
            if !advance(&mut arena, phase, units) {
                break;
            }
            let upgraded = arena.mutate(|mc, root| {
                let first = root.get().expect("kept");
                let weak = first.weak.get();
                let target = weak.and_then(|weak| weak.upgrade(mc));
                late += u32::from(mc.phase() == ArenaPhase::Weak && target.is_none());
                first.next.set(mc, target);
                target.is_some()
            });
            let is_early = matches!(phase, ArenaPhase::Idle | ArenaPhase::Mark);
            assert_eq!(upgraded, is_early, "{phase:?} {units}");
            let expected: Vec<u64> = match upgraded {
                true => std::iter::once(11).chain((0..10).rev()).collect(),
                false => vec![11],
            };
            while !arena.is_idle() {
                arena.step(1);
                assert_eq!(arena.check(), Ok(()), "{phase:?} {units}");
                assert_eq!(numbers(&mut arena), expected, "{phase:?} {units}");
            }
            arena.collect();
            assert_eq!(numbers(&mut arena), expected);
        }
    }
    assert!(late > 5, "{late}");
}

/// What was dead when a cycle started is freed by its end; what died since, or was born since, by
/// the end of the next one.
#[test]
fn the_dead_of_a_snapshot_are_freed_by_the_end_of_its_cycle() {
    let mut region = JunkRegion::new(1 << 14, 8, 1);
    let mut arena = chain(&mut region, 12);
    arena.mutate(|_, root| root.set(root.get().and_then(|first| first.next.get())));
    arena.start();
    arena.mutate(|mc, root| {
        root.set(root.get().and_then(|first| first.next.get()));
        mc.alloc(Node::new(7, None)).map(drop).expect("room");
    });
    assert!(arena.start().work == 0, "it runs");
    arena.finish();
    let (nodes, weak_cells) = (12, 10);
    assert_eq!(arena.cycle().freed_objects, 2, "a node and its weak cell");
    assert_eq!(arena.cycle().live_objects, nodes + weak_cells - 2 + 1);
    arena.start();
    arena.finish();
    assert_eq!(
        arena.cycle().freed_objects,
        3,
        "another one, and the newborn"
    );
    assert_eq!((arena.steps().cycles, arena.totals().collections), (2, 2));
    assert_eq!(arena.step(5), arena.finish(), "nothing to do");
}

/// Values whose drops unwind are dropped once, whatever phase an arena ends in.
#[test]
fn drops_may_collect_and_unwind_in_steps_and_each_runs_once() {
    for (nth, phase) in PHASES.into_iter().enumerate() {
        let mut region = JunkRegion::new(1 << 15, 8, 1);
        let mut arena = chain(&mut region, 3);
        DROPS.set(0);
        UNWINDS.set(3);
        let (mut made, mut unwound) = (0, 0);
        for round in 0..30 {
            arena.mutate(|mc, root| {
                for number in 0..round % 7 {
                    let mut node = Node::new(number, root.take().filter(|_| round % 3 != 0));
                    node._loud = Some(Loud);
                    root.set(Some(mc.alloc(node).expect("room")));
                    made += 1;
                }
            });
            if arena.is_idle() {
                arena.start();
            }
            for _ in 0..10 {
                let step = catch_unwind(AssertUnwindSafe(|| arena.step(3)));
                unwound += u32::from(step.is_err());
                assert_eq!(arena.check(), Ok(()), "round {round}");
            }
        }
        assert!(unwound > 5, "{unwound}");
        UNWINDS.set(u32::MAX);
        advance(&mut arena, phase, nth as u64 % 3);
        assert_eq!(arena.check(), Ok(()));
        drop(arena);
        assert_eq!(DROPS.get(), made, "{phase:?}");
    }
}

type Arrays<'m, I = TwoLevel> = StepArena<
    'm,
    Rootable!['gc => Cell<Option<GcArray<'gc, GcCell<'gc, Option<Gc<'gc, u64>>>>>>],
    I,
>;

/// A long array is traced in parts, and changed between them.
#[test]
fn long_arrays_are_traced_in_parts_and_no_step_is_too_long() {
    let mut region = JunkRegion::new(1 << 17, 64, 1);
    let limits = Limits {
        mark_stack: 1,
        ..Limits::default()
    };
    let mut arena = Arrays::<TwoLevel>::with_limits(region.memory(), limits, |mc| {
        let made = mc.alloc_array(1000, |nth| GcCell::new(mc.alloc(nth as u64).ok()));
        made.map(|array| Cell::new(Some(array)))
    })
    .expect("room");
    for round in 0..20 {
        arena.start();
        let mut steps = 0;
        while !arena.is_idle() {
            let step = arena.step(1);
            assert!(step.work < 1 + arena.most_excess());
            arena.mutate(|mc, root| {
                let array = root.get().expect("kept");
                let (one, other) = (&array[steps * 37 % 1000], &array[(steps * 91 + 7) % 1000]);
                let (first, second) = (one.take(mc), other.take(mc));
                one.set(mc, second);
                other.set(mc, first);
            });
            steps += 1;
        }
        assert!(steps > 1000 / 64, "{steps}");
        assert_eq!(arena.check(), Ok(()), "round {round}");
        let sum: u64 = arena.mutate(|_, root| {
            let elements = root.get().expect("kept").as_slice().iter();
            elements.filter_map(|it| it.get().map(|it| *it)).sum()
        });
        assert_eq!(sum, 999 * 500, "only swapped");
    }
    assert_eq!(arena.steps().overruns, 0);
    type Wide<'m> = StepArena<'m, Rootable!['gc => Option<Gc<'gc, Vec<Gc<'gc, usize>>>>]>;
    let mut region = JunkRegion::new(1 << 15, 64, 1);
    let mut arena = Wide::new(region.memory(), |mc| {
        let all = (0..65_usize).map(|nth| mc.alloc(nth));
        Ok(Some(mc.alloc(all.collect::<Result<_, _>>()?)?))
    })
    .expect("room");
    arena.collect();
    assert_eq!(
        arena.steps().overruns,
        1,
        "a piece that is too large counts"
    );
}

/// With no room, the cycle that runs is finished, then a whole one is run, then the heap grows.
#[test]
fn no_room_in_any_phase_is_found_or_told() {
    for phase in PHASES {
        let mut region = JunkRegion::new(1 << 15, 8, 1);
        let limits = Limits {
            heap: 4096,
            ..Limits::default()
        };
        let arena = Chain::<Lists>::with_limits(region.memory(), limits, |_| Ok(Cell::new(None)));
        let mut arena = arena.expect("large enough");
        advance(&mut arena, phase, 0);
        let running = u64::from(phase != ArenaPhase::Idle);
        // Garbage fills the heap.
        let made = arena
            .mutate(|mc, _| (0..1000).find(|&number| mc.alloc(Node::new(number, None)).is_err()));
        assert!(made.is_some_and(|made| made > 10), "{made:?}");
        assert_eq!(arena.ensure(4000), Ok(()), "{phase:?}");
        let steps = *arena.steps();
        assert_eq!(
            (steps.forced, steps.whole >= running),
            (running, true),
            "{phase:?}"
        );
        assert_eq!(arena.ensure(20_000), Ok(()), "{phase:?}: it grows");
        assert!(arena.ensure(usize::MAX).is_err());
        advance(&mut arena, phase, 0);
        let mut runs = 0;
        let kept = arena.retry(|mc, root| {
            runs += 1;
            for number in 0.. {
                root.set(Some(mc.alloc(Node::new(number, root.get()))?));
            }
            Ok(())
        });
        assert!(kept.is_err() && runs < 50, "{runs}");
        assert_eq!(arena.steps().forced, 2 * running, "{phase:?}");
        assert_eq!(arena.check(), Ok(()), "{phase:?}");
        arena.mutate(|_, root| root.set(None));
        assert_eq!(
            arena.retry(|mc, _| mc.alloc(Node::new(1, None)).map(drop)),
            Ok(())
        );
        arena.collect();
        assert_eq!(arena.cycle().live_objects, 0);
        assert_eq!(arena.usage().total(), 1 << 15);
    }
}

/// Elements that allocate and unwind, in every phase: what was begun is no object that stays.
#[test]
fn mutations_may_unwind_in_every_phase() {
    for phase in PHASES {
        let mut region = JunkRegion::new(1 << 15, 8, 1);
        let mut arena = chain(&mut region, 12);
        advance(&mut arena, phase, 1);
        let unwound = catch_unwind(AssertUnwindSafe(|| {
            arena.mutate_root(|mc, root| {
                let before = root.take();
                root.set(mc.alloc(Node::new(5, before)).ok());
                let made = mc.alloc_array(9, |element| {
                    assert!(element != 4, "unwinds");
                    // Re-entered: an array is made while another is.
                    mc.alloc_array(element, |_| 7).expect("room")
                });
                made.map(drop)
            })
        }));
        assert!(unwound.is_err());
        assert_eq!(arena.check(), Ok(()), "{phase:?}");
        assert_eq!(numbers(&mut arena).len(), 13);
        arena.collect();
        assert_eq!(arena.cycle().live_objects, 13 + 10, "{phase:?}");
        assert_eq!(arena.check(), Ok(()), "{phase:?}");
    }
}

/// An index unwinds while an arena asks it for room, in a step or in a mutation.
#[test]
fn an_index_may_unwind_under_an_arena_in_steps() {
    let mut unwound = 0;
    for asked in 0..60 {
        let mut region = JunkRegion::new(1 << 15, 8, asked);
        ASKED.set(u32::MAX);
        let arena = Chain::<SingleList<Unwinds>>::new(region.memory(), |_| Ok(Cell::new(None)));
        let mut arena = arena.expect("large enough");
        ASKED.set(asked as u32);
        for number in 0..80 {
            let part = || {
                arena.mutate(|mc, root| {
                    let long = mc.alloc_array(number as usize * 7 % 150, |_| number)?;
                    assert!(long.iter().all(|&element| element == number));
                    let keeps = number % 3 == 0;
                    let node = mc.alloc(Node::new(number, root.get().filter(|_| !keeps)))?;
                    root.set(Some(node));
                    Ok::<_, Full>(())
                })
            };
            unwound += u32::from(catch_unwind(AssertUnwindSafe(part)).is_err());
            let step = || {
                if arena.is_idle() {
                    arena.start();
                }
                arena.step(9);
            };
            unwound += u32::from(catch_unwind(AssertUnwindSafe(step)).is_err());
        }
        ASKED.set(u32::MAX);
        assert_eq!(arena.check(), Ok(()), "asked {asked} times");
        arena.collect();
        assert_eq!(arena.check(), Ok(()), "asked {asked} times");
    }
    assert!(unwound > 5, "{unwound}");
}

#[test]
fn regions_of_any_length_make_an_arena_in_steps_or_say_what_would() {
    regions(|region| {
        let limits = Limits {
            mark_stack: 3,
            kinds: 3,
            heap: 64,
        };
        match Arrays::<TwoLevel>::with_limits(region, limits, |_| Ok(Cell::new(None))) {
            Ok(mut arena) => {
                while arena.retry(|mc, _| mc.alloc(7_u64).map(drop)).is_err() {}
                assert_eq!(arena.check(), Ok(()));
                None
            }
            Err(Refused::Region { needed }) => Some(needed),
            Err(other) => panic!("{other}"),
        }
    });
}

type Texts<'m> = StepArena<'m, Rootable!['gc => Vec<(GcStr<'gc>, Gc<'gc, u32>)>]>;

/// What a mutation asks besides: strings, room, why there was none, cells of its own.
#[test]
fn strings_and_cells_of_variables_are_served_in_every_phase() {
    let mut region = JunkRegion::new(1 << 15, 8, 1);
    let mut arena = Texts::new(region.memory(), |_| Ok(Vec::new())).expect("large enough");
    let long = "ü".repeat(700);
    let text = |mc: &StepMutation<'_>, text: &str| {
        let string = mc.alloc_str(text).expect("room");
        assert_eq!(string.as_str(), text);
        mc.free_bytes()
    };
    for round in 0..200_u32 {
        if arena.is_idle() {
            arena.start();
        }
        arena.step(2);
        arena.mutate_root(|mc, root| {
            let before = std::mem::take(root);
            assert!(text(mc, "") < 1 << 15);
            root.push((
                mc.alloc_str(&long).expect("room"),
                mc.alloc(round).expect("room"),
            ));
            root.extend(before.into_iter().take(1));
            let cell = GcCell::new(root.first().map(|first| first.1));
            assert_eq!(cell.get().map(|number| *number), Some(round));
            cell.set(mc, root.last().map(|last| last.1));
            assert_eq!(
                cell.into_inner().map(|number| *number),
                Some(round.saturating_sub(1))
            );
            assert_eq!(mc.refused(), None);
        });
        assert_eq!(arena.check(), Ok(()), "round {round}");
        if arena.free_bytes() < 8000 {
            arena.collect();
        }
    }
    let refused = arena.mutate(|mc, _| (mc.alloc_array(1 << 20, |_| 0_u8).is_err(), mc.refused()));
    assert!(matches!(refused, (true, Some(_))), "{refused:?}");
    // The other arena is as it was.
    let mut region = JunkRegion::new(1 << 14, 8, 1);
    assert!(Arena::<Rootable!['gc => ()]>::new(region.memory(), |_| Ok(())).is_ok());
}
