//! Certificates of heaps of several instances, in exactly the certified bytes.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefit_compact::certify::{Budget, ClassSet, Demand, Sharing, certify_shared};
use surefit_compact::shared::{PerClass, ShardedHeap, SharedConfig};
use surefit_compact::{Bytes, Config};

use surefit_testkit::{ExactMemory, layout};

use crate::shared::Lock;
use crate::{configs, exact};

fn shared(config: &Config) -> SharedConfig {
    let shared = SharedConfig::<PerClass>::new(config.clone()).with_locals(4, 2);
    shared
        .expect("four threads")
        .with_increment(64)
        .expect("valid")
}

/// Objects wander: each is inserted in an instance and freed by a thread of any.
fn wander(config: &SharedConfig, instances: u16, demand: &Demand<'_>, budget: &Budget, seed: u64) {
    let threads = u32::from(instances);
    let sharing = Sharing::new(threads).with_instances(threads);
    let certificate = certify_shared::<Lock, _>(config, &sharing, demand).expect("small");
    let mut memory = ExactMemory::new();
    let region = exact(&mut memory, config.config(), certificate.aligned_bytes);
    let heap = ShardedHeap::<Lock>::new(region, config, instances).expect("large enough");
    let locals: Vec<_> = (0..threads)
        .map(|number| heap.register_in(number).expect("as configured"))
        .collect();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut live: Vec<(Bytes<u8>, u64)> = Vec::new();
    let mut bytes = 0;
    for wave in 0..40 {
        let number = wave % locals.len();
        let len = [16, 100, 250][random.random_range(0..3)];
        let class = config
            .config()
            .geometry()
            .class_for(len, 8)
            .expect("fits a page");
        let beta = u64::from(config.config().geometry().layout(class).block_bytes);
        while (live.len() as u64) < budget.objects && bytes + beta <= budget.block_bytes {
            live.push((
                locals[number]
                    .alloc_zeroed(layout(len))
                    .expect("the demand is certified"),
                beta,
            ));
            bytes += beta;
        }
        assert!(
            heap.stats().pages <= certificate.used_pages,
            "{} pages",
            heap.stats().pages
        );
        let keep = random.random_range(2..20);
        for at in (0..live.len()).rev() {
            if at % keep != 0 {
                let (object, beta) = live.swap_remove(at);
                let local = &locals[random.random_range(0..locals.len())];
                local.free_bytes(object).expect("live");
                bytes -= beta;
            }
        }
    }
    heap.check(true).expect("every invariant holds");
    heap.compact(u64::MAX);
    heap.check(false).expect("every debt is paid");
}

#[test]
fn objects_that_wander_between_instances_are_never_refused() {
    for (seed, config) in configs(1024, 4).iter().enumerate() {
        let (config, seed) = (shared(config), seed as u64);
        let classes = ClassSet::of_requests(config.config().geometry(), 250);
        let budget = Budget {
            objects: 150,
            block_bytes: 12_000,
            classes,
        };
        let mut most = [0; 128];
        for len in [16, 100, 250] {
            let class = config
                .config()
                .geometry()
                .class_for(len, 8)
                .expect("fits a page");
            let beta = config.config().geometry().layout(class).block_bytes;
            most[class.index()] = (12_000 / beta).min(150);
        }
        for instances in [1, 2, 4] {
            wander(&config, instances, &Demand::Joint(budget), &budget, seed);
            wander(&config, instances, &Demand::PerClass(&most), &budget, seed);
            wander(
                &config,
                instances,
                &Demand::Both(budget, &most),
                &budget,
                seed,
            );
        }
    }
}
