//! Hostile mutations: values, indexes and closures that unwind, re-enter and collect; lengths and
//! limits up to the largest.

use super::*;
use surefit_gc::{Arena, Full, Gc, GcArray, GcStr, Limits, Rootable, Seen, Trace, WeakGc};

#[derive(Trace)]
struct Node<'gc> {
    next: Cell<Option<Gc<'gc, Node<'gc>>>>,
    number: u64,
}

type Chain<'m, I> = Arena<'m, Rootable!['gc => Cell<Option<Gc<'gc, Node<'gc>>>>], I>;

/// The numbers of a chain, newest first.
fn numbers<I: Index>(arena: &mut Chain<'_, I>) -> Vec<u64> {
    arena.mutate(|_, root| {
        let nodes = std::iter::successors(root.get(), |node| node.next.get());
        nodes.map(|node| node.number).collect()
    })
}

/// An index unwinds while an arena asks it for room: the bump chunk that was closed before is
/// not used again.
#[test]
fn an_index_may_unwind_while_a_mutation_allocates() {
    let mut unwound = 0;
    for asked in 0..40 {
        let mut region = JunkRegion::new(1 << 15, 8, asked);
        ASKED.set(u32::MAX);
        let arena = Chain::<SingleList<Unwinds>>::new(region.memory(), |_| Ok(Cell::new(None)));
        let mut arena = arena.expect("large enough");
        let mut expected = Vec::new();
        arena.mutate(|mc, root| {
            for number in 100..140 {
                let garbage = mc.alloc_array(number as usize % 17, |_| number);
                assert!(garbage.is_ok());
                let next = root.clone();
                root.set(Some(mc.alloc(Node { next, number }).expect("room")));
                expected.insert(0, number);
            }
        });
        arena.collect();
        arena.mutate(|mc, root| {
            ASKED.set(asked as u32);
            for number in 0..60 {
                // Every fourth object is long, so that the bump chunk is closed and another one
                // is requested.
                let long = || {
                    mc.alloc_array(
                        if number % 4 == 3 {
                            150
                        } else {
                            number as usize % 13
                        },
                        |_| number,
                    )
                };
                let long = catch_unwind(AssertUnwindSafe(long));
                unwound += u32::from(long.is_err());
                let node = || {
                    mc.alloc(Node {
                        next: root.clone(),
                        number,
                    })
                };
                let node = catch_unwind(AssertUnwindSafe(node));
                unwound += u32::from(node.is_err());
                if let Ok(Ok(node)) = node {
                    root.set(Some(node));
                    expected.insert(0, number);
                }
                if let Ok(Ok(array)) = long {
                    assert!(array.iter().all(|&element| element == number));
                }
            }
        });
        ASKED.set(u32::MAX);
        assert_eq!(numbers(&mut arena), expected, "asked {asked} times");
        assert_eq!(arena.check(), Ok(()), "asked {asked} times");
        arena.collect();
        assert_eq!(numbers(&mut arena), expected);
        assert_eq!(arena.check(), Ok(()));
    }
    assert!(unwound > 5, "{unwound}");
}

/// The changes of a mutation that unwinds remain; the arena is a normal one.
#[test]
fn a_mutation_may_unwind_anywhere() {
    for at in 0..12 {
        let mut region = JunkRegion::new(1 << 15, 8, 1);
        let arena = Chain::<Lists>::new(region.memory(), |_| Ok(Cell::new(None)));
        let mut arena = arena.expect("large enough");
        let unwinds = catch_unwind(AssertUnwindSafe(|| {
            arena.mutate(|mc, root| {
                for number in 0..10 {
                    let next = Cell::new(root.get());
                    root.set(Some(mc.alloc(Node { next, number }).expect("room")));
                    let made = mc.alloc_array(9, |element| {
                        assert!(number != at || element != 4, "unwinds");
                        // Re-entered: an array is made while another is.
                        mc.alloc_array(element, |_| number).expect("room")
                    });
                    assert!(made.expect("room").iter().all(|inner| inner.len() < 9));
                }
            });
        }));
        assert_eq!(unwinds.is_err(), at < 10);
        assert_eq!(numbers(&mut arena).len() as u64, 1 + at.min(9));
        assert_eq!(arena.check(), Ok(()));
        arena.collect();
        assert_eq!(numbers(&mut arena).len() as u64, 1 + at.min(9));
        assert_eq!(arena.check(), Ok(()));
        let seen = catch_unwind(AssertUnwindSafe(|| {
            arena.survey(|seen| assert!(matches!(seen, Seen::Root), "unwinds"));
        }));
        assert!(seen.is_err(), "the survey showed more than the root");
        assert_eq!((arena.check(), arena.collect().freed_objects), (Ok(()), 0));
    }
}

type Arrays<'m> = Arena<'m, Rootable!['gc => Cell<Option<GcArray<'gc, u64>>>], TwoLevel>;

#[test]
fn lengths_of_any_number_are_served_or_refused() {
    let mut region = JunkRegion::misaligned(1 << 14, 64, 3, 1);
    let arena = Arrays::new(region.memory(), |_| Ok(Cell::new(None)));
    let mut arena = arena.expect("large enough");
    for length in NUMBERS {
        let served = arena.mutate(|mc, _| {
            let bytes = mc.alloc_array(length, |_| 7_u8).map(|array| array.len());
            let words = mc.alloc_array(length, |_| 7_u64).map(|array| array.len());
            let arrays = mc
                .alloc_array(length, |_| [7_u64; 99])
                .map(|array| array.len());
            [bytes, words, arrays]
                .into_iter()
                .flatten()
                .all(|served| served == length)
        });
        assert!(served && (length > 4096 || arena.ensure(length).is_ok()));
        assert_eq!(arena.ensure(length).is_ok(), arena.free_bytes() >= length);
        assert_eq!(arena.check(), Ok(()), "{length}");
    }
    let nothing = arena.mutate(|mc, _| mc.alloc_array(1 << 20, |_| ()).map(|it| it.len()));
    assert_eq!(nothing, Ok(1 << 20), "elements of no bytes");
    assert_eq!(arena.usage().total(), 1 << 14);
}

#[test]
fn limits_of_any_number_make_an_arena_or_say_what_would() {
    for mark_stack in NUMBERS {
        for kinds in NUMBERS {
            for heap in [0, 1, 4096, usize::MAX] {
                let mut region = JunkRegion::new(1 << 13, 8, 1);
                let limits = Limits {
                    mark_stack,
                    kinds,
                    heap,
                };
                let made = Arrays::with_limits(region.memory(), limits, |_| Ok(Cell::new(None)));
                match made {
                    Ok(mut arena) => assert_eq!(arena.check(), Ok(()), "{limits:?}"),
                    Err(Refused::Region { needed }) => assert!(needed > 1 << 13, "{limits:?}"),
                    Err(other) => panic!("{limits:?}: {other}"),
                }
            }
        }
    }
}

#[test]
fn no_room_may_be_told_by_another_arena() {
    let (mut region, mut small) = (
        JunkRegion::new(1 << 14, 8, 1),
        JunkRegion::new(1 << 14, 8, 2),
    );
    let mut other = Arrays::new(small.memory(), |_| Ok(Cell::new(None))).expect("large enough");
    let full = other.ensure(usize::MAX).expect_err("never so much");
    let foreign = Arrays::new(region.memory(), |_| Err(full));
    assert_eq!(foreign.err(), Some(Refused::NoChunk));
    let limits = Limits {
        heap: 2048,
        ..Limits::default()
    };
    let arena = Arrays::with_limits(region.memory(), limits, |_| Ok(Cell::new(None)));
    let mut arena = arena.expect("large enough");
    let mut runs = 0;
    let ended = arena.retry(|mc, _| -> Result<(), Full> {
        runs += 1;
        let _ = mc.alloc_array(1 << 20, |_| 0_u8);
        Err(full)
    });
    assert_eq!(ended, Err(full));
    assert!(runs < 100, "{runs}");
    assert_eq!(arena.check(), Ok(()));
}

std::thread_local! {
    static DROPS: Cell<u32> = const { Cell::new(0) };
}

/// Unwinds at every third drop, and makes and collects an arena of its own in every one.
struct Loud;

impl Drop for Loud {
    fn drop(&mut self) {
        let mut region = JunkRegion::new(1 << 14, 8, 3);
        let arena = Arrays::new(region.memory(), |mc| {
            Ok(Cell::new(mc.alloc_array(3, |_| 1).ok()))
        });
        arena.expect("large enough").collect();
        DROPS.set(DROPS.get() + 1);
        assert!(DROPS.get() % 3 != 0, "the drop unwinds");
    }
}

#[derive(Trace)]
struct Holder<'gc> {
    next: Cell<Option<Gc<'gc, Holder<'gc>>>>,
    weak: Cell<Option<WeakGc<'gc, Holder<'gc>>>>,
    #[trace(skip)]
    _loud: Loud,
}

#[test]
fn drops_may_collect_and_unwind_and_each_runs_once() {
    let mut region = JunkRegion::new(1 << 15, 8, 1);
    type Holders<'m> = Arena<'m, Rootable!['gc => Cell<Option<Gc<'gc, Holder<'gc>>>>], Late>;
    let mut arena = Holders::new(region.memory(), |_| Ok(Cell::new(None))).expect("room");
    DROPS.set(0);
    let (mut made, mut unwound) = (0, 0);
    for round in 0..30 {
        arena.mutate(|mc, root| {
            for _ in 0..round % 7 {
                let (next, weak) = (Cell::new(root.take()), Cell::new(None));
                let node = mc
                    .alloc(Holder {
                        next,
                        weak,
                        _loud: Loud,
                    })
                    .expect("room");
                node.weak
                    .set(node.next.get().and_then(|next| mc.downgrade(next).ok()));
                root.set(Some(node).filter(|_| round % 3 != 0));
                made += 1;
            }
        });
        let collected = catch_unwind(AssertUnwindSafe(|| arena.collect()));
        unwound += u32::from(collected.is_err());
        assert_eq!(arena.check(), Ok(()), "round {round}");
        arena.mutate(|_, root| {
            let nodes = std::iter::successors(root.get(), |node| node.next.get());
            nodes.for_each(|node| {
                let weak = node.weak.get().and_then(WeakGc::upgrade);
                assert_eq!(weak.is_some(), node.next.get().is_some(), "it lives");
            });
        });
    }
    assert!(unwound > 5, "{unwound}");
    let rest = catch_unwind(AssertUnwindSafe(|| {
        DROPS.set(DROPS.get() / 3 * 3);
        arena.mutate(|_, root| root.set(None));
        while catch_unwind(AssertUnwindSafe(|| arena.collect())).is_err() {}
    }));
    assert!(rest.is_ok());
    assert_eq!(arena.totals().dropped, u64::from(made as u32));
}

#[test]
fn regions_of_any_length_do_or_say_what_would() {
    regions(|region| {
        let limits = Limits {
            mark_stack: 3,
            kinds: 3,
            heap: 64,
        };
        match Arrays::with_limits(region, limits, |_| Ok(Cell::new(None))) {
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

type Texts<'m> = Arena<'m, Rootable!['gc => Vec<(GcStr<'gc>, Option<WeakGc<'gc, u32>>)>], Lists>;

/// Mutations that unwind take the root, swap it and leave it empty; what it holds is what lives.
#[test]
fn a_root_may_be_swapped_and_left_by_a_mutation_that_unwinds() {
    let mut region = JunkRegion::new(1 << 15, 8, 1);
    let mut arena = Texts::new(region.memory(), |_| Ok(Vec::new())).expect("large enough");
    let long = "ü".repeat(700);
    for round in 0..40_u32 {
        let unwound = catch_unwind(AssertUnwindSafe(|| {
            arena.mutate_root(|mc, root| {
                let before = std::mem::take(root);
                for text in ["", "\0", "ü", &long] {
                    let string = mc.alloc_str(text).expect("room");
                    assert_eq!((string.as_str(), mc.refused()), (text, None));
                    let number = mc.alloc(round).expect("room");
                    let weak = mc.downgrade(number).expect("room");
                    let same = weak.upgrade().expect("it lives while the mutation lasts");
                    assert!(same.ptr_eq(number) && number.as_ptr() == same.as_ptr());
                    assert_eq!((*same.as_ref(), mc.free_bytes() < 1 << 15), (round, true));
                    root.push((string, Some(weak)));
                }
                assert!(round % 3 != 0, "the mutation unwinds");
                drop(before);
            });
        }));
        assert_eq!(unwound.is_err(), round % 3 == 0);
        arena.collect();
        assert_eq!(arena.check(), Ok(()), "round {round}");
        arena.mutate(|mc, root| {
            let texts: Vec<_> = root.iter().map(|(text, _)| text.len()).collect();
            assert_eq!(texts, [0, 1, 2, 1400]);
            assert!(
                root.iter()
                    .all(|(_, weak)| weak.and_then(WeakGc::upgrade).is_none())
            );
            let arrays = [(); 2].map(|()| mc.alloc_array(2, |_| 1_u8).expect("room"));
            assert!(!arrays[0].ptr_eq(arrays[1]) && arrays[0].as_slice() == [1, 1]);
        });
    }
    assert!(arena.totals().collections == 40 && arena.free_bytes() < 1 << 15);
}
