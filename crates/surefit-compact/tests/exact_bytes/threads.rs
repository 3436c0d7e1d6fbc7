//! Threads that run at once and divide a demand, in exactly the bytes certified for the whole
//! demand.

use surefit_compact::certify::{Budget, Demand};
use surefit_compact::shared::{Granularity, PerClass, PerHeap, PerPage, ShardedHeap};
use surefit_testkit::ExactMemory;

use crate::cases;
use crate::chooser::Chooser;
use crate::drive::{Drive, Order, Outcome, Size};
use crate::generate::{demand, setup, sizes};
use crate::heaps::{Home, Shared, UnderTest, shared_heap};
use crate::setup::{Kind, OwnedDemand, Setup};

/// Heaps of each kind; `SUREFIT_HEAPS` makes more.
const HEAPS: u64 = 60;

/// What each of the threads does.
struct Share {
    setup: Setup,
    sizes: Vec<Size>,
    demand: OwnedDemand,
}

impl Share {
    /// A thread's scripts in its part of the demand.
    fn run(&self, heap: &mut dyn UnderTest, seed: u64) -> Outcome {
        let limits = self.demand.limits();
        // Counters of a heap in use mix several moments.
        let numbers = ((u64::MAX, u64::MAX), seed);
        let mut drive = Drive::new(heap, &self.setup, &self.sizes, &limits, numbers);
        for order in [
            Order::Random,
            Order::Adversarial,
            Order::Sorted,
            Order::Random,
            Order::Minimal,
        ] {
            drive.script(order)?;
        }
        drive.free_all();
        Ok(())
    }
}

/// The demand of `threads` threads with equal shares.
fn times(share: &OwnedDemand, threads: u32) -> OwnedDemand {
    let peaks = |most: &[u32]| most.iter().map(|count| count * threads).collect();
    let budget = |budget: &Budget| Budget {
        objects: budget.objects * u64::from(threads),
        block_bytes: budget.block_bytes * u64::from(threads),
        ..*budget
    };
    match share.limits() {
        Demand::PerClass(most) => OwnedDemand::PerClass(peaks(most)),
        Demand::Joint(joint) => OwnedDemand::Joint(budget(&joint)),
        Demand::Both(joint, most) => OwnedDemand::Both(budget(&joint), peaks(most)),
    }
}

/// Runs `act` in `threads` threads.
fn in_threads(threads: u32, act: &(impl Fn(u32) -> Outcome + Sync)) -> Outcome {
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads)
            .map(|number| scope.spawn(move || act(number)))
            .collect();
        let outcomes = running
            .into_iter()
            .map(|thread| thread.join().expect("no panic"));
        outcomes.fold(Ok(()), Outcome::and)
    })
}

fn divide<'m, G: Granularity, H: Home<'m, G> + Sync>(
    heap: &H,
    share: &Share,
    (threads, seed): (u32, u64),
) -> Outcome {
    in_threads(threads, &|number| {
        let mut heap = Shared::new(heap, number..number + 1).expect("as configured");
        share.run(&mut heap, seed + u64::from(number))
    })?;
    heap.check().expect("every invariant holds");
    Ok(())
}

/// A heap, and what its threads do; `None` if the seed's numbers do not suit any heap.
fn case(kind: Kind, seed: u64) -> Option<(Setup, Share)> {
    let mut chooser = Chooser::new(seed);
    let setup = setup(&mut chooser, kind);
    setup.config()?;
    let sizes = sizes(&mut chooser, &setup);
    if sizes.is_empty() {
        return None;
    }
    let threads = 2 + chooser.below(3) as u32;
    let guards = chooser.below(3) as u32;
    let demand = demand(&mut chooser, &setup, &sizes);
    let mut whole = Setup {
        threads,
        guards: guards * threads,
        pins: guards * threads + threads - 1,
        locals: u16::try_from(threads).expect("few"),
        frees: setup.frees * u64::from(threads),
        ..setup.clone()
    };
    if setup.pieces.is_some() {
        // Each thread pins a piece and the spines above it beside the object of its call.
        whole.guards += 6 * threads;
        whole.pins += 6 * threads;
    }
    let share = Setup {
        guards,
        threads: 1,
        locals: 1,
        ..setup
    };
    Some((
        whole,
        Share {
            setup: share,
            sizes,
            demand,
        },
    ))
}

/// With `more` bytes than are certified, the heap lends what the demand leaves over.
fn run(kind: Kind, seed: u64, more: Option<usize>, memory: &mut ExactMemory) -> Option<Outcome> {
    let (whole, share) = case(kind, seed)?;
    let demand = times(&share.demand, whole.threads);
    let certified = whole.certify(&demand.limits()).ok()?;
    let config = whole.config().expect("valid");
    let bytes = certified.aligned_bytes + more.unwrap_or(0);
    let slack = match more {
        None => None,
        Some(_) => Some(whole.slack(&demand.limits(), bytes)?),
    };
    let region = memory.region(bytes, certified.align, 0);
    let numbers = (whole.threads, seed);
    Some(match kind {
        Kind::PerHeap => {
            let config = whole.stepwise::<PerHeap>(&config);
            let heap = shared_heap(region, &config, slack).expect("large enough");
            divide(&heap, &share, numbers)
        }
        Kind::PerClass => {
            let config = whole.stepwise::<PerClass>(&config);
            let heap = shared_heap(region, &config, slack).expect("large enough");
            divide(&heap, &share, numbers)
        }
        Kind::PerPage => {
            let config = whole.shared::<PerPage>(&config);
            let heap = shared_heap(region, &config, slack).expect("large enough");
            divide(&heap, &share, numbers)
        }
        Kind::ShardedPerHeap => {
            let config = whole.stepwise::<PerHeap>(&config);
            let heap = ShardedHeap::new(region, &config, whole.instances).expect("large enough");
            divide(&heap, &share, numbers)
        }
        Kind::ShardedPerClass => {
            let config = whole.stepwise::<PerClass>(&config);
            let heap = ShardedHeap::new(region, &config, whole.instances).expect("large enough");
            divide(&heap, &share, numbers)
        }
        _ => unreachable!("one owner"),
    })
}

#[test]
fn threads_that_divide_a_demand_are_refused_nothing() {
    let mut memory = ExactMemory::new();
    let (mut heaps, mut failures) = (0, 0);
    for kind in Kind::ALL.into_iter().filter(|kind| kind.is_shared()) {
        for seed in 0..HEAPS * cases::times() {
            for more in [None, Some(0), Some(4096)] {
                match run(kind, seed, more, &mut memory) {
                    None => continue,
                    Some(Ok(())) => {}
                    Some(Err(failure)) => {
                        failures += 1;
                        let (setup, share) = case(kind, seed).expect("it ran");
                        println!(
                            "{kind:?}, seed {seed}, {more:?} more: {failure}; each of {} threads {:?}\n  {setup:?}",
                            setup.threads, share.demand
                        );
                    }
                }
                heaps += 1;
            }
        }
    }
    println!("{heaps} heaps, {failures} refused");
    assert!(
        heaps > 150 && failures == 0,
        "{failures} of {heaps} heaps refused"
    );
}
