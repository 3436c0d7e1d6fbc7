//! One event of a trace: what a program asked its allocator, and on which thread.
#![deny(clippy::arithmetic_side_effects, clippy::cast_possible_truncation)]

use core::fmt;

/// The largest request that a trace may hold, in bytes: 2^56, the address space of the largest
/// 64-bit processors.
pub const MAX_SIZE: u64 = 1 << 56;

/// An alignment that a program asked for: a power of two, at most 1 GiB.
///
/// It may be below 16, even below the size of a pointer: it is what was asked, not what was given.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Align(u8);

impl Align {
    /// The logarithm of the strictest alignment, 1 GiB: the largest page that processors offer.
    pub const MAX_LOG2: u8 = 30;

    /// The alignment of `bytes` bytes; `None` unless that is a power of two of at most 1 GiB.
    ///
    /// # Examples
    /// ```
    /// use surefit_trace::Align;
    /// assert_eq!(Align::new(64).map(Align::bytes), Some(64));
    /// assert_eq!(Align::new(48), None);
    /// ```
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a number of 64 bits has no more trailing zeros"
    )]
    #[must_use]
    pub const fn new(bytes: usize) -> Option<Self> {
        if !bytes.is_power_of_two() {
            return None;
        }
        Self::from_log2(bytes.trailing_zeros() as u8)
    }

    /// The alignment of 2^`log2` bytes; `None` above 1 GiB.
    #[must_use]
    pub const fn from_log2(log2: u8) -> Option<Self> {
        if log2 > Self::MAX_LOG2 {
            return None;
        }
        Some(Self(log2))
    }

    /// The alignment, in bytes.
    #[must_use]
    pub const fn bytes(self) -> usize {
        1 << self.0
    }

    /// The logarithm of the alignment.
    #[must_use]
    pub const fn log2(self) -> u8 {
        self.0
    }
}

impl fmt::Debug for Align {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Align({})", self.bytes())
    }
}

/// The family of calls through which an object was allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// `malloc`: any contents, the platform's alignment.
    Malloc,
    /// `calloc`: the memory is zero.
    Calloc,
    /// `posix_memalign` and its kin: an alignment was asked for.
    Aligned(Align),
}

impl Call {
    /// Whether the memory was asked to be zero.
    #[must_use]
    pub const fn is_zeroed(self) -> bool {
        matches!(self, Self::Calloc)
    }

    /// The alignment to serve, in bytes: `least`, or more if the program asked for more.
    #[must_use]
    pub const fn align_at_least(self, least: usize) -> usize {
        match self {
            Self::Aligned(align) if align.bytes() > least => align.bytes(),
            _ => least,
        }
    }
}

/// What one event does. Objects are numbered from 0 in the order of their allocation; numbers are
/// never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Object `id`, the next number, comes to life with a request of `size` bytes; zero occurs.
    Alloc {
        /// The object.
        id: u32,
        /// The request, in bytes.
        size: u64,
        /// How it was asked for.
        call: Call,
    },
    /// The live object `id` gets a request of `size` bytes and keeps its number.
    Realloc {
        /// The object.
        id: u32,
        /// The new request, in bytes.
        size: u64,
    },
    /// The live object `id` dies.
    Free {
        /// The object.
        id: u32,
    },
}

/// One event in 16 bytes, so that the millions of a program fit in memory; [`Event::op`] takes it
/// apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Event {
    size: u64,
    id: u32,
    thread: u16,
    code: Code,
    align: Align,
}

const _: () = assert!(size_of::<Event>() == 16);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
enum Code {
    Malloc,
    Calloc,
    Aligned,
    Realloc,
    Free,
}

impl Event {
    /// The event in which `thread` performs `op`.
    ///
    /// # Examples
    /// ```
    /// use surefit_trace::{Call, Event, Op};
    /// let op = Op::Alloc { id: 0, size: 40, call: Call::Malloc };
    /// assert_eq!(Event::new(3, op).op(), op);
    /// ```
    #[must_use]
    pub const fn new(thread: u16, op: Op) -> Self {
        let (code, id, size, align) = match op {
            Op::Alloc { id, size, call } => match call {
                Call::Malloc => (Code::Malloc, id, size, Align(0)),
                Call::Calloc => (Code::Calloc, id, size, Align(0)),
                Call::Aligned(align) => (Code::Aligned, id, size, align),
            },
            Op::Realloc { id, size } => (Code::Realloc, id, size, Align(0)),
            Op::Free { id } => (Code::Free, id, 0, Align(0)),
        };
        Self {
            size,
            id,
            thread,
            code,
            align,
        }
    }

    /// What happens.
    #[inline]
    #[must_use]
    pub const fn op(self) -> Op {
        let Self { id, size, .. } = self;
        let call = match self.code {
            Code::Malloc => Call::Malloc,
            Code::Calloc => Call::Calloc,
            Code::Aligned => Call::Aligned(self.align),
            Code::Realloc => return Op::Realloc { id, size },
            Code::Free => return Op::Free { id },
        };
        Op::Alloc { id, size, call }
    }

    /// The thread that called, numbered from 0 by first appearance.
    #[inline]
    #[must_use]
    pub const fn thread(self) -> u16 {
        self.thread
    }

    /// The object concerned.
    #[inline]
    #[must_use]
    pub const fn id(self) -> u32 {
        self.id
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t{} {:?}", self.thread, self.op())
    }
}
