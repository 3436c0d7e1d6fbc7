//! Certificates: sound against a naive model and against the heap itself, tight against an
//! adversary, usable in `const`.

mod adversary;
mod budget;
mod classes;
mod constant;
mod ends;
mod exact;
mod instances;
mod keyed;
mod lengths;
mod meter;
mod model;
mod numbers;
mod random;
mod reachable;
mod requests;
mod shared;
mod shared_adversary;
mod shared_mixes;
mod shared_threads;
mod shared_traces;
mod touched;

use core::mem::MaybeUninit;

use surefit_compact::{Bound, Config, Fraction, Geometry, GeometrySpec, PageOrder, Spacing, Tail};
use surefit_testkit::ExactMemory;

/// Memory that starts with junk.
fn junk(bytes: usize) -> Vec<MaybeUninit<u8>> {
    vec![MaybeUninit::new(0xa5); bytes]
}

/// Exactly the aligned bytes of a certificate, at a multiple of the page size and of 128: no byte
/// more.
fn exact<'m>(
    memory: &'m mut ExactMemory,
    config: &Config,
    aligned_bytes: usize,
) -> &'m mut [MaybeUninit<u8>] {
    memory.region(aligned_bytes, config.geometry().page_bytes().max(128), 0)
}

fn geometry(page_bytes: usize, width: usize) -> Geometry {
    Geometry::new(&GeometrySpec {
        page_bytes,
        granule: 8,
        smallest: 16,
        spacing: Spacing::Fraction(8),
        tail: Tail::BackReferences { bytes: width },
    })
    .expect("valid")
}

fn holes(base: u32, numerator: u32, denominator: u32) -> Bound {
    let fraction = Fraction::new(numerator, denominator).expect("at most one half");
    Bound::Holes { base, fraction }
}

fn bounds() -> [Bound; 9] {
    [
        Bound::Pages(1),
        Bound::Pages(2),
        Bound::Pages(8),
        Bound::Unbounded,
        Bound::DEFAULT,
        holes(0, 0, 1),
        holes(0, 1, 2),
        holes(3, 2, 5),
        holes(7, 0, 1),
    ]
}

/// A configuration without pieces for each bound, and one in the original order.
fn configs(page_bytes: usize, width: usize) -> Vec<Config> {
    let new = |bound| {
        let config = Config::new(geometry(page_bytes, width), bound).expect("valid");
        config.with_pieces(None).expect("valid")
    };
    let original = new(Bound::Pages(2)).with_order(PageOrder::Original);
    let mut configs: Vec<_> = bounds().into_iter().map(new).collect();
    configs.push(original.expect("valid"));
    configs
}
