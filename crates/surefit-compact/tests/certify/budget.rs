//! The joint bound against the best mix found by trying all mixes, and its errors.

use surefit_compact::automaton::pages_bound;
use surefit_compact::certify::{Budget, ClassSet, Demand, Uncertifiable, certify};
use surefit_compact::{Bound, Config, Narrow, SizeClass, Wide};

use surefit_testkit::ExactMemory;

use crate::{bounds, configs, exact, geometry};

/// The most pages over all mixes, by enumeration.
fn naive(config: &Config, classes: &[SizeClass], peaks: &[u32], objects: u32, bytes: u32) -> u32 {
    let Some((&class, rest)) = classes.split_first() else {
        return 0;
    };
    let layout = config.geometry().layout(class);
    let peak = peaks[0].min(bytes / layout.block_bytes);
    let pages = |live| {
        let here = pages_bound(config.bound(), u32::from(layout.blocks), live, peaks[0]);
        let left = bytes - live * layout.block_bytes;
        here + naive(config, rest, &peaks[1..], objects - live, left)
    };
    (0..=objects.min(peak))
        .map(pages)
        .max()
        .expect("at least one mix")
}

/// The peaks that a budget alone allows: what the certificate may assume about H.
fn peaks(config: &Config, classes: &[SizeClass], objects: u32, bytes: u32) -> Vec<u32> {
    let beta = |&class: &SizeClass| config.geometry().layout(class).block_bytes;
    classes
        .iter()
        .map(|class| objects.min(bytes / beta(class)))
        .collect()
}

fn set(classes: &[SizeClass]) -> ClassSet {
    classes
        .iter()
        .fold(ClassSet::EMPTY, |set, &class| set.with(class))
}

fn mixes(config: &Config) -> Vec<Vec<SizeClass>> {
    let geometry = config.geometry();
    let class = |bytes| geometry.class_for(bytes, 1).expect("fits a page");
    [
        &[32][..],
        &[16, 64],
        &[48, 1024],
        &[24, 512, 100],
        &[256, 300, 340],
        &[1024, 512],
    ]
    .into_iter()
    .map(|sizes| sizes.iter().map(|&bytes| class(bytes)).collect())
    .collect()
}

#[test]
fn the_joint_bound_is_no_less_than_the_best_mix_and_hardly_more() {
    for config in configs(1024, 4) {
        for classes in mixes(&config) {
            for (objects, bytes) in [(7, 300), (40, 2000), (60, 9000), (33, 1056), (64, 30_000)] {
                check(&config, &classes, objects, bytes);
            }
        }
    }
}

fn check(config: &Config, classes: &[SizeClass], objects: u32, bytes: u32) {
    let peaks = peaks(config, classes, objects, bytes);
    let naive = u64::from(naive(config, classes, &peaks, objects, bytes));
    let budget = Budget {
        objects: objects.into(),
        block_bytes: bytes.into(),
        classes: set(classes),
    };
    let certificate = certify::<Wide>(config, &Demand::Joint(budget)).expect("small");
    let pages = certificate.data_pages;
    let context = format!("{}, {classes:?}, N {objects}, B {bytes}", config.bound());
    assert!(pages >= naive, "{pages} pages, {naive} needed: {context}");
    // Two resources are shared, so the best fractional mix splits at most two pages.
    assert!(
        pages <= naive + 2,
        "{pages} pages, {naive} needed: {context}"
    );
}

#[test]
fn peaks_beside_a_budget_never_cost_more() {
    for config in configs(1024, 4) {
        for classes in mixes(&config) {
            let (objects, bytes) = (60, 9000);
            let mut most = [0; 128];
            for (class, peak) in classes.iter().zip(peaks(&config, &classes, objects, bytes)) {
                most[class.index()] = peak.div_ceil(2);
            }
            let budget = Budget {
                objects: objects.into(),
                block_bytes: bytes.into(),
                classes: set(&classes),
            };
            let pages = |demand| certify::<Wide>(&config, &demand).expect("small").data_pages;
            let both = pages(Demand::Both(budget, &most));
            assert!(both <= pages(Demand::Joint(budget)).min(pages(Demand::PerClass(&most))));
            let halves: Vec<_> = classes.iter().map(|class| most[class.index()]).collect();
            let naive = naive(&config, &classes, &halves, objects, bytes);
            assert!(
                both >= naive.into(),
                "{both} pages, {naive} needed: {}",
                config.bound()
            );
        }
    }
}

#[test]
fn a_class_alone_costs_no_holes() {
    // H/π caps what the bound would allow: with one class there is nothing that could take the
    // holes' place.
    for bound in bounds() {
        let config = Config::new(geometry(1024, 4), bound).expect("valid");
        let class = config.geometry().class_for(64, 1).expect("fits");
        let layout = config.geometry().layout(class);
        for objects in [1, 14, 15, 150, 1000] {
            let budget = Budget {
                objects,
                block_bytes: u64::MAX >> 8,
                classes: ClassSet::EMPTY.with(class),
            };
            let certificate = certify::<Wide>(&config, &Demand::Joint(budget)).expect("small");
            let pages = objects.div_ceil(layout.blocks.into());
            assert_eq!(certificate.data_pages, pages, "{bound}, N {objects}");
        }
    }
}

#[test]
fn no_demand_is_certified_too() {
    let config = Config::DEFAULT;
    for demand in [
        Demand::PerClass(&[]),
        Demand::Joint(Budget {
            objects: 0,
            block_bytes: 0,
            classes: ClassSet::EMPTY,
        }),
    ] {
        let certificate = certify::<Wide>(&config, &demand).expect("nothing");
        assert_eq!((certificate.data_pages, certificate.entries), (0, 0));
        let mut memory = ExactMemory::new();
        let region = exact(&mut memory, &config, certificate.aligned_bytes);
        surefit_compact::Heap::<Wide>::new(region, &config).expect("a page is there");
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let config = Config::new(geometry(1024, 2), Bound::DEFAULT).expect("valid");
    let budget = |objects, block_bytes| {
        Demand::Joint(Budget {
            objects,
            block_bytes,
            classes: ClassSet::all(config.geometry()),
        })
    };
    let refused = |demand| certify::<Narrow>(&config, &demand).expect_err("impossible");
    assert_eq!(
        certify::<Wide>(&config, &budget(1, 16)),
        Err(Uncertifiable::Width)
    );
    let mut most = [0; 129];
    most[config.geometry().class_count()] = 1;
    assert_eq!(refused(Demand::PerClass(&most)), Uncertifiable::NoSuchClass);
    let entries = Uncertifiable::TooManyEntries { limit: 65_535 };
    assert_eq!(refused(budget(1 << 16, 1 << 30)), entries);
    let pages = Uncertifiable::TooManyPages { limit: 1023 };
    assert_eq!(refused(budget(60_000, 1 << 20)), pages);
    assert!(pages.to_string().ends_with("at most 1023"));
}
