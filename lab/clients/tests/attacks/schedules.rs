//! Replays under schedules of any numbers, and searches that are told anything.

use std::mem::MaybeUninit;

use surefit_clients::java::{Log, Requests, Scheduled, Stepped, Timing, least_heap, utilisation};
use surefit_freelist::TwoLevel;
use surefit_gc::schedule::{Amount, ByTime, ByWork, Quanta, Schedule};
use surefit_gc::{
    Client, Clock as _, Collector, CompactFit, Edges, FreeList, Incremental, Scanned, Settings,
    Space,
};

use super::{program, recorded};

#[test]
fn the_search_for_a_heap_ends_whatever_suffices() {
    let memory = |bytes: usize| (bytes <= 1 << 20).then(|| vec![MaybeUninit::uninit(); bytes]);
    for least in [0, 1, 1 << 19, usize::MAX] {
        for open in [0, usize::MAX] {
            let mut answers = [true, false, true].into_iter().cycle();
            let lies = |_: &mut [MaybeUninit<u8>]| answers.next().expect("a cycle");
            let found = least_heap(least, |_| open, memory, lies);
            assert_eq!(found.is_none(), least == usize::MAX);
            assert_eq!(least_heap(least, |_| open, memory, |_| false), None);
        }
    }
}

/// Schedules with the least and the greatest numbers.
fn any_schedules() -> Vec<Schedule> {
    let amounts = [0, 1, u64::MAX].map(|any| Amount {
        objects: any,
        bytes: any,
    });
    let quanta = [(1, 0), (1, u64::MAX - 1), (u64::MAX, 0)];
    let quanta = quanta.map(|(collector, mutator)| Quanta::new(collector, mutator));
    let mut schedules = vec![Schedule::Whole];
    for amount in amounts {
        schedules.push(Schedule::Asked(amount));
        schedules.push(Schedule::ByWork(ByWork {
            live: amount,
            cycle: amount,
            work: amount.bytes,
        }));
        schedules.extend(quanta.into_iter().flatten().map(|quanta| {
            Schedule::ByTime(ByTime {
                live: amount,
                quanta,
                allocated: amount,
                units: u64::MAX,
                grain: 1 << 20,
                work: amount.bytes,
            })
        }));
    }
    schedules
}

#[test]
fn a_replay_under_any_schedule_ends_in_a_region_of_any_length() {
    let (bytes, mut region) = (recorded(), vec![MaybeUninit::uninit(); 1 << 19]);
    let program = program(&bytes);
    let mut completed = 0;
    let compact_fit = Stepped::CompactFit(Box::new(CompactFit::CONFIG));
    for (nth, schedule) in any_schedules().into_iter().enumerate() {
        let timing = [Timing::Virtual, Timing::Processor, Timing::Off][nth % 3];
        for space in [&Stepped::FreeLists, &compact_fit] {
            for length in [0, 1, 63, 20_000, 1 << 19] {
                let how = Scheduled {
                    schedule,
                    timing,
                    floating: nth % 2 == 0,
                };
                let ran = space.replay(&program, &mut region[..length], &how);
                completed += u32::from(ran.is_some());
                assert!(ran.is_none_or(|ran| ran.steps.largest_excess < ran.most_excess));
            }
        }
    }
    assert!(completed > 30, "{completed}");
}

#[test]
fn a_log_takes_ticks_of_any_number() {
    for timing in [Timing::Virtual, Timing::Off, Timing::Processor] {
        let log = Log::new(timing);
        for ticks in [u64::MAX, 1, u64::MAX] {
            log.pass(ticks);
            let before = log.now();
            log.worked(ticks);
            assert!(log.now() >= before);
        }
        let shares = utilisation(&log.pauses(), log.now());
        assert!(shares.into_iter().flatten().all(|share| share <= 1.0));
        assert!(timing == Timing::Processor || log.stood_ns() == 0);
    }
    assert_eq!(utilisation(&[0..0, 3..u64::MAX], u64::MAX)[0], Some(0.0));
    let disordered = std::panic::catch_unwind(|| utilisation(&[5..9, 3..4], u64::MAX));
    assert!(disordered.is_err());
}

/// It has no roots.
struct Nobody;

impl<S: Space> Client<S> for Nobody {
    fn roots(&mut self, _edges: &mut Edges<'_>) {}
    fn scan(&mut self, _object: &Scanned<'_, S>, _from: u32, _edges: &mut Edges<'_>) {}
}

#[test]
fn requests_of_two_collectors_may_be_mixed() {
    let mut regions = [(); 2].map(|()| vec![MaybeUninit::uninit(); 1 << 14]);
    let log = Log::new(Timing::Virtual);
    let mut collectors = regions.each_mut().map(|region| {
        let gc = Collector::<FreeList<'_, TwoLevel>>::new(region, Settings::default());
        Incremental::over(gc.expect("room").with_clock(&log))
    });
    let mut requests = Requests::default();
    let mut refused = 0;
    for nth in 0..2000 {
        for bytes in [12, 400, 0, usize::MAX] {
            let gc = &mut collectors[nth % 2];
            refused += u32::from(requests.alloc(gc, &mut Nobody, bytes).is_err());
        }
    }
    assert_eq!(refused, 2000);
    let ran = requests.ran(&collectors[0], &Log::new(Timing::Off));
    assert!(ran.steps.cycles > 0 && ran.largest_cycle > 0 && ran.ticks == 0);
}
