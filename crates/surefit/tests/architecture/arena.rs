//! One object of a Rust program, from `alloc` to its end.

use core::cell::Cell;
use core::mem::MaybeUninit;
use std::cell::RefCell;
use std::rc::Rc;

use surefit::Refused;
use surefit::gc::{Arena, Full, Gc, Limits, Mutation, Rootable, Seen, Trace, WeakGc};

use crate::steps::Walk;

type Slot<'gc> = Cell<Option<Gc<'gc, Node<'gc>>>>;

/// A node of two references.
#[derive(Trace)]
struct Node<'gc> {
    left: Slot<'gc>,
    right: Slot<'gc>,
}

/// What a mortal's end is written to.
type Ends = Rc<RefCell<Vec<u32>>>;

/// A value that is dropped.
#[derive(Trace)]
struct Mortal {
    number: u32,
    ends: Ends,
}

impl Drop for Mortal {
    fn drop(&mut self) {
        self.ends.borrow_mut().push(self.number);
        assert!(self.number != 2, "the second unwinds");
    }
}

#[derive(Trace, Default)]
struct Roots<'gc> {
    node: Slot<'gc>,
    mortal: Cell<Option<Gc<'gc, Mortal>>>,
    weak: Cell<Option<WeakGc<'gc, Mortal>>>,
}

type Held = Rootable!['gc => Roots<'gc>];

fn node<'gc>(mc: &'gc Mutation<'gc>) -> Result<Gc<'gc, Node<'gc>>, Full> {
    mc.alloc(Node {
        left: Cell::new(None),
        right: Cell::new(None),
    })
}

/// The number, the type and the bytes of all objects.
fn objects(arena: &mut Arena<'_, Held>) -> Vec<(u32, u32, u32)> {
    let mut objects = Vec::new();
    arena.survey(|seen| {
        if let Seen::Object {
            number,
            kind,
            bytes,
        } = seen
        {
            objects.push((number, kind, bytes));
        }
    });
    objects
}

#[test]
fn one_object_of_a_rust_program() {
    let mut walk = Walk::of("One object of a Rust program");
    let mut region = [MaybeUninit::uninit(); 1 << 14];
    let limits = Limits {
        kinds: 3,
        ..Limits::default()
    };
    let made = Arena::<Held>::with_limits(&mut region, limits, |_| Ok(Roots::default()));
    let mut arena = made.expect("the region is large enough");

    walk.step("Number the type");
    arena.mutate(|mc, root| {
        root.node.set(node(mc).ok());
        assert!(mc.alloc(7_u32).is_ok() && mc.alloc(8_u32).is_ok() && node(mc).is_ok());
        mc.alloc(9_u64).expect("a third type");
        mc.alloc('a').expect_err("the table has room for three");
        assert_eq!(mc.refused(), Some(Refused::NoKind));
    });
    let kinds: Vec<_> = objects(&mut arena)
        .iter()
        .map(|&(_, kind, _)| kind)
        .collect();
    assert_eq!(kinds, [kinds[0], kinds[1], kinds[1], kinds[0], kinds[4]]);
    assert!(kinds[0] != kinds[1] && kinds[4] != kinds[0] && kinds[4] != kinds[1]);

    walk.step("Cut from the bump chunk");
    assert_eq!(Gc::<Node<'_>>::BYTES, 24);
    cutting_from_the_bump_chunk();

    walk.step("Brand the reference");
    let taken = arena.mutate(|_, root| {
        root.node
            .get()
            .map(Gc::as_ptr)
            .map(core::ptr::NonNull::addr)
    });
    arena.collect();
    let now = arena.mutate(|_, root| root.node.get().map(|node| node.as_ptr().addr()));
    assert_eq!(
        (taken, objects(&mut arena).len()),
        (now, 1),
        "only what the root leads to"
    );

    walk.step("Trace the root");
    tracing();
    walk.step("Process the finalizable objects");
    processing();

    walk.step("Sweep from mark to mark");
    arena.mutate(|mc, root| {
        let nodes: Vec<_> = (0..100).map(|_| node(mc).expect("room")).collect();
        root.node.set(Some(nodes[50]));
    });
    let visited = arena.totals().visited;
    let swept = arena.collect();
    assert_eq!((swept.live_objects, swept.freed_objects), (1, 100));
    assert_eq!(swept.free_bytes, arena.free_bytes());
    assert!(
        arena.totals().visited - visited < 10,
        "dead objects are not read"
    );
    arena.check().expect("every invariant");
}

/// Objects follow each other in a bump chunk, until it is too short and another one is opened.
fn cutting_from_the_bump_chunk() {
    let mut region = [MaybeUninit::uninit(); 1 << 14];
    let made = Arena::<Held>::new(&mut region, |_| Ok(Roots::default()));
    let mut arena = made.expect("the region is large enough");
    let at = |node: Gc<'_, Node<'_>>| node.as_ptr().addr().get();
    arena.mutate(|mc, root| {
        let free = mc.free_bytes();
        let nodes: Vec<_> = (0..20).map(|_| node(mc).expect("room")).collect();
        assert!(
            nodes.windows(2).all(|pair| at(pair[1]) - at(pair[0]) == 24),
            "one bump chunk"
        );
        assert_eq!(free - mc.free_bytes(), 20 * 24);
        // The tenth and the last live on: gaps of nine nodes before each.
        root.node.set(Some(nodes[9]));
        nodes[9].left.set(Some(nodes[19]));
    });
    arena.collect();
    arena.mutate(|mc, root| {
        let kept = root.node.get().expect("kept");
        let last = kept.left.get().expect("kept");
        let nodes: Vec<_> = (0..30).map(|_| node(mc).expect("room")).collect();
        let is_between = |from: usize, to: usize| {
            nodes
                .iter()
                .filter(|&&node| (from..to).contains(&at(node)))
                .count()
        };
        assert_eq!(
            is_between(at(kept) - 9 * 24, at(kept)),
            9,
            "a bump chunk in the first gap"
        );
        assert_eq!(is_between(at(kept), at(last)), 9, "and one in the second");
        assert_eq!(is_between(at(last), usize::MAX), 12, "and one in the rest");
    });
}

fn tracing() {
    let mut region = [MaybeUninit::uninit(); 1 << 14];
    let made = Arena::<Held>::new(&mut region, |_| Ok(Roots::default()));
    let mut arena = made.expect("the region is large enough");
    arena.mutate(|mc, root| {
        let (first, second) = (node(mc).expect("room"), node(mc).expect("room"));
        first.left.set(Some(second));
        second.right.set(Some(first));
        root.node.set(Some(first));
        let ends = Ends::default();
        let number = 1;
        root.mortal.set(mc.alloc(Mortal { number, ends }).ok());
    });
    assert_eq!(arena.collect().live_objects, 3);
    assert_eq!(
        arena.totals().deepest,
        1,
        "a value without references is not put onto the stack"
    );
}

fn processing() {
    let ends = Ends::default();
    let mut region = [MaybeUninit::uninit(); 1 << 14];
    let made = Arena::<Held>::new(&mut region, |_| Ok(Roots::default()));
    let mut arena = made.expect("the region is large enough");
    arena.mutate(|mc, root| {
        for number in [1, 2, 3] {
            let ends = Rc::clone(&ends);
            let mortal = mc.alloc(Mortal { number, ends }).expect("room");
            root.weak.set(mc.downgrade(mortal).ok());
        }
    });
    assert!(arena.mutate(|_, root| root.weak.get().and_then(WeakGc::upgrade).is_some()));
    let collect = std::panic::AssertUnwindSafe(|| arena.collect());
    assert!(std::panic::catch_unwind(collect).is_err(), "a drop unwinds");
    assert!(
        arena.mutate(|_, root| root.weak.get().and_then(WeakGc::upgrade).is_none()),
        "cleared"
    );
    arena.collect();
    let mut ended = ends.borrow().clone();
    ended.sort_unstable();
    assert_eq!(ended, [1, 2, 3], "each once");
}
