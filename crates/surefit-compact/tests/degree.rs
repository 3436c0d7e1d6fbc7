//! Predictable space: what can still be allocated depends on how much was allocated and freed, not
//! on the order.
//!
//! The slides' *degree of fragmentation* of a size-class c is the number of its page-blocks that
//! still fit into the free space. With Q pages for objects, h_j live page-blocks in class j and π_j
//! per page, full compaction makes it
//!
//! ```text
//! Dg_c = π_c · (Q − Σ_j ⌈h_j / π_j⌉) + ((−h_c) mod π_c)
//! ```
//! whatever the order of the operations and whichever objects die. With any other bound it depends
//! on the order, but stays between that value and the one that follows from `pages_bound`.

use core::alloc::Layout;
use core::mem::MaybeUninit;
use std::collections::BTreeSet;

use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefit_compact::automaton::pages_bound;
use surefit_compact::{
    Bound, Bytes, Config, Fraction, Geometry, GeometrySpec, Heap, Narrow, PageOrder, SizeClass,
    Spacing, Tail, Wide, Width,
};
use surefit_testkit::JunkRegion;

/// Page-block sizes: 1 to 60 per page of one kilobyte.
const SIZES: [u32; 6] = [16, 40, 112, 200, 336, 1024];

/// Allocations and frees of each size in every permutation.
const COUNTS: [(usize, usize); 6] = [(300, 211), (150, 77), (60, 30), (40, 33), (20, 8), (9, 4)];

const PAGE_BYTES: usize = 1024;
const REGION_BYTES: usize = 300_000;

fn config(bound: Bound, order: PageOrder, word_bytes: usize) -> Config {
    let spec = GeometrySpec {
        page_bytes: PAGE_BYTES,
        granule: 8,
        smallest: 16,
        spacing: Spacing::Explicit(&SIZES),
        tail: Tail::BackReferences { bytes: word_bytes },
    };
    let config = Config::new(Geometry::new(&spec).expect("valid"), bound).expect("valid");
    let config = config.with_order(order).expect("valid");
    config.with_pieces(None).expect("valid")
}

/// A heap, its live objects by class, and the most that ever lived of each.
struct Run<'m, W: Width> {
    heap: Heap<'m, W>,
    config: &'m Config,
    live: Vec<Vec<Bytes<MaybeUninit<u8>>>>,
    peak: Vec<u32>,
}

impl<'m, W: Width> Run<'m, W> {
    /// A heap whose address table has all the entries that any order of the operations needs, so
    /// that Q is fixed.
    fn new(memory: &'m mut [MaybeUninit<u8>], config: &'m Config) -> Self {
        let mut run = Self {
            heap: Heap::new(memory, config).expect("large enough"),
            config,
            live: SIZES.map(|_| Vec::new()).into(),
            peak: vec![0; SIZES.len()],
        };
        let all = COUNTS.iter().map(|count| count.0).sum::<usize>();
        (0..all).for_each(|_| run.allocate(0));
        run.live[0]
            .drain(..)
            .for_each(|object| run.heap.free_bytes(object));
        run.peak[0] = all as u32;
        run
    }

    fn allocate(&mut self, class: usize) {
        let layout = Layout::from_size_align(SIZES[class] as usize, 8).expect("valid");
        let object = self.heap.alloc(layout).expect("the region is large enough");
        self.live[class].push(object);
        self.peak[class] = self.peak[class].max(self.live[class].len() as u32);
    }

    fn free(&mut self, class: usize, random: &mut ChaCha8Rng) {
        let victim = random.random_range(0..self.live[class].len());
        let object = self.live[class].swap_remove(victim);
        self.heap.free_bytes(object);
    }

    /// Runs the operations in a random order, except that frees wait for their allocation.
    fn permute(&mut self, seed: u64) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut ops = Vec::new();
        for (class, (allocations, frees)) in COUNTS.into_iter().enumerate() {
            ops.extend(std::iter::repeat_n((class, true), allocations));
            ops.extend(std::iter::repeat_n((class, false), frees));
        }
        ops.shuffle(&mut random);
        let mut waiting = vec![0; SIZES.len()];
        for (class, allocates) in ops {
            if allocates {
                self.allocate(class);
            } else {
                waiting[class] += 1;
            }
            while waiting[class] > 0 && !self.live[class].is_empty() {
                waiting[class] -= 1;
                self.free(class, &mut random);
            }
            self.assert_bounded();
        }
        assert!(waiting.iter().all(|&waiting| waiting == 0));
        self.heap.check().expect("sound");
    }

    fn class(&self, class: usize) -> SizeClass {
        self.config.geometry().class(class).expect("a class")
    }

    fn blocks(&self, class: usize) -> u64 {
        let layout = self.config.geometry().layout(self.class(class));
        u64::from(layout.blocks)
    }

    fn live(&self, class: usize) -> u64 {
        self.live[class].len() as u64
    }

    fn degree(&self, class: usize) -> u64 {
        self.heap
            .details()
            .degree_of_fragmentation(SIZES[class] as usize)
    }

    fn degrees(&self) -> Vec<u64> {
        (0..SIZES.len()).map(|class| self.degree(class)).collect()
    }

    /// Q: pages that hold objects, or could.
    fn pages(&self) -> u64 {
        let stats = self.heap.stats();
        u64::from(stats.pages + stats.freed_pages + stats.fresh_pages)
    }

    /// The degree of a class when each class has `pages_of` pages.
    fn degree_with(&self, class: usize, pages_of: impl Fn(usize) -> u64) -> u64 {
        let used: u64 = (0..SIZES.len()).map(&pages_of).sum();
        let own = self.blocks(class) * pages_of(class) - self.live(class);
        self.blocks(class) * (self.pages() - used) + own
    }

    /// The formula: every class in as few pages as possible.
    fn formula(&self, class: usize) -> u64 {
        let packed: u64 = (0..SIZES.len())
            .map(|j| self.live(j).div_ceil(self.blocks(j)))
            .sum();
        let rest =
            (self.blocks(class) - self.live(class) % self.blocks(class)) % self.blocks(class);
        self.blocks(class) * (self.pages() - packed) + rest
    }

    /// The least degree that the bound allows: all other classes have the most pages allowed.
    fn least(&self, class: usize) -> u64 {
        let most = |j: usize| {
            let (h, peak) = (self.live[j].len() as u32, self.peak[j]);
            let most = pages_bound(self.config.bound(), self.blocks(j) as u32, h, peak);
            u64::from(most)
        };
        let own = |j: usize| {
            if j == class {
                self.live(j).div_ceil(self.blocks(j))
            } else {
                most(j)
            }
        };
        self.degree_with(class, own)
    }

    fn assert_bounded(&self) {
        for class in 0..SIZES.len() {
            let degree = self.degree(class);
            assert!(
                degree <= self.formula(class),
                "no packing is denser than the densest"
            );
            assert!(degree >= self.least(class), "the bound on pages holds");
            let pages = self.heap.details().class_usage(self.class(class)).1;
            let (h, peak) = (self.live[class].len() as u32, self.peak[class]);
            let most = pages_bound(self.config.bound(), self.blocks(class) as u32, h, peak);
            assert!(pages <= most);
        }
    }
}

/// The degrees of all classes after each of so many permutations.
fn outcomes<W: Width>(bound: Bound, order: PageOrder, permutations: u64) -> BTreeSet<Vec<u64>> {
    let config = config(bound, order, W::WORD_BYTES);
    let mut region = JunkRegion::new(REGION_BYTES, PAGE_BYTES, 3);
    let mut seen = BTreeSet::new();
    for seed in 0..permutations {
        let mut run = Run::<W>::new(region.memory(), &config);
        run.permute(seed);
        if bound == Bound::Pages(1) {
            let formula: Vec<u64> = (0..SIZES.len()).map(|class| run.formula(class)).collect();
            assert_eq!(run.degrees(), formula, "the formula of full compaction");
        }
        seen.insert(run.degrees());
    }
    seen
}

#[test]
fn full_compaction_makes_the_order_of_operations_irrelevant() {
    for order in [PageOrder::Newest, PageOrder::Original] {
        assert_eq!(outcomes::<Wide>(Bound::Pages(1), order, 50).len(), 1);
        assert_eq!(outcomes::<Narrow>(Bound::Pages(1), order, 50).len(), 1);
    }
}

#[test]
fn other_bounds_keep_the_degree_within_them() {
    let fraction = |numerator, denominator| Fraction::new(numerator, denominator).expect("valid");
    let (quarter, half) = (fraction(1, 4), fraction(1, 2));
    let bounds = [
        Bound::Pages(2),
        Bound::Pages(5),
        Bound::DEFAULT,
        Bound::Holes {
            base: 0,
            fraction: quarter,
        },
        Bound::Holes {
            base: 3,
            fraction: half,
        },
        Bound::Unbounded,
    ];
    for bound in bounds {
        let seen = outcomes::<Wide>(bound, PageOrder::Newest, 12).len();
        assert!(seen > 1, "{bound:?}: the order matters");
        outcomes::<Narrow>(bound, PageOrder::Newest, 4);
    }
}
