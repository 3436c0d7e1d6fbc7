//! The heap of heap_4k.json, in the configuration cf:page=1K,width=16,spacing=1/4,k=1.
//!
//! Written by `surefit certify --emit rust`. The region suffices for every order of calls within
//! the demand. One free makes at most 1 move and copies at most 200 bytes.
//!
//! Needs these features of the crate `surefit`: `compact`, `pieces`.
//!
//! To make the heap, in a program whose module this is:
//! `Heap::<heap::Words>::new(heap::MEMORY.take().expect("taken once"), &heap::CONFIG)`.

use surefit::compact::certify::{Demand, region_bytes};
use surefit::compact::geometry::{Geometry, GeometrySpec, Spacing, Tail};
use surefit::compact::{Bound, Config, Narrow};
use surefit::{Page1K, Region};

/// The width of the heap's words.
pub(crate) type Words = Narrow;

/// The configuration of the heap.
#[rustfmt::skip]
pub(crate) static CONFIG: Config = {
    let spec = GeometrySpec {
        page_bytes: 1024,
        spacing: Spacing::Explicit(&[16, 24, 32, 40, 48, 56, 64, 80, 96, 104, 128, 144, 168, 200, 256, 336, 512, 1024]),
        tail: Tail::BackReferences { bytes: 2 },
        ..GeometrySpec::DEFAULT
    };
    let Ok(geometry) = Geometry::new(&spec) else {
        panic!("the partitioning is valid")
    };
    let bound = Bound::Pages(1);
    let Ok(config) = Config::new(geometry, bound) else {
        panic!("the bound is valid")
    };
    let Ok(config) = config.with_pieces(Some(256)) else {
        panic!("the pieces are valid")
    };
    let Ok(config) = config.with_large_pieces(1024) else {
        panic!("the pieces are valid")
    };
    config
};

/// What the program has live at most.
#[rustfmt::skip]
pub(crate) const DEMAND: Demand<'static> = Demand::PerClass(&[0, 36, 0, 0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0]);

/// The bytes that are enough, wherever the heap's pages lie in memory.
pub(crate) const REGION_BYTES: usize = 3537;
const _: () = assert!(
    region_bytes::<Words>(&CONFIG, &DEMAND) == REGION_BYTES,
    "this version of surefit certifies other bytes: run surefit certify again"
);

/// The memory of the heap.
pub(crate) static MEMORY: Region<REGION_BYTES, Page1K> = Region::new();
