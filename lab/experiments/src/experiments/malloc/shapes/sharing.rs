//! Threads that write to small objects of their own. If the malloc puts objects of two threads into
//! one cache line, the processors fight for it.
#![deny(unsafe_code)]

use std::thread;

use anyhow::Result;

use super::super::objects::Object;
use super::super::watch::Watch;
use super::super::work::Work;

/// The size of an object: several fit into one cache line.
const BYTES: u32 = 8;

/// How often an object is written before it is freed.
const BEATS: u32 = 200;

/// Active sharing: threads allocate, write and free at the same time. Is a line given to two of
/// them?
pub(super) fn active(work: Work, watch: &mut Watch) -> Result<u64> {
    let times = work.of(400_000);
    Ok(watch.time(|| rounds(work, 1, |_| None, times)))
}

/// Passive sharing: the main thread allocates an object for each thread, and each thread frees its
/// own before it allocates. Does it get the piece of a line back that it freed?
pub(super) fn passive(work: Work, watch: &mut Watch) -> Result<u64> {
    let times = work.of(20_000);
    let given = |tag| Some(Object::new(BYTES, tag));
    Ok(watch.time(|| rounds(work, 20, given, times)))
}

/// So many rounds of threads, which begin with what is given to them.
fn rounds(work: Work, rounds: u8, given: impl Fn(u8) -> Option<Object>, times: u64) -> u64 {
    let mut total = 0_u64;
    for round in 0..rounds {
        let first: Vec<_> = (0..work.threads)
            .map(|thread| given(round.wrapping_add(thread as u8)))
            .collect();
        thread::scope(|scope| {
            let running: Vec<_> = first
                .into_iter()
                .zip(0_u8..=255)
                .map(|(object, tag)| scope.spawn(move || write(object, tag, times)))
                .collect();
            for thread in running {
                total = total.wrapping_add(thread.join().expect("threads end well"));
            }
        });
    }
    total
}

/// Writes to the object that is given, then `times` times to a new one.
fn write(given: Option<Object>, tag: u8, times: u64) -> u64 {
    let mut freed = 0_u64;
    let mut use_up = |mut object: Object| {
        object.beat(BEATS);
        freed = freed.wrapping_add(object.free());
    };
    given.into_iter().for_each(&mut use_up);
    for _ in 0..times {
        use_up(Object::new(BYTES, tag));
    }
    freed
}
