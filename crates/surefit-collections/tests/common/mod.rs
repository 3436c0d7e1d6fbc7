//! What the tests share: heaps of several kinds, numbers from a seed, and a heap that is full but
//! for what is freed one by one.
#![allow(dead_code, reason = "each program of tests uses a part")]

pub(crate) mod bomb;

use std::alloc::Layout;
use std::fmt::Debug;
use std::hash::{BuildHasherDefault, Hasher};

use surefit_compact::{BoxedHeap, Bytes, Config, Heap, Narrow, Wide, Width};

pub(crate) static DEFAULT: Config = Config::DEFAULT;

/// Pieces of 64 bytes, so that everything is soon in pieces of pieces.
pub(crate) static SMALL_PIECES: Config = match Config::DEFAULT.with_pieces(Some(64)) {
    Ok(config) => config,
    Err(_) => panic!("a power of two"),
};

/// Pieces that hold any container.
pub(crate) static PIECES: Config = match Config::DEFAULT.with_pieces(Some(256)) {
    Ok(config) => config,
    Err(_) => panic!("a power of two"),
};

/// Pages of 1 KiB.
pub(crate) static TINY: Config = Config::TINY;

/// What the page of the containers recommends.
pub(crate) static CONTAINERS: Config = Config::CONTAINERS;

pub(crate) static NO_PIECES: Config = match Config::DEFAULT.with_pieces(None) {
    Ok(config) => config,
    Err(_) => panic!("no pieces"),
};

pub(crate) fn boxed(bytes: usize, config: &'static Config) -> BoxedHeap<Wide> {
    Heap::boxed(bytes, config).expect("large enough")
}

pub(crate) fn narrow(bytes: usize) -> BoxedHeap<Narrow> {
    Heap::boxed(bytes, &TINY).expect("large enough")
}

/// Numbers that look random: xorshift64*.
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(2) + 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    }

    /// A number below `end`, which is not zero.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}

/// Objects that take all the room of a heap.
pub(crate) struct Fillers(Vec<Bytes>);

impl Fillers {
    /// Fills a heap: with small objects last.
    pub(crate) fn fill<W: Width>(heap: &BoxedHeap<W>) -> Self {
        let mut fillers = Vec::new();
        for shift in (3..=12).rev() {
            let layout = Layout::from_size_align(1 << shift, 1).expect("a power of two");
            while let Ok(bytes) = heap.alloc_zeroed(layout) {
                fillers.push(bytes);
            }
        }
        Self(fillers)
    }

    /// Frees the object that was allocated last, if there is one.
    pub(crate) fn free_one<W: Width>(&mut self, heap: &mut BoxedHeap<W>) -> bool {
        let last = self.0.pop();
        let is_one = last.is_some();
        if let Some(bytes) = last {
            heap.free_bytes(bytes);
        }
        is_one
    }

    pub(crate) fn free<W: Width>(mut self, heap: &mut BoxedHeap<W>) {
        while self.free_one(heap) {}
    }
}

/// The least room in which a call is not refused: the heap is filled before, and freed object by
/// object. So the call is refused at each of its allocations. Returns how often it was refused, and
/// what it returned at last.
pub(crate) fn with_refusals<W: Width, R, E>(
    heap: &mut BoxedHeap<W>,
    mut call: impl FnMut(&mut BoxedHeap<W>) -> Result<R, E>,
) -> (u32, R) {
    let mut fillers = Fillers::fill(heap);
    let mut refusals = 0;
    let returned = loop {
        match call(heap) {
            Ok(returned) => break returned,
            Err(_) => refusals += 1,
        }
        assert_eq!(heap.check(), Ok(()));
        assert!(fillers.free_one(heap), "refused in an empty heap");
    };
    fillers.free(heap);
    (refusals, returned)
}

/// A hasher that puts everything into one bucket.
#[derive(Clone, Default)]
pub(crate) struct Constant;

impl Hasher for Constant {
    fn finish(&self) -> u64 {
        7
    }

    fn write(&mut self, _: &[u8]) {}
}

/// A hasher that returns the last number; the lowest bits of its hashes are all alike.
#[derive(Clone, Default)]
pub(crate) struct Shifted(u64);

impl Hasher for Shifted {
    fn finish(&self) -> u64 {
        self.0 << 20
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0 << 8 | u64::from(*byte);
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

/// A hasher that returns the last number.
#[derive(Clone, Default)]
pub(crate) struct Number(u64);

impl Hasher for Number {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes
            .iter()
            .for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

pub(crate) type ByNumber = BuildHasherDefault<Number>;
pub(crate) type ByConstant = BuildHasherDefault<Constant>;
pub(crate) type ByShifted = BuildHasherDefault<Shifted>;
pub(crate) type ByDefault = BuildHasherDefault<std::hash::DefaultHasher>;

/// What scripts put into vectors and deques.
pub(crate) trait Element: Copy + PartialEq + Debug + Send {
    fn of(number: u64) -> Self;
}

macro_rules! elements {
    ($($element:ty: |$number:ident| $value:expr;)*) => {
        $(impl Element for $element {
            fn of($number: u64) -> Self {
                $value
            }
        })*
    };
}

elements! {
    u8: |number| number as u8;
    u32: |number| number as u32;
    u64: |number| number;
    (): |_number| ();
    ((u64, u64), u64): |number| ((number, !number), number ^ 1);
    ((u64, u64), (u64, (u64, u64))): |number| ((number, 1), (2, (3, !number)));
    (u16, u8): |number| (number as u16, number as u8);
}
