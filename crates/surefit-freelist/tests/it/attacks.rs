//! Hostile callers: every safe function of the free lists gets arguments that no honest program
//! passes.
//!
//! Numbers from zero to the largest, regions of every length at every misalignment, strategies of
//! the caller that unwind or lie, iterators that change their mind. After each, the heap must be
//! sound. Run these under AddressSanitizer too.

use std::alloc::Layout;
use std::cell::Cell;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

use surefit_core::{RawHeap, Refused};
use surefit_freelist::jamaica::{Array, Bytes, Jamaica, Object, Shape};
use surefit_freelist::{
    Best, Bins, Bitmap, Buddy, BumpChunk, Deferred, First, Fit, Heap, Immediate, Index, Linear,
    Never, Next, NextHitTable, PowersOfTwo, Scan, Segregated, SingleList, SizeTree, Tree, TwoLevel,
    Worst,
};
use surefit_testkit::{JunkRegion, Shape as Script, run_script, script};

/// Numbers of granules at every limit that a search has.
const GRANULES: [u32; 14] = [
    0,
    1,
    2,
    3,
    127,
    128,
    1500,
    1 << 29,
    (1 << 30) - 1,
    1 << 30,
    (1 << 30) + 1,
    1 << 31,
    u32::MAX - 1,
    u32::MAX,
];

/// Two to the power of `bits`, or the largest number of this machine.
const fn two_to(bits: u32) -> usize {
    match 1_usize.checked_shl(bits) {
        Some(power) => power,
        None => usize::MAX,
    }
}

/// Numbers of bytes: small ones, those around the limits of 32-bit counts, the largest.
const BYTES: [usize; 20] = [
    0,
    1,
    7,
    8,
    12,
    13,
    4096,
    11 << 10,
    12 << 10,
    1 << 31,
    u32::MAX as usize - 4,
    u32::MAX as usize,
    two_to(32),
    two_to(35) - 4,
    two_to(35),
    two_to(62),
    isize::MAX as usize,
    two_to(63),
    usize::MAX - 7,
    usize::MAX,
];

/// Runs a check for every index.
macro_rules! for_every_index {
    ($check:ident) => {
        $check::<TwoLevel>();
        $check::<PowersOfTwo>();
        $check::<SizeTree>();
        $check::<Bins>();
        $check::<SingleList<First>>();
        $check::<SingleList<Next>>();
        $check::<SingleList<Best>>();
        $check::<SingleList<Worst>>();
        $check::<Segregated<Bitmap, Immediate, Tree, 256>>();
        $check::<Segregated<Bitmap, Immediate, Linear, 64, 16>>();
        $check::<Segregated<NextHitTable, Deferred, Linear, 128>>();
        $check::<Segregated<NextHitTable, Deferred, Tree, 256, 16>>();
        $check::<Segregated<Scan, Never, Tree, 16>>();
    };
}

fn region() -> JunkRegion {
    JunkRegion::misaligned(12 << 10, 64, 3, 5)
}

/// A heap with objects and holes: three objects in four are freed again.
fn in_use<I: Index>(region: &mut JunkRegion) -> Heap<'_, I> {
    let mut heap = Heap::<I>::new(region.memory()).expect("large enough");
    let layout = Layout::new::<[u64; 9]>();
    let objects: Vec<_> = (0..40)
        .map(|_| heap.allocate(layout).expect("room"))
        .collect();
    for (nth, object) in objects.into_iter().enumerate() {
        if nth % 4 != 0 {
            // SAFETY: live, and of this layout.
            unsafe { heap.free(object, layout) };
        }
    }
    heap
}

/// Frees neighbours in an order, each of them twice, and all of them once more; their sizes are not
/// told any more.
fn twice_in<I: Index>(order: [usize; 4]) {
    let mut region = region();
    let mut heap = Heap::<I>::new(region.memory()).expect("large enough");
    let layout = Layout::new::<[u64; 9]>();
    let objects: Vec<_> = (0..5)
        .map(|_| heap.allocate(layout).expect("room"))
        .collect();
    for at in order {
        // SAFETY: live, and of this layout.
        assert_eq!(unsafe { heap.try_free(objects[at], layout) }, Ok(()));
        // SAFETY: the heap finds that it is not live, as it promises.
        let again = unsafe { heap.try_free(objects[at], layout) };
        assert_eq!(again, Err(Refused::StaleHandle), "{order:?}");
        // SAFETY: as above.
        let bytes = unsafe { heap.usable_bytes(objects[at]) };
        assert_eq!(bytes, 0, "{order:?}");
        assert_eq!(heap.check(), Ok(()));
    }
    for &freed in &objects[..4] {
        // SAFETY: as above.
        let again = unsafe { heap.try_free(freed, layout) };
        assert_eq!(again, Err(Refused::StaleHandle), "{order:?}");
    }
    assert_eq!((heap.check(), heap.live_objects()), (Ok(()), 1));
}

/// Inside an object any word may stand where a header is expected: no size of it exceeds the
/// region.
fn sizes_inside<I: Index>() {
    let mut region = region();
    let mut heap = Heap::<I>::new(region.memory()).expect("large enough");
    let object = heap.allocate(Layout::new::<[u8; 2048]>()).expect("room");
    for byte in [0, 4, 0x80, 0xfc] {
        // SAFETY: a live object of so many bytes.
        unsafe { object.write_bytes(byte, 2048) };
        for inside in (8..2048).step_by(8) {
            // SAFETY: inside the object.
            let inside = unsafe { object.add(inside) };
            // SAFETY: the heap finds that this is no object, as it promises.
            let bytes = unsafe { heap.usable_bytes(inside) };
            assert_eq!(bytes, 0, "{byte}");
        }
    }
}

fn twice_of<I: Index>() {
    for order in [[0, 1, 2, 3], [3, 2, 1, 0], [0, 2, 1, 3], [1, 3, 0, 2]] {
        twice_in::<I>(order);
    }
    sizes_inside::<I>();
}

#[test]
fn a_second_free_is_told_also_of_what_was_merged() {
    for_every_index!(twice_of);
}

fn bump_chunks_of<I: Index>() {
    for granules in GRANULES {
        let mut region = region();
        let mut heap = in_use::<I>(&mut region);
        let opened = heap.open_bump_chunk(granules);
        if let Some(bump) = opened {
            assert!(bump.bytes() as u64 >= 8 * u64::from(granules), "{granules}");
            // SAFETY: S1, S2: just opened; nothing was cut.
            unsafe { heap.close_bump_chunk(bump) };
        }
        assert!(opened.is_none() || granules < 1536, "{granules}");
        assert_eq!(heap.check(), Ok(()), "{granules}");
    }
}

#[test]
fn a_bump_chunk_has_the_granules_that_were_asked_for_or_there_is_none() {
    for_every_index!(bump_chunks_of);
}

#[test]
fn granules_of_any_request_hold_it() {
    for bytes in BYTES {
        let granules = BumpChunk::granules_for(bytes);
        let holds = 8 * u128::from(granules) >= bytes as u128 + 4;
        assert!(holds || granules == u32::MAX, "{bytes}: {granules}");
    }
}

fn numbers_of<I: Index>() {
    for bytes in BYTES {
        let mut region = region();
        let mut heap = in_use::<I>(&mut region);
        let live = heap.live_objects();
        let mut served = 0;
        for end in 0..3 {
            let result = match end {
                0 => heap.allocate_as_is(bytes),
                1 => heap.allocate_large(bytes),
                _ => heap.allocate_displaced(bytes),
            };
            served += usize::from(result.is_ok());
            assert_eq!(heap.check(), Ok(()), "{bytes}");
        }
        assert_eq!(heap.live_objects(), live + served);
        heap.reserve_large(bytes);
        assert_eq!(heap.check(), Ok(()), "{bytes}");
        for step in BYTES {
            heap.limit_to(bytes);
            heap.grow(step, bytes);
            heap.grow(bytes, step);
            assert_eq!(heap.check(), Ok(()), "{bytes}, {step}");
        }
        heap.coalesce();
        assert_eq!(heap.check(), Ok(()), "{bytes}");
        figures_of(&heap);
    }
}

fn figures_of<I: Index>(heap: &Heap<'_, I>) {
    assert_eq!(heap.usage().total(), 12 << 10);
    assert_eq!(heap.objects().count(), heap.live_objects());
    assert!(heap.free_sizes().sum::<usize>() <= 12 << 10);
    assert!(heap.unused().end <= heap.granules());
    assert!(heap.gap_bytes() + heap.table_bytes() <= 12 << 10);
    assert!(heap.chunk_bytes() <= 12 << 10);
    assert!(heap.check_part(u32::MAX).is_err());
    assert!(heap.limit() <= 12 << 10);
    assert!(heap.largest_request().max(heap.largest_large_request()) <= 12 << 10);
}

#[test]
fn bytes_of_any_number_are_served_or_refused() {
    for_every_index!(numbers_of);
}

/// Counters never decrease, whatever is refused, and a tree counts its own visits.
#[test]
fn figures_count_on_after_refusals() {
    let mut region = region();
    let mut heap = in_use::<SizeTree>(&mut region);
    let (mut visits, mut tree_visits) = (0, 0);
    for bytes in BYTES {
        assert!(heap.allocate_as_is(bytes).is_ok() || bytes > 4096);
        let (now, tree_now) = (heap.counters().visits, heap.tree_visits());
        assert!(now >= visits && tree_now >= tree_visits && tree_now >= now);
        (visits, tree_visits) = (now, tree_now);
    }
    assert!(visits > 10 && heap.counters().table_updates == 0);
}

fn limits_of<I: Index>() {
    for bytes in BYTES {
        let mut region = region();
        let mut heap = Heap::<I>::new(region.memory()).expect("large enough");
        let all = heap.limit();
        heap.limit_to(bytes);
        assert!(heap.limit() <= all);
        assert_eq!(heap.check(), Ok(()), "{bytes}");
        let layout = Layout::new::<[u64; 4]>();
        while heap.allocate(layout).is_ok() || heap.grow(layout.size(), bytes) {}
        assert_eq!(heap.check(), Ok(()), "{bytes}");
        assert!(heap.live_objects() > 100, "{bytes}: it grew to its region");
    }
}

#[test]
fn a_heap_of_any_limit_grows_to_its_region() {
    for_every_index!(limits_of);
}

/// Requests objects of all sizes and alignments. What is served lies inside the region and is
/// aligned.
fn layouts(heap: &mut impl RawHeap, span: &std::ops::Range<usize>) {
    for align in (0..usize::BITS - 1).map(|log2| 1_usize << log2) {
        for bytes in BYTES {
            let Ok(layout) = Layout::from_size_align(bytes, align) else {
                continue;
            };
            if let Ok(object) = heap.allocate(layout) {
                let start = object.addr().get();
                assert_eq!(start % align, 0, "{layout:?}");
                assert!(
                    span.start <= start && start + bytes <= span.end,
                    "{layout:?}"
                );
                // SAFETY: live, and of this layout.
                unsafe { heap.free(object, layout) };
            }
        }
    }
    assert_eq!(heap.check(), Ok(()));
}

fn layouts_of<I: Index>() {
    let mut region = region();
    let span = region.span();
    layouts(&mut in_use::<I>(&mut region), &span);
}

fn layouts_of_buddy<const SMALLEST: usize>() {
    let mut region = JunkRegion::misaligned(64 << 10, 64, 5, 5);
    let span = region.span();
    let mut heap = Buddy::<SMALLEST>::new(region.memory()).expect("large enough");
    layouts(&mut heap, &span);
    assert_eq!((heap.live_objects(), heap.usage().total()), (0, 64 << 10));
    assert!(heap.counters().splits > 0 || SMALLEST == 4096);
    assert!(heap.largest_request() <= 64 << 10);
}

#[test]
fn layouts_of_any_size_and_alignment_are_served_or_refused() {
    for_every_index!(layouts_of);
    layouts_of_buddy::<8>();
    layouts_of_buddy::<16>();
    layouts_of_buddy::<4096>();
}

/// Makes heaps of every length, up to above what they report to need, at every misalignment.
fn regions(make: impl Fn(&mut [MaybeUninit<u8>]) -> Option<usize>) {
    let mut backing = vec![MaybeUninit::new(0x5a_u8); 48 << 10];
    let at = backing.as_ptr().align_offset(64);
    let needed = make(&mut []).expect("nothing is too small");
    let lengths = (0..64).chain(needed.saturating_sub(70)..needed + 9);
    for (length, offset) in lengths.flat_map(|length| (0..64).map(move |at| (length, at))) {
        let refused = make(&mut backing[at + offset..][..length]);
        if let Some(says) = refused {
            assert!(length < says, "{length} at {offset}: {says} would do");
        }
        assert!(
            refused.is_none() || length < needed,
            "{length} at {offset}: {needed} was said to do"
        );
    }
}

/// The bytes needed if the heap cannot be made; otherwise uses it up.
fn used_up<H: RawHeap>(made: Result<H, Refused>) -> Option<usize> {
    match made {
        Ok(mut heap) => {
            assert_eq!(heap.check(), Ok(()));
            while heap.allocate(Layout::new::<u64>()).is_ok() {}
            assert_eq!(heap.check(), Ok(()));
            None
        }
        Err(Refused::Region { needed }) => Some(needed),
        Err(other) => panic!("{other}"),
    }
}

fn regions_of<I: Index>() {
    regions(|region| used_up(Heap::<I>::new(region)));
}

fn regions_of_jamaica<const B: usize>() {
    regions(|region| match Jamaica::<B>::new(region) {
        Ok(mut heap) => {
            while heap.alloc::<Object>(1).is_ok() {}
            assert_eq!(heap.check(), Ok(()));
            None
        }
        Err(Refused::Region { needed }) => Some(needed),
        Err(other) => panic!("{other}"),
    });
}

#[test]
fn regions_of_any_length_at_any_address_do_or_say_what_would() {
    for_every_index!(regions_of);
    regions(|region| used_up(Buddy::<8>::new(region)));
    regions(|region| used_up(Buddy::<16>::new(region)));
    regions(|region| used_up(Buddy::<4096>::new(region)));
    regions_of_jamaica::<16>();
    regions_of_jamaica::<32>();
    regions_of_jamaica::<128>();
}

#[test]
fn a_foreign_pointer_has_no_number_or_one_that_is_not_meant() {
    let mut region = region();
    let heap = in_use::<TwoLevel>(&mut region);
    let (mut outside, origin) = (0_u64, heap.origin());
    for pointer in [NonNull::from(&mut outside).cast(), NonNull::dangling()] {
        let number = catch_unwind(AssertUnwindSafe(|| heap.granule_of(pointer)));
        assert_eq!(number.is_err(), cfg!(debug_assertions));
    }
    assert_ne!(origin, 0);
    assert_eq!(heap.check(), Ok(()));
}

/// A heap detects what it can: addresses outside, and free chunks.
fn refuses_to_resize(heap: &mut impl RawHeap) {
    let layout = Layout::new::<[u64; 9]>();
    let mut outside = [0_u64; 64];
    let live = [(); 2].map(|()| heap.allocate(layout).expect("room"));
    let usage = heap.usage();
    for bytes in [8, 72, 400, 4000] {
        for place in [NonNull::from(&mut outside[32]).cast(), NonNull::dangling()] {
            // SAFETY: not an address of the heap, which is what it must find.
            let refused = unsafe { heap.resize(place, layout, bytes) };
            assert_eq!(refused, Err(Refused::ForeignHandle), "{bytes}");
        }
    }
    assert_eq!(heap.usage(), usage);
    // The last one first: it is not merged with a chunk before it.
    for object in live.into_iter().rev() {
        // SAFETY: live, and of this layout.
        unsafe { heap.free(object, layout) };
        // SAFETY: freed, which is what the heap must find.
        let refused = unsafe { heap.try_free(object, layout) };
        assert_eq!(refused, Err(Refused::StaleHandle));
        // SAFETY: as above.
        let refused = unsafe { heap.resize(object, layout, 8) };
        assert_eq!(refused, Err(Refused::StaleHandle));
    }
    assert_eq!(heap.check(), Ok(()));
}

fn resizes_of<I: Index>() {
    let mut region = region();
    refuses_to_resize(&mut Heap::<I>::new(region.memory()).expect("large enough"));
}

#[test]
fn what_is_not_live_is_not_resized() {
    for_every_index!(resizes_of);
    let mut region = region();
    refuses_to_resize(&mut Buddy::<16>::new(region.memory()).expect("large enough"));
}

std::thread_local! {
    /// The next answer of a hostile fit. The call with number 0 unwinds.
    static ANSWER: Cell<u64> = const { Cell::new(0) };
}

/// Returns arbitrary answers, and unwinds now and then.
struct Hostile<const ROVES: bool>;

impl<const ROVES: bool> Hostile<ROVES> {
    fn answer() -> bool {
        let state = ANSWER.get().wrapping_mul(6_364_136_223_846_793_005) + 1;
        ANSWER.set(state);
        assert!(state >> 33 & 63 != 0, "the fit unwinds");
        state >> 40 & 1 != 0
    }
}

impl<const ROVES: bool> Fit for Hostile<ROVES> {
    const ROVES: bool = ROVES;

    fn is_final(_: u32, _: u32) -> bool {
        Self::answer()
    }

    fn is_better(_: u32, _: u32) -> bool {
        Self::answer()
    }
}

fn fits_of<const ROVES: bool>() {
    ANSWER.set(7);
    let mut unwound = 0;
    for seed in 0..if cfg!(miri) { 2 } else { 300 } {
        let mut region = JunkRegion::new(8 << 10, 8, seed);
        let span = region.span();
        let mut heap = Heap::<SingleList<Hostile<ROVES>>>::new(region.memory()).expect("room");
        let ops = script(Script::Random, seed, 60, 700);
        let run = || run_script(&mut heap, span.clone(), &ops, 1);
        match catch_unwind(AssertUnwindSafe(run)) {
            Ok(done) => assert!(done.is_ok(), "{done:?}"),
            Err(_) => unwound += 1,
        }
        assert_eq!(heap.check(), Ok(()), "seed {seed}");
    }
    assert!(unwound > 30 && unwound < 300, "{unwound}");
}

#[test]
fn a_fit_of_the_callers_own_may_lie_and_unwind() {
    fits_of::<false>();
    fits_of::<true>();
}

/// Handles that change their mind: a clone yields others, and any may unwind instead of yielding
/// one.
#[derive(Clone)]
struct Fickle<'b, 'c, S: Shape> {
    handles: Vec<&'b Bytes<S>>,
    next: usize,
    /// Handles that all clones together have yielded.
    given: &'c Cell<usize>,
    unwinds_at: usize,
    skips_from: usize,
}

impl<'b, S: Shape> Iterator for Fickle<'b, '_, S> {
    type Item = &'b Bytes<S>;

    fn next(&mut self) -> Option<Self::Item> {
        let given = self.given.get();
        self.given.set(given + 1);
        assert!(given != self.unwinds_at, "the iterator unwinds");
        self.next += if given >= self.skips_from { 3 } else { 1 };
        self.handles.get(self.next - 1).copied()
    }
}

fn handles<S: Shape>(heap: &mut Jamaica<'_>) -> Vec<Bytes<S>> {
    let lengths = (0..12).map(|n| n * 37);
    lengths.map(|len| heap.alloc(len).expect("room")).collect()
}

#[test]
fn iterators_that_lie_or_unwind_leave_the_marks() {
    let mut region = JunkRegion::new(16 << 10, 64, 1);
    let mut heap = <Jamaica>::new(region.memory()).expect("large enough");
    let (objects, arrays) = (handles::<Object>(&mut heap), handles::<Array>(&mut heap));
    for (unwinds_at, skips_from) in (0..80).flat_map(|at| [(at, 99), (99, at), (at, at / 2)]) {
        let given = Cell::new(0);
        let (next, given) = (0, &given);
        let first = Fickle {
            handles: objects.iter().collect(),
            next,
            given,
            unwinds_at,
            skips_from,
        };
        let second = Fickle {
            handles: arrays.iter().collect(),
            next,
            given,
            unwinds_at,
            skips_from,
        };
        let checked = catch_unwind(AssertUnwindSafe(|| heap.check_objects(first, second)));
        assert!(matches!(checked, Err(_) | Ok(Ok(()))), "{checked:?}");
        assert_eq!(heap.check(), Ok(()), "{unwinds_at}, {skips_from}");
        assert_eq!(heap.check_objects(objects.iter(), arrays.iter()), Ok(()));
    }
    objects.into_iter().for_each(|bytes| heap.free(bytes));
    arrays.into_iter().for_each(|bytes| heap.free(bytes));
    assert_eq!(heap.stats().free_blocks, heap.stats().blocks);
}

#[test]
fn handles_of_another_heap_and_handles_shown_twice_are_told() {
    let (mut region, mut other) = (JunkRegion::new(4096, 64, 1), JunkRegion::new(4096, 64, 2));
    let mut heap = <Jamaica>::new(region.memory()).expect("large enough");
    let mut other = <Jamaica>::new(other.memory()).expect("large enough");
    let (own, mut foreign) = (
        heap.alloc::<Object>(99),
        other.alloc::<Object>(60).expect("room"),
    );
    let own = own.expect("room");
    let mut panics = 0;
    let mut told = |call: &mut dyn FnMut(&mut Jamaica<'_>)| {
        panics += usize::from(catch_unwind(AssertUnwindSafe(|| call(&mut heap))).is_err());
        assert_eq!(heap.check(), Ok(()));
    };
    told(&mut |heap| _ = heap.check_objects([&own, &foreign].into_iter(), [].iter()));
    told(&mut |heap| _ = heap.chunk(&foreign, 0));
    told(&mut |heap| _ = heap.chunk_mut(&mut foreign, 0));
    told(&mut |heap| _ = heap.chunks(&foreign).count());
    told(&mut |heap| heap.read_at(&foreign, 0, &mut [0]));
    told(&mut |heap| heap.write_at(&mut foreign, 0, &[0]));
    told(&mut |heap| heap.free(foreign_of(&mut JunkRegion::new(4096, 64, 3))));
    assert_eq!(panics, 7);
    assert_eq!(heap.resize(&mut foreign, 5), Err(Refused::ForeignHandle));
    let twice = heap.check_objects([&own, &own].into_iter(), [].iter());
    assert_eq!(twice.expect_err("shown twice").invariant, "J4");
    assert_eq!(heap.check_objects([&own].into_iter(), [].iter()), Ok(()));
}

/// A handle of a heap that is gone.
fn foreign_of(region: &mut JunkRegion) -> Bytes<Object> {
    let heap = <Jamaica>::new(region.memory());
    heap.and_then(|mut heap| heap.alloc(9)).expect("room")
}

fn lengths_of<S: Shape, const B: usize>() {
    let mut region = JunkRegion::new(8 << 10, 128, 1);
    let mut heap = Jamaica::<B>::new(region.memory()).expect("large enough");
    let all = heap.stats().blocks;
    let mut kept = heap.alloc::<S>(77).expect("room");
    for len in BYTES {
        assert!(Jamaica::<B>::blocks_for::<S>(len) as u128 * B as u128 >= len as u128);
        if let Ok(bytes) = heap.alloc::<S>(len) {
            assert_eq!(heap.chunks(&bytes).map(<[u8]>::len).sum::<usize>(), len);
            heap.free(bytes);
        }
        let resized = heap.resize(&mut kept, len);
        assert_eq!(kept.len() == len, resized.is_ok() || len == 77);
        let long = kept.len();
        assert_eq!(kept.is_empty(), long == 0);
        for offset in BYTES.into_iter().filter(|&offset| offset > long) {
            let beyond = [
                catch_unwind(AssertUnwindSafe(|| heap.chunk(&kept, offset).len())),
                catch_unwind(AssertUnwindSafe(|| heap.chunk_mut(&mut kept, offset).len())),
                catch_unwind(AssertUnwindSafe(|| {
                    heap.read_at(&kept, offset, &mut [0; 9]);
                    0
                })),
                catch_unwind(AssertUnwindSafe(|| {
                    heap.write_at(&mut kept, offset, &[0; 9]);
                    0
                })),
            ];
            assert!(beyond.iter().all(Result::is_err), "{offset}");
        }
        assert_eq!(heap.check(), Ok(()), "{len}");
    }
    assert!(heap.largest_request::<S>() <= 8 << 10);
    assert_eq!(heap.usage().total(), 8 << 10);
    heap.free(kept);
    assert_eq!(heap.stats().free_blocks, all);
}

#[test]
fn lengths_and_positions_of_any_number_are_served_or_told() {
    lengths_of::<Object, 16>();
    lengths_of::<Object, 32>();
    lengths_of::<Object, 128>();
    lengths_of::<Array, 16>();
    lengths_of::<Array, 32>();
    lengths_of::<Array, 128>();
}
