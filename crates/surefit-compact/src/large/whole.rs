//! Whether a byte object is what its handle says: for `check` of what is built of byte objects.
#![deny(unsafe_code)]

use crate::handle::{Byte, Bytes};
use crate::heap::Heap;
use crate::pieces::Division;
use crate::width::Width;

impl<W: Width> Heap<'_, W> {
    /// How byte objects are divided into pieces.
    #[doc(hidden)]
    #[inline]
    #[must_use]
    pub const fn division(&self) -> Division {
        self.division
    }

    /// Whether a byte object belongs to this heap, and each of its pieces, and of its spines, has a
    /// live page-block of at least its bytes, the pieces at a multiple of `align`.
    ///
    /// # Complexity
    /// O(pieces × levels of spines).
    #[doc(hidden)]
    #[must_use]
    pub fn is_whole<B: Byte>(&self, bytes: &Bytes<B>, align: usize) -> bool {
        self.owns(bytes) && self.has_blocks(bytes.name.index(), bytes.len(), align)
    }

    fn has_blocks(&self, index: u32, len: usize, align: usize) -> bool {
        if !self.is_in_pieces(len) {
            return self.has_block(index, len, align);
        }
        // No word of a spine is read before its blocks were seen.
        self.has_blocks(index, self.spine_bytes(len), W::SPINE_WORD_BYTES)
            && (0..self.pieces(len)).all(|number| {
                let piece = self.piece(index, len, number);
                self.has_block(piece, self.piece_len(len, number), align)
            })
    }

    fn has_block(&self, entry: u32, len: usize, align: usize) -> bool {
        let block = self.engine.vet(entry);
        block.is_some_and(|block| len <= block.page.layout.block_bytes as usize)
            && self.object::<u8>(entry).addr().get() % align == 0
    }
}

#[cfg(test)]
mod tests {
    extern crate alloc;

    use core::alloc::Layout;

    use crate::config::Config;
    use crate::handle::{Bytes, Name};
    use crate::heap::Heap;
    use crate::width::Wide;

    #[test]
    fn an_object_is_not_whole_if_its_handle_says_anything_else() {
        static CONFIG: Config = Config::DEFAULT;
        let mut memory = alloc::vec![core::mem::MaybeUninit::new(9); 1 << 21];
        let mut heap: Heap<'_, Wide> = Heap::new(&mut memory, &CONFIG).expect("large enough");
        let named = |heap: &Heap<'_, Wide>, index, len| {
            let bytes: Bytes = Bytes::new(Name::new(index, heap.id), len);
            heap.is_whole(&bytes, 8)
        };
        for len in [1, 64, 4096, 4097, 16_384, 40_000, 800_000] {
            let layout = Layout::from_size_align(len, 8).expect("valid");
            let bytes = heap.alloc_zeroed(layout).expect("room");
            let index = bytes.name.index();
            assert!(heap.is_whole(&bytes, 8));
            assert!(!heap.is_whole(&bytes, 1 << 30), "nothing is so aligned");
            assert!(!named(&heap, index, len + 20_000), "it is shorter");
            heap.free_bytes(bytes);
            assert!(!named(&heap, index, len), "it is dead");
        }
    }
}
