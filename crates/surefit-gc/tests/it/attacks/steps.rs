//! Hostile callers of the collector in steps: clients that unwind and report the dead in every
//! phase, stale references, no room in every phase, references that are overwritten as data, any
//! numbers.

use super::*;
use surefit_gc::{Incremental, OneByOne, Phase, Stepwise};

const PHASES: [Phase; 5] = [
    Phase::Idle,
    Phase::Mark,
    Phase::Weak,
    Phase::Sweep,
    Phase::Merge,
];

/// A list that reports an object of its choice, or unwinds, in one of its three calls.
#[derive(Default)]
struct Faulty {
    list: List,
    weak: Vec<Option<Object>>,
    /// 0 in `roots`, 1 in `scan`, 2 in `weak_from`.
    fails_in: Option<usize>,
    reports: Option<Object>,
    calls: u32,
}

impl Faulty {
    fn fail(&mut self, now: usize, edges: Option<&mut Edges<'_>>) {
        if self.fails_in != Some(now) {
            return;
        }
        self.calls += 1;
        match (self.reports, edges) {
            (Some(object), Some(edges)) => edges.report(object),
            _ => panic!("the client unwinds"),
        }
    }
}

impl<S: Space> Client<S> for Faulty {
    fn roots(&mut self, edges: &mut Edges<'_>) {
        for &root in self.list.0.iter().take(1) {
            edges.report(root);
        }
        self.fail(0, Some(edges));
        Client::<S>::roots(&mut self.list, edges);
    }

    fn scan(&mut self, object: &Scanned<'_, S>, from: u32, edges: &mut Edges<'_>) {
        self.fail(1, Some(edges));
        self.list.scan(object, from, edges);
        self.fail(1, Some(edges));
    }

    fn weak_from(&mut self, from: u32, living: &Living<'_>) -> Option<u32> {
        self.fail(2, None);
        let weak = self.weak.get_mut(from as usize)?;
        *weak = weak.filter(|&object| living.contains(object));
        Some(from + 1)
    }
}

fn in_steps<I: Index>(
    region: &mut JunkRegion,
    mark_stack: usize,
) -> Incremental<'_, FreeList<'_, I>> {
    let settings = Settings {
        mark_stack,
        ..Settings::default()
    };
    Incremental::over(Heap::<I>::new(region.memory(), settings).expect("large enough"))
}

/// Allocates a list behind a root, and as much garbage.
fn fill<S: Stepwise>(
    gc: &mut Incremental<'_, S>,
    client: &mut Faulty,
    objects: u32,
) -> Vec<Object> {
    let mut dead = Vec::new();
    for _ in 0..objects {
        let object = gc.alloc(client, 24).expect("room");
        gc.store(object, 0, client.list.0.pop());
        client.list.0.push(object);
        let garbage = gc.alloc(client, 16).expect("room");
        client.weak.push(Some(garbage));
        dead.push(garbage);
    }
    dead
}

/// Steps until a phase is reached.
fn go_to<S: Stepwise>(gc: &mut Incremental<'_, S>, client: &mut Faulty, phase: Phase) {
    if phase != Phase::Idle {
        gc.start(client);
    }
    while gc.phase() < phase {
        gc.step(client, 1);
    }
}

/// A client may unwind, or report what is dead, again and again: nothing is lost and nothing is
/// freed by it. Once it behaves, the cycle goes on.
#[test]
fn a_client_in_steps_may_unwind_and_report_the_dead() {
    for (fails_in, mark_stack, reports_dead) in [
        (0, 1, false),
        (1, 1, false),
        (2, 1, false),
        (0, 64, true),
        (1, 1, true),
        (1, 64, true),
    ] {
        let mut region = JunkRegion::new(1 << 14, 8, 1);
        let mut gc = in_steps::<Lists>(&mut region, mark_stack);
        let mut client = Faulty::default();
        fill(&mut gc, &mut client, 20);
        gc.collect(&mut client);
        let dead = fill(&mut gc, &mut client, 10);
        client.fails_in = Some(fails_in);
        client.reports = reports_dead.then_some(Object::of(dead[9].number() + 1).expect("not 0"));
        let mut unwound = 0;
        for _ in 0..200 {
            let step = catch_unwind(AssertUnwindSafe(|| match gc.phase() {
                Phase::Idle => gc.start(&mut client),
                _ => gc.step(&mut client, 3),
            }));
            unwound += u32::from(step.is_err());
            assert_eq!(gc.check(), Ok(()));
        }
        assert!(unwound > 100 && client.calls == unwound, "{fails_in}");
        assert_eq!(gc.objects().count(), 40, "nothing was freed");
        client.fails_in = None;
        assert!(gc.finish(&mut client).done);
        assert_eq!((gc.objects().count(), gc.check()), (30, Ok(())));
        assert_eq!(gc.cycle().marked, 30, "also what it reported and unwound");
        assert!(client.weak.iter().all(Option::is_none));
    }
}

/// References to what a cycle frees, or freed, are told in every phase; so are numbers of no
/// object.
#[test]
fn stale_and_forged_references_are_told_in_every_phase() {
    for phase in PHASES {
        let mut region = JunkRegion::new(1 << 14, 8, 1);
        let mut gc = in_steps::<Late>(&mut region, 8);
        let mut client = Faulty::default();
        let dead = fill(&mut gc, &mut client, 10);
        go_to(&mut gc, &mut client, phase);
        let live = client.list.0[0];
        let is_known_dead = phase > Phase::Mark;
        for &object in &dead {
            assert_eq!(gc.contains(object), !is_known_dead, "{phase:?}");
            assert_eq!(gc.upgrade(object).is_none(), is_known_dead);
            let stored = catch_unwind(AssertUnwindSafe(|| {
                gc.store(live, 1, Some(object));
                gc.store(live, 1, None);
            }));
            assert_eq!(stored.is_err(), is_known_dead);
        }
        for number in (1..3000).chain([u32::MAX - 1, u32::MAX]) {
            let forged = Object::of(number).expect("not 0");
            let lives = gc.contains(forged);
            assert!(!lives || gc.objects().any(|object| object == forged));
            if !gc.objects().any(|object| object == forged) {
                assert_eq!(gc.upgrade(forged), None);
                let calls: [&mut dyn FnMut(&mut Incremental<'_, _>); 5] = [
                    &mut |gc| _ = gc.load(forged, 0),
                    &mut |gc| gc.store(forged, 0, None),
                    &mut |gc| gc.store_data(forged, 0, 1),
                    &mut |gc| gc.store_u64(forged, 0, 1),
                    &mut |gc| gc.store(live, 1, Some(forged)),
                ];
                if !(40..=2990).contains(&number) {
                    for call in calls {
                        assert!(catch_unwind(AssertUnwindSafe(|| call(&mut gc))).is_err());
                    }
                }
            }
        }
        assert_eq!(gc.check(), Ok(()));
        gc.finish(&mut client);
        assert_eq!(gc.check(), Ok(()));
    }
}

/// An object that is overwritten as data while the program holds it may be freed: then it is told,
/// and the next start reports it as dead.
#[test]
fn a_reference_overwritten_as_data_is_lost_and_told() {
    let mut region = JunkRegion::new(1 << 14, 8, 1);
    let mut gc = in_steps::<Lists>(&mut region, 8);
    let mut client = Faulty::default();
    fill(&mut gc, &mut client, 10);
    gc.start(&mut client);
    let first = client.list.0[0];
    let second = gc.reference(first, 0).expect("a list");
    let third = gc.reference(second, 0).expect("a list");
    // With a barrier, the rest of the list is kept.
    gc.store(second, 0, None);
    client.list.0.push(third);
    // Without one, it is not.
    gc.store_data(first, 0, 0);
    gc.finish(&mut client);
    assert!(!gc.contains(second) && gc.contains(third));
    assert!(catch_unwind(AssertUnwindSafe(|| gc.load(second, 0))).is_err());
    client.list.0.push(second);
    assert!(catch_unwind(AssertUnwindSafe(|| gc.start(&mut client))).is_err());
    client.list.0.pop();
    gc.collect(&mut client);
    assert_eq!((gc.objects().count(), gc.check()), (9, Ok(())));
}

/// A request that has no room finishes the cycle in any phase; one that never will have any does
/// not.
#[test]
fn no_room_in_any_phase_finishes_the_cycle() {
    fn judged<I: Index>() {
        for phase in PHASES {
            let mut region = JunkRegion::new(1 << 13, 8, 1);
            let mut gc = in_steps::<I>(&mut region, 2);
            let mut client = Faulty::default();
            fill(&mut gc, &mut client, 10);
            go_to(&mut gc, &mut client, phase);
            while gc.alloc_as_is(100).is_ok() {}
            assert_eq!((gc.phase(), gc.check()), (phase, Ok(())));
            for bytes in NUMBERS {
                let _ = gc.alloc_as_is(bytes);
                assert_eq!(gc.phase(), phase);
            }
            assert!(matches!(
                gc.alloc(&mut client, usize::MAX),
                Err(Refused::TooLarge { .. })
            ));
            assert_eq!(gc.phase(), phase);
            let served = gc.alloc(&mut client, 2000).expect("all the garbage");
            let steps = *gc.steps();
            assert_eq!(steps.forced, u64::from(phase != Phase::Idle));
            assert!(steps.whole > 0 || steps.forced > 0);
            assert!(gc.contains(served) && gc.check() == Ok(()));
            // Now the roots fill the heap.
            client.list.0.push(served);
            while let Ok(object) = gc.alloc(&mut client, 100) {
                client.list.0.push(object);
                assert_eq!(gc.check(), Ok(()));
            }
            assert_eq!(gc.totals().refusals, 2);
        }
    }
    judged::<Lists>();
    judged::<Late>();
    judged::<TwoLevel>();
}

/// Whether a call panics.
fn panics<R>(call: impl FnOnce() -> R) -> bool {
    catch_unwind(AssertUnwindSafe(call)).is_err()
}

fn judge_numbers<S: Stepwise>(gc: &mut Incremental<'_, S>, object: Object) {
    let words = gc.words(object);
    for word in 0..words - 1 {
        let value = (u64::MAX / 3) ^ (u64::from(word) << 40);
        gc.store_u64(object, word, value);
        assert_eq!(gc.load_u64(object, word), value);
        assert_eq!(gc.load(object, word), value as u32);
        gc.store_f64(object, word, -0.0);
        assert_eq!(gc.load_f64(object, word).to_bits(), 1 << 63);
    }
    for word in [words - 1, words, u32::MAX - 1, u32::MAX] {
        assert!(panics(|| gc.load_u64(object, word)));
        assert!(panics(|| gc.load_f64(object, word)));
        assert!(panics(|| gc.store_u64(object, word, 1)));
        assert!(panics(|| gc.store_f64(object, word, 1.0)));
    }
}

fn judge_bytes<S: Stepwise>(gc: &mut Incremental<'_, S>, object: Object) {
    let words = gc.words(object);
    let bytes: Vec<u8> = (0..words * 4).map(|nth| (nth * 7) as u8).collect();
    let mut read = vec![0; bytes.len()];
    for from in 0..bytes.len().min(70) {
        gc.store_bytes(object, from, &bytes[from..]);
        gc.load_bytes(object, from, &mut read[from..]);
        assert_eq!(read[from..], bytes[from..]);
    }
    for word in 0..words {
        let at = word as usize * 4;
        let expected = u32::from_ne_bytes(bytes[at..][..4].try_into().expect("four"));
        assert_eq!(gc.load(object, word), expected);
    }
    gc.store_bytes(object, bytes.len(), &[]);
    for from in NUMBERS.into_iter().filter(|&from| from >= bytes.len()) {
        assert!(panics(|| gc.load_bytes(object, from, &mut [0])));
        assert!(panics(|| gc.store_bytes(object, from, &[1])));
    }
    gc.load_bytes(object, 0, &mut read);
    assert_eq!(read, bytes, "nothing was written");
}

/// Words and bytes of any number, in objects in one piece and in many: all or nothing is written.
#[test]
fn numbers_and_bytes_are_read_as_they_were_stored() {
    fn judged<S: Stepwise>(mut gc: Incremental<'_, S>) {
        let mut client = Faulty::default();
        for bytes in [16, 40, 300, 1000] {
            let object = gc.alloc(&mut client, bytes).expect("room");
            client.list.0.push(object);
            judge_numbers(&mut gc, object);
            judge_bytes(&mut gc, object);
        }
        assert_eq!(gc.check(), Ok(()));
    }
    let mut region = JunkRegion::new(1 << 14, 8, 1);
    judged(in_steps::<Lists>(&mut region, 1));
    let config = config().with_pieces(Some(64)).expect("valid");
    let mut region = JunkRegion::new(1 << 15, 1024, 1);
    let gc = Collector::compact_fit(region.memory(), &config, 4).expect("large enough");
    judged(Incremental::over(gc));
}

/// A client that reads the same numbers while it is scanned.
struct Reads(Object);

impl<S: Space> Client<S> for Reads {
    fn roots(&mut self, edges: &mut Edges<'_>) {
        edges.report(self.0);
    }

    fn scan(&mut self, object: &Scanned<'_, S>, _from: u32, _edges: &mut Edges<'_>) {
        assert_eq!(
            (object.load_u64(1), object.load_f64(1).to_bits()),
            (77 << 32 | 5, 77 << 32 | 5)
        );
        let mut bytes = [0; 8];
        object.load_bytes(4, &mut bytes);
        assert_eq!(bytes[..4], 5_u32.to_ne_bytes());
        let words = object.words();
        for word in [words - 1, words, u32::MAX] {
            assert!(catch_unwind(AssertUnwindSafe(|| object.load_u64(word))).is_err());
            assert!(catch_unwind(AssertUnwindSafe(|| object.load_f64(word))).is_err());
        }
        let beyond = AssertUnwindSafe(|| object.load_bytes(words as usize * 4 - 7, &mut [0; 8]));
        assert!(catch_unwind(beyond).is_err());
    }
}

#[test]
fn a_client_may_read_numbers_and_bytes_of_any_number_while_it_scans() {
    let mut region = JunkRegion::new(1 << 14, 8, 1);
    let mut gc = Heap::<Lists>::new(region.memory(), Settings::default()).expect("large enough");
    let object = gc.alloc_as_is(16).expect("room");
    gc.store_u64(object, 1, 77 << 32 | 5);
    assert_eq!(gc.load_f64(object, 1).to_bits(), 77 << 32 | 5);
    gc.store_f64(object, 1, f64::from_bits(77 << 32 | 5));
    gc.store_bytes(object, 4, &5_u32.to_ne_bytes());
    let mut bytes = [0; 4];
    gc.load_bytes(object, 8, &mut bytes);
    assert_eq!(
        (bytes, gc.load_u64(object, 1)),
        (77_u32.to_ne_bytes(), 77 << 32 | 5)
    );
    gc.collect(&mut Reads(object));
    assert!(gc.contains(object));
}

#[test]
fn a_collector_goes_on_in_steps() {
    let mut region = JunkRegion::new(1 << 14, 8, 1);
    let mut gc = Heap::<Lists>::new(region.memory(), Settings::default()).expect("large enough");
    let mut list = List::default();
    linked(&mut gc, &mut list, 20);
    gc.collect(&mut list);
    let mut gc = Incremental::over(gc);
    assert_eq!((gc.live().0, gc.check()), (20, Ok(())));
    assert!(gc.step(&mut list, 0).done && gc.finish(&mut list).work == 0);
    list.0.clear();
    assert!(!gc.start(&mut list).done && gc.start(&mut list).work == 0);
    while !gc.step(&mut list, 0).done {
        assert!(gc.steps().largest_step <= gc.most_excess());
    }
    assert_eq!(gc.last().map(|cycle| cycle.freed_objects), Some(20));
    assert_eq!(gc.cycle(), gc.last().expect("one"));
    assert_eq!((gc.pending().count(), gc.objects().count()), (0, 0));
    assert!(!gc.is_reached(Object::of(u32::MAX).expect("not 0")));
    assert_eq!(gc.usage().total(), 1 << 14);
    assert_eq!(gc.space().heap().live_objects(), 0);
}

/// What a space is told at the end of a cycle may be any number.
#[test]
fn a_space_takes_any_number_from_a_cycle() {
    let mut region = JunkRegion::new(1 << 13, 8, 1);
    let mut space = FreeList::<Lists>::new(region.memory(), Sweep::Leap).expect("large enough");
    for bytes in [0, 1, u64::MAX / 2, u64::MAX] {
        space.cycle_ended(bytes, u64::MAX - bytes);
        space.cycle_ended(u64::MAX, bytes);
        space.sweep_begins();
        assert!(space.allocate(20).is_ok() && space.most_work() == 1);
        space.relieve();
        assert!(space.check_part(bytes as u32 | 1 << 31).is_err());
        assert!(space.check_dying(Object::of(bytes as u32 | 1)).is_err());
        assert_eq!(space.check_dying(None), Ok(()));
        assert_eq!(space.check(), Ok(()));
    }
}

#[test]
fn a_clock_may_lie_and_unwind_in_steps() {
    for unwinds_at in 0..12 {
        let (mut region, read) = (JunkRegion::new(1 << 14, 8, 1), Cell::new(0));
        let mut list = List::default();
        let clock = Hostile {
            read: &read,
            unwinds_at,
        };
        let gc = Heap::<Lists>::new(region.memory(), Settings::default()).expect("large enough");
        let mut gc = Incremental::over(gc.with_clock(clock));
        for _ in 0..5 {
            let _ = gc.alloc_as_is(16).expect("room");
            let _ = panics(|| gc.start(&mut list));
            let _ = panics(|| gc.finish(&mut list));
            assert_eq!(gc.check(), Ok(()), "reading {unwinds_at}");
        }
        gc.collect(&mut list);
        assert_eq!(gc.objects().count(), 0);
    }
}
