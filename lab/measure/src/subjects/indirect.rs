//! `indirect`: raw pointers behind a bare table of 32-bit words, the floor of every heap of
//! handles.
//!
//! An object's name is the number of a word; the word says where the object is, in units of eight
//! bytes. An access loads the word and adds the region's address. Nothing is verified, nothing
//! moves, and no object is in pieces: what an access costs more than through `cf-direct` is what
//! every handle costs.
//!
//! The objects are those of [`DirectHeap`], because it has the pages and size-classes of `cf`. With
//! another allocator of raw pointers, the two would also differ in where their objects are.
//!
//! The table lies beside the region, so its bytes do not count.

use std::alloc::Layout;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};

use anyhow::Result;
use surefit_core::{Corruption, Refused, Usage};
use surefit_direct::DirectHeap;

use super::raw::Raw;
use crate::keys::Keys;
use crate::pointer_heap::PointerHeap;
use crate::subject::{Allocator, HandleCost, Pass, Subject, less_control};

/// The largest region: its words are numbers of units of eight bytes.
const MOST_BYTES: usize = 32 << 30;

/// Raw pointers behind a bare table.
#[derive(Debug)]
pub struct Indirect;

impl Allocator for Indirect {
    type Options = ();

    const HAS_POINTERS: bool = false;

    fn options(_keys: &Keys) -> Result<()> {
        Ok(())
    }

    fn run<P: Pass>(
        (): &(),
        memory: &mut [MaybeUninit<u8>],
        pass: P,
    ) -> Result<P::Output, Refused> {
        let usable = memory.len().min(MOST_BYTES);
        let memory = less_control::<DirectHeap<'_>>(&mut memory[..usable])?;
        let origin = memory.as_ptr().addr() & !7;
        let heap = Raw(DirectHeap::new(memory)?);
        Ok(pass.run(Behind {
            heap,
            table: Words::new(),
            origin,
        }))
    }

    fn most_bytes((): &()) -> usize {
        MOST_BYTES
    }

    fn handles((): &()) -> Option<HandleCost> {
        Some(HandleCost {
            bytes_per_object: size_of::<u32>(),
            piece_bytes: None,
            in_short_regions: None,
        })
    }
}

/// The words of live objects, and a list of those that are free.
#[derive(Debug)]
struct Words {
    words: Vec<u32>,
    /// The word that was freed last; each free word names the next one.
    free: u32,
}

/// The end of the list of free words.
const NONE: u32 = u32::MAX;

impl Words {
    fn new() -> Self {
        Self {
            words: Vec::new(),
            free: NONE,
        }
    }

    /// Enters a word; returns its number.
    #[inline(always)]
    fn enter(&mut self, word: u32) -> u32 {
        let number = self.free;
        match self.words.get_mut(number as usize) {
            Some(entry) => {
                self.free = std::mem::replace(entry, word);
                number
            }
            None => self.append(word),
        }
    }

    #[cold]
    #[inline(never)]
    fn append(&mut self, word: u32) -> u32 {
        self.words.push(word);
        u32::try_from(self.words.len() - 1).expect("no more words than units of a region")
    }

    /// Frees a word.
    ///
    /// # Safety
    /// The number is that of an entered word.
    #[inline(always)]
    unsafe fn leave(&mut self, number: u32) {
        // SAFETY: the caller's promise.
        let word = unsafe { self.words.get_unchecked_mut(number as usize) };
        *word = std::mem::replace(&mut self.free, number);
    }
}

/// The subject: objects of a heap of raw pointers, named by words.
#[derive(Debug)]
struct Behind<H> {
    heap: H,
    table: Words,
    /// The address from which words count.
    origin: usize,
}

impl<H: PointerHeap> Behind<H> {
    #[inline(always)]
    fn word(&self, object: NonNull<u8>) -> u32 {
        let units = (object.as_ptr().expose_provenance() - self.origin) >> 3;
        debug_assert!(u32::try_from(units).is_ok(), "a region of at most 32 GiB");
        units as u32
    }

    /// Where an object is.
    ///
    /// # Safety
    /// The name is that of a live object of this subject.
    #[inline(always)]
    unsafe fn object(&self, name: u32) -> NonNull<u8> {
        // SAFETY: names are numbers of entered words (the caller's promise).
        let word = unsafe { *self.table.words.get_unchecked(name as usize) };
        let address = self.origin + ((word as usize) << 3);
        // SAFETY: the address is that of an object, whose provenance was exposed; it is not null.
        unsafe { NonNull::new_unchecked(ptr::with_exposed_provenance_mut(address)) }
    }
}

impl<H: PointerHeap> Subject for Behind<H> {
    type Object = u32;

    #[inline(always)]
    fn allocate(&mut self, layout: Layout, zeroed: bool) -> Result<u32, Refused> {
        let object = if zeroed {
            self.heap.allocate_zeroed(layout)?
        } else {
            self.heap.allocate(layout)?
        };
        let word = self.word(object);
        Ok(self.table.enter(word))
    }

    #[inline(always)]
    unsafe fn free(&mut self, name: u32, layout: Layout) {
        // SAFETY: S2.
        let object = unsafe { self.object(name) };
        // SAFETY: S1 and S2 are the caller's.
        unsafe { self.heap.free(object, layout) };
        // SAFETY: S2.
        unsafe { self.table.leave(name) };
    }

    #[inline(always)]
    unsafe fn resize(
        &mut self,
        name: &mut u32,
        layout: Layout,
        new_size: usize,
    ) -> Result<(), Refused> {
        // SAFETY: the sizes of steps are below 2^32 and their alignments at most 2^30, far from
        // overflow.
        let new_layout = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        // SAFETY: S2.
        let object = unsafe { self.object(*name) };
        // SAFETY: S1 and S2 are the caller's.
        let resized = unsafe { self.heap.resize(object, layout, new_layout) }?;
        self.table.words[*name as usize] = self.word(resized);
        Ok(())
    }

    #[inline(always)]
    unsafe fn chunk<'a>(
        &'a mut self,
        name: &'a mut u32,
        layout: Layout,
        offset: usize,
    ) -> &'a mut [MaybeUninit<u8>] {
        // SAFETY: S2.
        let object = unsafe { self.object(*name) };
        // SAFETY: a live object has `layout.size()` bytes of its own (S1 and S2); its name is
        // borrowed exclusively, and so is the heap.
        let bytes = unsafe {
            std::slice::from_raw_parts_mut(object.as_ptr().cast::<MaybeUninit<u8>>(), layout.size())
        };
        &mut bytes[offset..]
    }

    fn usage(&self) -> Option<Usage> {
        self.heap.usage()
    }

    fn check(&self) -> Result<(), Corruption> {
        self.heap.check()
    }
}

#[cfg(test)]
mod tests {
    use super::Words;

    #[test]
    fn the_word_that_was_freed_last_is_used_first() {
        let mut words = Words::new();
        let numbers: Vec<_> = (10..14).map(|word| words.enter(word)).collect();
        assert_eq!(numbers, [0, 1, 2, 3]);
        for number in [2, 0] {
            // SAFETY: both were entered, and are freed once.
            unsafe { words.leave(number) };
        }
        assert_eq!(
            [words.enter(20), words.enter(21), words.enter(22)],
            [0, 2, 4]
        );
        assert_eq!(words.words, [20, 11, 21, 13, 22]);
    }
}
