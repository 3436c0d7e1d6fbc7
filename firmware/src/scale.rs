//! How much memory a board has for the tests, what is in it, and how long they run. `build.rs` sets
//! the cfg `small` for boards with 16 KiB.

use core::mem::MaybeUninit;

use surefit::compact::Config;

/// The region of all tests, in bytes; one of them says whether the region was taken. Only the
/// direct heap needs so many for the recording: each size-class in use takes a page of 8 KiB.
pub const REGION_BYTES: usize = if cfg!(small) { 8 << 10 } else { 320 << 10 };

/// The alignment of the region: pages of the handle heap on small boards, of all heaps elsewhere.
#[cfg(small)]
pub type Aligned = surefit::Page1K;
/// As above.
#[cfg(not(small))]
pub type Aligned = surefit::Page16K;

/// What property tests use of it.
pub const HEAP_BYTES: usize = if cfg!(small) {
    REGION_BYTES - 1
} else {
    40 << 10
};

/// The configuration of the handle heaps.
pub static CONFIG: Config = Config::TINY;

/// Slots of property tests: more objects than fit.
pub const SLOTS: usize = if cfg!(small) { 80 } else { 250 };

/// The longest object of property tests.
pub const LARGEST: usize = if cfg!(small) { 900 } else { 2500 };

/// Rounds of property tests.
pub const ROUNDS: u32 = 3;

/// Operations of each round on the full heap.
pub const OPERATIONS: u32 = if cfg!(small) { 300 } else { 400 };

/// The longest object of the certified heap: it is one page-block.
pub const CERTIFIED_LARGEST: usize = if cfg!(small) { 40 } else { 256 };

/// Objects of the certified heap.
pub const CERTIFIED_OBJECTS: usize = if cfg!(small) { 80 } else { 200 };

/// Bytes of page-blocks of the certified heap.
pub const CERTIFIED_BLOCK_BYTES: usize = if cfg!(small) { 1 << 10 } else { 16 << 10 };

/// Operations on the certified heap.
pub const CERTIFIED_OPERATIONS: u32 = 1500;

/// Slots of the recording that is replayed; `lab/trace/tests/cut.rs` keeps to it.
#[cfg(not(small))]
pub const TRACE_SLOTS: usize = 640;

/// What free-list heaps use of the region for the recording.
#[cfg(not(small))]
pub const TRACE_BYTES: usize = 72 << 10;

/// Fills memory with junk: a heap must not rely on zeros.
pub fn junk(memory: &mut [MaybeUninit<u8>]) -> &mut [MaybeUninit<u8>] {
    memory.fill(MaybeUninit::new(0xa5));
    memory
}
