//! Objects that know what they hold, and heaps for them.

use std::mem::MaybeUninit;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use surefit_compact::shared::{
    KeyLocal, KeyPinned, PerClass, SharedConfig, SharedKeyHeap, Stepwise,
};
use surefit_compact::{Bound, Config, Fraction, Geometry, Key};
use surefit_core::Refused;

pub(crate) type Lock = parking_lot::RawMutex;
pub(crate) type KeyHeap<'m, G = PerClass, Gen = u32> = SharedKeyHeap<'m, Lock, G, Gen>;
pub(crate) type Thread<'h, 'm, G = PerClass, Gen = u32> = KeyLocal<'h, 'm, Lock, G, Gen>;
pub(crate) type Guard<'h, 'm, T, G = PerClass> = KeyPinned<'h, 'm, T, Lock, G>;

pub(crate) const MEMORY: usize = 1 << 20;

/// Fewer steps under an interpreter.
pub(crate) const fn steps(full: u32) -> u32 {
    if cfg!(miri) { full / 20 } else { full }
}

pub(crate) fn region() -> Vec<MaybeUninit<u8>> {
    vec![MaybeUninit::uninit(); MEMORY]
}

pub(crate) fn bounds() -> [Bound; 4] {
    let holes = Bound::Holes {
        base: 1,
        fraction: Fraction::new(1, 16).expect("at most one"),
    };
    [Bound::Pages(1), holes, Bound::Pages(3), Bound::Unbounded]
}

/// A configuration with steps of so many bytes, or whole moves.
pub(crate) fn config<G: Stepwise>(bound: Bound, increment: Option<u32>) -> SharedConfig<G> {
    let config = SharedConfig::new(Config::new(Geometry::DEFAULT, bound).expect("valid"));
    match increment {
        Some(bytes) => config.with_increment(bytes).expect("a multiple of 16"),
        None => config,
    }
}

fn word(seed: u64, at: usize) -> u64 {
    (seed ^ at as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// The seed, and words that follow from it.
pub(crate) fn checksummed<const WORDS: usize>(seed: u64) -> [u64; WORDS] {
    std::array::from_fn(|at| if at == 0 { seed } else { word(seed, at) })
}

/// The seed of words that belong together.
pub(crate) fn seed_of(words: &[u64]) -> u64 {
    let seed = words[0];
    let whole = (1..words.len()).all(|at| words[at] == word(seed, at));
    assert!(whole, "an object holds something else: {words:x?}");
    seed
}

/// What is put into heaps.
pub(crate) trait Object: Send + Sync + Sized + 'static {
    fn new(seed: u64, dropped: &Arc<AtomicU64>) -> Self;
    fn words(&self) -> &[u64];
    fn set(&mut self, seed: u64);
    /// Whether the heap must drop it.
    const DROPS: bool;

    /// The fastest pin that the type may have.
    fn pin<'h, 'm, G: Stepwise>(
        heap: &'h KeyHeap<'m, G>,
        key: Key<Self>,
    ) -> Result<Guard<'h, 'm, Self, G>, Refused>;
}

/// Plain words: no drop, and pins that never wait.
pub(crate) type Plain = [u64; 7];

impl Object for Plain {
    const DROPS: bool = false;

    fn new(seed: u64, _: &Arc<AtomicU64>) -> Self {
        checksummed(seed)
    }

    fn words(&self) -> &[u64] {
        self
    }

    fn set(&mut self, seed: u64) {
        *self = checksummed(seed);
    }

    fn pin<'h, 'm, G: Stepwise>(
        heap: &'h KeyHeap<'m, G>,
        key: Key<Self>,
    ) -> Result<Guard<'h, 'm, Self, G>, Refused> {
        heap.pin(key)
    }
}

/// Words that must be dropped; with its glue as large as [`Plain`], so that both share entries and
/// page-blocks.
pub(crate) struct Tracked {
    words: [u64; if cfg!(target_pointer_width = "64") {
        5
    } else {
        6
    }],
    dropped: Arc<AtomicU64>,
}

impl Object for Tracked {
    const DROPS: bool = true;

    fn new(seed: u64, dropped: &Arc<AtomicU64>) -> Self {
        Self {
            words: checksummed(seed),
            dropped: Arc::clone(dropped),
        }
    }

    fn words(&self) -> &[u64] {
        &self.words
    }

    fn set(&mut self, seed: u64) {
        self.words = checksummed(seed);
    }

    fn pin<'h, 'm, G: Stepwise>(
        heap: &'h KeyHeap<'m, G>,
        key: Key<Self>,
    ) -> Result<Guard<'h, 'm, Self, G>, Refused> {
        heap.pin_settled(key)
    }
}

impl Drop for Tracked {
    fn drop(&mut self) {
        seed_of(&self.words);
        self.words.fill(u64::MAX);
        self.dropped.fetch_add(1, Relaxed);
    }
}

/// Drops by panicking.
pub(crate) struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("a value that panics when dropped");
        }
    }
}
