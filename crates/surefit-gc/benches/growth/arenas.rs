//! Arenas of Rust types.

use core::cell::Cell;
use core::hint::black_box;

use surefit_gc::{
    Arena, ArenaPhase, Gc, GcCell, Mutation, Rootable, StepArena, StepMutation, StepWeak, Trace,
    Tracer, WeakGc,
};
use surefit_testkit::growth::{Grows, Table};

use crate::scene::{OBJECTS, region};

const TYPES: (&str, [usize; 2]) = ("types", [2, 64]);
const FINALIZABLE: (&str, [usize; 2]) = ("weak references", [10, 10_000]);

type Link<'gc> = Option<Gc<'gc, Node<'gc>>>;
type List = Arena<'static, Rootable!['gc => Roots<'gc>]>;

#[derive(Trace)]
struct Node<'gc> {
    next: Cell<Link<'gc>>,
}

#[derive(Trace)]
struct Roots<'gc> {
    first: Cell<Link<'gc>>,
    weak: Cell<Option<WeakGc<'gc, Node<'gc>>>>,
}

fn node<'gc>(mc: &Mutation<'gc>, next: Link<'gc>) -> Gc<'gc, Node<'gc>> {
    let next = Cell::new(next);
    mc.alloc(Node { next }).expect("room")
}

/// A list, of which every eleventh node has died, and so many weak references to its first node,
/// which nothing leads to.
fn list_with(objects: usize, weak: usize) -> List {
    let mut arena = List::new(region(objects + 4 * weak), |_| {
        Ok(Roots {
            first: Cell::new(None),
            weak: Cell::new(None),
        })
    })
    .expect("large enough");
    arena.mutate(|mc, roots| {
        for nth in 0..objects {
            roots.first.set(Some(node(mc, roots.first.get())));
            if nth % 10 == 0 {
                node(mc, None);
            }
        }
        let first = roots.first.get().expect("there");
        roots.weak.set(mc.downgrade(first).ok());
    });
    arena.collect();
    arena.mutate(|mc, roots| {
        let first = roots.first.get().expect("there");
        for _ in 0..weak {
            black_box(mc.downgrade(first).is_ok());
        }
    });
    arena
}

fn list(objects: usize) -> List {
    list_with(objects, 0)
}

/// A type like the others, and not the same for the compiler.
struct Typed<const N: usize>;

// SAFETY: T1: it has no reference. T2: no `Drop`. T3: nothing is changed. T4: it has no lifetime.
unsafe impl<const N: usize> Trace for Typed<N> {
    const TRACED: bool = true;

    fn trace(&self, _tracer: &mut Tracer<'_>) {
        black_box(N);
    }
}

macro_rules! each {
    ($mc:ident, $($n:literal)*) => {
        [$(|$mc: &Mutation<'_>| black_box($mc.alloc(Typed::<$n>).is_ok()),)*]
    };
}

const ALLOCATES: [fn(&Mutation<'_>) -> bool; 64] = each!(mc,
    0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
    32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63);

/// An arena in which objects of so many types were allocated, and what allocates of eight of them.
struct Types {
    arena: List,
    allocates: [fn(&Mutation<'_>) -> bool; 8],
}

fn typed(types: usize) -> Types {
    let mut arena = list(1000);
    arena.mutate(|mc, _| assert!(ALLOCATES[..types].iter().all(|allocate| allocate(mc))));
    let allocates = core::array::from_fn(|nth| ALLOCATES[(types / 2 + nth) % types]);
    Types { arena, allocates }
}

pub(crate) fn whole(table: &mut Table) {
    table.heap("Arena");
    let mut constant = |name, call: fn(&mut List)| {
        table.row(name, OBJECTS, Grows::No, list, call);
    };
    constant("mutate, alloc", |arena| {
        arena.mutate(|mc, _| {
            black_box(node(mc, None));
        });
    });
    constant("mutate, alloc_array of 10", |arena| {
        arena.mutate(|mc, _| black_box(mc.alloc_array(10, |nth| nth).is_ok()));
    });
    constant("mutate, downgrade and upgrade", |arena| {
        arena.mutate(|mc, roots| {
            let weak = mc.downgrade(roots.first.get().expect("there"));
            black_box(weak.map(|weak| weak.upgrade().is_some()).ok());
        });
    });
    constant("mutate, alloc_str of 10", |arena| {
        arena.mutate(|mc, _| black_box(mc.alloc_str("ten bytes!").is_ok()));
    });
    constant("mutate, free_bytes and refused", |arena| {
        arena.mutate(|mc, _| black_box((mc.free_bytes(), mc.refused().is_some())));
    });
    constant("mutate_root, retry, alloc once each", |arena| {
        arena.mutate_root(|mc, _| {
            black_box(node(mc, None));
        });
        let retried = arena.retry(|mc, _| mc.alloc(Cell::new(7)).map(|_| ()));
        assert!(retried.is_ok());
    });
    constant("ensure, free bytes are enough", |arena| {
        assert!(arena.ensure(1000).is_ok());
    });
    constant("free_bytes", |arena| {
        black_box(arena.free_bytes());
    });
    constant("totals", |arena| {
        black_box(arena.totals());
    });
    growing(table);
}

fn growing(table: &mut Table) {
    let made = Grows::With("the mark bits, which are cleared");
    table.row("new", OBJECTS, made, region, |s| {
        List::new(core::mem::take(s), |_| {
            Ok(Roots {
                first: Cell::new(None),
                weak: Cell::new(None),
            })
        })
    });
    let types = Grows::With("the types, where one was not among the last");
    table.row("mutate, alloc of eight types", TYPES, types, typed, |s| {
        let allocates = s.allocates;
        s.arena
            .mutate(|mc, _| assert!(allocates.iter().all(|allocate| allocate(mc))));
    });
    let mut grows = |name, many, words, scene: fn(usize) -> List, call: fn(&mut List)| {
        table.row(name, many, Grows::With(words), scene, call);
    };
    let collects: fn(&mut List) = |arena| {
        black_box(arena.collect());
    };
    grows(
        "collect",
        OBJECTS,
        "what lives and the mark bits",
        list,
        collects,
    );
    grows(
        "ensure, it collects",
        OBJECTS,
        "as collect",
        list,
        |arena| {
            black_box(arena.ensure(arena.free_bytes() + 8).is_ok());
        },
    );
    grows("retry, it collects", OBJECTS, "as collect", list, |arena| {
        let none = arena.retry(|mc, _| mc.alloc_array(1 << 30, |_| 0_u8).map(|_| ()));
        assert!(none.is_err());
    });
    let finalizable = "the finalizable objects";
    grows(
        "collect",
        FINALIZABLE,
        finalizable,
        |n| list_with(1000, n),
        collects,
    );
    grows("usage", OBJECTS, "what the heap holds", list, |arena| {
        black_box(arena.usage());
    });
    grows("survey", OBJECTS, "what the heap holds", list, |arena| {
        arena.survey(|seen| {
            black_box(seen);
        });
    });
    grows(
        "check",
        OBJECTS,
        "the region and its objects",
        list,
        |arena| {
            arena.check().expect("sound");
        },
    );
}

type StepLink<'gc> = Option<Gc<'gc, StepNode<'gc>>>;
type StepList = StepArena<'static, Rootable!['gc => StepRoots<'gc>]>;

#[derive(Trace)]
struct StepNode<'gc> {
    next: GcCell<'gc, StepLink<'gc>>,
}

#[derive(Trace)]
struct StepRoots<'gc> {
    first: GcCell<'gc, StepLink<'gc>>,
    weak: GcCell<'gc, Option<StepWeak<'gc, StepNode<'gc>>>>,
}

fn step_node<'gc>(mc: &StepMutation<'gc>, next: StepLink<'gc>) -> Gc<'gc, StepNode<'gc>> {
    let next = GcCell::new(next);
    mc.alloc(StepNode { next }).expect("room")
}

/// As [`list`].
fn step_list(objects: usize) -> StepList {
    let mut arena = StepList::new(region(objects), |_| {
        Ok(StepRoots {
            first: GcCell::new(None),
            weak: GcCell::new(None),
        })
    })
    .expect("large enough");
    arena.mutate(|mc, roots| {
        for nth in 0..objects {
            roots.first.set(mc, Some(step_node(mc, roots.first.get())));
            if nth % 10 == 0 {
                step_node(mc, None);
            }
        }
        let first = roots.first.get().expect("there");
        roots.weak.set(mc, mc.downgrade(first).ok());
    });
    arena.collect();
    arena
}

/// A cycle has begun.
fn step_marking(objects: usize) -> StepList {
    let mut arena = step_list(objects);
    arena.start();
    arena.step(300);
    assert_eq!(arena.phase(), ArenaPhase::Mark);
    arena
}

/// All but the first node are dead, and the sweep has begun.
fn step_sweeping(objects: usize) -> StepList {
    let mut arena = step_list(objects);
    arena.mutate(|mc, roots| roots.first.get().expect("there").next.set(mc, None));
    arena.start();
    while arena.phase() != ArenaPhase::Sweep {
        arena.step(1);
    }
    arena
}

pub(crate) fn in_steps(table: &mut Table) {
    table.heap("StepArena");
    let allocates: fn(&mut StepList) = |arena| {
        arena.mutate(|mc, _| {
            black_box(step_node(mc, None));
        });
    };
    let sets: fn(&mut StepList) = |arena| {
        arena.mutate(|mc, roots| roots.first.get().expect("there").next.set(mc, None));
    };
    let steps: fn(&mut StepList) = |arena| {
        black_box(arena.step(40));
    };
    let mut constant = |name, scene: fn(usize) -> StepList, call: fn(&mut StepList)| {
        table.row(name, OBJECTS, Grows::No, scene, call);
    };
    constant("mutate, alloc, no cycle", step_list, allocates);
    constant("mutate, alloc, marking", step_marking, allocates);
    constant("mutate, alloc, sweeping", step_sweeping, allocates);
    constant("mutate, set, no cycle", step_list, sets);
    constant("mutate, set, marking", step_marking, sets);
    constant("mutate, upgrade, marking", step_marking, |arena| {
        arena.mutate(|mc, roots| {
            let weak = roots.weak.get().expect("there");
            black_box(weak.upgrade(mc).is_some());
        });
    });
    constant("mutate, replace and take, marking", step_marking, |arena| {
        arena.mutate(|mc, roots| {
            let next = &roots.first.get().expect("there").next;
            let old = next.replace(mc, None);
            black_box((next.get(), next.take(mc), GcCell::new(old).into_inner()));
        });
    });
    constant(
        "mutate, alloc_array and alloc_str of 10, marking",
        step_marking,
        |arena| {
            arena.mutate(|mc, _| {
                black_box((
                    mc.alloc_array(10, |nth| nth).is_ok(),
                    mc.alloc_str("ten bytes!").is_ok(),
                ));
            });
        },
    );
    constant("mutate, downgrade, marking", step_marking, |arena| {
        arena.mutate(|mc, roots| {
            black_box(mc.downgrade(roots.first.get().expect("there")).is_ok());
        });
    });
    constant("mutate_root, retry, alloc once each", step_list, |arena| {
        arena.mutate_root(|mc, _| {
            black_box(step_node(mc, None));
        });
        let retried = arena.retry(|mc, _| mc.alloc(7).map(|_| ()));
        assert!(retried.is_ok());
    });
    constant(
        "cycle, free_bytes, is_idle, most_excess, phase, steps",
        step_list,
        |arena| {
            black_box((arena.cycle(), arena.free_bytes(), arena.is_idle()));
            black_box((arena.most_excess(), arena.phase(), arena.steps()));
            arena.mutate(|mc, _| black_box((mc.phase(), mc.free_bytes(), mc.refused().is_some())));
        },
    );
    constant("start", step_list, |arena| {
        black_box(arena.start());
    });
    constant("step of 40, marking", step_marking, steps);
    constant("step of 40, sweeping", step_sweeping, steps);
    constant("ensure, free bytes are enough", step_list, |arena| {
        assert!(arena.ensure(1000).is_ok());
    });
    constant("totals", step_list, |arena| {
        black_box(arena.totals());
    });
    let all = Grows::With("what lives and the mark bits");
    table.row("ensure, it collects", OBJECTS, all, step_list, |arena| {
        black_box(arena.ensure(arena.free_bytes() + 8).is_ok());
    });
    table.row("finish, marking", OBJECTS, all, step_marking, |arena| {
        black_box(arena.finish());
    });
    let usage = Grows::With("what the heap holds");
    table.row("usage", OBJECTS, usage, step_list, |arena| {
        black_box(arena.usage());
    });
    table.row("collect", OBJECTS, all, step_list, |arena| {
        black_box(arena.collect());
    });
    let all = Grows::With("the region and its objects");
    table.row("check", OBJECTS, all, step_list, |arena| {
        arena.check().expect("sound");
    });
}
