//! The snippets of README.md and docs/ compile and do what they say: each stands here as it stands
//! there. Their links lead to files.

use std::error::Error;
use std::mem::MaybeUninit;
use std::path::Path;

use surefit::compact::Config;
use surefit::gc::schedule::Quanta;
use surefit::gc::{Client, Edges, Object, Scanned, VirtualClock, Word};

type Done = Result<(), Box<dyn Error>>;

/// What people read first, by its place.
const PAGES: [(&str, &str); 11] = [
    ("README.md", include_str!("../../../README.md")),
    ("docs/guide.md", include_str!("../../../docs/guide.md")),
    (
        "docs/collections.md",
        include_str!("../../../docs/collections.md"),
    ),
    ("docs/heaps.md", include_str!("../../../docs/heaps.md")),
    ("docs/threads.md", include_str!("../../../docs/threads.md")),
    (
        "docs/collector.md",
        include_str!("../../../docs/collector.md"),
    ),
    (
        "docs/free-lists.md",
        include_str!("../../../docs/free-lists.md"),
    ),
    (
        "docs/firmware.md",
        include_str!("../../../docs/firmware.md"),
    ),
    (
        "docs/assessor.md",
        include_str!("../../../docs/assessor.md"),
    ),
    ("docs/command.md", include_str!("../../../docs/command.md")),
    (
        "docs/guarantees.md",
        include_str!("../../../docs/guarantees.md"),
    ),
];

/// All Rust of this file, the programs of the guide that ci/examples.sh runs, and the one for a
/// board that ci/boards.sh runs.
const HERE: &str = concat!(
    include_str!("readme.rs"),
    include_str!("../examples/first.rs"),
    include_str!("../examples/cycle.rs"),
    include_str!("../../surefit-locked/README.md"),
    include_str!("../../../firmware/sensor/src/main.rs"),
    include_str!("../../../firmware/sensor/build.rs")
);

/// The other files of that program.
const SENSOR: [&str; 3] = [
    include_str!("../../../firmware/sensor/memory.x"),
    include_str!("../../../firmware/sensor/Cargo.toml"),
    include_str!("../../../firmware/sensor/.cargo/config.toml"),
];

/// A text without white space and the commas that a formatter adds.
fn bare(text: &str) -> String {
    text.chars()
        .filter(|letter| !letter.is_whitespace() && *letter != ',')
        .collect()
}

#[test]
fn every_snippet_stands_here() {
    let here = bare(HERE);
    let blocks = PAGES
        .iter()
        .flat_map(|(_, page)| page.split("```rust\n").skip(1));
    let snippets: Vec<_> = blocks
        .filter_map(|block| block.split("```").next())
        .collect();
    assert_eq!(snippets.len(), 30);
    for snippet in snippets {
        assert!(
            here.contains(&bare(snippet)),
            "not in this file:\n{snippet}"
        );
    }
}

/// Whoever comes first has ten minutes.
#[test]
fn the_first_pages_are_short() {
    for (name, page) in &PAGES[..2] {
        let words = page.split_whitespace().count();
        assert!(words <= 1200, "{name}: {words} words");
    }
}

#[test]
fn the_program_for_a_board_has_the_files_that_its_page_says() {
    let page = include_str!("../../../docs/firmware.md");
    let blocks = page.split("```text\n").skip(1).take(1);
    let blocks = blocks.chain(page.split("```toml\n").skip(1).take(2));
    let blocks: Vec<_> = blocks.collect();
    assert_eq!(blocks.len(), SENSOR.len());
    for (block, file) in blocks.into_iter().zip(SENSOR) {
        let block = block.split("```").next().expect("its end");
        let block = block.replace("CHECKOUT", "../..");
        assert!(bare(file).contains(&bare(&block)), "{block}");
    }
}

#[test]
fn every_link_leads_to_a_file() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (name, page) in PAGES {
        let folder = root
            .join(name)
            .parent()
            .expect("a file is in a folder")
            .to_owned();
        let links = page
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next());
        let files: Vec<_> = links
            .filter_map(|link| link.split('#').next())
            .filter(|file| !file.is_empty())
            .collect();
        assert!(!files.is_empty() || name == "docs/free-lists.md", "{name}");
        for file in files {
            assert!(folder.join(file).exists(), "{name}: {file}");
        }
    }
}

fn memory() -> Vec<MaybeUninit<u8>> {
    vec![MaybeUninit::uninit(); 1 << 20]
}

#[test]
fn a_cache_in_a_heap() -> Done {
    use std::collections::VecDeque;
    use surefit::Refused;
    use surefit::compact::{BoxedHeap, Bytes, Config, Heap, Narrow};

    static CONFIG: Config = Config::TINY;

    struct Cache {
        heap: BoxedHeap<Narrow>,
        values: VecDeque<Bytes>,
    }

    impl Cache {
        fn put(&mut self, value: &[u8]) -> Result<(), Refused> {
            let new = loop {
                match self.heap.insert_bytes(value) {
                    Ok(new) => break new,
                    Err(why @ (Refused::NoPage | Refused::NoHandle)) => {
                        match self.values.pop_front() {
                            Some(oldest) => self.heap.free_bytes(oldest),
                            None => return Err(why),
                        }
                    }
                    Err(never) => return Err(never),
                }
            };
            self.values.push_back(new);
            Ok(())
        }
    }

    let heap = Heap::boxed(1 << 16, &CONFIG)?;
    let values = VecDeque::new();
    let mut cache = Cache { heap, values };
    for len in [3_000, 30, 20_000, 45_000].repeat(10) {
        cache.put(&vec![7; len])?;
    }
    let never = cache.put(&vec![7; 1 << 17]);
    assert!(matches!(never, Err(Refused::TooLarge { .. })));
    Ok(())
}

#[test]
fn containers_in_a_heap() -> Done {
    use surefit::collections::{HashMap, String, Vec};
    use surefit::compact::{Config, Heap, Wide};

    static CONFIG: Config = Config::CONTAINERS;
    let mut heap = Heap::<Wide>::boxed(1 << 20, &CONFIG)?;

    let mut records = HashMap::with_hasher(std::hash::RandomState::new());
    for i in 0..1000_u32 {
        let name = String::from_text(&heap, &format!("record {i}"))?;
        let mut record = Vec::new();
        record.extend(&mut heap, 0..i % 50)?;
        records.insert(&mut heap, name, record)?;
    }
    records.retain(&mut heap, |_, record| record.len() < 10); // what goes is freed, with all it owns
    let record = records.get(&heap, "record 203").expect("it was kept");
    assert_eq!(record.as_slice(&heap), Some(&[0, 1, 2][..]));
    records.free(&mut heap);
    assert_eq!(heap.live_blocks().count(), 0);
    Ok(())
}

#[test]
fn a_queue_and_a_cache_in_a_heap() -> Done {
    use surefit::collections::{LruCache, Release, String, VecDeque};
    use surefit::compact::{Config, Heap, Wide};

    #[derive(Debug, Release)]
    #[release(crate = surefit::collections)]
    struct Job {
        text: String,
        tries: u32,
    }

    static CONFIG: Config = Config::CONTAINERS;
    let mut heap = Heap::<Wide>::boxed(256 << 10, &CONFIG)?;

    let mut jobs = VecDeque::new();
    for i in 0..1000 {
        let text = String::from_text(&heap, &format!("job {i}"))?;
        jobs.push_back(&mut heap, Job { text, tries: 0 })?;
        if jobs.len() > 100 {
            jobs.pop_front(&mut heap).release(&mut heap); // with its text
        }
    }
    assert!(
        jobs.front(&heap)
            .is_some_and(|job| job.text.equals(&heap, "job 900") && job.tries == 0)
    );

    // A cache that takes all that is left of the heap.
    let mut cache = LruCache::unbounded();
    for i in 0..10_000_u64 {
        let mut entry = (i, [i; 8]);
        while let Err(full) = cache.put(&mut heap, entry.0, entry.1) {
            entry = full.value;
            cache.pop_lru(&mut heap).release(&mut heap);
        }
    }
    assert!(cache.get(&heap, &9999).is_some() && !cache.contains(&heap, &0));
    cache.free(&mut heap);
    jobs.free(&mut heap);
    assert_eq!(heap.live_blocks().count(), 0);
    Ok(())
}

#[test]
fn a_shared_heap_that_is_static() -> Done {
    use std::sync::Arc;
    use surefit::compact::shared::{SharedConfig, SharedHeap};
    use surefit::{Page16K, Region};

    static CONFIG: SharedConfig = SharedConfig::new(Config::DEFAULT);
    static MEMORY: Region<{ 64 << 20 }, Page16K> = Region::new();

    type Shared = SharedHeap<'static, parking_lot::RawMutex>;
    let heap: Arc<Shared> = Arc::new(SharedHeap::new(
        MEMORY.take().expect("taken once"),
        &CONFIG,
    )?);
    let worker = std::thread::spawn({
        let heap = Arc::clone(&heap);
        move || {
            let local = heap.register()?;
            let text = local.insert(String::from("from a worker"));
            text.map_err(|full| full.refused)
        }
    });
    let text = worker.join().expect("no panic")?;
    assert_eq!(*heap.pin_settled(&text)?, "from a worker");
    Ok(())
}

#[test]
fn a_shared_heap_that_is_told_its_demand() -> Done {
    use surefit::compact::shared::{SharedConfig, SharedHeap};
    use surefit::compact::{Config, Wide};

    let config = SharedConfig::new(Config::DEFAULT);
    let mut memory = vec![MaybeUninit::uninit(); 8 << 20];
    use surefit::compact::certify::{Demand, Sharing, shared_slack_bytes};

    type Lock = parking_lot::RawMutex;
    // 10,000 objects of up to 512 bytes, 1 MB in all; two threads, and a guard in each.
    let demand = Demand::of_mix::<Wide>(config.config(), 10_000, 512, 1_000_000);
    let sharing = Sharing::new(2).with_guards(2);
    let bytes = memory.len() - (config.config().geometry().page_bytes() - 1);
    let slack = shared_slack_bytes::<Lock, _>(&config, &sharing, &demand, bytes)?;
    let heap: SharedHeap<Lock> = SharedHeap::with_slack(&mut memory, &config, slack)?;
    heap.check(false)?;
    Ok(())
}

#[test]
fn a_heap() -> Done {
    use surefit::compact::{Config, Heap};
    use surefit::{Page16K, Region};

    static CONFIG: Config = Config::DEFAULT;
    static MEMORY: Region<{ 1 << 20 }, Page16K> = Region::new();

    let mut heap: Heap = Heap::new(MEMORY.take().expect("taken once"), &CONFIG)?;
    let mut numbers = heap.insert([1_u32, 2, 3])?; // an owning handle: a relocatable box of eight bytes
    heap.get_mut(&mut numbers)[0] = 7; // a compare, a load, an add
    assert_eq!(heap.get(&numbers), &[7, 2, 3]);
    heap.free(numbers); // may move other objects; their handles stay valid
    Ok(())
}

#[test]
fn a_heap_of_keys() -> Done {
    use surefit::compact::Config;
    use surefit::{Page16K, Region};

    static CONFIG: Config = Config::DEFAULT;
    static MEMORY: Region<{ 1 << 20 }, Page16K> = Region::new();

    use surefit::compact::KeyHeap;

    let mut heap: KeyHeap = KeyHeap::new(MEMORY.take().expect("taken once"), &CONFIG)?;
    let station = heap.insert([48.2, 16.4])?;
    let copy = station; // two names of one object
    heap.get_mut(copy)?[1] = 16.5;
    assert_eq!(heap.remove(station)?, [48.2, 16.5]);
    assert!(heap.get(copy).is_err()); // stale: never another object
    Ok(())
}

#[test]
fn a_certified_heap() -> Done {
    use surefit::compact::certify::{Demand, region_bytes};
    use surefit::compact::{Config, Heap, Wide};
    use surefit::{Page16K, Region};

    static CONFIG: Config = Config::DEFAULT;
    const DEMAND: Demand<'static> = Demand::of_mix::<Wide>(&CONFIG, 500, 256, 32 << 10);
    static MEMORY: Region<{ region_bytes::<Wide>(&CONFIG, &DEMAND) }, Page16K> = Region::new();

    let heap: Heap = Heap::new(MEMORY.take().expect("taken once"), &CONFIG)?;
    heap.check()?;
    Ok(())
}

#[test]
fn a_heap_that_is_told_its_demand() -> Done {
    use surefit::compact::certify::Demand;
    use surefit::compact::{Config, Heap, Wide};

    static CONFIG: Config = Config::DEFAULT;
    const DEMAND: Demand<'static> = Demand::of_mix::<Wide>(&CONFIG, 500, 256, 32 << 10);
    let memory = &mut *vec![MaybeUninit::uninit(); 4 << 20];
    use surefit::compact::certify::slack_bytes;

    let page = CONFIG.geometry().page_bytes();
    let slack = slack_bytes::<Wide>(&CONFIG, &DEMAND, memory.len() - (page - 1))?;
    let heap: Heap = Heap::with_slack(memory, &CONFIG, slack)?;
    heap.check()?;
    Ok(())
}

mod names {
    use std::collections::HashMap;

    use surefit::Refused;
    use surefit::compact::{BoxedHeap, Bytes, Config, Heap, Narrow};

    static CONFIG: Config = Config::TINY; // for 32 KiB to 1 MiB

    struct Names {
        heap: BoxedHeap<Narrow>, // or OsHeap<'static>
        names: HashMap<u32, Bytes>,
    }

    impl Names {
        fn new() -> Result<Self, Refused> {
            let heap = Heap::boxed(1 << 20, &CONFIG)?;
            Ok(Self {
                heap,
                names: HashMap::new(),
            })
        }

        fn set(&mut self, id: u32, name: &str) -> Result<(), Refused> {
            let new = self.heap.insert_bytes(name.as_bytes())?; // the characters are in the heap
            if let Some(old) = self.names.insert(id, new) {
                self.heap.free_bytes(old); // a handle that is dropped instead leaks its object
            }
            Ok(())
        }

        fn read(&self, id: u32, into: &mut Vec<u8>) {
            into.clear();
            if let Some(name) = self.names.get(&id) {
                self.heap
                    .chunks(name)
                    .for_each(|chunk| into.extend_from_slice(chunk));
            }
        }
    }

    #[test]
    fn a_heap_in_a_struct() -> Result<(), Refused> {
        let mut names = Names::new()?;
        let long = "a long name ".repeat(1000);
        for (id, name) in [(1, "a name"), (1, &long), (2, "another")] {
            names.set(id, name)?;
        }
        let mut read = Vec::new();
        names.read(1, &mut read);
        assert_eq!(read, long.as_bytes());
        names.read(3, &mut read);
        assert_eq!(read, b"");
        Ok(())
    }
}

fn a_locked_heap() -> Done {
    use surefit::compact::certify::{Demand, certify};
    use surefit::compact::{Config, Heap, Wide};

    static CONFIG: Config = Config::DEFAULT;
    let certificate = certify::<Wide>(&CONFIG, &Demand::PerClass(&[100]))?;

    use surefit::compact::os::Reservation;

    let mut region = Reservation::new(certificate.aligned_bytes)?; // at a multiple of 64 KiB
    region.lock()?; // resident now, and from now on; the limit is `ulimit -l`
    let mut heap: Heap = Heap::new(region.memory(), &CONFIG)?;

    let number = heap.insert(7_u64)?;
    assert_eq!(heap.remove(number), 7);
    Ok(())
}

#[test]
fn a_locked_heap_serves_where_memory_can_be_locked() {
    let refused = a_locked_heap().err().map(|error| error.to_string());
    assert!(
        refused.is_none_or(|line| line.contains("ulimit -l")),
        "only the limit may refuse it"
    );
}

fn a_heap_with_a_floor() -> Done {
    use surefit::compact::certify::{Demand, certify};
    use surefit::compact::{Config, Wide};

    static CONFIG: Config = Config::DEFAULT;
    let certificate = certify::<Wide>(&CONFIG, &Demand::PerClass(&[100]))?;

    use surefit::compact::os::{Floor, Limits, OsHeap};

    let limits = Limits::new(64 << 20, 64 << 20);
    let heap: OsHeap = OsHeap::with_floor(&CONFIG, limits, Floor::of(&certificate))?;

    assert!(heap.stats().resident_bytes > 0);
    Ok(())
}

#[test]
fn a_heap_with_a_floor_serves_where_memory_can_be_locked() {
    let refused = a_heap_with_a_floor().err().map(|error| error.to_string());
    assert!(
        refused
            .as_ref()
            .is_none_or(|line| line.contains("RLIMIT_MEMLOCK")),
        "only the limit may refuse it: {refused:?}"
    );
}

#[test]
fn a_heap_grows_by_a_bank() -> Done {
    use std::mem::MaybeUninit;
    use std::ops::Range;
    use surefit::compact::{Config, Heap};

    static CONFIG: Config = Config::DEFAULT;
    let mut memory = vec![MaybeUninit::uninit(); 1 << 20];
    let region = &mut memory[..];
    let bank_off = |untouched: Range<usize>| assert!(untouched.len() >= 256 << 10);

    let mut heap: Heap = Heap::with_limit(region, &CONFIG, 512 << 10, 5000)?; // 512 KiB, 5000 objects
    heap.raise_limit(256 << 10); // a bank is on
    let bytes = heap.lower_limit(256 << 10); // moves what lies in the last pages to free ones
    bank_off(heap.details().untouched()); // offsets from the region's beginning

    assert_eq!(bytes, 256 << 10);
    Ok(())
}

#[test]
fn a_slice_of_any_length() -> Done {
    use std::alloc::Layout;
    use std::io::Write;
    use surefit::compact::{Config, Heap};

    static CONFIG: Config = Config::DEFAULT;
    let (mut memory, mut socket) = (memory(), Vec::new());
    let mut heap: Heap = Heap::new(&mut memory, &CONFIG)?;

    let layout = Layout::from_size_align(300_000, 4096)?;
    let mut frame = heap.alloc_contiguous_zeroed(layout)?; // 19 pages of 16 KiB
    heap.contiguous_mut(&mut frame).fill(7);
    socket.write_all(heap.contiguous(&frame))?;
    heap.free_contiguous(frame);

    assert_eq!(socket, [7; 300_000]);
    Ok(())
}

#[test]
fn a_region_in_which_tlsf_refuses_nothing() {
    use surefit::freelist::Tlsf;

    let bytes = Tlsf::enough_bytes(100, 10_000, 1000); // 100 objects of up to 1000 bytes, 10,000 of all: 115 KB
    assert_eq!(bytes.map(|bytes| bytes / 1000), Some(115));
}

#[test]
fn a_shared_heap() -> Done {
    shared(memory())
}

fn shared(mut memory: Vec<MaybeUninit<u8>>) -> Done {
    use surefit::compact::Config;
    use surefit::compact::shared::{SharedConfig, SharedHeap};

    // Moves in steps of 64 bytes: no lock is held while more than that is copied.
    let config = SharedConfig::new(Config::DEFAULT).with_increment(64)?;
    let heap: SharedHeap<parking_lot::RawMutex> = SharedHeap::new(&mut memory, &config)?;
    let local = heap.register()?; // a thread's buffer of free pages
    let mut numbers = local.insert([1_u32, 2, 3])?;
    assert_eq!(heap.pin(&numbers)?[0], 1); // one atomic addition; never waits, even while the object is being moved
    heap.pin_mut(&mut numbers)?[0] = 7; // takes a lock only if the object is in motion
    local.free(numbers)?; // any thread may free what it owns; no lock is held between steps of a move
    Ok(())
}

/// A language whose objects refer to another by their second word, and which has no roots.
struct Language;

impl<S: surefit::gc::Space> Client<S> for Language {
    fn roots(&mut self, _edges: &mut Edges<'_>) {}

    fn scan(&mut self, object: &Scanned<'_, S>, _from: u32, edges: &mut Edges<'_>) {
        object
            .reference(1)
            .into_iter()
            .for_each(|tail| edges.report(tail));
    }
}

mod values {
    use std::error::Error;

    use surefit::freelist::{Bitmap, Immediate, Segregated, Tree};
    use surefit::gc::{
        Client, Collector, Edges, FreeList, Incremental, Object, Scanned, Settings, Space, Word,
    };

    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Value(u32);

    impl Word for Value {
        type Bits = u32;
        fn from_bits(bits: u32) -> Self {
            Self(bits)
        }
        fn to_bits(self) -> u32 {
            self.0
        }
        fn reference(self) -> Option<Object> {
            (self.0 % 2 == 0).then(|| Object::of(self.0 / 2)).flatten()
        }
    }

    struct Language {
        stack: Vec<Value>,
    }

    impl<S: Space> Client<S> for Language {
        fn roots(&mut self, edges: &mut Edges<'_>) {
            let roots = self.stack.iter().filter_map(|value| value.reference());
            roots.for_each(|object| edges.report(object));
        }

        fn scan(&mut self, object: &Scanned<'_, S>, _from: u32, edges: &mut Edges<'_>) {
            let parts = [1, 2].map(|word| object.load_as::<Value>(word).reference());
            parts
                .into_iter()
                .flatten()
                .for_each(|part| edges.report(part));
        }
    }

    /// A cell that is taken out of another while a cycle marks is kept.
    #[test]
    fn a_language_with_tags_in_steps() -> Result<(), Box<dyn Error>> {
        type Lists<'m> = FreeList<'m, Segregated<Bitmap, Immediate, Tree, 256>>;
        let (mut memory, mut language) = (super::memory(), Language { stack: Vec::new() });
        let heap = Collector::<Lists<'_>>::new(&mut memory, Settings::default())?;
        let mut heap = Incremental::over(heap);
        let outer = heap.alloc(&mut language, 12)?;
        language.stack.push(Value(2 * outer.number()));
        let inner = heap.alloc(&mut language, 12)?;
        heap.store(outer, 1, Value(2 * inner.number()));
        heap.start(&mut language);
        language.stack.push(heap.load_as(outer, 1));
        heap.store(outer, 1, Value(15));
        heap.finish(&mut language);
        assert!(heap.contains(inner));
        assert_eq!(heap.load_as::<Value>(outer, 1), Value(15));
        Ok(())
    }
}

/// The first object of a collector.
fn first() -> Result<Object, Box<dyn Error>> {
    use surefit::freelist::{Bitmap, Immediate, Segregated, Tree};
    use surefit::gc::{Collector, FreeList, Settings};

    type Lists<'m> = FreeList<'m, Segregated<Bitmap, Immediate, Tree, 256>>;
    let mut memory = memory();
    let mut heap = Collector::<Lists<'_>>::new(&mut memory, Settings::default())?;
    Ok(heap.alloc(&mut Language, 12)?)
}

#[test]
fn a_collector() -> Done {
    collector(memory(), Language, first()?)
}

fn collector(mut memory: Vec<MaybeUninit<u8>>, mut language: Language, tail: Object) -> Done {
    use surefit::freelist::{Bitmap, Immediate, Segregated, Tree};
    use surefit::gc::{Collector, FreeList, Settings};

    type Lists<'m> = FreeList<'m, Segregated<Bitmap, Immediate, Tree, 256>>; // or any other with boundary tags
    let mut heap = Collector::<Lists>::new(&mut memory, Settings::default())?;
    let cell = heap.alloc(&mut language, 12)?; // if there is no room, it first frees what the roots do not lead to
    heap.store(cell, 1, Some(tail)); // checked: a reference to a dead object is detected, never followed

    #[derive(Clone, Copy)]
    struct Value(u32); // odd: a number; else twice the number of an object

    impl Word for Value {
        type Bits = u32; // one word; a NaN-boxed value has u64, and takes two
        fn from_bits(bits: u32) -> Self {
            Self(bits)
        }
        fn to_bits(self) -> u32 {
            self.0
        }
        fn reference(self) -> Option<Object> {
            if self.0 % 2 == 1 {
                None
            } else {
                Object::of(self.0 / 2)
            }
        }
    }

    heap.store(cell, 1, Value(2 * tail.number())); // in this language every word is a Value
    heap.store(cell, 2, Value(15));
    let seven: Value = heap.load_as(cell, 2);
    assert_eq!(heap.load_as::<Value>(cell, 1).reference(), Some(tail));
    assert_eq!((seven.0, seven.reference()), (15, None));
    Ok(())
}

#[test]
fn two_generations() -> Done {
    generations(memory(), Language, first()?)
}

fn generations(mut memory: Vec<MaybeUninit<u8>>, mut language: Language, tail: Object) -> Done {
    use surefit::freelist::{Bitmap, Immediate, Segregated, Tree};
    use surefit::gc::{Collector, FreeList, Generational, Settings};

    type Lists<'m> = FreeList<'m, Segregated<Bitmap, Immediate, Tree, 256>>;
    let heap = Collector::<Lists>::new(&mut memory, Settings::default())?;
    let mut heap = Generational::over(heap);
    let cell = heap.alloc(&mut language, 12)?;
    heap.store(cell, 1, Some(tail)); // remembers the cell, if it is old and the tail is young
    assert_eq!(heap.reference(cell, 1), Some(tail));
    Ok(())
}

#[test]
fn a_schedule() -> Done {
    let clock = VirtualClock::new();
    let quanta = Quanta::new(10_000, 1000).ok_or("a period")?;
    scheduled(memory(), Language, &clock, quanta)
}

fn scheduled(
    mut memory: Vec<MaybeUninit<u8>>,
    mut language: Language,
    timer: &VirtualClock,
    quanta: Quanta,
) -> Done {
    use surefit::compact::certify::ClassSet;
    use surefit::gc::schedule::{Amount, Headroom, Program, Rate};
    use surefit::gc::{Collector, CompactFit, Incremental};

    const CONFIG: Config = CompactFit::CONFIG;
    let classes = ClassSet::of_requests(CONFIG.geometry(), 64);
    let amount = |objects| Amount {
        objects,
        bytes: 32 * objects,
    };
    let (live, allocated, units) = (amount(1000), amount(100), 10_000);
    let program = Program {
        live,
        roots: 0,
        weak: 0,
    };
    let headroom = Headroom::ByTime {
        quanta,
        allocated,
        units,
    }; // what is declared about the program and the machine
    let certificate = CompactFit::certify(&CONFIG, classes, &program, &headroom)?;
    let heap =
        Collector::compact_fit(&mut memory, &CONFIG, certificate.mark_stack)?.with_clock(timer);
    let mut heap = Incremental::over(heap).with_schedule(certificate.schedule);
    assert!(certificate.region_bytes < 1 << 20);
    let (end_of_frame, rate) = (1000, Rate { units: 1, ticks: 1 });
    heap.alloc(&mut language, 32)?;
    if heap.due() {
        heap.run_until(&mut language, end_of_frame, rate); // makes no step that could be late at this rate
    }
    assert_eq!(heap.steps().forced, 0);
    Ok(())
}

#[test]
fn a_cycle() -> Done {
    cycle(memory())
}

fn cycle(mut memory: Vec<MaybeUninit<u8>>) -> Done {
    use std::cell::Cell;
    use surefit::gc::{Arena, Full, Gc, Rootable, Trace};

    #[derive(Trace)]
    #[trace(crate = surefit::gc)]
    struct Node<'gc> {
        next: Cell<Option<Gc<'gc, Node<'gc>>>>,
        name: String,
    }
    type Ring = Rootable!['gc => Cell<Option<Gc<'gc, Node<'gc>>>>];

    let mut arena = Arena::<Ring>::new(&mut memory, |_| Ok(Cell::new(None)))?;
    arena.mutate(|mc, root| {
        let node = mc.alloc(Node {
            next: Cell::new(None),
            name: "ring".into(),
        })?;
        node.next.set(Some(node)); // a cycle; a `Gc` is a pointer: copying and following it costs nothing more
        root.set(Some(node));
        Ok::<_, Full>(())
    })?;
    arena.collect(); // between mutations: frees what the root does not lead to, and drops it
    let name = arena.mutate(|_, root| root.get().map(|node| node.name.clone()));
    assert_eq!(name.as_deref(), Some("ring"));
    Ok(())
}

#[test]
fn a_cycle_in_rust_in_steps() -> Done {
    let mut memory = [MaybeUninit::uninit(); 1 << 16];
    use surefit::gc::{Full, Gc, GcCell, Rootable, StepArena, Trace};

    #[derive(Trace)]
    #[trace(crate = surefit::gc)]
    struct Node<'gc> {
        next: GcCell<'gc, Option<Gc<'gc, Node<'gc>>>>,
        name: String,
    }
    type Ring = Rootable!['gc => Option<Gc<'gc, Node<'gc>>>];

    let mut arena = StepArena::<Ring>::new(&mut memory, |_| Ok(None))?;
    arena.mutate_root(|mc, root| {
        let node = mc.alloc(Node {
            next: GcCell::new(None),
            name: "ring".into(),
        })?;
        node.next.set(mc, Some(node)); // the cell tells the collector what it loses
        *root = Some(node); // the root need not tell it
        Ok::<_, Full>(())
    })?;
    arena.start(); // between mutations: traces the root
    while !arena.step(100).done {} // each less than 100 + most_excess() units of work
    let name = arena.mutate(|_, root| root.map(|node| node.name.clone()));
    assert_eq!(name.as_deref(), Some("ring"));
    Ok(())
}
