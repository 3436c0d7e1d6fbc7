//! Unit tests that need access to private parts: colours bit by bit, and every invariant broken.

extern crate alloc;
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use core::mem::MaybeUninit;

use surefit_freelist::{Bitmap, Immediate, Segregated, Tree};
use surefit_testkit::Random;

use crate::bits::Bits;
use crate::client::{Client, Scanned};
use crate::collector::Collector;
use crate::edges::Edges;
use crate::free_list::FreeList;
use crate::marks::Marks;
use crate::object::Object;
use crate::settings::Settings;
use crate::space::Space;
use crate::stack::Stack;
use crate::tables;

pub(crate) mod flips;

type Lists<'m> = FreeList<'m, Segregated<Bitmap, Immediate, Tree, 16>>;

fn object(number: u32) -> Object {
    Object::of(number).expect("not 0")
}

/// All objects that a search finds, from left to right.
fn all(next: impl Fn(u32) -> Option<Object>) -> Vec<u32> {
    let numbers = core::iter::successors(next(0), |object| next(object.number() + 1));
    numbers.map(Object::number).collect()
}

/// Random colours of objects at random distances, beside a map.
#[test]
fn marks_are_a_map_from_objects_to_colours() {
    let mut random = Random(1);
    for distance in [1, 2, 5, 100] {
        let mut words = [0; 16];
        let mut marks = Marks::over(&mut words);
        let starts: Vec<u32> =
            core::iter::successors(Some(1), |at| Some(at + 2 + random.below(distance) as u32))
                .take_while(|&at| at < 1023)
                .collect();
        let mut grey = BTreeMap::new();
        for _ in 0..if cfg!(miri) { 20 } else { 400 } {
            let number = starts[random.below(starts.len())];
            match random.below(3) {
                0 => {
                    let was_white = !grey.contains_key(&number);
                    assert_eq!(marks.reach(object(number)), was_white);
                    grey.entry(number).or_insert(false);
                }
                1 if grey.contains_key(&number) => {
                    marks.make_grey(object(number));
                    grey.insert(number, true);
                }
                _ => {
                    marks.make_black(object(number));
                    grey.entry(number).and_modify(|grey| *grey = false);
                }
            }
            let grey_ones: Vec<u32> = grey
                .iter()
                .filter(|(_, grey)| **grey)
                .map(|(n, _)| *n)
                .collect();
            let found =
                core::iter::successors(marks.next_grey(0), |o| marks.next_grey(o.number() + 2));
            assert_eq!(found.map(Object::number).collect::<Vec<_>>(), grey_ones);
            assert_eq!(marks.contains(object(number)), grey.contains_key(&number));
        }
        grey.keys()
            .for_each(|&number| marks.make_black(object(number)));
        assert_eq!(
            all(|number| marks.next(number)),
            grey.into_keys().collect::<Vec<_>>()
        );
        assert_eq!(marks.next_grey(0), None);
        marks.clear();
        assert_eq!(marks.next(0), None);
    }
}

#[test]
fn numbers_beyond_the_bits_are_of_no_object() {
    let mut words = [u64::MAX; 2];
    let marks = Marks::over(&mut words);
    assert!(marks.contains(object(127)));
    assert!(!marks.contains(object(128)));
    assert!(!marks.contains(object(u32::MAX)));
    assert_eq!(marks.next(u32::MAX), None);
}

#[test]
fn a_stack_says_when_it_is_full_and_loses_nothing() {
    let mut entries = [0; 3];
    let mut stack = Stack::over(&mut entries);
    assert!(stack.push(object(u32::MAX), 7));
    assert!(stack.push(object(2), u32::MAX));
    assert!(stack.push(object(3), 0));
    assert!(!stack.push(object(4), 0));
    assert_eq!(stack.pop(), Some((object(3), 0)));
    assert_eq!(stack.pop(), Some((object(2), u32::MAX)));
    assert_eq!(stack.pop(), Some((object(u32::MAX), 7)));
    assert_eq!(stack.pop(), None);
    assert_eq!(stack.deepest(), 3);
}

#[test]
fn tables_are_cut_from_any_address_and_are_zero() {
    let mut bytes = [MaybeUninit::new(0xA5); 100];
    for start in 0..8 {
        let region = &mut bytes[start..];
        region.fill(MaybeUninit::new(0xA5));
        let length = region.len();
        let (table, rest) = tables::split(region, 5).expect("long enough");
        assert!((length - rest.len() - 40) < 8);
        let table = tables::zeroed(table);
        assert_eq!(table, [0; 5]);
        table.fill(u64::MAX);
        assert!(tables::split::<u64>(rest, 8).is_none());
        assert!(tables::split::<u64>(rest, usize::MAX).is_none());
    }
}

/// A client with given roots, whose objects have no references.
struct Roots(Vec<Object>);

impl<S: Space> Client<S> for Roots {
    fn roots(&mut self, edges: &mut Edges<'_>) {
        self.0.iter().for_each(|&root| edges.report(root));
    }

    fn scan(&mut self, _object: &Scanned<'_, S>, _from: u32, _edges: &mut Edges<'_>) {}
}

/// The checker objects to every changed live bit, and to two neighbouring mark bits.
#[test]
fn the_checker_objects_to_every_wrong_bit() {
    let mut region = vec![MaybeUninit::uninit(); 4096];
    let mut gc = Collector::<Lists<'_>>::new(&mut region, Settings::default()).expect("large");
    let mut roots = Roots(Vec::new());
    for bytes in (0..20).map(|nth| nth * 13 % 60) {
        let object = gc.alloc(&mut roots, bytes).expect("room");
        roots.0.extend((bytes % 3 == 0).then_some(object));
    }
    gc.collect(&mut roots);
    gc.alloc(&mut roots, 4).expect("room");
    assert_eq!(gc.check(), Ok(()));
    for number in 1..gc.space.places() {
        let flip = |live: &mut Bits<'_>| match live.get(number) {
            true => live.reset(number),
            false => live.set(number),
        };
        flip(&mut gc.live);
        assert_eq!(gc.check().expect_err("a wrong bit").invariant, "G2");
        flip(&mut gc.live);
        assert_eq!(gc.check(), Ok(()));
    }
    let last = object(gc.space.places() - 1);
    gc.marks.reach(last);
    gc.marks.make_grey(last);
    assert_eq!(gc.check().expect_err("a grey object").invariant, "G1");
}

#[test]
fn the_checker_objects_to_too_few_bits() {
    for which in 0..2 {
        let mut region = vec![MaybeUninit::uninit(); 4096];
        let mut few = [0; 1];
        let mut gc = Collector::<Lists<'_>>::new(&mut region, Settings::default()).expect("large");
        assert_eq!(gc.check(), Ok(()));
        match which {
            0 => gc.live = Bits::over(&mut few),
            _ => gc.marks = Marks::over(&mut few),
        }
        assert_eq!(gc.check().expect_err("too few").invariant, "G3");
    }
}

/// One bit more than places: the second bit of the last object may lie behind them.
#[test]
#[should_panic(expected = "too few bits")]
fn a_collector_needs_more_bits_than_places() {
    let mut region = vec![MaybeUninit::uninit(); 8 * 192 + 8];
    let start = region.as_ptr().align_offset(8);
    let space = Lists::new(&mut region[start..][..8 * 192], crate::Sweep::Walk).expect("large");
    assert_eq!(space.places(), 192);
    let (mut bits, mut stack) = ([0; 6], [0; 1]);
    let _ = Collector::over(space, &mut bits, &mut stack);
}

/// A client of the smallest objects, with three references each. It asks to be scanned again for
/// each of them, and late.
struct Triples(Object);

impl<S: Space> Client<S> for Triples {
    fn roots(&mut self, edges: &mut Edges<'_>) {
        edges.report(self.0);
    }

    fn scan(&mut self, object: &Scanned<'_, S>, from: u32, edges: &mut Edges<'_>) {
        let target = object.reference(from);
        target.into_iter().for_each(|target| edges.report(target));
        if from < 2 {
            edges.again_from(from + 1);
        }
    }
}

/// The second bit of an object that stays grey is a neighbour of the next object's first bit, but
/// is not that object's.
#[test]
fn a_small_grey_object_between_others_is_scanned_as_itself() {
    let settings = Settings {
        mark_stack: 1,
        ..Settings::default()
    };
    let mut region = vec![MaybeUninit::uninit(); 4096];
    let mut gc = Collector::<Lists<'_>>::new(&mut region, settings).expect("large");
    let mut nobody = Roots(Vec::new());
    let objects: Vec<Object> = (0..60)
        .map(|_| gc.alloc(&mut nobody, 12).expect("room"))
        .collect();
    // A list of the first thirty objects, each with a leaf that only a pass over the grey objects
    // finds.
    for nth in 0..30 {
        let next = objects.get(nth + 1).filter(|_| nth < 29);
        gc.store(objects[nth], 0, next.copied());
        gc.store(objects[nth], 1, Some(objects[nth + 30]));
    }
    let swept = gc.collect(&mut Triples(objects[0])).swept;
    assert_eq!((swept.live_objects, gc.check()), (60, Ok(())));
    assert!(gc.totals().rescans > 0);
}

/// A collection does not look at memory that the heap has not grown into: a bit that is set there
/// by force stays, and the checker tells it; all others are cleared.
#[test]
fn a_collection_leaves_the_bits_of_unused_numbers_alone() {
    let settings = Settings {
        limit: 2000,
        ..Settings::default()
    };
    let mut region = vec![MaybeUninit::uninit(); 1 << 16];
    let mut gc = Collector::<Lists<'_>>::new(&mut region, settings).expect("large");
    let mut roots = Roots(Vec::new());
    let large = gc.alloc(&mut roots, 5000).expect("room");
    roots.0.push(large);
    let unused = gc.space.unused();
    assert!(unused.len() > 4000 && large.number() == unused.end + 1);
    let (below, inside) = (unused.start - 1, unused.start + 1000);
    for number in [below, inside] {
        gc.marks.reach(object(number));
    }
    gc.collect(&mut roots);
    assert!(gc.contains(large) && !gc.contains(object(below)));
    assert_eq!(gc.check().map_err(|told| told.invariant), Err("G1"));
    assert!(gc.marks.contains(object(inside)) && !gc.marks.contains(object(below)));
    gc.marks.clear();
    assert_eq!(gc.check(), Ok(()), "no live bit is set there");
    while gc.alloc(&mut roots, 400).is_ok_and(|object| {
        roots.0.push(object);
        true
    }) {}
    assert!(gc.space.unused().len() < 60);
    gc.collect(&mut roots);
    assert_eq!(gc.check(), Ok(()));
}
