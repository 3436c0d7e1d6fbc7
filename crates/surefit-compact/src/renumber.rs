//! Lower entries for live objects, so that the address table shrinks to what lives.
//!
//! ```text
//! before   entries  0 · 2 · · 5 · · 8 9    · is free: five live objects, a table of ten
//! after    entries  0 1 2 3 4              8, 9 and 5 took the lowest free entries
//! ```
//! A handle names an entry, so the table keeps its all-time maximum as long as any object holds a
//! high entry. Only the owner of a handle can change the name in it: callers pass their handles.
//!
//! # Bounds
//! At the end, no live object that was passed has an entry beyond the number of live objects. If
//! all were passed, the table has exactly as many entries as objects live.
//!
//! # Source
//! Ours.
#![deny(unsafe_code)]

use crate::engine::Engine;
use crate::handle::{Byte, Bytes, Name};
use crate::heap::Heap;
use crate::width::{Width, Word};

impl<W: Width<Generation = ()>> Heap<'_, W> {
    /// Gives byte objects the lowest free entries, where theirs are beyond the number of live
    /// objects; then drops the free entries at the table's end, and the pages that the table does
    /// not need any more. Returns the number of dropped entries. Copies no object, but gives back
    /// what is parked.
    ///
    /// Handles that are not passed keep their entries: one of them at the table's end keeps the
    /// table as long as it is.
    ///
    /// # Panics
    /// If a handle belongs to another heap, or an entry is outside; then nothing was renumbered.
    ///
    /// # Complexity
    /// O(entries + pieces of the objects).
    pub fn renumber<B: Byte>(&mut self, objects: &mut [Bytes<B>]) -> u32 {
        for object in &*objects {
            assert!(
                self.own(object.name).is_ok(),
                "the handle belongs to another heap"
            );
        }
        assert!(
            self.engine.addresses.outside.get() == 0,
            "an entry is outside"
        );
        self.engine.unpark_all();
        let mut lowest = Lowest {
            next: 0,
            live: self.engine.live(),
        };
        for object in objects {
            let (entry, len) = (object.name.index(), object.len());
            let entry = self.renumber_object(entry, len, &mut lowest);
            *object = Bytes::new(Name::new(entry, self.id), len);
        }
        self.engine.drop_last_entries()
    }

    /// Renumbers the page-blocks of one object; returns its new entry.
    fn renumber_object(&self, entry: u32, len: usize, lowest: &mut Lowest) -> u32 {
        if !self.is_in_pieces(len) {
            return self.engine.renumber(entry, lowest);
        }
        let entry = self.renumber_object(entry, self.spine_bytes(len), lowest);
        self.replace_pieces(entry, len, |piece| self.engine.renumber(piece, lowest));
        entry
    }
}

/// The free entries below the number of live objects, the lowest first.
#[derive(Debug)]
struct Lowest {
    /// All entries below this one are live.
    next: u32,
    live: u32,
}

impl<W: Width<Generation = ()>> Engine<'_, W> {
    /// Gives the object of a live entry the lowest free entry if its own is beyond the number of
    /// live objects. From then on its own one is free, but in no list.
    fn renumber(&self, entry: u32, lowest: &mut Lowest) -> u32 {
        if entry < lowest.live {
            return entry;
        }
        // As many entries below `live` are free as beyond it are live: this ends below `live`.
        while self.named(lowest.next).is_some() {
            lowest.next += 1;
        }
        debug_assert!(lowest.next < lowest.live);
        let block = self.block_of(entry);
        self.locate(lowest.next, block);
        self.pages.set_back_reference(block, lowest.next);
        lowest.next
    }

    /// Drops the entries after the last live one, and links the others that are free anew, the
    /// lowest first. Nothing may be parked. Returns how many were dropped. O(entries).
    fn drop_last_entries(&self) -> u32 {
        let memory = &self.pages.memory;
        let made = self.addresses.made.get();
        let last = (0..made).rev().find(|&entry| self.named(entry).is_some());
        let kept = last.map_or(0, |last| last + 1);
        self.addresses.free.set(W::Count::new(W::Word::NIL.get()));
        for entry in (0..kept).rev() {
            if self.named(entry).is_none() {
                self.addresses.link(memory, entry);
            }
        }
        self.addresses.made.set(kept);
        let page_bytes = self.pages.geometry.page_bytes();
        let highest = self.pages.count() as usize * page_bytes;
        self.addresses.give_pages(page_bytes, highest);
        made - kept
    }
}

#[cfg(test)]
mod tests {
    extern crate alloc;
    extern crate std;

    use alloc::vec;
    use alloc::vec::Vec;
    use core::alloc::Layout;
    use core::mem::MaybeUninit;

    use crate::config::Config;
    use crate::handle::Bytes;
    use crate::heap::Heap;

    static CONFIG: Config = Config::DEFAULT;

    fn layout(len: usize) -> Layout {
        Layout::array::<u8>(len).expect("valid")
    }

    /// An object whose bytes say its number.
    fn object(heap: &Heap<'_>, number: usize, len: usize) -> Bytes<u8> {
        let mut bytes = heap.alloc_zeroed(layout(len)).expect("room");
        let tag = number.to_le_bytes();
        for at in (0..len).step_by(1000) {
            heap.write_at(&mut bytes, at, &tag[..tag.len().min(len - at)]);
        }
        bytes
    }

    #[track_caller]
    fn is_object(heap: &Heap<'_>, bytes: &Bytes<u8>, number: usize) {
        let tag = number.to_le_bytes();
        for at in (0..bytes.len()).step_by(1000) {
            let mut read = [0; 8];
            let end = tag.len().min(bytes.len() - at);
            heap.read_at(bytes, at, &mut read[..end]);
            assert_eq!(read[..end], tag[..end], "object {number} at {at}");
        }
    }

    /// Every eighth of `count` objects, with their numbers, whose lengths are those given in turn.
    fn scattered(heap: &mut Heap<'_>, count: usize, lens: &[usize]) -> Vec<(usize, Bytes<u8>)> {
        let made =
            (0..count).map(|number| (number, object(heap, number, lens[number % lens.len()])));
        let (kept, gone): (Vec<_>, Vec<_>) = made
            .collect::<Vec<_>>()
            .into_iter()
            .partition(|(number, _)| number % 8 == 7);
        gone.into_iter()
            .for_each(|(_, bytes)| heap.free_bytes(bytes));
        kept
    }

    #[test]
    fn the_table_shrinks_to_what_lives_and_every_object_keeps_its_bytes() {
        // Small ones, objects in pieces, and one whose spine is in pieces.
        for lens in [
            &[24][..],
            &[24, 100, 9000],
            &[8, 5000, 40_000, 100],
            &[70_000, 300],
        ] {
            let geometry = crate::GeometrySpec {
                page_bytes: 4096,
                ..crate::GeometrySpec::DEFAULT
            };
            let geometry = crate::Geometry::new(&geometry).expect("valid");
            let config = Config::new(geometry, crate::Bound::DEFAULT).expect("valid");
            let config = config.with_pieces(Some(64)).expect("valid");
            let mut memory = vec![MaybeUninit::uninit(); 64 << 20];
            let mut heap: Heap = Heap::new(&mut memory, &config).expect("enough");
            let kept = scattered(&mut heap, 800, lens);
            let (numbers, mut kept): (Vec<_>, Vec<_>) = kept.into_iter().unzip();
            let before = (
                heap.engine.addresses.made.get(),
                heap.engine.addresses.floor(),
            );
            let dropped = heap.renumber(&mut kept);
            heap.check().expect("sound");
            let (made, live) = (heap.engine.addresses.made.get(), heap.engine.live());
            assert_eq!((made, made + dropped), (live, before.0), "{lens:?}");
            assert!(heap.engine.addresses.floor() >= before.1);
            for (bytes, number) in kept.iter().zip(&numbers) {
                is_object(&heap, bytes, *number);
            }
            // A second time nothing is left to do.
            assert_eq!(heap.renumber(&mut kept), 0);
            // The heap serves as before.
            for number in 0..100 {
                kept.push(object(&heap, number, 24));
            }
            heap.check().expect("sound");
            kept.into_iter().for_each(|bytes| heap.free_bytes(bytes));
            assert!(heap.renumber::<u8>(&mut []) > 0);
            assert_eq!(heap.engine.addresses.made.get(), 0);
            heap.check().expect("sound");
        }
    }

    #[test]
    fn handles_that_are_not_passed_keep_their_entries() {
        let mut memory = vec![MaybeUninit::uninit(); 4 << 20];
        let mut heap: Heap = Heap::new(&mut memory, &CONFIG).expect("enough");
        let low = heap.insert(1_u64).expect("room");
        let typed = heap.insert([2_u64; 3]).expect("room");
        let mut window = heap.alloc_contiguous_zeroed(layout(40_000)).expect("room");
        heap.contiguous_mut(&mut window).fill(7);
        let mut kept = scattered(&mut heap, 400, &[40]);
        let last = kept.pop().expect("fifty");
        let (numbers, mut passed): (Vec<_>, Vec<_>) = kept.into_iter().unzip();
        let dropped = heap.renumber(&mut passed);
        heap.check().expect("sound");
        // The last one holds the table's end; entries are made a few at a time.
        assert!(dropped < 32, "{dropped}");
        is_object(&heap, &last.1, last.0);
        let mut rest = vec![last.1];
        assert!(heap.renumber(&mut rest) > 300);
        heap.check().expect("sound");
        for (bytes, number) in passed.iter().zip(&numbers) {
            is_object(&heap, bytes, *number);
        }
        assert_eq!((heap.remove(low), heap.remove(typed)), (1, [2; 3]));
        assert_eq!(heap.contiguous(&window), [7; 40_000]);
        heap.free_contiguous(window);
        heap.check().expect("sound");
    }

    #[test]
    #[should_panic(expected = "the handle belongs to another heap")]
    fn handles_of_other_heaps_panic() {
        let (mut first, mut second) = (
            [MaybeUninit::uninit(); 1 << 17],
            [MaybeUninit::uninit(); 1 << 17],
        );
        let heap: Heap = Heap::new(&mut first, &CONFIG).expect("enough");
        let mut other: Heap = Heap::new(&mut second, &CONFIG).expect("enough");
        let mut objects = [heap.alloc(layout(10)).expect("room")];
        other.renumber(&mut objects);
    }
}
