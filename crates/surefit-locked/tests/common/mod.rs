//! A program of ordinary collections and threads, for the tests that run it under a global
//! allocator.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;
use std::thread;

/// Numbers that look random, the same in every run.
fn numbers(seed: u64) -> impl Iterator<Item = u64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    })
}

/// Fills, changes and empties one of each collection. Returns a sum that only right contents give.
fn collections(seed: u64) -> u64 {
    let mut sorted = BTreeMap::new();
    let mut hashed = HashMap::new();
    let mut queue = VecDeque::new();
    let mut shared = Vec::new();
    for (i, number) in (0_u64..).zip(numbers(seed).take(2000)) {
        sorted.insert(
            number,
            format!("{i:>width$}", width = (number % 300) as usize),
        );
        hashed.insert(i, number);
        queue.push_back(vec![i; (number % 50) as usize]);
        shared.push(Rc::new([i; 7]));
        if i % 3 == 0 {
            queue.pop_front();
            shared.swap_remove((number % shared.len() as u64) as usize);
        }
    }
    let found = hashed
        .values()
        .filter(|it| sorted.contains_key(*it))
        .count() as u64;
    let read: u64 = sorted
        .values()
        .map(|it| it.trim().parse::<u64>().unwrap())
        .sum();
    let queued: u64 = queue
        .iter()
        .map(|it| it.iter().sum::<u64>() / it.len().max(1) as u64)
        .sum();
    let counted: u64 = shared.iter().map(|it| u64::from(it[0] == it[6])).sum();
    assert_eq!(
        (found, read, counted),
        (2000, 1999 * 1000, shared.len() as u64)
    );
    queued
}

/// The program: threads that fill collections, and pass objects to each other to be freed there.
pub(crate) fn program() {
    let alone: Vec<u64> = (0..4).map(collections).collect();
    let all = Arc::new(alone);
    let (send, receive) = std::sync::mpsc::channel::<Vec<Box<[u64]>>>();
    let threads: Vec<_> = (0..4_usize)
        .map(|i| {
            let (all, send) = (Arc::clone(&all), send.clone());
            thread::spawn(move || {
                assert_eq!(collections(i as u64), all[i]);
                let boxes = (0..500).map(|n| vec![n; n as usize % 90].into_boxed_slice());
                send.send(boxes.collect()).unwrap();
            })
        })
        .collect();
    drop(send);
    let passed: usize = receive.iter().flatten().map(|it| it.len()).sum();
    assert_eq!(passed, 4 * (0..500).map(|n| n % 90).sum::<usize>());
    for thread in threads {
        thread.join().unwrap();
    }
}

/// Grows one vector far beyond what its neighbours leave, and zeroed memory is zero.
pub(crate) fn large_objects() {
    let mut grown: Vec<u32> = Vec::new();
    let mut between = Vec::new();
    for i in 0..300_000 {
        grown.push(i);
        if i % 10_000 == 0 {
            between.push(vec![i; 100]);
        }
    }
    assert!((0..300_000).eq(grown));
    for _ in 0..10 {
        let mut zeroed = vec![0_u8; 500_000];
        assert!(zeroed.iter().all(|it| *it == 0));
        zeroed.fill(0xff);
    }
    assert_eq!(between.len(), 30);
}
