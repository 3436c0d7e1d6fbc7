//! Services that keep what they answer with: documents of many small objects, which are built, read
//! and dropped whole.
#![deny(unsafe_code)]

use std::collections::VecDeque;
use std::mem::swap;
use std::sync::Mutex;
use std::thread;

use anyhow::Result;

use super::super::objects::Object;
use super::super::random::Random;
use super::super::watch::Watch;
use super::super::work::Work;

/// What is allocated together, and dropped together. The list itself is no memory of malloc's, so
/// whoever drops one builds the next in the same list: else it would measure the lock of the
/// allocator that this process has beside.
type Document = Vec<Object>;

/// Numbers of objects, added up.
fn sum(document: &Document) -> u64 {
    document.iter().map(Object::read).fold(0, u64::wrapping_add)
}

/// Frees all of a document, and leaves its list.
fn drop_all(document: &mut Document) -> u64 {
    let freed = document.drain(..).map(Object::free);
    freed.fold(0, u64::wrapping_add)
}

/// A B-tree of strings, as of a JSON object with up to 20 names: a node for each eleven, the names,
/// and their values, most of which are short, and one in eight is a tree again.
fn tree(random: &mut Random, depth: u32, into: &mut Document) {
    let tag = random.bits() as u8;
    for name in 0..random.between(1, 20) {
        if name % 11 == 0 {
            into.push(Object::new(if depth == 0 { 544 } else { 640 }, tag));
        }
        into.push(Object::new(random.between(2, 18), tag));
        match random.between(0, 7) {
            0 if depth > 0 => tree(random, depth - 1, into),
            0..=3 => into.push(Object::new(random.between(2, 40), tag)),
            _ => {}
        }
    }
}

/// Workers build trees, read them, and put them into a list of the last 10,000, from which they
/// drop the oldest, whoever built it.
pub(super) fn documents(work: Work, watch: &mut Watch) -> Result<u64> {
    const KEPT: u64 = 10_000;
    let (kept, requests) = (work.of(KEPT) as usize, work.of(200_000));
    let threads = work.threads as u64;
    let list = Mutex::new(VecDeque::with_capacity(kept + work.threads));
    let serve = |seed: u64| {
        let (mut random, mut total) = (Random::new(2000 + seed), 0_u64);
        let mut document = Document::new();
        for _ in 0..requests / threads + 1 {
            tree(&mut random, 2, &mut document);
            total = total.wrapping_add(sum(&document));
            let oldest = {
                let mut list = list.lock().expect("no worker fails");
                list.push_back(document);
                let is_full = list.len() > kept;
                is_full.then(|| list.pop_front()).flatten()
            };
            document = oldest.unwrap_or_default();
            total = total.wrapping_add(drop_all(&mut document));
        }
        total
    };
    Ok(watch.time(|| {
        let served = thread::scope(|scope| {
            let workers: Vec<_> = (0..threads)
                .map(|seed| scope.spawn(move || serve(seed)))
                .collect();
            let ended = workers.into_iter().map(|worker| worker.join());
            ended.fold(0, |total, served| {
                u64::wrapping_add(total, served.expect("threads end well"))
            })
        });
        let left = list
            .lock()
            .expect("no worker fails")
            .iter_mut()
            .map(drop_all)
            .fold(0, u64::wrapping_add);
        served.wrapping_add(left)
    }))
}

/// An entry of a cache: a header, a key, some fields, links, and a value, whose sizes depend on the
/// phase.
fn entry(random: &mut Random, phase: u32, into: &mut Document) {
    let tag = random.bits() as u8;
    let scale = 1 << (phase % 4);
    into.push(Object::new(120, tag));
    into.push(Object::new(random.between(18, 30), tag));
    for _ in 0..random.between(1, 6) {
        into.push(Object::new(random.between(4, 16 * scale), tag));
        into.push(Object::new(48, tag));
    }
    into.push(Object::new(
        random.between(16, 64 * scale * (1 + phase % 3)),
        tag,
    ));
}

/// Eight phases of a cache: each has other sizes and another number of entries, and replaces every
/// eighth entry that it looks at; the others it reads.
pub(super) fn cache(work: Work, watch: &mut Watch) -> Result<u64> {
    const MOST: u64 = 40_000;
    let requests = work.of(400_000);
    Ok(watch.time(|| {
        let (mut random, mut total) = (Random::new(12), 0_u64);
        let (mut entries, mut spare) = (Vec::new(), Document::new());
        for phase in 0..8 {
            let size = (work.of(MOST) * (1 + (phase * 3) % 4) / 4 + 1) as usize;
            let phase = phase as u32;
            while entries.len() > size {
                let mut gone = entries.swap_remove(random.index(entries.len()));
                total = total.wrapping_add(drop_all(&mut gone));
            }
            entries.resize_with(size, Document::new);
            for _ in 0..requests {
                let at = random.index(size);
                if entries[at].is_empty() || random.between(0, 7) == 0 {
                    entry(&mut random, phase, &mut spare);
                    swap(&mut entries[at], &mut spare);
                    total = total.wrapping_add(drop_all(&mut spare));
                } else {
                    total = total.wrapping_add(sum(&entries[at]));
                }
            }
        }
        let left = entries.iter_mut().map(drop_all);
        left.fold(total, u64::wrapping_add)
    }))
}
