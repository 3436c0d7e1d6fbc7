//! Heaps of keys: entries whose generations are exhausted retire, and a certificate for a life
//! counts them.

use surefit_compact::certify::{Demand, certify, certify_for_life};
use surefit_compact::{Config, Key, KeyHeap, Keyed, Wide};

use surefit_testkit::ExactMemory;

use crate::exact;

type Heap<'m> = KeyHeap<'m, Wide, u8>;

const LIVE: usize = 40;

fn most() -> [u32; 4] {
    let class = Config::DEFAULT.geometry().class_for(16, 8).expect("fits");
    let mut most = [0; 4];
    most[class.index()] = LIVE as u32;
    most
}

/// Frees and inserts until the heap refuses or `frees` are done; returns how many were.
fn churn(heap: &mut Heap<'_>, frees: u64) -> u64 {
    let mut live: Vec<Key<[u64; 2]>> = (0..LIVE as u64)
        .map(|n| heap.insert([n; 2]).expect("certified"))
        .collect();
    for n in 0..frees {
        let slot = &mut live[(n * 7 % 40) as usize];
        heap.remove(*slot).expect("live");
        match heap.insert([n; 2]) {
            Ok(key) => *slot = key,
            Err(_) => return n,
        }
    }
    frees
}

#[test]
fn a_heap_certified_for_its_life_outlives_its_generations() {
    let config = Config::DEFAULT;
    let most = most();
    let demand = Demand::PerClass(&most);
    let certificate = |frees| certify_for_life::<Keyed<Wide, u8>>(&config, &demand, frees);
    for frees in [255, 5000, 60_000, 3_000_000] {
        let certificate = certificate(frees).expect("small");
        assert_eq!(certificate.entries, LIVE as u64 + frees / 255);
        let mut memory = ExactMemory::new();
        let region = exact(&mut memory, &config, certificate.aligned_bytes);
        let mut heap = Heap::new(region, &config).expect("large enough");
        assert_eq!(churn(&mut heap, frees), frees);
        assert!(u64::from(heap.stats().retired_keys) <= frees / 255);
        heap.check().expect("every invariant holds");
    }
}

#[test]
fn a_heap_not_certified_for_its_life_ends() {
    let config = Config::DEFAULT;
    let most = most();
    let certificate = certify::<Keyed<Wide, u8>>(&config, &Demand::PerClass(&most)).expect("small");
    let mut memory = ExactMemory::new();
    let region = exact(&mut memory, &config, certificate.aligned_bytes);
    let mut heap = Heap::new(region, &config).expect("large enough");
    let frees = churn(&mut heap, 10_000_000);
    assert!(frees < 10_000_000, "all generations are used up in the end");
    heap.check().expect("every invariant holds");
}
