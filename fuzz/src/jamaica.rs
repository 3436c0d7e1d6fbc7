//! `Jamaica` beside a model that holds the bytes of every object and counts the free blocks.

use std::ops::Range;

use surefit_core::Refused;
use surefit_freelist::jamaica::{Array, Bytes, Jamaica, Object, Shape};

use crate::input::Input;
use crate::region::Region;

/// Runs an input's operations on blocks of 16, 32 or 128 bytes.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    match input.below(3) {
        0 => run_with::<16>(&mut input),
        1 => run_with::<32>(&mut input),
        _ => run_with::<128>(&mut input),
    }
}

fn run_with<const B: usize>(input: &mut Input<'_>) {
    let bytes = input.region_bytes().min(1 << 15);
    let mut region = Region::new(bytes, B, input.below(17));
    let Ok(heap) = Jamaica::<B>::new(region.memory()) else {
        return;
    };
    let mut run = Run {
        free: heap.stats().blocks,
        heap,
        live: Live::default(),
        region_bytes: bytes,
        steps: 0,
    };
    while !input.is_empty() && run.steps < 2000 {
        run.step(input);
    }
    run.finish();
}

/// What the documentation says of a shape, in the simplest words.
trait Modelled: Shape {
    /// Blocks of an object of that many bytes.
    fn blocks<const B: usize>(len: usize) -> usize;

    /// Links that lead to a position in an object of that many bytes.
    fn links<const B: usize>(len: usize, offset: usize) -> usize;

    /// The live objects of the shape.
    fn of(live: &mut Live) -> &mut Vec<Known<Self>>;
}

impl Modelled for Object {
    fn blocks<const B: usize>(len: usize) -> usize {
        len.div_ceil(B - 4).max(1)
    }

    fn links<const B: usize>(_len: usize, offset: usize) -> usize {
        offset / (B - 4)
    }

    fn of(live: &mut Live) -> &mut Vec<Known<Self>> {
        &mut live.objects
    }
}

impl Modelled for Array {
    fn blocks<const B: usize>(len: usize) -> usize {
        levels::<B>(len).sum()
    }

    fn links<const B: usize>(len: usize, _offset: usize) -> usize {
        levels::<B>(len).count() - 1
    }

    fn of(live: &mut Live) -> &mut Vec<Known<Self>> {
        &mut live.arrays
    }
}

/// The blocks of each level of an array, from the leaves to the root.
fn levels<const B: usize>(len: usize) -> impl Iterator<Item = usize> {
    let leaves = len.div_ceil(B).max(1);
    std::iter::successors(Some(leaves), |&level| {
        (level > 1).then(|| level.div_ceil(B / 4))
    })
}

/// A live object and the bytes that it must hold.
struct Known<S: Shape> {
    bytes: Bytes<S>,
    content: Vec<u8>,
}

#[derive(Default)]
struct Live {
    objects: Vec<Known<Object>>,
    arrays: Vec<Known<Array>>,
}

struct Run<'m, const B: usize> {
    heap: Jamaica<'m, B>,
    live: Live,
    /// Blocks that must be free.
    free: usize,
    region_bytes: usize,
    steps: usize,
}

impl<const B: usize> Run<'_, B> {
    fn step(&mut self, input: &mut Input<'_>) {
        self.steps += 1;
        let choice = input.byte();
        if choice & 1 == 0 {
            self.operate::<Object>(choice >> 1, input);
        } else {
            self.operate::<Array>(choice >> 1, input);
        }
        self.verify();
    }

    fn operate<S: Modelled>(&mut self, choice: u8, input: &mut Input<'_>) {
        if choice % 12 < 4 {
            return self.alloc::<S>(input.size());
        }
        let known = S::of(&mut self.live).len();
        let Some(which) = input.number().checked_rem(known) else {
            return;
        };
        match choice % 12 {
            4 | 5 => self.free::<S>(which),
            6 | 7 => self.resize::<S>(which, input.size()),
            8 | 9 => self.write::<S>(which, input),
            10 => self.write_chunk::<S>(which, input),
            _ => self.read::<S>(which, input),
        }
    }

    fn alloc<S: Modelled>(&mut self, len: usize) {
        let needed = S::blocks::<B>(len);
        let bytes = match self.heap.alloc::<S>(len) {
            Ok(bytes) => bytes,
            Err(refused) => return self.assert_refused::<S>(refused, needed, self.free),
        };
        assert!(needed <= self.free, "more blocks than were free");
        self.free -= needed;
        let content = vec![0; len];
        S::of(&mut self.live).push(Known { bytes, content });
        let newest = S::of(&mut self.live).len() - 1;
        self.verify_bytes::<S>(newest);
    }

    /// Verifies that a refusal was due, and its reason: the object needs more blocks than there is
    /// room for.
    fn assert_refused<S: Modelled>(&self, refused: Refused, needed: usize, room: usize) {
        assert!(needed > room, "{refused:?}: {needed} of {room} blocks");
        let limit = self.heap.largest_request::<S>();
        let expected = if needed > self.heap.stats().blocks {
            Refused::TooLarge { limit }
        } else {
            Refused::NoChunk
        };
        assert_eq!(refused, expected);
    }

    fn free<S: Modelled>(&mut self, which: usize) {
        self.verify_bytes::<S>(which);
        let known = S::of(&mut self.live).swap_remove(which);
        self.free += S::blocks::<B>(known.content.len());
        self.heap.free(known.bytes);
    }

    fn resize<S: Modelled>(&mut self, which: usize, len: usize) {
        let known = &mut S::of(&mut self.live)[which];
        let room = self.free + S::blocks::<B>(known.content.len());
        let needed = S::blocks::<B>(len);
        match self.heap.resize(&mut known.bytes, len) {
            Ok(()) => {
                assert!(needed <= room, "more blocks than were free");
                self.free = room - needed;
                known.content.resize(len, 0);
            }
            Err(refused) => self.assert_refused::<S>(refused, needed, room),
        }
        self.verify_bytes::<S>(which);
    }

    fn write<S: Modelled>(&mut self, which: usize, input: &mut Input<'_>) {
        let known = &mut S::of(&mut self.live)[which];
        let range = range(input, known.content.len());
        let fresh: Vec<u8> = range.clone().map(|at| pattern(self.steps, at)).collect();
        self.heap.write_at(&mut known.bytes, range.start, &fresh);
        known.content[range].copy_from_slice(&fresh);
    }

    fn write_chunk<S: Modelled>(&mut self, which: usize, input: &mut Input<'_>) {
        let known = &mut S::of(&mut self.live)[which];
        let offset = input.number() % (known.content.len() + 1);
        let chunk = self.heap.chunk_mut(&mut known.bytes, offset);
        let place = offset..offset + chunk.len();
        let fresh = place.clone().map(|at| pattern(self.steps, at));
        chunk
            .iter_mut()
            .zip(fresh)
            .for_each(|(byte, new)| *byte = new);
        known.content[place.clone()].copy_from_slice(chunk);
        let ends_block = place.end % (B - S::LEAD) == 0;
        assert!(ends_block || place.end == known.content.len());
    }

    fn read<S: Modelled>(&mut self, which: usize, input: &mut Input<'_>) {
        let known = &S::of(&mut self.live)[which];
        let range = range(input, known.content.len());
        let mut held = vec![1; range.len()];
        self.heap.read_at(&known.bytes, range.start, &mut held);
        assert_eq!(held, known.content[range.clone()]);
        let before = self.heap.stats();
        let chunk = self.heap.chunk(&known.bytes, range.start);
        assert!(known.content[range.start..].starts_with(chunk));
        let after = self.heap.stats();
        if chunk.is_empty() {
            return assert_eq!(range.start, known.content.len(), "a chunk in the middle");
        }
        let links = S::links::<B>(known.content.len(), range.start);
        assert_eq!(after.hops - before.hops, links as u64);
        assert_eq!(after.accesses - before.accesses, 1);
    }

    fn verify_bytes<S: Modelled>(&mut self, which: usize) {
        let known = &S::of(&mut self.live)[which];
        assert_eq!(known.bytes.len(), known.content.len());
        let held = self.heap.chunks(&known.bytes).flatten();
        assert!(held.eq(&known.content), "an object lost its bytes");
    }

    /// Verifies every invariant, and that exactly the blocks of the live objects are in use.
    fn verify(&mut self) {
        self.heap.check().expect("every invariant holds");
        let (objects, arrays) = (&self.live.objects, &self.live.arrays);
        self.heap
            .check_objects(
                objects.iter().map(|known| &known.bytes),
                arrays.iter().map(|known| &known.bytes),
            )
            .expect("every object has its blocks");
        let stats = self.heap.stats();
        assert_eq!(stats.free_blocks, self.free);
        assert_eq!(stats.live_objects, objects.len() + arrays.len());
        assert_eq!(self.heap.usage().total(), self.region_bytes);
    }

    fn finish(mut self) {
        while !self.live.objects.is_empty() {
            self.free::<Object>(0);
        }
        while !self.live.arrays.is_empty() {
            self.free::<Array>(0);
        }
        self.verify();
        assert_eq!(self.free, self.heap.stats().blocks);
        self.claim_limit::<Object>();
        self.claim_limit::<Array>();
    }

    /// An empty heap serves the largest request, and nothing larger.
    fn claim_limit<S: Modelled>(&mut self) {
        let limit = self.heap.largest_request::<S>();
        let refused = self.heap.alloc::<S>(limit + 1).expect_err("too large");
        assert_eq!(refused, Refused::TooLarge { limit });
        let bytes = self.heap.alloc::<S>(limit).expect("the largest request");
        self.heap.free(bytes);
        self.verify();
    }
}

/// A range of an object of that many bytes.
fn range(input: &mut Input<'_>, len: usize) -> Range<usize> {
    let start = input.number() % (len + 1);
    start..start + input.number() % (len - start + 1)
}

/// The byte that a step writes at a position.
const fn pattern(step: usize, at: usize) -> u8 {
    (step * 31 + at * 7) as u8
}
