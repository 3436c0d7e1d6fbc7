//! Tests of the checker: every field of the tables is corrupted, one at a time, and `check` must
//! object.
//!
//! Heaps of several widths, bounds and page sizes are driven into states whose tables differ. Then
//! each word of the tables is set to wrong values: zero, the greatest, the neighbours, every single
//! flipped bit, and the contents of neighbouring fields. `check` must find each, and must neither
//! panic nor run for ever.
//!
//! Some words mean nothing in some states. They are corrupted too: `check` need not object to them,
//! but must return. They are:
//!
//! - the backward link of the first page of a list, both links of full pages except the heads of
//!   windows;
//! - the record of a never-opened page, except `used`; that of a free page, except `used` and
//!   its links;
//! - the small bitmap of a page of more than 8 blocks, and the words of its record after `free` and
//!   `fresh`;
//! - the back-references of free blocks that are in no list (never used, or of a page of at most 8
//!   blocks);
//! - the word of a retired entry; a generation that becomes another one that is not the last (any
//!   is as good).
//!
//! Objects begin with bytes that name no entry. The link of a parked block would otherwise change
//! places with an object that looks like the next one: nobody can tell which of them has an owner.
//!
//! Not in the tables, and so not tested: the counters of moves, on which nothing depends, and the
//! objects.
#![allow(unsafe_code, reason = "corrupts the tables below their types")]

extern crate alloc;
extern crate std;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::alloc::Layout;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use surefit_classes::automaton;
use surefit_classes::{Bound, Fraction, Geometry, GeometrySpec, PageOrder, Spacing, Tail};
use surefit_testkit::{JunkRegion, Op, Shape, script};

use crate::class::ClassState;
use crate::config::Config;
use crate::engine::Engine;
use crate::handle::Bytes;
use crate::heap::Heap;
use crate::page::{Block, Page, PageRecord, SMALL_BLOCKS};
use crate::width::{Generation, Keyed, Medium, Narrow, Wide, Width, Word};

// ---- fields ------------------------------------------------------------------------------------

/// What `check` must detect in a field.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Duty {
    /// Every other value is an error.
    All,
    /// Nothing depends on the value now.
    None,
    /// Only replacing another value by the greatest is an error, or the reverse.
    Greatest,
    /// All values up to this one are equally good; greater ones are errors.
    AtMost(u64),
}

/// A word of the tables.
pub(crate) struct Field {
    pub(crate) name: String,
    place: NonNull<u8>,
    bytes: usize,
    duty: Duty,
}

impl Field {
    pub(crate) fn new(name: String, place: *mut u8, bytes: usize, duty: Duty) -> Self {
        let place = NonNull::new(place).expect("a place in the region");
        Self {
            name,
            place,
            bytes,
            duty,
        }
    }

    fn greatest(&self) -> u64 {
        u64::MAX >> (64 - 8 * self.bytes)
    }

    fn get(&self) -> u64 {
        let mut word = [0; 8];
        for (at, byte) in word.iter_mut().enumerate().take(self.bytes) {
            // SAFETY: the byte lies inside the field, which the heap under test keeps.
            *byte = unsafe { self.place.add(at).read() };
        }
        u64::from_le_bytes(word)
    }

    fn set(&self, value: u64) {
        for (at, byte) in value.to_le_bytes().into_iter().enumerate().take(self.bytes) {
            // SAFETY: the byte lies inside the field: a cell, or a word that is reached by raw
            // pointers only.
            unsafe { self.place.add(at).write(byte) };
        }
    }

    /// Whether the checker must distinguish the two values.
    fn differ(&self, right: u64, wrong: u64) -> bool {
        match self.duty {
            Duty::All => true,
            Duty::AtMost(limit) => wrong > limit,
            Duty::Greatest => right == self.greatest() || wrong == self.greatest(),
            Duty::None => false,
        }
    }

    fn wrong_values(&self, right: u64, others: &[u64]) -> Vec<u64> {
        let greatest = self.greatest();
        if self.duty == Duty::None {
            return Vec::from([!right & greatest, right ^ 1]);
        }
        let mut values: Vec<u64> = (0..8 * self.bytes).map(|bit| right ^ 1 << bit).collect();
        values.extend([
            0,
            1,
            2,
            greatest,
            greatest - 1,
            greatest / 2,
            0xAAAA_AAAA_AAAA_AAAA,
        ]);
        values.extend([
            right.wrapping_add(1),
            right.wrapping_sub(1),
            right.wrapping_add(2),
            !right,
        ]);
        values.extend(others);
        values.iter_mut().for_each(|value| *value &= greatest);
        values.retain(|&value| value != right);
        values.sort_unstable();
        values.dedup();
        values
    }
}

/// All fields of a heap's tables.
pub(crate) struct Fields<'h, 'm, W: Width> {
    engine: &'h Engine<'m, W>,
    fields: Vec<Field>,
}

/// Words of a class's state; four bytes follow.
const CLASS_WORDS: usize = 6;

/// Bytes of a page number or a count.
fn count_bytes<W: Width>() -> usize {
    size_of::<W::Count>()
}

impl<'h, 'm, W: Width> Fields<'h, 'm, W> {
    pub(crate) fn of(heap: &'h Heap<'m, W>) -> Vec<Field> {
        let fields = Vec::new();
        let mut fields = Self {
            engine: &heap.engine,
            fields,
        };
        fields.add_engine();
        fields.add_classes();
        // Over the system's memory nobody looks at pages that were never opened.
        let pages = match heap.engine.stock() {
            Some(_) => heap.engine.frontier.get(),
            None => heap.engine.pages.count(),
        };
        (0..pages).for_each(|number| fields.add_page(number));
        (0..heap.engine.addresses.made.get()).for_each(|entry| fields.add_entry(entry));
        fields.fields
    }

    fn add(&mut self, name: String, place: *mut u8, bytes: usize, duty: Duty) {
        self.fields.push(Field::new(name, place, bytes, duty));
    }

    fn add_engine(&mut self) {
        let engine = self.engine;
        let numbers = [
            ("frontier", engine.frontier.as_ptr()),
            ("free_page_count", engine.free_page_count.as_ptr()),
            ("made", engine.addresses.made.as_ptr()),
            ("retired", engine.addresses.retired.as_ptr()),
            ("outside", engine.addresses.outside.as_ptr()),
        ];
        for (name, place) in numbers {
            self.add(name.into(), place.cast(), 4, Duty::All);
        }
        let floor = engine.addresses.floor.as_ptr();
        self.add("floor".into(), floor.cast(), size_of::<usize>(), Duty::All);
        if let Some(limit) = &engine.limit {
            self.add("limit".into(), limit.pages.as_ptr().cast(), 4, Duty::None);
        }
        let windows = &engine.windows;
        for (slots, level) in windows.slots.iter().zip(1..) {
            let name = format!("slots of level {level}");
            self.add(name, slots.as_ptr().cast(), count_bytes::<W>(), Duty::All);
        }
        let parts = windows.parts.as_ptr();
        self.add("parts".into(), parts.cast(), count_bytes::<W>(), Duty::All);
        if let Some(slack) = engine.slack() {
            let (spare, next) = (slack.spare.as_ptr(), slack.next.as_ptr());
            self.add("spare".into(), spare.cast(), 8, Duty::All);
            let last = slack.lent.len() as u64 - 1;
            self.add("next".into(), next.cast(), 4, Duty::AtMost(last));
            for (class, lent) in slack.lent.iter().enumerate() {
                let name = format!("lent to class {class}");
                self.add(name, lent.as_ptr().cast(), 4, Duty::All);
            }
        }
        let links = [
            ("free_pages", engine.free_pages.as_ptr()),
            ("free entries", engine.addresses.free.as_ptr()),
        ];
        for (name, place) in links {
            self.add(name.into(), place.cast(), count_bytes::<W>(), Duty::All);
        }
    }

    /// Every word of a class's state means something, used or not.
    fn add_classes(&mut self) {
        let geometry = self.engine.pages.geometry;
        let classes = geometry.classes().zip(self.engine.classes.all());
        for (number, (class, state)) in classes.enumerate() {
            let first = core::ptr::from_ref(state).cast_mut().cast::<u8>();
            let counts = self.engine.counts(state, geometry.layout(class));
            let frees = automaton::frees_in_a_row(self.engine.bound_of(state), counts);
            let frees = frees.min(counts.live - state.pages());
            let credit = frees - u32::from(state.left.get());
            let c = count_bytes::<W>();
            for at in (0..CLASS_WORDS * c).step_by(c) {
                let name = format!("class {number}, byte {at}");
                let place = first.wrapping_add(at);
                self.add(name, place, c, Duty::All);
            }
            let name = format!("class {number}, credit");
            let duty = Duty::AtMost(u64::from(credit));
            self.add(name, state.credit.as_ptr().cast(), 2, duty);
            for (name, byte) in [("left", &state.left), ("cap", &state.cap)] {
                let name = format!("class {number}, {name}");
                self.add(name, byte.as_ptr(), 1, Duty::All);
            }
            for entry in self.engine.parked(state) {
                let name = format!("class {number}, link of {entry}");
                let place = self.place(self.engine.object_offset(entry));
                self.add(name, place, c, Duty::All);
            }
        }
    }

    fn add_page(&mut self, number: u32) {
        let page = self.engine.pages.page(number).expect("in range");
        let large = !self.engine.pages.is_small(page);
        let (opened, used) = (number < self.engine.frontier.get(), page.used());
        let state = self.engine.classes.get(page.record.class.get());
        let listed = opened && used > 0 && page.free_blocks() > 0;
        let first = listed && state.is_some_and(|state| state.head.get() == page.id.word());
        let free = opened && used == 0;
        let first_free = self.engine.free_pages.get() == page.id.word();
        let leads = self.engine.windows.begins_at(number);
        let held = opened && used > 0;
        let held_small = held && !large;
        let duty = |matters: bool| if matters { Duty::All } else { Duty::None };
        let (w, c) = (W::WORD_BYTES, count_bytes::<W>());
        let referred: [bool; SMALL_BLOCKS] =
            core::array::from_fn(|block| held_small && self.is_used(page, block as u32));
        let mut add = |what: &str, at: usize, bytes: usize, matters: bool| {
            let record = core::ptr::from_ref::<PageRecord<W>>(page.record)
                .cast_mut()
                .cast::<u8>();
            let place = record.wrapping_add(at);
            self.add(
                format!("page {number}, {what}"),
                place,
                bytes,
                duty(matters),
            );
        };
        add("prev", 0, c, listed && !first || free && !first_free);
        add("next", c, c, listed || free || leads);
        add("used", 2 * c, 2, true);
        add("small", 2 * c + 2, 1, held_small);
        add("class", 2 * c + 3, 1, held);
        for (word, used) in referred.into_iter().enumerate() {
            // The first two are `free` and `fresh` of a larger page.
            let matters = used || word < 2 && held && large;
            add(&format!("word {word}"), 2 * c + 4 + word * w, w, matters);
        }
        if held && large {
            self.add_tail(page);
        }
    }

    fn is_used(&self, page: Page<'m, W>, number: u32) -> bool {
        number < page.blocks() && self.engine.pages.is_used(Block { page, number })
    }

    /// Bitmap and back-references in the tail of a larger page.
    fn add_tail(&mut self, page: Page<'m, W>) {
        let start = page.id.index() * self.engine.pages.geometry.page_bytes();
        let name = |what, number| format!("page {}, {what} {number}", page.id.index());
        for leaf in 0..usize::from(page.layout.leaves) {
            let place = self.place(start + page.layout.leaf_offset() as usize + 8 * leaf);
            self.add(name("leaf", leaf), place, 8, Duty::All);
        }
        for block in 0..page.blocks() {
            let linked = block < self.engine.pages.fresh(page);
            let duty = if linked || self.is_used(page, block) {
                Duty::All
            } else {
                Duty::None
            };
            let at = start + page.layout.back_offset() as usize + W::WORD_BYTES * block as usize;
            self.add(
                name("back-reference", block as usize),
                self.place(at),
                W::WORD_BYTES,
                duty,
            );
        }
    }

    fn add_entry(&mut self, entry: u32) {
        let at = self.engine.addresses.top() - (entry as usize + 1) * W::ENTRY_BYTES;
        let generation = at + W::ENTRY_BYTES - W::Generation::BYTES;
        let memory = &self.engine.pages.memory;
        let retired = W::Generation::BYTES > 0
            && self.engine.addresses.generation(memory, entry).get() == W::Generation::RETIRED;
        let duty = if retired { Duty::None } else { Duty::All };
        self.add(
            format!("entry {entry}"),
            self.place(at),
            W::WORD_BYTES,
            duty,
        );
        if W::Generation::BYTES > 0 {
            let place = self.place(generation);
            let name = format!("generation {entry}");
            self.add(name, place, W::Generation::BYTES, Duty::Greatest);
        }
    }

    fn place(&self, offset: usize) -> *mut u8 {
        // SAFETY: the offset lies inside the region.
        unsafe { self.engine.pages.memory.address(offset) }.as_ptr()
    }
}

// ---- heaps -------------------------------------------------------------------------------------

/// The checker's results for the mutants.
#[derive(Default)]
struct Score {
    mutants: usize,
    detected: usize,
    meaningless: usize,
    missed: Vec<String>,
}

impl Score {
    /// Corrupts every field of a heap.
    fn attack<W: Width>(&mut self, state: &str, heap: &Heap<'_, W>) {
        heap.check().unwrap_or_else(|e| panic!("{state}: {e}"));
        let engine = &heap.engine;
        let others = [
            engine.frontier.get(),
            engine.addresses.made.get(),
            engine.pages.count(),
        ];
        let others = others.map(u64::from);
        for field in Fields::of(heap) {
            let right = field.get();
            for wrong in field.wrong_values(right, &others) {
                field.set(wrong);
                let found = heap.check().is_err();
                if !field.differ(right, wrong) {
                    self.meaningless += 1;
                } else {
                    self.mutants += 1;
                    self.detected += usize::from(found);
                    if !found {
                        self.missed
                            .push(format!("{state}: {} {right} -> {wrong}", field.name));
                    }
                }
            }
            field.set(right);
        }
        heap.check()
            .unwrap_or_else(|e| panic!("{state}, mended: {e}"));
    }

    fn report(self, name: &str) {
        for missed in self.missed.iter().take(20) {
            std::println!("missed: {missed}");
        }
        std::println!(
            "{name}: check() objects to {} of {} corruptions; {} more changed nothing that is read",
            self.detected,
            self.mutants,
            self.meaningless
        );
        assert!(self.mutants > 0);
        assert_eq!(self.detected, self.mutants, "{name}");
    }
}

/// Six classes: of one, four, eight, nine or more and over 64 blocks a page.
fn geometry(word_bytes: usize) -> Geometry {
    let spec = GeometrySpec {
        page_bytes: 2048,
        granule: 8,
        smallest: 16,
        spacing: Spacing::Explicit(&[16, 40, 152, 256, 512, 2048]),
        tail: Tail::BackReferences { bytes: word_bytes },
    };
    Geometry::new(&spec).expect("valid")
}

pub(crate) fn bounds() -> [(Bound, PageOrder); 5] {
    let fraction = Fraction::new(1, 4).expect("at most one half");
    [
        (Bound::Pages(1), PageOrder::Newest),
        (Bound::Pages(3), PageOrder::Original),
        (Bound::Holes { base: 2, fraction }, PageOrder::Newest),
        (Bound::DEFAULT, PageOrder::Newest),
        (Bound::Unbounded, PageOrder::Newest),
    ]
}

/// Attacks heaps of one width after the given numbers of operations of a script.
fn attack<W: Width>(score: &mut Score, steps: &[usize], region_bytes: usize) {
    for (bound, order) in bounds() {
        let config = Config::new(geometry(W::WORD_BYTES), bound).expect("valid");
        let config = config.with_order(order).expect("valid");
        let mut region = JunkRegion::new(region_bytes, 2048, 5);
        let mut heap = Heap::<W>::new(region.memory(), &config).expect("large enough");
        let mut live = Vec::new();
        let ops = script(
            Shape::Sawtooth,
            3,
            steps.iter().max().map_or(0, |&most| most),
            700,
        );
        for (number, &op) in ops.iter().enumerate() {
            if steps.contains(&number) {
                score.attack(&format!("{bound:?} after {number}"), &heap);
            }
            run(&mut heap, &mut live, op);
        }
        score.attack(&format!("{bound:?} at the end"), &heap);
        live.drain(..).for_each(|object| heap.free_bytes(object));
        score.attack(&format!("{bound:?} emptied"), &heap);
    }
}

fn run<W: Width>(heap: &mut Heap<'_, W>, live: &mut Vec<Bytes<MaybeUninit<u8>>>, op: Op) {
    match op {
        Op::Alloc { size, align } => {
            let layout = Layout::from_size_align(size, align.min(64)).expect("valid");
            if let Ok(mut object) = heap.alloc(layout) {
                let filling = Vec::from([MaybeUninit::new(0xA5); 8]);
                heap.write_at(&mut object, 0, &filling[..size.min(8)]);
                live.push(object);
            }
        }
        Op::Free(nth) if !live.is_empty() => {
            heap.free_bytes(live.swap_remove(nth % live.len()));
        }
        _ => {}
    }
}

#[test]
fn every_corruption_of_a_wide_heap_is_found() {
    let mut score = Score::default();
    attack::<Wide>(&mut score, &[0, 1, 25, 260], 60_000);
    score.report("wide");
}

#[test]
fn every_corruption_of_a_medium_heap_is_found() {
    let mut score = Score::default();
    attack::<Medium>(&mut score, &[0, 1, 25, 260], 60_000);
    attack::<Keyed<Medium, u16>>(&mut score, &[260], 60_000);
    score.report("medium");
}

#[test]
fn every_corruption_of_a_narrow_heap_is_found() {
    let mut score = Score::default();
    attack::<Narrow>(&mut score, &[0, 1, 25, 260], 60_000);
    score.report("narrow");
}

#[test]
fn every_corruption_of_a_keyed_heap_is_found() {
    let mut score = Score::default();
    attack::<Keyed<Wide, u8>>(&mut score, &[260], 60_000);
    attack::<Keyed<Narrow, u16>>(&mut score, &[260], 60_000);
    score.report("keyed");
}

/// A heap with windows of two sizes, page-blocks between them and free pages.
fn attack_windows<W: Width>(score: &mut Score) {
    for (bound, order) in bounds() {
        let config = Config::new(geometry(W::WORD_BYTES), bound).expect("valid");
        let config = config.with_order(order).expect("valid");
        let mut region = JunkRegion::new(60_000, 2048, 5);
        let mut heap = Heap::<W>::new(region.memory(), &config).expect("large enough");
        let layout = |bytes| Layout::from_size_align(bytes, 8).expect("valid");
        let mut object = |bytes| heap.alloc_contiguous(layout(bytes)).expect("room");
        let _kept = [700, 40, 40, 6000, 2000, 13_000, 4000, 256].map(&mut object);
        let freed = [1500, 4000, 2000].map(&mut object);
        freed.into_iter().for_each(|it| heap.free_contiguous(it));
        score.attack(&format!("{bound:?} with windows"), &heap);
    }
}

#[test]
fn every_corruption_of_windows_is_found() {
    let mut score = Score::default();
    attack_windows::<Wide>(&mut score);
    attack_windows::<Narrow>(&mut score);
    attack_windows::<Keyed<Wide, u8>>(&mut score);
    score.report("windows");
}

/// A keyed heap some of whose entries are retired.
#[test]
fn every_corruption_of_retired_entries_is_found() {
    let config = Config::new(geometry(2), Bound::DEFAULT).expect("valid");
    let mut region = JunkRegion::new(10_000, 2048, 5);
    let mut heap = Heap::<Keyed<Narrow, u8>>::new(region.memory(), &config).expect("large enough");
    let kept: Vec<_> = (0..3)
        .map(|n| heap.insert([n; 20]).expect("room"))
        .collect();
    for n in 0..600_u32 {
        let (a, b) = (heap.insert(n).expect("room"), heap.insert(n).expect("room"));
        heap.free(a);
        heap.free(b);
    }
    assert!(heap.stats().retired_keys > 1);
    let mut score = Score::default();
    score.attack("retired", &heap);
    score.report("retired");
    drop(kept);
}

/// The floor of the address table only ever moves down. A floor that moved without need is found.
#[test]
fn a_floor_that_sank_without_need_is_found() {
    for bytes in [8, 16, 1024, 2048, 4096, 20_480] {
        let config = Config::new(geometry(4), Bound::DEFAULT).expect("valid");
        let mut region = JunkRegion::new(60_000, 2048, 5);
        let heap = Heap::<Wide>::new(region.memory(), &config).expect("large enough");
        let object = heap.insert([7_u8; 100]).expect("room");
        heap.check().expect("sound");
        let table = &heap.engine.addresses;
        table.extend_to(table.floor() - bytes);
        assert!(heap.check().is_err(), "{bytes} bytes too low");
        drop(object);
    }
}

/// The computed places in `Fields` are those of the fields.
#[test]
fn the_record_is_laid_out_as_the_tests_think() {
    fn places<W: Width>() {
        let (w, c) = (W::WORD_BYTES, count_bytes::<W>());
        assert_eq!(core::mem::offset_of!(PageRecord<W>, prev), 0);
        assert_eq!(core::mem::offset_of!(PageRecord<W>, next), c);
        assert_eq!(core::mem::offset_of!(PageRecord<W>, used), 2 * c);
        assert_eq!(core::mem::offset_of!(PageRecord<W>, small), 2 * c + 2);
        assert_eq!(core::mem::offset_of!(PageRecord<W>, class), 2 * c + 3);
        assert_eq!(size_of::<PageRecord<W>>(), 2 * c + 4 + SMALL_BLOCKS * w);
        assert_eq!(
            core::mem::offset_of!(ClassState<W>, credit),
            CLASS_WORDS * c
        );
        assert_eq!(size_of::<ClassState<W>>(), CLASS_WORDS * c + 4);
        assert_eq!(size_of::<W::Word>(), w);
        assert!(W::Word::NIL.get() > 0);
    }
    places::<Wide>();
    places::<Medium>();
    places::<Narrow>();
}

pub(crate) mod flips;
