//! Geometries, proved by trying every request, alignment, page-block and offset.

use surefit_classes::geometry::{
    ClassLayout, Geometry, GeometryError, GeometrySpec, INLINE_BLOCKS, MAX_BLOCKS, MAX_CLASSES,
    SizeClass, Spacing, Tail, WORD_BLOCKS,
};
use surefit_testkit::Random;

const PAGES: [usize; 7] = [1024, 2048, 4096, 8192, 16384, 32768, 65536];
const TAILS: [Tail; 4] = [
    Tail::None,
    Tail::BackReferences { bytes: 2 },
    Tail::BackReferences { bytes: 3 },
    Tail::BackReferences { bytes: 4 },
];

const TINY: Geometry = match Geometry::new(&GeometrySpec {
    page_bytes: 1024,
    smallest: 8,
    tail: Tail::BackReferences { bytes: 2 },
    ..GeometrySpec::DEFAULT
}) {
    Ok(geometry) => geometry,
    Err(error) => panic!("{}", error.message()),
};

/// Every possible geometry of a fraction, over all pages, tails and granules.
fn geometries(fractions: &'static [u32]) -> impl Iterator<Item = Geometry> {
    let specs = PAGES.into_iter().flat_map(move |page_bytes| {
        TAILS.into_iter().flat_map(move |tail| {
            [8, 16].into_iter().flat_map(move |granule| {
                fractions.iter().map(move |&fraction| GeometrySpec {
                    page_bytes,
                    granule,
                    smallest: 16,
                    spacing: Spacing::Fraction(fraction),
                    tail,
                })
            })
        })
    });
    specs.filter_map(|spec| match Geometry::new(&spec) {
        Ok(geometry) => Some(geometry),
        Err(GeometryError::TooManyClasses) => None,
        Err(error) => panic!("{spec:?}: {error}"),
    })
}

/// Geometries of seeded lists, a few of them with the most classes possible.
fn listed() -> Vec<Geometry> {
    let mut random = Random(0x5eed);
    let mut geometries = Vec::new();
    for round in 0..40 {
        let page_bytes = PAGES[round % PAGES.len()];
        let granule = [8, 16][round % 2];
        let wanted = 1 + random.below(if round % 3 == 0 { 4 * MAX_CLASSES } else { 30 });
        let mut list: Vec<u32> = (0..wanted)
            .map(|_| (3 + random.below(page_bytes / granule - 3)) * granule)
            .map(|bytes| u32::try_from(bytes).expect("within a page"))
            .collect();
        list.sort_unstable();
        list.dedup();
        list.truncate(MAX_CLASSES - 1);
        let spec = GeometrySpec {
            page_bytes,
            granule,
            spacing: Spacing::Explicit(&list),
            tail: TAILS[round % TAILS.len()],
            ..GeometrySpec::DEFAULT
        };
        geometries.push(Geometry::new(&spec).unwrap_or_else(|error| panic!("{list:?}: {error}")));
    }
    geometries
}

fn sizes(geometry: &Geometry) -> Vec<usize> {
    geometry
        .classes()
        .map(|class| geometry.layout(class).block_bytes as usize)
        .collect()
}

fn assert_smallest_fitting(geometry: &Geometry) {
    let sizes = sizes(geometry);
    for shift in 0..=geometry.page_shift() {
        let align = 1 << shift;
        let mut class = 0;
        for bytes in 0..=geometry.page_bytes() {
            while sizes[class] < bytes || sizes[class] % align != 0 {
                class += 1;
            }
            let found = geometry.class_for(bytes, align).map(SizeClass::index);
            assert_eq!(
                found,
                Some(class),
                "{bytes} bytes aligned to {align} in {geometry:?}"
            );
        }
    }
    let over = geometry.page_bytes() + 1;
    for bytes in [over, 2 * over, usize::MAX] {
        assert_eq!(geometry.class_for(bytes, 1), None);
        assert_eq!(geometry.class_for(bytes, 64), None);
    }
    assert_eq!(geometry.class_for(1, 2 * geometry.page_bytes()), None);
    assert_eq!(geometry.class_for(1, 1 << (usize::BITS - 1)), None);
    assert_eq!(geometry.class_for(1, 48), None, "no power of two");
}

#[test]
fn every_request_gets_the_smallest_class_that_fits_and_is_aligned() {
    for geometry in geometries(&[4, 8, 16]).filter(|geometry| geometry.page_bytes() <= 16384) {
        assert_smallest_fitting(&geometry);
    }
    for geometry in geometries(&[8]).filter(|geometry| geometry.page_bytes() > 16384) {
        assert_smallest_fitting(&geometry);
    }
}

#[test]
fn lists_get_the_smallest_class_that_fits_and_is_aligned() {
    for geometry in listed() {
        assert_smallest_fitting(&geometry);
    }
}

fn assert_layout(geometry: &Geometry, class: SizeClass) {
    let ClassLayout {
        block_bytes,
        blocks,
        leaves,
        ..
    } = *geometry.layout(class);
    let layout = geometry.layout(class);
    let (leaf_offset, back_offset) = (layout.leaf_offset(), layout.back_offset());
    let (beta, pi) = (block_bytes as usize, usize::from(blocks));
    assert!((1..=MAX_BLOCKS).contains(&pi), "{class:?}");
    assert_eq!(beta % geometry.granule(), 0, "{class:?}");
    assert_eq!(pi > INLINE_BLOCKS, leaves > 0, "{class:?}");
    assert!(leaves == 0 || 64 * usize::from(leaves) >= pi, "{class:?}");
    assert_eq!(leaf_offset % 8, 0, "{class:?}");
    assert_eq!(back_offset % 8, 0, "{class:?}");
    assert!(leaf_offset as usize >= pi * beta, "{class:?}");
    assert_eq!(
        back_offset - leaf_offset,
        8 * u32::from(leaves),
        "{class:?}"
    );
    let back = match geometry.tail() {
        Tail::BackReferences { bytes } if pi > INLINE_BLOCKS => bytes * pi,
        _ => 0,
    };
    assert_eq!(geometry.back_reference_bytes(class), back, "{class:?}");
    assert!(
        back_offset as usize + back <= geometry.page_bytes(),
        "{class:?}"
    );
    let parts = pi * beta
        + geometry.leaf_bytes(class)
        + geometry.back_reference_bytes(class)
        + geometry.page_internal_bytes(class);
    assert_eq!(parts, geometry.page_bytes(), "{class:?}");
}

fn assert_one_more_does_not_fit(geometry: &Geometry, class: SizeClass) {
    let layout = geometry.layout(class);
    let (beta, more) = (layout.block_bytes as usize, usize::from(layout.blocks) + 1);
    let leaves = if more > INLINE_BLOCKS {
        more.div_ceil(WORD_BLOCKS)
    } else {
        0
    };
    let back = match geometry.tail() {
        Tail::BackReferences { bytes } if more > INLINE_BLOCKS => bytes * more,
        _ => 0,
    };
    assert!(
        more * beta + 8 * leaves + back > geometry.page_bytes(),
        "{class:?} in {geometry:?}"
    );
}

#[test]
fn the_parts_of_a_page_never_overlap_and_leave_no_room_for_another_page_block() {
    for geometry in geometries(&[1, 2, 3, 4, 5, 8, 16, 32, 64])
        .chain(listed())
        .chain([TINY])
    {
        for class in geometry.classes() {
            assert_layout(&geometry, class);
            assert_one_more_does_not_fit(&geometry, class);
        }
        let sizes = sizes(&geometry);
        assert!(sizes.is_sorted_by(|a, b| a < b), "{geometry:?}");
        assert_eq!(sizes.last(), Some(&geometry.page_bytes()));
        assert_eq!(geometry.largest().index() + 1, geometry.class_count());
        assert_eq!(geometry.layout(geometry.largest()).blocks, 1);
    }
}

#[test]
fn the_reciprocal_finds_the_page_block_of_every_byte() {
    for geometry in geometries(&[8]).chain(listed()) {
        for class in geometry.classes() {
            let layout = geometry.layout(class);
            let offsets = if layout.blocks as usize <= INLINE_BLOCKS {
                1
            } else {
                7
            };
            for offset in (0..u32::from(u16::MAX)).step_by(offsets) {
                assert_eq!(layout.block_at(offset), offset / layout.block_bytes);
            }
            for block in 0..u32::from(layout.blocks) {
                let first = layout.offset_of(block);
                assert_eq!(layout.block_at(first), block);
                assert_eq!(layout.block_at(first + layout.block_bytes - 1), block);
            }
        }
    }
}

#[test]
fn every_multiple_of_eight_has_an_exact_reciprocal() {
    for beta in (8..=65536_u32).step_by(8) {
        let list = [beta];
        let spec = GeometrySpec {
            page_bytes: 65536,
            spacing: Spacing::Explicit(&list),
            ..GeometrySpec::DEFAULT
        };
        let geometry = match Geometry::new(&spec) {
            Ok(geometry) => geometry,
            Err(error) => {
                assert!(beta < 16, "{error}");
                continue;
            }
        };
        let layout = *geometry.layout(geometry.class(0).expect("a first class"));
        assert_eq!(layout.block_bytes, beta);
        // Between two multiples the quotient is constant, and block_at is monotone: the ends
        // suffice.
        for first in (0..65536).step_by(beta as usize) {
            assert_eq!(layout.block_at(first), first / beta);
            let last = (first + beta - 1).min(65535);
            assert_eq!(layout.block_at(last), last / beta);
        }
    }
}

#[test]
fn the_default_page_block_sizes_are_these() {
    // Certificates depend on these: a change here changes every certified size.
    let expected = [
        16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120, 128, 144, 160, 176, 192, 208,
        224, 240, 256, 288, 320, 352, 384, 424, 448, 488, 512, 520, 576, 648, 704, 768, 856, 904,
        1016, 1024, 1072, 1152, 1248, 1360, 1472, 1632, 1808, 2048, 2336, 2720, 3264, 4096, 5440,
        8192, 16384,
    ];
    assert_eq!(sizes(&Geometry::DEFAULT), expected);
    let blocks = |bytes| {
        let class = Geometry::DEFAULT.class_for(bytes, 8).expect("fits a page");
        Geometry::DEFAULT.layout(class).blocks
    };
    assert_eq!([2048, 4096, 8192, 16384].map(blocks), [8, 4, 2, 1]);
    assert_eq!(blocks(16), 814);
}

#[test]
fn neighbours_are_as_close_as_the_fraction_asks() {
    for fraction in [4, 8, 16] {
        for geometry in geometries(Box::leak(Box::new([fraction]))) {
            let sizes = sizes(&geometry);
            for (index, pair) in sizes.windows(2).enumerate() {
                let class = geometry.class(index + 1).expect("a class");
                let granule = geometry.granule().max(pair[0] / 64);
                let page_bound = usize::from(geometry.layout(class).blocks);
                let near = pair[1] - pair[0] <= (pair[0] / fraction as usize).max(granule);
                // No size between them would give fewer page-blocks than the one below.
                let below = geometry.class(index).expect("a class");
                let next = usize::from(geometry.layout(below).blocks) <= page_bound + 2;
                assert!(near || next, "{pair:?} in {geometry:?}");
            }
        }
    }
}

#[test]
fn powers_of_two_keep_a_class_of_their_own() {
    for geometry in geometries(&[4, 8, 16]) {
        for shift in 4..=geometry.page_shift() {
            let class = geometry
                .class_for(1 << shift, 1 << shift)
                .expect("fits a page");
            assert_eq!(
                geometry.layout(class).block_bytes,
                1 << shift,
                "{geometry:?}"
            );
        }
    }
}

#[test]
fn partitioning_loses_what_the_documentation_says() {
    let geometry = Geometry::DEFAULT;
    let per_mille = |class| 1000 * geometry.page_internal_bytes(class) / geometry.page_bytes();
    let worst = geometry.classes().map(per_mille).max();
    assert_eq!(worst, Some(58));
    let (power, others): (Vec<_>, Vec<_>) = geometry
        .classes()
        .partition(|&class| matches!(geometry.layout(class).block_bytes, 512 | 1024));
    assert_eq!(
        power.into_iter().map(per_mille).collect::<Vec<_>>(),
        [23, 58]
    );
    assert_eq!(others.into_iter().map(per_mille).max(), Some(15));
    let internal = |class: SizeClass| {
        let beta = geometry.layout(class).block_bytes as usize;
        1000 * (beta - geometry.smallest_request(class)) / beta
    };
    let small = |&class: &SizeClass| {
        geometry.smallest_request(class) > 64
            && usize::from(geometry.layout(class).blocks) > INLINE_BLOCKS
    };
    assert_eq!(
        geometry.classes().filter(small).map(internal).max(),
        Some(109)
    );
    let large = |&class: &SizeClass| usize::from(geometry.layout(class).blocks) <= INLINE_BLOCKS;
    assert_eq!(
        geometry.classes().filter(large).map(internal).max(),
        Some(499)
    );
}

#[test]
fn aligned_requests_find_a_class_near() {
    let geometry = Geometry::DEFAULT;
    for (align, worst) in [(16, 130), (32, 128), (64, 154), (128, 188), (4096, 100)] {
        let percent = |bytes: usize| {
            let class = geometry.class_for(bytes, align).expect("fits a page");
            100 * geometry.layout(class).block_bytes as usize / bytes
        };
        let requests = (align..=geometry.page_bytes() / 4).step_by(align);
        assert_eq!(
            requests.map(percent).max(),
            Some(worst),
            "aligned to {align}"
        );
    }
}

#[test]
fn smallest_requests_are_the_first_of_their_class() {
    for geometry in geometries(&[8]).chain(listed()) {
        for class in geometry.classes() {
            let bytes = geometry.smallest_request(class);
            assert_eq!(geometry.class_for(bytes, 1), Some(class));
            if bytes > 0 {
                assert_ne!(geometry.class_for(bytes - 1, 1), Some(class));
            }
        }
    }
}

#[test]
fn classes_one_by_one_are_all_classes() {
    for geometry in geometries(&[1, 8]).chain(listed()) {
        let mut one_by_one = geometry.each_class();
        for class in geometry.classes() {
            assert_eq!(one_by_one.next_class(), Some(class));
        }
        assert_eq!(one_by_one.next_class(), None);
        assert_eq!(one_by_one.next_class(), None, "it stays at the end");
    }
}

#[test]
fn a_class_of_another_geometry_leads_to_some_layout() {
    let foreign = Geometry::DEFAULT.largest();
    assert!(foreign.index() >= TINY.class_count());
    assert_eq!(TINY.layout(foreign), TINY.layout(TINY.largest()));
    assert_eq!(TINY.class(foreign.index()), None);
}

#[test]
fn a_list_is_used_as_it_is() {
    let list = [24, 40, 4096];
    let spec = GeometrySpec {
        spacing: Spacing::Explicit(&list),
        ..GeometrySpec::DEFAULT
    };
    let geometry = Geometry::new(&spec).expect("a list");
    assert_eq!(sizes(&geometry), [24, 40, 4096, 16384]);
    let empty = GeometrySpec {
        spacing: Spacing::Explicit(&[]),
        ..GeometrySpec::DEFAULT
    };
    assert_eq!(sizes(&Geometry::new(&empty).expect("one class")), [16384]);
}

#[test]
fn a_list_that_ends_with_the_page_is_complete() {
    let spec = GeometrySpec {
        spacing: Spacing::Explicit(&[24, 16384]),
        ..GeometrySpec::DEFAULT
    };
    assert_eq!(sizes(&Geometry::new(&spec).expect("a list")), [24, 16384]);
}

#[test]
fn no_page_block_is_smaller_than_the_smallest() {
    let from = |smallest| {
        let spec = GeometrySpec {
            smallest,
            ..GeometrySpec::DEFAULT
        };
        sizes(&Geometry::new(&spec).expect("a smallest page-block"))
    };
    assert_eq!(from(512)[..3], [512, 520, 576]);
    assert_eq!(from(520)[..2], [520, 576]);
    assert_eq!(from(1032)[..2], [1072, 1152]);
    assert_eq!(from(4096), [4096, 5440, 8192, 16384]);
    assert_eq!(from(16384), [16384]);
    for smallest in (16..=16384).step_by(8) {
        let first = from(smallest)[0];
        assert!(first >= smallest, "{first} for {smallest}");
    }
}

fn refused(change: impl FnOnce(&mut GeometrySpec<'static>)) -> GeometryError {
    let mut spec = GeometrySpec::DEFAULT;
    change(&mut spec);
    Geometry::new(&spec).expect_err("an impossible geometry")
}

#[test]
fn impossible_geometries_say_what_is_wrong() {
    for page_bytes in [0, 1, 512, 1000, 16383, 131_072, usize::MAX] {
        let error = refused(|spec| spec.page_bytes = page_bytes);
        assert_eq!(error, GeometryError::PageBytes { page_bytes });
    }
    for granule in [0, 1, 4, 12, 32] {
        assert_eq!(
            refused(|spec| spec.granule = granule),
            GeometryError::Granule { granule }
        );
    }
    for smallest in [0, 4, 12, 16392, usize::MAX - 7] {
        assert_eq!(
            refused(|spec| spec.smallest = smallest),
            GeometryError::Smallest { smallest }
        );
    }
    for fraction in [0, 65, u32::MAX] {
        let error = refused(|spec| spec.spacing = Spacing::Fraction(fraction));
        assert_eq!(error, GeometryError::Fraction { fraction });
    }
    for bytes in [0, 1, 5, 8] {
        let error = refused(|spec| spec.tail = Tail::BackReferences { bytes });
        assert_eq!(error, GeometryError::BackReference { bytes });
    }
}

#[test]
fn impossible_lists_say_where() {
    let list = |list: &'static [u32]| refused(|spec| spec.spacing = Spacing::Explicit(list));
    let (index, block_bytes) = (1, 20);
    assert_eq!(
        list(&[16, 20]),
        GeometryError::NotMultiple { index, block_bytes }
    );
    assert_eq!(
        list(&[0]),
        GeometryError::NotMultiple {
            index: 0,
            block_bytes: 0
        }
    );
    let block_bytes = 16;
    assert_eq!(
        list(&[16, 16]),
        GeometryError::NotAscending { index, block_bytes }
    );
    assert_eq!(
        list(&[24, 16]),
        GeometryError::NotAscending { index, block_bytes }
    );
    let block_bytes = 16392;
    assert_eq!(
        list(&[16, 16392]),
        GeometryError::OverPage { index, block_bytes }
    );
    let text = list(&[16, 20]).to_string();
    assert!(
        text.contains("multiple of the granule") && text.contains("size 20 at index 1"),
        "{text}"
    );
}

#[test]
fn too_many_classes_or_page_blocks_are_refused() {
    let dense: Vec<u32> = (1..=128).map(|n| 16 * n).collect();
    let over = GeometrySpec {
        spacing: Spacing::Explicit(&dense),
        ..GeometrySpec::DEFAULT
    };
    assert_eq!(Geometry::new(&over), Err(GeometryError::TooManyClasses));
    let full = GeometrySpec {
        spacing: Spacing::Explicit(&dense[..127]),
        ..GeometrySpec::DEFAULT
    };
    assert_eq!(
        Geometry::new(&full).expect("128 classes").class_count(),
        MAX_CLASSES
    );
    let error = refused(|spec| (spec.page_bytes, spec.spacing) = (65536, Spacing::Fraction(64)));
    assert_eq!(error, GeometryError::TooManyClasses);
    let error = refused(|spec| (spec.page_bytes, spec.smallest) = (65536, 8));
    assert!(
        matches!(error, GeometryError::TooManyBlocks { block_bytes: 8, blocks } if blocks > MAX_BLOCKS)
    );
}

#[test]
fn a_geometry_is_built_in_const() {
    assert_eq!(TINY.page_bytes(), 1024);
    assert_eq!(sizes(&TINY)[..3], [8, 16, 24]);
    assert_eq!(
        format!("{TINY:?}").matches("1024").count(),
        2,
        "page and last class"
    );
}
