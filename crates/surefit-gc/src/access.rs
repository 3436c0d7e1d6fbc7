//! Numbers of eight bytes, and bytes: for collectors and while an object is scanned.
//!
//! A number of eight bytes takes two words that follow each other, the lower half first, at any
//! word. Bytes are numbered from 0 in the order of the object's words and, within a word, of
//! memory.

use core::ptr::NonNull;

use crate::client::Scanned;
use crate::collector::Collector;
use crate::object::Object;
use crate::space::Space;
use crate::statistics::Clock;

impl<S: Space> Scanned<'_, S> {
    /// Reads two words as a number, the lower half first.
    ///
    /// # Panics
    /// If the object does not have both words.
    #[must_use]
    #[track_caller]
    pub fn load_u64(&self, word: u32) -> u64 {
        let high = self.load(word.saturating_add(1));
        u64::from(self.load(word)) | u64::from(high) << 32
    }

    /// Reads two words as a floating-point number; every bit is as it was stored.
    ///
    /// # Panics
    /// As [`Scanned::load_u64`].
    #[must_use]
    #[track_caller]
    pub fn load_f64(&self, word: u32) -> f64 {
        f64::from_bits(self.load_u64(word))
    }

    /// Reads bytes, from byte `from` of the object on.
    ///
    /// # Panics
    /// If the object does not have all of them.
    #[track_caller]
    pub fn load_bytes(&self, from: usize, into: &mut [u8]) {
        let mut rest = into;
        self.visit(from, rest.len(), |place, len| {
            let (now, later) = core::mem::take(&mut rest).split_at_mut(len);
            // SAFETY: `visit`: so many bytes of the object, initialised (I2); they do not overlap
            // those of the caller, since the region is borrowed by the space.
            unsafe { place.copy_to_nonoverlapping(NonNull::from(now).cast(), len) };
            rest = later;
        });
    }

    /// Calls `visit` for the places of `len` bytes from byte `from` on, in their order, with the
    /// length of each.
    #[track_caller]
    pub(crate) fn visit(&self, from: usize, len: usize, mut visit: impl FnMut(NonNull<u8>, usize)) {
        let bytes = self.words() as usize * 4;
        let has_all = from <= bytes && len <= bytes - from;
        assert!(
            has_all,
            "{len} bytes from byte {from} of an object that has {bytes}"
        );
        let (mut at, end) = (from, from + len);
        while at < end {
            // SAFETY: S1: the space is borrowed since `new`, and so only read; S2 was compared.
            let (place, run) = unsafe { self.place.bytes_from(self.space, self.object, at) };
            let run = run.min(end - at);
            visit(place, run);
            at += run;
        }
    }
}

impl<S: Space, K: Clock> Collector<'_, S, K> {
    /// An object to read from.
    #[track_caller]
    pub(crate) fn scanned(&self, object: Object) -> Scanned<'_, S> {
        let place = self.place(object);
        Scanned {
            space: &self.space,
            object,
            place,
        }
    }

    /// Reads two words as a number, the lower half first.
    ///
    /// # Panics
    /// If the reference names no live object, or the object does not have both words.
    #[must_use]
    #[track_caller]
    pub fn load_u64(&self, object: Object, word: u32) -> u64 {
        self.scanned(object).load_u64(word)
    }

    /// Reads two words as a floating-point number; every bit is as it was stored.
    ///
    /// # Panics
    /// As [`Collector::load_u64`].
    #[must_use]
    #[track_caller]
    pub fn load_f64(&self, object: Object, word: u32) -> f64 {
        self.scanned(object).load_f64(word)
    }

    /// Reads bytes, from byte `from` of the object on.
    ///
    /// # Panics
    /// If the reference names no live object, or the object does not have all of them.
    #[track_caller]
    pub fn load_bytes(&self, object: Object, from: usize, into: &mut [u8]) {
        self.scanned(object).load_bytes(from, into);
    }

    /// Writes a number to two words, the lower half first.
    ///
    /// # Panics
    /// As [`Collector::load_u64`]; then nothing is written.
    #[track_caller]
    pub fn store_u64(&mut self, object: Object, word: u32, value: u64) {
        let high = self.word(object, word.saturating_add(1));
        let low = self.word(object, word);
        // SAFETY: words of a live object: aligned, its own, and the space is exclusively borrowed
        // (I2).
        unsafe { low.write(value as u32) };
        // SAFETY: as above.
        unsafe { high.write((value >> 32) as u32) };
    }

    /// Writes a floating-point number to two words.
    ///
    /// # Panics
    /// As [`Collector::store_u64`].
    #[track_caller]
    pub fn store_f64(&mut self, object: Object, word: u32, value: f64) {
        self.store_u64(object, word, value.to_bits());
    }

    /// Writes bytes, from byte `from` of the object on.
    ///
    /// # Panics
    /// As [`Collector::load_bytes`]; then nothing is written.
    #[track_caller]
    pub fn store_bytes(&mut self, object: Object, from: usize, bytes: &[u8]) {
        let mut rest = bytes;
        self.scanned(object).visit(from, bytes.len(), |place, len| {
            let (now, later) = rest.split_at(len);
            // SAFETY: `visit`: so many bytes of the object, its own (I2), and the space is
            // exclusively borrowed; they do not overlap those of the caller.
            unsafe { place.copy_from_nonoverlapping(NonNull::from(now).cast(), len) };
            rest = later;
        });
    }
}
