//! The engine composes the automaton as the model of its tests does: real heaps beside the model
//! that surefit-classes exhausts, page by page.

#[path = "../../surefit-classes/tests/it/automaton/model.rs"]
#[expect(dead_code, reason = "what only the search of all states uses")]
mod model;

use core::alloc::Layout;
use core::mem::MaybeUninit;
use std::collections::BTreeMap;

use model::{Class, Rules, Victim};
use surefit_compact::{
    Bound, Bytes, Config, Fraction, Geometry, GeometrySpec, Heap, PageOrder, Spacing, Tail,
};
use surefit_testkit::{JunkRegion, Op, Shape, script};

const ORDERS: [PageOrder; 2] = [PageOrder::Newest, PageOrder::Original];

fn holes(base: u32, (numerator, denominator): (u32, u32)) -> Bound {
    let fraction = Fraction::new(numerator, denominator).expect("at most one half");
    Bound::Holes { base, fraction }
}

/// A heap of one-kilobyte pages beside the model, one size-class.
struct Twin<'m> {
    heap: Heap<'m>,
    class: Class,
    live: Vec<Bytes<MaybeUninit<u8>>>,
    layout: Layout,
    moves: u64,
    /// The name of the heap's first page.
    first: usize,
    /// Pages of parked blocks, the one taken next first.
    parked: Vec<usize>,
    gives: u32,
}

const PAGE_BYTES: usize = 1024;

impl Twin<'_> {
    /// The page of an object.
    fn page(&self, object: &Bytes<MaybeUninit<u8>>) -> usize {
        self.heap.chunk(object, 0).as_ptr().addr() / PAGE_BYTES
    }

    fn allocate(&mut self) {
        let object = self
            .heap
            .alloc(self.layout)
            .expect("the region is large enough");
        let page = self.page(&object);
        if self.class.take_parked() {
            let top = self.parked.first().copied();
            assert_eq!(Some(page), top, "both take the pair that was parked last");
        } else {
            let (_, expected) = self.class.malloc(page);
            assert_eq!(page, expected, "both allocate from the same page");
        }
        self.live.push(object);
    }

    fn free(&mut self, nth: usize) {
        let object = self.live.swap_remove(nth % self.live.len());
        let page = self.page(&object);
        let listed = self
            .class
            .not_full
            .iter()
            .position(|listed| listed.name == page);
        let victim = listed.map(Victim::NotFull).or_else(|| {
            let which = self.class.full.iter().position(|&name| name == page);
            which.map(Victim::Full)
        });
        let victim = victim.expect("the model knows every page");
        if self.class.parks() {
            self.class.park();
        } else if let Some((_, moves)) = self.class.clone().free(victim) {
            self.class.free(victim);
            self.moves += u64::from(moves);
        } else {
            // The model does not know which of its blocks are parked, so the heap gives them back.
            self.live.push(object);
            self.give_back();
            return self.free(self.live.len() - 1);
        }
        self.heap.free_bytes(object);
    }

    /// The names of the pages of the parked blocks.
    fn parked_pages(&self) -> Vec<usize> {
        let class = self.heap.config().geometry().class(0).expect("one class");
        let pages = self.heap.details().parked_pages(class);
        pages.map(|page| self.first + page as usize).collect()
    }

    fn give_back(&mut self) {
        assert!(
            !self.parked.is_empty(),
            "without parked blocks no free needs this"
        );
        self.parked.iter().for_each(|&page| self.class.unpark(page));
        assert_eq!(self.heap.compact(0), 0);
        self.gives += 1;
        self.compare();
    }

    fn compare(&mut self) {
        self.parked = self.parked_pages();
        assert_eq!(
            self.parked.len(),
            self.class.parked as usize,
            "{:?}",
            self.class
        );
        // The second record of a shape: how many frees may park, and how many need not settle.
        let mut words = [0; 8];
        self.heap.shape(&mut words);
        assert_eq!([words[6], words[7]], self.class.frees(), "{:?}", self.class);
        let stats = self.heap.stats();
        let counts = self.class.counts();
        assert_eq!(stats.live_blocks, counts.live);
        assert_eq!(stats.not_full_pages, counts.not_full);
        assert_eq!(stats.holes, counts.holes);
        assert_eq!(stats.pages, self.class.pages());
        assert_eq!(stats.moves_total, self.moves);
        let mut used: BTreeMap<usize, u32> = BTreeMap::new();
        for object in &self.live {
            *used.entry(self.page(object)).or_default() += 1;
        }
        for &page in &self.parked {
            *used.entry(page).or_default() += 1;
        }
        let full = self
            .class
            .full
            .iter()
            .map(|&name| (name, self.class.rules.blocks));
        let not_full = self
            .class
            .not_full
            .iter()
            .map(|page| (page.name, page.used));
        assert_eq!(
            used,
            full.chain(not_full).collect(),
            "every page has the model's blocks"
        );
    }
}

fn run_twin(rules: Rules, block_bytes: usize, ops: &[Op]) {
    let spec = GeometrySpec {
        page_bytes: PAGE_BYTES,
        granule: 8,
        smallest: 16,
        spacing: Spacing::Explicit(&[block_bytes as u32]),
        tail: Tail::BackReferences { bytes: 4 },
    };
    let config = Config::new(Geometry::new(&spec).expect("valid"), rules.bound).expect("valid");
    let config = config.with_pieces(None).expect("valid");
    let config = config.with_order(rules.order).expect("valid");
    let class = config.geometry().class(0).expect("one class");
    let blocks = u32::from(config.geometry().layout(class).blocks);
    assert_eq!(blocks, rules.blocks);
    let mut region = JunkRegion::new(1 << 20, PAGE_BYTES, 1);
    let first = region.memory().as_ptr().addr().div_ceil(PAGE_BYTES);
    let mut twin = Twin {
        heap: Heap::new(region.memory(), &config).expect("large enough"),
        class: Class::new(rules),
        live: Vec::new(),
        layout: Layout::from_size_align(block_bytes, 8).expect("valid"),
        moves: 0,
        first,
        parked: Vec::new(),
        gives: 0,
    };
    for op in ops {
        match *op {
            Op::Alloc { .. } => twin.allocate(),
            Op::Free(nth) if !twin.live.is_empty() => twin.free(nth),
            _ => {}
        }
        twin.compare();
    }
    twin.heap.check().expect("every invariant holds");
}

#[test]
fn the_engine_composes_the_automaton_as_the_model_does() {
    let paged = (1..=3).flat_map(|most| ORDERS.map(|order| (Bound::Pages(most), order)));
    let bounds = [
        holes(0, (0, 1)),
        holes(3, (1, 3)),
        holes(0, (1, 2)),
        Bound::DEFAULT,
    ];
    let others = bounds.into_iter().chain([Bound::Unbounded]);
    let settings: Vec<_> = paged
        .chain(others.map(|bound| (bound, PageOrder::Newest)))
        .collect();
    for (blocks, block_bytes) in [(1, 1024), (2, 512), (3, 336), (4, 256), (8, 128), (50, 16)] {
        for &(bound, order) in &settings {
            for shape in [Shape::Random, Shape::Sawtooth, Shape::Fifo, Shape::Comb] {
                let rules = Rules {
                    bound,
                    order,
                    blocks,
                };
                run_twin(rules, block_bytes, &script(shape, 11, 600, 64));
            }
        }
    }
}
