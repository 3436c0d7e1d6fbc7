//! Hostile callers of schedules: any numbers in every declaration, clocks and clients that unwind,
//! spaces that count wrong.

use std::ops::Range;

use super::*;
use surefit_compact::certify::ClassSet;
use surefit_gc::schedule::{
    Amount, ByTime, ByWork, Headroom, NotCertifiable, Pauses, Program, Quanta, Rate, Schedule,
    least_mutator_ticks,
};
use surefit_gc::{Incremental, Stepwise, VirtualClock};

const MANY: [u64; 8] = [0, 1, 64, 1 << 20, 1 << 32, 1 << 62, u64::MAX - 1, u64::MAX];

fn amounts() -> impl Iterator<Item = Amount> {
    let all = MANY.iter();
    all.flat_map(|&objects| MANY.iter().map(move |&bytes| Amount { objects, bytes }))
}

#[test]
fn amounts_of_any_number_are_added_and_compared() {
    for a in amounts() {
        for b in amounts() {
            assert!(a.is_within(a.plus(b)) && a.minus(b).is_within(a));
            assert!(a.times(b.bytes).is_within(a.times(u64::MAX)));
            let pace = ByWork {
                live: a,
                cycle: b,
                work: a.bytes,
            };
            assert!(pace.trigger().is_within(pace.most()));
            for allocated in amounts().step_by(7) {
                let due = pace.due(allocated);
                match allocated.is_within(b) {
                    true => assert!(due <= pace.work),
                    false => assert_eq!(due, u64::MAX),
                }
            }
        }
    }
}

/// A schedule by time of any numbers: `None`, or a panic that is documented, or one that can be
/// computed.
#[test]
fn schedules_by_time_of_any_number_are_computed_or_none() {
    let (mut some, mut none) = (0, 0);
    for (a, b) in MANY.iter().flat_map(|&a| MANY.iter().map(move |&b| (a, b))) {
        let Some(quanta) = Quanta::new(a, b) else {
            none += 1;
            continue;
        };
        assert_eq!((quanta.collector(), quanta.mutator()), (a, b));
        for window in MANY {
            assert!(quanta.least_mutator_ticks(window) <= window);
        }
        for (units, grain) in MANY.iter().flat_map(|&u| MANY.iter().map(move |&g| (u, g))) {
            let all = Amount {
                objects: units,
                bytes: a,
            };
            let pace = ByTime {
                live: all,
                quanta,
                allocated: all,
                units,
                grain,
                work: b,
            };
            assert!(pace.budget(u64::MAX) <= units && pace.budget(0) == 0);
            let rate = Rate { units, ticks: a };
            assert!(rate.units_in(0) <= rate.units_in(grain));
            let sums = || (pace.cycle(), pace.trigger(), pace.most());
            match pace.quanta_of_a_cycle() {
                Some(quanta) => assert!(quanta <= b && sums().1.is_within(sums().2)),
                None => assert!(catch_unwind(sums).is_err()),
            }
            some += 1;
        }
    }
    assert!(some > 100 && none > 5);
    assert!(catch_unwind(|| Rate { units: 1, ticks: 0 }.units_in(1)).is_err());
}

#[test]
fn pauses_of_any_number_are_measured() {
    let mut pauses = Pauses::new();
    for ticks in MANY {
        pauses.add(ticks);
        assert_eq!(pauses.at_most(1, 1), pauses.longest());
        for window in MANY {
            let whole = Range {
                start: 0,
                end: ticks,
            };
            let whole = std::slice::from_ref(&whole);
            let had = least_mutator_ticks(whole, 0..u64::MAX, window).expect("within the run");
            assert!(had <= window);
            let backwards = Range {
                start: u64::MAX,
                end: 0,
            };
            assert_eq!(least_mutator_ticks(whole, backwards, window), None);
        }
    }
    assert_eq!((pauses.count(), pauses.sum()), (8, u64::MAX));
    assert_eq!(pauses.buckets().count(), 7);
    assert!(catch_unwind(AssertUnwindSafe(|| pauses.at_most(2, 1))).is_err());
    assert!(catch_unwind(AssertUnwindSafe(|| pauses.at_most(0, 0))).is_err());
}

#[test]
fn declarations_of_any_number_have_a_certificate_or_a_reason() {
    let config = config();
    let (mut some, mut none) = (0, 0);
    let cost = CompactFit::cost(&config, 16).expect("served");
    assert_eq!(
        FreeList::<'_, Lists>::cost(usize::MAX).objects,
        cost.objects
    );
    for bytes in NUMBERS {
        assert!(CompactFit::cost(&config, bytes).is_none_or(|cost| cost.bytes >= bytes as u64));
    }
    for (roots, live) in MANY
        .iter()
        .flat_map(|&roots| amounts().step_by(5).map(move |live| (roots, live)))
    {
        let program = Program {
            live,
            roots,
            weak: roots,
        };
        let quanta = Quanta::new(u64::MAX, 0).expect("a period");
        let by_time = Headroom::ByTime {
            quanta,
            allocated: live,
            units: roots,
        };
        for headroom in [Headroom::ByWork(live), Headroom::ByWork(cost), by_time] {
            for classes in [ClassSet::EMPTY, ClassSet::all(config.geometry())] {
                match CompactFit::certify(&config, classes, &program, &headroom) {
                    Ok(certificate) => some += usize::from(certificate.region_bytes > 0),
                    Err(_) => none += 1,
                }
            }
            for largest in [0, 64, usize::MAX] {
                match FreeList::<'_, Lists>::certify(largest, &program, &headroom) {
                    Ok(certificate) => {
                        let settings = FreeList::<'_, Lists>::certified_settings(&certificate);
                        some += settings.mark_stack;
                    }
                    Err(_) => none += 1,
                }
            }
            let late = FreeList::<'_, Late>::certify(0, &program, &headroom);
            assert_eq!(late, Err(NotCertifiable::Heap));
        }
    }
    assert!(some > 10 && none > 100, "{some} {none}");
}

/// Schedules of any numbers.
fn schedules() -> impl Iterator<Item = Schedule> {
    let quanta = Quanta::new(100, 1).expect("a period");
    amounts().step_by(3).flat_map(move |amount| {
        let by_time = ByTime {
            live: amount,
            quanta,
            allocated: amount,
            units: u64::MAX,
            grain: u64::MAX,
            work: amount.bytes,
        };
        [
            Schedule::Asked(amount),
            Schedule::ByWork(ByWork {
                live: amount,
                cycle: amount,
                work: u64::MAX,
            }),
            Schedule::ByTime(by_time),
            Schedule::ByTime(ByTime {
                grain: 65,
                units: 65,
                ..by_time
            }),
        ]
    })
}

/// Schedules of any numbers, with clocks that lie and unwind: the heap stays sound, and requests
/// are served as without a schedule.
#[test]
fn a_scheduled_collector_with_a_clock_that_unwinds_stays_sound() {
    for (schedule, unwinds_at) in
        schedules().flat_map(|schedule| [(schedule, 9), (schedule, u32::MAX)])
    {
        let (mut region, read) = (JunkRegion::new(1 << 13, 8, 1), Cell::new(0));
        let mut list = List::default();
        let gc = Heap::<Lists>::new(region.memory(), Settings::default()).expect("large enough");
        let gc = gc.with_clock(Hostile {
            read: &read,
            unwinds_at,
        });
        let mut gc = Incremental::over(gc).with_schedule(schedule);
        assert_eq!(*gc.schedule(), schedule);
        for nth in 0..300 {
            let step = catch_unwind(AssertUnwindSafe(|| {
                if let Ok(object) = gc.alloc(&mut list, 24) {
                    gc.store(object, 0, list.0.pop());
                    list.0.push(object);
                }
                let is_due = gc.due();
                let rate = Rate {
                    units: nth,
                    ticks: nth + 1,
                };
                match nth % 5 {
                    0 => drop(gc.alloc(&mut list, usize::MAX).expect_err("too large")),
                    1 => assert!(is_due || !gc.offer(&mut list, nth * nth)),
                    2 => drop(gc.run_until(&mut list, u64::MAX - nth, rate)),
                    3 if nth > 200 => list.0.clear(),
                    _ => {}
                }
            }));
            assert!(step.is_ok() || unwinds_at == 9);
            assert_eq!(gc.check(), Ok(()));
        }
        assert!(
            gc.paced().most_occupied.bytes > 0 && gc.occupied().is_within(gc.paced().most_occupied)
        );
        assert!(gc.pauses().count() > 0, "{schedule:?}");
    }
}

/// A virtual clock stands at its end.
#[test]
fn a_virtual_clock_passes_any_number_of_ticks() {
    let clock = VirtualClock::new();
    for ticks in MANY {
        let before = clock.now();
        clock.pass(ticks);
        (&&clock).worked(ticks);
        assert!(clock.now() >= before);
    }
    assert_eq!(clock.now(), u64::MAX);
}

/// What spaces count is what they were asked for, or more.
#[test]
fn a_space_counts_any_number_of_bytes_and_words() {
    let (mut region, mut pieces) = (JunkRegion::new(1 << 14, 1024, 1), [0; 200]);
    let config = config();
    let space = CompactFit::new(region.memory(), &config, &mut pieces).expect("large enough");
    let mut other = JunkRegion::new(1 << 14, 8, 1);
    let lists = FreeList::<Lists>::new(other.memory(), Sweep::Leap).expect("large enough");
    for bytes in NUMBERS {
        let least = (bytes as u64).min(1 << 32);
        assert!(space.cost(bytes).bytes >= least && lists.cost(bytes).bytes >= least);
        assert!(space.cost(bytes).is_within(space.most_cost(bytes)));
        assert!(lists.cost(bytes).is_within(lists.most_cost(bytes)));
    }
}
