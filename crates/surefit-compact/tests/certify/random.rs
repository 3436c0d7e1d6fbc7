//! A heap of exactly the certified size refuses nothing within the demand, in random and in hostile
//! orders.

use core::alloc::Layout;
use core::mem::MaybeUninit;

use proptest::prelude::*;
use surefit_compact::certify::{Budget, ClassSet, Demand, certify};
use surefit_compact::{Bytes, Config, Heap, Medium, Narrow, Wide, Width};

use surefit_testkit::ExactMemory;

use crate::configs;

/// Live objects of a heap, and what they cost.
struct Run<'m, 'c, W: Width> {
    heap: Heap<'m, W>,
    config: &'c Config,
    live: Vec<(Bytes<MaybeUninit<u8>>, usize)>,
    per_class: Vec<u32>,
    bytes: u64,
}

impl<W: Width> Run<'_, '_, W> {
    /// Allocates an object if the demand allows it; it must then succeed.
    fn allocate(&mut self, len: usize, demand: &Demand<'_>) {
        let class = self
            .config
            .geometry()
            .class_for(len, 1)
            .expect("fits a page");
        let beta = u64::from(self.config.geometry().layout(class).block_bytes);
        let allowed = match demand {
            Demand::PerClass(most) => self.per_class[class.index()] < most[class.index()],
            Demand::Joint(budget) => {
                budget.classes.contains(class)
                    && self.bytes + beta <= budget.block_bytes
                    && (self.live.len() as u64) < budget.objects
            }
            Demand::Both(..) => unreachable!("not tested here"),
        };
        if allowed {
            let layout = Layout::from_size_align(len, 1).expect("valid");
            let object = self.heap.alloc(layout).expect("the demand is certified");
            self.live.push((object, class.index()));
            self.per_class[class.index()] += 1;
            self.bytes += beta;
        }
    }

    fn free(&mut self, number: usize) {
        let (object, class) = self.live.swap_remove(number);
        self.per_class[class] -= 1;
        let class = self.config.geometry().class(class).expect("known");
        self.bytes -= u64::from(self.config.geometry().layout(class).block_bytes);
        self.heap.free_bytes(object);
    }

    /// Fills the demand with one size, then frees all but every `keep`th object.
    fn wave(&mut self, len: usize, keep: usize, demand: &Demand<'_>) {
        loop {
            let before = self.live.len();
            self.allocate(len, demand);
            if self.live.len() == before {
                break;
            }
        }
        for number in (0..self.live.len()).rev() {
            if number % keep != 0 {
                self.free(number);
            }
        }
    }
}

#[derive(Clone, Debug)]
enum Op {
    Allocate(usize),
    Free(prop::sample::Index),
    Wave(usize, usize),
    Compact(u64),
}

fn op() -> impl Strategy<Value = Op> {
    let len = prop_oneof![1_usize..64, 1_usize..300, 1_usize..=1024];
    prop_oneof![
        12 => len.clone().prop_map(Op::Allocate),
        10 => any::<prop::sample::Index>().prop_map(Op::Free),
        1 => (len, 2_usize..20).prop_map(|(len, keep)| Op::Wave(len, keep)),
        1 => (0_u64..40).prop_map(Op::Compact),
    ]
}

/// Where a region begins, relative to a multiple of the page size.
fn offset() -> impl Strategy<Value = usize> {
    prop_oneof![Just(0), Just(1), 0_usize..1024]
}

fn run<W: Width>(config: &Config, demand: &Demand<'_>, ops: &[Op], offset: usize) {
    let certificate = certify::<W>(config, demand).expect("small");
    // Aligned, the region has the aligned bytes; one byte behind a page, as much of `heap_bytes` is
    // left.
    let bytes = match offset {
        0 => certificate.aligned_bytes,
        _ => certificate.heap_bytes,
    };
    let mut memory = ExactMemory::new();
    let region = memory.region(bytes, config.geometry().page_bytes(), offset);
    let mut run = Run::<W> {
        heap: Heap::new(region, config).expect("the region is large enough"),
        config,
        live: Vec::new(),
        per_class: vec![0; 128],
        bytes: 0,
    };
    for op in ops {
        match op {
            Op::Allocate(len) => run.allocate(*len, demand),
            Op::Wave(len, keep) => run.wave(*len, *keep, demand),
            Op::Compact(budget) => assert!(run.heap.compact(*budget) <= *budget),
            Op::Free(_) if run.live.is_empty() => {}
            Op::Free(number) => run.free(number.index(run.live.len())),
        }
        assert!(u64::from(run.heap.stats().pages) <= certificate.data_pages);
    }
    run.heap.check().expect("every invariant holds");
    let moved = run.heap.stats().moved_bytes_max_per_op;
    let most = certificate.moved_bytes_max_per_op;
    assert!(
        moved <= most,
        "{moved} bytes moved by one free, {most} certified: {}",
        config.bound()
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_joint_demand_is_never_refused(
        ops in prop::collection::vec(op(), 1..400),
        objects in 1_u64..500,
        block_bytes in 1_u64..20_000,
        largest in 1_usize..=1024,
        offset in offset(),
    ) {
        for config in configs(1024, 4) {
            let classes = ClassSet::of_requests(config.geometry(), largest);
            let demand = Demand::Joint(Budget { objects, block_bytes, classes });
            run::<Wide>(&config, &demand, &ops, offset);
        }
    }

    #[test]
    fn a_demand_per_class_is_never_refused(
        ops in prop::collection::vec(op(), 1..400),
        most in prop::collection::vec(prop_oneof![Just(0), 0_u32..4, 0_u32..60], 128),
        offset in offset(),
    ) {
        for config in configs(1024, 2) {
            let demand = Demand::PerClass(&most[..config.geometry().class_count()]);
            run::<Narrow>(&config, &demand, &ops, offset);
        }
    }

    #[test]
    fn a_demand_of_words_of_three_bytes_is_never_refused(
        ops in prop::collection::vec(op(), 1..400),
        objects in 1_u64..500,
        block_bytes in 1_u64..20_000,
        largest in 1_usize..=1024,
        offset in offset(),
    ) {
        for config in configs(1024, 3) {
            let classes = ClassSet::of_requests(config.geometry(), largest);
            let demand = Demand::Joint(Budget { objects, block_bytes, classes });
            run::<Medium>(&config, &demand, &ops, offset);
        }
    }
}
