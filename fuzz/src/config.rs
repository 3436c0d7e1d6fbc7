//! Configurations that the first bytes of an input choose.

use std::mem::MaybeUninit;

use surefit_compact::{
    Bound, Config, Fraction, Geometry, GeometrySpec, Heap, PageOrder, Spacing, Tail, Width,
};
use surefit_core::Refused;

use crate::input::Input;

/// Any valid configuration with words of that many bytes, pages of 1 to 16 KiB.
pub fn config(input: &mut Input<'_>, word_bytes: usize) -> Config {
    let spacing = match input.below(4) {
        0 => Spacing::Fraction(8),
        1 => Spacing::Fraction(4),
        2 => Spacing::Fraction(16),
        _ => Spacing::Explicit(&[16, 24, 64, 128, 200, 256, 336, 504, 1024]),
    };
    let spec = GeometrySpec {
        page_bytes: 1024 << (2 * input.below(3)),
        granule: 8,
        smallest: 16,
        spacing,
        tail: Tail::BackReferences { bytes: word_bytes },
    };
    let geometry = Geometry::new(&spec).expect("a valid geometry");
    let config = Config::new(geometry, bound(input)).expect("a valid bound");
    with_options(input, config)
}

/// The slack of a heap, if it has any: from too little for its table to all there could be.
pub fn slack(input: &mut Input<'_>) -> Option<usize> {
    match input.below(8) {
        4 => Some(input.below(2)),
        5 => Some(input.number()),
        6 => Some(input.number() << 4),
        7 => Some(usize::MAX),
        _ => None,
    }
}

/// A heap with that slack.
pub fn heap<'m, W: Width>(
    memory: &'m mut [MaybeUninit<u8>],
    config: &'m Config,
    slack: Option<usize>,
) -> Result<Heap<'m, W>, Refused> {
    match slack {
        Some(bytes) => Heap::with_slack(memory, config, bytes),
        None => Heap::new(memory, config),
    }
}

fn bound(input: &mut Input<'_>) -> Bound {
    match input.below(6) {
        0 => Bound::DEFAULT,
        1 => Bound::Pages(1),
        2 => Bound::Pages(2 + input.below(7) as u32),
        3 => Bound::Unbounded,
        _ => {
            let denominator = 1 + u32::from(input.byte());
            let numerator = u32::from(input.byte()) % (denominator / 2 + 1);
            Bound::Holes {
                base: input.below(9) as u32,
                fraction: Fraction::new(numerator, denominator).expect("at most one half"),
            }
        }
    }
}

fn with_options(input: &mut Input<'_>, config: Config) -> Config {
    let options = input.byte();
    let order = if options & 1 == 1 {
        PageOrder::Original
    } else {
        PageOrder::Newest
    };
    // Other bounds have one order only.
    let config = config.clone().with_order(order).unwrap_or(config);
    let page = config.geometry().page_bytes();
    let pieces = match options >> 1 & 3 {
        0 => Some(64),
        1 => Some(page / 4),
        2 => Some(page),
        _ => None,
    };
    let config = config
        .with_pieces(pieces)
        .expect("a power of two up to a page");
    let Some(small) = pieces else {
        return config;
    };
    let large = match options >> 3 & 3 {
        0 => small,
        1 => page,
        times => (small << times).min(page),
    };
    config
        .with_large_pieces(large)
        .expect("a power of two from the small piece to a page")
}
