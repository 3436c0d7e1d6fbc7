//! Unit tests that need access to private parts: numbers of kinds, and every invariant broken.

extern crate alloc;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cell::Cell;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use surefit_core::RawHeap;

use super::finalizable::UNFINISHED;
use super::kinds::{End, Kind, Kinds};
use super::place::Place;
use super::{Arena, Gc, Trace, Tracer, WeakGc};
use crate::Rootable;

#[test]
fn kinds_keep_their_numbers_however_many_there_are() {
    let kind = || Kind {
        trace: |_, _, _| {},
        end: End::Nothing,
    };
    let all: &'static [Kind] = Box::leak((0..200).map(|_| kind()).collect());
    let mut table = [None; 150];
    let kinds = Kinds::over(&mut table);
    for round in 0..3 {
        for (nth, kind) in all.iter().enumerate() {
            let number = kinds.number(kind);
            assert_eq!(number, (nth < 150).then_some(nth as u32), "round {round}");
            assert_eq!(kinds.number(kind), number);
            assert!(number.is_none_or(|number| core::ptr::eq(kinds.get(number), kind)));
        }
    }
    assert_eq!(kinds.count(), 150);
}

/// An array asks to be traced again before it reports references; a full stack loses nothing.
#[test]
fn what_does_not_fit_on_the_stack_is_grey_until_it_is_traced() {
    let mut words = [0; 4];
    let mut stack = [0; 2];
    let mut tracer = Tracer::new(0, crate::bits::Bits::over(&mut words), &mut stack);
    let at = |number: usize| NonNull::without_provenance((number * 8).try_into().expect("not 0"));
    // Each object leads to the next three; the last one to none.
    let mut traced = Vec::new();
    tracer.reach(at(2), true);
    let marked = tracer.mark(|tracer, number, from| {
        traced.push((number, from));
        if from < 2 {
            tracer.again_from(at(number as usize), from + 1);
        }
        for next in 1..4 {
            let next = number as usize + 2 * next;
            if next < 100 {
                tracer.reach(at(next), next % 3 != 0);
            }
        }
    });
    traced.sort_unstable();
    let expected = (1..50).map(|nth| 2 * nth).filter(|number| number % 3 != 0);
    let expected: Vec<(u32, u32)> = expected.flat_map(|n| [(n, 0), (n, 1), (n, 2)]).collect();
    assert_eq!(traced, expected, "each stride once");
    assert!(marked.rescans > 0 && marked.deepest == 2, "{marked:?}");
    let found = core::iter::successors(tracer.marks().next(0), |n| tracer.marks().next(n + 1));
    assert!(found.eq((1..50).map(|nth| 2 * nth)), "no grey is left");
}

struct Mortal;

impl Drop for Mortal {
    fn drop(&mut self) {}
}

// SAFETY: T1: no references. T2: none are followed. T3: nothing is done.
unsafe impl Trace for Mortal {
    const TRACED: bool = false;
    fn trace(&self, _: &mut Tracer<'_>) {}
}

type Root<'gc> = (
    Gc<'gc, u64>,
    Gc<'gc, Mortal>,
    Gc<'gc, Mortal>,
    Cell<Option<WeakGc<'gc, Mortal>>>,
);
type Small<'m> = Arena<'m, Rootable!['gc => Root<'gc>]>;

fn small(region: &mut [MaybeUninit<u8>]) -> Small<'_> {
    Small::new(region, |mc| {
        let mortal = mc.alloc(Mortal)?;
        let weak = mc.downgrade(mortal)?;
        let other = mc.alloc(Mortal)?;
        Ok((mc.alloc(1)?, mortal, other, Cell::new(Some(weak))))
    })
    .expect("room")
}

/// Changes the words behind an object, runs the checker, and changes them back.
fn told(
    arena: &mut Small<'_>,
    nth: usize,
    kind: impl Fn(u32) -> u32,
    link: Option<u32>,
) -> &'static str {
    let (source, _, _) = arena.store.allocator.closed();
    let number = source.heap.objects().nth(nth).expect("as many");
    // SAFETY: S1: a live object.
    let place = unsafe { Place::of(&source.heap, number) };
    // SAFETY: S1: finished.
    let (old_kind, mut old_link) = (unsafe { place.kind() }, 0);
    // SAFETY: S1: as above; corrupted on purpose, and repaired below.
    unsafe { place.set_kind(kind(old_kind)) };
    if let Some(link) = link {
        // SAFETY: S1: finalizable objects have links.
        old_link = unsafe { place.link() };
        // SAFETY: as above.
        unsafe { place.set_link(link) };
    }
    let told = arena.check();
    // SAFETY: as above.
    unsafe { place.set_kind(old_kind) };
    if link.is_some() {
        // SAFETY: as above.
        unsafe { place.set_link(old_link) };
    }
    assert_eq!(arena.check(), Ok(()), "mended");
    told.expect_err("it must object").invariant
}

#[test]
fn the_checker_objects_to_every_word_behind_an_object() {
    let mut region = Box::<[u8]>::new_uninit_slice(1 << 15);
    let mut arena = small(&mut region);
    let numbers: Vec<u32> = arena.store.allocator.closed().0.heap.objects().collect();
    assert_eq!(numbers.len(), 4, "mortal, weak cell, mortal, number");
    for nth in 0..4 {
        assert_eq!(told(&mut arena, nth, |_| 200, None), "A2", "no kind");
        assert_eq!(told(&mut arena, nth, |_| u32::MAX, None), "A2", "no kind");
    }
    for nth in 0..3 {
        assert_eq!(
            told(&mut arena, nth, |_| UNFINISHED, None),
            "A3",
            "in a list, but not finalizable"
        );
        for link in [numbers[nth], numbers[3], numbers[0] + 1, 1, u32::MAX] {
            assert_eq!(
                told(&mut arena, nth, |kind| kind, Some(link)),
                "A3",
                "a wrong link"
            );
        }
    }
    // The newest object is linked to the weak cell, which is linked to the first one.
    assert_eq!(
        told(&mut arena, 2, |kind| kind, Some(0)),
        "A3",
        "others are in no list"
    );
    assert_eq!(
        told(&mut arena, 2, |kind| kind, Some(numbers[0])),
        "A3",
        "one is in no list"
    );
    assert_eq!(
        told(&mut arena, 0, |kind| kind, Some(numbers[2])),
        "A3",
        "a cycle"
    );
    let heavy = arena.mutate(|_, root| root.1.as_ptr().cast::<u32>());
    // SAFETY: the header before it; the heap's checker is asked.
    let header = unsafe { heavy.sub(1) };
    // SAFETY: as above; nobody refers to headers.
    let old = unsafe { header.read() };
    // SAFETY: as above.
    unsafe { header.write(old + 4) };
    assert!(arena.store.allocator.closed().0.heap.check().is_err());
    assert!(arena.check().is_err(), "the heap's invariants as well");
    // SAFETY: as above.
    unsafe { header.write(old) };
    assert_eq!(arena.check(), Ok(()));
}

/// A node of two references takes two granules, and one for kind and header.
#[test]
fn objects_are_as_short_as_they_are_said_to_be() {
    assert_eq!(
        Gc::<(Option<Gc<'_, u8>>, Option<Gc<'_, u8>>)>::BYTES,
        2 * size_of::<usize>() + 8
    );
    assert_eq!(Gc::<()>::BYTES, 16);
    assert_eq!(Gc::<u64>::BYTES, 16);
    assert_eq!(Gc::<[u64; 2]>::BYTES, 24);
    assert_eq!(Gc::<Mortal>::BYTES, 16, "a link and a kind");
    assert_eq!(size_of::<Gc<'_, u8>>(), size_of::<usize>());
    assert_eq!(size_of::<Option<WeakGc<'_, u8>>>(), size_of::<usize>());
    assert_eq!(
        size_of::<Result<Gc<'_, u8>, super::Full>>(),
        size_of::<usize>()
    );
}
