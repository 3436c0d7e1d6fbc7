//! Numbers and layouts that no heap expects: both ends, and around every power of two.

use core::alloc::Layout;

/// The largest size of a layout.
pub const HALF: usize = isize::MAX as usize;

/// Sizes; those above `HALF` belong to no layout.
pub const SIZES: [usize; 16] = [
    0,
    1,
    7,
    4096,
    4097,
    1 << 14,
    (1 << 14) + 1,
    1 << 17,
    1 << 30,
    HALF - (1 << 16),
    HALF - 4096,
    HALF - 1,
    HALF,
    HALF + 1,
    usize::MAX - 1,
    usize::MAX,
];

/// Layouts larger than a small region.
pub fn too_large() -> impl Iterator<Item = Layout> {
    let sizes = SIZES.into_iter().filter(|&size| size >= 1 << 17);
    let aligns = [1, 8, 16, 4096, 1 << 14, 1 << 16];
    sizes.flat_map(move |size| {
        aligns
            .into_iter()
            .filter_map(move |align| Layout::from_size_align(size, align).ok())
    })
}

/// Layouts of one byte that are aligned beyond a small region.
///
/// # Panics
/// Never: every such layout is valid.
pub fn too_aligned() -> impl Iterator<Item = Layout> {
    (17..usize::BITS - 1).map(|log2| Layout::from_size_align(1, 1 << log2).expect("valid"))
}

/// Around every power of two, and both ends.
#[must_use]
pub fn sizes() -> Vec<usize> {
    let powers = (0..usize::BITS).flat_map(|bit| {
        let power = 1_usize << bit;
        [power - 1, power, power + 1]
    });
    powers.chain([usize::MAX - 1, usize::MAX]).collect()
}
