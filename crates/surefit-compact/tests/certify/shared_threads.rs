//! Several threads divide a demand between them in a heap of exactly the certified size: nothing is
//! refused, and every size-class is within the bound for calls in progress whenever somebody looks.

use std::sync::atomic::{AtomicU32, Ordering};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefit_compact::certify::{Budget, ClassSet, Demand, Sharing, certify_shared};
use surefit_compact::shared::{Granularity, PerClass, PerHeap, PerPage, SharedConfig, SharedHeap};
use surefit_compact::{Bytes, Config};

use surefit_testkit::{ExactMemory, layout};

use crate::shared::{Lock, assert_within};
use crate::{configs, exact};

const THREADS: u32 = 4;
const ROUNDS: u32 = 1500;
/// What one thread may hold at once.
const SHARE: Budget = Budget {
    objects: 60,
    block_bytes: 6000,
    classes: ClassSet::EMPTY,
};

/// One thread's calls: grows to its share, shrinks, and holds a guard on one of its objects most of
/// the time.
fn script<G: Granularity>(heap: &SharedHeap<'_, Lock, G>, config: &Config, seed: u64) {
    let local = heap.register().expect("as configured");
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let beta = |len| {
        let class = config.geometry().class_for(len, 8).expect("fits a page");
        u64::from(config.geometry().layout(class).block_bytes)
    };
    let mut live: Vec<(Bytes<u8>, usize)> = Vec::new();
    let mut bytes = 0;
    for round in 0..ROUNDS {
        let len = [16, 24, 200, 300][random.random_range(0..4)];
        let grows = random.random_bool(if round % 300 < 180 { 0.7 } else { 0.2 });
        if grows && (live.len() as u64) < SHARE.objects && bytes + beta(len) <= SHARE.block_bytes {
            let mut object = local
                .alloc_zeroed(layout(len))
                .expect("the demand is certified");
            heap.pin_bytes_mut(&mut object)
                .expect("live")
                .fill(len as u8);
            bytes += beta(len);
            live.push((object, len));
        } else if live.len() > 1 {
            let (object, len) = live.swap_remove(random.random_range(0..live.len()));
            let pinned = heap
                .pin_bytes(&live[random.random_range(0..live.len())].0)
                .expect("live");
            local.free_bytes(object).expect("live");
            assert!(pinned.iter().all(|&byte| byte == pinned[0]));
            bytes -= beta(len);
        }
    }
    live.into_iter()
        .for_each(|(object, _)| local.free_bytes(object).expect("live"));
}

fn divide<G: Granularity + Sync>(config: &SharedConfig<G>) {
    let classes = ClassSet::of_requests(config.config().geometry(), 300);
    let budget = Budget {
        objects: SHARE.objects * u64::from(THREADS),
        block_bytes: SHARE.block_bytes * u64::from(THREADS),
        classes,
    };
    let sharing = Sharing::new(THREADS).with_guards(THREADS);
    let certificate =
        certify_shared::<Lock, G>(config, &sharing, &Demand::Joint(budget)).expect("small");
    let mut memory = ExactMemory::new();
    let region = exact(&mut memory, config.config(), certificate.aligned_bytes);
    let heap = SharedHeap::<Lock, G>::new(region, config).expect("large enough");
    let running = AtomicU32::new(THREADS);
    std::thread::scope(|threads| {
        for number in 0..THREADS {
            let (heap, running) = (&heap, &running);
            threads.spawn(move || {
                script(heap, config.config(), number.into());
                running.fetch_sub(1, Ordering::Release);
            });
        }
        while running.load(Ordering::Acquire) > 0 {
            assert_within(&heap, config.config(), THREADS, sharing.pins());
            assert!(
                heap.stats().copied_in_section_max <= certificate.work.copied_bytes_max_per_section
            );
            std::thread::yield_now();
        }
    });
    assert_within(&heap, config.config(), 0, sharing.pins());
    heap.check(true).expect("every invariant holds");
    heap.compact(u64::MAX);
    heap.check(false).expect("every debt is paid");
}

fn shared<G: Granularity>(config: &Config) -> SharedConfig<G> {
    let shared = SharedConfig::new(config.clone()).with_locals(4, 2);
    shared
        .expect("four threads")
        .with_handle_buffer(4)
        .expect("four handles")
}

#[test]
fn threads_that_divide_a_demand_are_never_refused() {
    for config in configs(1024, 4) {
        divide(&shared::<PerClass>(&config));
        divide(
            &shared::<PerClass>(&config)
                .with_increment(64)
                .expect("valid"),
        );
        divide(
            &shared::<PerHeap>(&config)
                .with_increment(128)
                .expect("valid"),
        );
        divide(&shared::<PerPage>(&config));
    }
}
