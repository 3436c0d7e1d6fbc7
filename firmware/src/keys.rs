//! The heap of keys as a store. After every free and every resize, the former key must be refused.

use core::alloc::Layout;

use surefit::compact::{ByteKey, KeyHeap, Narrow};
use surefit::{Corruption, Refused};

use crate::store::Store;

/// A heap of keys that serves one bench.
#[derive(Debug)]
pub struct Keys<'m>(pub KeyHeap<'m, Narrow>);

impl Keys<'_> {
    /// Panics unless the heap refuses a key, also to free it.
    fn require_stale(&mut self, key: ByteKey) {
        assert!(!self.0.contains_bytes(key), "a stale key is known");
        assert_eq!(self.0.free_bytes(key), Err(Refused::StaleHandle));
    }
}

impl Store for Keys<'_> {
    type Name = ByteKey;

    const ZEROED: bool = true;

    fn allocate(&mut self, layout: Layout) -> Result<ByteKey, Refused> {
        self.0.alloc_zeroed(layout)
    }

    fn free(&mut self, name: ByteKey) {
        self.0.free_bytes(name).expect("a live key");
        self.require_stale(name);
    }

    fn resize(&mut self, name: &mut ByteKey, layout: Layout) -> Result<(), Refused> {
        let former = *name;
        *name = self.0.resize(former, layout)?;
        self.require_stale(former);
        Ok(())
    }

    fn read(&self, name: &ByteKey, at: usize, target: &mut [u8]) {
        self.0.read_at(*name, at, target).expect("a live key");
    }

    fn write(&mut self, name: &mut ByteKey, at: usize, source: &[u8]) {
        self.0.write_at(*name, at, source).expect("a live key");
    }

    fn check(&self) -> Result<(), Corruption> {
        self.0.check()
    }

    fn moves(&self) -> u64 {
        self.0.stats().moves_total
    }
}
