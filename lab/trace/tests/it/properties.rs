//! Any valid script survives writing and reading; its counters and statistics are those of a simple
//! model.

use std::collections::BTreeMap;

use proptest::prelude::{Strategy, any, prop, proptest};
use surefit_trace::{Align, Call, Event, Op, Stats, Trace, check_bytes};

/// One step of a script: what to do, to which of the live objects, and on which thread.
#[derive(Clone, Copy, Debug)]
struct Step {
    kind: u8,
    pick: u16,
    size: u64,
    thread: u16,
}

fn size() -> impl Strategy<Value = u64> {
    (0_u32..56).prop_flat_map(|bits| 0..=1_u64 << bits)
}

fn step() -> impl Strategy<Value = Step> {
    (0..9_u8, any::<u16>(), size(), 0..5_u16).prop_map(|(kind, pick, size, thread)| Step {
        kind,
        pick,
        size,
        thread,
    })
}

/// Turns steps into a valid script: victims are among the live, threads appear in order.
fn script(steps: &[Step]) -> Vec<Event> {
    let mut live = Vec::new();
    let mut next = 0;
    let mut threads = 0;
    let mut events = Vec::new();
    for step in steps {
        let thread = step.thread.min(threads);
        threads = threads.max(thread + 1);
        let victim = usize::from(step.pick) % live.len().max(1);
        let op = match step.kind {
            5 if !live.is_empty() => Op::Realloc {
                id: live[victim],
                size: step.size,
            },
            6.. if !live.is_empty() => Op::Free {
                id: live.swap_remove(victim),
            },
            kind => {
                live.push(next);
                next += 1;
                let align = Align::from_log2((step.pick % 31) as u8);
                let call = match kind {
                    3 => Call::Calloc,
                    4 => align.map_or(Call::Malloc, Call::Aligned),
                    _ => Call::Malloc,
                };
                Op::Alloc {
                    id: next - 1,
                    size: step.size,
                    call,
                }
            }
        };
        events.push(Event::new(thread, op));
    }
    events
}

/// The live sizes after each prefix decide the peak: the slow way.
fn sizes_at_peak(events: &[Event]) -> (usize, u64, BTreeMap<u64, u64>) {
    let mut live = BTreeMap::new();
    let mut best = None;
    for (number, event) in events.iter().enumerate() {
        match event.op() {
            Op::Alloc { id, size, .. } | Op::Realloc { id, size } => live.insert(id, size),
            Op::Free { id } => live.remove(&id),
        };
        let sum: u64 = live.values().sum();
        if best.as_ref().is_none_or(|(_, most, _)| sum > *most) {
            best = Some((number, sum, live.clone()));
        }
    }
    let (number, sum, live) = best.unwrap_or_default();
    let mut counts = BTreeMap::new();
    for size in live.into_values() {
        *counts.entry(size).or_default() += 1;
    }
    (number, sum, counts)
}

proptest! {
    #![proptest_config(proptest::test_runner::Config {
        cases: 300,
        rng_seed: proptest::test_runner::RngSeed::Fixed(2026),
        failure_persistence: None,
        ..Default::default()
    })]

    #[test]
    fn a_script_survives_writing_and_reading(steps in prop::collection::vec(step(), 0..200), name in "\\PC{0,20}") {
        let trace = Trace::new(&name, script(&steps)).expect("a valid script");
        let bytes = trace.to_bytes();
        assert_eq!(Trace::from_bytes(&bytes).expect("sound"), trace);
        let mut packed = Vec::new();
        trace.write_compressed(&mut packed, 1, |_| {}).expect("memory does not fail");
        assert_eq!(Trace::from_bytes(&packed).expect("sound"), trace);
        assert_eq!(&check_bytes(&packed).expect("sound"), trace.header());
    }

    #[test]
    fn the_peak_is_that_of_the_model(steps in prop::collection::vec(step(), 1..200)) {
        let events = script(&steps);
        let trace = Trace::new("model", events.clone()).expect("a valid script");
        let (event, live_bytes, counts) = sizes_at_peak(&events);
        assert_eq!((trace.peak().event, trace.peak().live_bytes), (event as u64, live_bytes));
        let stats = Stats::of(&trace);
        let at_peak = |(size, n): (u64, u64)| (n > 0).then_some((size, n));
        let counted: BTreeMap<_, _> = stats
            .sizes
            .iter()
            .filter_map(|count| at_peak((count.size, count.live_at_peak)))
            .collect();
        assert_eq!(counted, counts);
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = check_bytes(&bytes);
        let mut records = b"SFT1\x01\x00\x7f\x7f\x03\x00\x00\x00\x00".to_vec();
        records.extend(bytes);
        if let Err(error) = check_bytes(&records) {
            assert!(!error.to_string().contains('\n'));
        }
    }
}
