//! Demands in requests: no length takes more than is counted, and nothing within them is refused in
//! exactly the certified bytes.

use core::alloc::Layout;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefit_compact::certify::{BlockCount, Budget, ClassSet, Demand, Uncertifiable, certify};
use surefit_compact::{
    Bound, Bytes, Config, Geometry, GeometrySpec, Heap, Keyed, Medium, Narrow, Spacing, Tail, Wide,
    Width,
};
use surefit_testkit::ExactMemory;

use crate::{exact, geometry};

/// Pages of 1 KiB, with pieces of two sizes, of one, of the least, and without.
fn configs(width: usize, bound: Bound) -> [Config; 4] {
    let config = || Config::new(geometry(1024, width), bound).expect("valid");
    [
        config(),
        config().with_pieces(Some(256)).expect("valid"),
        config().with_pieces(Some(64)).expect("valid"),
        config().with_pieces(None).expect("valid"),
    ]
}

fn no_length_takes_more<W: Width>() {
    for config in configs(W::WORD_BYTES, Bound::Pages(1)) {
        let longest = config.piece_bytes().map_or(1024, |_| 20_000);
        for align in [8, 64] {
            let mut most = BlockCount::default();
            for len in 0..=longest {
                let one = BlockCount::of::<W>(&config, len, align).expect("fits");
                most.blocks = most.blocks.max(one.blocks);
                most.bytes = most.bytes.max(one.bytes);
                let counted = BlockCount::most::<W>(&config, len, align).expect("fits");
                let what = format!("{len} bytes in {:?}", config.division());
                assert!(counted.blocks >= most.blocks, "{what}");
                assert!(counted.bytes >= most.bytes, "{what}");
                // A long spine may be counted at a length that its object does not have.
                assert!(counted.blocks <= most.blocks + 1, "{what}");
                assert!(counted.bytes <= most.bytes + 64, "{what}");
            }
        }
    }
}

#[test]
fn no_length_takes_more_than_is_counted() {
    no_length_takes_more::<Narrow>();
    no_length_takes_more::<Medium>();
    no_length_takes_more::<Wide>();
}

/// What may be live.
#[derive(Clone, Copy, Debug)]
enum Limit {
    Objects(usize),
    Bytes(usize),
    Both(usize, usize),
}

impl Limit {
    fn demand<W: Width>(self, config: &Config, longest: usize) -> Demand<'static> {
        match self {
            Self::Objects(objects) => Demand::of_requests::<W>(config, objects as u64, longest),
            Self::Bytes(bytes) => Demand::of_mix::<W>(config, u64::MAX, longest, bytes as u64),
            Self::Both(objects, bytes) => {
                Demand::of_mix::<W>(config, objects as u64, longest, bytes as u64)
            }
        }
    }

    /// Whether objects of `lens` and one of `len` are within it.
    fn admits(self, lens: impl Iterator<Item = usize> + Clone, len: usize) -> bool {
        match self {
            Self::Objects(objects) => lens.count() < objects,
            Self::Bytes(bytes) => {
                let counted = lens.chain([len]).map(|len| len.max(16));
                counted.sum::<usize>() <= bytes
            }
            Self::Both(objects, bytes) => {
                Self::Objects(objects).admits(lens.clone(), len)
                    && Self::Bytes(bytes).admits(lens, len)
            }
        }
    }
}

/// A heap in exactly the certified bytes, and what is live in it.
struct Served<'m, W: Width> {
    heap: Heap<'m, W>,
    limit: Limit,
    live: Vec<(Bytes, usize)>,
}

impl<W: Width> Served<'_, W> {
    /// Whether the demand admits an object of `len` bytes besides what is live, and besides one of
    /// `beside` bytes if there is one.
    fn admits(&self, len: usize, beside: Option<usize>) -> bool {
        let lens = self.live.iter().map(|(_, len)| *len);
        self.limit.admits(lens.chain(beside), len)
    }

    /// Allocates objects of `len` bytes until the demand admits no more.
    fn fill(&mut self, len: usize, beside: Option<usize>) {
        while self.admits(len, beside) {
            let object = self.heap.alloc_zeroed(layout(len));
            let object = object.unwrap_or_else(|_| panic!("{len} bytes with {}", self.what()));
            self.live.push((object, len));
        }
    }

    /// Resizes an object when the demand is full but for that: it counts at both lengths.
    fn resize_one(&mut self, longest: usize, random: &mut ChaCha8Rng) {
        let len = random.random_range(0..=longest);
        while !self.admits(len, None) {
            let Some((object, _)) = self.live.pop() else {
                return;
            };
            self.heap.free_bytes(object);
        }
        self.fill(random.random_range(0..=longest), Some(len));
        if self.live.is_empty() {
            return;
        }
        let at = random.random_range(0..self.live.len());
        let (object, old) = &mut self.live[at];
        let was = core::mem::replace(old, len);
        let resized = self.heap.resize(object, layout(len));
        resized.unwrap_or_else(|_| panic!("{was} to {len} bytes with {}", self.what()));
    }

    fn what(&self) -> String {
        let (live, limit) = (self.live.len(), self.limit);
        format!("{live} live: {limit:?} in {:?}", self.heap.config())
    }
}

fn layout(len: usize) -> Layout {
    Layout::from_size_align(len, 8).expect("valid")
}

/// Fills the demand with the shortest objects of each size-class, leaves some of them, resizes
/// some, and fills it with the next; then random lengths.
fn serve<W: Width>(config: &Config, limit: Limit, longest: usize) {
    let demand = limit.demand::<W>(config, longest);
    let certificate = certify::<W>(config, &demand).expect("certifiable");
    let mut memory = ExactMemory::new();
    let memory = exact(&mut memory, config, certificate.aligned_bytes);
    let heap = Heap::<W>::new(memory, config).expect("large enough");
    let mut served = Served {
        heap,
        limit,
        live: Vec::new(),
    };
    let mut random = ChaCha8Rng::seed_from_u64(longest as u64);
    let classes = config.geometry().classes();
    let shortest = classes.map(|class| config.geometry().smallest_request(class));
    let mut lengths: Vec<_> = shortest.filter(|len| *len <= longest).collect();
    lengths.push(longest);
    lengths.extend((0..20).map(|_| random.random_range(0..=longest)));
    for len in lengths {
        served.fill(len, None);
        for number in (0..served.live.len()).rev().filter(|at| at % 5 != 0) {
            served.heap.free_bytes(served.live.swap_remove(number).0);
        }
        for _ in 0..8 {
            served.resize_one(longest, &mut random);
        }
    }
}

#[test]
fn requests_are_served_in_exactly_their_bytes() {
    for bound in [Bound::Pages(1), Bound::DEFAULT] {
        for limit in [1, 8, 60]
            .map(Limit::Objects)
            .into_iter()
            .chain([1000, 9000].map(Limit::Bytes))
            .chain([Limit::Both(40, 4000)])
        {
            for longest in [1, 41, 77, 129, 300, 600, 1000] {
                for config in configs(2, bound) {
                    serve::<Narrow>(&config, limit, longest);
                }
                for config in configs(4, bound) {
                    serve::<Wide>(&config, limit, longest);
                }
            }
            for longest in [1025, 1500, 3333, 9000] {
                for config in &configs(2, bound)[..3] {
                    serve::<Narrow>(config, limit, longest);
                }
            }
        }
    }
    for limit in [Limit::Objects(8), Limit::Bytes(2400)] {
        serve::<Narrow>(&Config::TINY, limit, 300);
        serve::<Keyed<Narrow>>(&Config::TINY, limit, 300);
    }
}

/// At the ends of its classes, its pieces and its page.
#[test]
fn requests_of_the_smallest_heaps_are_served_in_exactly_their_bytes() {
    for limit in [
        Limit::Objects(20),
        Limit::Bytes(9000),
        Limit::Both(40, 4000),
    ] {
        for longest in [0, 1, 32, 33, 256, 257, 1024, 1025, 3333] {
            serve::<Narrow>(&Config::MICRO, limit, longest);
            serve::<Keyed<Narrow>>(&Config::MICRO, limit, longest);
        }
    }
}

#[test]
fn requests_in_pieces_are_served_at_every_width() {
    for limit in [Limit::Objects(20), Limit::Bytes(20_000)] {
        for longest in [600, 1025, 3333, 9000] {
            for config in &configs(3, Bound::Pages(1))[..3] {
                serve::<Medium>(config, limit, longest);
                serve::<Keyed<Medium>>(config, limit, longest);
            }
            for config in &configs(4, Bound::Pages(1))[..3] {
                serve::<Wide>(config, limit, longest);
                serve::<Keyed<Wide>>(config, limit, longest);
            }
        }
    }
}

/// As the documentation of [`Demand::of_requests`] counts what it does not take.
fn counted(config: &Config, objects: u64, bytes: usize, align: usize) -> Demand<'static> {
    let each = BlockCount::most::<Narrow>(config, bytes, align).expect("fits");
    Demand::Joint(Budget {
        objects: objects * each.blocks,
        block_bytes: objects * each.bytes,
        classes: ClassSet::of_objects(config, bytes, align),
    })
}

#[test]
fn aligned_requests_and_long_values_are_served_in_exactly_what_is_counted() {
    const OBJECTS: usize = 20;
    let whole = Config::TINY.with_pieces(None).expect("valid");
    let of_values = counted(&whole, OBJECTS as u64, 700, 16);
    for config in [Config::TINY, Config::MICRO] {
        let aligned = counted(&config, OBJECTS as u64, 300, 64);
        let certificate = certify::<Narrow>(&config, &aligned).expect("certifiable");
        let mut memory = ExactMemory::new();
        let memory = exact(&mut memory, &config, certificate.aligned_bytes);
        let mut heap = Heap::<Narrow>::new(memory, &config).expect("large enough");
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut live: Vec<Bytes> = Vec::new();
        for _ in 0..3000 {
            let (len, power) = (random.random_range(0..=300), random.random_range(0..=6));
            let layout = Layout::from_size_align(len, 1 << power).expect("valid");
            if live.len() == OBJECTS {
                heap.free_bytes(live.swap_remove(random.random_range(0..OBJECTS)));
            }
            live.push(heap.alloc_zeroed(layout).expect("within the demand"));
        }
    }
    let certificate = certify::<Narrow>(&Config::TINY, &of_values).expect("certifiable");
    let mut memory = ExactMemory::new();
    let memory = exact(&mut memory, &Config::TINY, certificate.aligned_bytes);
    let mut heap = Heap::<Narrow>::new(memory, &Config::TINY).expect("large enough");
    for _ in 0..3 {
        let values = (0..OBJECTS).map(|_| heap.insert([0_u64; 87]).expect("within the demand"));
        let values: Vec<_> = values.collect();
        let short = values.into_iter().map(|value| {
            heap.free(value);
            heap.insert([0_u64; 4]).expect("within the demand")
        });
        let short: Vec<_> = short.collect();
        short.into_iter().for_each(|value| heap.free(value));
    }
}

/// No page-block serves a large piece well: objects of exactly one take four times their bytes.
#[test]
fn requests_of_whole_large_pieces_are_served_in_exactly_their_bytes() {
    let sizes = [16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024];
    let geometry = Geometry::new(&GeometrySpec {
        page_bytes: 1 << 14,
        granule: 8,
        smallest: 16,
        spacing: Spacing::Explicit(&sizes),
        tail: Tail::BackReferences { bytes: 4 },
    });
    let config = Config::new(geometry.expect("valid"), Bound::Pages(1)).expect("valid");
    let config = config.with_pieces(Some(1024)).expect("valid");
    let config = config.with_large_pieces(4096).expect("valid");
    for longest in [4096, 4097, 8192, 8193, 16384] {
        serve::<Wide>(&config, Limit::Bytes(100 * 4096), longest);
        serve::<Wide>(&config, Limit::Both(100, 100 * 4096), longest);
    }
}

/// Whatever the length, as many as there are bytes for take no more than the budget has.
#[test]
fn bytes_of_requests_of_any_length_are_within_their_budget() {
    const BYTES: u64 = 10_000_000;
    for config in configs(2, Bound::Pages(1)) {
        let most = config.piece_bytes().map_or(1024, |_| 12_000);
        for longest in [1, 16, 17, 63, 65, 300, 1000, most] {
            let budget = Budget::of_mix::<Narrow>(&config, u64::MAX, longest, BYTES).expect("fits");
            let mut worst = 0;
            for len in 0..=longest {
                let one = BlockCount::of::<Narrow>(&config, len, 8).expect("fits");
                let count = BYTES / (len as u64).max(16);
                assert!(count * one.blocks <= budget.objects, "{len} of {longest}");
                assert!(
                    count * one.bytes <= budget.block_bytes,
                    "{len} of {longest}"
                );
                worst = worst.max(count * one.bytes);
            }
            assert!(
                budget.block_bytes - worst < 2000,
                "{longest}: {budget:?}, {worst}"
            );
        }
    }
}

/// What the length says is not what the page-blocks take.
#[test]
fn bytes_of_requests_are_no_budget() {
    let demand = Budget::of_requests::<Narrow>(&Config::TINY, 8, 300).expect("fits");
    assert!(demand.block_bytes > 8 * 300, "{demand:?}");
    assert_eq!(demand.objects, 8 * 3, "two pieces and a spine");
    let demand = Budget::of_requests::<Narrow>(&Config::TINY, 8, 128).expect("fits");
    assert_eq!((demand.objects, demand.block_bytes), (8, 8 * 128));
}

#[test]
fn requests_of_any_numbers_are_counted_or_refused() {
    let [in_pieces, .., whole] = configs(2, Bound::Pages(1));
    for objects in [0, 1, u64::from(u32::MAX), u64::MAX] {
        for longest in [0, 1, 1024, 1025, usize::MAX / 2, usize::MAX] {
            for config in [&in_pieces, &whole] {
                let found = Budget::of_requests::<Narrow>(config, objects, longest);
                match BlockCount::most::<Narrow>(config, longest, 8) {
                    Some(each) => {
                        let budget = found.expect("fits");
                        assert_eq!(budget.objects, objects.saturating_mul(each.blocks));
                        let _any = certify::<Narrow>(config, &Demand::Joint(budget));
                    }
                    None => assert_eq!(found, Err(Uncertifiable::TooLarge { limit: 1024 })),
                }
            }
        }
    }
    for bytes in [0, 1, 15, 1 << 20, u64::MAX] {
        for longest in [0, 1, 1024, 1025, 70_000, usize::MAX] {
            for config in [&in_pieces, &whole] {
                let found = Budget::of_mix::<Narrow>(config, u64::MAX, longest, bytes);
                let most = longest.min(usize::try_from(bytes).unwrap_or(usize::MAX));
                let is_one = BlockCount::most::<Narrow>(config, most, 8).is_some();
                assert_eq!(found.is_ok(), is_one, "{bytes} bytes, up to {longest}");
                if let Ok(budget) = found {
                    let _any = certify::<Narrow>(config, &Demand::Joint(budget));
                }
            }
        }
    }
    assert!(Budget::of_requests::<Narrow>(&whole, 1, 1025).is_err());
    assert!(BlockCount::most::<Narrow>(&in_pieces, 1, 2048).is_none());
}

#[test]
#[should_panic(expected = "a contiguous object is larger than a page")]
fn a_demand_that_no_page_holds_panics() {
    let [.., whole] = configs(2, Bound::Pages(1));
    let _demand = Demand::of_requests::<Narrow>(&whole, 1, 1025);
}

/// Kinds of objects at once, in exactly their bytes: each kind at its own number, in any order.
fn serve_kinds<W: Width>(config: &Config, kinds: &[(u64, usize)]) {
    let demand = Demand::of_kinds::<W>(config, kinds);
    let certificate = certify::<W>(config, &demand).expect("certifiable");
    let mut memory = ExactMemory::new();
    let memory = exact(&mut memory, config, certificate.aligned_bytes);
    let mut heap = Heap::<W>::new(memory, config).expect("large enough");
    let mut random = ChaCha8Rng::seed_from_u64(36);
    let mut live: Vec<Vec<Bytes>> = kinds.iter().map(|_| Vec::new()).collect();
    for step in 0..4000 {
        let kind = random.random_range(0..kinds.len());
        let (objects, longest) = kinds[kind];
        let fills = random.random_range(0..100) < if step % 1000 < 600 { 90 } else { 30 };
        if fills && (live[kind].len() as u64) < objects {
            let len = random.random_range(0..=longest);
            let served = heap.alloc_zeroed(layout(len));
            live[kind].push(served.unwrap_or_else(|why| panic!("step {step}, {len}: {why}")));
        } else if !live[kind].is_empty() {
            let at = random.random_range(0..live[kind].len());
            heap.free_bytes(live[kind].swap_remove(at));
        }
    }
    assert_eq!(heap.check(), Ok(()));
}

#[test]
fn kinds_of_requests_are_served_in_exactly_their_bytes() {
    for config in configs(2, Bound::Pages(1)) {
        serve_kinds::<Narrow>(&config, &[(40, 300), (100, 24), (4, 1000)]);
        serve_kinds::<Narrow>(&config, &[(3, 16), (0, 900), (3, 16)]);
    }
    let config = &configs(4, Bound::DEFAULT)[0];
    serve_kinds::<Wide>(config, &[(30, 8), (30, 9), (5, 700)]);
}

#[test]
fn kinds_are_the_sum_of_their_requests() {
    let config = &configs(2, Bound::Pages(1))[0];
    let of = |objects, longest| Budget::of_requests::<Narrow>(config, objects, longest);
    let (a, b) = (of(40, 300).expect("fits"), of(100, 24).expect("fits"));
    let sum = Budget::of_kinds::<Narrow>(config, &[(40, 300), (100, 24)]).expect("fits");
    assert_eq!(sum.objects, a.objects + b.objects);
    assert_eq!(sum.block_bytes, a.block_bytes + b.block_bytes);
    assert_eq!(sum.classes, a.classes);
    assert_eq!(Budget::of_kinds::<Narrow>(config, &[(7, 300)]), of(7, 300));
    let none = Budget::of_kinds::<Narrow>(config, &[]).expect("nothing");
    assert_eq!((none.objects, none.block_bytes), (0, 0));
    let most = Budget::of_kinds::<Narrow>(config, &[(u64::MAX, 300), (u64::MAX, 24)]);
    assert_eq!(most.expect("saturates").objects, u64::MAX);
    let config = &configs(2, Bound::Pages(1))[3];
    let too_large = Budget::of_kinds::<Narrow>(config, &[(1, 24), (1, 2000)]);
    assert!(matches!(too_large, Err(Uncertifiable::TooLarge { .. })));
}
