//! Hostile callers of the collector with two generations: clients and clocks that unwind and report
//! the dead, stale and forged references, references written as data, no room, any numbers.

use super::*;
use surefit_gc::{Extent, Generational, OneByOne};

/// A list that reports an object of its choice, or unwinds, in one of its three calls.
#[derive(Default)]
struct Faulty {
    list: List,
    weak: Vec<Option<Object>>,
    /// 0 in `roots`, 1 in `scan`, 2 in `weak`.
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
        self.list.scan(object, from, edges);
        self.fail(1, Some(edges));
    }

    fn weak(&mut self, living: &Living<'_>) {
        self.fail(2, None);
        for weak in &mut self.weak {
            *weak = weak.filter(|&object| living.contains(object));
        }
    }
}

fn aged<I: Index>(region: &mut JunkRegion, mark_stack: usize) -> Generational<'_, FreeList<'_, I>> {
    let settings = Settings {
        mark_stack,
        ..Settings::default()
    };
    Generational::over(Heap::<I>::new(region.memory(), settings).expect("large enough"))
}

/// Allocates a list behind a root, and as much garbage.
fn fill<S: OneByOne>(
    gc: &mut Generational<'_, S>,
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

/// Whether a call panics.
fn panics<R>(call: impl FnOnce() -> R) -> bool {
    catch_unwind(AssertUnwindSafe(call)).is_err()
}

/// A client may unwind, or report what is dead, again and again: nothing is freed by it, and all
/// objects are young. Once it behaves, minor and full collections free the garbage.
#[test]
fn a_client_of_generations_may_unwind_and_report_the_dead() {
    for (fails_in, mark_stack, reports_dead) in [
        (0, 1, false),
        (1, 1, false),
        (2, 1, false),
        (0, 64, true),
        (1, 1, true),
        (1, 64, true),
    ] {
        let mut region = JunkRegion::new(1 << 14, 8, 1);
        let mut gc = aged::<Lists>(&mut region, mark_stack);
        let mut client = Faulty::default();
        fill(&mut gc, &mut client, 20);
        gc.collect_young(&mut client);
        let oldest = client.list.0[0];
        let dead = fill(&mut gc, &mut client, 10);
        // An old object refers to a young one, in a word that the list does not report.
        gc.store(oldest, 1, Some(client.list.0[0]));
        assert!(gc.is_remembered(oldest));
        client.fails_in = Some(fails_in);
        client.reports = reports_dead.then_some(Object::of(dead[9].number() + 1).expect("not 0"));
        for nth in 0..20 {
            let call = || match nth % 2 {
                0 => gc.collect_young(&mut client),
                _ => gc.collect(&mut client),
            };
            assert!(panics(call), "{fails_in}");
            assert_eq!(gc.check(), Ok(()));
            assert_eq!((gc.live(), gc.young().0), (gc.young(), 40));
            assert!(!gc.is_old(oldest) && !gc.is_remembered(oldest));
        }
        assert_eq!((client.calls, gc.objects().count()), (20, 40));
        client.fails_in = None;
        assert_eq!(gc.collect_young(&mut client).freed_objects, 10);
        assert_eq!((gc.objects().count(), gc.check()), (30, Ok(())));
        assert!(client.weak.iter().all(Option::is_none));
        client.list.0.clear();
        assert_eq!(gc.collect(&mut client).freed_objects, 30);
    }
}

/// References to dead and freed objects, and numbers of no object, are told by every access and by
/// the barrier.
#[test]
fn stale_and_forged_references_are_told_by_generations() {
    let mut region = JunkRegion::new(1 << 14, 8, 1);
    let mut gc = aged::<Late>(&mut region, 8);
    let mut client = Faulty::default();
    let dead = fill(&mut gc, &mut client, 10);
    gc.collect_young(&mut client);
    let live = client.list.0[0];
    assert!(gc.is_old(live) && dead.iter().all(|&object| !gc.contains(object)));
    let forged = (1..3000).chain([u32::MAX - 1, u32::MAX]);
    for number in forged.filter_map(Object::of) {
        gc.store_u64(live, 2, u64::from(number.number()) << 32 | 7);
        gc.store_data(live, 2, 0);
        let lives = gc.contains(number);
        assert_eq!(lives, gc.objects().any(|object| object == number));
        assert_eq!(lives, gc.is_old(number));
        assert!(lives || !gc.is_remembered(number));
        let is_near = (40..=2990).contains(&number.number());
        if !lives && (!is_near || dead.contains(&number)) {
            let calls: [&mut dyn FnMut(&mut Generational<'_, _>); 7] = [
                &mut |gc| _ = gc.load(number, 0),
                &mut |gc| _ = gc.reference(number, 0),
                &mut |gc| _ = gc.words(number),
                &mut |gc| gc.store_data(number, 0, 1),
                &mut |gc| gc.store_u64(number, 0, 1),
                &mut |gc| gc.store(number, 0, None),
                &mut |gc| gc.store(live, 1, Some(number)),
            ];
            for call in calls {
                assert!(panics(|| call(&mut gc)));
            }
        }
    }
    assert!(panics(|| gc.store(live, u32::MAX, None)));
    assert_eq!((gc.check(), gc.is_remembered(live)), (Ok(()), false));
    assert_eq!(gc.collect_young(&mut client).remembered, 0);
}

/// A young object to which an old one refers by a word written as data is lost, and told.
#[test]
fn a_reference_written_as_data_is_lost_and_told() {
    let mut region = JunkRegion::new(1 << 14, 8, 1);
    let mut gc = aged::<Lists>(&mut region, 8);
    let mut client = Faulty::default();
    fill(&mut gc, &mut client, 10);
    gc.collect_young(&mut client);
    let old = client.list.0[0];
    let young = gc.alloc_as_is(24).expect("room");
    gc.store_data(old, 0, young.number());
    assert!(!gc.is_remembered(old));
    assert_eq!(gc.collect_young(&mut client).freed_objects, 1);
    assert!(panics(|| gc.load(young, 0)));
    assert!(
        panics(|| gc.collect(&mut client)),
        "it is reported, but dead"
    );
    assert_eq!((gc.check(), gc.objects().count()), (Ok(()), 10));
    gc.store(old, 0, None);
    assert_eq!(gc.collect(&mut client).freed_objects, 9);
}

fn remember_all<S: OneByOne>(gc: &mut Generational<'_, S>) {
    let objects: Vec<_> = gc.objects().collect();
    objects.into_iter().for_each(|object| gc.remember(object));
}

/// Every number is refused that is no live object's; a young object needs nothing; an old one is
/// remembered once, however often it is told, and until the next collection.
#[test]
fn any_object_may_be_remembered_at_any_time() {
    for mark_stack in [1, 64] {
        let mut region = JunkRegion::new(1 << 14, 8, 1);
        let mut gc = aged::<Late>(&mut region, mark_stack);
        let mut client = Faulty::default();
        fill(&mut gc, &mut client, 20);
        gc.collect_young(&mut client);
        fill(&mut gc, &mut client, 10);
        for number in (1..3000).chain([u32::MAX - 1, u32::MAX]) {
            let object = Object::of(number).expect("not 0");
            let refuses = panics(|| (0..3).for_each(|_| gc.remember(object)));
            assert_eq!(refuses, !gc.contains(object));
            assert_eq!(gc.is_remembered(object), gc.is_old(object));
        }
        assert_eq!(gc.check(), Ok(()));
        client.fails_in = Some(1);
        assert!(panics(|| gc.collect_young(&mut client)));
        client.fails_in = None;
        remember_all(&mut gc);
        assert!(!gc.objects().any(|object| gc.is_remembered(object)));
        assert_eq!(gc.collect_young(&mut client).remembered, 0);
        remember_all(&mut gc);
        let round = gc.collect_young(&mut client);
        assert_eq!((round.remembered, round.marked), (30, 0));
        assert!(!gc.objects().any(|object| gc.is_remembered(object)));
        assert_eq!((gc.objects().count(), gc.check()), (30, Ok(())));
    }
}

/// One root, and a table of references beside the heap.
struct Table(Object, Vec<(Object, Object)>);

impl<S: Space> Client<S> for Table {
    fn roots(&mut self, edges: &mut Edges<'_>) {
        edges.report(self.0);
    }

    fn scan(&mut self, object: &Scanned<'_, S>, _: u32, edges: &mut Edges<'_>) {
        let of_object = self.1.iter().filter(|(from, _)| *from == object.object());
        of_object.for_each(|&(_, to)| edges.report(to));
    }
}

/// A young object to which an old one refers beside the heap is lost and told, unless the old one
/// is remembered; it is old then, so once is enough. The call may come before the reference or
/// after it.
#[test]
fn a_reference_beside_the_heap_must_be_remembered() {
    for told in [None, Some(false), Some(true)] {
        let mut region = JunkRegion::new(1 << 14, 8, 1);
        let mut gc = aged::<Lists>(&mut region, 8);
        let root = gc.alloc_as_is(16).expect("room");
        let mut client = Table(root, Vec::new());
        gc.collect_young(&mut client);
        let young = gc.alloc_as_is(16).expect("room");
        if told == Some(false) {
            gc.remember(root);
        }
        client.1.push((root, young));
        if told == Some(true) {
            gc.remember(root);
        }
        gc.collect_young(&mut client);
        assert_eq!(gc.contains(young), told.is_some());
        gc.collect_young(&mut client);
        if told.is_none() {
            assert!(panics(|| gc.load(young, 0)));
            assert!(panics(|| gc.collect(&mut client)), "reported, but dead");
            client.1.clear();
        }
        assert_eq!(gc.collect(&mut client).freed_objects, 0);
        assert_eq!((gc.check(), gc.is_old(young)), (Ok(()), told.is_some()));
    }
}

/// Allocates until nothing helps, and then drops all roots.
fn roots_fill_the_heap<S: OneByOne>(gc: &mut Generational<'_, S>, client: &mut Faulty) {
    while let Ok(object) = gc.alloc(client, 100) {
        client.list.0.push(object);
        assert_eq!(gc.check(), Ok(()));
    }
    assert_eq!(gc.last().map(|round| round.extent), Some(Extent::Full));
    for _ in 0..5 {
        let collections = gc.totals().collections;
        assert!(gc.alloc(client, 100).is_err());
        assert_eq!(gc.totals().collections, collections + 1);
    }
    assert_eq!(gc.totals().refusals, 7);
    assert!(gc.generations().full.rounds > 5);
    client.list.0.clear();
    assert!(gc.alloc(client, 2000).is_ok());
    assert_eq!((gc.objects().count(), gc.check()), (1, Ok(())));
    assert_eq!(gc.usage().total(), 1 << 13);
}

/// A request that has no room collects until nothing helps; one that never will have any does not.
#[test]
fn no_room_for_generations_collects_until_nothing_helps() {
    fn judged<I: Index>() {
        let mut region = JunkRegion::new(1 << 13, 8, 1);
        let mut gc = aged::<I>(&mut region, 1);
        let mut client = Faulty::default();
        fill(&mut gc, &mut client, 10);
        gc.collect_young(&mut client);
        while gc.alloc_as_is(100).is_ok() {}
        for bytes in NUMBERS {
            let _ = gc.alloc_as_is(bytes);
        }
        assert_eq!(gc.check(), Ok(()));
        let collections = gc.totals().collections;
        let told = gc.alloc(&mut client, usize::MAX);
        assert!(matches!(told, Err(Refused::TooLarge { .. })));
        assert_eq!(gc.totals().collections, collections);
        let served = gc.alloc(&mut client, 2000).expect("all the garbage");
        assert_eq!(gc.last().map(|round| round.extent), Some(Extent::Minor));
        client.list.0.push(served);
        roots_fill_the_heap(&mut gc, &mut client);
        assert_eq!(gc.space().heap().live_objects(), 1);
    }
    judged::<Lists>();
    judged::<Late>();
    judged::<TwoLevel>();
}

fn judge_numbers<S: OneByOne>(gc: &mut Generational<'_, S>, object: Object) {
    let words = gc.words(object);
    for word in 0..words - 1 {
        gc.store_u64(object, word, u64::MAX / 3);
        assert_eq!(gc.load_u64(object, word), u64::MAX / 3);
        gc.store_f64(object, word, -0.0);
        assert_eq!(gc.load_f64(object, word).to_bits(), 1 << 63);
    }
    for word in [words - 1, words, u32::MAX] {
        assert!(panics(|| gc.store_u64(object, word, 1)));
        assert!(panics(|| gc.store_f64(object, word, 1.0)));
        assert!(panics(|| gc.load_u64(object, word)));
        assert!(panics(|| gc.load_f64(object, word)));
    }
}

/// Leaves nothing but zeros.
fn judge_bytes<S: OneByOne>(gc: &mut Generational<'_, S>, object: Object) {
    let len = gc.words(object) as usize * 4;
    let written: Vec<u8> = (0..len).map(|nth| (nth * 7) as u8).collect();
    gc.store_bytes(object, 0, &written);
    for from in NUMBERS.into_iter().filter(|&from| from >= len) {
        assert!(panics(|| gc.store_bytes(object, from, &[1])));
        assert!(panics(|| gc.load_bytes(object, from, &mut [0])));
    }
    let mut read = vec![0; len];
    gc.load_bytes(object, 0, &mut read);
    assert_eq!(read, written);
    gc.store_bytes(object, 0, &vec![0; len]);
}

/// Words and bytes of any number, in objects in one piece and in many, young and old: all or
/// nothing is written.
#[test]
fn generations_store_numbers_and_bytes_of_any_place() {
    fn judged<S: OneByOne>(mut gc: Generational<'_, S>) {
        let mut client = Faulty::default();
        let young = gc.alloc(&mut client, 16).expect("room");
        for (bytes, ages) in [(16, false), (40, true), (300, false), (1000, true)] {
            let object = gc.alloc(&mut client, bytes).expect("room");
            client.list.0 = vec![young, object];
            if ages {
                gc.collect_young(&mut client);
            }
            judge_numbers(&mut gc, object);
            judge_bytes(&mut gc, object);
            assert_eq!((gc.check(), gc.is_remembered(object)), (Ok(()), false));
        }
        gc.collect(&mut client);
        assert_eq!((gc.objects().count(), gc.check()), (2, Ok(())));
    }
    let mut region = JunkRegion::new(1 << 14, 8, 1);
    judged(aged::<Lists>(&mut region, 1));
    let config = config().with_pieces(Some(64)).expect("valid");
    let mut region = JunkRegion::new(1 << 15, 1024, 1);
    let gc = Collector::compact_fit(region.memory(), &config, 4).expect("large enough");
    judged(Generational::over(gc));
}

#[test]
fn a_clock_may_lie_and_unwind_in_generations() {
    for unwinds_at in 0..16 {
        let (mut region, read) = (JunkRegion::new(1 << 14, 8, 1), Cell::new(0));
        let mut list = List::default();
        let clock = Hostile {
            read: &read,
            unwinds_at,
        };
        let mut gc = Heap::<Lists>::new(region.memory(), Settings::default()).expect("room");
        linked(&mut gc, &mut list, 5);
        let mut gc = Generational::over(gc.with_clock(clock));
        for _ in 0..3 {
            let _ = gc.alloc_as_is(16).expect("room");
            let _ = panics(|| gc.collect_young(&mut list));
            let _ = gc.alloc_as_is(16).expect("room");
            assert_eq!(gc.check(), Ok(()), "reading {unwinds_at}");
            let _ = panics(|| gc.collect(&mut list));
            assert_eq!(gc.check(), Ok(()), "reading {unwinds_at}");
        }
        let _ = panics(|| gc.collect(&mut list));
        gc.collect(&mut list);
        assert_eq!(gc.objects().count(), 5);
    }
}
