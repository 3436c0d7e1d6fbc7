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
pub const MAGIC: u64 = u64::from_ne_bytes(*b"sfit-lg\x04");

/// Bytes before the first slot.
pub const HEADER_BYTES: usize = 4096;

/// Bytes of the program's name, with the zero at its end.
pub const PROGRAM_BYTES: usize = 2048;

/// Bytes of a library's name, with the zero at its end.
pub const LIBRARY_BYTES: usize = 1024;

/// The environment's name for the folder into which logs are written.
pub const FOLDER: &CStr = c"SUREFIT_RECORD";

/// The environment's name for the most bytes of one log.
pub const MAX_BYTES: &CStr = c"SUREFIT_RECORD_BYTES";

/// The environment's name for the most frames of a stack, and behind it how they are found
/// ([`stacks::BY_POINTERS`] and so on, or nothing for tables); without it no stacks are recorded.
pub const STACKS: &CStr = c"SUREFIT_RECORD_STACKS";

/// The file name of the preloaded library.
pub const LIBRARY_NAME: &str = "libsurefit_recorder.so";

/// The file beside the logs with the programs that recorded ones began: of each the process, the
/// system's clock in nanoseconds, one of the letters of [`begun`], how it was called, and a zero;
/// blanks are between these.
pub const BEGUN: &str = "begun";

/// The letters of [`BEGUN`].
pub mod begun {
    /// Its environment names the recorder and the folder of logs.
    pub const HEARD: &str = "h";
    /// Its environment does not name both: nothing is preloaded into it, or it finds no folder.
    pub const UNHEARD: &str = "u";
    /// It did not begin after all.
    pub const FAILED: &str = "f";
}

/// The file beside the logs that ends all recording: no further log is begun.
pub const STOP: &str = "stop";

/// The file beside the logs in which processes that could not begin a log say so; the command makes
/// it, and every process maps it. It is there for one that may not open any file: it changed its
/// root or user, or has no descriptor left.
pub mod lost {
    use core::sync::atomic::{AtomicU8, AtomicU32, AtomicU64};

    /// The file.
    pub const FILE: &str = "lost";

    /// Entries that there is room for.
    pub const ENTRIES: usize = 127;

    /// [`Entry::error`]: the process took what says where logs are out of its environment.
    pub const NO_FOLDER: u32 = u32::MAX - 2;

    /// All of the file.
    #[derive(Debug)]
    #[repr(C)]
    pub struct Page {
        /// Entries that were taken; there may be more than there is room for.
        pub taken: AtomicU64,
        _rest: [u64; 15],
        /// The entries.
        pub entries: [Entry; ENTRIES],
    }

    /// Bytes of a program's name; what does not fit is left out.
    pub const NAME_BYTES: usize = 116;

    /// A process.
    #[derive(Debug)]
    #[repr(C)]
    pub struct Entry {
        /// 1 when the rest is written.
        pub is_written: AtomicU32,
        /// The process.
        pub pid: AtomicU32,
        /// Why it has no log: an error's number, [`super::NO_ADDRESSES`] or [`NO_FOLDER`].
        pub error: AtomicU32,
        /// The program, as it was called.
        pub name: [AtomicU8; NAME_BYTES],
    }

    /// Bytes of the file.
    pub const BYTES: usize = size_of::<Page>();
    const _: () = assert!(BYTES == 16384 && size_of::<Entry>() == 128);
}

/// The most frames of a stack.
pub const MOST_FRAMES: usize = 64;

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
    /// 1 if what the program calls malloc is not ours: another one that no library can stand in
    /// for, or, in a program at a fixed place, its own way to ours.
    pub own_malloc: AtomicU32,
    /// Threads so far.
    pub threads: AtomicU32,
    _line_1: [u32; 7],
    /// Not 0: record no more. The command writes it, to the file.
    pub stop: AtomicU32,
    /// Why recording ended before the process did: an error's number, [`FULL`] or [`NO_ADDRESSES`];
    /// or 0.
    pub ended: AtomicU32,
    /// Slots that the file has room for.
    pub ready: AtomicU64,
    _line_2: [u64; 6],
    /// The number of the next slot.
    pub next: AtomicU64,
    _line_3: [u64; 7],
    /// What the process has taken so far.
    pub seen: Seen,
    /// The program, as it was called, and a zero.
    pub program: [u8; PROGRAM_BYTES],
    /// The library that the program's malloc is in, and a zero; nothing if it is not known.
    pub library: [u8; LIBRARY_BYTES],
}

/// What a process has taken so far, as it saw itself: when its program began, whenever its log
/// grew, and when it ended. What the system does not tell is 0.
#[derive(Debug)]
#[repr(C)]
pub struct Seen {
    /// When the program began, by the system's clock, in nanoseconds.
    pub begun_ns: AtomicU64,
    /// The processor time that the process had taken by then, in nanoseconds.
    pub begun_cpu_ns: AtomicU64,
    /// The resident anonymous bytes at that time.
    pub begun_anonymous_bytes: AtomicU64,
    /// The time from then until it saw itself last, in nanoseconds.
    pub wall_ns: AtomicU64,
    /// The processor time between these, in nanoseconds.
    pub cpu_ns: AtomicU64,
    /// The most resident bytes, without the log.
    pub peak_resident_bytes: AtomicU64,
    /// The most resident anonymous bytes.
    pub anonymous_bytes: AtomicU64,
    /// 1 if it saw itself end.
    pub is_last: AtomicU64,
}

/// [`Header::ended`]: the log has as many bytes as it may.
pub const FULL: u32 = u32::MAX;

/// [`Header::ended`]: the process may not have as many addresses as the log needs.
pub const NO_ADDRESSES: u32 = u32::MAX - 1;

/// One event.
#[derive(Debug)]
#[repr(C)]
pub struct Slot {
    /// Where the object is, or was.
    pub address: AtomicU64,
    /// The request, in bytes.
    pub size: AtomicU64,
    /// What happened, the logarithm of the alignment, the thread and the stack; written last.
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

/// A tag: four bits of what happened, six of the alignment, which is a power of two, 24 of the
/// stack and 30 of the thread.
#[must_use]
pub const fn tag(kind: u8, align: usize, thread: u32, stack: u32) -> u64 {
    kind as u64
        | (align.trailing_zeros() as u64) << 4
        | (stack as u64) << 10
        | (thread as u64) << 34
}

/// What a tag holds: what happened, the logarithm of the alignment, the thread and the stack.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "these bits are taken")]
pub const fn untag(tag: u64) -> (u8, u8, u32, u32) {
    (
        tag as u8 & 15,
        (tag >> 4) as u8 & 63,
        (tag >> 34) as u32,
        (tag >> 10) as u32 & STACK_MASK,
    )
}

const STACK_MASK: u32 = (1 << 24) - 1;
const _: () = assert!(stacks::SLOTS <= STACK_MASK as usize);

/// The file of the stacks beside a log: `PID-N.stacks` beside `PID-N.log`.
///
/// ```text
/// | header, 4096 bytes | slots, 16 bytes each | modules, 512 bytes each | words, 8 bytes each …
/// ```
/// A stack is found by a hash of its addresses; the number of its slot, plus one, is the number of
/// the stack. A slot has the hash, and when its words are written, where they begin and how many
/// they are. A word is a place in a module: its number in the upper 16 bits, plus one, and 48 bits
/// of address.
pub mod stacks {
    use core::sync::atomic::{AtomicU8, AtomicU64};

    /// The first bytes of the file.
    pub const MAGIC: u64 = u64::from_ne_bytes(*b"sfit-st\x01");

    /// Callers are found by frame pointers.
    pub const BY_POINTERS: &str = "f";
    /// By the platform's unwinder.
    pub const BY_PLATFORM: &str = "p";
    /// By tables and by the platform's unwinder, to compare them.
    pub const COMPARED: &str = "c";

    /// Slots: a power of two.
    pub const SLOTS: usize = 1 << 18;

    /// Modules that have a number.
    pub const MODULES: usize = 1024;

    /// Words that there are addresses for.
    pub const WORDS: usize = 1 << 26;

    /// Where the slots begin.
    pub const SLOTS_AT: usize = 4096;

    /// Where the modules begin.
    pub const MODULES_AT: usize = SLOTS_AT + SLOTS * size_of::<Slot>();

    /// Where the words begin.
    pub const WORDS_AT: usize = MODULES_AT + MODULES * size_of::<Module>();

    /// The bits of an address in a word.
    pub const ADDRESS_BITS: u32 = 48;

    /// The first bytes of the file.
    #[derive(Debug)]
    #[repr(C)]
    pub struct Header {
        /// [`MAGIC`].
        pub magic: AtomicU64,
        /// Words that were taken.
        pub words: AtomicU64,
        /// Words that the file has room for.
        pub ready: AtomicU64,
        /// Stacks that were not recorded, because there was no room in the file; and events without
        /// a stack, because there was no slot.
        pub lost: AtomicU64,
        /// If callers are found by tables and by the platform's unwinder: how often both found the
        /// same, how often not, and how often the tables did not suffice.
        pub alike: AtomicU64,
        /// As above.
        pub different: AtomicU64,
        /// As above.
        pub by_platform: AtomicU64,
    }

    /// A stack.
    #[derive(Debug)]
    #[repr(C)]
    pub struct Slot {
        /// The hash of its addresses; zero for none.
        pub hash: AtomicU64,
        /// Where its words begin, times 256, and how many they are; zero until they are written.
        pub place: AtomicU64,
    }

    /// The bytes of a module's name, with the zero at its end.
    pub const NAME_BYTES: usize = 496;

    /// A program or library.
    #[derive(Debug)]
    #[repr(C)]
    pub struct Module {
        /// What was added to its addresses when it was loaded.
        pub bias: AtomicU64,
        /// 2 when the rest is written, 1 while it is; 0 for none.
        pub state: AtomicU64,
        /// Its file.
        pub name: [AtomicU8; NAME_BYTES],
    }

    const _: () = assert!(size_of::<Module>() == 512 && size_of::<Header>() <= SLOTS_AT);
}
