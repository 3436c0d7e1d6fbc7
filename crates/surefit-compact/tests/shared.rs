//! The shared heap from one thread, against a naive model, with every invariant checked.

use std::mem::MaybeUninit;

use rand::{Rng, SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use surefit_compact::shared::{
    Granularity, Increment, PerClass, PerHeap, PerPage, SharedConfig, SharedHeap,
};
use surefit_compact::{Bound, Bytes, Config, Fraction, Geometry};
use surefit_testkit::layout;

type Lock = parking_lot::RawMutex;

fn script<G: Granularity>(config: &SharedConfig<G>, seed: u64) {
    let mut memory = vec![MaybeUninit::uninit(); 4 << 20];
    let heap: SharedHeap<Lock, G> = SharedHeap::new(&mut memory, config).unwrap();
    let local = heap.register().unwrap();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut live: Vec<(Bytes<u8>, u8)> = Vec::new();
    for round in 0..3000_u32 {
        let grows = random.random_bool(if round % 1000 < 600 { 0.6 } else { 0.3 });
        if grows || live.is_empty() {
            let len = [24, 40, 200, 1000, 3000][random.random_range(0..5)];
            let mut bytes = local.alloc_zeroed(layout(len)).unwrap();
            let fill = random.random();
            heap.pin_bytes_mut(&mut bytes).unwrap().fill(fill);
            live.push((bytes, fill));
        } else {
            let (bytes, fill) = live.swap_remove(random.random_range(0..live.len()));
            assert!(
                heap.pin_bytes(&bytes)
                    .unwrap()
                    .iter()
                    .all(|&byte| byte == fill)
            );
            local.free_bytes(bytes).unwrap();
        }
        if round % 16 == 0 {
            heap.check(false).unwrap();
        }
    }
    live.shuffle(&mut random);
    for (bytes, fill) in live {
        assert!(
            heap.pin_bytes(&bytes)
                .unwrap()
                .iter()
                .all(|&byte| byte == fill)
        );
        local.free_bytes(bytes).unwrap();
    }
    heap.check(false).unwrap();
    let stats = heap.stats();
    assert_eq!((stats.live_blocks, stats.pages), (0, 0));
    assert_eq!(heap.usage().total(), 4 << 20);
    // R4: no section copies more than min(β, ι) bytes; 3000 bytes lie in a page-block of less than
    // 4096.
    let step = match config.increment() {
        Increment::Whole => 4096,
        Increment::Bytes(bytes) => u64::from(bytes.get()).min(4096),
    };
    assert!(stats.copied_in_section_max <= step, "{stats:?}");
}

fn bounds() -> Vec<Config> {
    let holes = Bound::Holes {
        base: 2,
        fraction: Fraction::new(1, 4).unwrap(),
    };
    [
        Bound::Pages(1),
        Bound::Pages(3),
        Bound::DEFAULT,
        holes,
        Bound::Unbounded,
    ]
    .map(|bound| Config::new(Geometry::DEFAULT, bound).unwrap())
    .to_vec()
}

#[test]
fn objects_keep_their_bytes_under_every_lock_and_bound() {
    for (seed, config) in bounds().into_iter().enumerate() {
        let seed = seed as u64;
        script(&SharedConfig::<PerClass>::new(config.clone()), seed);
        script(&SharedConfig::<PerHeap>::new(config.clone()), seed);
        script(&SharedConfig::<PerPage>::new(config.clone()), seed);
        let stepwise = SharedConfig::<PerClass>::new(config)
            .with_increment(64)
            .unwrap();
        script(&stepwise, seed);
    }
}

#[test]
fn no_section_copies_more_than_the_increment() {
    for (seed, increment) in [16, 48, 256, 1024, 65_536].into_iter().enumerate() {
        let config = Config::new(Geometry::DEFAULT, Bound::Pages(1)).unwrap();
        let stepwise = SharedConfig::<PerClass>::new(config.clone()).with_increment(increment);
        script(&stepwise.unwrap(), seed as u64);
        let stepwise = SharedConfig::<PerHeap>::new(config).with_increment(increment);
        script(&stepwise.unwrap(), seed as u64);
    }
}
