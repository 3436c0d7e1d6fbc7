//! Certificates in constants: a static region of exactly the certified size, under the compiler's
//! evaluation limit.

use surefit_compact::certify::{Budget, Certificate, ClassSet, Demand, certify, region_bytes};
use surefit_compact::{Bound, Config, Geometry, GeometrySpec, Heap, Narrow, Spacing, Tail, Wide};
use surefit_core::{Page1K, Page16K, Region};

static CONFIG: Config = Config::DEFAULT;

const JOINT: Demand<'static> = Demand::Joint(Budget {
    objects: 2000,
    block_bytes: 128 << 10,
    classes: ClassSet::of_requests(CONFIG.geometry(), 1024),
});

static MEMORY: Region<{ region_bytes::<Wide>(&CONFIG, &JOINT) }, Page16K> = Region::new();

#[test]
fn a_static_region_of_the_certified_size_serves_the_demand() {
    let heap: Heap = Heap::new(MEMORY.take().expect("taken once"), &CONFIG).expect("large enough");
    let handles: Vec<_> = (0..2000_u64)
        .map(|n| heap.insert(n).expect("certified"))
        .collect();
    assert!(
        handles
            .iter()
            .zip(0..)
            .all(|(handle, n)| *heap.get(handle) == n)
    );
}

/// 128 classes, the most there can be, narrow words: the longest evaluation.
const SIZES: [u32; 127] = {
    let (mut sizes, mut index) = ([0; 127], 0);
    while index < 127 {
        sizes[index] = 8 * (index as u32 + 1);
        index += 1;
    }
    sizes
};

static NARROW: Config = match Geometry::new(&GeometrySpec {
    page_bytes: 1024,
    spacing: Spacing::Explicit(&SIZES),
    tail: Tail::BackReferences { bytes: 2 },
    ..GeometrySpec::DEFAULT
}) {
    Ok(geometry) => match Config::new(geometry, Bound::DEFAULT) {
        Ok(config) => config,
        Err(_) => panic!("valid"),
    },
    Err(_) => panic!("valid"),
};

const SMALL: Demand<'static> = Demand::Joint(Budget {
    objects: 400,
    block_bytes: 24 << 10,
    classes: ClassSet::all(NARROW.geometry()),
});

const CERTIFICATE: Certificate = match certify::<Narrow>(&NARROW, &SMALL) {
    Ok(certificate) => certificate,
    Err(_) => panic!("a heap can serve it"),
};

static NARROW_MEMORY: Region<{ CERTIFICATE.aligned_bytes + 1 }, Page1K> = Region::new();

#[test]
fn the_longest_evaluation_fits_a_constant() {
    assert_eq!(NARROW.geometry().class_count(), 128);
    let heap = Heap::<Narrow>::new(NARROW_MEMORY.take().expect("taken once"), &NARROW);
    let heap = heap.expect("large enough");
    for _ in 0..400 {
        let _handle = heap.insert(0_u64).expect("certified");
    }
    let parts = CERTIFICATE.parts;
    let sum = parts.data_page_bytes
        + parts.handle_bytes
        + parts.page_record_bytes
        + parts.class_state_bytes
        + parts.alignment_bytes;
    assert_eq!(sum, CERTIFICATE.heap_bytes);
}
