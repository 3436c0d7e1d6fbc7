//! Tests of the checker: every field of the frames and every word of a row is corrupted, one at a
//! time. Then what `check` does not tell is driven beside a naive model.
//!
//! The fields of the table's heap are attacked in surefit-compact; here its words are flipped as
//! they lie in the region. The words of spines are not checked, and so not tried.

use std::alloc::Layout;
use std::cell::Cell;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

use surefit_compact::{Bound, Narrow, Wide, Width, Word, layout};
use surefit_testkit::flips::{Change, Verdict, campaign};
use surefit_testkit::{JunkRegion, Op, Random, Shape, script};

use super::config::BlockTableConfig;
use super::frames::NO_FRAME;
use super::handle::{Bytes, Name};
use super::heap::BlockTableHeap;
use super::words::tag;

/// What the checker reported for the corruptions.
#[derive(Default)]
struct Score {
    tried: usize,
    missed: Vec<String>,
}

impl Score {
    fn note<W: Width<Generation = ()>>(
        &mut self,
        heap: &BlockTableHeap<'_, W>,
        what: impl Fn() -> String,
    ) {
        self.tried += 1;
        if heap.check().is_ok() {
            self.missed.push(what());
        }
    }

    fn report(self, name: &str, least: usize) {
        println!(
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

fn attack<W: Width<Generation = ()>>(score: &mut Score, state: &str, heap: &BlockTableHeap<'_, W>) {
    heap.check().unwrap_or_else(|e| panic!("{state}: {e}"));
    attack_counters(score, state, heap);
    attack_links(score, state, heap);
    attack_rows(score, state, heap);
    heap.check().unwrap_or_else(|e| panic!("{state}: {e}"));
}

/// The cells of `Frames`.
fn attack_counters<W: Width<Generation = ()>>(
    score: &mut Score,
    state: &str,
    heap: &BlockTableHeap<'_, W>,
) {
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
fn attack_links<W: Width<Generation = ()>>(
    score: &mut Score,
    state: &str,
    heap: &BlockTableHeap<'_, W>,
) {
    let mut frame = heap.frames.free.get();
    while frame != NO_FRAME {
        let right = heap.frames.link(frame);
        for value in wrong(right, 32, &[frame, heap.frames.free.get()]) {
            heap.frames.set_link(frame, value);
            score.note(heap, || {
                format!("{state}: link of {frame} {right} -> {value}")
            });
        }
        heap.frames.set_link(frame, right);
        frame = right;
    }
}

/// Every word of every row, also those that name no frame.
fn attack_rows<W: Width<Generation = ()>>(
    score: &mut Score,
    state: &str,
    heap: &BlockTableHeap<'_, W>,
) {
    for (row, words) in heap.rows() {
        for at in 0..words {
            let right = heap.row_word(row, at);
            let others = [heap.frames.free.get() | tag::<W>(), W::Word::NIL.get()];
            for value in wrong(right, 8 * W::WORD_BYTES as u32, &others) {
                heap.set_row_word(row, at, value);
                let what = || format!("{state}: row {row}, word {at} {right:x} -> {value:x}");
                score.note(heap, what);
            }
            heap.set_row_word(row, at, right);
        }
    }
}

impl<W: Width<Generation = ()>> BlockTableHeap<'_, W> {
    /// The entries of all rows and pieces of rows, but not of spines, and their words.
    fn rows(&self) -> Vec<(u32, usize)> {
        let blocks: Vec<_> = self.table.look(|heap| heap.live_blocks().collect());
        let rows = blocks
            .into_iter()
            .filter(|row| row.class != self.page_class());
        let rows = rows.filter(|row| self.row_word(row.index, 0) >= tag::<W>());
        rows.map(|row| (row.index, row.block_bytes as usize / W::WORD_BYTES))
            .collect()
    }

    fn row_word(&self, row: u32, at: usize) -> u32 {
        // SAFETY: callers pass positions in live page-blocks, all words of which were written.
        unsafe { self.table.word(row, at) }
    }

    fn set_row_word(&self, row: u32, at: usize, word: u32) {
        // SAFETY: as in `row_word`.
        unsafe { self.table.set_word(row, at, word) };
    }
}

/// Attacks heaps of one width after some operations of a script, and when everything is freed.
fn attack_all<W: Width<Generation = ()>>(score: &mut Score, frame: usize, largest: usize) {
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

/// An object as the model knows it.
#[derive(Clone, Copy, Debug)]
struct Known {
    entry: u32,
    len: usize,
    seed: u8,
}

impl Known {
    /// What its bytes must be: none is below 128, so that no word of them names an entry.
    fn pattern(&self) -> Vec<u8> {
        let first = self.seed.wrapping_mul(37);
        let byte = |at: usize| first.wrapping_add((at ^ at >> 7) as u8) | 0x80;
        (0..self.len).map(byte).collect()
    }
}

fn layout_of(len: usize) -> Layout {
    Layout::from_size_align(len, 8).expect("valid")
}

/// A heap and its model.
struct Drive<'h, 'm, W: Width<Generation = ()>> {
    heap: &'h mut BlockTableHeap<'m, W>,
    live: Vec<Known>,
    lens: &'h [usize],
    /// What was granted, and the counts.
    seen: Vec<u32>,
    random: Random,
}

impl<'h, 'm, W: Width<Generation = ()>> Drive<'h, 'm, W> {
    fn new(
        heap: &'h mut BlockTableHeap<'m, W>,
        live: Vec<Known>,
        lens: &'h [usize],
        seed: u64,
    ) -> Self {
        Self {
            heap,
            live,
            lens,
            seen: Vec::new(),
            random: Random(seed),
        }
    }

    fn bytes(&self, object: &Known) -> Bytes {
        Bytes::new(Name::new(object.entry, self.heap.id), object.len)
    }

    fn holds(&self, object: &Known, pattern: &[u8]) -> bool {
        let mut bytes = vec![0; pattern.len()];
        self.heap.read_at(&self.bytes(object), 0, &mut bytes);
        bytes == pattern
    }

    fn look(&self, object: &Known) -> Result<(), String> {
        let found = self.holds(object, &object.pattern());
        found.then_some(()).ok_or("an object lost its bytes".into())
    }

    fn look_at_all(&self) -> Result<(), String> {
        self.live.iter().try_for_each(|object| self.look(object))
    }

    /// Fills an object that is new, or has a new length.
    fn keep(&mut self, entry: u32, len: usize) {
        let seed = self.seen.len() as u8;
        let object = Known { entry, len, seed };
        let pattern = object.pattern();
        self.heap.write_at(&mut self.bytes(&object), 0, &pattern);
        self.live.push(object);
    }

    fn alloc(&mut self, len: usize) -> bool {
        let object = self.heap.alloc(layout_of(len));
        self.seen.push(object.is_ok().into());
        object.is_ok_and(|bytes| {
            self.keep(bytes.name.entry(), len);
            true
        })
    }

    fn free(&mut self, at: usize) -> Result<(), String> {
        let object = self.live.swap_remove(at);
        self.look(&object)?;
        self.heap.free_bytes(self.bytes(&object));
        Ok(())
    }

    fn resize(&mut self, at: usize, len: usize) -> Result<(), String> {
        let object = self.live.swap_remove(at);
        self.look(&object)?;
        let mut bytes = self.bytes(&object);
        let resized = self.heap.resize(&mut bytes, layout_of(len)).is_ok();
        self.seen.push(resized.into());
        let (entry, len) = (bytes.name.entry(), bytes.len());
        let now = Known {
            entry,
            len,
            ..object
        };
        if !self.holds(&now, &object.pattern()[..object.len.min(len)]) {
            return Err("a resize lost bytes".into());
        }
        self.keep(entry, len);
        Ok(())
    }

    fn steps(&mut self, steps: usize) -> Result<(), String> {
        for step in 0..steps {
            let len = self.lens[self.random.below(self.lens.len())];
            let at = self.random.below(self.live.len().max(1));
            match self.random.below(8) {
                0..3 if !self.live.is_empty() => self.free(at)?,
                3 if !self.live.is_empty() => self.resize(at, len)?,
                _ => _ = self.alloc(len),
            }
            if step % 16 == 15 {
                self.heap.compact(3);
            }
        }
        self.seen.push(self.heap.stats().live_objects);
        self.look_at_all()
    }

    /// Everything that calls can do: to the end, the heap is empty.
    fn whole(mut self) -> Result<Vec<u32>, String> {
        self.look_at_all()?;
        self.steps(48)?;
        let mut refused = 0;
        for number in 0.. {
            if refused == self.lens.len() {
                break;
            }
            let granted = self.alloc(self.lens[number % self.lens.len()]);
            refused = if granted { 0 } else { refused + 1 };
        }
        self.look_at_all()?;
        for at in (0..self.live.len()).step_by(2).rev() {
            self.free(at)?;
        }
        self.steps(48)?;
        while !self.live.is_empty() {
            self.free(self.live.len() / 2)?;
        }
        self.steps(0)?;
        let sound = self.heap.check().is_ok();
        sound
            .then_some(self.seen)
            .ok_or("check objects later".into())
    }
}

/// A word that the campaign changes.
struct Field {
    name: String,
    place: NonNull<u8>,
    bytes: usize,
}

impl Field {
    fn get(&self) -> u64 {
        let mut word = [0; 8];
        // SAFETY: the bytes of a cell, or of the region, to which nobody refers.
        unsafe {
            self.place
                .copy_to(NonNull::from(&mut word).cast(), self.bytes)
        };
        u64::from_le_bytes(word)
    }

    fn set(&self, value: u64) {
        let word = value.to_le_bytes();
        // SAFETY: as in `get`.
        unsafe {
            self.place
                .copy_from(NonNull::from(&word).cast(), self.bytes)
        };
    }
}

impl<W: Width<Generation = ()>> BlockTableHeap<'_, W> {
    /// A byte of the region.
    fn byte_at(&self, offset: usize) -> NonNull<u8> {
        // SAFETY: callers pass offsets in the region, all of which the first frame's address is
        // good for.
        unsafe { self.frames.address(0).add(offset) }
    }

    /// The counters, the links of free frames, the words of rows, and the table's entries, class
    /// states and page records as they lie in the region.
    fn words(&self) -> Vec<Field> {
        let frames = &self.frames;
        let counters = [&frames.free_count, &frames.fresh, &frames.fresh_end];
        let counters = counters.into_iter().chain([&frames.pages, &frames.free]);
        let counters = counters.chain([&self.objects]).enumerate();
        let mut words: Vec<Field> = counters
            .map(|(number, counter)| Field {
                name: if number == 5 {
                    "objects".into()
                } else {
                    format!("counter {number}")
                },
                place: NonNull::new(counter.as_ptr().cast()).expect("a cell"),
                bytes: 4,
            })
            .collect();
        let mut add = |name, place, bytes| words.push(Field { name, place, bytes });
        let mut frame = frames.free.get();
        while frame != NO_FRAME {
            add(format!("link of frame {frame}"), frames.address(frame), 4);
            frame = frames.link(frame);
        }
        for (row, length) in self.rows() {
            for at in (0..length * W::WORD_BYTES).step_by(W::WORD_BYTES) {
                // SAFETY: a word of a row.
                let place = unsafe { self.table.place(row).add(at) };
                add(format!("row {row}, byte {at}"), place, W::WORD_BYTES);
            }
        }
        let geometry = self.config.table.geometry();
        let (classes, end) = (geometry.class_count(), self.bytes & !7);
        let pages = layout::pages_in::<W>(end, self.config.page_bytes(), classes);
        let top = end - layout::fixed_bytes::<W>(classes, pages);
        let last = (self.table).look(|heap| heap.live_blocks().map(|block| block.index).max());
        let entries = last.map_or(0, |last| last as usize + 1);
        let first = top - entries * W::ENTRY_BYTES;
        for at in (first..end).step_by(W::WORD_BYTES) {
            add(
                format!("table {}", at - first),
                self.byte_at(at),
                W::WORD_BYTES,
            );
        }
        words
    }
}

/// The name of a word, what it was, and what it is now.
type Changed<'a> = (&'a str, u64, u64);

/// Where rows are in pieces, nobody knows how many of them are objects. And nobody but whoever has
/// the handles knows of two rows which has which words.
fn leaves_out(changes: &[Changed<'_>]) -> bool {
    let exchanged = |a: &Changed<'_>, b: &Changed<'_>| {
        a.0.starts_with("row ") && b.0.starts_with("row ") && (a.1, a.2) == (b.2, b.1)
    };
    let exchange = matches!(changes, [a, b] if exchanged(a, b));
    exchange || changes.iter().any(|change| change.0 == "objects")
}

/// The bytes of a heap and of its region, to put back.
struct Image(Vec<(NonNull<u8>, Vec<MaybeUninit<u8>>)>);

impl Image {
    fn of<W: Width<Generation = ()>>(heap: &mut BlockTableHeap<'_, W>) -> Self {
        let region = (heap.byte_at(0), heap.bytes);
        let own = NonNull::from(&mut *heap).cast();
        let places = [(own, size_of::<BlockTableHeap<'_, W>>()), region];
        let images = places.map(|(place, bytes)| {
            // SAFETY: the heap and its region; some of their bytes may not be initialised.
            let bytes = unsafe { NonNull::slice_from_raw_parts(place.cast(), bytes).as_ref() };
            (place, bytes.to_vec())
        });
        Self(images.into())
    }

    fn restore(&self) {
        for (place, bytes) in &self.0 {
            // SAFETY: as in `of`; nobody refers to them now.
            unsafe {
                place.cast().copy_from_nonoverlapping(
                    NonNull::from(&**bytes).cast::<MaybeUninit<u8>>(),
                    bytes.len(),
                )
            };
        }
    }
}

/// Flips the words of a heap after some steps.
fn attack_flips<W: Width<Generation = ()>>(
    name: &str,
    heap: &mut BlockTableHeap<'_, W>,
    (lens, steps): (&[usize], usize),
    slice: usize,
) {
    let mut first = Drive::new(heap, Vec::new(), lens, 3);
    first.steps(steps).expect("sound");
    let Drive { heap, live, .. } = first;
    heap.check().expect("sound");
    let image = Image::of(heap);
    let drive = |heap: &mut BlockTableHeap<'_, W>| Drive::new(heap, live.clone(), lens, 5).whole();
    let reference = drive(heap).expect("sound");
    image.restore();
    let words = heap.words();
    let (mut values, mut ranges) = (Vec::new(), Vec::new());
    for word in &words {
        ranges.push(values.len()..values.len() + word.bytes);
        values.extend_from_slice(&word.get().to_le_bytes()[..word.bytes]);
    }
    campaign(
        name,
        &values,
        &ranges,
        slice,
        &mut |changed, changes: &[Change]| {
            let mut what = String::new();
            let mut all = Vec::new();
            for change in changes {
                let at = ranges.partition_point(|range| range.start < change.at);
                let mut value = [0; 8];
                value[..change.bytes].copy_from_slice(&changed[ranges[at].clone()]);
                let (word, wrong) = (&words[at], u64::from_le_bytes(value));
                let right = word.get();
                what += &format!("{} {right:#x} -> {wrong:#x}, ", word.name);
                all.push((&*word.name, right, wrong));
                word.set(wrong);
            }
            let judged = catch_unwind(AssertUnwindSafe(|| match heap.check() {
                Err(_) => Verdict::Told,
                Ok(()) if leaves_out(&all) => Verdict::LeftOut,
                Ok(()) => match drive(heap) {
                    Ok(seen) if seen == reference => Verdict::Harmless,
                    Ok(_) => Verdict::Silent("served otherwise".into()),
                    Err(error) => Verdict::Silent(error),
                },
            }));
            image.restore();
            match judged {
                Ok(Verdict::Silent(why)) => Verdict::Silent(what + &why),
                Ok(verdict) => verdict,
                Err(_) => Verdict::Silent(what + "a panic"),
            }
        },
    );
}

#[test]
fn flips_of_a_block_table_are_told_or_harmless() {
    fn attack<W: Width<Generation = ()>>(name: &str, bound: Bound, frame: usize, lens: &[usize]) {
        let config = BlockTableConfig::with_pages::<W>(frame, bound, 1024).expect("valid");
        let mut region = JunkRegion::new(40_000, 1024, 5);
        let heap = BlockTableHeap::<W>::new(region.memory(), &config);
        let mut heap = heap.expect("large enough");
        attack_flips(name, &mut heap, (lens, 90), 101);
    }
    let lens = [3, 64, 130, 300, 500, 900, 2000];
    attack::<Wide>("block table, wide words", Bound::DEFAULT, 64, &lens);
    attack::<Wide>("block table, long rows", Bound::Pages(1), 16, &lens);
    attack::<Narrow>("block table, narrow words", Bound::DEFAULT, 32, &lens);
}
