//! Types of `core`, `alloc` and `std`, and derived types, keep what they hold and nothing else.
#![forbid(unsafe_code)]

use std::cell::{Cell, OnceCell, RefCell};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::num::Wrapping;
use std::rc::Rc;
use std::sync::Arc;

use surefit_gc::{Arena, Gc, Rootable, Trace};

/// A reference that can be a key: it is compared by the number that it leads to.
#[derive(Clone, Copy, Debug, Trace)]
struct Key<'gc>(Gc<'gc, u32>);

impl PartialEq for Key<'_> {
    fn eq(&self, other: &Self) -> bool {
        *self.0 == *other.0
    }
}

impl Eq for Key<'_> {}

impl PartialOrd for Key<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Key<'_> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.cmp(&other.0)
    }
}

impl std::hash::Hash for Key<'_> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

/// A value of this type, made from references to 1, 2 and 3 beside five objects of garbage, keeps
/// the expected number of objects: as the root, and inside an object.
macro_rules! keeps {
    ($count:literal, $gc:lifetime => $type:ty, |$a:ident, $b:ident, $c:ident| $value:expr) => {{
    type InRoot = Rootable![$gc => Option<$type>];
    type InObject = Rootable![$gc => Option<Gc<$gc, $type>>];
        let mut region = [MaybeUninit::uninit(); 16384];
        let mut arena = Arena::<InRoot>::new(&mut region, |_| Ok(None)).expect("room");
        arena.mutate_root(|mc, root| {
            let [$a, $b, $c, ..] =
                [1, 2, 3, 4, 5, 6, 7, 8].map(|n| Key(mc.alloc(n).expect("room")));
            *root = Some($value);
        });
        same(
            arena.collect().live_objects,
            $count,
            concat!("in the root: ", stringify!($type)),
        );
        arena.mutate_root(|_, root| *root = None);
        same(arena.collect().live_objects, 0, "no root");
        let mut region = [MaybeUninit::uninit(); 16384];
        let mut arena = Arena::<InObject>::new(&mut region, |_| Ok(None)).expect("room");
        arena.mutate_root(|mc, root| {
            let [$a, $b, $c, ..] =
                [1, 2, 3, 4, 5, 6, 7, 8].map(|n| Key(mc.alloc(n).expect("room")));
            *root = Some(mc.alloc($value).expect("room"));
        });
        same(
            arena.collect().live_objects,
            $count + 1,
            concat!("in an object: ", stringify!($type)),
        );
        arena.check().expect("sound");
        arena.mutate_root(|_, root| *root = None);
        same(arena.collect().live_objects, 0, "no root");
    }};
}

fn same(found: u64, expected: u64, what: &str) {
    assert_eq!(found, expected, "{what}");
}

#[test]
fn values_within_values_are_kept() {
    keeps!(0, 'gc => PhantomData<Key<'gc>>, |_a, _b, _c| PhantomData);
    keeps!(1, 'gc => Key<'gc>, |a, _b, _c| a);
    keeps!(1, 'gc => Option<Key<'gc>>, |a, _b, _c| Some(a));
    keeps!(0, 'gc => Option<Key<'gc>>, |_a, _b, _c| None);
    keeps!(1, 'gc => Result<Key<'gc>, u8>, |a, _b, _c| Ok(a));
    keeps!(1, 'gc => Result<u8, Key<'gc>>, |a, _b, _c| Err(a));
    keeps!(3, 'gc => [Key<'gc>; 3], |a, b, c| [a, b, c]);
    keeps!(1, 'gc => Reverse<Key<'gc>>, |a, _b, _c| Reverse(a));
    keeps!(1, 'gc => Wrapping<Key<'gc>>, |a, _b, _c| Wrapping(a));
    keeps!(1, 'gc => OnceCell<Key<'gc>>, |a, _b, _c| OnceCell::from(a));
    keeps!(1, 'gc => Cell<Key<'gc>>, |a, _b, _c| Cell::new(a));
    keeps!(2, 'gc => RefCell<(Key<'gc>, Key<'gc>)>, |a, b, _c| RefCell::new((a, b)));
}

#[test]
fn every_element_of_a_tuple_is_kept() {
    keeps!(1, 'gc => (Key<'gc>,), |a, _b, _c| (a,));
    keeps!(2, 'gc => (u8, Key<'gc>, Key<'gc>), |a, b, _c| (0, a, b));
    type Twelve<'gc> = (
        Key<'gc>,
        u8,
        u8,
        u8,
        u8,
        u8,
        Key<'gc>,
        u8,
        u8,
        u8,
        u8,
        Key<'gc>,
    );
    keeps!(3, 'gc => Twelve<'gc>, |a, b, c| (a, 0, 0, 0, 0, 0, b, 0, 0, 0, 0, c));
}

#[test]
fn values_behind_pointers_are_kept() {
    keeps!(1, 'gc => Box<Key<'gc>>, |a, _b, _c| Box::new(a));
    keeps!(3, 'gc => Box<[Key<'gc>]>, |a, b, c| Box::new([a, b, c]) as Box<[_]>);
    keeps!(3, 'gc => Vec<Key<'gc>>, |a, b, c| vec![a, b, c]);
    keeps!(3, 'gc => VecDeque<Key<'gc>>, |a, b, c| VecDeque::from([b, c, a]));
    keeps!(3, 'gc => LinkedList<Key<'gc>>, |a, b, c| LinkedList::from([b, c, a]));
    keeps!(3, 'gc => BinaryHeap<Key<'gc>>, |a, b, c| BinaryHeap::from([b, c, a]));
    keeps!(3, 'gc => BTreeSet<Key<'gc>>, |a, b, c| BTreeSet::from([b, c, a]));
    keeps!(3, 'gc => HashSet<Key<'gc>>, |a, b, c| HashSet::from([b, c, a]));
    keeps!(3, 'gc => BTreeMap<Key<'gc>, Option<Key<'gc>>>, |a, b, c| BTreeMap::from([(a, Some(b)), (c, None)]));
    keeps!(3, 'gc => HashMap<Key<'gc>, Option<Key<'gc>>>, |a, b, c| HashMap::from([(a, Some(b)), (c, None)]));
    keeps!(1, 'gc => BTreeMap<u8, Key<'gc>>, |a, _b, _c| BTreeMap::from([(1, a)]));
    keeps!(1, 'gc => HashMap<Key<'gc>, u8>, |a, _b, _c| HashMap::from([(a, 1)]));
}

#[test]
fn what_holds_no_reference_says_so() {
    fn traced<T: Trace + ?Sized>() -> bool {
        T::TRACED
    }
    assert!(
        !traced::<u8>()
            && !traced::<str>()
            && !traced::<String>()
            && !traced::<[Option<(f64, char)>; 3]>()
    );
    assert!(!traced::<Rc<[u8]>>() && !traced::<Arc<str>>() && !traced::<&'static [String]>());
    assert!(!traced::<Cell<Result<(), bool>>>() && !traced::<PhantomData<Gc<'_, u8>>>());
    assert!(
        traced::<Gc<'_, u8>>()
            && traced::<RefCell<Option<Gc<'_, u8>>>>()
            && traced::<(u8, Gc<'_, u8>)>()
    );
    assert!(!traced::<Point<u8>>() && traced::<Point<Gc<'_, u8>>>() && traced::<Shape<'_, u8>>());
    assert!(
        !traced::<Empty>()
            && !traced::<Never>()
            && !traced::<Opaque>()
            && !traced::<Named<Opaque>>()
    );
    assert!(
        traced::<List>(),
        "it may contain itself, so its constant is that of what it is in"
    );
}

#[derive(Trace)]
struct Point<T> {
    x: T,
    y: T,
}

#[derive(Trace)]
enum Shape<'gc, T>
where
    T: Copy,
{
    Nothing,
    Dot(Point<T>),
    Line {
        from: Gc<'gc, Point<Gc<'gc, T>>>,
        to: Box<Shape<'gc, T>>,
    },
    Other(#[trace(skip)] std::time::Instant, Gc<'gc, T>),
}

#[derive(Trace)]
struct Empty;

#[derive(Trace)]
enum Never {}

/// Its fields are not `Trace`; it is dropped all the same.
#[derive(Trace)]
#[trace(skip)]
struct Opaque(#[expect(dead_code, reason = "it is there to be dropped")] Arc<std::sync::Mutex<u8>>);

impl Drop for Opaque {
    fn drop(&mut self) {}
}

/// Has no parameters, so it may implement `Drop`, although its fields are visited.
#[derive(Trace)]
struct Counted(Rc<Cell<u32>>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

#[derive(Trace)]
struct Named<T: 'static> {
    #[trace(skip)]
    name: PhantomData<T>,
}

#[derive(Trace)]
struct List(Option<Box<List>>);

#[derive(Trace)]
struct Unsized<T: ?Sized> {
    _count: u8,
    rest: T,
}

#[derive(Trace)]
struct Bytes<'gc, const N: usize>([Option<Gc<'gc, u32>>; N]);

#[derive(Trace)]
#[trace(crate = elsewhere::gc)]
struct Elsewhere<'gc>(Gc<'gc, u32>);

mod elsewhere {
    pub(crate) use surefit_gc as gc;
}

#[test]
fn every_field_of_every_variant_is_kept() {
    keeps!(2, 'gc => Point<Key<'gc>>, |a, b, _c| Point { x: a, y: b });
    keeps!(0, 'gc => Shape<'gc, u32>, |_a, _b, _c| Shape::Nothing);
    keeps!(2, 'gc => Shape<'gc, Key<'gc>>, |a, b, _c| Shape::Dot(Point { x: a, y: b }));
    keeps!(1, 'gc => Shape<'gc, u32>, |a, _b, _c| Shape::Other(std::time::Instant::now(), a.0));
    keeps!(1, 'gc => Box<Unsized<[Key<'gc>]>>, |a, _b, _c| Box::new(Unsized { _count: 1, rest: [a] }) as Box<Unsized<[_]>>);
    keeps!(2, 'gc => Bytes<'gc, 3>, |a, b, _c| Bytes([Some(a.0), None, Some(b.0)]));
    keeps!(1, 'gc => Elsewhere<'gc>, |a, _b, _c| Elsewhere(a.0));
    let mut region = [MaybeUninit::uninit(); 16384];
    let mut arena =
        Arena::<Rootable!['gc => Option<Shape<'gc, u32>>]>::new(&mut region, |_| Ok(None))
            .expect("room");
    arena.mutate_root(|mc, root| {
        let [x, y] = [1, 2].map(|n| mc.alloc(n).expect("room"));
        let from = mc.alloc(Point { x, y }).expect("room");
        let dot = Point { x: 3, y: 4 };
        *root = Some(Shape::Line {
            from,
            to: Box::new(Shape::Dot(dot)),
        });
    });
    assert_eq!(arena.collect().live_objects, 3);
}

#[test]
fn what_has_no_parameters_is_dropped_once_it_is_dead() {
    let dropped = Rc::new(Cell::new(0));
    let mut region = [MaybeUninit::uninit(); 16384];
    let mut arena =
        Arena::<Rootable!['gc => Option<Gc<'gc, Counted>>]>::new(&mut region, |_| Ok(None))
            .expect("room");
    for _ in 0..3 {
        arena.mutate_root(|mc, root| {
            *root = Some(mc.alloc(Counted(dropped.clone())).expect("room"))
        });
    }
    arena.collect();
    assert_eq!(dropped.get(), 2);
    drop(arena);
    assert_eq!((dropped.get(), Rc::strong_count(&dropped)), (3, 1));
}
