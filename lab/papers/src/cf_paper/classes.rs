//! The published partitioning: pages of 16 KiB, of which 16,200 bytes hold page-blocks, and
//! size-classes that grow by an eighth.

use super::header::{HEADER_BYTES, MOST_BLOCKS};

/// Bytes of a page.
pub(super) const PAGE_BYTES: usize = 16 << 10;
/// Bytes of a page that page-blocks can use.
pub(super) const PAYLOAD_BYTES: usize = PAGE_BYTES - HEADER_BYTES;
/// Page-blocks are multiples of this many bytes, as on the papers' 32-bit machine.
pub const GRANULE: usize = 4;
/// The largest page-block that is less than a page.
const LARGEST_REGULAR: usize = 8000;
/// At least the number of size-classes: a power of two, so that a class is masked instead of
/// checked.
pub(super) const MOST_CLASSES: usize = 64;
/// Entries of the table from requests to size-classes.
const ENTRIES: usize = LARGEST_REGULAR / GRANULE + 1;

/// The size-classes from a smallest page-block upwards.
#[derive(Debug)]
pub struct Classes {
    count: u8,
    block_bytes: [u16; MOST_CLASSES],
    blocks: [u16; MOST_CLASSES],
    /// For each multiple of [`GRANULE`], the smallest class that holds it.
    of: [u8; ENTRIES],
}

/// The published size-classes from 16 bytes.
pub static FROM_16: Classes = Classes::new(16);
/// The published size-classes from 32 bytes.
pub static FROM_32: Classes = Classes::new(32);

impl Classes {
    /// β is followed by ⌊1.125·β⌋, rounded up to [`GRANULE`], up to 8000 bytes; then comes a class
    /// of one page-block per page.
    const fn new(smallest: usize) -> Self {
        let mut block_bytes = [0; MOST_CLASSES];
        let mut blocks = [0; MOST_CLASSES];
        let (mut count, mut bytes) = (0, smallest);
        loop {
            block_bytes[count] = bytes as u16;
            blocks[count] = (PAYLOAD_BYTES / bytes) as u16;
            assert!(
                PAYLOAD_BYTES / bytes <= MOST_BLOCKS,
                "the bitmap holds them"
            );
            count += 1;
            bytes = match bytes {
                PAYLOAD_BYTES => break,
                LARGEST_REGULAR => PAYLOAD_BYTES,
                _ => least(
                    (bytes + bytes / 8).next_multiple_of(GRANULE),
                    LARGEST_REGULAR,
                ),
            };
        }
        Self {
            count: count as u8,
            block_bytes,
            blocks,
            of: classes_of(&block_bytes),
        }
    }

    /// How many classes there are.
    pub(super) const fn count(&self) -> u8 {
        self.count
    }

    /// The class of a request; `None` if it does not fit into a page beside the header.
    #[inline]
    pub(super) fn of(&self, bytes: usize) -> Option<u8> {
        if bytes <= LARGEST_REGULAR {
            return Some(self.of[bytes.div_ceil(GRANULE)]);
        }
        (bytes <= PAYLOAD_BYTES).then_some(self.count - 1)
    }

    /// β of a class, in bytes.
    #[inline]
    pub(super) fn block_bytes(&self, class: u8) -> u16 {
        self.block_bytes[usize::from(class) % MOST_CLASSES]
    }

    /// π of a class.
    #[inline]
    pub(super) fn blocks(&self, class: u8) -> u16 {
        self.blocks[usize::from(class) % MOST_CLASSES]
    }
}

const fn least(a: usize, b: usize) -> usize {
    if a < b { a } else { b }
}

const fn classes_of(block_bytes: &[u16; MOST_CLASSES]) -> [u8; ENTRIES] {
    let mut of = [0; ENTRIES];
    let (mut entry, mut class) = (0, 0);
    while entry < ENTRIES {
        while (block_bytes[class] as usize) < entry * GRANULE {
            class += 1;
        }
        of[entry] = class as u8;
        entry += 1;
    }
    of
}

#[cfg(test)]
mod tests {
    use super::{Classes, FROM_16, FROM_32, PAYLOAD_BYTES};

    /// As printed in the published code's table.
    const PUBLISHED: [u16; 51] = [
        16, 20, 24, 28, 32, 36, 40, 48, 56, 64, 72, 84, 96, 108, 124, 140, 160, 180, 204, 232, 264,
        300, 340, 384, 432, 488, 552, 624, 704, 792, 892, 1004, 1132, 1276, 1436, 1616, 1820, 2048,
        2304, 2592, 2916, 3280, 3692, 4156, 4676, 5260, 5920, 6660, 7492, 8000, 16200,
    ];

    #[test]
    fn the_size_classes_are_the_published_ones() {
        let all = |classes: &Classes| {
            (0..classes.count())
                .map(|class| classes.block_bytes(class))
                .collect::<Vec<_>>()
        };
        assert_eq!(all(&FROM_16), PUBLISHED);
        assert_eq!(all(&FROM_32), PUBLISHED[4..]);
        assert_eq!((FROM_16.blocks(0), FROM_16.blocks(50)), (1012, 1));
    }

    #[test]
    fn a_request_goes_to_the_smallest_class_that_holds_it() {
        for classes in [&FROM_16, &FROM_32] {
            for bytes in 0..=PAYLOAD_BYTES {
                let class = classes.of(bytes).expect("fits into a page");
                assert!(usize::from(classes.block_bytes(class)) >= bytes);
                let fits_below = class > 0 && usize::from(classes.block_bytes(class - 1)) >= bytes;
                assert!(!fits_below, "{bytes}");
            }
            assert_eq!(classes.of(PAYLOAD_BYTES + 1), None);
        }
    }
}
