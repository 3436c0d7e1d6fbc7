//! The heap of several instances: against a naive model, at its quotas, through destruction,
//! adoption and exhaustion, and with many threads.

#[path = "sharded/destroy.rs"]
mod destroy;
#[path = "sharded/model.rs"]
mod model;
#[path = "sharded/quota.rs"]
mod quota;
#[path = "sharded/register.rs"]
mod register;
#[path = "sharded/threads.rs"]
mod threads;

use std::mem::MaybeUninit;

use surefit_compact::shared::{Granularity, PerClass, ShardedHeap, SharedConfig, Stepwise};
use surefit_compact::{Bound, Config, Fraction, Geometry};

type Lock = parking_lot::RawMutex;
type Heap<'m, G = PerClass> = ShardedHeap<'m, Lock, G>;

/// One page.
const PAGE: usize = 16384;

/// A byte object of this length fills a page-block of which this many fill a page.
const BIG: usize = 4000;
const BIG_IN_PAGE: usize = 4;

fn region(bytes: usize) -> Vec<MaybeUninit<u8>> {
    vec![MaybeUninit::new(0xA5); bytes]
}

fn config<G: Granularity>(bound: Bound) -> SharedConfig<G> {
    SharedConfig::new(Config::new(Geometry::DEFAULT, bound).unwrap())
}

fn bounds() -> [Bound; 4] {
    let holes = Bound::Holes {
        base: 2,
        fraction: Fraction::new(1, 4).unwrap(),
    };
    [Bound::Pages(1), Bound::DEFAULT, holes, Bound::Unbounded]
}

/// Nothing is live, and every byte is accounted for.
fn is_empty<G: Stepwise>(heap: &Heap<'_, G>, bytes: usize) {
    heap.compact(u64::MAX);
    heap.check(false).unwrap();
    let stats = heap.stats();
    assert_eq!(
        (stats.live_blocks, stats.pages, stats.reserved_blocks),
        (0, 0, 0)
    );
    for instance in 0..heap.instances() {
        assert_eq!(heap.instance_stats(instance).bytes, 0);
    }
    assert_eq!(heap.usage().total(), bytes);
    assert_eq!(heap.usage().block_bytes, 0);
}
