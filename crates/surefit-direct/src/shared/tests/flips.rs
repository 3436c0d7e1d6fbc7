//! Every word of instances, records, the pool and the links in what is free is changed: `check`
//! tells it, or a drive finds it harmless.

use core::alloc::Layout;
use core::cell::Cell;
use core::mem::ManuallyDrop;
use core::ops::Range;
use std::format;

use surefit_core::{Corruption, RawHeap, Refused, Usage};
use surefit_testkit::flips::{Change, Object, Verdict, campaign, drive};

use super::super::instance::{Instance, State};
use super::super::memory::{Record, SLOT_BYTES, Span};
use super::super::sizes::Class;
use super::*;

/// Bytes of the small objects: 73 of them fill a page of one unit.
const BYTES: usize = 100;

/// Two threads of one heap. Both free what either allocated.
struct Two<'h> {
    heap: &'h Heap<'h, Fixed>,
    locals: [ManuallyDrop<Local<'h, RawMutex>>; 2],
    numbers: [u16; 2],
    turn: Cell<usize>,
}

impl<'h> Two<'h> {
    fn new(heap: &'h Heap<'h, Fixed>) -> Self {
        let locals = [(); 2].map(|()| ManuallyDrop::new(heap.join().unwrap()));
        let numbers = [0, 1].map(|which: usize| locals[which].number());
        let turn = Cell::new(0);
        Self {
            heap,
            locals,
            numbers,
            turn,
        }
    }

    fn next(&self) -> &Local<'h, RawMutex> {
        self.turn.set(self.turn.get() + 1);
        &self.locals[usize::from(self.turn.get() % 5 == 0)]
    }

    fn instances(&self) -> [&Instance; 2] {
        self.numbers
            .map(|number| self.heap.common().instance(number))
    }

    /// The bytes from the first instance to the end, all of which is committed.
    fn bytes(&self) -> (*mut u8, usize) {
        let memory = self.heap.common().memory();
        let end = memory.address(memory.span(memory.units()));
        let from = core::ptr::from_ref(self.heap.common().instance(1)).addr();
        let base = memory.address(Span::NONE).as_ptr();
        (base.with_addr(from), end.addr().get() - from)
    }

    /// All of the heap that changes.
    fn snapshot(&self) -> Vec<u8> {
        let (start, bytes) = self.bytes();
        let mut all: Vec<u8> = (0..bytes)
            // SAFETY: bytes of the region, which the heap or the test has written.
            .map(|at| unsafe { start.add(at).read() })
            .collect();
        let committed = u64::from(self.heap.common().memory().committed());
        for word in self.heap.common().pool.lock().words().chain([committed]) {
            all.extend_from_slice(&word.to_le_bytes());
        }
        all
    }

    fn put(&self, all: &[u8]) {
        let (start, bytes) = self.bytes();
        let (region, pool) = all.split_at(bytes);
        // SAFETY: as above; nobody uses the heap meanwhile.
        unsafe { start.copy_from_nonoverlapping(region.as_ptr(), bytes) };
        let words = pool.chunks(8);
        let mut words = words.map(|word| u64::from_le_bytes(word.try_into().unwrap()));
        self.heap.common().pool.lock().set_words(&mut words);
        let committed = words.next().unwrap() as u32;
        self.heap.common().memory().set_committed(committed);
    }

    /// The words as ranges of the snapshot.
    fn words(&self, all: &[u8]) -> Vec<Range<usize>> {
        let (start, bytes) = self.bytes();
        let memory = self.heap.common().memory();
        let mut words = Vec::new();
        let mut add = |at: usize, bytes: usize, each: usize| {
            let at = at - start.addr();
            words.extend((at..at + bytes).step_by(each).map(|at| at..at + each));
        };
        for instance in self.instances() {
            add(
                core::ptr::from_ref(instance).addr(),
                size_of::<Instance>(),
                4,
            );
        }
        for unit in 0..memory.units() {
            let record = memory.record(memory.span(unit));
            add(core::ptr::from_ref(record).addr(), size_of::<Record>(), 4);
            let slot = memory.slot_place(memory.span(unit)).addr().get();
            add(slot, SLOT_BYTES, 4);
        }
        for block in self.free_blocks() {
            add(block.addr(), size_of::<usize>(), size_of::<usize>());
        }
        for block in self.fetched_blocks() {
            let ahead = block.addr() + size_of::<usize>();
            add(ahead, size_of::<usize>(), size_of::<usize>());
        }
        words.extend((bytes..all.len()).step_by(8).map(|at| at..at + 8));
        words
    }

    /// All page-blocks in chains.
    /// What arrived, which leads ahead.
    fn fetched_blocks(&self) -> Vec<*mut u8> {
        let firsts = self
            .instances()
            .into_iter()
            .flat_map(|own| [own.arrived().first(), own.inbox().first()]);
        self.chained(firsts.map(|first| first.cast()).collect())
    }

    fn free_blocks(&self) -> Vec<*mut u8> {
        let memory = self.heap.common().memory();
        let mut firsts: Vec<*mut u8> = Vec::new();
        for own in self.instances() {
            firsts.extend(Class::all().map(|class| own.free_list(class).first().cast::<u8>()));
            firsts.push(own.arrived().first().cast());
            firsts.push(own.inbox().first().cast());
            firsts.extend(own.batches().map(|batch| batch.first().cast::<u8>()));
        }
        let records = (0..memory.units()).map(|unit| memory.record(memory.span(unit)));
        firsts.extend(
            records
                .filter(|record| record.class().is_some())
                .map(|record| record.free.first().cast::<u8>()),
        );
        self.chained(firsts)
    }

    fn chained(&self, firsts: Vec<*mut u8>) -> Vec<*mut u8> {
        let memory = self.heap.common().memory();
        let mut blocks = Vec::new();
        for mut block in firsts {
            while !block.is_null() {
                blocks.push(block);
                block = memory.link(block).unwrap();
            }
        }
        blocks
    }

    /// Units in use after all have delivered and given back all that they need not.
    fn used(&self) -> u64 {
        for _ in 0..8 {
            self.locals.iter().for_each(|local| local.trim());
            // A full page may say that it is a group's.
            (0..GROUPS).for_each(|group| self.heap.grouped(group, |local| local.trim()));
        }
        self.heap.common().pool.lock().counts().used
    }
}

// SAFETY: each call is one of a local heap's.
unsafe impl RawHeap for Two<'_> {
    fn allocate(&mut self, layout: Layout) -> Result<NonNull<u8>, Refused> {
        let object = self.next().allocate(layout.size(), layout.align());
        object.ok_or(Refused::NoPage)
    }

    unsafe fn free(&mut self, object: NonNull<u8>, _: Layout) {
        free(self.next(), object).unwrap();
    }

    unsafe fn resize(
        &mut self,
        object: NonNull<u8>,
        layout: Layout,
        bytes: usize,
    ) -> Result<NonNull<u8>, Refused> {
        // SAFETY: the caller's.
        let resized = unsafe { self.next().resize(object, bytes, layout.align()) };
        resized.unwrap().ok_or(Refused::NoPage)
    }

    fn usage(&self) -> Usage {
        Usage::default()
    }

    fn check(&self) -> Result<(), Corruption> {
        check::check(self.heap.common())
    }
}

/// Pages that are full, not full, current; of several units; large objects, and a free run;
/// batches, an inbox, what arrived.
fn fill(two: &mut Two<'_>) -> Vec<Object> {
    let mut key = 0_u8;
    let mut take = |two: &mut Two<'_>, bytes: usize| {
        key = key.wrapping_add(37);
        two.turn.set(0);
        Object::new(two, Layout::from_size_align(bytes, 8).unwrap(), key).unwrap()
    };
    let give = |two: &mut Two<'_>, object: Object, by: usize| {
        free(&two.locals[by], object.pointer).unwrap();
    };
    let mut objects: Vec<_> = (0..290).map(|_| take(two, BYTES)).collect();
    objects.extend((0..9).map(|_| take(two, 3000)));
    objects.extend((0..3).map(|_| take(two, 20_000)));
    let large = [33_000, 50_000, 33_000, 42_000, 33_000].map(|bytes| take(two, bytes));
    for (place, object) in large.into_iter().enumerate() {
        if place % 2 == 1 {
            give(two, object, 0);
        } else {
            objects.push(object);
        }
    }
    // The second thread frees some: more than the first one frees at once.
    for place in (0..220).rev().filter(|place| place % 3 > 0) {
        give(two, objects.remove(place), 1);
    }
    two.locals[1].trim();
    while two.instances()[0].arrived().is_empty() {
        objects.push(take(two, BYTES));
    }
    for place in [60, 50, 40, 30, 20] {
        give(two, objects.remove(place), 1);
    }
    two.locals[1].trim();
    // Its next ones stay in a batch; of pages of 3000 bytes the first one frees some.
    for (place, by) in [(61, 1), (51, 1), (41, 1), (31, 0), (21, 0)] {
        give(two, objects.remove(place), by);
    }
    let medium = objects
        .iter()
        .position(|object| object.layout.size() == 3000)
        .unwrap();
    for place in [medium + 7, medium + 2, medium + 1] {
        give(two, objects.remove(place), 0);
    }
    two.turn.set(4);
    objects.extend(Object::new(
        two,
        Layout::from_size_align(BYTES, 8).unwrap(),
        3,
    ));
    two.check().unwrap();
    objects
}

#[test]
fn each_change_of_a_word_is_told_or_harmless() {
    let mut memory = region(520 << 10);
    let heap: Heap<'_, Fixed> = SharedDirect::new(
        &mut memory,
        Settings {
            threads: 2,
            ..SETTINGS
        },
    )
    .unwrap();
    let mut two = Two::new(&heap);
    let objects = fill(&mut two);
    let whole = two.snapshot();
    let words = two.words(&whole);
    let (start, bytes) = two.bytes();
    let region = start.addr()..start.addr() + bytes;
    let blocks = two.free_blocks().len();
    let mut judge = |changed: &[u8], _: &[Change]| {
        two.put(changed);
        if two.check().is_err() {
            return Verdict::Told;
        }
        // States that calls lead to: a thread has left, or was lost in a fork.
        if two
            .instances()
            .iter()
            .any(|own| own.state() != State::Owned)
        {
            return Verdict::LeftOut;
        }
        let fewer = two.free_blocks().len() < blocks;
        for seed in 0..2 {
            two.put(changed);
            if let Err(why) = drive(&mut two, &region, &objects, 50_000, seed) {
                return Verdict::Silent(why);
            }
            match (two.used(), two.check()) {
                (0, Ok(())) => {}
                // What is neither in a free list nor on its way any more looks like a live object.
                (_, Ok(())) if fewer => return Verdict::LeftOut,
                (used, told) => return Verdict::Silent(format!("{used} units are lost, {told:?}")),
            }
        }
        Verdict::Harmless
    };
    assert_eq!(judge(&whole, &[]), Verdict::Harmless);
    campaign("SharedDirect", &whole, &words, 499, &mut judge);
}
