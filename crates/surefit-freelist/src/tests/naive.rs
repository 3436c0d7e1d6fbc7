//! Every index against its definition: all free chunks in one vector, in the order in which they
//! became free, and the chunk that the policy names.
//!
//! Both heaps share the code that cuts and merges, so the same script must place every object at
//! the same address.

use surefit_core::Corruption;
use surefit_testkit::{JunkRegion, Op, Shape, script};

use super::*;
use crate::binned::Bins;
use crate::bitmap::Bitmap;
use crate::chunk::{Header, granules_for};
use crate::index::Need;
use crate::last_list::Linear;
use crate::lookup::Scan;
use crate::memory::Memory;
use crate::next_hit_table::NextHitTable;
use crate::policy::{Deferred, Immediate, Never};
use crate::segregated::Segregated;
use crate::trie::Tree;

/// A free chunk and its size in granules.
type Free = (Chunk, u32);

/// The definition of an index: which of the free chunks it takes.
trait Definition: Index {
    /// The position of that chunk in `free`, which has the oldest first. `rover` is where the last
    /// search ended.
    fn choose(free: &[Free], need: &Need, rover: usize) -> Option<usize>;
}

/// An index that consists only of its definition.
struct Naive<I> {
    free: Vec<Free>,
    rover: usize,
    table: core::marker::PhantomData<I>,
}

impl<I: Definition> Index for Naive<I> {
    const COALESCING: When = I::COALESCING;

    fn rounded(granules: u32) -> u32 {
        I::rounded(granules)
    }

    fn found(granules: u32) -> Option<u32> {
        I::found(granules)
    }

    fn largest(granules: u32) -> u32 {
        I::largest(granules)
    }

    fn table_words(granules: u32) -> u32 {
        I::table_words(granules)
    }

    fn new(_memory: &mut Memory<'_>) -> Self {
        Self {
            free: Vec::new(),
            rover: 0,
            table: core::marker::PhantomData,
        }
    }

    fn insert(&mut self, _memory: &mut Memory<'_>, chunk: Chunk, granules: u32) {
        self.free.push((chunk, granules));
    }

    fn remove(&mut self, _memory: &mut Memory<'_>, chunk: Chunk) {
        let place = self.free.iter().position(|&(free, _)| free == chunk);
        let place = place.expect("a free chunk");
        self.free.remove(place);
        self.rover -= usize::from(place < self.rover);
    }

    fn take(&mut self, _memory: &mut Memory<'_>, _granules: u32) -> Option<Chunk> {
        None
    }

    fn take_fitting(
        &mut self,
        _memory: &mut Memory<'_>,
        need: &Need,
        _visits: &mut u64,
    ) -> Option<Chunk> {
        let place = I::choose(&self.free, need, self.rover)?;
        self.rover = place;
        Some(self.free.remove(place).0)
    }

    fn check(&self, _memory: &Memory<'_>, free_chunks: usize) -> Result<(), Corruption> {
        assert_eq!(self.free.len(), free_chunks);
        Ok(())
    }
}

/// The positions of the chunks that fit, the oldest first.
fn fitting<'f>(free: &'f [Free], need: &'f Need) -> impl DoubleEndedIterator<Item = usize> + 'f {
    (0..free.len()).filter(move |&place| need.fits(free[place].0, free[place].1))
}

impl Definition for SingleList<First> {
    fn choose(free: &[Free], need: &Need, _rover: usize) -> Option<usize> {
        fitting(free, need).next()
    }
}

impl Definition for SingleList<Best> {
    fn choose(free: &[Free], need: &Need, _rover: usize) -> Option<usize> {
        fitting(free, need).min_by_key(|&place| free[place].1)
    }
}

impl Definition for SingleList<Worst> {
    fn choose(free: &[Free], need: &Need, _rover: usize) -> Option<usize> {
        fitting(free, need).rev().max_by_key(|&place| free[place].1)
    }
}

impl Definition for SingleList<Next> {
    fn choose(free: &[Free], need: &Need, rover: usize) -> Option<usize> {
        let after = fitting(free, need).find(|&place| place >= rover);
        after.or_else(|| fitting(free, need).next())
    }
}

impl Definition for SizeTree {
    fn choose(free: &[Free], need: &Need, _rover: usize) -> Option<usize> {
        fitting(free, need).min_by_key(|&place| (free[place].1, free[place].0))
    }
}

/// The newest chunk of the first list that holds one, of those from `first` on.
fn newest_of_first_list(
    free: &[Free],
    first: u32,
    list: impl Fn(u32) -> Option<u32>,
) -> Option<usize> {
    let listed = (0..free.len()).rev().filter_map(|place| {
        let list = list(free[place].1).filter(|&list| list >= first)?;
        Some((list, place))
    });
    listed.min_by_key(|&(list, _)| list).map(|(_, place)| place)
}

impl Definition for PowersOfTwo {
    fn choose(free: &[Free], need: &Need, _rover: usize) -> Option<usize> {
        let first = need.granules.next_power_of_two().ilog2();
        newest_of_first_list(free, first, |granules| Some(granules.ilog2()))
    }
}

impl<L, C, const N: usize, const UNIT: usize> Definition for Segregated<L, C, Linear, N, UNIT>
where
    Self: Index,
{
    fn choose(free: &[Free], need: &Need, _rover: usize) -> Option<usize> {
        let list = |granules| Some(granules / (UNIT as u32 / 8)).filter(|&list| list < N as u32);
        let first = need.granules.div_ceil(UNIT as u32 / 8);
        let large = || fitting(free, need).filter(|&place| list(free[place].1).is_none());
        newest_of_first_list(free, first, list)
            .or_else(|| large().rev().min_by_key(|&place| free[place].1))
    }
}

/// DL's bins without bins: what was sorted, and what waits, the oldest first.
struct NaiveBins {
    sorted: Vec<Free>,
    queue: Vec<Free>,
}

impl NaiveBins {
    /// Takes the newest of the smallest sorted chunks that pass.
    fn take_smallest(&mut self, passes: impl Fn(&Free) -> bool) -> Option<Chunk> {
        let places = (0..self.sorted.len()).rev();
        let passing = places.filter(|&place| passes(&self.sorted[place]));
        let place = passing.min_by_key(|&place| self.sorted[place].1)?;
        Some(self.sorted.remove(place).0)
    }
}

impl Index for NaiveBins {
    fn table_words(granules: u32) -> u32 {
        Bins::table_words(granules)
    }

    fn new(_memory: &mut Memory<'_>) -> Self {
        Self {
            sorted: Vec::new(),
            queue: Vec::new(),
        }
    }

    fn insert(&mut self, _memory: &mut Memory<'_>, chunk: Chunk, granules: u32) {
        self.queue.push((chunk, granules));
    }

    fn remove(&mut self, _memory: &mut Memory<'_>, chunk: Chunk) {
        self.queue.retain(|&(free, _)| free != chunk);
        self.sorted.retain(|&(free, _)| free != chunk);
    }

    fn take(&mut self, _memory: &mut Memory<'_>, granules: u32) -> Option<Chunk> {
        self.take_smallest(|&(_, size)| size == granules && size < 512 / 8)
    }

    fn take_fitting(
        &mut self,
        _memory: &mut Memory<'_>,
        need: &Need,
        _visits: &mut u64,
    ) -> Option<Chunk> {
        while !self.queue.is_empty() {
            let (chunk, granules) = self.queue.remove(0);
            if granules == need.granules && need.fits(chunk, granules) {
                return Some(chunk);
            }
            self.sorted.push((chunk, granules));
        }
        self.take_smallest(|&(chunk, granules)| need.fits(chunk, granules))
    }

    fn check(&self, _memory: &Memory<'_>, free_chunks: usize) -> Result<(), Corruption> {
        assert_eq!(self.sorted.len() + self.queue.len(), free_chunks);
        Ok(())
    }
}

/// The result of an operation: the place of the object in the region, or a refusal.
type Outcome = Result<usize, Refused>;

/// Runs a script on a new heap; returns the result of each operation.
fn outcomes<I: Index>(ops: &[Op], kib: usize) -> Vec<Outcome> {
    let mut region = JunkRegion::new(kib << 10, 4096, 1);
    let start = region.span().start;
    let mut heap = Heap::<I>::new(region.memory()).expect("large enough");
    let mut live: Vec<(NonNull<u8>, Layout)> = Vec::new();
    let mut outcomes = Vec::new();
    for &op in ops {
        let outcome = match op {
            Op::Alloc { size, align } => {
                let layout = Layout::from_size_align(size, align).expect("a valid layout");
                let object = heap.allocate(layout);
                live.extend(object.map(|object| (object, layout)));
                object
            }
            Op::Free(_) | Op::Resize(..) if live.is_empty() => continue,
            Op::Free(nth) => {
                let (object, layout) = live.remove(nth % live.len());
                // SAFETY: the object is live and has this layout; it is forgotten here.
                unsafe { heap.free(object, layout) };
                Ok(object)
            }
            Op::Resize(nth, size) => {
                let place = nth % live.len();
                let (object, layout) = live[place];
                // SAFETY: the object is live and has this layout.
                let resized = unsafe { heap.resize(object, layout, size) };
                if let Ok(object) = resized {
                    let resized = Layout::from_size_align(size, layout.align());
                    live[place] = (object, resized.expect("a valid layout"));
                }
                resized
            }
        };
        outcomes.push(outcome.map(|object| object.addr().get() - start));
    }
    assert_eq!(heap.check(), Ok(()));
    outcomes
}

/// The same script without alignments stricter than that of every chunk.
fn unaligned(ops: Vec<Op>) -> Vec<Op> {
    let mut ops = ops;
    for op in &mut ops {
        if let Op::Alloc { align, .. } = op {
            *align = 8;
        }
    }
    ops
}

/// All shapes, in regions from too small to large. `keep` selects the part of a script that the
/// index defines.
fn chooses_as_defined<I: Definition>(keep: impl Fn(Vec<Op>) -> Vec<Op>) {
    chooses_as::<I, Naive<I>>(keep);
}

/// An index chooses as another one that says the same in fewer words.
fn chooses_as<I: Index, D: Index>(keep: impl Fn(Vec<Op>) -> Vec<Op>) {
    let (mut served, mut refused) = (0, 0);
    for shape in Shape::ALL {
        for (seed, kib, largest) in [(1, 16, 600), (2, 64, 2000), (3, 256, 20_000), (4, 128, 90)] {
            let ops = keep(script(shape, seed, 3000, largest));
            let chosen = outcomes::<I>(&ops, kib);
            let defined = outcomes::<D>(&ops, kib);
            let differ = (0..chosen.len()).find(|&n| chosen[n] != defined[n]);
            assert_eq!(differ, None, "{shape:?}, {kib} KiB: outcome");
            served += chosen.iter().filter(|outcome| outcome.is_ok()).count();
            refused += chosen.iter().filter(|outcome| outcome.is_err()).count();
        }
    }
    assert!(served > 10_000, "{served}");
    assert!(refused > 100, "{refused}: full heaps were compared too");
}

#[test]
fn single_lists_choose_as_defined() {
    chooses_as_defined::<SingleList<First>>(|ops| ops);
    chooses_as_defined::<SingleList<Best>>(|ops| ops);
    chooses_as_defined::<SingleList<Worst>>(|ops| ops);
    chooses_as_defined::<SingleList<Next>>(|ops| ops);
}

#[test]
fn the_tree_chooses_the_least_address_of_the_smallest_that_fit() {
    chooses_as_defined::<SizeTree>(unaligned);
}

#[test]
fn half_fit_chooses_as_defined() {
    chooses_as_defined::<PowersOfTwo>(unaligned);
}

#[test]
fn bins_choose_as_defined() {
    chooses_as::<Bins, NaiveBins>(|ops| ops);
}

#[test]
fn segregated_lists_choose_as_defined() {
    chooses_as_defined::<Segregated<Scan, Immediate, Linear, 64>>(unaligned);
    chooses_as_defined::<Segregated<Scan, Never, Linear, 32, 16>>(unaligned);
    chooses_as_defined::<Segregated<NextHitTable, Never, Linear, 16>>(unaligned);
    chooses_as_defined::<Segregated<NextHitTable, Immediate, Linear, 300>>(unaligned);
    chooses_as_defined::<Segregated<Bitmap, Immediate, Linear, 128, 16>>(unaligned);
    chooses_as_defined::<Segregated<Bitmap, Never, Linear, 64>>(unaligned);
}

/// The sizes of the free chunks that would serve a layout.
fn room_for<I: Index>(heap: &Heap<'_, I>, layout: Layout) -> Vec<u32> {
    let need = Need {
        granules: I::rounded(granules_for(layout.size())),
        align: layout.align().div_ceil(8) as u32,
        phase: heap.memory.phase(),
    };
    let fits = |&(chunk, header): &(Chunk, Header)| {
        header.is_free() && need.fits(chunk, header.granules())
    };
    let sizes = heap.walk().filter(fits);
    sizes.map(|(_, header)| header.granules()).collect()
}

/// Fills a region with objects of many sizes, frees some, requests aligned ones; returns how many
/// were refused.
fn no_chunk_fits_what_is_refused<I: Index>(seed: u64) -> usize {
    let mut region = JunkRegion::new(1 << 14, 4096, seed);
    let mut heap = Heap::<I>::new(region.memory()).expect("large enough");
    let mut objects = Vec::new();
    for n in seed.. {
        let size = (n * n % 97 + n % 7 * 40) as usize;
        match heap.allocate(bytes(size)) {
            Ok(object) => objects.push((object, size)),
            Err(_) => break,
        }
    }
    for (n, (object, size)) in objects.into_iter().enumerate() {
        if n as u64 % 7 < 2 + seed % 4 {
            free(&mut heap, object, size);
        }
    }
    let mut refused = 0;
    for n in 0..300_usize {
        let layout = Layout::from_size_align(n * 29 % 300, 16 << (n % 6)).expect("valid");
        if heap.allocate(layout).is_err() {
            let room = room_for(&heap, layout);
            assert!(
                room.is_empty(),
                "{layout:?} refused, free chunks {room:?} fit"
            );
            refused += 1;
        }
        assert_eq!(heap.check(), Ok(()));
    }
    refused
}

#[test]
fn an_aligned_request_is_refused_only_if_no_chunk_fits() {
    fn claim<I: Index>() {
        let refused: usize = (0..20).map(no_chunk_fits_what_is_refused::<I>).sum();
        assert!((500..5500).contains(&refused), "{refused} of 6000");
    }
    claim::<SingleList<First>>();
    claim::<SingleList<Next>>();
    claim::<SizeTree>();
    claim::<Bins>();
    claim::<Segregated<Scan, Immediate, Tree, 16>>();
    claim::<Segregated<NextHitTable, Deferred, Tree, 64>>();
    claim::<Segregated<Bitmap, Never, Linear, 64>>();
    claim::<Segregated<Bitmap, Immediate, Tree, 64, 16>>();
    claim::<Segregated<NextHitTable, Deferred, Linear, 32, 16>>();
}
