//! Arenas at their limits: values that unwind when they are dropped, no room, long lists and wide
//! arrays.

use std::cell::{Cell, RefCell};
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use surefit_core::Refused;
use surefit_gc::{Arena, Full, Gc, GcArray, GcStr, Limits, Rootable, Trace, Tracer, WeakGc};

/// A region that is large enough for every test that does not fill it on purpose.
fn region(bytes: usize) -> Box<[MaybeUninit<u8>]> {
    Box::<[u8]>::new_uninit_slice(bytes)
}

/// A value that records when it is dropped, and unwinds if the test wants this.
struct Mortal {
    id: usize,
    log: Log,
}

#[derive(Clone, Default)]
struct Log {
    dropped: Rc<RefCell<Vec<usize>>>,
    unwinds: Rc<Cell<Option<usize>>>,
}

impl Log {
    fn value(&self, id: usize) -> Mortal {
        let log = self.clone();
        Mortal { id, log }
    }

    /// The ids of dropped values, sorted.
    fn dropped(&self) -> Vec<usize> {
        let mut dropped = self.dropped.borrow().clone();
        dropped.sort_unstable();
        dropped
    }
}

impl Drop for Mortal {
    fn drop(&mut self) {
        self.log.dropped.borrow_mut().push(self.id);
        assert_ne!(self.log.unwinds.get(), Some(self.id), "told to unwind");
    }
}

// SAFETY: T1: no references. T2: none are followed. T3: nothing is done.
unsafe impl Trace for Mortal {
    const TRACED: bool = false;
    fn trace(&self, _: &mut Tracer<'_>) {}
}

type Nothing<'m> = Arena<'m, Rootable!['gc => ()]>;

#[test]
fn every_value_is_dropped_once_whichever_unwinds() {
    for unwinds in 0..5 {
        let (mut memory, log) = (region(1 << 16), Log::default());
        let mut arena = Nothing::new(&mut memory, |_| Ok(())).expect("room");
        arena.mutate(|mc, ()| (0..5).for_each(|id| assert!(mc.alloc(log.value(id)).is_ok())));
        log.unwinds.set(Some(unwinds));
        let first = catch_unwind(AssertUnwindSafe(|| arena.collect()));
        assert!(first.is_err(), "{unwinds}");
        assert_eq!(arena.check(), Ok(()));
        // Dying objects are freed only after all are dropped; allocation continues meanwhile.
        arena
            .mutate(|mc, ()| mc.alloc([7_u64; 9]).map(drop))
            .expect("room");
        let swept = arena.collect();
        assert_eq!((swept.live_objects, swept.freed_objects), (0, 6));
        assert_eq!(log.dropped(), [0, 1, 2, 3, 4]);
        assert_eq!(arena.totals().dropped, 5);
        drop(arena);
        assert_eq!(log.dropped().len(), 5);
    }
}

#[test]
fn an_arena_that_is_dropped_drops_all_values_whichever_unwinds() {
    for unwinds in 0..4 {
        let (mut memory, log) = (region(1 << 16), Log::default());
        let mut arena = Nothing::new(&mut memory, |_| Ok(())).expect("room");
        arena.mutate(|mc, ()| (0..4).for_each(|id| assert!(mc.alloc(log.value(id)).is_ok())));
        log.unwinds.set(Some(unwinds));
        assert!(catch_unwind(AssertUnwindSafe(|| drop(arena))).is_err());
        assert_eq!(log.dropped(), [0, 1, 2, 3]);
    }
}

#[test]
fn the_root_is_dropped_too() {
    type Owner<'m> = Arena<'m, Rootable!['gc => (Mortal, Cell<Option<Gc<'gc, Mortal>>>)]>;
    let (mut memory, log) = (region(1 << 16), Log::default());
    let arena = Owner::new(&mut memory, |mc| {
        let object = mc.alloc(log.value(1))?;
        Ok((log.value(0), Cell::new(Some(object))))
    });
    assert!(log.dropped().is_empty());
    drop(arena);
    assert_eq!(log.dropped(), [0, 1]);
}

#[test]
fn elements_of_arrays_are_dropped() {
    let (mut memory, log) = (region(1 << 16), Log::default());
    let mut arena = Nothing::new(&mut memory, |_| Ok(())).expect("room");
    arena
        .mutate(|mc, ()| mc.alloc_array(3, |id| log.value(id)).map(drop))
        .expect("room");
    // So are those of one that was never finished, at once.
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        arena.mutate(|mc, ()| {
            let element = |id| {
                if id < 2 {
                    log.value(7)
                } else {
                    panic!("no element")
                }
            };
            mc.alloc_array(3, element).map(drop)
        })
    }));
    assert!(unwound.is_err());
    assert_eq!(log.dropped(), [7, 7]);
    assert_eq!(arena.check(), Ok(()));
    assert_eq!(arena.collect().freed_objects, 2);
    assert_eq!(log.dropped(), [0, 1, 2, 7, 7]);
}

/// A dropped value may be held by other dead objects: nobody looks at it.
#[test]
fn weak_references_are_cleared_before_any_value_is_dropped() {
    type Watched<'gc> = (
        WeakGc<'gc, Mortal>,
        WeakGc<'gc, Mortal>,
        Cell<Option<Gc<'gc, Mortal>>>,
    );
    let (mut memory, log) = (region(1 << 16), Log::default());
    let mut arena = Arena::<Rootable!['gc => Watched<'gc>]>::new(&mut memory, |mc| {
        let (dead, living) = (mc.alloc(log.value(0))?, mc.alloc(log.value(1))?);
        Ok((
            mc.downgrade(dead)?,
            mc.downgrade(living)?,
            Cell::new(Some(living)),
        ))
    })
    .expect("room");
    let ids = |arena: &mut Arena<'_, Rootable!['gc => Watched<'gc>]>| {
        let id = |weak: WeakGc<'_, Mortal>| weak.upgrade().map(|value| value.id);
        arena.mutate(|_, (dead, living, _)| (id(*dead), id(*living)))
    };
    assert_eq!(ids(&mut arena), (Some(0), Some(1)), "not yet collected");
    log.unwinds.set(Some(0));
    assert!(catch_unwind(AssertUnwindSafe(|| arena.collect())).is_err());
    assert_eq!(
        ids(&mut arena),
        (None, Some(1)),
        "not even while it is dying"
    );
    arena.collect();
    assert_eq!(ids(&mut arena), (None, Some(1)));
    arena.mutate(|_, (_, _, living)| living.set(None));
    arena.collect();
    assert_eq!(ids(&mut arena), (None, None));
    assert_eq!(arena.check(), Ok(()));
}

/// A collection that unwinds leaves dead weak cells in place. They are in no list, and must not be
/// in one.
#[test]
fn dead_weak_cells_are_no_corruption() {
    let (mut memory, log) = (region(1 << 16), Log::default());
    let mut arena = Nothing::new(&mut memory, |_| Ok(())).expect("room");
    arena.mutate(|mc, ()| {
        let dead = mc.alloc(log.value(0)).expect("room");
        mc.downgrade(dead).expect("room");
    });
    log.unwinds.set(Some(0));
    assert!(catch_unwind(AssertUnwindSafe(|| arena.collect())).is_err());
    assert_eq!(arena.check(), Ok(()));
    assert_eq!(arena.collect().freed_objects, 2);
    assert_eq!(arena.check(), Ok(()));
}

struct Link<'gc> {
    next: Cell<Option<Gc<'gc, Link<'gc>>>>,
}

// SAFETY: T1: `next` is traced. T2: no `Drop`. T3: nothing is changed.
unsafe impl Trace for Link<'_> {
    const TRACED: bool = true;
    fn trace(&self, tracer: &mut Tracer<'_>) {
        self.next.trace(tracer);
    }
}

type List<'m> = Arena<'m, Rootable!['gc => Cell<Option<Gc<'gc, Link<'gc>>>>]>;

#[test]
fn a_long_list_is_marked_on_a_short_stack() {
    const LINKS: usize = if cfg!(miri) { 500 } else { 1_000_000 };
    let mark = || {
        let limits = Limits {
            mark_stack: 1,
            ..Limits::default()
        };
        let mut memory = region(LINKS * 17 + 20_000);
        let mut arena =
            List::with_limits(&mut memory, limits, |_| Ok(Cell::new(None))).expect("room");
        arena.mutate(|mc, root| {
            for _ in 0..LINKS {
                let next = Cell::new(root.get());
                root.set(Some(mc.alloc(Link { next }).expect("room")));
            }
        });
        assert_eq!(arena.collect().live_objects, LINKS as u64);
        assert_eq!(arena.totals().rescans, 0, "one entry is enough");
        arena.mutate(|_, root| root.set(None));
        assert_eq!(arena.collect().freed_objects, LINKS as u64);
    };
    let thread = std::thread::Builder::new().stack_size(64 << 10);
    thread
        .spawn(mark)
        .expect("a thread")
        .join()
        .expect("no overflow");
}

#[test]
fn a_wide_array_fits_on_the_mark_stack_in_strides() {
    const WIDTH: usize = if cfg!(miri) { 300 } else { 200_000 };
    type Wide<'m> = Arena<'m, Rootable!['gc => GcArray<'gc, Gc<'gc, Link<'gc>>>]>;
    let mut memory = region(WIDTH * 28 + 20_000);
    let mut arena = Wide::new(&mut memory, |mc| {
        let links = mc.alloc_array(WIDTH, |_| {
            mc.alloc(Link {
                next: Cell::new(None),
            })
            .expect("room")
        })?;
        // Each object leads to the next, so marking goes deep while the array waits.
        links
            .windows(2)
            .for_each(|pair| pair[0].next.set(Some(pair[1])));
        Ok(links)
    })
    .expect("room");
    assert_eq!(arena.collect().live_objects, 1 + WIDTH as u64);
    let totals = arena.totals();
    assert!(totals.deepest <= 65 && totals.rescans == 0, "{totals:?}");
}

#[test]
fn arenas_are_strangers_to_each_other() {
    let (mut here, mut there) = (region(1 << 15), region(1 << 15));
    let mut here = List::new(&mut here, |_| Ok(Cell::new(None))).expect("room");
    let mut there = List::new(&mut there, |_| Ok(Cell::new(None))).expect("room");
    here.mutate(|mc, root| {
        let link = mc
            .alloc(Link {
                next: Cell::new(None),
            })
            .expect("room");
        root.set(Some(link));
        there
            .mutate(|mc, _| {
                mc.alloc(Link {
                    next: Cell::new(None),
                })
                .map(drop)
            })
            .expect("room");
        // The other arena may even be collected now.
        assert_eq!(there.collect().freed_objects, 1);
        assert!(link.next.get().is_none());
    });
    assert_eq!(here.collect().live_objects, 1);
}

/// Values of every size and alignment keep their bytes through collections, and are aligned.
#[test]
fn values_keep_their_bytes_whatever_their_size_and_alignment() {
    #[repr(align(64))]
    #[derive(Clone, Copy, PartialEq, Debug)]
    struct Aligned([u8; 65]);
    // SAFETY: T1: no references. T2: no `Drop`. T3: nothing is done.
    unsafe impl Trace for Aligned {
        const TRACED: bool = false;
        fn trace(&self, _: &mut Tracer<'_>) {}
    }
    type Values<'gc> = (
        Gc<'gc, ()>,
        Gc<'gc, u8>,
        Gc<'gc, [u16; 3]>,
        Gc<'gc, u128>,
        Gc<'gc, Aligned>,
        GcArray<'gc, Aligned>,
        GcArray<'gc, ()>,
        GcStr<'gc>,
    );
    let mut memory = region(1 << 14);
    let mut arena = Arena::<Rootable!['gc => Option<Values<'gc>>]>::new(&mut memory, |_| Ok(None))
        .expect("room");
    for round in 0..40_u8 {
        let bytes = Aligned([round; 65]);
        arena
            .mutate_root(|mc, root| {
                *root = Some((
                    mc.alloc(())?,
                    mc.alloc(round)?,
                    mc.alloc([round.into(); 3])?,
                    mc.alloc(u128::from(round) << 64)?,
                    mc.alloc(bytes)?,
                    mc.alloc_array(3, |_| bytes)?,
                    mc.alloc_array(1000, |_| ())?,
                    mc.alloc_str(&"ä".repeat(round.into()))?,
                ));
                Ok::<_, Full>(())
            })
            .expect("room");
        arena.collect();
        arena.mutate(|_, root| {
            let (unit, byte, three, wide, aligned, array, units, string) = root.expect("set");
            assert_eq!((*unit, *byte, *three), ((), round, [round.into(); 3]));
            assert_eq!(*wide, u128::from(round) << 64);
            assert_eq!((*aligned, &*array), (bytes, &[bytes; 3][..]));
            assert!(aligned.as_ptr().addr().get() % 64 == 0 && array.as_ptr().addr() % 64 == 0);
            assert_eq!(units.len(), 1000);
            assert_eq!(&*string, "ä".repeat(round.into()));
        });
        assert_eq!(arena.check(), Ok(()));
    }
}

/// An array may have any number of elements of zero bytes.
#[test]
fn elements_without_references_are_never_traced() {
    struct Silent;
    // SAFETY: T1: no references. T2: none are followed. T3: nothing is done.
    unsafe impl Trace for Silent {
        const TRACED: bool = false;
        fn trace(&self, _: &mut Tracer<'_>) {
            panic!("there is nothing to trace");
        }
    }
    let mut memory = region(1 << 14);
    let mut arena = Arena::<Rootable!['gc => GcArray<'gc, Silent>]>::new(&mut memory, |mc| {
        mc.alloc_array(1000, |_| Silent)
    })
    .expect("room");
    let mut seen = 0;
    arena.survey(|_| seen += 1);
    assert_eq!(seen, 3, "root, reference, array");
    assert_eq!(arena.collect().live_objects, 1);
}

#[test]
fn no_room_is_a_value_and_garbage_makes_room() {
    let mut memory = region(16 << 10);
    let mut arena = List::new(&mut memory, |_| Ok(Cell::new(None))).expect("room");
    let fill = |arena: &mut List<'_>, keep: bool| {
        arena.mutate(|mc, root| {
            let mut links = 0;
            while let Ok(link) = mc.alloc(Link {
                next: Cell::new(root.get()),
            }) {
                links += 1;
                if keep {
                    root.set(Some(link));
                }
            }
            assert_eq!(mc.refused(), Some(Refused::NoChunk));
            links
        })
    };
    let links = fill(&mut arena, false);
    assert!(links > 200, "{links}");
    assert_eq!(
        arena.retry(|mc, _| mc.alloc(1_u8).map(|_| ())),
        Ok(()),
        "garbage makes room"
    );
    arena.collect();
    assert_eq!(fill(&mut arena, true), links, "all of it");
    assert!(arena.ensure(Gc::<Link<'_>>::BYTES).is_err());
    assert!(arena.retry(|mc, _| mc.alloc(1_u8).map(|_| ())).is_err());
    assert_eq!(arena.collect().live_objects, links);
    arena.mutate(|_, root| root.set(None));
    assert_eq!(
        arena.ensure(links as usize * Gc::<Link<'_>>::BYTES),
        Ok(()),
        "collects"
    );
    assert_eq!(fill(&mut arena, false), links);
    assert_eq!(arena.check(), Ok(()));
}

#[test]
fn what_can_never_be_served_is_told() {
    let (mut memory, limits) = (
        region(1 << 14),
        Limits {
            kinds: 3,
            ..Limits::default()
        },
    );
    let mut arena = Nothing::with_limits(&mut memory, limits, |_| Ok(())).expect("room");
    arena.mutate(|mc, ()| {
        assert!(mc.alloc_array(usize::MAX / 8, |_| 0_u64).is_err());
        assert!(matches!(mc.refused(), Some(Refused::TooLarge { .. })));
        assert!(mc.alloc_array(1 << 20, |_| 0_u64).is_err());
        assert!(matches!(mc.refused(), Some(Refused::TooLarge { .. })));
        assert!(
            mc.alloc(1_u8).is_ok() && mc.alloc(1_u32).is_ok(),
            "the second and the third type"
        );
        let fourth = mc.alloc(RefCell::new(1_u64));
        assert!(fourth.is_ok() || mc.refused() == Some(Refused::NoKind));
    });
    assert_eq!(arena.check(), Ok(()));
}

#[test]
fn a_region_that_is_too_small_says_how_large_it_must_be() {
    for limits in [
        Limits::default(),
        Limits {
            mark_stack: 1,
            kinds: 1,
            ..Limits::default()
        },
    ] {
        let told = Nothing::with_limits(&mut [], limits, |_| Ok(())).map(drop);
        let Err(Refused::Region { needed }) = told else {
            panic!("{told:?}");
        };
        for lead in 0..8 {
            let mut memory = region(needed + lead);
            let arena = Nothing::with_limits(&mut memory[lead..], limits, |_| Ok(()));
            assert_eq!(
                arena.map(|mut arena| arena.usage().total()).ok(),
                Some(needed)
            );
        }
        let mut memory = region(needed - 64);
        assert!(Nothing::with_limits(&mut memory, limits, |_| Ok(())).is_err());
    }
}

#[test]
fn a_root_that_does_not_fit_is_refused_and_what_it_made_is_dropped() {
    let (mut memory, log) = (region(16 << 10), Log::default());
    let arena = Arena::<Rootable!['gc => Gc<'gc, [u64; 4000]>]>::new(&mut memory, |mc| {
        let _ = mc.alloc(log.value(3))?;
        mc.alloc([0; 4000])
    });
    assert!(matches!(arena.map(drop), Err(Refused::TooLarge { .. })));
    assert_eq!(log.dropped(), [3]);
}

/// A forgotten guard keeps its cell borrowed, but it is no reference: the content of the cell is
/// traced all the same.
#[test]
fn what_a_forgotten_guard_guards_is_kept() {
    type Held<'m> = Arena<'m, Rootable!['gc => RefCell<Option<Gc<'gc, u64>>>]>;
    let mut memory = region(1 << 15);
    let mut arena =
        Held::new(&mut memory, |mc| Ok(RefCell::new(Some(mc.alloc(5)?)))).expect("room");
    arena.mutate(|_, root| std::mem::forget(root.borrow_mut()));
    assert_eq!(arena.collect().live_objects, 1);
    assert_eq!(
        arena.mutate_root(|_, root| root.get_mut().map(|object| *object)),
        Some(5)
    );
}

#[test]
fn parts_add_up_and_free_bytes_are_free() {
    let mut memory = region(1 << 15);
    let mut arena = List::new(&mut memory, |_| Ok(Cell::new(None))).expect("room");
    let free = arena.free_bytes();
    for links in 1..=10 {
        arena
            .mutate(|mc, root| {
                mc.alloc(Link {
                    next: Cell::new(None),
                })
                .map(|link| root.set(Some(link)))
            })
            .expect("room");
        assert_eq!(arena.free_bytes(), free - links * Gc::<Link<'_>>::BYTES);
    }
    let usage = arena.usage();
    assert_eq!(usage.total(), 1 << 15);
    assert_eq!(usage.block_bytes, 10 * (Gc::<Link<'_>>::BYTES - 4));
    arena.collect();
    assert_eq!(arena.free_bytes(), free - Gc::<Link<'_>>::BYTES);
    assert_eq!(arena.totals().allocations, 10);
}

/// Programs that only report that there was no room can use `?` and boxed errors.
#[test]
fn errors_read_well() {
    fn program() -> Result<(), Box<dyn std::error::Error>> {
        let mut memory = region(1 << 14);
        let mut arena = Nothing::new(&mut memory, |_| Ok(()))?;
        arena.mutate(|mc, ()| (0..9).try_for_each(|_| mc.alloc([0_u64; 500]).map(drop)))?;
        Ok(())
    }
    let told = program().expect_err("36 KB").to_string();
    assert_eq!(
        told,
        "the arena has no room for the object: collect, or give it a larger region"
    );
    let _: fn(Full) -> String = |full| full.to_string();
}

/// A heap grows in proportion to what lives, so collections become rarer; it never grows beyond its
/// region.
#[test]
#[cfg_attr(miri, ignore = "fills a large heap, and nothing here is new to miri")]
fn a_heap_grows_as_far_as_its_region_and_no_further_than_it_must() {
    let mut memory = region(256 << 10);
    let limits = Limits {
        heap: 16 << 10,
        ..Limits::default()
    };
    let mut arena = List::with_limits(&mut memory, limits, |_| Ok(Cell::new(None))).expect("room");
    let free = arena.free_bytes();
    assert!((15 << 10..=16 << 10).contains(&free), "{free}");
    let garbage = |arena: &mut List<'_>, links: usize| {
        arena.ensure(links * Gc::<Link<'_>>::BYTES)?;
        let next = || Cell::new(None);
        arena.mutate(|mc, _| {
            (0..links).try_for_each(|_| mc.alloc(Link { next: next() }).map(|_| ()))
        })
    };
    (0..50).for_each(|_| garbage(&mut arena, 500).expect("collects"));
    arena.collect();
    assert_eq!(arena.free_bytes(), free, "it did not grow");
    garbage(&mut arena, 2000).expect("grows");
    arena.collect();
    let grown = 2000 * Gc::<Link<'_>>::BYTES;
    assert!(
        (grown..grown + 32).contains(&arena.free_bytes()),
        "by no more than it must"
    );
    let mut links = 0;
    let push = |arena: &mut List<'_>| {
        arena.retry(|mc, root| {
            root.set(Some(mc.alloc(Link {
                next: Cell::new(root.get()),
            })?));
            Ok(())
        })
    };
    while push(&mut arena).is_ok() {
        links += 1;
    }
    assert!(
        links * Gc::<Link<'_>>::BYTES > (256 << 10) * 9 / 10,
        "{links}"
    );
    assert_eq!(arena.collect().live_objects, links as u64);
    assert_eq!(arena.usage().total(), 256 << 10);
    let totals = arena.totals();
    assert!(totals.collections < 130, "{totals:?}");
    assert_eq!(arena.check(), Ok(()));
    arena.mutate(|_, root| root.set(None));
    garbage(&mut arena, links).expect("what has grown stays");
}

#[cfg(target_pointer_width = "64")]
#[test]
fn no_room_is_enough_for_what_no_heap_can_hold() {
    assert_eq!(Gc::<[u8; 1 << 35]>::BYTES, usize::MAX);
}
