//! Keys of byte objects.
//!
//! A [`ByteKey`] is to [`Bytes`] what a [`Key`](crate::Key) is to a handle: it may be copied, and
//! it tells whether its object is gone. It carries the length, so a resize gives the object a new
//! key; the former ones are stale.

use core::alloc::Layout;
use core::fmt;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::num::NonZeroU64;
use core::ptr::NonNull;

use surefit_core::Refused;

use crate::handle::{Byte, Bytes, Name};
use crate::key::KeyHeap;
use crate::width::{Counted, Width};

/// A copyable name of a byte object in a [`KeyHeap`], and its length. It is stale once the object
/// is freed or resized.
pub struct ByteKey<B: Byte = u8> {
    name: Name,
    generation: u32,
    len: usize,
    bytes: PhantomData<fn(B) -> B>,
}

impl<B: Byte> ByteKey<B> {
    /// The length of the object, in bytes.
    #[must_use]
    pub const fn len(self) -> usize {
        self.len
    }

    /// Whether the object has no bytes. Even then it has a name.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The name, which is never zero, the generation and the length: for programs in other
    /// languages, which pass them back to [`ByteKey::from_parts`].
    #[must_use]
    pub const fn to_parts(self) -> (NonZeroU64, u32, usize) {
        (self.name.to_word(), self.generation, self.len)
    }

    /// The key of which these are the parts.
    ///
    /// # Safety
    /// S1: [`ByteKey::to_parts`] returned these three together, for a key with the same `B`. Its
    /// object and its heap may be gone.
    #[must_use]
    pub const unsafe fn from_parts(name: NonZeroU64, generation: u32, len: usize) -> Self {
        Self {
            name: Name::of_word(name),
            generation,
            len,
            bytes: PhantomData,
        }
    }
}

impl<B: Byte> Clone for ByteKey<B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B: Byte> Copy for ByteKey<B> {}

impl<B: Byte> PartialEq for ByteKey<B> {
    fn eq(&self, other: &Self) -> bool {
        (self.name, self.generation) == (other.name, other.generation)
    }
}

impl<B: Byte> Eq for ByteKey<B> {}

impl<B: Byte> fmt::Debug for ByteKey<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "ByteKey({}, generation {}, {} bytes)",
            self.name, self.generation, self.len
        )
    }
}

impl<W: Width<Generation = ()>, G: Counted> KeyHeap<'_, W, G> {
    /// Allocates a byte object whose bytes are not initialised. Never moves an object.
    ///
    /// # Errors
    /// As [`Heap::alloc`](crate::Heap::alloc).
    ///
    /// # Examples
    /// ```
    /// use core::alloc::Layout;
    /// use surefit_compact::{Config, KeyHeap};
    ///
    /// static CONFIG: Config = Config::DEFAULT;
    /// let mut memory = vec![core::mem::MaybeUninit::uninit(); 1 << 20];
    /// let mut heap: KeyHeap = KeyHeap::new(&mut memory, &CONFIG)?;
    /// let key = heap.alloc_zeroed(Layout::new::<[u8; 100]>())?;
    /// heap.write_at(key, 96, b"end.")?;
    /// let longer = heap.resize(key, Layout::new::<[u8; 200]>())?;
    /// assert_eq!(&heap.chunk(longer, 96)?[..5], b"end.\0");
    /// assert!(heap.chunk(key, 0).is_err(), "a resize makes the former key stale");
    /// heap.free_bytes(longer)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn alloc(&self, layout: Layout) -> Result<ByteKey<MaybeUninit<u8>>, Refused> {
        let bytes = self.as_heap().alloc(layout)?;
        Ok(self.key_of(&bytes))
    }

    /// Allocates a byte object of zeros. Never moves an object.
    ///
    /// # Errors
    /// As [`KeyHeap::alloc`].
    pub fn alloc_zeroed(&self, layout: Layout) -> Result<ByteKey<u8>, Refused> {
        let bytes = self.as_heap().alloc_zeroed(layout)?;
        Ok(self.key_of(&bytes))
    }

    /// Copies bytes into the heap, as [`Heap::insert_bytes`](crate::Heap::insert_bytes).
    ///
    /// # Errors
    /// As [`KeyHeap::alloc`].
    pub fn insert_bytes(&self, source: &[u8]) -> Result<ByteKey<u8>, Refused> {
        let bytes = self.as_heap().insert_bytes(source)?;
        Ok(self.key_of(&bytes))
    }

    /// The bytes from `offset` to the end of their piece or of the object; empty at the end of the
    /// object.
    ///
    /// # Errors
    /// [`Refused::ForeignHandle`] for another heap's key, [`Refused::StaleHandle`] if the object
    /// was freed or resized.
    ///
    /// # Panics
    /// If `offset` is above the length.
    pub fn chunk<B: Byte>(&self, key: ByteKey<B>, offset: usize) -> Result<&[B], Refused> {
        let bytes = self.bytes_of(key)?;
        let chunk = NonNull::from(self.as_heap().chunk(&bytes, offset));
        // SAFETY: the object lives at least as long as the heap is borrowed: what frees it or moves
        // it borrows the heap exclusively.
        Ok(unsafe { chunk.as_ref() })
    }

    /// As [`KeyHeap::chunk`], but mutable. Keys may be copied, so this borrows the whole heap.
    ///
    /// # Errors
    /// As [`KeyHeap::chunk`].
    ///
    /// # Panics
    /// If `offset` is above the length.
    pub fn chunk_mut<B: Byte>(
        &mut self,
        key: ByteKey<B>,
        offset: usize,
    ) -> Result<&mut [B], Refused> {
        let mut bytes = self.bytes_of(key)?;
        let mut chunk = NonNull::from(self.as_heap().chunk_mut(&mut bytes, offset));
        // SAFETY: as in `chunk`, and the heap is borrowed exclusively.
        Ok(unsafe { chunk.as_mut() })
    }

    /// Copies bytes from the object, from `offset` on.
    ///
    /// # Errors
    /// As [`KeyHeap::chunk`].
    ///
    /// # Panics
    /// If the range ends after the object.
    pub fn read_at<B: Byte>(
        &self,
        key: ByteKey<B>,
        offset: usize,
        target: &mut [B],
    ) -> Result<(), Refused> {
        let bytes = self.bytes_of(key)?;
        self.as_heap().read_at(&bytes, offset, target);
        Ok(())
    }

    /// Copies bytes to the object, from `offset` on.
    ///
    /// # Errors
    /// As [`KeyHeap::chunk`].
    ///
    /// # Panics
    /// If the range ends after the object.
    pub fn write_at<B: Byte>(
        &mut self,
        key: ByteKey<B>,
        offset: usize,
        source: &[B],
    ) -> Result<(), Refused> {
        let mut bytes = self.bytes_of(key)?;
        self.as_heap().write_at(&mut bytes, offset, source);
        Ok(())
    }

    /// Changes the length of a byte object, as [`Heap::resize`](crate::Heap::resize) does; returns
    /// its new key. All former keys of the object are stale.
    ///
    /// # Errors
    /// As [`Heap::resize`](crate::Heap::resize), and [`Refused::StaleHandle`]; the object is
    /// unchanged, and so is its key.
    ///
    /// # Complexity
    /// As [`Heap::resize`](crate::Heap::resize). A resize uses up a generation, as a free does: it
    /// counts as one in [`certify_for_life`](crate::certify::certify_for_life). An object whose
    /// entry has no generation left gets another entry where it is, if it has to: no byte is copied
    /// for that. The entry is made before the resize: one that is refused then may leave the table
    /// of entries a page longer.
    pub fn resize<B: Byte>(
        &mut self,
        key: ByteKey<B>,
        layout: Layout,
    ) -> Result<ByteKey<B>, Refused> {
        let mut bytes = self.bytes_of(key)?;
        let renewal = self.renewal(key.name)?;
        let resized = self.heap_mut().resize(&mut bytes, layout);
        // An object that moved has another entry already, and its own is free.
        let stays = resized.is_ok() && bytes.name == key.name;
        bytes.name = self.renew(bytes.name, renewal, stays);
        resized?;
        Ok(self.key_of(&bytes))
    }

    /// Frees a byte object; its keys are stale from then on. May move up to two objects per piece.
    ///
    /// # Errors
    /// As [`KeyHeap::chunk`].
    pub fn free_bytes<B: Byte>(&mut self, key: ByteKey<B>) -> Result<(), Refused> {
        let bytes = self.bytes_of(key)?;
        self.heap_mut().free_bytes(bytes);
        Ok(())
    }

    /// Whether the key names a live byte object of this heap.
    #[must_use]
    pub fn contains_bytes<B: Byte>(&self, key: ByteKey<B>) -> bool {
        self.bytes_of(key).is_ok()
    }

    fn key_of<B: Byte>(&self, bytes: &Bytes<B>) -> ByteKey<B> {
        ByteKey {
            name: bytes.name,
            generation: self.generation(bytes.name.index()),
            len: bytes.len(),
            bytes: PhantomData,
        }
    }

    /// The handle of a key whose object is live.
    fn bytes_of<B: Byte>(&self, key: ByteKey<B>) -> Result<Bytes<B>, Refused> {
        self.vet(key.name, key.generation)?;
        Ok(Bytes::new(key.name, key.len))
    }
}
