//! Certificates of shared heaps: heaps of exactly the certified size serve the demand, with pins
//! held and through several threads' buffers.

use proptest::prelude::*;
use surefit_compact::automaton::incremental::{bound_in_flight, pages_bound_in_flight};
use surefit_compact::certify::{
    Budget, ClassSet, Demand, SharedCertificate, Sharing, certify_shared, shared_region_bytes,
};
use surefit_compact::shared::{
    Granularity, Local, PerClass, PerHeap, PerPage, SharedConfig, SharedHeap,
};
use surefit_compact::{Bound, Bytes, Config, SizeClass};
use surefit_core::{Page16K, Region};
use surefit_testkit::{ExactMemory, JunkRegion, layout};

use crate::{configs, exact, geometry};

pub(crate) type Lock = parking_lot::RawMutex;
type Object = Bytes<u8>;

// ---- a script inside a demand, in exactly the certified bytes -----------------------------------

/// Asserts that every size-class is within the bound for calls in progress and pins.
pub(crate) fn assert_within<G: Granularity>(
    heap: &SharedHeap<'_, Lock, G>,
    config: &Config,
    calls: u32,
    pins: u32,
) {
    for class in config.geometry().classes() {
        let blocks = u32::from(config.geometry().layout(class).blocks);
        let usage = heap.class_usage(class).expect("the heap's class");
        let live = usage.live_blocks;
        let excess = match config.bound() {
            Bound::Pages(_) => usage.not_full_pages,
            Bound::Holes { .. } => usage.holes,
            Bound::Unbounded => 0,
        };
        let most = bound_in_flight(config.bound(), blocks, live, calls, pins);
        let most = most.unwrap_or(u32::MAX);
        assert!(
            blocks == 1 || excess <= most,
            "{class:?}: {excess} > {most}: {usage:?}"
        );
        let pages = pages_bound_in_flight(config.bound(), blocks, live, u32::MAX, calls, pins);
        assert!(
            usage.pages <= pages,
            "{class:?}: more than {pages} pages: {usage:?}"
        );
    }
}

/// One thread with several registrations, whose objects count against a demand.
struct Script<'h, 'm, 'd, G: Granularity> {
    heap: &'h SharedHeap<'m, Lock, G>,
    config: &'d Config,
    locals: Vec<Local<'h, 'm, Lock, G>>,
    demand: &'d Demand<'d>,
    live: Vec<(Object, SizeClass)>,
    bytes: u64,
    turn: usize,
}

impl<G: Granularity> Script<'_, '_, '_, G> {
    fn beta(&self, class: SizeClass) -> u64 {
        self.config.geometry().layout(class).block_bytes.into()
    }

    fn of_class(&self, class: SizeClass) -> usize {
        self.live
            .iter()
            .filter(|(_, other)| *other == class)
            .count()
    }

    fn allows(&self, class: SizeClass) -> bool {
        let in_peaks = |most: &[u32]| self.of_class(class) < most[class.index()] as usize;
        let in_budget = |budget: &Budget| {
            budget.classes.contains(class)
                && (self.live.len() as u64) < budget.objects
                && self.bytes + self.beta(class) <= budget.block_bytes
        };
        match self.demand {
            Demand::PerClass(most) => in_peaks(most),
            Demand::Joint(budget) => in_budget(budget),
            Demand::Both(budget, most) => in_budget(budget) && in_peaks(most),
        }
    }

    /// Inserts an object if the demand allows it; it must then succeed.
    fn insert(&mut self, len: usize) -> bool {
        let class = self
            .config
            .geometry()
            .class_for(len, 8)
            .expect("fits a page");
        if !self.allows(class) {
            return false;
        }
        self.turn += 1;
        let local = &self.locals[self.turn % self.locals.len()];
        let object = local
            .alloc_zeroed(layout(len))
            .expect("the demand is certified");
        self.live.push((object, class));
        self.bytes += self.beta(class);
        true
    }

    fn free(&mut self, number: usize) {
        self.turn += 1;
        let (object, class) = self.live.swap_remove(number);
        self.bytes -= self.beta(class);
        self.locals[self.turn % self.locals.len()]
            .free_bytes(object)
            .expect("live");
    }

    /// Fills the demand with one size; frees all but every `keep`th object while `pins` of these
    /// are pinned.
    fn wave(&mut self, len: usize, keep: usize, pins: usize) {
        while self.insert(len) {}
        let kept = self.live.iter().enumerate();
        let pinned: Vec<_> = kept
            .filter(|(n, _)| n % keep == 0)
            .map(|(n, _)| n)
            .take(pins)
            .collect();
        let pinned: Vec<_> = pinned
            .into_iter()
            .rev()
            .map(|n| self.live.swap_remove(n))
            .collect();
        let guards: Vec<_> = pinned
            .iter()
            .map(|(object, _)| self.heap.pin_bytes(object).expect("live"))
            .collect();
        for number in (0..self.live.len()).rev() {
            if number % keep != 0 {
                self.free(number);
            }
        }
        drop(guards);
        self.live.extend(pinned);
    }
}

#[derive(Clone, Debug)]
enum Op {
    Insert(usize),
    Free(prop::sample::Index),
    Wave(usize, usize, usize),
    Compact(u64),
}

fn op() -> impl Strategy<Value = Op> {
    let len = prop_oneof![1_usize..64, 1_usize..300, 1_usize..=1024];
    prop_oneof![
        10 => len.clone().prop_map(Op::Insert),
        9 => any::<prop::sample::Index>().prop_map(Op::Free),
        2 => (len, 2_usize..20, 0_usize..=3).prop_map(|(len, keep, pins)| Op::Wave(len, keep, pins)),
        1 => (0_u64..40).prop_map(Op::Compact),
    ]
}

const GUARDS: u32 = 3;

fn run<G: Granularity>(shared: &SharedConfig<G>, demand: &Demand<'_>, ops: &[Op], locals: u32) {
    let config = shared.config();
    // Only one of the threads is in a call at a time, but each has a buffer.
    let sharing = Sharing::new(locals).with_guards(GUARDS);
    let certificate = certify_shared::<Lock, G>(shared, &sharing, demand).expect("small");
    let mut memory = ExactMemory::new();
    let region = exact(&mut memory, config, certificate.aligned_bytes);
    let heap = SharedHeap::new(region, shared).expect("the region is large enough");
    let mut script = Script {
        heap: &heap,
        config,
        locals: (0..locals)
            .map(|_| heap.register().expect("as configured"))
            .collect(),
        demand,
        live: Vec::new(),
        bytes: 0,
        turn: 0,
    };
    for op in ops {
        match op {
            Op::Insert(len) => drop(script.insert(*len)),
            Op::Wave(len, keep, pins) => script.wave(*len, *keep, *pins),
            Op::Compact(budget) => assert!(heap.compact(*budget) <= *budget),
            Op::Free(_) if script.live.is_empty() => {}
            Op::Free(number) => script.free(number.index(script.live.len())),
        }
        assert!(heap.stats().pages <= certificate.used_pages);
        assert_within(&heap, config, 0, GUARDS);
    }
    heap.check(true).expect("every invariant holds");
    heap.compact(u64::MAX);
    heap.check(false).expect("every debt is paid");
    let copied = heap.stats().copied_in_section_max;
    assert!(
        copied <= certificate.work.copied_bytes_max_per_section,
        "{copied} bytes"
    );
    let parts = certificate.parts;
    let sum = parts.data_page_bytes
        + parts.pin_bytes
        + parts.call_bytes
        + parts.page_buffer_bytes
        + parts.handle_bytes
        + parts.handle_buffer_bytes
        + parts.page_record_bytes
        + parts.state_bytes
        + parts.alignment_bytes;
    assert_eq!(sum, certificate.heap_bytes);
}

pub(crate) fn shared<G: Granularity>(config: &Config) -> SharedConfig<G> {
    let shared = SharedConfig::new(config.clone())
        .with_pins(8)
        .with_locals(4, 2);
    shared
        .expect("four threads")
        .with_handle_buffer(4)
        .expect("four handles")
}

/// A configuration for each bound, in steps of 64 bytes, whole, under one lock, under page locks.
fn run_all(demand: &Demand<'_>, ops: &[Op], locals: u32) {
    for (number, config) in configs(1024, 4).into_iter().enumerate() {
        match number % 4 {
            0 => run(
                &shared::<PerClass>(&config)
                    .with_increment(64)
                    .expect("valid"),
                demand,
                ops,
                locals,
            ),
            1 => run(&shared::<PerClass>(&config), demand, ops, locals),
            2 => run(
                &shared::<PerHeap>(&config)
                    .with_increment(16)
                    .expect("valid"),
                demand,
                ops,
                locals,
            ),
            _ => run(&shared::<PerPage>(&config), demand, ops, locals),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_joint_demand_is_never_refused(
        ops in prop::collection::vec(op(), 1..200),
        objects in 1_u64..500,
        block_bytes in 1_u64..20_000,
        largest in 1_usize..=1024,
        locals in 1_u32..=4,
    ) {
        let classes = ClassSet::of_requests(configs(1024, 4)[0].geometry(), largest);
        run_all(&Demand::Joint(Budget { objects, block_bytes, classes }), &ops, locals);
    }

    #[test]
    fn a_demand_per_class_or_both_is_never_refused(
        ops in prop::collection::vec(op(), 1..200),
        most in prop::collection::vec(prop_oneof![Just(0), 0_u32..4, 0_u32..60], 128),
        block_bytes in 1_u64..20_000,
        locals in 1_u32..=4,
    ) {
        let geometry = configs(1024, 4)[0].geometry().clone();
        let most = &most[..geometry.class_count()];
        run_all(&Demand::PerClass(most), &ops, locals);
        let budget = Budget { objects: 200, block_bytes, classes: ClassSet::all(&geometry) };
        run_all(&Demand::Both(budget, most), &ops, locals);
    }
}

// ---- exact, and tight ---------------------------------------------------------------------------

/// How many objects one thread gets when every class is filled to its peak.
fn served<G: Granularity>(config: &SharedConfig<G>, most: &[u32], bytes: usize) -> u64 {
    let geometry = config.config().geometry();
    let mut region = JunkRegion::new(bytes, geometry.page_bytes().max(128), 5);
    let Ok(heap) = SharedHeap::<Lock, G>::new(region.memory(), config) else {
        return 0;
    };
    let local = heap.register().expect("a thread");
    let mut count = 0;
    for (class, most) in geometry.classes().zip(most) {
        let beta = geometry.layout(class).block_bytes as usize;
        for _ in 0..*most {
            count += u64::from(local.alloc_zeroed(layout(beta)).is_ok());
        }
    }
    count
}

fn check_exact<G: Granularity>() {
    for (most, groups) in [
        (&[4, 0, 64][..], 2),
        (&[256, 512], 2),
        (&[0, 0, 0, 1024], 1),
        (&[4; 17], 17),
    ] {
        let demanded: u64 = most.iter().map(|&most| u64::from(most)).sum();
        for bound in [Bound::Pages(1), Bound::DEFAULT, Bound::Unbounded] {
            let config = Config::new(geometry(1024, 4), bound).expect("valid");
            let config = shared::<G>(&config.with_pieces(None).expect("valid"));
            let certificate =
                certify_shared::<Lock, G>(&config, &Sharing::new(1), &Demand::PerClass(most));
            let SharedCertificate {
                aligned_bytes,
                entries,
                ..
            } = certificate.expect("small");
            let spare = 4 * (groups - 1 + u64::from(G::PAGES));
            assert_eq!(entries, demanded + spare);
            assert_eq!(served(&config, most, aligned_bytes), demanded);
            for more in [128, 256, 1000, 1024, 1152, 5000] {
                assert_eq!(
                    served(&config, most, aligned_bytes + more),
                    demanded,
                    "{more} bytes more"
                );
            }
            // No entries wait in other groups here, so their pages are what this script can do
            // without.
            let fewer = aligned_bytes - (spare * 12) as usize - 1024 - 256;
            assert!(served(&config, most, fewer) < demanded, "{most:?}");
        }
    }
}

#[test]
fn the_peaks_of_all_classes_fit_the_aligned_bytes() {
    check_exact::<PerClass>();
    check_exact::<PerHeap>();
    check_exact::<PerPage>();
}

static STATIC: SharedConfig = SharedConfig::new(Config::DEFAULT);
const JOINT: Demand<'static> = Demand::Joint(Budget {
    objects: 500,
    block_bytes: 16 << 10,
    classes: ClassSet::of_requests(STATIC.config().geometry(), 256),
});
const BYTES: usize = shared_region_bytes::<Lock, PerClass>(&STATIC, &Sharing::new(2), &JOINT);
static MEMORY: Region<BYTES, Page16K> = Region::new();

#[test]
fn a_static_region_of_the_certified_size_serves_the_demand() {
    let memory = MEMORY.take().expect("taken once");
    let heap = SharedHeap::<Lock>::new(memory, &STATIC).expect("large enough");
    let local = heap.register().expect("a thread");
    let objects: Vec<_> = (0..500_u64)
        .map(|n| local.insert(n).expect("certified"))
        .collect();
    assert!(
        objects
            .iter()
            .zip(0..)
            .all(|(object, n)| *heap.pin(object).expect("live") == n)
    );
}
