//! One thread with the `Local`s of all instances, against a list of what should be there.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefit_compact::Bytes;
use surefit_compact::shared::{Local, PerClass, PerHeap, SharedConfig, Stepwise};
use surefit_testkit::layout;

use super::{Heap, Lock, bounds, config, is_empty, region};

struct Object {
    bytes: Bytes<u8>,
    len: usize,
    fill: u8,
}

fn is_intact<G: Stepwise>(heap: &Heap<'_, G>, object: &Object) {
    let mut seen = vec![0; object.len];
    heap.read_at(&object.bytes, 0, &mut seen).unwrap();
    assert!(seen.iter().all(|&byte| byte == object.fill));
}

/// Blocks, spines and pieces of an object: with pieces of a page's quarter.
fn blocks(len: usize) -> u64 {
    let piece = 4096;
    if len <= piece {
        1
    } else {
        1 + len.div_ceil(piece) as u64
    }
}

fn script<G: Stepwise>(config: &SharedConfig<G>, instances: u16, foreign: f64, seed: u64) {
    let size = 3 << 20;
    let mut memory = region(size);
    let heap: Heap<'_, G> = Heap::new(&mut memory, config, instances).unwrap();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let count = usize::from(instances);
    let mut locals: Vec<Option<Local<'_, '_, Lock, G>>> = (0..u32::from(instances))
        .map(|instance| heap.register_in(instance).ok())
        .collect();
    assert!(locals.iter().all(Option::is_some));
    let mut live: Vec<(usize, Object)> = Vec::new();
    for round in 0..700_u32 {
        let grows = random.random_bool(if round % 400 < 250 { 0.65 } else { 0.3 });
        if random.random_bool(0.02) {
            // An owner leaves, its objects live on; or a new one comes.
            let at = random.random_range(0..count);
            locals[at] = match locals[at].take() {
                Some(_) => None,
                None => heap.register_in(u32::try_from(at).unwrap()).ok(),
            };
        } else if grows || live.is_empty() {
            let at = random.random_range(0..count);
            if let Some(local) = &locals[at] {
                let len = [8, 24, 200, 1000, 3000, 9000][random.random_range(0..6)];
                let fill = random.random();
                let mut bytes = local.alloc_zeroed(layout(len)).unwrap();
                heap.write_at(&mut bytes, 0, &vec![fill; len]).unwrap();
                live.push((at, Object { bytes, len, fill }));
            }
        } else {
            let (owner, object) = live.swap_remove(random.random_range(0..live.len()));
            is_intact(&heap, &object);
            let elsewhere = random.random_bool(foreign);
            let by = (0..count).find(|&at| locals[at].is_some() && (at != owner) == elsewhere);
            match by.and_then(|at| locals[at].as_ref()) {
                Some(local) => local.free_bytes(object.bytes).unwrap(),
                None => live.push((owner, object)),
            }
        }
        heap.check(false).unwrap();
        let expected: u64 = live.iter().map(|(_, object)| blocks(object.len)).sum();
        assert!(heap.stats().live_blocks >= expected);
        if config.config().bound() != surefit_compact::Bound::Unbounded {
            assert_eq!(heap.stats().live_blocks, expected);
        }
    }
    drop(locals);
    let local = heap.register().unwrap();
    for (_, object) in live {
        is_intact(&heap, &object);
        local.free_bytes(object.bytes).unwrap();
        heap.check(false).unwrap();
    }
    drop(local);
    is_empty(&heap, size);
}

#[test]
fn objects_keep_their_bytes_whoever_frees_them() {
    for (seed, bound) in (0..).zip(bounds()) {
        for (instances, foreign) in [(2, 0.5), (4, 0.1), (3, 0.0)] {
            script(&config::<PerClass>(bound), instances, foreign, seed);
        }
        script(&config::<PerHeap>(bound), 3, 0.5, seed + 10);
        let stepwise = config::<PerClass>(bound).with_increment(64).unwrap();
        script(&stepwise, 2, 0.5, seed + 20);
    }
}
