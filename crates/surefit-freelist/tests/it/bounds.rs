//! The upper bounds of docs/free-lists.md: in a region of so many bytes no system refuses a
//! request.
//!
//! The programs are those that are worst for systems which never move an object. That they are bad
//! enough is tested too: each of them is refused where a bound is a little too small, or where
//! there is none.

use std::alloc::Layout;
use std::ptr::NonNull;

use surefit_core::RawHeap;
use surefit_freelist::{
    Best, Bins, Bitmap, Buddy, Deferred, First, Heap, Immediate, Index, Linear, Never, Next,
    NextHitTable, PowersOfTwo, Scan, Segregated, SingleList, SizeTree, Tree, TwoLevel, Worst,
};
use surefit_testkit::{ExactMemory, Random};

/// What a program never exceeds: objects at once, bytes of all of them, bytes of each.
#[derive(Clone, Copy, Debug)]
struct Demand {
    objects: usize,
    bytes: usize,
    largest: usize,
}

/// A program that stays within a demand, and remembers whether it was refused.
struct Program<H> {
    heap: H,
    demand: Demand,
    live: Vec<(NonNull<u8>, Layout)>,
    bytes: usize,
    is_refused: bool,
}

impl<H: RawHeap> Program<H> {
    /// Whether the demand allows another object of so many bytes.
    fn has_room(&self, bytes: usize) -> bool {
        self.live.len() < self.demand.objects
            && self.bytes + bytes <= self.demand.bytes
            && bytes <= self.demand.largest
    }

    fn allocate(&mut self, bytes: usize) {
        if !self.has_room(bytes) {
            return;
        }
        let layout = Layout::from_size_align(bytes, 4).expect("a layout");
        match self.heap.allocate(layout) {
            Ok(place) => {
                self.live.push((place, layout));
                self.bytes += bytes;
            }
            Err(_) => self.is_refused = true,
        }
    }

    fn free(&mut self, which: usize) {
        let (place, layout) = self.live.swap_remove(which);
        self.bytes -= layout.size();
        // SAFETY: S1, S2: live, with its layout.
        unsafe { self.heap.free(place, layout) };
    }

    fn free_all(&mut self) {
        self.heap.check().expect("sound");
        while !self.live.is_empty() {
            self.free(0);
        }
    }

    /// One small object behind a gap that is a little too short for the largest, again and again:
    /// what is worst for systems that take from the longest chunk.
    fn spread(&mut self) {
        let gap = (self.demand.largest + 3) / 8 * 8;
        let gap = gap.saturating_sub(4).max(1);
        let rounds = self
            .demand
            .objects
            .min((self.demand.bytes.saturating_sub(gap)) / 2);
        for _ in 2..rounds {
            self.allocate(gap);
            self.allocate(1);
            let behind = self.live.len().saturating_sub(2);
            if self.live.len() > behind {
                self.free(behind);
            }
        }
        // What is left of the longest chunk may serve one.
        self.allocate(self.demand.largest);
        self.allocate(self.demand.largest);
        self.free_all();
    }

    /// Fills the heap with the smallest objects, frees all but every k-th, and asks for the
    /// largest.
    fn comb(&mut self) {
        for k in [2, 3, 7] {
            (0..self.demand.objects).for_each(|_| self.allocate(1));
            self.live.sort_unstable_by_key(|(place, _)| *place);
            let mut kept = 0;
            self.live.reverse();
            for which in (0..self.live.len()).rev() {
                kept += 1;
                if kept % k != 0 {
                    self.free(which);
                }
            }
            (0..self.demand.objects).for_each(|_| self.allocate(self.demand.largest));
            self.free_all();
        }
    }

    /// One size after another, as many objects of each as the demand allows.
    fn drift(&mut self) {
        for bytes in (1..=self.demand.largest).step_by(8) {
            (0..self.demand.objects).for_each(|_| self.allocate(bytes));
            while self.live.len() > 1 {
                self.free(0);
            }
        }
        self.free_all();
    }

    /// Robson's program for systems that never move an object: of each power of two it keeps the
    /// objects that spoil most areas of the next one.
    fn robson(&mut self) {
        let (mut offset, mut step) = (0, 2);
        (0..self.demand.objects).for_each(|_| self.allocate(12));
        while 16 * step - 4 <= self.demand.largest {
            let kept = |at: usize| {
                let own = self.live.iter();
                own.filter(|object| spoils(object, at, 2 * step)).count()
            };
            if kept(offset + step) > kept(offset) {
                offset += step;
            }
            step *= 2;
            for which in (0..self.live.len()).rev() {
                if !spoils(&self.live[which], offset, step) {
                    self.free(which);
                }
            }
            (0..self.demand.objects).for_each(|_| self.allocate(8 * step - 4));
        }
        self.allocate(self.demand.largest);
        self.free_all();
    }

    fn any_mix(&mut self, random: &mut Random) {
        for step in 0..3000 {
            let most = [self.demand.largest.max(1), 16, 100][step / 100 % 3];
            if random.below(5) < 3 {
                self.allocate(1 + random.below(most));
            } else if !self.live.is_empty() {
                self.free(random.below(self.live.len()));
            }
        }
        self.free_all();
    }

    fn run(mut self) -> bool {
        let mut random = Random(self.demand.largest as u64);
        self.spread();
        self.robson();
        self.drift();
        self.comb();
        self.any_mix(&mut random);
        self.spread();
        self.is_refused
    }
}

/// Whether an object lies over an address that is `offset` granules behind a multiple of `step`.
fn spoils((place, layout): &(NonNull<u8>, Layout), offset: usize, step: usize) -> bool {
    let first = place.addr().get() / 8;
    let granules = (layout.size() + 4).div_ceil(8).max(2);
    let behind = (offset + step - first % step) % step;
    behind < granules
}

fn demands() -> impl Iterator<Item = Demand> {
    let sizes = [0, 12, 28, 60, 250, 1000, 1020, 3000];
    sizes.into_iter().flat_map(|largest| {
        // Few large objects, and as many as can be.
        [largest / 2 + 16, 4 * largest + 700, 60 * largest]
            .map(|bytes| Demand {
                objects: 60,
                bytes,
                largest,
            })
            .into_iter()
            .chain([Demand {
                objects: 1,
                bytes: largest,
                largest,
            }])
    })
}

fn is_refused<H: RawHeap>(heap: H, demand: Demand) -> bool {
    let program = Program {
        heap,
        demand,
        live: Vec::new(),
        bytes: 0,
        is_refused: false,
    };
    program.run()
}

/// Whether a program of a demand is refused by a heap in so many bytes at the worst place.
fn refuses<I: Index>(bytes: usize, demand: Demand) -> bool {
    let mut memory = ExactMemory::new();
    let heap = Heap::<I>::new(memory.region(bytes, 8, 1)).expect("a heap");
    is_refused(heap, demand)
}

fn enough<I: Index>(demand: Demand) -> usize {
    let bytes = Heap::<I>::enough_bytes(demand.objects, demand.bytes, demand.largest);
    bytes.expect("a bound")
}

/// Runs programs in exactly the bytes of their demands, and in a few more.
fn never_refuses<I: Index>() {
    for demand in demands() {
        for more in [0, 9, 300] {
            let bytes = enough::<I>(demand) + more;
            assert!(!refuses::<I>(bytes, demand), "{demand:?}, {more} more");
        }
    }
}

#[test]
fn no_fit_refuses_within_the_bound() {
    never_refuses::<SingleList<First>>();
    never_refuses::<SingleList<Best>>();
    never_refuses::<SingleList<Worst>>();
    never_refuses::<SingleList<Next>>();
    never_refuses::<SizeTree>();
    never_refuses::<Bins>();
}

#[test]
fn segregated_lists_do_not_refuse_within_the_bound() {
    never_refuses::<Segregated<NextHitTable, Immediate, Tree, 256, 8>>();
    never_refuses::<Segregated<Bitmap, Immediate, Tree, 256, 16>>();
    never_refuses::<Segregated<Scan, Immediate, Linear, 16, 16>>();
    never_refuses::<Segregated<Bitmap, Deferred, Tree, 256, 8>>();
    never_refuses::<Segregated<NextHitTable, Deferred, Linear, 128, 16>>();
}

#[test]
fn bitmaps_of_sizes_do_not_refuse_within_the_bound() {
    never_refuses::<TwoLevel>();
    never_refuses::<PowersOfTwo>();
}

/// Worst fit comes so close to its bound that the bound for objects a fifth shorter is too small.
#[test]
fn a_bound_that_is_a_little_too_small_is_refused() {
    for largest in [500, 1000, 3000] {
        let demand = Demand {
            objects: 60,
            bytes: 2 * largest + 200,
            largest,
        };
        let shorter = Demand {
            largest: largest * 4 / 5,
            ..demand
        };
        let bytes = enough::<SingleList<Worst>>(shorter);
        assert!(refuses::<SingleList<Worst>>(bytes, demand), "{largest}");
    }
}

/// Whether a request of so many granules is served where all free chunks but one have `gap`
/// granules, and that one `found`.
fn finds<I: Index>(request: usize, gap: usize, found: usize) -> bool {
    let mut memory = ExactMemory::new();
    let mut heap = Heap::<I>::new(memory.region(1 << 20, 8, 0)).expect("a heap");
    let layout = |granules| Layout::from_size_align(8 * granules - 4, 4).expect("a layout");
    let mut gaps = Vec::new();
    for number in 0..40 {
        let granules = if number == 20 { found } else { gap };
        let place = heap.allocate(layout(granules)).expect("room");
        gaps.push((place, layout(granules)));
        heap.allocate(layout(2)).expect("room");
    }
    while heap.allocate(layout(request.max(256))).is_ok() {}
    while heap.allocate(layout(2)).is_ok() {}
    for (place, layout) in gaps {
        // SAFETY: S1, S2: live, with its layout.
        unsafe { heap.free(place, layout) };
    }
    heap.allocate(layout(request)).is_ok()
}

/// The term f of the bound is what an index finds: no chunk of so many granules is missed. Half-fit
/// and TLSF do miss some that are shorter.
#[test]
fn a_chunk_of_the_length_that_a_system_finds_is_not_missed() {
    for request in [3_usize, 31, 65, 127, 128, 129, 200, 1000, 1025] {
        let longer = if request < 128 {
            0
        } else {
            // A power of two has as many lists as a word has bits.
            request.div_ceil(usize::BITS as usize)
        };
        let tlsf = request + longer;
        assert!(finds::<TwoLevel>(request, request - 1, tlsf), "{request}");
        let half = request.next_power_of_two();
        assert!(
            finds::<PowersOfTwo>(request, request - 1, half),
            "{request}"
        );
        assert!(!finds::<PowersOfTwo>(request, half - 1, half - 1));
        assert!(finds::<SingleList<First>>(request, request - 1, request));
        assert!(finds::<SizeTree>(request, request - 1, request));
        assert!(finds::<Bins>(request, request - 1, request));
        type Lists = Segregated<Bitmap, Immediate, Linear, 64, 8>;
        assert!(finds::<Lists>(request, request - 1, request), "{request}");
    }
}

/// What never merges has no bound, and the programs find that out.
#[test]
fn without_merging_the_programs_are_refused_within_the_bound_of_others() {
    type Merging = Segregated<Bitmap, Immediate, Tree, 256, 8>;
    type Not = Segregated<Bitmap, Never, Tree, 256, 8>;
    for largest in [250, 1000, 3000] {
        let demand = Demand {
            objects: 60,
            bytes: 4 * largest + 700,
            largest,
        };
        assert_eq!(Heap::<Not>::enough_bytes(60, 1, 1), None);
        assert!(
            refuses::<Not>(enough::<Merging>(demand), demand),
            "{largest}"
        );
    }
}

fn buddies_never_refuse<const SMALLEST: usize>() {
    let mut memory = ExactMemory::new();
    for demand in demands() {
        let bytes = Buddy::<SMALLEST>::enough_bytes(demand.objects, demand.largest);
        let bytes = bytes.expect("a bound");
        for misaligned in [0, 1, 8, 1000, 4095, 30_000] {
            let region = memory.region(bytes, 1 << 16, misaligned);
            let heap = Buddy::<SMALLEST>::new(region).expect("a heap");
            assert!(!is_refused(heap, demand), "{demand:?} at {misaligned}");
        }
    }
}

#[test]
fn buddies_do_not_refuse_within_the_bound() {
    buddies_never_refuse::<8>();
    buddies_never_refuse::<16>();
    buddies_never_refuse::<128>();
}

/// A fresh heap has the N blocks of its bound wherever it begins; without the one block more, which
/// both ends of a region may waste, it does not.
#[test]
fn a_region_has_all_blocks_of_its_bound_wherever_it_begins() {
    let mut memory = ExactMemory::new();
    let mut too_few = 0;
    for (objects, largest) in [(1, 1024), (3, 1024), (8, 256), (2, 16)] {
        let bytes = <Buddy>::enough_bytes(objects, largest).expect("a bound");
        let layout = Layout::from_size_align(largest, 8).expect("a layout");
        for misaligned in (0..2 * largest).step_by(8) {
            let mut blocks = |bytes| {
                let region = memory.region(bytes, 1 << 16, misaligned);
                let mut heap = <Buddy>::new(region).expect("a heap");
                (0..objects).all(|_| heap.allocate(layout).is_ok())
            };
            assert!(blocks(bytes), "{objects} of {largest} at {misaligned}");
            assert!(
                blocks(bytes + 100),
                "{objects} of {largest} at {misaligned}"
            );
            too_few += usize::from(!blocks(bytes - largest));
        }
    }
    assert!(too_few > 100, "{too_few}");
}

#[test]
fn numbers_that_no_region_holds_have_no_bound() {
    let most = usize::MAX;
    for (objects, bytes, largest) in [
        (most, 1, 1),
        (1, 1, most),
        (most, most, most),
        (1 << 20, most, 1 << 20),
        (1 << 29, 1 << 30, 1 << 29),
    ] {
        assert_eq!(
            Heap::<TwoLevel>::enough_bytes(objects, bytes, largest),
            None
        );
        let buddy = <Buddy>::enough_bytes(objects, largest);
        assert!(buddy.is_none() || largest == 1 << 20 || objects == 1);
    }
    assert!(Heap::<TwoLevel>::enough_bytes(0, 0, 0).is_some());
    assert!(<Buddy>::enough_bytes(0, 0).is_some());
}
