//! A collector's operations on a heap, against naive models: a sweep is a free of each object, and
//! moves make room iff room can be made.

use core::alloc::Layout;
use std::collections::{BTreeMap, BTreeSet};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefit_compact::{
    Bound, Bytes, Config, EntryHeap, Fraction, Geometry, GeometrySpec, Medium, Narrow, PageOrder,
    Spacing, Tail, Wide, Width,
};
use surefit_core::Refused;
use surefit_testkit::JunkRegion;

const PAGE: usize = 1024;

fn config(bytes: usize, bound: Bound, piece: Option<usize>) -> Config {
    let geometry = Geometry::new(&GeometrySpec {
        page_bytes: PAGE,
        granule: 8,
        smallest: 8,
        spacing: Spacing::Fraction(4),
        tail: Tail::BackReferences { bytes },
    });
    let config = Config::new(geometry.expect("valid"), bound).expect("valid");
    config.with_pieces(piece).expect("valid")
}

fn configs(width: usize) -> Vec<Config> {
    let holes = |base, numerator, denominator| Bound::Holes {
        base,
        fraction: Fraction::new(numerator, denominator).expect("at most one half"),
    };
    let original = config(width, Bound::Pages(2), Some(64)).with_order(PageOrder::Original);
    vec![
        config(width, Bound::DEFAULT, Some(256)),
        config(width, holes(0, 0, 1), Some(64)),
        config(width, holes(1, 1, 2), None),
        config(width, Bound::Pages(1), Some(256)),
        config(width, Bound::Pages(3), Some(1024)),
        config(width, Bound::Unbounded, Some(64)),
        config(width, Bound::Unbounded, Some(512)),
        original.expect("valid"),
    ]
}

/// A heap of byte objects named by entries, beside their lengths and patterns.
struct World<'m, W: Width<Generation = ()>> {
    heap: EntryHeap<'m, W>,
    objects: BTreeMap<u32, usize>,
    random: ChaCha8Rng,
}

impl<W: Width<Generation = ()>> World<'_, W> {
    fn any_len(&mut self) -> usize {
        let most = if self.heap.is_split(PAGE + 1) {
            3000
        } else {
            PAGE
        };
        let bound = [20, 60, 200, 700, most][self.random.random_range(0..5)];
        self.random.random_range(0..=bound)
    }

    fn byte(entry: u32, at: usize) -> u8 {
        (entry as usize * 37 + at * 11 + 5) as u8
    }

    /// Where each byte of an object is, one by one.
    fn place(&self, entry: u32, len: usize, at: usize) -> *mut u8 {
        if self.heap.is_split(len) {
            // SAFETY: a live object of this length.
            return unsafe { self.heap.byte_in_pieces(entry, len, at) }.as_ptr();
        }
        // SAFETY: a live entry.
        let (block, class) = unsafe { self.heap.entry_block(entry) };
        let bytes = self.heap.config().geometry().layout(class).block_bytes as usize;
        assert!(at < bytes);
        block.as_ptr().wrapping_add(at)
    }

    fn allocate(&mut self, len: usize) -> Result<u32, Refused> {
        let entry = self.heap.allocate_entry(len)?;
        for at in 0..len {
            let place = self.place(entry, len, at);
            // SAFETY: a byte of a live object, which was just cleared.
            assert_eq!(unsafe { place.read() }, 0, "a new object is clear");
            // SAFETY: as above.
            unsafe { place.write(Self::byte(entry, at)) };
        }
        assert!(self.objects.insert(entry, len).is_none());
        Ok(entry)
    }

    fn entries(&self, object: u32) -> BTreeSet<u32> {
        let (len, mut entries) = (self.objects[&object], BTreeSet::new());
        let heap = &self.heap;
        // SAFETY: S1: `allocate_entry` made all objects; S2: none is borrowed.
        let told = unsafe { heap.entries_of(object, len, &mut |entry| entries.insert(entry)) };
        assert!(told, "all live, each told once");
        entries
    }

    /// Keeps a random part of the objects; returns what died.
    fn retain(&mut self, percent: u32) -> BTreeMap<u32, usize> {
        let random = &mut self.random;
        let dead = self
            .objects
            .extract_if_all(|_| random.random_range(0..100) >= percent);
        let kept: BTreeSet<u32> = self.objects.keys().flat_map(|&o| self.entries(o)).collect();
        let mut words = vec![0_u64; kept.last().map_or(0, |last| *last as usize / 64 + 1)];
        for entry in &kept {
            words[*entry as usize / 64] |= 1 << (entry % 64);
        }
        // SAFETY: S1, S2: all entries of live objects; S3: the dead are forgotten.
        unsafe { self.heap.retain(&words) };
        let live: BTreeSet<u32> = self.heap.live_blocks().map(|block| block.index).collect();
        assert_eq!(live, kept);
        dead
    }

    /// Entries of the address table, free ones included.
    fn table_entries(&self) -> usize {
        let geometry = self.heap.config().geometry();
        let of_pages = geometry.classes().map(|class| {
            self.heap.details().class_usage(class).1 as usize * geometry.back_reference_bytes(class)
        });
        (self.heap.details().handle_bytes() - of_pages.sum::<usize>()) / W::ENTRY_BYTES
    }

    fn verify(&self) {
        assert_eq!(self.heap.check(), Ok(()));
        for (&entry, &len) in &self.objects {
            for at in 0..len {
                // SAFETY: a byte of a live object, written by `allocate`.
                let found = unsafe { self.place(entry, len, at).read() };
                assert_eq!(found, Self::byte(entry, at), "byte {at} of {len}");
            }
        }
    }
}

/// `BTreeMap::extract_if` of later Rust versions.
trait ExtractAll {
    fn extract_if_all(&mut self, dies: impl FnMut(&u32) -> bool) -> Self;
}

impl ExtractAll for BTreeMap<u32, usize> {
    fn extract_if_all(&mut self, mut dies: impl FnMut(&u32) -> bool) -> Self {
        let (dead, live) = std::mem::take(self)
            .into_iter()
            .partition(|(entry, _)| dies(entry));
        *self = live;
        dead
    }
}

/// Calls a test with a heap of `bytes` bytes for each configuration.
fn with_worlds<W: Width<Generation = ()>>(bytes: usize, mut test: impl FnMut(World<'_, W>, usize)) {
    for (nth, config) in configs(W::WORD_BYTES).iter().enumerate() {
        let mut region = JunkRegion::new(bytes, PAGE, nth as u64);
        let world = World::<W> {
            heap: EntryHeap::new(region.memory(), config).expect("large enough"),
            objects: BTreeMap::new(),
            random: ChaCha8Rng::seed_from_u64(nth as u64),
        };
        test(world, nth);
    }
}

/// A sweep leaves what freeing each object would leave: the same objects, the same number of
/// page-blocks in every class and, when both are compacted, the same number of pages.
fn is_a_free_of_each<W: Width<Generation = ()>>() {
    with_worlds::<W>(60 * PAGE, |mut world, nth| {
        let config = &configs(W::WORD_BYTES)[nth];
        let mut region = JunkRegion::new(60 * PAGE, PAGE, 9);
        let mut twin: EntryHeap<'_, W> =
            EntryHeap::new(region.memory(), config).expect("large enough");
        let mut handles: BTreeMap<u32, Bytes<core::mem::MaybeUninit<u8>>> = BTreeMap::new();
        for round in 0..if cfg!(miri) { 2 } else { 40 } {
            for _ in 0..60 {
                let len = world.any_len();
                if let Ok(entry) = world.allocate(len) {
                    let layout = Layout::from_size_align(len, 8).expect("small");
                    if let Ok(handle) = twin.alloc(layout) {
                        handles.insert(entry, handle);
                    }
                }
            }
            for dead in world.retain(round * 7 % 101).into_keys() {
                handles
                    .remove(&dead)
                    .into_iter()
                    .for_each(|handle| twin.free_bytes(handle));
            }
            world.verify();
            if handles.len() < world.objects.len() {
                continue;
            }
            for class in config.geometry().classes() {
                let live = |heap: &EntryHeap<'_, W>| heap.details().class_usage(class).0;
                assert_eq!(live(&world.heap), live(&twin));
            }
            world.heap.compact(u64::MAX);
            twin.compact(u64::MAX);
            world.verify();
            for class in config.geometry().classes() {
                assert_eq!(
                    world.heap.details().class_usage(class),
                    twin.details().class_usage(class)
                );
            }
        }
    });
}

#[test]
fn a_sweep_is_a_free_of_each() {
    is_a_free_of_each::<Wide>();
    is_a_free_of_each::<Medium>();
    is_a_free_of_each::<Narrow>();
}

/// The lowest entries come first again, and no unneeded part of the table or page is kept.
#[test]
fn a_sweep_gives_back_pages_and_those_of_the_table() {
    with_worlds::<Wide>(40 * PAGE, |mut world, _| {
        let empty = world.heap.usage().administrative_bytes;
        while world.allocate(8).is_ok() {}
        let newest = *world.objects.keys().next_back().expect("many");
        assert!(newest as usize > PAGE, "the table has pages of its own");
        let table_of = |world: &mut World<'_, Wide>, kept: u32| {
            world.objects.retain(|&entry, _| entry == kept);
            world.retain(101);
            world.verify();
            assert_eq!(world.heap.stats().pages, 1);
            world.heap.usage().administrative_bytes - empty
        };
        // The newest object alone keeps all of the table, the first one nothing.
        assert!(table_of(&mut world, newest) > newest as usize * 4 - PAGE);
        assert_eq!(world.allocate(8), Ok(0));
        assert!(table_of(&mut world, 0) < PAGE);
        assert_eq!(world.allocate(8), Ok(1));
    });
}

/// Whether objects of these lengths fit into an empty heap, one after another: no packing is
/// better.
fn fit_when_packed(config: &Config, bytes: usize, lens: impl Iterator<Item = usize>) -> bool {
    let mut region = JunkRegion::new(bytes, PAGE, 1);
    let heap: EntryHeap<'_, Wide> = EntryHeap::new(region.memory(), config).expect("large enough");
    lens.map(|len| heap.allocate_entry(len))
        .all(|served| served.is_ok())
}

/// Fills a heap. Then, in turns, frees some objects in a sweep and asks for room for others. Room
/// is made iff a fresh heap would have it; a refused request moves nothing.
#[test]
fn room_is_made_iff_there_is_any() {
    let (mut helped, mut refused) = (0, 0);
    for pages in [6, 17, 40] {
        with_worlds::<Wide>(pages * PAGE, |mut world, nth| {
            let config = &configs(4)[nth];
            let mut usual = 40;
            for round in 0..if cfg!(miri) { 3 } else { 400 } {
                let len = match round % 8 {
                    0 => world.any_len(),
                    _ => usual,
                };
                if world.allocate(len).is_ok() {
                    continue;
                }
                let moves = world.heap.stats().moves_total;
                let fits = world.heap.would_fit(&[len]);
                assert_eq!(world.heap.make_room(&[len]).is_ok(), fits);
                world.verify();
                let all = world.objects.values().copied().chain([len]);
                let packed = fit_when_packed(config, pages * PAGE, all);
                // A fresh heap has a table without gaps, which may be shorter.
                let has_gaps = world.table_entries() > world.heap.stats().live_blocks as usize;
                assert!(packed == fits || has_gaps && packed, "{fits}");
                if fits {
                    assert!(world.allocate(len).is_ok());
                    helped += 1;
                } else {
                    assert_eq!(world.heap.stats().moves_total, moves);
                    assert!(world.allocate(len).is_err());
                    refused += 1;
                    world.retain(round % 90);
                    usual = world.any_len();
                    world.verify();
                }
            }
        });
    }
    assert!(
        helped > 20 && refused > 20 || cfg!(miri),
        "{helped}, {refused}"
    );
}

/// The address table grows over the last page, whatever is in it, when a free page can take its
/// place.
#[test]
fn the_last_page_makes_way_for_the_table() {
    for last in [24, 56, 1000] {
        with_worlds::<Wide>(20 * PAGE, |mut world, _| {
            if world.heap.is_split(last) {
                return;
            }
            // Every page is opened, the last one for its own object; then every other object is
            // freed.
            while world.heap.stats().fresh_pages > 1 {
                world.allocate(256).expect("a page");
            }
            let kept = world.allocate(last).expect("the last page");
            world.objects.retain(|&entry, _| entry == kept);
            world.retain(101);
            let stats = world.heap.stats();
            assert_eq!((stats.pages, stats.fresh_pages), (1, 0));
            // Allocates smallest objects until no entries are left.
            let mut moves = Vec::new();
            while world.heap.would_fit(&[8]) {
                if world.allocate(8).is_err() {
                    assert_eq!(world.heap.make_room(&[8]), Ok(()));
                    moves.push(world.heap.stats().moves_total);
                    world.verify();
                }
            }
            world.verify();
            assert_eq!(moves[0], 1, "the object of the last page");
            assert!(moves.len() > 2, "{moves:?}");
        });
    }
}
