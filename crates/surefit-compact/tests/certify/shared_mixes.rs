//! The joint bound of shared heaps against the best of all mixes, its errors, and what each kind of
//! sharing costs.

use surefit_compact::automaton::incremental::pages_bound_in_flight;
use surefit_compact::certify::{
    Budget, ClassSet, Demand, Sharing, Uncertifiable, certify, certify_shared,
};
use surefit_compact::shared::{PerClass, SharedConfig};
use surefit_compact::{Bound, Config, SizeClass, Wide};

use crate::shared::{Lock, shared};
use crate::{bounds, configs, geometry, holes};

/// A group of the naive search: a size-class of one instance.
type Group = (SizeClass, u32);

/// The most pages over all mixes and all ways to be in calls, by enumeration.
fn naive(
    config: &Config,
    groups: &[Group],
    (objects, bytes, calls, pins): (u32, u32, u32, u32),
) -> u32 {
    let Some((&(class, peak), rest)) = groups.split_first() else {
        return 0;
    };
    let layout = config.geometry().layout(class);
    let blocks = u32::from(layout.blocks);
    let most = objects.min(bytes / layout.block_bytes);
    let pages = |live: u32, here: u32| {
        let pages = pages_bound_in_flight(config.bound(), blocks, live, peak, here, pins);
        let left = (
            objects - live,
            bytes - live * layout.block_bytes,
            calls - here,
            pins,
        );
        pages.min(peak.div_ceil(blocks)) + naive(config, rest, left)
    };
    let all = (0..=most).flat_map(|live| (0..=calls).map(move |here| (live, here)));
    all.map(|(live, here)| pages(live, here))
        .max()
        .expect("at least one mix")
}

#[test]
fn the_joint_bound_of_instances_is_no_less_than_the_best_mix_and_hardly_more() {
    let class =
        |config: &Config, bytes| config.geometry().class_for(bytes, 1).expect("fits a page");
    for bound in bounds().into_iter().chain([holes(1, 1, 4)]) {
        let config = Config::new(geometry(1024, 4), bound).expect("valid");
        let config = shared::<PerClass>(&config.with_pieces(None).expect("valid"));
        for (sizes, instances) in [
            (&[256][..], 3),
            (&[128, 340], 1),
            (&[128, 340], 2),
            (&[512], 2),
        ] {
            let classes: Vec<_> = sizes
                .iter()
                .map(|&bytes| class(config.config(), bytes))
                .collect();
            for (threads, guards) in [(1, 0), (1, 2), (2, 0), (3, 1)] {
                for (objects, bytes) in [(9, 3000), (16, 4096)] {
                    check_mix(
                        &config,
                        &classes,
                        (instances, threads, guards),
                        (objects, bytes),
                    );
                }
            }
        }
    }
}

fn check_mix(
    config: &SharedConfig,
    classes: &[SizeClass],
    (instances, threads, guards): (u32, u32, u32),
    (objects, bytes): (u32, u32),
) {
    let beta = |class| config.config().geometry().layout(class).block_bytes;
    let group = |&class: &SizeClass| (class, objects.min(bytes / beta(class)));
    let groups: Vec<Group> = (0..instances)
        .flat_map(|_| classes.iter().map(group))
        .collect();
    let pins = guards + threads - 1;
    let apart = config.config().bound() == Bound::Unbounded && instances > 1;
    let naive = naive(
        config.config(),
        &groups,
        (objects, bytes, threads - 1, pins),
    );
    let set = classes
        .iter()
        .fold(ClassSet::EMPTY, |set, &class| set.with(class));
    let budget = Budget {
        objects: objects.into(),
        block_bytes: bytes.into(),
        classes: set,
    };
    let sharing = Sharing::new(threads)
        .with_guards(guards)
        .with_instances(instances);
    let certificate =
        certify_shared::<Lock, _>(config, &sharing, &Demand::Joint(budget)).expect("small");
    let pages = certificate.used_pages;
    let context = format!(
        "{}, {classes:?} × {instances}, {threads} threads",
        config.config().bound()
    );
    assert!(
        pages >= naive.into(),
        "{pages} pages, {naive} needed: {context}"
    );
    // Two resources are shared, and every other call is counted as a whole page.
    assert!(
        apart || pages <= u64::from(naive + threads + 1),
        "{pages} pages, {naive} needed: {context}"
    );
    let mut most = [0; 128];
    groups
        .iter()
        .for_each(|&(class, peak)| most[class.index()] = peak);
    let each =
        certify_shared::<Lock, _>(config, &sharing, &Demand::PerClass(&most)).expect("small");
    assert!(each.used_pages >= naive.into(), "{context}: per class");
}

#[test]
fn one_thread_without_pins_needs_the_pages_of_one_owner() {
    for config in configs(1024, 4) {
        let shared = shared::<PerClass>(&config);
        for (objects, block_bytes) in [(100, 9000), (2000, 64 << 10)] {
            let classes = ClassSet::of_requests(config.geometry(), 600);
            let demand = Demand::Joint(Budget {
                objects,
                block_bytes,
                classes,
            });
            let one = certify::<Wide>(&config, &demand).expect("small");
            let pages = |threads| {
                let sharing = Sharing::new(threads);
                certify_shared::<Lock, _>(&shared, &sharing, &demand)
                    .expect("small")
                    .used_pages
            };
            assert_eq!(pages(1), one.data_pages);
            assert!(pages(2) >= pages(1) && pages(4) >= pages(2));
        }
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let config = shared::<PerClass>(&Config::DEFAULT);
    let demand = Demand::PerClass(&[1]);
    let refused =
        |sharing| certify_shared::<Lock, _>(&config, &sharing, &demand).expect_err("impossible");
    let pins = refused(Sharing::new(4).with_guards(6));
    assert_eq!(pins, Uncertifiable::TooManyPins { limit: 8 });
    assert!(pins.to_string().ends_with("at most 8"));
    let limit = 4096 / Config::DEFAULT.geometry().class_count().next_power_of_two() as u32;
    let instances = refused(Sharing::new(1).with_instances(limit + 1));
    assert_eq!(instances, Uncertifiable::TooManyInstances { limit });
}

#[test]
fn guards_on_some_classes_cost_the_others_nothing() {
    let config = shared::<PerClass>(&Config::DEFAULT);
    let classes = ClassSet::of_requests(Config::DEFAULT.geometry(), 1000);
    let demand = Demand::Joint(Budget {
        objects: 10_000,
        block_bytes: 4 << 20,
        classes,
    });
    let pages = |sharing: Sharing| {
        certify_shared::<Lock, _>(&config, &sharing, &demand)
            .expect("small")
            .used_pages
    };
    let one = ClassSet::of_requests(Config::DEFAULT.geometry(), 16);
    let [none, some, all] = [
        Sharing::new(1),
        Sharing::new(1).with_guards(4).with_pinned_classes(one),
        Sharing::new(1).with_guards(4),
    ]
    .map(pages);
    assert!(
        none < some && some <= none + 5 && some < all,
        "{none} {some} {all}"
    );
}

#[test]
fn what_sharing_costs_is_itemised() {
    let config = SharedConfig::<PerClass>::new(Config::DEFAULT);
    let classes = ClassSet::of_requests(Config::DEFAULT.geometry(), 2048);
    let block_bytes = 8 << 20;
    let demand = Demand::Joint(Budget {
        objects: 100_000,
        block_bytes,
        classes,
    });
    let mut before = 0;
    for (threads, guards, instances) in [(1, 0, 1), (1, 2, 1), (4, 0, 1), (4, 2, 1), (4, 0, 4)] {
        let sharing = Sharing::new(threads)
            .with_guards(guards)
            .with_instances(instances);
        let certificate = certify_shared::<Lock, _>(&config, &sharing, &demand).expect("small");
        let parts = certificate.parts;
        let share = |bytes: usize| bytes as f64 / block_bytes as f64;
        println!(
            "{threads} threads, {guards} guards, {instances} instances: {:.3} of B: data {:.3}, pins {:.3}, calls {:.3}, \
             page buffers {:.3}, handles {:.3}, their buffers {:.3}, records {:.3}, states {:.3}",
            share(certificate.heap_bytes),
            share(parts.data_page_bytes),
            share(parts.pin_bytes),
            share(parts.call_bytes),
            share(parts.page_buffer_bytes),
            share(parts.handle_bytes),
            share(parts.handle_buffer_bytes),
            share(parts.page_record_bytes),
            share(parts.state_bytes),
        );
        assert!(
            certificate.heap_bytes > before,
            "each costs more than the one before"
        );
        before = certificate.heap_bytes;
        assert_eq!(parts.call_bytes, (threads as usize - 1) * (16 << 10));
        assert_eq!(parts.pin_bytes == 0, sharing.pins() == 0);
    }
}
