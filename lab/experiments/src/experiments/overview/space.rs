//! Predictable space: whether what can still be allocated depends on the order of the operations.
//!
//! The slides' *degree of fragmentation* of a size is the number of pieces of that size that can
//! still be allocated. Space is predictable if it is the same after all orders of the same
//! allocations and frees.
//!
//! ```text
//! for each history, for each size:
//!     fill the heap with small objects and free them          (tables that never shrink are then as large as they get)
//!     the allocations and frees, in the order of the history  (`histories`)
//!     allocate pieces of the size until one is refused; their number is the degree
//! ```
//! Every piece is really allocated. All runs are in one region, which begins at a multiple of 64
//! KiB: what a heap makes of its addresses is the same in each.
//!
//! # Source
//! The slides on Compact-fit: metrics of space.

use std::alloc::Layout;

use anyhow::{Result, anyhow};

use super::histories::{self, Group, History, Step};
use super::region::Aligned;
use super::systems::Space;
use surefit_measure::spec::{Choice, Spec};
use surefit_measure::subject::{Pass, Subject};

/// What objects are aligned to.
const ALIGN: usize = 8;

/// The sizes whose degrees are measured, in bytes; the first is also that of the objects that fill
/// the heap before.
pub(super) const SIZES: [usize; 4] = [40, 100, 1000, 10_000];

/// The allocations and frees of each size: some 870 KB allocated and nine tenths of it freed.
/// Several pages of each size-class, and no order runs out of memory.
const GROUPS: [Group; 6] = [
    group(40, 4000, 3600),
    group(100, 1500, 1350),
    group(200, 800, 720),
    group(500, 300, 270),
    group(1000, 120, 108),
    group(3000, 40, 36),
];

const fn group(bytes: usize, allocations: usize, frees: usize) -> Group {
    Group {
        bytes,
        allocations,
        frees,
    }
}

/// The region, in bytes.
const REGION_BYTES: usize = 2 << 20;

/// The allocations and frees, their orders, and the region they happen in.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// By size.
    pub(super) groups: &'static [Group],
    /// The region, in bytes.
    pub(super) region_bytes: usize,
    histories: Vec<History>,
}

impl Plan {
    /// The plan of a run: a quick one has fewer shuffled orders, and all others.
    pub(super) fn new(is_quick: bool) -> Self {
        Self {
            groups: &GROUPS,
            region_bytes: REGION_BYTES,
            histories: histories::all(is_quick),
        }
    }

    /// It in words, for a report.
    pub(super) fn words(&self) -> String {
        let sum = |of: fn(&Group) -> usize| self.groups.iter().map(of).sum::<usize>();
        format!(
            "{} allocations of {} sizes and {} frees in {} KiB, in {} orders: shuffled; all allocations before all frees; \
             size after size; and freed are random ones, the oldest, the newest, or all but a comb",
            sum(|group| group.allocations),
            self.groups.len(),
            sum(|group| group.frees),
            self.region_bytes >> 10,
            self.histories.len()
        )
    }
}

/// The least and the greatest degree of one size over all orders; `None` if every order was refused
/// a request.
pub(super) type Degree = Option<(u64, u64)>;

/// The degrees of all sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Degrees(pub(super) [Degree; SIZES.len()]);

impl Degrees {
    /// The column of the chart; `None` if no order ran to its end.
    pub(super) fn space(&self) -> Option<Space> {
        let is_fixed = |degree: &Degree| degree.is_some_and(|(least, most)| least == most);
        if self.0.iter().all(Option::is_none) {
            return None;
        }
        Some(match self.0.iter().all(is_fixed) {
            true => Space::Predictable,
            false => Space::Unpredictable,
        })
    }
}

impl Degrees {
    /// How much of what one order leaves another one takes away, in per cent, for the size where
    /// that is most; `None` if no order ran to its end.
    pub(super) fn spread_percent(&self) -> Option<f64> {
        let of = |&(least, most): &(u64, u64)| 100.0 * (most - least) as f64 / most.max(1) as f64;
        self.0.iter().flatten().map(of).max_by(f64::total_cmp)
    }
}

/// Measures the degrees of one allocator.
///
/// # Errors
/// An allocator of another process; no memory; one that cannot be built in the region.
pub(super) fn degrees(spec: &Spec, plan: &Plan) -> Result<Degrees> {
    let Choice::InProcess(kind) = &spec.choice else {
        return Err(anyhow!("{spec}: lives in no region"));
    };
    let mut region = Aligned::new(plan.region_bytes)?;
    let mut found = [None; SIZES.len()];
    for (degree, bytes) in found.iter_mut().zip(SIZES) {
        let over_orders = plan.histories.iter().map(|&history| {
            let pass = Probe {
                groups: plan.groups,
                history,
                bytes,
            };
            let built = kind.run_untimed(region.memory(), pass);
            built.map_err(|refused| anyhow!("{spec}: {refused}"))
        });
        *degree = range(&over_orders.collect::<Result<Vec<_>>>()?);
    }
    Ok(Degrees(found))
}

/// The least and the greatest; an order that was refused a request leaves room for nothing. `None`
/// if all were.
fn range(degrees: &[Option<u64>]) -> Degree {
    degrees.iter().flatten().next()?;
    let degrees = degrees.iter().map(|degree| degree.unwrap_or(0));
    Some((degrees.clone().min()?, degrees.max()?))
}

/// One order, and how many pieces of a size can be allocated after it; `None` if a request of the
/// order was refused.
#[derive(Clone, Copy, Debug)]
struct Probe<'a> {
    groups: &'a [Group],
    history: History,
    bytes: usize,
}

impl Pass for Probe<'_> {
    type Output = Option<u64>;

    fn run<S: Subject>(self, mut subject: S) -> Option<u64> {
        let smallest = until_refused(&mut subject, SIZES[0]);
        for object in smallest {
            // SAFETY: the object is this subject's and live; its layout is that of `SIZES[0]`.
            unsafe { subject.free(object, layout(SIZES[0])) };
        }
        self.operate(&mut subject)?;
        Some(until_refused(&mut subject, self.bytes).len() as u64)
    }
}

impl Probe<'_> {
    /// Makes the operations in the order of the history.
    fn operate<S: Subject>(&self, subject: &mut S) -> Option<()> {
        let empty = |group: &Group| (0..group.allocations).map(|_| None).collect();
        let mut live: Vec<Vec<Option<S::Object>>> = self.groups.iter().map(empty).collect();
        for step in self.history.steps(self.groups) {
            match step {
                Step::Allocate(at, number) => {
                    let object = subject.allocate(layout(self.groups[at].bytes), false);
                    live[at][number] = Some(object.ok()?);
                }
                Step::Free(at, number) => {
                    let object = live[at][number].take()?;
                    // SAFETY: the object is this subject's, live until now, and has the layout of
                    // its group.
                    unsafe { subject.free(object, layout(self.groups[at].bytes)) };
                }
            }
        }
        Some(())
    }
}

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, ALIGN).expect("small")
}

/// Allocates objects of a size until one is refused.
fn until_refused<S: Subject>(subject: &mut S, bytes: usize) -> Vec<S::Object> {
    let allocate = || subject.allocate(layout(bytes), false).ok();
    std::iter::from_fn(allocate).collect()
}

#[cfg(test)]
mod tests {
    use super::{Degrees, Plan, Probe, SIZES, degrees, range};
    use crate::experiments::overview::systems::Space;
    use std::alloc::Layout;
    use std::mem::MaybeUninit;
    use surefit_core::Refused;
    use surefit_measure::spec::Spec;
    use surefit_measure::subject::{Pass, Subject};

    /// A heap of the given number of bytes without any structure: whatever is free can be
    /// allocated.
    struct Fluid {
        free: usize,
    }

    /// A stack: what is freed below the top is lost until all above it is freed.
    struct Stack {
        bytes: usize,
        /// Bytes of each object, and whether it is live.
        objects: Vec<(usize, bool)>,
    }

    macro_rules! fake {
        ($heap:ident, |$self:ident, $bytes:ident| $allocate:expr, |$this:ident, $object:ident, $size:ident| $free:expr) => {
            impl Subject for $heap {
                type Object = usize;
                fn allocate(&mut self, layout: Layout, _: bool) -> Result<usize, Refused> {
                    let ($self, $bytes) = (self, layout.size());
                    $allocate
                }
                unsafe fn free(&mut self, object: usize, layout: Layout) {
                    let ($this, $object, $size) = (self, object, layout.size());
                    $free
                }
                unsafe fn resize(
                    &mut self,
                    _: &mut usize,
                    _: Layout,
                    _: usize,
                ) -> Result<(), Refused> {
                    unreachable!("no order resizes")
                }
                unsafe fn chunk<'a>(
                    &'a mut self,
                    _: &'a mut usize,
                    _: Layout,
                    _: usize,
                ) -> &'a mut [MaybeUninit<u8>] {
                    &mut []
                }
            }
        };
    }

    fake!(
        Fluid,
        |heap, bytes| {
            heap.free = heap.free.checked_sub(bytes).ok_or(Refused::NoChunk)?;
            Ok(0)
        },
        |heap, _object, bytes| heap.free += bytes
    );

    fake!(
        Stack,
        |heap, bytes| {
            let used: usize = heap.objects.iter().map(|object| object.0).sum();
            if used + bytes > heap.bytes {
                return Err(Refused::NoChunk);
            }
            heap.objects.push((bytes, true));
            Ok(heap.objects.len() - 1)
        },
        |heap, object, _bytes| {
            heap.objects[object].1 = false;
            while heap.objects.last().is_some_and(|last| !last.1) {
                heap.objects.pop();
            }
        }
    );

    fn over_orders<S: Subject>(heap: impl Fn() -> S) -> Degrees {
        let plan = Plan::new(true);
        let degree = |bytes| {
            let orders = plan.histories.iter().map(|&history| {
                let probe = Probe {
                    groups: plan.groups,
                    history,
                    bytes,
                };
                probe.run(heap())
            });
            range(&orders.collect::<Vec<_>>())
        };
        Degrees(SIZES.map(degree))
    }

    #[test]
    fn a_heap_whose_free_bytes_serve_anything_is_predictable() {
        let found = over_orders(|| Fluid { free: 2_000_000 });
        assert_eq!(found.space(), Some(Space::Predictable), "{found:?}");
        let left: usize = Plan::new(true)
            .groups
            .iter()
            .map(|group| group.left() * group.bytes)
            .sum();
        let pieces = ((2_000_000 - left) / 1000) as u64;
        assert_eq!(found.0[2], Some((pieces, pieces)));
    }

    #[test]
    fn a_heap_that_gives_back_only_its_top_is_not() {
        let found = over_orders(|| Stack {
            bytes: 2_000_000,
            objects: Vec::new(),
        });
        assert_eq!(found.space(), Some(Space::Unpredictable), "{found:?}");
    }

    #[test]
    fn a_heap_that_runs_out_in_some_order_is_not_and_one_that_always_does_says_nothing() {
        assert_eq!(range(&[None, None]), None);
        assert_eq!(range(&[Some(3), None]), Some((0, 3)));
        let half = Degrees([Some((0, 3)), Some((0, 5)), Some((0, 1)), Some((0, 0))]);
        assert_eq!(half.space(), Some(Space::Unpredictable));
        let found = over_orders(|| Fluid { free: 1000 });
        assert_eq!(found.space(), None);
    }

    #[test]
    fn full_compaction_is_predictable_and_first_fit_is_not() {
        let space = |name| {
            let spec = Spec::parse(name).expect("an allocator");
            degrees(&spec, &Plan::new(true)).expect("memory").space()
        };
        assert_eq!(space("cf:k=1,pieces=off"), Some(Space::Predictable));
        assert_eq!(space("first-fit"), Some(Space::Unpredictable));
    }

    /// As printed before: over 50 shuffled orders TLSF varied by .1 %, and a heap with a bound on
    /// holes was predictable in a quick run.
    #[test]
    fn the_order_is_seen_where_nothing_moves_and_where_moves_have_a_bound() {
        let spread = |name| {
            let spec = Spec::parse(name).expect("an allocator");
            let degrees = degrees(&spec, &Plan::new(true)).expect("memory");
            degrees.spread_percent().expect("served")
        };
        assert!(spread("tlsf") > 10.0);
        assert!(spread("cf") > 0.0);
        assert!(spread(super::super::systems::CFM) == 0.0);
    }
}
