//! Threads that free what other threads allocated.
#![deny(unsafe_code)]

use std::sync::mpsc::sync_channel;
use std::thread;

use anyhow::Result;

use super::super::objects::Object;
use super::super::random::Random;
use super::super::watch::Watch;
use super::super::work::Work;

/// A sum of what was freed, in any order.
fn sum(freed: impl IntoIterator<Item = u64>) -> u64 {
    freed.into_iter().fold(0, u64::wrapping_add)
}

/// What a thread returned.
fn joined<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().expect("threads end well")
}

/// As in larson: every thread replaces objects of 10 to 500 bytes in an array of 1000, and ends;
/// its successor gets the array of another thread. The first array is the main thread's.
pub(super) fn server(work: Work, watch: &mut Watch) -> Result<u64> {
    const SLOTS: u64 = 1000;
    const GENERATIONS: u64 = 50;
    let times = work.of(40_000);
    let object = |random: &mut Random| Object::new(random.between(10, 500), random.bits() as u8);
    let replace = |mut objects: Vec<Object>, seed: u64| {
        let mut random = Random::new(seed);
        let mut freed = 0_u64;
        for _ in 0..times {
            let slot = random.index(objects.len());
            let old = std::mem::replace(&mut objects[slot], object(&mut random));
            freed = freed.wrapping_add(old.free());
        }
        (objects, freed)
    };
    let mut lanes: Vec<Vec<Object>> = Vec::new();
    Ok(watch.time(|| {
        let mut random = Random::new(3);
        lanes.extend((0..work.threads).map(|_| (0..SLOTS).map(|_| object(&mut random)).collect()));
        let mut total = 0_u64;
        for generation in 0..GENERATIONS {
            lanes.rotate_left(1);
            let ended: Vec<_> = thread::scope(|scope| {
                let seeds = 1 + generation * lanes.len() as u64..;
                let threads = lanes.drain(..).zip(seeds);
                let threads: Vec<_> = threads
                    .map(|(lane, seed)| scope.spawn(move || replace(lane, seed)))
                    .collect();
                threads.into_iter().map(joined).collect()
            });
            for (lane, freed) in ended {
                total = total.wrapping_add(freed);
                lanes.push(lane);
            }
        }
        let left = lanes.drain(..).flatten().map(Object::free);
        total.wrapping_add(sum(left))
    }))
}

/// Half of the threads allocate objects of 16 to 256 bytes in batches, the other half frees them.
pub(super) fn pipeline(work: Work, watch: &mut Watch) -> Result<u64> {
    const BATCH: u64 = 100;
    let batches = work.of(10_000);
    let pair = |seed: u64| {
        let (sender, receiver) = sync_channel::<Vec<Object>>(16);
        let produce = move || {
            let mut random = Random::new(seed);
            for _ in 0..batches {
                let one = |_| Object::new(random.between(16, 256), random.bits() as u8);
                let batch = (0..BATCH).map(one).collect();
                sender.send(batch).expect("the consumer takes all");
            }
        };
        let consume = move || sum(receiver.into_iter().flatten().map(Object::free));
        (produce, consume)
    };
    Ok(watch.time(|| {
        thread::scope(|scope| {
            let pairs = (0..work.threads as u64 / 2).map(|seed| {
                let (produce, consume) = pair(100 + seed);
                scope.spawn(produce);
                scope.spawn(consume)
            });
            let pairs: Vec<_> = pairs.collect();
            sum(pairs.into_iter().map(joined))
        })
    }))
}

/// Threads that live briefly: each allocates 500 objects of 16 to 1024 bytes, frees every other
/// one, and leaves the rest to the main thread.
pub(super) fn short_threads(work: Work, watch: &mut Watch) -> Result<u64> {
    const OBJECTS: u64 = 500;
    let brief = |seed: u64| {
        let mut random = Random::new(seed);
        let one = |_| Object::new(random.between(16, 1024), random.bits() as u8);
        let objects: Vec<_> = (0..OBJECTS).map(one).collect();
        let (mut left, mut freed) = (Vec::with_capacity(objects.len()), 0_u64);
        for (number, object) in objects.into_iter().enumerate() {
            if number % 2 == 0 {
                freed = freed.wrapping_add(object.free());
            } else {
                left.push(object);
            }
        }
        (left, freed)
    };
    let threads = work.threads as u64;
    Ok(watch.time(|| {
        let mut total = 0_u64;
        for group in 0..work.of(6000).div_ceil(threads) {
            thread::scope(|scope| {
                let seeds = group * threads..(group + 1) * threads;
                let running: Vec<_> = seeds
                    .map(|seed| scope.spawn(move || brief(1000 + seed)))
                    .collect();
                for thread in running {
                    let (left, freed) = joined(thread);
                    let left = sum(left.into_iter().map(Object::free));
                    total = total.wrapping_add(freed).wrapping_add(left);
                }
            });
        }
        total
    }))
}
