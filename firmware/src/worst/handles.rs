//! The heap of handles and the heap of keys, with words of 16 bits.

use core::alloc::Layout;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

use surefit::compact::{ByteKey, Bytes, Config, Heap, KeyHeap, Narrow, Stats};

use crate::subject::{Counts, Kind, Subject};

/// A configuration, and what its heaps are called in the table. The code of the calls is the same.
pub trait Preset {
    /// The configuration.
    const CONFIG: &'static Config;
    /// The heap of handles.
    const HANDLES: &'static str;
    /// The heap of keys.
    const KEYS: &'static str;
}

/// `Config::TINY`.
pub struct Tiny;

impl Preset for Tiny {
    const CONFIG: &'static Config = &Config::TINY;
    const HANDLES: &'static str = "Heap";
    const KEYS: &'static str = "KeyHeap";
}

/// `Config::MICRO`.
pub struct Micro;

impl Preset for Micro {
    const CONFIG: &'static Config = &Config::MICRO;
    const HANDLES: &'static str = "Heap (MICRO)";
    const KEYS: &'static str = "KeyHeap (MICRO)";
}

/// Longer objects have several page-blocks; a call is then several of these events.
const LARGEST: usize = 256;

/// The most bytes of a heap with `Config::TINY`.
const MOST_BYTES: usize = 256 << 10;

const fn counts(stats: Stats) -> Counts {
    Counts {
        pages: stats.pages,
        moves: stats.moves_total,
        moved_bytes: stats.moved_bytes_total,
    }
}

fn limited(memory: &mut [MaybeUninit<u8>]) -> &mut [MaybeUninit<u8>] {
    let bytes = memory.len().min(MOST_BYTES);
    &mut memory[..bytes]
}

/// `surefit::compact::Heap`.
pub struct Handles<P>(PhantomData<P>);

impl<P: Preset> Kind for Handles<P> {
    const NAME: &'static str = P::HANDLES;
    const HANDLES: bool = true;
    const LARGEST: usize = LARGEST;
    type Heap<'m> = Heap<'m, Narrow>;

    fn over(memory: &mut [MaybeUninit<u8>]) -> Option<Self::Heap<'_>> {
        Heap::new(limited(memory), P::CONFIG).ok()
    }
}

impl Subject for Heap<'_, Narrow> {
    type Name = Bytes<MaybeUninit<u8>>;

    fn allocate(&mut self, layout: Layout) -> Option<Self::Name> {
        self.alloc(layout).ok()
    }

    fn free(&mut self, name: Self::Name, _: Layout) {
        self.free_bytes(name);
    }

    fn access(&self, name: &Self::Name) -> Option<usize> {
        Some(self.chunk(name, 0).as_ptr().addr())
    }

    fn resize(&mut self, name: &mut Self::Name, layout: Layout) -> Option<bool> {
        Some(Heap::resize(self, name, layout).is_ok())
    }

    fn counts(&self) -> Counts {
        counts(self.stats())
    }
}

/// `surefit::compact::KeyHeap`.
pub struct Keys<P>(PhantomData<P>);

impl<P: Preset> Kind for Keys<P> {
    const NAME: &'static str = P::KEYS;
    const HANDLES: bool = true;
    const LARGEST: usize = LARGEST;
    type Heap<'m> = KeyHeap<'m, Narrow>;

    fn over(memory: &mut [MaybeUninit<u8>]) -> Option<Self::Heap<'_>> {
        KeyHeap::new(limited(memory), P::CONFIG).ok()
    }
}

impl Subject for KeyHeap<'_, Narrow> {
    type Name = ByteKey<MaybeUninit<u8>>;

    fn allocate(&mut self, layout: Layout) -> Option<Self::Name> {
        self.alloc(layout).ok()
    }

    fn free(&mut self, name: Self::Name, _: Layout) {
        self.free_bytes(name).expect("a live key");
    }

    fn access(&self, name: &Self::Name) -> Option<usize> {
        Some(self.chunk(*name, 0).expect("a live key").as_ptr().addr())
    }

    fn resize(&mut self, name: &mut Self::Name, layout: Layout) -> Option<bool> {
        let resized = KeyHeap::resize(self, *name, layout);
        if let Ok(new) = resized {
            *name = new;
        }
        Some(resized.is_ok())
    }

    fn counts(&self) -> Counts {
        counts(self.stats())
    }
}
