//! What requests take of a budget in page-blocks.
#![deny(unsafe_code)]

use surefit_compact::certify::BlockCount;
use surefit_compact::{Config, Geometry, Wide};

use super::stub::STUB;
use crate::schedule::Amount;

/// What every request takes at least, in bytes: a page-block of the second class. The smallest
/// class is that of stubs alone.
pub(super) fn least(geometry: &Geometry) -> usize {
    let second = geometry.class(1);
    second.map_or(0, |class| geometry.smallest_request(class))
}

/// The page-blocks of an object of so many bytes, with its stub and its spines if it is in pieces.
/// `None` if no heap can hold it.
pub(super) fn cost(config: &Config, bytes: usize) -> Option<Amount> {
    let bytes = bytes.max(least(config.geometry()));
    let blocks = BlockCount::of::<Wide>(config, bytes, 8)?;
    let object = Amount {
        objects: blocks.blocks,
        bytes: blocks.bytes,
    };
    let stub = Amount {
        objects: 1,
        bytes: BlockCount::of::<Wide>(config, STUB, 8)?.bytes,
    };
    // Only an object in pieces has more than one page-block.
    Some(match blocks.blocks {
        1 => object,
        _ => object.plus(stub),
    })
}
