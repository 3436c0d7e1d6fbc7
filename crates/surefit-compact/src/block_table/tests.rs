//! Tests of the checker: every field of the frames and every word of a row is corrupted, one at a
//! time. Then what `check` does not tell is driven beside a naive model.
//!
//! The tables of the table's heap are attacked in `check/tests.rs`. The words of spines are not
//! checked, and so not tried here: they are the content of byte objects, as there.

extern crate alloc;
extern crate std;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::alloc::Layout;
use core::cell::Cell;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use surefit_classes::Bound;
use surefit_testkit::{JunkRegion, Op, Shape, script};

use super::config::BlockTableConfig;
use super::frames::NO_FRAME;
use super::heap::BlockTableHeap;
use super::words;
use crate::check::tests::flips::{Changed, Named, Subject, attack as attack_flips};
use crate::check::tests::{Duty, Field, Fields};
use crate::handle::{Byte, Bytes, Name};
use crate::width::{Narrow, Wide, Width, Word};

/// What the checker reported for the corruptions.
#[derive(Default)]
struct Score {
    tried: usize,
    missed: Vec<String>,
}

impl Score {
    fn note<W: Width>(&mut self, heap: &BlockTableHeap<'_, W>, what: impl Fn() -> String) {
        self.tried += 1;
        if heap.check().is_ok() {
            self.missed.push(what());
        }
    }

    fn report(self, name: &str, least: usize) {
        std::println!(
            "{name}: check() objects to all of {} corruptions",
            self.tried
        );
        assert!(self.tried >= least, "{} is too few", self.tried);
        assert_eq!(self.missed, Vec::<String>::new(), "of {}", self.tried);
    }
}

/// Values that differ from the right one.
fn wrong(right: u32, bits: u32, others: &[u32]) -> Vec<u32> {
    let mask = u32::MAX >> (32 - bits);
    let mut values: Vec<u32> = (0..bits).map(|bit| right ^ 1 << bit).collect();
    values.extend([
        0,
        1,
        mask,
        mask - 1,
        mask / 2,
        right.wrapping_add(1),
        !right,
    ]);
    values.extend([right.wrapping_sub(1), right.wrapping_add(2)]);
    values.extend(others);
    values.iter_mut().for_each(|value| *value &= mask);
    values.retain(|&value| value != right);
    values.sort_unstable();
    values.dedup();
    values
}

fn attack<W: Width>(score: &mut Score, state: &str, heap: &BlockTableHeap<'_, W>) {
    heap.check().unwrap_or_else(|e| panic!("{state}: {e}"));
    attack_counters(score, state, heap);
    attack_links(score, state, heap);
    attack_rows(score, state, heap);
    heap.check().unwrap_or_else(|e| panic!("{state}: {e}"));
}

/// The cells of `Frames`.
fn attack_counters<W: Width>(score: &mut Score, state: &str, heap: &BlockTableHeap<'_, W>) {
    let frames = &heap.frames;
    let cells: [(&str, &Cell<u32>); 5] = [
        ("free", &frames.free),
        ("free_count", &frames.free_count),
        ("fresh", &frames.fresh),
        ("fresh_end", &frames.fresh_end),
        ("pages", &frames.pages),
    ];
    let per_page = u32::try_from(heap.config.frames_per_page()).expect("few");
    let others = cells.map(|(_, cell)| cell.get());
    for (name, cell) in cells {
        let right = cell.get();
        let mut values = wrong(right, 32, &others);
        values.extend([right.wrapping_add(per_page), right.wrapping_sub(per_page)]);
        for value in values {
            cell.set(value);
            score.note(heap, || format!("{state}: {name} {right} -> {value}"));
        }
        cell.set(right);
    }
}

/// The words of free frames.
fn attack_links<W: Width>(score: &mut Score, state: &str, heap: &BlockTableHeap<'_, W>) {
    let mut frame = heap.frames.free.get();
    while frame != NO_FRAME {
        let link = heap.frames.link(heap.memory(), frame);
        let right = link.get();
        for value in wrong(right, 32, &[frame, heap.frames.free.get()]) {
            link.set(value);
            score.note(heap, || {
                format!("{state}: link of {frame} {right} -> {value}")
            });
        }
        link.set(right);
        frame = right;
    }
}

/// Every word of every row, also those that name no frame.
fn attack_rows<W: Width>(score: &mut Score, state: &str, heap: &BlockTableHeap<'_, W>) {
    let page_class = heap.page_class();
    let rows: Vec<_> = heap.table.live_blocks().collect();
    for row in rows.iter().filter(|row| row.class != page_class) {
        let name = Name::new(row.index, heap.id());
        let is_spine = heap.frame_word(name, row.block_bytes, 0) < words::tag::<W>();
        let words = if is_spine {
            0
        } else {
            row.block_bytes as usize / W::WORD_BYTES
        };
        for at in 0..words {
            let right = heap.frame_word(name, row.block_bytes, at);
            let others = [
                heap.frames.free.get() | words::tag::<W>(),
                W::Word::NIL.get(),
            ];
            for value in wrong(right, 8 * W::WORD_BYTES as u32, &others) {
                heap.set_frame_word(name, row.block_bytes, at, value);
                let what = || {
                    format!(
                        "{state}: row {}, word {at} {right:x} -> {value:x}",
                        row.index
                    )
                };
                score.note(heap, what);
            }
            heap.set_frame_word(name, row.block_bytes, at, right);
        }
    }
}

impl<W: Width> BlockTableHeap<'_, W> {
    fn frame_word(&self, name: Name, block_bytes: u32, at: usize) -> u32 {
        let row = Bytes::<u8>::new(name, block_bytes as usize);
        words::get::<W>(self.table.chunk(&row, at * W::WORD_BYTES))
    }

    fn set_frame_word(&self, name: Name, block_bytes: u32, at: usize, word: u32) {
        let mut row = Bytes::<MaybeUninit<u8>>::new(name, block_bytes as usize);
        let chunk = self.table.chunk_mut(&mut row, at * W::WORD_BYTES);
        words::set::<W>(&mut chunk[..W::WORD_BYTES], word);
    }
}

/// Attacks heaps of one width after some operations of a script, and when everything is freed.
fn attack_all<W: Width>(score: &mut Score, frame: usize, largest: usize) {
    for bound in [Bound::Pages(1), Bound::DEFAULT, Bound::Unbounded] {
        let config = BlockTableConfig::with_pages::<W>(frame, bound, 1024).expect("valid");
        let mut region = JunkRegion::new(40_000, 1024, 5);
        let heap = BlockTableHeap::<W>::new(region.memory(), &config).expect("large enough");
        attack(score, &format!("{bound:?} at first"), &heap);
        let mut live: Vec<Bytes<MaybeUninit<u8>>> = Vec::new();
        for (number, op) in script(Shape::Sawtooth, 3, 70, largest)
            .into_iter()
            .enumerate()
        {
            match op {
                Op::Alloc { size, .. } => {
                    let layout = Layout::from_size_align(size, 8).expect("valid");
                    live.extend(heap.alloc(layout));
                }
                Op::Free(nth) if !live.is_empty() => {
                    heap.free_bytes(live.swap_remove(nth % live.len()));
                }
                _ => {}
            }
            if number % 30 == 20 {
                attack(score, &format!("{bound:?} after {number}"), &heap);
            }
        }
        live.drain(..).for_each(|object| heap.free_bytes(object));
        attack(score, &format!("{bound:?} emptied"), &heap);
    }
}

#[test]
fn every_corruption_of_a_wide_heap_is_found() {
    let mut score = Score::default();
    attack_all::<Wide>(&mut score, 64, 400);
    attack_all::<Wide>(&mut score, 16, 3000);
    score.report("wide", 10_000);
}

#[test]
fn every_corruption_of_a_narrow_heap_is_found() {
    let mut score = Score::default();
    attack_all::<Narrow>(&mut score, 32, 400);
    score.report("narrow", 5_000);
}

#[test]
fn objects_are_miscounted_only_up_to_their_rows() {
    let config = BlockTableConfig::new(32, Bound::DEFAULT).expect("valid");
    let mut region = JunkRegion::new(40_000, 4096, 5);
    let heap = BlockTableHeap::<Wide>::new(region.memory(), &config).expect("large enough");
    let one = heap.insert(1_u8).expect("room");
    for wrong in [0, 2, u32::MAX] {
        heap.objects.set(wrong);
        assert!(heap.check().is_err(), "{wrong}");
    }
    heap.objects.set(1);
    heap.check().expect("sound");
    heap.free(one);
}

// ---- flips -------------------------------------------------------------------------------------

impl<W: Width> BlockTableHeap<'_, W> {
    fn bytes<B: Byte>(&self, object: &Named) -> Bytes<B> {
        Bytes::new(Name::new(object.entry, self.id()), object.len)
    }
}

impl<W: Width> Subject for BlockTableHeap<'_, W> {
    fn is_sound(&self) -> bool {
        self.check().is_ok()
    }

    fn alloc(&mut self, len: usize) -> Option<Named> {
        let layout = Layout::from_size_align(len, 8).expect("valid");
        let bytes = BlockTableHeap::alloc(self, layout).ok()?;
        Some(Named::new(bytes.name.index(), len))
    }

    fn free(&mut self, object: &Named) -> bool {
        self.free_bytes(self.bytes::<u8>(object));
        true
    }

    fn resize(&mut self, object: &mut Named, len: usize) -> bool {
        let layout = Layout::from_size_align(len, 8).expect("valid");
        let mut bytes = self.bytes::<u8>(object);
        let resized = BlockTableHeap::resize(self, &mut bytes, layout).is_ok();
        (object.entry, object.len) = (bytes.name.index(), bytes.len());
        resized
    }

    fn write(&mut self, object: &Named, bytes: &[u8]) -> bool {
        self.write_at(&mut self.bytes::<u8>(object), 0, bytes);
        true
    }

    fn read(&self, object: &Named, bytes: &mut [u8]) -> bool {
        self.read_at(&self.bytes::<u8>(object), 0, bytes);
        true
    }

    fn other(&mut self, _: usize) {
        self.compact(3);
    }

    fn live(&self) -> u32 {
        self.objects.get()
    }

    fn words(&self) -> Vec<Field> {
        let mut words = Fields::of(&self.table);
        let mut add = |name: String, place: *mut u8, bytes| {
            words.push(Field::new(name, place, bytes, Duty::All));
        };
        let frames = &self.frames;
        let counters = [&frames.free_count, &frames.fresh, &frames.fresh_end];
        let counters = counters.into_iter().chain([&frames.pages, &frames.free]);
        for (number, counter) in counters.enumerate() {
            add(format!("counter {number}"), counter.as_ptr().cast(), 4);
        }
        add("objects".into(), self.objects.as_ptr().cast(), 4);
        // SAFETY: free frames and rows lie inside the region.
        let place = |offset| unsafe { self.memory().address(offset) }.as_ptr();
        let mut frame = frames.free.get();
        while frame != NO_FRAME {
            let at = (frame as usize) << frames.shift;
            add(format!("link of frame {frame}"), place(at), 4);
            frame = frames.link(self.memory(), frame).get();
        }
        let blocks = self.table.live_blocks();
        for row in blocks.filter(|row| row.class != self.page_class()) {
            let name = Name::new(row.index, self.id());
            let first = self.table.engine.object_offset(row.index);
            if self.frame_word(name, row.block_bytes, 0) < words::tag::<W>() {
                continue;
            }
            for at in (0..row.block_bytes as usize).step_by(W::WORD_BYTES) {
                let name = format!("row {}, byte {at}", row.index);
                add(name, place(first + at), W::WORD_BYTES);
            }
        }
        words
    }

    fn images(&mut self) -> Vec<(NonNull<u8>, usize)> {
        let memory = &self.table.engine.pages.memory;
        // SAFETY: the region's first byte.
        let region = (unsafe { memory.address(0) }, memory.len());
        Vec::from([(NonNull::from(self).cast(), size_of::<Self>()), region])
    }
}

/// Where rows are in pieces, nobody knows how many of them are objects. And nobody but whoever has
/// the handles knows of two rows which has which words.
fn leaves_out(changes: &[Changed<'_>]) -> bool {
    let exchanged = |a: &Changed<'_>, b: &Changed<'_>| {
        a.0.starts_with("row ") && b.0.starts_with("row ") && (a.1, a.2) == (b.2, b.1)
    };
    let exchange = matches!(changes, [a, b] if exchanged(a, b));
    exchange || changes.iter().any(|change| change.0 == "objects")
}

#[test]
fn flips_of_a_block_table_are_told_or_harmless() {
    fn attack<W: Width>(name: &str, bound: Bound, frame: usize, lens: &[usize]) {
        let config = BlockTableConfig::with_pages::<W>(frame, bound, 1024).expect("valid");
        let mut region = JunkRegion::new(40_000, 1024, 5);
        let heap = BlockTableHeap::<W>::new(region.memory(), &config);
        let mut heap = heap.expect("large enough");
        attack_flips(name, &mut heap, (lens, 90), 101, leaves_out);
    }
    let lens = [3, 64, 130, 300, 500, 900, 2000];
    attack::<Wide>("block table, wide words", Bound::DEFAULT, 64, &lens);
    attack::<Wide>("block table, long rows", Bound::Pages(1), 16, &lens);
    attack::<Narrow>("block table, narrow words", Bound::DEFAULT, 32, &lens);
}
