//! The heap of heap_1m.json, in the configuration cf:page=4K,width=16,spacing=1/4.
//!
//! Written by `surefit certify --emit rust`. The region suffices for every order of calls within
//! the demand. One free makes at most 2 moves and copies at most 2,048 bytes.
//!
//! Needs these features of the crate `surefit`: `compact`, `holes`, `pieces`, `slack`.
//!
//! To make the heap, in a program whose module this is:
//! `Heap::<heap::Words>::with_slack(heap::MEMORY.take().expect("taken once"), &heap::CONFIG,
//! heap::SLACK_BYTES)`.

use surefit::compact::certify::{Budget, ClassSet, Demand, region_bytes, slack_bytes};
use surefit::compact::geometry::{Geometry, GeometrySpec, Spacing, Tail};
use surefit::compact::{Bound, Config, Narrow};
use surefit::{Page4K, Region};

/// The width of the heap's words.
pub(crate) type Words = Narrow;

/// The configuration of the heap.
#[rustfmt::skip]
pub(crate) static CONFIG: Config = {
    let spec = GeometrySpec {
        page_bytes: 4096,
        spacing: Spacing::Explicit(&[16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 264, 312, 336, 400, 448, 512, 584, 680, 816, 1024, 1360, 2048, 4096]),
        tail: Tail::BackReferences { bytes: 2 },
        ..GeometrySpec::DEFAULT
    };
    let Ok(geometry) = Geometry::new(&spec) else {
        panic!("the partitioning is valid")
    };
    let bound = Bound::DEFAULT;
    let Ok(config) = Config::new(geometry, bound) else {
        panic!("the bound is valid")
    };
    let Ok(config) = config.with_pieces(Some(1024)) else {
        panic!("the pieces are valid")
    };
    let Ok(config) = config.with_large_pieces(4096) else {
        panic!("the pieces are valid")
    };
    config
};

/// What the program has live at most.
#[rustfmt::skip]
pub(crate) const DEMAND: Demand<'static> = Demand::Joint(Budget {
    objects: 20_833,
    block_bytes: 640_000,
    classes: {
        let (used, mut classes, mut i) = ([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 27], ClassSet::EMPTY, 0);
        while i < used.len() {
            if let Some(class) = CONFIG.geometry().class(used[i]) {
                classes = classes.with(class);
            }
            i += 1;
        }
        classes
    },
});

/// The bytes that are enough, wherever the heap's pages lie in memory.
pub(crate) const REGION_BYTES: usize = 915_801;
const _: () = assert!(
    region_bytes::<Words>(&CONFIG, &DEMAND) == REGION_BYTES,
    "this version of surefit certifies other bytes: run surefit certify again"
);

/// Bytes of holes that the size-classes share: with them a free moves an object only if they are
/// all in use.
pub(crate) const SLACK_BYTES: usize = 68_396;
const _: () = assert!(
    matches!(
        slack_bytes::<Words>(&CONFIG, &DEMAND, REGION_BYTES - 1),
        Ok(SLACK_BYTES..)
    ),
    "this version of surefit finds less slack: run surefit certify again"
);

/// The memory of the heap.
pub(crate) static MEMORY: Region<REGION_BYTES, Page4K> = Region::new();
