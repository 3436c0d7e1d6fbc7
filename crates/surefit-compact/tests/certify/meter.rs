//! The demand of a sequence of calls is what a heap really holds, and a heap certified for it
//! serves the calls.

use core::alloc::Layout;
use core::mem::MaybeUninit;

use proptest::prelude::*;
use surefit_compact::certify::{BlockCount, Demand, DemandMeter, certify};
use surefit_compact::layout::fixed_bytes;
use surefit_compact::{Bound, Bytes, Config, Heap, Medium, Narrow, Wide, Width};

use surefit_testkit::ExactMemory;

use crate::{exact, geometry};

#[derive(Clone, Debug)]
enum Op {
    Allocate(usize, usize),
    Free(prop::sample::Index),
    Resize(prop::sample::Index, usize),
}

fn op() -> impl Strategy<Value = Op> {
    let len = || prop_oneof![0_usize..300, 200_usize..1300, 0_usize..20_000];
    let align = (0_u32..7).prop_map(|log2| 1 << log2);
    prop_oneof![
        3 => (len(), align).prop_map(|(len, align)| Op::Allocate(len, align)),
        2 => any::<prop::sample::Index>().prop_map(Op::Free),
        3 => (any::<prop::sample::Index>(), len()).prop_map(|(number, len)| Op::Resize(number, len)),
    ]
}

type Object = (Bytes<MaybeUninit<u8>>, usize);

/// What a pass over the calls is done with.
trait Target {
    fn allocate(&mut self, layout: Layout);
    fn free(&mut self, number: usize);
    fn resize(&mut self, number: usize, len: usize);
    fn live(&self) -> usize;
}

struct Metered<'c>(DemandMeter<'c>, Vec<(usize, usize)>);

impl Target for Metered<'_> {
    fn allocate(&mut self, layout: Layout) {
        self.0
            .allocate(layout.size(), layout.align())
            .expect("fits");
        self.1.push((layout.size(), layout.align()));
    }

    fn free(&mut self, number: usize) {
        let (len, align) = self.1.swap_remove(number);
        self.0.free(len, align).expect("fits");
    }

    fn resize(&mut self, number: usize, len: usize) {
        let old = self.1[number];
        self.1[number].0 = len;
        self.0.resize(old, (len, old.1)).expect("fits");
    }

    fn live(&self) -> usize {
        self.1.len()
    }
}

struct Real<'m, W: Width>(Heap<'m, W>, Vec<Object>);

impl<W: Width> Target for Real<'_, W> {
    fn allocate(&mut self, layout: Layout) {
        let object = self.0.alloc(layout).expect("the demand is certified");
        self.1.push((object, layout.align()));
    }

    fn free(&mut self, number: usize) {
        let (object, _) = self.1.swap_remove(number);
        self.0.free_bytes(object);
    }

    fn resize(&mut self, number: usize, len: usize) {
        let (object, align) = &mut self.1[number];
        let layout = Layout::from_size_align(len, *align).expect("valid");
        self.0
            .resize(object, layout)
            .expect("the demand is certified");
    }

    fn live(&self) -> usize {
        self.1.len()
    }
}

fn apply(op: &Op, target: &mut impl Target) {
    match op {
        Op::Allocate(len, align) => {
            target.allocate(Layout::from_size_align(*len, *align).expect("valid"));
        }
        _ if target.live() == 0 => {}
        Op::Free(number) => target.free(number.index(target.live())),
        Op::Resize(number, len) => target.resize(number.index(target.live()), *len),
    }
}

/// Meters the calls, then makes them in heaps certified for the metered demand, and compares what
/// is live after each call.
fn check<W: Width>(config: &Config, ops: &[Op]) {
    let mut metered = Metered(DemandMeter::new::<W>(config), Vec::new());
    ops.iter().for_each(|op| apply(op, &mut metered));
    let meter = metered.0;
    for demand in [meter.per_class(), meter.joint(), meter.both()] {
        replay::<W>(config, &demand, ops);
    }
    if matches!(config.bound(), Bound::Holes { .. }) {
        settled::<W>(config, &meter, ops);
    }
}

/// Makes the calls in a heap without holes, in the bytes that the meter says and up to a page: the
/// address table may have a part of one. A heap has a page, even if nothing is allocated.
fn settled<W: Width>(config: &Config, meter: &DemandMeter<'_>, ops: &[Op]) {
    let (page, classes) = (
        config.geometry().page_bytes(),
        config.geometry().class_count(),
    );
    let settled = meter.settled_bytes() as usize + fixed_bytes::<W>(classes, 0);
    let least = page + fixed_bytes::<W>(classes, 1);
    let bytes = (settled + page).max(least).next_multiple_of(8);
    let mut memory = ExactMemory::new();
    let region = exact(&mut memory, config, bytes);
    let heap = Heap::<W>::with_slack(region, config, 0).expect("large enough");
    let mut real = Real(heap, Vec::new());
    ops.iter().for_each(|op| apply(op, &mut real));
}

fn replay<W: Width>(config: &Config, demand: &Demand<'_>, ops: &[Op]) {
    let certificate = certify::<W>(config, demand).expect("small");
    let mut memory = ExactMemory::new();
    let region = exact(&mut memory, config, certificate.aligned_bytes);
    let mut metered = Metered(DemandMeter::new::<W>(config), Vec::new());
    let heap = Heap::<W>::new(region, config).expect("large enough");
    let mut real = Real(heap, Vec::new());
    for op in ops {
        let before = real.0.stats();
        apply(op, &mut metered);
        apply(op, &mut real);
        let (after, most) = (real.0.stats(), metered.0.call());
        assert!(
            after.moves_total - before.moves_total <= most.moves,
            "by {op:?}"
        );
        assert!(
            after.moved_bytes_total - before.moved_bytes_total <= most.moved_bytes,
            "by {op:?}"
        );
        let blocks = u64::from(real.0.stats().live_blocks);
        let bytes = real.0.usage().block_bytes as u64;
        assert_eq!((blocks, bytes), metered.0.live(), "after {op:?}");
    }
    let moved = real.0.stats().moved_bytes_max_per_op;
    assert!(moved <= certificate.moved_bytes_max_per_op);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_metered_sequence_is_served_by_the_heap_certified_for_it(
        ops in prop::collection::vec(op(), 1..120),
    ) {
        for bound in [Bound::DEFAULT, Bound::Pages(1), Bound::Unbounded] {
            let narrow = Config::new(geometry(1024, 2), bound).expect("valid");
            check::<Narrow>(&narrow, &ops);
            let medium = Config::new(geometry(1024, 3), bound).expect("valid");
            check::<Medium>(&medium.with_pieces(Some(64)).expect("valid"), &ops);
            let wide = Config::new(geometry(1024, 4), bound).expect("valid");
            let wide = wide.with_pieces(Some(64)).expect("valid");
            check::<Wide>(&wide.clone().with_large_pieces(512).expect("valid"), &ops);
            check::<Wide>(&wide, &ops);
        }
    }

    #[test]
    fn a_resize_holds_no_more_than_is_allowed_for_it(
        lens in prop::collection::vec(prop_oneof![0_usize..300, 0_usize..20_000], 2..20),
        piece in prop_oneof![Just(64_usize), Just(256), Just(1024)],
        large in prop_oneof![Just(64_usize), Just(512), Just(1024)],
    ) {
        let config = Config::new(geometry(1024, 4), Bound::DEFAULT).expect("valid");
        let config = config.with_pieces(Some(piece)).expect("valid");
        let config = config.with_large_pieces(large.max(piece)).expect("valid");
        let largest = *lens.iter().max().expect("some");
        let of = |len| BlockCount::of::<Wide>(&config, len, 8).expect("fits");
        let most = |f: fn(BlockCount) -> u64| lens.iter().map(|&len| f(of(len))).max().expect("some");
        let spare = BlockCount::in_resize::<Wide>(&config, largest, 8).expect("fits");
        let mut meter = DemandMeter::new::<Wide>(&config);
        meter.allocate(lens[0], 8).expect("fits");
        for pair in lens.windows(2) {
            meter.resize((pair[0], 8), (pair[1], 8)).expect("fits");
        }
        let budget = meter.budget();
        prop_assert!(budget.objects <= most(|count| count.blocks) + spare.blocks);
        prop_assert!(budget.block_bytes <= most(|count| count.bytes) + spare.bytes);
    }
}

/// Where a spine itself gets its first large pieces, a shorter one has more pieces.
#[test]
fn a_resize_whose_spine_gets_a_large_piece_holds_what_is_allowed() {
    let config = Config::new(geometry(1024, 4), Bound::DEFAULT).expect("valid");
    let config = config.with_pieces(Some(64)).expect("valid");
    let config = config.with_large_pieces(1024).expect("valid");
    for (old, new) in [(245_759, 246_783), (246_783, 245_759), (245_700, 246_784)] {
        let of = |len| BlockCount::of::<Wide>(&config, len, 8).expect("fits");
        let spare = BlockCount::in_resize::<Wide>(&config, old.max(new), 8).expect("fits");
        let mut meter = DemandMeter::new::<Wide>(&config);
        meter.allocate(old, 8).expect("fits");
        meter.resize((old, 8), (new, 8)).expect("fits");
        let (budget, ends) = (meter.budget(), [of(old), of(new)]);
        let blocks = ends.iter().map(|count| count.blocks).max().expect("two");
        let bytes = ends.iter().map(|count| count.bytes).max().expect("two");
        assert!(budget.objects <= blocks + spare.blocks, "{old} to {new}");
        assert!(budget.block_bytes <= bytes + spare.bytes, "{old} to {new}");
    }
}

#[test]
fn without_pieces_an_object_over_a_page_is_refused() {
    let config = Config::DEFAULT.with_pieces(None).expect("valid");
    let mut meter = DemandMeter::new::<Wide>(&config);
    assert!(meter.allocate(16 << 10, 8).is_ok());
    let error = meter.allocate((16 << 10) + 1, 8).expect_err("too large");
    assert!(error.to_string().contains("16384"), "{error}");
    assert_eq!(meter.live(), (1, 16 << 10));
}
