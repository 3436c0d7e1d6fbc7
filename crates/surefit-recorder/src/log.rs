//! A log: the file into which a recorded process writes, and which the command reads afterwards.
//!
//! ```text
//! | header, 4096 bytes | slot 0 | slot 1 | …      each slot 24 bytes
//! ```
//! The number of a slot is the place of its event in the one order of all threads. A slot whose tag
//! is zero was begun and not finished: the process ended meanwhile. All numbers have the machine's
//! own order of bytes: a log is read where it was written.
//!
//! An allocation takes its number after the real call, a free before it, and a reallocation one
//! before and one after. So an object's numbers enclose no other object's life at the same address.

use core::ffi::CStr;
use core::sync::atomic::{AtomicU32, AtomicU64};

/// The first bytes of a log; the last of them is the version.
pub const MAGIC: u64 = u64::from_ne_bytes(*b"sfit-lg\x01");

/// Bytes before the first slot.
pub const HEADER_BYTES: usize = 4096;

/// Bytes of the program's name, with the zero at its end.
pub const PROGRAM_BYTES: usize = 2048;

/// The environment's name for the folder into which logs are written.
pub const FOLDER: &CStr = c"SUREFIT_RECORD";

/// The environment's name for the most bytes of one log.
pub const MAX_BYTES: &CStr = c"SUREFIT_RECORD_BYTES";

/// The first bytes of a log. What all threads write, what none does, and what is read with each
/// event lie in different lines of the caches.
#[derive(Debug)]
#[repr(C)]
pub struct Header {
    /// [`MAGIC`].
    pub magic: AtomicU64,
    /// The process.
    pub pid: AtomicU32,
    /// The process that began it.
    pub parent: AtomicU32,
    /// 1 if the process began as a copy of its parent rather than as a program.
    pub forked: AtomicU32,
    /// 1 if what the program calls malloc is not ours: another one that no library can stand in for,
    /// or, in a program at a fixed place, its own way to ours.
    pub own_malloc: AtomicU32,
    /// Threads so far.
    pub threads: AtomicU32,
    _line_1: [u32; 7],
    /// Not 0: record no more. The command writes it, to the file.
    pub stop: AtomicU32,
    /// Why recording ended before the process did: an error's number, or [`FULL`]; or 0.
    pub ended: AtomicU32,
    /// Slots that the file has room for.
    pub ready: AtomicU64,
    _line_2: [u64; 6],
    /// The number of the next slot.
    pub next: AtomicU64,
    _line_3: [u64; 7],
    /// The program, as it was called, and a zero.
    pub program: [u8; PROGRAM_BYTES],
}

/// [`Header::ended`]: the log has as many bytes as it may.
pub const FULL: u32 = u32::MAX;

/// One event.
#[derive(Debug)]
#[repr(C)]
pub struct Slot {
    /// Where the object is, or was.
    pub address: AtomicU64,
    /// The request, in bytes.
    pub size: AtomicU64,
    /// What happened, the logarithm of the alignment, and the thread; written last.
    pub tag: AtomicU64,
}

/// Bytes of a slot.
pub const SLOT_BYTES: usize = size_of::<Slot>();

const _: () = assert!(size_of::<Header>() <= HEADER_BYTES && SLOT_BYTES == 24);

/// What happened: the lowest byte of a tag.
pub mod kind {
    /// An object was allocated.
    pub const MALLOC: u8 = 1;
    /// An object was allocated, of zeros.
    pub const CALLOC: u8 = 2;
    /// An object was allocated with an alignment.
    pub const ALIGNED: u8 = 3;
    /// An object is about to be freed.
    pub const FREE: u8 = 4;
    /// An object is about to be reallocated.
    pub const REALLOC: u8 = 5;
    /// The reallocation that the thread began has given this address.
    pub const REALLOCATED: u8 = 6;
    /// The reallocation that the thread began has freed the object.
    pub const REALLOC_FREED: u8 = 7;
    /// The reallocation that the thread began was refused.
    pub const REALLOC_REFUSED: u8 = 8;
}

/// A tag. The alignment is a power of two.
#[must_use]
pub const fn tag(kind: u8, align: usize, thread: u32) -> u64 {
    kind as u64 | (align.trailing_zeros() as u64) << 8 | (thread as u64) << 32
}

/// What a tag holds: what happened, the logarithm of the alignment, and the thread.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "these bits are taken")]
pub const fn untag(tag: u64) -> (u8, u8, u32) {
    (tag as u8, (tag >> 8) as u8, (tag >> 32) as u32)
}
