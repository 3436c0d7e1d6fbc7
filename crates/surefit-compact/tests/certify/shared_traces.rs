//! Recorded programs in shared heaps of exactly the sizes that their demands certify.

use core::alloc::Layout;

use surefit_compact::certify::{Demand, DemandMeter, Sharing, certify_shared, shared_slack_bytes};
use surefit_compact::shared::{PerClass, SharedConfig, SharedHeap};
use surefit_compact::{Bound, Bytes, Config, Geometry, Wide};
use surefit_testkit::{ExactMemory, layout};
use surefit_trace::{Event, Op, Trace};

use crate::shared::{Lock, assert_within};
use crate::{exact, holes};

const ALIGN: usize = 8;

/// What a trace does to its objects, numbered in the order of their allocation.
trait Target {
    fn insert(&mut self, len: usize, align: usize);
    fn resize(&mut self, number: usize, len: usize);
    fn free(&mut self, number: usize);
}

fn apply(event: &Event, target: &mut impl Target) {
    let bytes = |size: u64| usize::try_from(size).expect("recorded here");
    match event.op() {
        Op::Alloc { size, call, .. } => target.insert(bytes(size), call.align_at_least(ALIGN)),
        Op::Realloc { id, size } => target.resize(id as usize, bytes(size)),
        Op::Free { id } => target.free(id as usize),
    }
}

/// Counts what the calls keep live; a resize that does not stay in place holds both objects.
struct Metered<'c>(DemandMeter<'c>, Vec<(usize, usize)>);

impl Target for Metered<'_> {
    fn insert(&mut self, len: usize, align: usize) {
        self.0.allocate(len, align).expect("in pieces");
        self.1.push((len, align));
    }

    fn resize(&mut self, number: usize, len: usize) {
        let (old, new) = (self.1[number], (len, ALIGN));
        self.0.resize_by_copy(old, new).expect("in pieces");
        self.1[number] = new;
    }

    fn free(&mut self, number: usize) {
        let (len, align) = self.1[number];
        self.0.free(len, align).expect("in pieces");
    }
}

type Local<'h, 'm> = surefit_compact::shared::Local<'h, 'm, Lock, PerClass>;

/// The calls, made through four registrations in turn.
struct Real<'h, 'm> {
    locals: [Local<'h, 'm>; 4],
    live: Vec<Option<Bytes<u8>>>,
    turn: usize,
}

impl<'h, 'm> Real<'h, 'm> {
    fn local(&mut self) -> &Local<'h, 'm> {
        self.turn += 1;
        &self.locals[self.turn % 4]
    }
}

impl Target for Real<'_, '_> {
    fn insert(&mut self, len: usize, align: usize) {
        let layout = Layout::from_size_align(len, align).expect("recorded here");
        let object = self.local().alloc_zeroed(layout);
        self.live
            .push(Some(object.expect("the demand is certified")));
    }

    fn resize(&mut self, number: usize, len: usize) {
        let mut object = self.live[number].take().expect("live");
        self.local()
            .resize(&mut object, layout(len))
            .expect("the demand is certified");
        self.live[number] = Some(object);
    }

    fn free(&mut self, number: usize) {
        let object = self.live[number].take().expect("live");
        self.local().free_bytes(object).expect("live");
    }
}

/// Four registrations that buffer pages, one call at a time.
const SHARING: Sharing = Sharing::new(4);

fn emacs() -> Trace {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/emacs.sft.zst");
    Trace::load(path).expect("a bundled trace")
}

/// What the calls keep live.
fn meter<'c>(trace: &Trace, config: &'c Config) -> DemandMeter<'c> {
    let mut metered = Metered(DemandMeter::new::<Wide>(config), Vec::new());
    trace
        .events()
        .iter()
        .for_each(|event| apply(event, &mut metered));
    metered.0
}

fn replay(trace: &Trace, config: &SharedConfig, demand: &Demand<'_>) -> usize {
    let sharing = SHARING;
    let certificate =
        certify_shared::<Lock, _>(config, &sharing, demand).expect("a heap can serve it");
    let mut memory = ExactMemory::new();
    let region = exact(&mut memory, config.config(), certificate.aligned_bytes);
    let heap = SharedHeap::<Lock>::new(region, config).expect("large enough");
    let locals = [(); 4].map(|()| heap.register().expect("as configured"));
    let mut real = Real {
        locals,
        live: Vec::new(),
        turn: 0,
    };
    for (number, event) in trace.events().iter().enumerate() {
        apply(event, &mut real);
        if number % 5000 == 0 {
            assert_within(&heap, config.config(), 0, 0);
            assert!(heap.stats().pages <= certificate.used_pages);
        }
    }
    certificate.heap_bytes
}

#[test]
fn recorded_programs_complete_in_what_their_demands_certify() {
    let trace = emacs();
    for bound in [
        Bound::DEFAULT,
        Bound::Pages(1),
        holes(32, 0, 1),
        Bound::Unbounded,
    ] {
        let config = Config::new(Geometry::DEFAULT, bound).expect("valid");
        let meter = meter(&trace, &config);
        let shared = SharedConfig::new(config.clone())
            .with_increment(512)
            .expect("valid");
        let budget = meter.budget();
        for (name, demand) in [
            ("joint", meter.joint()),
            ("per class", meter.per_class()),
            ("both", meter.both()),
        ] {
            if bound == Bound::Unbounded && name == "joint" {
                continue; // tens of times the program
            }
            let bytes = replay(&trace, &shared, &demand);
            let ratio = bytes as f64 / budget.block_bytes as f64;
            println!(
                "{}, {bound}, {name}: {ratio:.3} of the page-blocks",
                trace.name()
            );
        }
    }
}

/// The moves of a program in a heap that lends so much, or one whose classes keep δ and ε each.
fn moves(trace: &Trace, config: &SharedConfig, bytes: usize, slack: Option<usize>) -> u64 {
    let mut memory = ExactMemory::new();
    let region = exact(&mut memory, config.config(), bytes);
    let heap = match slack {
        None => SharedHeap::<Lock>::new(region, config),
        Some(slack) => SharedHeap::with_slack(region, config, slack),
    };
    let heap = heap.expect("large enough");
    let mut real = Real {
        locals: [(); 4].map(|()| heap.register().expect("as configured")),
        live: Vec::new(),
        turn: 0,
    };
    trace
        .events()
        .iter()
        .for_each(|event| apply(event, &mut real));
    heap.check(false).expect("sound");
    heap.stats().moves_total
}

#[test]
fn a_program_whose_heap_is_told_its_demand_moves_less_in_the_same_bytes() {
    let (trace, config) = (emacs(), SharedConfig::new(Config::DEFAULT));
    let meter = meter(&trace, config.config());
    let demand = meter.both();
    let certificate = certify_shared::<Lock, _>(&config, &SHARING, &demand).expect("served");
    let bytes = certificate.aligned_bytes;
    let slack = |bytes| shared_slack_bytes::<Lock, _>(&config, &SHARING, &demand, bytes);
    let told = |bytes| moves(&trace, &config, bytes, Some(slack(bytes).expect("enough")));
    let (untold, told, twice) = (
        moves(&trace, &config, bytes, None),
        told(bytes),
        told(2 * bytes),
    );
    println!("moves: {untold}; told the demand {told}; in twice the bytes {twice}");
    assert!(untold > 20_000 && told < untold / 100 && twice == 0);
}
