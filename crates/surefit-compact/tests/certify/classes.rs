//! The classes of a budget are those of which a heap serves its objects.

use surefit_compact::certify::ClassSet;
use surefit_compact::pieces::Pieces;
use surefit_compact::{Bound, Config, Geometry, GeometrySpec, Wide, Width};

/// Small and large pages, with pieces of several lengths, and without.
fn configs() -> Vec<Config> {
    let config = |page_bytes| {
        let geometry = Geometry::new(&GeometrySpec {
            page_bytes,
            ..GeometrySpec::DEFAULT
        });
        Config::new(geometry.expect("valid"), Bound::DEFAULT).expect("valid")
    };
    let pieces = |config: Config, bytes| config.with_pieces(Some(bytes)).expect("valid");
    vec![
        Config::TINY,
        Config::MICRO,
        pieces(config(1 << 10), 64),
        pieces(config(4 << 10), 1 << 10),
        config(2 << 10).with_pieces(None).expect("valid"),
    ]
}

/// The classes of the page-blocks of an object.
fn served(config: &Config, bytes: usize, align: usize) -> ClassSet {
    let runs = Pieces::new(bytes, align, config.division(), Wide::SPINE_WORD_BYTES);
    let classes = runs.filter_map(|run| config.geometry().class_for(run.bytes, run.align));
    classes.fold(ClassSet::EMPTY, ClassSet::with)
}

#[test]
fn the_classes_of_objects_are_those_that_serve_them() {
    for config in configs() {
        let (geometry, page) = (config.geometry(), config.geometry().page_bytes());
        let most = match config.piece_bytes() {
            Some(_) => 2 * page + 100,
            None => page,
        };
        for align in (0..=page.ilog2()).map(|log2| 1_usize << log2) {
            let mut union = ClassSet::EMPTY;
            for bytes in 0..=most {
                for align in (0..=align.ilog2()).map(|log2| 1_usize << log2) {
                    let served = served(&config, bytes, align);
                    let further = geometry.classes().filter(|class| served.contains(*class));
                    union = further.fold(union, ClassSet::with);
                }
                if bytes % 61 == 0 || bytes == most {
                    let set = ClassSet::of_objects(&config, bytes, align);
                    assert_eq!(set, union, "{bytes} bytes at {align}");
                }
            }
        }
    }
}
