//! What maps, vectors and deques cost, beside those of the standard library on the system's malloc:
//! processor time as ratios of interleaved rounds, their least and most, and memory.
//!
//! `cargo run --release -p surefit-collections --features os,std --example against_std [MOST [LEAST
//! [ROUNDS [TOTAL [default]]]]]`: from `LEAST` to `MOST` elements (1,000 to 1,000,000) in so many
//! interleaved rounds (7), each repeated until there were `TOTAL` elements (200,000); in heaps of
//! `Config::CONTAINERS`, or of `Config::DEFAULT`.
//!
//! What each operation counts: built with `RUSTFLAGS="-C symbol-mangling-version=v0"` and
//! `CARGO_PROFILE_RELEASE_DEBUG=line-tables-only`, `valgrind --tool=callgrind --cache-sim=yes` of
//! this program with `1000 1000 1 1`, and then the calls of `timed` in what `callgrind_annotate
//! --inclusive=yes --threshold=100` prints.
//!
//! Both maps take the standard library's hasher. Memory: of malloc the bytes of glibc's chunks, of
//! the heap all that is resident.

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::{BTreeMap as StdOrdered, HashMap as StdMap, VecDeque};
use std::hash::RandomState;
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};

use surefit_collections::{
    BTreeMap, HashMap, String as Moving, Vec as MovingVec, VecDeque as MovingDeque,
};
use surefit_compact::Config;
use surefit_compact::os::{Limits, OsHeap};
use surefit_os::clock::thread_cpu_ns;

static CONTAINERS: Config = Config::CONTAINERS;
static DEFAULT: Config = Config::DEFAULT;

/// How much is measured.
struct Amount {
    config: &'static Config,
    /// Interleaved rounds.
    rounds: usize,
    /// Elements of all repetitions of one measurement, at least.
    total: usize,
}

/// The system's allocator, and the bytes of the chunks that it gave out.
struct Counting;

static CHUNKS: AtomicUsize = AtomicUsize::new(0);

/// The bytes of a chunk of glibc: a header of 8 bytes, multiples of 16, 32 at least.
fn chunk(bytes: usize) -> usize {
    (bytes + 8).next_multiple_of(16).max(32)
}

// SAFETY: the system's allocator does all the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CHUNKS.fetch_add(chunk(layout.size()), Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        CHUNKS.fetch_sub(chunk(layout.size()), Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        CHUNKS.fetch_add(chunk(bytes), Ordering::Relaxed);
        CHUNKS.fetch_sub(chunk(layout.size()), Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.realloc(block, layout, bytes) }
    }
}

#[global_allocator]
static MALLOC: Counting = Counting;

/// The nanoseconds of insertions, look-ups, an iteration and removals, and the bytes of all
/// elements.
type Costs = [f64; 5];

const OPERATIONS: [&str; 5] = ["insert", "look up", "iterate", "remove", "memory"];

/// Adds the processor time of a call to a sum. Not inlined: so a profile has each call by itself.
#[inline(never)]
fn timed<R>(sum: &mut f64, call: impl FnOnce() -> R) -> R {
    let start = thread_cpu_ns();
    let returned = black_box(call());
    *sum += (thread_cpu_ns() - start) as f64;
    returned
}

/// The bytes that a heap holds, without pages that are empty.
fn held(heap: &OsHeap<'_>) -> usize {
    let stats = heap.stats();
    stats.resident_bytes - stats.empty_bytes
}

/// Keys in two orders: as they are inserted and removed, and as they are looked up.
struct Keys<K> {
    inserted: Vec<K>,
    searched: Vec<K>,
}

fn random(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}

impl<K: Clone> Keys<K> {
    fn new(count: usize, key: impl Fn(u64) -> K) -> Self {
        let mut seed = 0x2545_F491_4F6C_DD1D;
        let inserted: Vec<K> = (0..count).map(|_| key(random(&mut seed))).collect();
        let mut searched = inserted.clone();
        for end in (1..count).rev() {
            searched.swap(end, random(&mut seed) as usize % (end + 1));
        }
        Self { inserted, searched }
    }
}

/// A key of 8 to 200 bytes.
fn text(number: u64) -> String {
    let len = 8 + number as usize % 193;
    let digits = format!("{number:0>width$x}", width = len.max(16));
    digits[digits.len() - len..].to_owned()
}

fn numbers_in_std(_: &mut OsHeap<'static>, keys: &Keys<u64>, costs: &mut Costs) {
    let before = CHUNKS.load(Ordering::Relaxed);
    let mut map = StdMap::with_hasher(RandomState::new());
    timed(&mut costs[0], || {
        for key in &keys.inserted {
            map.insert(*key, *key);
        }
    });
    costs[4] += (CHUNKS.load(Ordering::Relaxed) - before) as f64;
    timed(&mut costs[1], || {
        keys.searched
            .iter()
            .filter(|key| map.contains_key(*key))
            .count()
    });
    timed(&mut costs[2], || {
        map.values().fold(0_u64, |sum, value| sum ^ value)
    });
    timed(&mut costs[3], || {
        for key in &keys.searched {
            map.remove(key);
        }
    });
}

fn numbers_in_ours(heap: &mut OsHeap<'static>, keys: &Keys<u64>, costs: &mut Costs) {
    let before = held(heap);
    let mut map = HashMap::with_hasher(RandomState::new());
    timed(&mut costs[0], || {
        for key in &keys.inserted {
            map.insert(heap, *key, *key).expect("room");
        }
    });
    costs[4] += (held(heap) - before) as f64;
    timed(&mut costs[1], || {
        keys.searched
            .iter()
            .filter(|key| map.contains_key(heap, *key))
            .count()
    });
    timed(&mut costs[2], || {
        map.values(heap).fold(0_u64, |sum, value| sum ^ value)
    });
    timed(&mut costs[3], || {
        for key in &keys.searched {
            map.remove(heap, key);
        }
    });
    map.free(heap);
}

fn texts_in_std(_: &mut OsHeap<'static>, keys: &Keys<String>, costs: &mut Costs) {
    let before = CHUNKS.load(Ordering::Relaxed);
    let mut map = StdMap::with_hasher(RandomState::new());
    timed(&mut costs[0], || {
        for key in &keys.inserted {
            map.insert(key.as_str().to_owned(), 7_u64);
        }
    });
    costs[4] += (CHUNKS.load(Ordering::Relaxed) - before) as f64;
    timed(&mut costs[1], || {
        let there = |key: &&String| map.contains_key(key.as_str());
        keys.searched.iter().filter(there).count()
    });
    timed(&mut costs[2], || {
        map.iter()
            .fold(0, |sum, (key, value)| sum + key.len() as u64 + value)
    });
    timed(&mut costs[3], || {
        for key in &keys.searched {
            map.remove(key.as_str());
        }
    });
}

fn texts_in_ours(heap: &mut OsHeap<'static>, keys: &Keys<String>, costs: &mut Costs) {
    let before = held(heap);
    let mut map = HashMap::with_hasher(RandomState::new());
    timed(&mut costs[0], || {
        for key in &keys.inserted {
            let key = Moving::from_text(heap, key).expect("room");
            map.insert(heap, key, 7_u64).expect("room");
        }
    });
    costs[4] += (held(heap) - before) as f64;
    timed(&mut costs[1], || {
        let there = |key: &&String| map.contains_key(heap, key.as_str());
        keys.searched.iter().filter(there).count()
    });
    timed(&mut costs[2], || {
        let all = map.iter(heap);
        all.fold(0, |sum, (key, value)| sum + key.len() as u64 + value)
    });
    timed(&mut costs[3], || {
        for key in &keys.searched {
            map.remove(heap, key.as_str());
        }
    });
    map.free(heap);
}

fn vector_in_std(_: &mut OsHeap<'static>, keys: &Keys<u64>, costs: &mut Costs) {
    let before = CHUNKS.load(Ordering::Relaxed);
    let mut vec = Vec::new();
    timed(&mut costs[0], || {
        for key in &keys.inserted {
            vec.push(*key);
        }
    });
    costs[4] += (CHUNKS.load(Ordering::Relaxed) - before) as f64;
    timed(&mut costs[1], || {
        keys.searched
            .iter()
            .fold(0, |sum, key| sum ^ vec[*key as usize % vec.len()])
    });
    timed(&mut costs[2], || {
        vec.iter().fold(0, |sum, value| sum ^ value)
    });
    timed(&mut costs[3], || {
        while let Some(value) = vec.pop() {
            black_box(value);
        }
    });
}

fn vector_in_ours(heap: &mut OsHeap<'static>, keys: &Keys<u64>, costs: &mut Costs) {
    let before = held(heap);
    let mut vec = MovingVec::new();
    timed(&mut costs[0], || {
        for key in &keys.inserted {
            vec.push(heap, *key).expect("room");
        }
    });
    costs[4] += (held(heap) - before) as f64;
    timed(&mut costs[1], || {
        let at = |key: &u64| {
            *vec.get(heap, *key as usize % vec.len())
                .expect("below the length")
        };
        keys.searched.iter().fold(0, |sum, key| sum ^ at(key))
    });
    timed(&mut costs[2], || {
        vec.iter(heap).fold(0, |sum, value| sum ^ value)
    });
    timed(&mut costs[3], || {
        while let Some(value) = vec.pop(heap) {
            black_box(value);
        }
    });
    vec.free(heap);
}

fn ordered_in_std(_: &mut OsHeap<'static>, keys: &Keys<u64>, costs: &mut Costs) {
    let before = CHUNKS.load(Ordering::Relaxed);
    let mut map = StdOrdered::new();
    timed(&mut costs[0], || {
        for key in &keys.inserted {
            map.insert(*key, *key);
        }
    });
    costs[4] += (CHUNKS.load(Ordering::Relaxed) - before) as f64;
    timed(&mut costs[1], || {
        let there = |key: &&u64| map.contains_key(*key);
        keys.searched.iter().filter(there).count()
    });
    timed(&mut costs[2], || {
        map.values().fold(0_u64, |sum, value| sum ^ value)
    });
    timed(&mut costs[3], || {
        for key in &keys.searched {
            map.remove(key);
        }
    });
}

fn ordered_in_ours(heap: &mut OsHeap<'static>, keys: &Keys<u64>, costs: &mut Costs) {
    let before = held(heap);
    let mut map = BTreeMap::new();
    timed(&mut costs[0], || {
        for key in &keys.inserted {
            map.insert(heap, *key, *key).expect("room");
        }
    });
    costs[4] += (held(heap) - before) as f64;
    timed(&mut costs[1], || {
        let there = |key: &&u64| map.contains_key(heap, *key);
        keys.searched.iter().filter(there).count()
    });
    timed(&mut costs[2], || {
        map.values(heap).fold(0_u64, |sum, value| sum ^ value)
    });
    timed(&mut costs[3], || {
        for key in &keys.searched {
            map.remove(heap, key);
        }
    });
    map.free(heap);
}

fn deque_in_std(_: &mut OsHeap<'static>, keys: &Keys<u64>, costs: &mut Costs) {
    let before = CHUNKS.load(Ordering::Relaxed);
    let mut deque = VecDeque::new();
    timed(&mut costs[0], || {
        for key in &keys.inserted {
            deque.push_back(*key);
        }
    });
    costs[4] += (CHUNKS.load(Ordering::Relaxed) - before) as f64;
    timed(&mut costs[1], || {
        let at = |key: &u64| deque[*key as usize % deque.len()];
        keys.searched.iter().fold(0, |sum, key| sum ^ at(key))
    });
    timed(&mut costs[2], || {
        deque.iter().fold(0, |sum, value| sum ^ value)
    });
    timed(&mut costs[3], || {
        while let Some(value) = deque.pop_front() {
            black_box(value);
        }
    });
}

fn deque_in_ours(heap: &mut OsHeap<'static>, keys: &Keys<u64>, costs: &mut Costs) {
    let before = held(heap);
    let mut deque = MovingDeque::new();
    timed(&mut costs[0], || {
        for key in &keys.inserted {
            deque.push_back(heap, *key).expect("room");
        }
    });
    costs[4] += (held(heap) - before) as f64;
    timed(&mut costs[1], || {
        let at = |key: &u64| {
            *deque
                .get(heap, *key as usize % deque.len())
                .expect("below the length")
        };
        keys.searched.iter().fold(0, |sum, key| sum ^ at(key))
    });
    timed(&mut costs[2], || {
        deque.iter(heap).fold(0, |sum, value| sum ^ value)
    });
    timed(&mut costs[3], || {
        while let Some(value) = deque.pop_front(heap) {
            black_box(value);
        }
    });
    deque.free(heap);
}

/// The ratios of one container and length: round by round, of each operation.
type Row = Vec<[f64; 5]>;

/// The median of ratios, the least and the most.
fn spread(mut ratios: Vec<f64>) -> [f64; 3] {
    ratios.sort_unstable_by(f64::total_cmp);
    [
        ratios[ratios.len() / 2],
        ratios[0],
        ratios[ratios.len() - 1],
    ]
}

/// What inserts, looks up, iterates and removes.
type Subject<K> = fn(&mut OsHeap<'static>, &Keys<K>, &mut Costs);

impl Amount {
    /// Measures both in interleaved rounds, and prints the ratios.
    fn compare<K>(&self, name: &str, keys: &Keys<K>, std: Subject<K>, ours: Subject<K>) -> Row {
        let count = keys.inserted.len();
        let repetitions = self.total.div_ceil(count);
        let limits = Limits::new(2 << 30, 2 << 30);
        let mut heap = OsHeap::new(self.config, limits).expect("address space");
        let mut rounds = vec![[0.0; 5]; self.rounds];
        let mut least = [f64::INFINITY; 5];
        for ratios in &mut rounds {
            let (mut of_std, mut of_ours) = ([0.0; 5], [0.0; 5]);
            for _ in 0..repetitions {
                std(&mut heap, keys, &mut of_std);
                ours(&mut heap, keys, &mut of_ours);
            }
            for at in 0..5 {
                ratios[at] = of_ours[at] / of_std[at];
                least[at] = least[at].min(of_std[at] / (repetitions * count) as f64);
            }
        }
        print!("{name:<8}{count:>9}");
        for (at, least) in least.iter().enumerate() {
            let ratios = rounds.iter().map(|ratios| ratios[at]).collect();
            let [median, first, last] = spread(ratios);
            print!("  {median:.2} [{first:.2}-{last:.2}] {least:>5.1}");
        }
        println!();
        rounds
    }
}

/// The geometric mean of some operations of all rows, round by round.
fn mean(rows: &[Row], operations: std::ops::Range<usize>) -> Vec<f64> {
    let of_round = |round: usize| {
        let all = rows.iter().flat_map(|row| &row[round][operations.clone()]);
        let sum: f64 = all.map(|ratio| ratio.ln()).sum();
        (sum / (rows.len() * operations.len()) as f64).exp()
    };
    let rounds = rows.first().map_or(0, Vec::len);
    (0..rounds).map(of_round).collect()
}

fn main() {
    let mut numbers = std::env::args().skip(1);
    let mut number = |default: usize| {
        let given = numbers.next();
        given.map_or(default, |text| text.parse().expect("a number"))
    };
    let (most, least) = (number(1_000_000), number(1000));
    let is_default = std::env::args()
        .nth(5)
        .is_some_and(|word| word == "default");
    let amount = Amount {
        config: if is_default { &DEFAULT } else { &CONTAINERS },
        rounds: number(7).max(1),
        total: number(200_000),
    };
    println!(
        "ratios to std: median [least-most] of {} rounds, then std's ns or bytes an element",
        amount.rounds
    );
    print!("{:<8}{:>9}", "", "elements");
    OPERATIONS
        .iter()
        .for_each(|operation| print!("  {operation:<22}"));
    println!();
    let mut all = ["maps", "vectors", "ordered maps", "deques"].map(|name| (name, Vec::new()));
    let mut count = least.max(1);
    while count <= most {
        let [(_, maps), (_, vectors), (_, ordered), (_, deques)] = &mut all;
        let numbers = Keys::new(count, |number| number);
        let texts = Keys::new(count, text);
        maps.push(amount.compare("u64", &numbers, numbers_in_std, numbers_in_ours));
        maps.push(amount.compare("text", &texts, texts_in_std, texts_in_ours));
        vectors.push(amount.compare("vector", &numbers, vector_in_std, vector_in_ours));
        ordered.push(amount.compare("ordered", &numbers, ordered_in_std, ordered_in_ours));
        deques.push(amount.compare("deque", &numbers, deque_in_std, deque_in_ours));
        count *= 10;
    }
    for (name, rows) in all {
        for (what, operations) in [("time", 0..4), ("memory", 4..5)] {
            let [median, first, last] = spread(mean(&rows, operations));
            println!("{name}: {what} {median:.2} [{first:.2}-{last:.2}] x std's");
        }
    }
}
