//! Campaigns against checkers: each word of a heap's tables is changed, and each change must be
//! told, or harmless.

use std::alloc::Layout;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

use surefit_core::RawHeap;

use crate::Random;

/// What became of a changed heap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The checker told it.
    Told,
    /// The checker did not, and a drive found nothing.
    Harmless,
    /// It is a state that calls could have led to, and so left out by name.
    LeftOut,
    /// The checker did not, and a drive found this.
    Silent(String),
}

/// One change: of these bytes of the heap, to these values.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    /// Where the word begins.
    pub at: usize,
    /// How many bytes it has.
    pub bytes: usize,
    /// What is turned over.
    pub flipped: u64,
}

/// Changes every word of a heap, which `judge` puts into its place and judges: each bit, to zeros,
/// to ones and to the words beside it; then pairs of such changes. Only a slice without
/// `SUREFIT_FLIPS`; with it, prints a row of a table.
///
/// Words are ranges of `heap`, of at most eight bytes each.
///
/// # Panics
/// If a change is silent, or the judge panics.
pub fn campaign(
    name: &str,
    heap: &[u8],
    words: &[Range<usize>],
    slice: usize,
    judge: &mut dyn FnMut(&[u8], &[Change]) -> Verdict,
) {
    let whole = std::env::var_os("SUREFIT_FLIPS").is_some();
    let changes = changes(heap, words);
    let mut random = Random(7);
    let singles = changes.len();
    let pairs = if whole {
        (4 * singles).min(singles.max(60_000))
    } else {
        singles
    };
    let pairs = (0..pairs).map(|_| {
        let [one, other] = [(); 2].map(|()| changes[random.below(changes.len())]);
        // As often the same change of two words as two changes.
        let same = Change {
            flipped: one.flipped,
            ..other
        };
        vec![one, if random.below(2) == 0 { same } else { other }]
    });
    let all: Vec<_> = changes
        .iter()
        .map(|&change| vec![change])
        .chain(pairs)
        .collect();
    let (mut tally, mut flips, mut silent) = ([0; 4], 0, Vec::new());
    for change in all.iter().step_by(if whole { 1 } else { slice }) {
        let mut changed = heap.to_vec();
        for one in change {
            turn(&mut changed, one);
        }
        if changed == heap {
            continue;
        }
        let verdict = catch_unwind(AssertUnwindSafe(|| judge(&changed, change)))
            .unwrap_or_else(|_| Verdict::Silent("a panic".into()));
        flips += 1;
        match verdict {
            Verdict::Told => tally[0] += 1,
            Verdict::Harmless => tally[1] += 1,
            Verdict::LeftOut => tally[2] += 1,
            Verdict::Silent(why) => {
                tally[3] += 1;
                silent.push(format!("{change:x?}: {why}"));
            }
        }
    }
    if whole {
        let [told, harmless, left_out, silent] = tally;
        let words = words.len();
        println!("| {name} | {words} | {flips} | {told} | {harmless} | {left_out} | {silent} |");
    }
    silent.truncate(40);
    assert!(silent.is_empty(), "{name}: silent\n{}", silent.join("\n"));
}

fn changes(heap: &[u8], words: &[Range<usize>]) -> Vec<Change> {
    let mut changes = Vec::new();
    for (place, word) in words.iter().enumerate() {
        let (at, bytes) = (word.start, word.len());
        let ones = u64::MAX >> (64 - 8 * bytes);
        let value = read(heap, word);
        let before = place.checked_sub(1).map(|before| &words[before]);
        let beside = [before, words.get(place + 1)].into_iter().flatten();
        let values = beside.map(|word| read(heap, word)).chain([0, ones]);
        let flips = (0..8 * bytes)
            .map(|bit| 1 << bit)
            .chain(values.map(|other| (value ^ other) & ones));
        changes.extend(flips.filter(|flipped| *flipped != 0).map(|flipped| Change {
            at,
            bytes,
            flipped,
        }));
    }
    changes
}

fn read(heap: &[u8], word: &Range<usize>) -> u64 {
    let mut bytes = [0; 8];
    bytes[..word.len()].copy_from_slice(&heap[word.clone()]);
    u64::from_le_bytes(bytes)
}

fn turn(heap: &mut [u8], change: &Change) {
    let flipped = change.flipped.to_le_bytes();
    for (byte, flipped) in heap[change.at..].iter_mut().zip(&flipped[..change.bytes]) {
        *byte ^= flipped;
    }
}

/// A live object and what its bytes hold.
#[derive(Clone, Copy, Debug)]
pub struct Object {
    /// Where it is.
    pub pointer: NonNull<u8>,
    /// What it was requested with.
    pub layout: Layout,
    key: u8,
}

impl Object {
    /// Allocates an object, and fills it. `None` if it is refused.
    pub fn new(heap: &mut dyn RawHeap, layout: Layout, key: u8) -> Option<Self> {
        let object = Self {
            pointer: heap.allocate(layout).ok()?,
            layout,
            key,
        };
        object.fill();
        Some(object)
    }

    fn fill(&self) {
        for place in 0..self.layout.size() {
            // SAFETY: a byte of a live object.
            unsafe {
                self.pointer
                    .add(place)
                    .write(self.key.wrapping_add(place as u8))
            };
        }
    }

    fn holds(&self, bytes: usize) -> bool {
        // SAFETY: bytes of a live object, all written.
        (0..bytes).all(
            |place| unsafe { self.pointer.add(place).read() } == self.key.wrapping_add(place as u8),
        )
    }

    fn free(&self, heap: &mut dyn RawHeap) -> Result<(), String> {
        if !self.holds(self.layout.size()) {
            return Err(format!(
                "an object of {} bytes lost its bytes",
                self.layout.size()
            ));
        }
        // SAFETY: a live object, and its layout.
        unsafe { heap.try_free(self.pointer, self.layout) }
            .map_err(|refused| format!("a free: {refused}"))
    }
}

/// Drives a heap that holds these objects, with requests of up to `largest` bytes, and frees all in
/// the end: looks that each object stays inside of the region, aligned, and keeps its bytes, and
/// checks the heap.
///
/// # Errors
/// What went wrong.
///
/// # Panics
/// If the sizes are those of no layout.
pub fn drive(
    heap: &mut dyn RawHeap,
    region: &Range<usize>,
    objects: &[Object],
    largest: usize,
    seed: u64,
) -> Result<(), String> {
    let (mut objects, mut random) = (objects.to_vec(), Random(seed));
    for step in 0..300 {
        // All in turn: mostly frees, then mostly requests, until some are refused.
        let frees = if step / 50 % 2 == 0 { 3 } else { 1 };
        if random.below(4) < frees && !objects.is_empty() {
            let object = objects.swap_remove(random.below(objects.len()));
            object.free(heap)?;
            continue;
        }
        if random.below(4) == 0 && !objects.is_empty() {
            let place = random.below(objects.len());
            let object = objects[place];
            let bytes = 1 + random.below(largest);
            // SAFETY: a live object, and its layout.
            let Ok(moved) = (unsafe { heap.resize(object.pointer, object.layout, bytes) }) else {
                continue;
            };
            let layout = Layout::from_size_align(bytes, object.layout.align()).expect("a layout");
            let moved = Object {
                pointer: moved,
                layout,
                ..object
            };
            if !moved.holds(bytes.min(object.layout.size())) {
                return Err("a resize lost bytes".into());
            }
            is_inside(&moved, region)?;
            moved.fill();
            objects[place] = moved;
            continue;
        }
        let most = [largest, 1 + largest / 8][random.below(2)];
        let bytes = 1 + random.below(most);
        let layout = Layout::from_size_align(bytes, 8).expect("a layout");
        if let Some(object) = Object::new(heap, layout, step as u8) {
            is_inside(&object, region)?;
            objects.push(object);
        }
    }
    random.shuffle(&mut objects);
    objects.iter().try_for_each(|object| object.free(heap))?;
    heap.check()
        .map_err(|corruption| format!("after all: {corruption}"))
}

fn is_inside(object: &Object, region: &Range<usize>) -> Result<(), String> {
    let start = object.pointer.addr().get();
    let inside = region.start <= start && start + object.layout.size() <= region.end;
    let aligned = start % object.layout.align() == 0;
    if inside && aligned {
        Ok(())
    } else {
        Err(format!("an object lies at {start:x}"))
    }
}
