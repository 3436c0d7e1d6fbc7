//! Thousands of generated heaps in exactly their certified bytes, by scripts that stay within the
//! demand. `SUREFIT_HEAPS=100000` makes more: a sixteenth of the number of each width.

use core::alloc::Layout;
use std::mem::MaybeUninit;

use surefit_compact::{Bound, Fraction, Narrow, PageOrder, Wide, Width};
use surefit_papers::block_table::certify::{BlockTableCertificate, FrameDemand, certify};
use surefit_papers::block_table::{BlockTableConfig, BlockTableHeap, Bytes};
use surefit_testkit::{ExactMemory, Random};

/// The number of heaps of all kinds, here and in surefit-compact, unless `SUREFIT_HEAPS` sets it;
/// a sixteenth of it are those of one width.
const HEAPS: u64 = 26_000;

/// What a heap is made of, and what a script asks for.
#[derive(Debug)]
struct Case {
    seed: u64,
    config: BlockTableConfig,
    demand: FrameDemand,
    lens: Vec<usize>,
}

fn one_of<T: Clone>(random: &mut Random, choices: &[T]) -> T {
    choices[random.below(choices.len())].clone()
}

fn number(random: &mut Random, least: u32, most: u32) -> u32 {
    least + u32::try_from(random.below((most + 1 - least) as usize)).expect("small")
}

fn bound(random: &mut Random) -> Bound {
    match random.below(6) {
        0 => Bound::Pages(1),
        1 => Bound::Pages(number(random, 2, 8)),
        2 => Bound::DEFAULT,
        3 => Bound::Unbounded,
        _ => {
            let (above, below) = one_of(random, &[(0, 1), (1, 2), (1, 16), (2, 5), (1, 7)]);
            Bound::Holes {
                base: number(random, 0, 9),
                fraction: Fraction::new(above, below).expect("valid"),
            }
        }
    }
}

/// Lengths of some objects.
fn lens(random: &mut Random, page: usize) -> Vec<usize> {
    let count = one_of(random, &[1, 1, 2, 3, 5]);
    let mut lens: Vec<usize> = (0..count)
        .map(|_| match random.below(8) {
            0 | 1 => 1 + random.below(32),
            2 | 3 => 1 + random.below(256),
            4 => page / (1 + random.below(9)),
            5 => page - random.below(page / 2),
            6 => page + random.below(3 * page),
            _ => one_of(random, &[0, 8, 16, 512, 1000]),
        })
        .collect();
    lens.sort_unstable();
    lens.dedup();
    lens
}

impl Case {
    /// The case of a seed; `None` if its numbers do not suit any heap.
    fn new<W: Width<Generation = ()>>(seed: u64) -> Option<Self> {
        // Neighbouring seeds lead to unrelated choices.
        let mixed = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let random = &mut Random(mixed ^ mixed >> 29);
        (0..4).for_each(|_| _ = random.below(2));
        let bound = bound(random);
        let page = one_of(random, &[1024, 1024, 1024, 2048, 4096, 16384]);
        let frame = one_of(random, &[16, 32, 64, 256, 1024]);
        let mut config = BlockTableConfig::with_pages::<W>(frame, bound, page).ok()?;
        if matches!(bound, Bound::Pages(_)) && random.below(2) == 0 {
            config = config.with_order(PageOrder::Original).expect("in pages");
        }
        let lens = lens(random, page);
        let largest = config.frames_of(*lens.last()?) as u64;
        let demand = FrameDemand {
            objects: number(random, 1, 120).into(),
            frames: largest.max(number(random, 1, 120).into()) + random.below(401) as u64,
            largest,
            largest_resized: one_of(random, &[0, largest, largest.div_ceil(2)]),
        };
        Some(Self {
            seed,
            config,
            demand,
            lens,
        })
    }
}

type Outcome = Result<(), String>;

/// The order in which a script calls.
#[derive(Clone, Copy, Debug)]
enum Order {
    /// Grows and shrinks at random.
    Random,
    /// All of one length, then all of the next; freed in the order of allocation, or backwards.
    Sorted,
    /// Hoards entries, then spreads the live objects over as many pages as the bound allows.
    Adversarial,
    /// Fills the demand, empties it, fills it.
    Minimal,
}

const ORDERS: [Order; 4] = [
    Order::Random,
    Order::Sorted,
    Order::Adversarial,
    Order::Minimal,
];

/// A script over a heap.
struct Drive<'a, 'm, W: Width<Generation = ()>> {
    heap: BlockTableHeap<'m, W>,
    case: &'a Case,
    certificate: &'a BlockTableCertificate,
    random: Random,
    live: Vec<Bytes<MaybeUninit<u8>>>,
    frames: u64,
}

impl<W: Width<Generation = ()>> Drive<'_, '_, W> {
    fn run(mut self, order: Order) -> Outcome {
        match order {
            Order::Random => self.random_script()?,
            Order::Sorted => self.sorted()?,
            Order::Adversarial => self.adversarial()?,
            Order::Minimal => self.minimal()?,
        }
        self.heap
            .check()
            .map_err(|corruption| corruption.to_string())
    }

    fn below(&mut self, bound: usize) -> usize {
        self.random.below(bound.max(1))
    }

    fn frames_of(&self, len: usize) -> u64 {
        self.case.config.frames_of(len) as u64
    }

    /// Allocates an object of a length, by its number, if the demand allows it; returns whether it
    /// did.
    fn allocate(&mut self, number: usize) -> Result<bool, String> {
        let len = self.case.lens[number];
        let frames = self.frames + self.frames_of(len);
        let demand = &self.case.demand;
        if self.live.len() as u64 >= demand.objects || frames > demand.frames {
            return Ok(false);
        }
        let layout = Layout::from_size_align(len, 8).expect("small");
        let object = self.heap.alloc(layout).map_err(|error| error.to_string())?;
        self.live.push(object);
        self.frames = frames;
        Ok(true)
    }

    fn free(&mut self, place: usize) {
        let object = self.live.swap_remove(place);
        self.frames -= self.frames_of(object.len());
        self.heap.free_bytes(object);
    }

    /// Resizes an object, if the demand allows it: rows count with the larger of both lengths.
    fn resize(&mut self, place: usize) -> Outcome {
        let number = self.below(self.case.lens.len());
        let len = self.case.lens[number];
        let (old, new) = (self.frames_of(self.live[place].len()), self.frames_of(len));
        let frames = self.frames - old + new;
        let demand = &self.case.demand;
        if old.max(new) > demand.largest_resized || frames > demand.frames {
            return Ok(());
        }
        let layout = Layout::from_size_align(len, 8).expect("small");
        let resized = self.heap.resize(&mut self.live[place], layout);
        self.frames = frames;
        resized.map_err(|error| error.to_string())
    }

    fn fill(&mut self, number: usize) -> Outcome {
        while self.allocate(number)? {}
        self.count()
    }

    fn fill_up_to(&mut self, number: usize, most: usize) -> Outcome {
        let before = self.live.len();
        while self.live.len() - before < most && self.allocate(number)? {}
        Ok(())
    }

    /// No more pages than certified, and no more bytes moved by one free.
    fn count(&self) -> Outcome {
        let (stats, certificate) = (self.heap.stats(), self.certificate);
        let frame_pages = certificate.frame_bytes / self.case.config.page_bytes();
        let pages = u64::from(stats.frame_pages) + u64::from(stats.table_pages);
        if pages > certificate.table.data_pages + frame_pages as u64 {
            return Err(format!("{pages} pages"));
        }
        let moved = stats.moved_bytes_max_per_op;
        if moved > certificate.table.moved_bytes_max_per_op {
            return Err(format!("{moved} bytes moved at once"));
        }
        Ok(())
    }

    fn free_all(&mut self) {
        while !self.live.is_empty() {
            self.free(self.live.len() - 1);
        }
    }

    fn random_script(&mut self) -> Outcome {
        for _ in 0..2 + self.below(5) {
            let (steps, grows) = (10 + self.below(60), 20 + self.below(75));
            for _ in 0..steps {
                let place = self.below(self.live.len());
                if self.below(100) < grows || self.live.is_empty() {
                    let number = self.below(self.case.lens.len());
                    self.allocate(number)?;
                } else if self.below(8) == 0 {
                    self.resize(place)?;
                } else {
                    self.free(place);
                }
            }
            match self.below(6) {
                0 => _ = self.heap.compact(3),
                1 => self.thin(0, 7),
                3 => {
                    let number = self.below(self.case.lens.len());
                    self.fill(number)?;
                }
                _ => {}
            }
            self.count()?;
        }
        Ok(())
    }

    fn sorted(&mut self) -> Outcome {
        for forwards in [true, false] {
            for number in 0..self.case.lens.len() {
                self.fill(number)?;
                if forwards {
                    self.live.reverse();
                }
                self.free_all();
            }
            for number in (0..self.case.lens.len()).rev() {
                self.fill(number)?;
            }
            self.live.sort_by_key(Bytes::len);
            self.free_all();
        }
        Ok(())
    }

    fn minimal(&mut self) -> Outcome {
        for _ in 0..2 {
            self.fill_all()?;
            self.free_all();
        }
        self.fill_all()
    }

    fn fill_all(&mut self) -> Outcome {
        (0..self.case.lens.len()).try_for_each(|number| self.fill(number))
    }

    fn adversarial(&mut self) -> Outcome {
        if self.below(2) == 0 {
            self.hoard_entries()?;
            return self.spread();
        }
        self.spread()?;
        self.free_all();
        self.hoard_entries()
    }

    fn hoard_entries(&mut self) -> Outcome {
        for number in (1..self.case.lens.len()).rev() {
            let count = 1 + self.below(16);
            self.fill_up_to(number, count)?;
            self.free_all();
        }
        for _ in 0..2 {
            self.fill(0)?;
            self.free_all();
        }
        Ok(())
    }

    /// Spreads the live objects over as many pages as the bound allows.
    fn spread(&mut self) -> Outcome {
        let last = self.case.lens.len() - 1;
        for number in 0..=last {
            self.allocate(number)?;
        }
        for number in 0..=last {
            let (first, pages) = (self.live.len(), 1 + self.below(8));
            let most = if number == last {
                usize::MAX
            } else {
                8 * pages
            };
            self.fill_up_to(number, most)?;
            self.count()?;
            // Leaves one object of every page's worth of the newest ones.
            self.thin(first, 8);
            self.count()?;
        }
        self.fill_all()
    }

    /// Frees all but every `keep`th of the objects from a place on.
    fn thin(&mut self, first: usize, keep: usize) {
        let objects = self.live.split_off(first);
        for (place, object) in objects.into_iter().enumerate() {
            self.live.push(object);
            if place % keep > 0 {
                self.free(self.live.len() - 1);
            }
        }
    }
}

/// One heap in so many bytes, so far behind an address that is aligned to a page: runs a script.
fn run<W: Width<Generation = ()>>(
    case: &Case,
    certificate: &BlockTableCertificate,
    (bytes, offset, order): (usize, usize, Order),
    memory: &mut ExactMemory,
) -> Outcome {
    let region = memory.region(bytes, case.config.page_bytes(), offset);
    let heap = BlockTableHeap::<W>::new(region, &case.config);
    Drive {
        heap: heap.map_err(|error| format!("no heap: {error}"))?,
        case,
        certificate,
        random: Random(case.seed),
        live: Vec::new(),
        frames: 0,
    }
    .run(order)?;
    let intact = memory.is_intact();
    intact
        .then_some(())
        .ok_or("written beside the region".into())
}

fn run_all<W: Width<Generation = ()>>(heaps: u64) {
    let (mut memory, mut failures) = (ExactMemory::new(), Vec::new());
    let (mut made, mut uncertifiable) = (0, 0);
    for seed in 0.. {
        if made >= heaps {
            break;
        }
        let Some(case) = Case::new::<W>(seed) else {
            continue;
        };
        let Ok(certificate) = certify::<W>(&case.config, &case.demand) else {
            uncertifiable += 1;
            // If a certificate refuses what it should serve, this fails instead of trying for ever.
            assert!(uncertifiable <= 100 + made / 10, "seed {seed}");
            continue;
        };
        let mut random = Random(seed ^ 1 << 40);
        for order in ORDERS {
            made += 1;
            let page = case.config.page_bytes();
            // One byte behind a page leaves the least. What is left there is enough at a page.
            let (bytes, offset) = match random.below(4) {
                0 => (certificate.heap_bytes, 1),
                1 => (certificate.heap_bytes, random.below(page)),
                _ => (certificate.heap_bytes - (page - 1), 0),
            };
            let how = (bytes, offset, order);
            if let Err(why) = run::<W>(&case, &certificate, how, &mut memory) {
                failures.push(format!("{why} in {how:?}: {case:?}, {certificate:?}"));
            }
        }
    }
    println!("{made} heaps, {uncertifiable} demands that no heap can serve");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn no_generated_heap_refuses_what_is_certified() {
    let heaps = std::env::var("SUREFIT_HEAPS").map(|heaps| heaps.parse().expect("a number"));
    let share = heaps.unwrap_or(HEAPS).div_ceil(16);
    run_all::<Wide>(share);
    run_all::<Narrow>(share);
}

/// Every address that a region can begin at, seen from a page.
#[test]
fn heap_bytes_suffice_wherever_a_region_begins() {
    fn run_at_each<W: Width<Generation = ()>>() {
        let config = BlockTableConfig::with_pages::<W>(32, Bound::DEFAULT, 1024);
        let case = Case {
            seed: 0,
            config: config.expect("valid"),
            demand: FrameDemand {
                objects: 30,
                frames: 60,
                largest: 7,
                largest_resized: 7,
            },
            lens: vec![24, 200],
        };
        let certificate = certify::<W>(&case.config, &case.demand).expect("small");
        let mut memory = ExactMemory::new();
        for offset in 0..1024 {
            let how = (certificate.heap_bytes, offset, Order::Minimal);
            let served = run::<W>(&case, &certificate, how, &mut memory);
            assert_eq!(served, Ok(()), "at {offset}");
        }
    }
    run_at_each::<Wide>();
    run_at_each::<Narrow>();
}

/// What is certified can be made, up to the last page that words of two bytes can name.
#[test]
fn a_certified_block_table_is_never_too_large() {
    let mut memory = ExactMemory::new();
    for frame_bytes in [16, 64, 1024] {
        let config = BlockTableConfig::with_pages::<Narrow>(frame_bytes, Bound::DEFAULT, 1024);
        let config = config.expect("valid");
        let demand = |pages| FrameDemand {
            objects: 60,
            frames: pages * (1024 / frame_bytes) as u64,
            largest: 1,
            largest_resized: 0,
        };
        let (mut made, mut pages) = (0, 300);
        while let Ok(certificate) = certify::<Narrow>(&config, &demand(pages)) {
            let region = memory.region(certificate.heap_bytes, 1024, 0);
            let heap = BlockTableHeap::<Narrow>::new(region, &config);
            assert!(
                heap.is_ok(),
                "{pages} pages, frames of {frame_bytes} bytes: {heap:?}"
            );
            made += 1;
            pages += 1;
        }
        assert!(made > 100, "{made} regions of 1024 pages at most");
    }
}
