//! What a nursery promoted in a run of a program is promoted again, into a space of the collector,
//! through its lookup.
//!
//! ```text
//! for every minor:  the dead are forgotten; large objects are allocated
//!                   timed: sort, if by size; for each survivor: allocate, copy its bytes
//! no room:          mark-sweep of the old space; what lived then in the run is a root; not timed
//! ```
#![deny(unsafe_code)]

use std::mem::MaybeUninit;

use surefit_clients::java::Lists;
use surefit_clients::lists::Choice;
use surefit_freelist::{Coalescing, Counters, Index, LastList, Lookup, Segregated};
use surefit_gc::{Client, Collector, Edges, FreeList, Object, Scanned, Settings, Space, Sweep};
use surefit_os::clock::thread_cpu_ns;
use surefit_vm::{Minor, Promotions, Survivor};

/// In which order survivors are promoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// One by one, in the order of their allocation.
    Allocated,
    /// The smallest first.
    Rising,
    /// The largest first.
    Falling,
}

impl Order {
    pub(super) const ALL: [Self; 3] = [Self::Allocated, Self::Rising, Self::Falling];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Allocated => "as allocated",
            Self::Rising => "smallest first",
            Self::Falling => "largest first",
        }
    }

    /// The survivors and their places in the script's order, in this order.
    fn of(self, survivors: &[Survivor]) -> Vec<(usize, Survivor)> {
        let mut all: Vec<_> = survivors.iter().copied().enumerate().collect();
        match self {
            Self::Allocated => {}
            Self::Rising => all.sort_by_key(|(_, one)| one.bytes),
            Self::Falling => all.sort_by_key(|(_, one)| std::cmp::Reverse(one.bytes)),
        }
        all
    }
}

/// What a run did.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Promoted {
    /// Objects that were promoted.
    pub(super) objects: u64,
    /// List heads and chunks that were visited for them.
    pub(super) visits: u64,
    /// Updates of the table for them.
    pub(super) updates: u64,
    /// Collections of the old space.
    pub(super) collections: u64,
    /// Nanoseconds of all promotions, sorting included.
    pub(super) ns: u64,
    /// Old objects at the end.
    pub(super) live: u64,
}

type Run = fn(&Promotions, &mut [MaybeUninit<u8>], Order) -> Option<Promoted>;

/// Promotes over the lists that [`Lists::choose_merging`] chooses; `None` if there is no room.
/// All of the region is the old space, tables included.
pub(super) fn promote(
    lists: Lists,
    script: &Promotions,
    region: &mut [MaybeUninit<u8>],
    order: Order,
) -> Option<Promoted> {
    lists.choose_merging(OverLists)(script, region, order)
}

struct OverLists;

impl Choice for OverLists {
    type Output = Run;

    fn of<L: Lookup<N>, C: Coalescing, T: LastList, const N: usize>(self) -> Run {
        over::<Segregated<L, C, T, N>>
    }
}

fn over<I: Index>(
    script: &Promotions,
    region: &mut [MaybeUninit<u8>],
    order: Order,
) -> Option<Promoted> {
    let settings = Settings {
        sweep: Sweep::Walk,
        ..Settings::default()
    };
    let mut old = Old {
        gc: Collector::<FreeList<'_, I>>::new(region, settings).ok()?,
        live: Live(Vec::new()),
        nursery: vec![1; script.nursery_bytes],
        cold_ns: 0,
        promoted: Promoted::default(),
    };
    for minor in &script.minors {
        old.minor(minor, order)?;
    }
    old.promoted.collections = old.gc.totals().collections;
    old.promoted.live = old.live.0.iter().flatten().count() as u64;
    Some(old.promoted)
}

/// Old objects by their serials; the dead are absent.
struct Live(Vec<Option<Object>>);

impl<S: Space> Client<S> for Live {
    fn roots(&mut self, edges: &mut Edges<'_>) {
        let live = self.0.iter().flatten();
        live.for_each(|&object| edges.report(object));
    }

    fn scan(&mut self, _object: &Scanned<'_, S>, _from: u32, _edges: &mut Edges<'_>) {}
}

/// The old space.
struct Old<'m, I> {
    gc: Collector<'m, FreeList<'m, I>>,
    live: Live,
    nursery: Vec<u8>,
    /// Nanoseconds of collections, and of what followed them.
    cold_ns: u64,
    promoted: Promoted,
}

impl<I: Index> Old<'_, I> {
    fn minor(&mut self, minor: &Minor, order: Order) -> Option<()> {
        for &serial in &minor.dead {
            self.live.0[serial] = None;
        }
        for &bytes in &minor.large {
            let object = self.alloc(bytes as usize)?;
            self.live.0.push(Some(object));
        }
        let first = self.live.0.len();
        self.live.0.resize(first + minor.survivors.len(), None);
        let before = self.counters();
        let (began, cold) = (thread_cpu_ns(), self.cold_ns);
        let all = order.of(&minor.survivors);
        for (nth, survivor) in all {
            let object = self.copy(survivor)?;
            self.live.0[first + nth] = Some(object);
        }
        let passed = thread_cpu_ns() - began;
        let after = self.counters();
        let promoted = &mut self.promoted;
        promoted.ns += passed.saturating_sub(self.cold_ns - cold);
        promoted.objects += minor.survivors.len() as u64;
        promoted.visits += after.visits - before.visits;
        promoted.updates += after.table_updates - before.table_updates;
        Some(())
    }

    fn counters(&self) -> Counters {
        self.gc.space().heap().counters()
    }

    #[inline]
    fn copy(&mut self, survivor: Survivor) -> Option<Object> {
        let object = self.alloc(survivor.bytes as usize)?;
        let from = survivor.offset as usize;
        let bytes = &self.nursery[from..from + survivor.bytes as usize];
        self.gc.store_bytes(object, 0, bytes);
        Some(object)
    }

    #[inline]
    fn alloc(&mut self, bytes: usize) -> Option<Object> {
        match self.gc.alloc_as_is(bytes) {
            Ok(object) => Some(object),
            Err(_) => self.alloc_cold(bytes),
        }
    }

    #[cold]
    fn alloc_cold(&mut self, bytes: usize) -> Option<Object> {
        let began = thread_cpu_ns();
        let object = self.gc.alloc(&mut self.live, bytes).ok();
        self.cold_ns += thread_cpu_ns() - began;
        object
    }
}

#[cfg(test)]
mod tests {
    use std::mem::MaybeUninit;

    use surefit_clients::java::{Finds, Lists};
    use surefit_freelist::When;
    use surefit_vm::{Minor, Promotions, Survivor};

    use super::{Order, Promoted, promote};

    fn survivors(sizes: &[u32]) -> Vec<Survivor> {
        let mut offset = 0;
        let place = |&bytes| {
            let from = offset;
            offset += bytes;
            Survivor {
                offset: from,
                bytes,
            }
        };
        sizes.iter().map(place).collect()
    }

    /// Each time eight objects survive, and those of the time before last die.
    fn script(minors: usize) -> Promotions {
        let minor = |nth: usize| Minor {
            dead: match nth.checked_sub(2) {
                Some(before) => (9 * before..9 * before + 9).collect(),
                None => Vec::new(),
            },
            large: vec![4096],
            survivors: survivors(&[400, 16, 96, 24, 400, 1000, 16, 40]),
        };
        Promotions {
            minors: (0..minors).map(minor).collect(),
            nursery_bytes: 4096,
            born: 0,
            most_old_bytes: 0,
        }
    }

    fn run(finds: Finds, merges: When, order: Order) -> Promoted {
        let mut region = vec![MaybeUninit::uninit(); 40 << 10];
        let lists = Lists::usual(finds, merges);
        promote(lists, &script(200), &mut region, order).expect("room for three minors")
    }

    #[test]
    fn every_lookup_and_order_promotes_the_same_objects() {
        for merges in [When::Immediate, When::Deferred] {
            for order in Order::ALL {
                let [walk, table, bitmap] = Finds::ALL.map(|finds| run(finds, merges, order));
                for one in [walk, table, bitmap] {
                    assert_eq!((one.objects, one.live), (1600, 18));
                    assert!(one.collections > 10);
                }
                assert!(walk.visits > table.visits.max(bitmap.visits));
                assert!(table.updates > 0 && bitmap.updates == 0);
            }
        }
    }

    #[test]
    fn an_order_is_by_size_and_keeps_equals_as_found() {
        let survivors = survivors(&[24, 16, 24, 40]);
        let of = |order: Order| {
            let all = order.of(&survivors).into_iter();
            all.map(|(nth, _)| nth).collect::<Vec<_>>()
        };
        assert_eq!(of(Order::Allocated), [0, 1, 2, 3]);
        assert_eq!(of(Order::Rising), [1, 0, 2, 3]);
        assert_eq!(of(Order::Falling), [3, 0, 2, 1]);
    }

    #[test]
    fn a_space_that_is_too_small_ends_the_run() {
        let mut region = vec![MaybeUninit::uninit(); 12 << 10];
        let lists = Lists::usual(Finds::Bitmap, When::Immediate);
        assert!(promote(lists, &script(9), &mut region, Order::Allocated).is_none());
    }
}
