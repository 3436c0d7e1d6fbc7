//! Heaps with a limit: random programs while the limit is raised and lowered, certified demands
//! within it, and numbers of any size.

use core::alloc::Layout;
use core::mem::MaybeUninit;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefit_compact::certify::{Budget, ClassSet, Demand, certify};
use surefit_compact::layout::table_bytes;
use surefit_compact::{
    Bound, Bytes, Config, Contiguous, EntryHeap, Geometry, GeometrySpec, Heap, KeyHeap, Wide,
};
use surefit_core::Refused;

const PAGE: usize = 1024;
const JUNK: u8 = 0xa5;

fn junk(bytes: usize) -> Vec<MaybeUninit<u8>> {
    vec![MaybeUninit::new(JUNK); bytes]
}

fn config(bound: Bound) -> Config {
    let spec = GeometrySpec {
        page_bytes: PAGE,
        ..GeometrySpec::DEFAULT
    };
    Config::new(Geometry::new(&spec).expect("valid"), bound).expect("valid")
}

fn layout(bytes: usize) -> Layout {
    Layout::array::<u8>(bytes).expect("valid")
}

/// A heap with a limit, and what a program knows about it.
struct Program<'m> {
    config: &'m Config,
    heap: Heap<'m>,
    random: ChaCha8Rng,
    objects: Vec<(u8, Bytes<u8>)>,
    windows: Vec<(u8, Contiguous<u8>)>,
    /// The pages that the limit allows.
    pages: usize,
    served: u32,
    refused: u32,
}

impl<'m> Program<'m> {
    fn new(memory: &'m mut [MaybeUninit<u8>], config: &'m Config, seed: u64) -> Self {
        let heap = Heap::with_limit(memory, config, 8 * PAGE + PAGE - 1, 4000).expect("room");
        let mut program = Self {
            config,
            heap,
            random: ChaCha8Rng::seed_from_u64(seed),
            objects: Vec::new(),
            windows: Vec::new(),
            pages: 0,
            served: 0,
            refused: 0,
        };
        let stats = program.heap.stats();
        program.pages = stats.fresh_pages as usize;
        assert!(program.pages == 8 || program.pages == 7, "{stats:?}");
        program
    }

    /// Allocates an object of one page-block. It is refused if, and only if, its size-class has no
    /// free page-block and no page below the limit is free.
    fn allocate(&mut self) {
        let bytes = self.random.random_range(1..=250);
        let value = self.random.random();
        let class = self.config.geometry().class_for(bytes, 1);
        let class = class.expect("at most a page");
        match self.heap.alloc_zeroed(layout(bytes)) {
            Ok(mut object) => {
                self.heap.chunk_mut(&mut object, 0).fill(value);
                self.objects.push((value, object));
                self.served += 1;
            }
            Err(refused) => {
                assert_eq!(refused, Refused::NoPage);
                let stats = self.heap.stats();
                assert_eq!((stats.freed_pages, stats.fresh_pages), (0, 0));
                assert_eq!(self.heap.details().class_counts(class).holes, 0);
                self.refused += 1;
            }
        }
    }

    fn allocate_window(&mut self) {
        let bytes = self.random.random_range(PAGE + 1..=4 * PAGE);
        let value = self.random.random();
        if let Ok(mut window) = self.heap.alloc_contiguous_zeroed(layout(bytes)) {
            self.heap.contiguous_mut(&mut window).fill(value);
            self.windows.push((value, window));
        }
    }

    fn free(&mut self) {
        if !self.objects.is_empty() {
            let index = self.random.random_range(0..self.objects.len());
            self.heap.free_bytes(self.objects.swap_remove(index).1);
        }
        if !self.windows.is_empty() && self.random.random_bool(0.5) {
            let index = self.random.random_range(0..self.windows.len());
            self.heap.free_contiguous(self.windows.swap_remove(index).1);
        }
    }

    fn add(&mut self) {
        let bytes = self.random.random_range(0..4 * PAGE);
        let room = self.heap.details().untouched().len();
        let added = self.heap.raise_limit(bytes);
        assert_eq!(added, (bytes / PAGE * PAGE).min(room));
        self.pages += added / PAGE;
    }

    /// Only pages in use stay, and contiguous objects with what lies before them.
    fn take_back(&mut self) {
        let bytes = self.random.random_range(0..8 * PAGE);
        let taken = self.heap.lower_limit(bytes);
        self.pages -= taken / PAGE;
        let stats = self.heap.stats();
        let all = taken == bytes.div_ceil(PAGE) * PAGE;
        let none_left = (stats.freed_pages, stats.fresh_pages) == (0, 0);
        assert!(all || none_left || !self.windows.is_empty(), "{stats:?}");
    }

    /// The heap is sound, its pages are those that the limit allows, and all contents are there.
    fn verify(&self) {
        self.heap.check().expect("sound");
        let stats = self.heap.stats();
        let counted = stats.pages + stats.freed_pages + stats.fresh_pages;
        assert_eq!(counted as usize, self.pages);
        for (value, object) in &self.objects {
            let chunk = self.heap.chunk(object, 0);
            assert!(chunk.iter().all(|byte| byte == value));
        }
        for (value, window) in &self.windows {
            let bytes = self.heap.contiguous(window);
            assert!(bytes.iter().all(|byte| byte == value));
        }
    }
}

/// Runs random programs in a region at every misalignment; returns what was served and refused.
fn run(bound: Bound, with_windows: bool) -> (u32, u32) {
    let config = config(bound);
    let (mut served, mut refused) = (0, 0);
    for seed in 0..20 {
        let mut memory = junk(64 * PAGE);
        let skipped = 37 * usize::try_from(seed).expect("small");
        let mut program = Program::new(&mut memory[skipped..], &config, seed);
        let mut most = program.heap.details().untouched().start;
        for _ in 0..600 {
            match program.random.random_range(0..100) {
                0..50 => program.allocate(),
                50..55 if with_windows => program.allocate_window(),
                50..92 => program.free(),
                92..96 => program.add(),
                _ => program.take_back(),
            }
            program.verify();
            most = most.max(program.heap.details().untouched().start);
        }
        (served, refused) = (served + program.served, refused + program.refused);
        let end = program.heap.details().untouched().end;
        // SAFETY: the bytes were written by `junk`.
        let is_junk = |byte: &MaybeUninit<u8>| unsafe { byte.assume_init() } == JUNK;
        let never = &memory[skipped..][most..end];
        assert!(never.iter().all(is_junk), "seed {seed}");
    }
    (served, refused)
}

#[test]
fn random_programs_are_refused_exactly_when_the_limit_forbids() {
    for bound in [Bound::DEFAULT, Bound::Pages(1), Bound::Unbounded] {
        let (served, refused) = run(bound, false);
        assert!(served > 1000 && refused > 100, "{served}, {refused}");
    }
}

#[test]
fn contiguous_objects_keep_their_bytes_while_the_limit_changes() {
    let (served, refused) = run(Bound::DEFAULT, true);
    assert!(served > 1000 && refused > 100, "{served}, {refused}");
}

#[test]
fn a_limit_of_the_certificate_is_enough_for_its_demand() {
    let config = config(Bound::DEFAULT);
    let geometry = config.geometry();
    let classes = ClassSet::of_requests(geometry, 400);
    let (objects, block_bytes) = (300, 20_000);
    let demand = Demand::Joint(Budget {
        objects,
        block_bytes,
        classes,
    });
    let certificate = certify::<Wide>(&config, &demand).expect("a heap");
    let (bytes, entries) = (
        certificate.parts.data_page_bytes,
        usize::try_from(certificate.entries).expect("few"),
    );
    let mut memory = junk(4 * certificate.heap_bytes);
    let region = aligned(&mut memory);
    let mut heap: Heap = Heap::with_limit(region, &config, bytes, entries).expect("room");
    assert_eq!(heap.stats().fresh_pages as usize, bytes / PAGE);
    let all = || geometry.classes().filter(|class| classes.contains(*class));
    for class in all().chain(all()) {
        let block = geometry.layout(class).block_bytes;
        let count = (block_bytes / u64::from(block)).min(objects);
        let alloc = |_| {
            heap.alloc(layout(block as usize))
                .expect("within the demand")
        };
        let objects: Vec<_> = (0..count).map(alloc).collect();
        heap.check().expect("sound");
        objects
            .into_iter()
            .for_each(|object| heap.free_bytes(object));
    }
    assert_eq!(heap.lower_limit(usize::MAX), bytes);
    assert_eq!(heap.alloc(layout(1)).err(), Some(Refused::NoPage));
}

/// The part of a region that begins at a page, from where `with_limit` counts its bytes.
fn aligned(memory: &mut [MaybeUninit<u8>]) -> &mut [MaybeUninit<u8>] {
    let skipped = memory.as_ptr().align_offset(PAGE);
    &mut memory[skipped..]
}

#[test]
fn entries_beyond_the_room_of_the_table_are_refused() {
    let config = config(Bound::DEFAULT);
    let mut memory = junk(256 * PAGE);
    let heap = Heap::with_limit(&mut memory, &config, 200 * PAGE, 500).expect("room");
    let mut heap: EntryHeap = EntryHeap::from(heap);
    let mut objects = Vec::new();
    let refused = loop {
        match heap.alloc(layout(8)) {
            Ok(object) => objects.push(object),
            Err(refused) => break refused,
        }
    };
    assert_eq!(refused, Refused::NoHandle);
    // The room is whole pages of entries of four bytes, and the rest of the page before the tables.
    assert!(
        (500..500 + PAGE / 2).contains(&objects.len()),
        "{}",
        objects.len()
    );
    assert!(heap.stats().fresh_pages > 100);
    assert!(!heap.would_fit(&[8]));
    assert!(heap.make_room(&[8]).is_err());
    heap.free_bytes(objects.pop().expect("one"));
    assert!(heap.alloc(layout(8)).is_ok());
    heap.check().expect("sound");
}

const ANY_NUMBERS: [usize; 9] = [
    0,
    1,
    7,
    PAGE - 1,
    PAGE,
    5000,
    60 * PAGE,
    usize::MAX / 2,
    usize::MAX,
];

#[test]
fn a_limit_of_any_numbers_is_a_heap_or_a_typed_refusal() {
    let config = config(Bound::DEFAULT);
    for bytes in ANY_NUMBERS {
        for objects in ANY_NUMBERS {
            let mut memory = junk(64 * PAGE);
            match Heap::<Wide>::with_limit(&mut memory, &config, bytes, objects) {
                Ok(mut heap) => {
                    heap.check().expect("sound");
                    for more in ANY_NUMBERS {
                        heap.raise_limit(more);
                        heap.check().expect("sound");
                        let untouched = heap.details().untouched();
                        let taken = heap.lower_limit(more);
                        assert_eq!(heap.details().untouched().start, untouched.start - taken);
                        heap.check().expect("sound");
                    }
                    assert_eq!(
                        heap.raise_limit(usize::MAX),
                        heap.details().untouched().start - start_of(&heap)
                    );
                }
                Err(refused) => {
                    assert!(objects > 5000, "{objects}");
                    assert!(matches!(refused, Refused::Region { .. }), "{refused}");
                }
            }
        }
    }
    assert_eq!(table_bytes::<Wide>(&config, 0, 0), None);
    assert_eq!(table_bytes::<Wide>(&config, usize::MAX, usize::MAX), None);
}

/// The offset of the first page, with all pages below the limit fresh.
fn start_of(heap: &Heap<'_>) -> usize {
    heap.details().untouched().start - heap.stats().fresh_pages as usize * PAGE
}

#[test]
fn a_heap_without_a_limit_has_nothing_to_add_or_to_take_back() {
    let config = config(Bound::DEFAULT);
    let mut memory = junk(64 * PAGE);
    let mut heap: Heap = Heap::new(&mut memory, &config).expect("room");
    assert_eq!((heap.raise_limit(PAGE), heap.lower_limit(PAGE)), (0, 0));
    assert_eq!(
        (heap.details().limit_bytes(), heap.details().untouched()),
        (None, 0..0)
    );
    let object = heap.alloc(layout(1)).expect("room");
    heap.free_bytes(object);
    heap.check().expect("sound");
}

#[test]
fn a_limit_of_any_numbers_is_a_heap_of_keys_or_a_typed_refusal() {
    let config = config(Bound::DEFAULT);
    for bytes in ANY_NUMBERS {
        for objects in ANY_NUMBERS {
            let mut memory = junk(64 * PAGE);
            let tables = KeyHeap::<Wide>::table_bytes(&config, 64 * PAGE, objects);
            let heap = KeyHeap::<Wide>::with_limit(&mut memory, &config, bytes, objects);
            let mut heap = match heap {
                Ok(heap) => heap,
                Err(refused) => {
                    assert!(matches!(refused, Refused::Region { .. }), "{refused}");
                    continue;
                }
            };
            assert!(tables.is_some());
            for more in ANY_NUMBERS {
                let before = heap.limit_bytes().expect("it has one");
                let added = heap.raise_limit(more);
                assert!(added <= more);
                assert_eq!(heap.limit_bytes(), Some(before + added));
                let key = heap.insert(0_u8);
                assert!(heap.lower_limit(more) <= before + added);
                heap.check().expect("sound");
                assert!(key.is_err() || heap.remove(key.expect("served")) == Ok(0));
                assert!(heap.untouched().end <= 64 * PAGE);
            }
        }
    }
    let mut memory = junk(64 * PAGE);
    let mut whole: KeyHeap = KeyHeap::new(&mut memory, &config).expect("room");
    assert_eq!((whole.raise_limit(PAGE), whole.lower_limit(PAGE)), (0, 0));
    assert_eq!((whole.limit_bytes(), whole.untouched()), (None, 0..0));
}

/// Keys keep naming their objects while the limit moves these, and entries have their own table.
#[test]
fn a_heap_of_keys_keeps_to_its_limit() {
    let config = config(Bound::Unbounded);
    let mut memory = junk(64 * PAGE);
    let tables = KeyHeap::<Wide>::table_bytes(&config, 64 * PAGE, 500).expect("room");
    assert!(tables > table_bytes::<Wide>(&config, 64 * PAGE, 500).expect("room"));
    let mut heap: KeyHeap = KeyHeap::with_limit(&mut memory, &config, 8 * PAGE, 500).expect("room");
    let limit = heap.limit_bytes().expect("it has one");
    let mut keys = Vec::new();
    while let Ok(key) = heap.insert([keys.len(); 8]) {
        keys.push(key);
    }
    assert_eq!(heap.stats().pages as usize * PAGE, limit);
    let removed: Vec<_> = keys.iter().copied().step_by(2).collect();
    for key in &removed {
        heap.remove(*key).expect("live");
    }
    assert_eq!(heap.lower_limit(usize::MAX), 0, "each page has objects");
    assert!(heap.compact(u64::MAX) > 0);
    let taken = heap.lower_limit(usize::MAX);
    assert!(taken >= limit / 2 - PAGE, "{taken} of {limit}");
    assert_eq!(heap.limit_bytes(), Some(limit - taken));
    heap.check().expect("sound");
    for (number, key) in keys.iter().enumerate() {
        match number % 2 {
            0 => assert_eq!(heap.get(*key), Err(Refused::StaleHandle)),
            _ => assert_eq!(heap.get(*key), Ok(&[number; 8])),
        }
    }
    assert_eq!(
        heap.raise_limit(usize::MAX) + limit - taken,
        heap.limit_bytes().expect("it has one")
    );
    assert_eq!(heap.untouched().len(), 0);
}
