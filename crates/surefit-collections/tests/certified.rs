//! A heap of exactly the bytes of its certificate never refuses the container.

mod common;

use std::hash::BuildHasher;

use common::{ByConstant, ByDefault, DEFAULT, NO_PIECES, Numbers, SMALL_PIECES, TINY, boxed};
use surefit_collections::{HashMap, Release, Vec as MovingVec};
use surefit_compact::certify::{Demand, heap_bytes};
use surefit_compact::{BoxedHeap, Config, Heap, Narrow, Wide, Width};

/// Calls on a map of up to `most` entries in a heap of exactly its certificate.
fn certified<W: Width, S: BuildHasher + Default + Clone>(config: &'static Config, most: usize) {
    let demand = HashMap::<u64, u32, S>::for_demand::<W>(config, most).expect("few entries");
    let bytes = heap_bytes::<W>(config, &Demand::Joint(demand));
    let mut heap: BoxedHeap<W> = Heap::boxed(bytes, config).expect("large enough");
    let mut map = HashMap::<u64, u32, S>::default();
    let mut numbers = Numbers::new(most as u64);
    for call in 0..8 * most {
        let key = numbers.next() % (2 * most as u64);
        let grows = call / most % 2 == 0;
        if (grows || key % 4 == 0) && map.len() < most {
            map.insert(&mut heap, key, 7).expect("it is certified");
        } else {
            map.remove(&mut heap, &key);
        }
    }
    map.free(&mut heap);
    assert_eq!(heap.live_blocks().count(), 0);
}

#[test]
fn a_certified_heap_never_refuses_its_map() {
    for most in [1, 10, 100, 1000, 4000] {
        certified::<Wide, ByDefault>(&DEFAULT, most);
        certified::<Wide, ByDefault>(&SMALL_PIECES, most);
        certified::<Wide, ByConstant>(&DEFAULT, most.min(400));
        certified::<Wide, ByConstant>(&SMALL_PIECES, most.min(400));
        certified::<Narrow, ByDefault>(&TINY, most.min(800));
    }
    assert!(HashMap::<u64, u64, ByDefault>::for_demand::<Wide>(&DEFAULT, usize::MAX).is_none());
    assert!(HashMap::<u128, (), ByDefault>::for_demand::<Wide>(&DEFAULT, 1).is_none());
}

#[test]
fn a_certified_heap_never_refuses_its_vector() {
    fn vector<T: Copy + std::fmt::Debug + Send + Release<BoxedHeap>>(
        config: &'static Config,
        most: usize,
        value: T,
    ) {
        let demand = MovingVec::<T>::for_demand::<Wide>(config, most).expect("few elements");
        let bytes = heap_bytes::<Wide>(config, &Demand::Joint(demand));
        let mut heap = boxed(bytes, config);
        let mut vec = MovingVec::new();
        let mut numbers = Numbers::new(most as u64);
        for _ in 0..20 {
            for _ in 0..numbers.below(most - vec.len() + 1) {
                vec.push(&mut heap, value).expect("it is certified");
            }
            vec.truncate(&mut heap, numbers.below(most));
            vec.shrink_to_fit(&mut heap).expect("it is certified");
        }
        vec.free(&mut heap);
        assert_eq!(heap.live_blocks().count(), 0);
    }
    for config in [&DEFAULT, &SMALL_PIECES] {
        for most in [1, 7, 100, 1000, 20_000] {
            vector(config, most, 7_u8);
            vector(config, most, 7_u64);
            vector(config, most, ((7_u64, 7_u64), 7_u64));
        }
    }
    for most in [1, 7, 100, 600] {
        vector(&NO_PIECES, most, 7_u8);
        vector(&NO_PIECES, most, ((7_u64, 7_u64), 7_u64));
    }
    vector(&NO_PIECES, 1500, 7_u64);
    assert!(MovingVec::<u64>::for_demand::<Wide>(&NO_PIECES, 3000).is_none());
    assert!(MovingVec::<u64>::for_demand::<Wide>(&DEFAULT, usize::MAX).is_none());
    assert!(MovingVec::<[u8; 65]>::for_demand::<Wide>(&SMALL_PIECES, 1).is_none());
}
