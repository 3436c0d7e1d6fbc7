//! Bytes of objects in pieces against contiguous bytes: time ÷ time, in interleaved rounds.
//!
//! - **Sequential**: a whole object is copied out or in. Ratio to one `memcpy` of as many bytes;
//!   goal: at most 1/.9 = 1.11. Below it, what the same `memcpy` costs in calls of 4 KiB, which is
//!   what pieces cost that do not follow each other in memory.
//! - **Random**: the word at a random position is read and written back. Ratio to the same through
//!   a raw pointer to a contiguous object of `DirectHeap`; goal: at most 2.
//!
//! Every round measures every way once, one after the other, so that all see the same machine. What
//! is printed is the median and the quartiles of the ratios of rounds. `cargo bench -p
//! surefit-compact --bench pieces`.

use core::alloc::Layout;
use core::hint::black_box;
use core::mem::MaybeUninit;
use core::ptr::NonNull;
use std::time::Instant;

use surefit_compact::{Bytes, Config, Heap};
use surefit_core::RawHeap;
use surefit_direct::DirectHeap;

/// Rounds of each comparison.
const ROUNDS: usize = 201;

/// Bytes that a way copies in a round.
const COPIED: usize = 4 << 20;

/// Positions that a way accesses in a round.
const ACCESSES: usize = 20_000;

static CONFIG: Config = Config::DEFAULT;

/// A way to do the same, by name.
type Way<'a> = (&'a str, &'a mut dyn FnMut());

/// Measures all ways in turn, and prints the ratio of each to the first.
fn compare(title: &str, ways: &mut [Way<'_>]) {
    let mut ratios = vec![Vec::with_capacity(ROUNDS); ways.len()];
    for round in 0..=ROUNDS {
        let times: Vec<f64> = ways
            .iter_mut()
            .map(|(_, way)| {
                let start = Instant::now();
                way();
                start.elapsed().as_secs_f64()
            })
            .collect();
        // The first round warms the caches.
        if round > 0 {
            for (ratios, time) in ratios.iter_mut().zip(&times) {
                ratios.push(time / times[0]);
            }
        }
    }
    println!("{title}");
    for ((name, _), ratios) in ways.iter().zip(&mut ratios).skip(1) {
        ratios.sort_by(f64::total_cmp);
        let at = |quarter: usize| ratios[quarter * (ratios.len() - 1) / 4];
        println!("  {name:<28} {:.2} [{:.2}-{:.2}]", at(2), at(1), at(3));
    }
}

fn region(bytes: usize) -> &'static mut [MaybeUninit<u8>] {
    vec![MaybeUninit::new(1_u8); bytes].leak()
}

/// Bytes at the beginning of a cache line, half a page-frame of the machine behind its beginning.
/// Pieces lie at beginnings: a copy between equal places of two frames waits for its own stores.
fn buffer(len: usize, content: u8) -> &'static mut [u8] {
    let bytes = vec![content; len + 8192].leak();
    let first = bytes.as_ptr().align_offset(4096) + 2048;
    &mut bytes[first..first + len]
}

fn object(heap: &Heap<'_>, len: usize) -> Bytes<u8> {
    let layout = Layout::from_size_align(len, 8).expect("valid");
    heap.alloc_zeroed(layout).expect("room")
}

/// An object whose pieces do not follow each other in memory: another object grew with it.
fn scattered(heap: &mut Heap<'_>, len: usize) -> Bytes<u8> {
    let layout = |len| Layout::from_size_align(len, 8).expect("valid");
    let (mut bytes, mut other) = (object(heap, 2), object(heap, 1));
    for end in (0..=len).step_by(4096).skip(1) {
        heap.resize(&mut bytes, layout(end)).expect("room");
        heap.resize(&mut other, layout(end)).expect("room");
    }
    bytes
}

fn times(len: usize, mut once: impl FnMut()) {
    (0..COPIED / len).for_each(|_| once());
}

fn copies_out(len: usize) {
    let mut heap: Heap<'_> = Heap::new(region(4 * len + (1 << 20)), &CONFIG).expect("large enough");
    let (bytes, apart) = (object(&heap, len), scattered(&mut heap, len));
    let contiguous = &*object_like(len);
    let [one, two, three, four, five, six] = core::array::from_fn(|_| buffer(len, 0));
    compare(
        &format!("copy out, {} KiB", len >> 10),
        &mut [
            ("memcpy", &mut || {
                times(len, || {
                    black_box(&mut *one).copy_from_slice(black_box(contiguous))
                });
            }),
            ("memcpy, 4 KiB at a time", &mut || {
                times(len, || {
                    let parts = black_box(contiguous).chunks(4096);
                    let targets = black_box(&mut *two).chunks_mut(4096);
                    targets
                        .zip(parts)
                        .for_each(|(to, from)| to.copy_from_slice(from));
                });
            }),
            ("chunks", &mut || {
                times(len, || {
                    let mut rest = &mut black_box(&mut *three)[..];
                    for chunk in heap.chunks(black_box(&bytes)) {
                        let (now, later) = rest.split_at_mut(chunk.len());
                        now.copy_from_slice(chunk);
                        rest = later;
                    }
                });
            }),
            ("read_at", &mut || {
                times(len, || {
                    heap.read_at(black_box(&bytes), 0, black_box(&mut *four))
                });
            }),
            ("read_at, pieces apart", &mut || {
                times(len, || {
                    heap.read_at(black_box(&apart), 0, black_box(&mut *six))
                });
            }),
            ("cursor, 512 bytes at a time", &mut || {
                times(len, || {
                    let mut cursor = heap.cursor(black_box(&bytes));
                    for part in black_box(&mut *five).chunks_mut(512) {
                        cursor.read_into(part);
                    }
                });
            }),
        ],
    );
}

/// Contiguous bytes that begin as a piece does.
fn object_like(len: usize) -> &'static mut [u8] {
    let bytes = vec![3_u8; len + 4096].leak();
    let first = bytes.as_ptr().align_offset(4096);
    &mut bytes[first..first + len]
}

fn copies_in(len: usize) {
    let heap: Heap<'_> = Heap::new(region(8 * len + (1 << 20)), &CONFIG).expect("large enough");
    let mut objects: [_; 3] = core::array::from_fn(|_| object(&heap, len));
    let [three, four, five] = &mut objects;
    let [one, two] = core::array::from_fn(|_| object_like(len));
    let source = &*buffer(len, 9);
    compare(
        &format!("copy in, {} KiB", len >> 10),
        &mut [
            ("memcpy", &mut || {
                times(len, || {
                    black_box(&mut *one).copy_from_slice(black_box(source))
                });
            }),
            ("memcpy, 4 KiB at a time", &mut || {
                times(len, || {
                    let parts = black_box(source).chunks(4096);
                    let targets = black_box(&mut *two).chunks_mut(4096);
                    targets
                        .zip(parts)
                        .for_each(|(to, from)| to.copy_from_slice(from));
                });
            }),
            ("chunks_mut", &mut || {
                times(len, || {
                    let mut rest = black_box(source);
                    for chunk in heap.chunks_mut(three) {
                        let (now, later) = rest.split_at(chunk.len());
                        chunk.copy_from_slice(now);
                        rest = later;
                    }
                });
            }),
            ("write_at", &mut || {
                times(len, || heap.write_at(four, 0, black_box(source)));
            }),
            ("cursor, 512 bytes at a time", &mut || {
                times(len, || {
                    let mut cursor = heap.cursor_mut(five);
                    for part in black_box(source).chunks(512) {
                        cursor.write_from(part);
                    }
                });
            }),
        ],
    );
}

/// Random numbers below a bound; xorshift, seeded alike for every way.
fn random() -> impl FnMut(usize) -> usize {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (((state >> 32) * below as u64) >> 32) as usize
    }
}

/// Reads the word at a position and writes it back, at random positions of random objects.
fn accesses(objects: usize, len: usize, mut access: impl FnMut(usize, usize)) {
    let mut random = random();
    for _ in 0..ACCESSES {
        let number = random(objects);
        access(number, random(len / 8) * 8);
    }
}

fn word(chunk: &mut [u8]) {
    let (word, _) = chunk.split_first_chunk_mut::<8>().expect("eight bytes");
    *word = (u64::from_ne_bytes(*word) + 1).to_ne_bytes();
}

fn random_positions(objects: usize, len: usize) {
    let total = objects * len;
    let mut direct = DirectHeap::new(region(2 * total + (1 << 20))).expect("large enough");
    let layout = Layout::from_size_align(len, 8).expect("valid");
    let raw: Vec<NonNull<u8>> = (0..objects)
        .map(|_| direct.allocate(layout).expect("room"))
        .collect();
    for object in &raw {
        // SAFETY: the object has `len` bytes.
        unsafe { object.write_bytes(0, len) };
    }
    let heap: Heap<'_> = Heap::new(region(2 * total + (1 << 20)), &CONFIG).expect("large enough");
    let mut first: Vec<_> = (0..objects).map(|_| object(&heap, len)).collect();
    compare(
        &format!("random positions, {objects} × {} KiB", len >> 10),
        &mut [
            ("cf-direct", &mut || {
                accesses(objects, len, |number, at| {
                    // SAFETY: the position lies in the object, which nobody else uses.
                    let mut place = unsafe { raw[number].add(at).cast::<[u8; 8]>() };
                    // SAFETY: as above.
                    word(unsafe { place.as_mut() });
                });
            }),
            ("chunk_mut", &mut || {
                accesses(objects, len, |number, at| {
                    word(heap.chunk_mut(&mut first[number], at))
                });
            }),
        ],
    );
    if objects > 1 {
        return;
    }
    let mut cursor = heap.cursor_mut(&mut first[0]);
    compare(
        &format!("random positions by one cursor, {} KiB", len >> 10),
        &mut [
            ("cf-direct", &mut || {
                accesses(objects, len, |_, at| {
                    // SAFETY: the position lies in the object, which nobody else uses.
                    let mut place = unsafe { raw[0].add(at).cast::<[u8; 8]>() };
                    // SAFETY: as above.
                    word(unsafe { place.as_mut() });
                });
            }),
            ("cursor", &mut || {
                accesses(objects, len, |_, at| {
                    cursor.set_position(at);
                    word(cursor.chunk_mut());
                });
            }),
        ],
    );
}

fn main() {
    // `cargo test` runs benchmarks without this argument.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    println!("time ÷ time of the first way, median [quartiles] of {ROUNDS} rounds");
    for len in [64 << 10, 256 << 10, 1 << 20, 4 << 20] {
        copies_out(len);
        copies_in(len);
    }
    for (objects, len) in [
        (1, 64 << 10),
        (1, 1 << 20),
        (1, 4 << 20),
        (64, 64 << 10),
        (64, 1 << 20),
    ] {
        random_positions(objects, len);
    }
}
