//! `certify` and `certify_for_life`: no script inside the demand is refused in exactly the aligned bytes.

use surefit_compact::certify::{Budget, ClassSet, Demand, certify, certify_for_life};
use surefit_compact::{Config, Keyed, Narrow, Wide, Width};

use crate::keys::Keys;
use crate::region::Region;
use crate::search::{Found, search};
use crate::single::Handles;
use crate::{PAGE, SIZES, configs};

/// States after which a search gives up: more than any space here has.
pub(crate) const MOST: usize = 2_000_000;

fn budget(config: &Config, objects: u64, block_bytes: u64) -> Budget {
    Budget {
        objects,
        block_bytes,
        classes: ClassSet::all(config.geometry()),
    }
}

pub(crate) fn assert_exhausted(found: &Found, what: &dyn std::fmt::Debug) {
    assert!(found.is_exhausted(), "{what:?}: {found:?}");
}

fn exhaust<W: Width>(config: &Config, demand: &Demand<'_>) -> Found {
    let certificate = certify::<W>(config, demand).expect("small");
    let region = Region::aligned(certificate.aligned_bytes, PAGE);
    let found = search(&Handles::<W>::new(config, demand, &SIZES, region), MOST);
    assert_exhausted(&found, &(config.bound(), demand));
    found
}

#[test]
fn no_script_of_handles_is_refused() {
    let (mut spaces, mut states, mut steps) = (0, 0, 0);
    let mut add = |found: Found| {
        spaces += 1;
        states += found.states;
        steps += found.steps;
    };
    for config in &configs(4) {
        for most in [&[9][..], &[6, 3], &[5, 2, 1], &[0, 4, 2]] {
            add(exhaust::<Wide>(config, &Demand::PerClass(most)));
        }
        for (objects, bytes) in [(7, 2048), (5, 3072), (4, 4096)] {
            let joint = budget(config, objects, bytes);
            add(exhaust::<Wide>(config, &Demand::Joint(joint)));
            add(exhaust::<Wide>(config, &Demand::Both(joint, &[5, 3, 1])));
        }
    }
    println!("{spaces} spaces, {states} states, {steps} steps");
}

#[test]
fn x_narrow() {
    for config in &configs(2) {
        exhaust::<Narrow>(config, &Demand::PerClass(&[5, 3]));
    }
    for config in &configs(4) {
        let demand = Demand::PerClass(&[5, 2]);
        let certificate = certify_for_life::<Keyed<Wide, u8>>(config, &demand, 0).expect("small");
        let region = Region::aligned(certificate.aligned_bytes, PAGE);
        let found = search(&Keys::<Wide, u8>::new(config, &demand, region), MOST);
        assert_exhausted(&found, &config.bound());
    }
}
