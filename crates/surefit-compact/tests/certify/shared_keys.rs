//! Certificates of heaps of keys and of heaps of several instances, in exactly the certified bytes.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefit_compact::certify::{Budget, ClassSet, Demand, Sharing, certify_shared};
use surefit_compact::shared::{PerClass, ShardedHeap, SharedConfig, SharedKeyHeap};
use surefit_compact::{Bound, Bytes, Config, Key};

use surefit_testkit::ExactMemory;

use crate::shared::Lock;
use crate::{configs, exact, geometry, junk};

fn shared(config: &Config) -> SharedConfig {
    let shared = SharedConfig::<PerClass>::new(config.clone()).with_locals(4, 2);
    shared
        .expect("four threads")
        .with_increment(64)
        .expect("valid")
}

/// A key of one of two sizes.
#[derive(Clone, Copy)]
enum Name {
    Small(Key<[u64; 3]>),
    Large(Key<[u64; 30]>),
}

const OBJECTS: u64 = 80;
const GUARDS: usize = 3;

/// Inserts and frees, pinned objects too, with at most `GUARDS` guards at once.
fn churn(config: &SharedConfig, frees: u64, seed: u64) {
    let classes = ClassSet::of_requests(config.config().geometry(), 240);
    let demand = Demand::Joint(Budget {
        objects: OBJECTS,
        block_bytes: 9000,
        classes,
    });
    let sharing = Sharing::new(1)
        .with_guards(GUARDS as u32)
        .with_keys::<u8>(frees);
    let certificate = certify_shared::<Lock, _>(config, &sharing, &demand).expect("small");
    let mut memory = ExactMemory::new();
    let region = exact(&mut memory, config.config(), certificate.aligned_bytes);
    let heap = SharedKeyHeap::<Lock, PerClass, u8>::new(region, config).expect("large enough");
    let local = heap.register().expect("a thread");
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut live: Vec<(Name, u64)> = Vec::new();
    let (mut smalls, mut larges, mut bytes) = (Vec::new(), Vec::new(), 0);
    for freed in 0..frees {
        // Pinned objects that were freed are still part of the demand: room for GUARDS of the
        // larger ones is left.
        while (live.len() as u64) < OBJECTS - 3 && bytes + 256 <= 9000 - 3 * 256 {
            let (name, cost) = if random.random_bool(0.7) {
                (
                    Name::Small(local.insert([freed; 3]).expect("certified")),
                    24,
                )
            } else {
                (
                    Name::Large(local.insert([freed; 30]).expect("certified")),
                    256,
                )
            };
            live.push((name, cost));
            bytes += cost;
            if smalls.len() + larges.len() == GUARDS {
                smalls.clear();
                larges.clear();
            }
            match name {
                Name::Small(key) => smalls.push(heap.pin(key).expect("live")),
                Name::Large(key) => larges.push(heap.pin(key).expect("live")),
            }
        }
        let newest = random.random_bool(0.3);
        let number = if newest {
            live.len() - 1
        } else {
            random.random_range(0..live.len())
        };
        let (name, cost) = live.swap_remove(number);
        bytes -= cost;
        match name {
            Name::Small(key) => local.free(key).expect("live"),
            Name::Large(key) => local.free(key).expect("live"),
        }
        assert!(heap.stats().pages <= certificate.used_pages);
    }
    heap.check(true).expect("every invariant holds");
}

#[test]
fn a_heap_of_keys_outlives_its_generations_and_serves_objects_freed_while_pinned() {
    for (seed, config) in configs(1024, 4).iter().enumerate() {
        for frees in [200, 6000] {
            churn(&shared(config), frees, seed as u64);
        }
    }
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
                    .insert_bytes(len)
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

#[test]
fn a_compaction_that_may_not_move_leaves_nothing_unpaid() {
    // An object that is freed while it is pinned waits for a later call of its class, which pays
    // for it as for its own.
    let config = Config::new(geometry(1024, 4), Bound::Pages(1)).expect("valid");
    let config = shared(&config);
    let mut memory = junk(1 << 20);
    let heap = SharedKeyHeap::<Lock>::new(&mut memory, &config).expect("large enough");
    let local = heap.register().expect("a thread");
    let keys: Vec<_> = (0..600_u64)
        .map(|n| local.insert([n; 3]).expect("room"))
        .collect();
    for key in keys.iter().step_by(60) {
        let pinned = heap.pin(*key).expect("live");
        local.free(*key).expect("live");
        drop(pinned);
        heap.compact(0);
    }
    let stats = heap.stats();
    assert!(
        stats.not_full_pages <= 2,
        "{} not-full pages with one pin at once",
        stats.not_full_pages
    );
}
