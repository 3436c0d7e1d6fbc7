//! Certificates of heaps of several instances, in exactly the certified bytes.

use core::alloc::Layout;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefit_compact::certify::{
    Budget, ClassSet, Demand, InstanceDemand, Sharing, Uncertifiable, certify_instances,
    certify_shared,
};
use surefit_compact::shared::{Local, PerClass, ShardedHeap, SharedConfig};
use surefit_compact::{Bytes, Config};
use surefit_core::Refused;

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

// ---- each instance its own demand --------------------------------------------------------------

const LENS: [usize; 4] = [16, 100, 250, 900];

fn budget(config: &Config, objects: u64, block_bytes: u64, longest: usize) -> Budget {
    Budget {
        objects,
        block_bytes,
        classes: ClassSet::of_requests(config.geometry(), longest),
    }
}

const fn unlimited(budget: Budget) -> InstanceDemand<'static> {
    InstanceDemand {
        demand: Demand::Joint(budget),
        quota: usize::MAX,
    }
}

/// Each instance allocates within its budget; a thread of any instance frees.
fn keep_apart(config: &SharedConfig, budgets: &[Budget], seed: u64) {
    let demands: Vec<_> = budgets.iter().copied().map(unlimited).collect();
    let threads = budgets.len() as u32;
    let certificate =
        certify_instances::<Lock, _>(config, &Sharing::new(threads), &demands).expect("small");
    let mut memory = ExactMemory::new();
    let region = exact(&mut memory, config.config(), certificate.aligned_bytes);
    let heap = ShardedHeap::<Lock>::new(region, config, threads as u16).expect("large enough");
    let locals: Vec<_> = (0..threads)
        .map(|number| heap.register_in(number).expect("as configured"))
        .collect();
    let geometry = config.config().geometry();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut live: Vec<(usize, Bytes<u8>, u64)> = Vec::new();
    let mut left = budgets.to_vec();
    for _ in 0..30 {
        // A wave of one length fills one instance; then most of all objects are freed.
        let number = random.random_range(0..locals.len());
        let len = LENS[random.random_range(0..LENS.len())];
        let class = geometry.class_for(len, 8).expect("fits a page");
        let beta = u64::from(geometry.layout(class).block_bytes);
        let of = &mut left[number];
        while of.classes.contains(class) && of.objects > 0 && of.block_bytes >= beta {
            let object = locals[number].alloc_zeroed(layout(len));
            live.push((number, object.expect("its demand is certified"), beta));
            of.objects -= 1;
            of.block_bytes -= beta;
        }
        assert!(heap.stats().pages <= certificate.used_pages);
        let keep = random.random_range(2..20);
        for at in (0..live.len()).rev() {
            if at % keep != 0 {
                let (number, object, beta) = live.swap_remove(at);
                let local = &locals[random.random_range(0..locals.len())];
                local.free_bytes(object).expect("live");
                left[number].objects += 1;
                left[number].block_bytes += beta;
            }
        }
    }
    heap.check(true).expect("every invariant holds");
}

#[test]
fn instances_that_keep_to_their_own_demands_are_never_refused() {
    for (seed, config) in configs(1024, 4).iter().enumerate() {
        let shared = shared(config);
        let budgets = [
            budget(config, 150, 12_000, 250),
            budget(config, 10, 8_000, 1000),
            budget(config, 60, 1_000, 16),
            budget(config, 3, 400, 100),
        ];
        for count in 1..=budgets.len() {
            for seed in [seed as u64, 1000 + seed as u64] {
                keep_apart(&shared, &budgets[..count], seed);
            }
        }
    }
}

#[test]
fn one_instance_has_the_certificate_of_its_demand_and_several_less_than_their_sum() {
    for config in &configs(1024, 4) {
        let shared = shared(config);
        let budgets = [
            budget(config, 150, 12_000, 250),
            budget(config, 150, 12_000, 900),
        ];
        let apart = budgets.map(unlimited);
        let threads = Sharing::new(2);
        let alone = certify_shared::<Lock, _>(&shared, &threads, &apart[1].demand);
        assert_eq!(
            certify_instances::<Lock, _>(&shared, &threads, &apart[1..]),
            alone
        );
        let sum = Demand::Joint(budget(config, 300, 24_000, 900));
        let joint = certify_shared::<Lock, _>(&shared, &threads.with_instances(2), &sum);
        let (joint, alone) = (joint.expect("small"), alone.expect("small"));
        let apart = certify_instances::<Lock, _>(&shared, &threads, &apart).expect("small");
        assert!(apart.used_pages <= joint.used_pages, "{}", config.bound());
        assert!(apart.used_pages > alone.used_pages);
        assert_eq!(apart.work.steps_max_per_free, joint.work.steps_max_per_free);
        // The first demand uses fewer classes, and so fewer groups.
        let [apart, joint] = [apart, joint].map(|it| it.parts.handle_buffer_bytes);
        assert!(apart < joint && apart > alone.parts.handle_buffer_bytes);
    }
}

/// Fills an instance with objects of one length until its quota refuses more.
fn fill(local: &Local<'_, '_, Lock, PerClass>, len: usize, objects: &mut Vec<Bytes<u8>>) {
    let refused = loop {
        match local.alloc_zeroed(layout(len)) {
            Ok(object) => objects.push(object),
            Err(refused) => break refused,
        }
    };
    assert_eq!(
        refused,
        Refused::Quota,
        "{} objects of {len} B",
        objects.len()
    );
}

#[test]
fn a_quota_is_enough_for_an_instance_that_keeps_to_no_demand() {
    for config in &configs(1024, 4) {
        let shared = shared(config);
        // Of one size-class, so that it needs all that is certified for it.
        let mut most = vec![0; 20];
        let class = config.geometry().class_for(30, 8).expect("fits a page");
        most[class.index()] = 100;
        let kept = InstanceDemand {
            demand: Demand::PerClass(&most),
            quota: usize::MAX,
        };
        let any = InstanceDemand::of_quota(&shared, 40 * 1024 + 1023);
        let threads = Sharing::new(2);
        let certificate =
            certify_instances::<Lock, _>(&shared, &threads, &[any, kept]).expect("small");
        let none = InstanceDemand::of_quota(&shared, 1023);
        let alone = certify_instances::<Lock, _>(&shared, &threads, &[none, kept]).expect("small");
        assert_eq!(certificate.used_pages, alone.used_pages + 40);
        for first in LENS {
            let mut memory = ExactMemory::new();
            let region = exact(&mut memory, config, certificate.aligned_bytes);
            let heap = ShardedHeap::<Lock>::new(region, &shared, 2).expect("large enough");
            heap.set_quota(0, any.quota);
            let locals = [0, 1].map(|number| heap.register_in(number).expect("as configured"));
            let mut guests = Vec::new();
            let lens = LENS.into_iter().cycle().skip_while(|len| *len != first);
            for (kept, len) in lens.take(LENS.len() + 1).enumerate() {
                // One of each length before stays.
                for object in guests.drain(kept..) {
                    locals[0].free_bytes(object).expect("live");
                }
                fill(&locals[0], len, &mut guests);
            }
            let mut objects = Vec::new();
            for _ in 0..100 {
                objects.push(locals[1].alloc_zeroed(layout(30)).expect("certified"));
            }
            heap.check(false).expect("every invariant holds");
        }
    }
}

/// A guest of a quota asks for all lengths and alignments, also too large ones, and resizes; the
/// other instance is served its whole demand again and again, in exactly the certified bytes.
#[test]
fn a_guest_within_its_quota_may_resize_and_align_as_it_likes() {
    for (seed, config) in configs(1024, 4).iter().enumerate() {
        let shared = shared(config);
        let kept = unlimited(budget(config, 60, 2_400, 30));
        let any = InstanceDemand::of_quota(&shared, 40 * 1024);
        let certificate =
            certify_instances::<Lock, _>(&shared, &Sharing::new(2), &[any, kept]).expect("small");
        let mut memory = ExactMemory::new();
        let region = exact(&mut memory, config, certificate.aligned_bytes);
        let heap = ShardedHeap::<Lock>::new(region, &shared, 2).expect("large enough");
        heap.set_quota(0, any.quota);
        let locals = [0, 1].map(|number| heap.register_in(number).expect("as configured"));
        let mut random = ChaCha8Rng::seed_from_u64(seed as u64);
        let (mut guests, mut served, mut refusals) = (Vec::<Bytes<u8>>::new(), 0, 0);
        for _ in 0..40 {
            for _ in 0..200 {
                let longest = [16, 120, 1024, 5000][random.random_range(0..4)];
                let len = random.random_range(0..=longest);
                let align = 1 << random.random_range(0..=11);
                let wanted = Layout::from_size_align(len, align).expect("valid");
                let at = random.random_range(0..=guests.len());
                let result = match (guests.get_mut(at), random.random_range(0..3)) {
                    (Some(object), 0) => locals[0].resize(object, wanted),
                    (Some(_), 1) => locals[0].free_bytes(guests.swap_remove(at)),
                    _ => locals[0]
                        .alloc_zeroed(wanted)
                        .map(|object| guests.push(object)),
                };
                match result {
                    Ok(()) => served += 1,
                    Err(Refused::NoPage | Refused::NoHandle) => panic!("{result:?}: {wanted:?}"),
                    Err(_) => refusals += 1,
                }
            }
            fill(&locals[0], 16, &mut guests);
            let objects = (0..60).map(|_| locals[1].alloc_zeroed(layout(30)).expect("certified"));
            for (number, object) in objects.collect::<Vec<_>>().into_iter().enumerate() {
                locals[number % 2].free_bytes(object).expect("live");
            }
            heap.check(true).expect("every invariant holds");
        }
        assert!(served > 2000 && refusals > 500, "{served}, {refusals}");
        for object in guests.drain(..) {
            locals[0].free_bytes(object).expect("live");
        }
        fill(&locals[0], 16, &mut guests);
        for object in guests {
            locals[0].free_bytes(object).expect("live");
        }
        assert_eq!(heap.instance_stats(0).bytes, 0);
    }
}

#[test]
fn any_instances_are_certified_or_refused() {
    let config = shared(&configs(1024, 4)[0]);
    let most = Budget {
        objects: u64::MAX,
        block_bytes: u64::MAX,
        classes: ClassSet::all(config.config().geometry()),
    };
    let certify = |threads, instances: &[InstanceDemand<'_>]| {
        certify_instances::<Lock, _>(&config, &Sharing::new(threads), instances)
    };
    assert!(certify(1, &[]).expect("nothing").used_pages == 0);
    let nothing = InstanceDemand {
        demand: Demand::PerClass(&[]),
        quota: 0,
    };
    assert!(matches!(
        certify(1, &[nothing; 5000]),
        Err(Uncertifiable::TooManyInstances { .. })
    ));
    assert!(matches!(
        certify(u32::MAX, &[nothing]),
        Err(Uncertifiable::TooManyPins { .. })
    ));
    assert!(certify(1, &[unlimited(most); 2]).is_err());
    let classes = vec![u32::MAX; 200];
    let unknown = InstanceDemand {
        demand: Demand::PerClass(&classes),
        quota: usize::MAX,
    };
    assert_eq!(certify(1, &[unknown]), Err(Uncertifiable::NoSuchClass));
}
