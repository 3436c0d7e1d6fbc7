//! Certificates over free lists against programs at the edge of what they declare: chunks that are
//! longer than was asked for, weak references one by one, readings of the clock that take time,
//! more memory.

use std::cell::Cell;
use std::mem::MaybeUninit;

use super::*;
use surefit_gc::schedule::{
    Amount, CollectedCertificate, Headroom, Program, Quanta, Rate, Schedule,
};
use surefit_gc::{Incremental, NoClock};

type Space<'m> = FreeList<'m, Lists>;

/// M: so many objects of this many bytes.
const LIVE: u64 = 300;
const BYTES: usize = 28;

/// Roots, and weak references of which so many are looked at in a call. The first word of an object
/// may refer to another one.
#[derive(Default)]
struct Edge {
    roots: Vec<Object>,
    weak: Vec<Option<Object>>,
    at_once: usize,
}

impl<S: surefit_gc::Space> Client<S> for Edge {
    fn roots(&mut self, edges: &mut Edges<'_>) {
        self.roots.iter().for_each(|&root| edges.report(root));
    }

    fn scan(&mut self, object: &Scanned<'_, S>, _from: u32, edges: &mut Edges<'_>) {
        let next = object.reference(0);
        next.into_iter().for_each(|next| edges.report(next));
    }

    fn weak_from(&mut self, from: u32, living: &Living<'_>) -> Option<u32> {
        let weak = self.weak.iter_mut().enumerate();
        for (_, weak) in weak.skip(from as usize).take(self.at_once) {
            *weak = weak.filter(|&object| living.contains(object));
        }
        let next = from as usize + self.at_once;
        (next < self.weak.len()).then_some(next as u32)
    }
}

fn program(weak: u64) -> Program {
    Program {
        live: Space::cost(BYTES).times(LIVE),
        roots: LIVE,
        weak,
    }
}

fn certify(largest: usize, program: &Program) -> CollectedCertificate {
    let headroom = Headroom::ByWork(program.live);
    Space::certify(largest, program, &headroom).expect("fits")
}

fn over<'m>(
    region: &'m mut [MaybeUninit<u8>],
    certificate: &CollectedCertificate,
) -> Incremental<'m, Space<'m>> {
    let settings = Space::certified_settings(certificate);
    let gc = Heap::<Lists>::new(region, settings).expect("large enough");
    Incremental::over(gc).with_schedule(certificate.schedule)
}

/// The heap never ran out, and no more was occupied than is certified.
fn assert_kept<K: Clock>(gc: &Incremental<'_, Space<'_>, K>, certificate: &CollectedCertificate) {
    assert_eq!((gc.steps().forced, gc.steps().whole), (0, 0));
    assert!(gc.steps().cycles > 5);
    assert!(
        gc.paced().most_occupied.is_within(certificate.occupied),
        "{:?} {certificate:?}",
        gc.paced()
    );
    assert_eq!(gc.check(), Ok(()));
}

/// Allocates and drops objects, so many times what may live.
fn flood(gc: &mut Incremental<'_, Space<'_>>, client: &mut Edge, times: u64) {
    for _ in 0..times * LIVE {
        gc.alloc(client, BYTES).expect("room");
    }
}

#[test]
fn weak_references_may_be_passed_one_by_one() {
    for (weak, at_once) in [(0, 1), (LIVE, 1), (4 * LIVE, 1), (4 * LIVE, 64)] {
        let certificate = certify(BYTES, &program(weak));
        let mut region = JunkRegion::new(certificate.region_bytes, 8, 0);
        let mut gc = over(region.memory(), &certificate);
        let mut client = Edge {
            at_once,
            ..Edge::default()
        };
        for _ in 1..LIVE {
            let object = gc.alloc(&mut client, BYTES).expect("room");
            client.roots.push(object);
        }
        let weak = (0..weak as usize).map(|nth| Some(client.roots[nth % client.roots.len()]));
        client.weak = weak.collect();
        flood(&mut gc, &mut client, 100);
        assert_kept(&gc, &certificate);
        assert_eq!(gc.paced().cycles_overdue, 0);
        assert!(
            gc.last()
                .is_some_and(|cycle| cycle.work <= certificate.work)
        );
    }
}

/// Fills the heap with pairs of longer objects, and replaces these by shorter ones of `BYTES` in
/// their chunks, one of each pair after the other: what is left of a chunk is too short for a chunk
/// of its own.
fn fill_with_rests(gc: &mut Incremental<'_, Space<'_>>, client: &mut Edge, longer: usize) {
    let (small, large) = (Space::cost(BYTES).bytes, Space::cost(longer).bytes);
    // One of them is the present request's.
    let mut left = small * (LIVE - 1);
    while left >= 2 * large {
        let pairs = left / large / 2;
        let mut objects = Vec::new();
        for _ in 0..2 * pairs {
            let object = gc.alloc(client, longer).expect("room");
            objects.push(object);
            client.roots.push(object);
        }
        for half in 0..2 {
            let dead: Vec<_> = objects.iter().skip(half).step_by(2).collect();
            client.roots.retain(|root| !dead.contains(&root));
            gc.collect(client);
            for _ in 0..pairs {
                let object = gc.alloc(client, BYTES).expect("room");
                client.roots.push(object);
            }
        }
        left -= 2 * pairs * small;
    }
}

/// Nearly all that lives is a granule longer than was asked for.
#[test]
fn chunks_may_keep_a_granule_that_is_left_over() {
    let longer = BYTES + 8;
    let certificate = certify(longer, &program(0));
    let mut region = JunkRegion::new(certificate.region_bytes, 8, 0);
    let mut gc = over(region.memory(), &certificate);
    let mut client = Edge::default();
    fill_with_rests(&mut gc, &mut client, longer);
    let words = client.roots.iter().map(|&root| gc.words(root));
    let with_rest = words.filter(|&words| words == 9).count() as u64;
    assert!(with_rest + 10 > LIVE, "{with_rest}");
    let live = Amount {
        objects: LIVE - 1,
        bytes: program(0).live.bytes,
    };
    gc.collect(&mut client);
    assert!(!gc.occupied().is_within(live), "more than was declared");
    flood(&mut gc, &mut client, 300);
    assert_kept(&gc, &certificate);
    assert_eq!(gc.paced().cycles_overdue, 0);
}

/// A region that is longer than the certificate's: its first bytes keep all that is certified. All
/// of it has more bits, so requests may wait longer, but the heap does not run out either.
#[test]
fn a_longer_region_is_cut_to_its_certificate_or_makes_requests_wait() {
    let certificate = certify(BYTES, &program(0));
    for is_cut in [true, false] {
        let mut region = JunkRegion::new(16 * certificate.region_bytes, 8, 0);
        let bytes = certificate.region_bytes * if is_cut { 1 } else { 16 };
        let mut gc = over(&mut region.memory()[..bytes], &certificate);
        let mut client = Edge::default();
        for _ in 1..LIVE {
            let object = gc.alloc(&mut client, BYTES).expect("room");
            client.roots.push(object);
        }
        flood(&mut gc, &mut client, 300);
        assert_kept(&gc, &certificate);
        assert_eq!(gc.paced().cycles_overdue == 0, is_cut);
    }
}

/// A clock of which each reading takes so many ticks; units of work are ticks.
struct Slow<'c> {
    now: &'c Cell<u64>,
    reading: u64,
}

impl Clock for Slow<'_> {
    fn now(&self) -> u64 {
        self.now.set(self.now.get() + self.reading);
        self.now.get()
    }

    fn worked(&self, units: u64) {
        self.now.set(self.now.get() + units);
    }
}

/// A quantum has time for its units and for 12 readings, as is declared. The fewest units that a
/// quantum may have leave one of them for a step.
#[test]
fn readings_of_the_clock_take_nothing_from_the_units_of_a_quantum() {
    for (reading, ticks, units) in [(0, 68, 68), (1, 80, 68), (1, 80, 67), (1, 80, 66)] {
        let cost = Space::cost(12);
        let program = Program {
            live: cost.times(LIVE),
            roots: 1,
            weak: 0,
        };
        let headroom = Headroom::ByTime {
            quanta: Quanta::new(ticks, 10).expect("a period"),
            allocated: cost,
            units,
        };
        let certificate = Space::certify(12, &program, &headroom).expect("fits");
        let mut region = JunkRegion::new(certificate.region_bytes, 8, 0);
        let now = Cell::new(0);
        let clock = Slow { now: &now, reading };
        let settings = Space::certified_settings(&certificate);
        let gc = Heap::<Lists>::new(region.memory(), settings).expect("large enough");
        let mut gc = Incremental::over(gc.with_clock(clock)).with_schedule(certificate.schedule);
        let mut client = Edge::default();
        for nth in 0..100_000 {
            now.set(now.get() + 10);
            let object = gc.alloc(&mut client, 12).expect("room");
            if nth < LIVE - 1 {
                gc.store(object, 0, client.roots.pop());
                client.roots.push(object);
            }
        }
        assert_kept(&gc, &certificate);
        let paced = gc.paced();
        assert_eq!((paced.quanta_overrun, paced.too_short), (0, 0), "{paced:?}");
    }
}

/// A time that is too short for a piece of work is counted.
#[test]
fn a_time_that_is_too_short_is_counted() {
    let now = Cell::new(0);
    let clock = Slow {
        now: &now,
        reading: 0,
    };
    let mut region = JunkRegion::new(1 << 13, 8, 0);
    let gc = Heap::<Lists>::new(region.memory(), Settings::default()).expect("large enough");
    let mut gc =
        Incremental::over(gc.with_clock(clock)).with_schedule(Schedule::Asked(Amount::default()));
    let mut client = Edge::default();
    let rate = Rate { units: 1, ticks: 1 };
    let object = gc.alloc(&mut client, BYTES).expect("room");
    client.roots.push(object);
    for offered in 1..4 {
        assert_eq!(gc.run_until(&mut client, 10, rate), 0);
        assert_eq!(gc.paced().too_short, offered);
    }
    let now = now.get();
    assert_eq!(gc.run_until(&mut client, now + 1000, rate), 0);
    assert_eq!((gc.paced().too_short, gc.steps().cycles), (3, 1));
}

#[test]
#[should_panic(expected = "the clock stands still")]
fn a_schedule_by_time_needs_a_clock() {
    let quanta = Quanta::new(1000, 1000).expect("a period");
    let allocated = Space::cost(BYTES).times(10);
    let headroom = Headroom::ByTime {
        quanta,
        allocated,
        units: 1000,
    };
    let certificate = Space::certify(BYTES, &program(0), &headroom).expect("fits");
    let mut region = JunkRegion::new(certificate.region_bytes, 8, 0);
    let _ = over(region.memory(), &certificate);
}

#[test]
#[should_panic(expected = "the clock stands still")]
fn a_deadline_needs_a_clock() {
    assert!(NoClock.stands_still());
    let mut region = JunkRegion::new(1 << 13, 8, 0);
    let gc = Heap::<Lists>::new(region.memory(), Settings::default()).expect("large enough");
    let mut gc = Incremental::over(gc).with_schedule(Schedule::Asked(Amount::default()));
    let rate = Rate { units: 1, ticks: 1 };
    let _ = gc.run_until(&mut Edge::default(), 100, rate);
}
