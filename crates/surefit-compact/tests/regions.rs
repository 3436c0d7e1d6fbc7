//! What a refusal of a region asks for is enough, wherever the region begins.

use core::mem::MaybeUninit;

use surefit_compact::shared::{PerClass, ShardedHeap, SharedConfig, SharedHeap};
use surefit_compact::{Bound, Config, Geometry, Heap};
use surefit_core::Refused;

type Lock = parking_lot::RawMutex;
type Region<'r> = &'r mut [MaybeUninit<u8>];

const PAGE: usize = 16 << 10;

/// Bytes behind the beginning of a page.
const BEGINS: [usize; 6] = [0, 1, 7, 8, 9, PAGE - 1];

/// Regions of a length, one after the other, that begin at different places of a page.
fn anywhere(bytes: usize, mut of: impl FnMut(usize, Region<'_>)) {
    let mut memory = vec![MaybeUninit::uninit(); bytes + 2 * PAGE];
    let first = memory.as_ptr().align_offset(PAGE);
    for begin in BEGINS {
        let begin = first + begin;
        of(begin - first, &mut memory[begin..begin + bytes]);
    }
}

/// A region that is too short is refused, and one of the bytes that the refusal names is not.
fn is_enough(what: &str, make: impl Fn(Region<'_>) -> Result<(), Refused>) {
    for short in [0, 100, 500, 1000, PAGE, 2 * PAGE] {
        let mut memory = vec![MaybeUninit::uninit(); short];
        let needed = match make(&mut memory) {
            Err(Refused::Region { needed }) => needed,
            Ok(()) => continue,
            Err(other) => panic!("{what}, {short} bytes: {other}"),
        };
        assert!(needed > short, "{what}: {needed} of {short}");
        anywhere(needed, |begin, region| {
            let made = make(region);
            assert_eq!(made, Ok(()), "{what}: {needed} bytes at {begin}");
        });
    }
}

fn config() -> Config {
    Config::new(Geometry::DEFAULT, Bound::DEFAULT).expect("valid")
}

#[test]
fn of_a_heap_of_one_owner() {
    let config = config();
    is_enough("new", |region| {
        Heap::<surefit_compact::Wide>::new(region, &config).map(drop)
    });
    for objects in [0, 1, 1000, 5000, 100_000] {
        is_enough("with_limit", |region| {
            Heap::<surefit_compact::Wide>::with_limit(region, &config, PAGE, objects).map(drop)
        });
    }
}

#[test]
#[cfg(feature = "slack")]
fn of_a_heap_with_slack() {
    let (config, shared) = (config(), SharedConfig::new(config()));
    for slack in [1, 1 << 20, usize::MAX] {
        is_enough("with_slack", |region| {
            Heap::<surefit_compact::Wide>::with_slack(region, &config, slack).map(drop)
        });
        is_enough("shared, with_slack", |region| {
            SharedHeap::<Lock, PerClass>::with_slack(region, &shared, slack).map(drop)
        });
    }
}

#[test]
fn of_a_heap_of_several_threads() {
    let config = SharedConfig::new(config());
    is_enough("shared", |region| {
        SharedHeap::<Lock, PerClass>::new(region, &config).map(drop)
    });
    for instances in [1, 2, 20] {
        is_enough("sharded", |region| {
            ShardedHeap::<Lock, PerClass>::new(region, &config, instances).map(drop)
        });
    }
}
