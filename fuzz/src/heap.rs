//! `Heap` beside a model that remembers every byte of every object.

mod parked;

use std::alloc::Layout;
use std::mem::MaybeUninit;

use surefit_compact::{Bound, Bytes, EntryHeap, Handle, Medium, Narrow, View, Wide, Width};

use crate::config::{self, config};
use crate::input::Input;
use crate::region::Region;

/// A byte object and what it must hold.
struct Object {
    bytes: Bytes<u8>,
    content: Vec<u8>,
    align: usize,
}

/// Values of several sizes and alignments.
enum Value {
    Small(Handle<u8>, u8),
    Word(Handle<u64>, u64),
    Text(Handle<String>, String),
    Large(Handle<[u64; 40]>, u64),
}

struct Run<'m, W: Width<Generation = ()>> {
    heap: EntryHeap<'m, W>,
    /// The most moves of the free of one page-block.
    moves_a_free: u64,
    region_bytes: usize,
    objects: Vec<Object>,
    values: Vec<Value>,
    steps: u64,
}

/// Runs all operations of an input.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    match input.byte() % 3 {
        0 => run_width::<Wide>(&mut input, 1 << 20),
        1 => run_width::<Narrow>(&mut input, 128 << 10),
        _ => run_width::<Medium>(&mut input, 1 << 20),
    }
}

fn run_width<W: Width<Generation = ()>>(input: &mut Input<'_>, most_bytes: usize) {
    let config = config(input, W::WORD_BYTES);
    let region_bytes = input.region_bytes().min(most_bytes);
    let offset = input.below(9);
    let page = config.geometry().page_bytes();
    let mut region = Region::new(region_bytes, page, offset);
    let slack = config::slack(input);
    let Ok(heap) = config::heap::<W>(region.memory(), &config, slack) else {
        return;
    };
    let is_lent = slack.is_some() && matches!(config.bound(), Bound::Holes { .. });
    let mut run = Run {
        heap: EntryHeap::from(heap),
        moves_a_free: if is_lent { 1 } else { 2 },
        region_bytes,
        objects: Vec::new(),
        values: Vec::new(),
        steps: 0,
    };
    while !input.is_empty() && run.steps < 2000 {
        run.step(input);
    }
    run.finish();
}

impl<W: Width<Generation = ()>> Run<'_, W> {
    fn step(&mut self, input: &mut Input<'_>) {
        self.steps += 1;
        match input.byte() % 20 {
            0..4 => self.allocate(input),
            4..7 => self.free(input),
            7 | 8 => self.resize(input),
            9 => self.insert(input),
            10 => self.remove(input),
            11 => self.write(input),
            12 => self.read(input),
            13 => self.compact(input),
            14 => self.ask(input),
            15 => self.verify_all(),
            16 => self.alternate(input),
            17 => self.free_in_a_row(input),
            18 => self.exhaust(input),
            _ => self.forge(input),
        }
        self.heap.check().expect("every invariant holds");
    }

    fn finish(mut self) {
        self.verify_all();
        for object in std::mem::take(&mut self.objects) {
            self.heap.free_bytes(object.bytes);
        }
        while let Some(value) = self.values.pop() {
            self.take(value);
        }
        self.heap.check().expect("every invariant holds");
        let stats = self.heap.stats();
        assert_eq!((stats.live_blocks, stats.pages, stats.holes), (0, 0, 0));
    }

    // ---- byte objects ---------------------------------------------------------------------------

    fn allocate(&mut self, input: &mut Input<'_>) {
        let (size, align) = (input.size(), input.align());
        let Ok(layout) = Layout::from_size_align(size, align) else {
            return;
        };
        let promised = self.heap.can_allocate_bytes(size, align);
        // What is parked goes back before the heap refuses.
        let before = self.heap.usage().block_bytes;
        let moves = self.heap.stats().moves_total;
        let got = if size % 2 == 0 {
            self.heap.alloc_zeroed(layout)
        } else {
            self.filled(layout)
        };
        assert_eq!(got.is_ok(), promised, "{layout:?}: {got:?}");
        assert_eq!(
            self.heap.stats().moves_total,
            moves,
            "an allocation never moves"
        );
        match got {
            Ok(bytes) => {
                let zeroed = self.heap.chunks(&bytes).flatten().all(|&byte| byte == 0);
                assert!(zeroed, "the bytes are zeros");
                let aligned = |chunk: &[u8]| chunk.as_ptr().addr() % align == 0;
                assert!(
                    self.heap.chunks(&bytes).all(aligned),
                    "every piece is aligned"
                );
                let content = vec![0; size];
                self.objects.push(Object {
                    bytes,
                    content,
                    align,
                });
                self.fill(self.objects.len() - 1, 0, size);
            }
            Err(_) => assert_eq!(
                self.heap.usage().block_bytes,
                before,
                "a refusal changes no object"
            ),
        }
    }

    /// An object that is allocated without initialisation, and then written.
    fn filled(&self, layout: Layout) -> Result<Bytes<u8>, surefit_core::Refused> {
        let mut bytes = self.heap.alloc(layout)?;
        for chunk in self.heap.chunks_mut(&mut bytes) {
            chunk.fill(MaybeUninit::new(0));
        }
        // SAFETY: S1: all chunks were just written, and they are the object's bytes.
        Ok(unsafe { bytes.assume_init() })
    }

    /// Writes fresh bytes into an object and its model.
    fn fill(&mut self, which: usize, offset: usize, len: usize) {
        let seed = self.steps.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 24;
        let fresh: Vec<u8> = (0..len)
            .map(|at| (seed as usize ^ (at * 7) ^ at >> 8) as u8)
            .collect();
        let object = &mut self.objects[which];
        self.heap.write_at(&mut object.bytes, offset, &fresh);
        object.content[offset..offset + len].copy_from_slice(&fresh);
    }

    fn verify(&self, object: &Object) {
        assert_eq!(object.bytes.len(), object.content.len());
        let mut rest = &object.content[..];
        for chunk in self.heap.chunks(&object.bytes) {
            let (expected, behind) = rest.split_at(chunk.len());
            assert!(
                chunk == expected,
                "an object holds other bytes than were written"
            );
            rest = behind;
        }
        assert!(rest.is_empty(), "the chunks are all of the object");
    }

    fn verify_all(&self) {
        self.objects.iter().for_each(|object| self.verify(object));
        let view = self.heap.view();
        self.values
            .iter()
            .for_each(|value| self.verify_value(view, value));
        assert_eq!(self.heap.usage().total(), self.region_bytes);
        let held = self.heap.usage().block_bytes;
        let live: usize = self.objects.iter().map(|object| object.content.len()).sum();
        assert!(held >= live, "fewer bytes hold objects than are live");
    }

    fn which(&self, input: &mut Input<'_>) -> Option<usize> {
        let n = self.objects.len();
        (n > 0).then(|| input.number() % n)
    }

    fn free(&mut self, input: &mut Input<'_>) {
        let Some(which) = self.which(input) else {
            return;
        };
        let object = self.objects.swap_remove(which);
        self.verify(&object);
        let before = self.heap.stats();
        self.heap.free_bytes(object.bytes);
        let after = self.heap.stats();
        let (frees, moves) = (
            u64::from(before.live_blocks - after.live_blocks),
            after.moves_total - before.moves_total,
        );
        assert!(
            frees > 0 && moves <= self.moves_a_free * frees,
            "{moves} moves for {frees} page-blocks"
        );
    }

    fn resize(&mut self, input: &mut Input<'_>) {
        let Some(which) = self.which(input) else {
            return;
        };
        let object = &mut self.objects[which];
        let align = if input.byte() < 240 {
            object.align
        } else {
            input.align()
        };
        let Ok(layout) = Layout::from_size_align(input.size(), align) else {
            return;
        };
        let old = object.content.len();
        // What is parked goes back before the heap refuses.
        let before = self.heap.usage().block_bytes;
        if self.heap.resize(&mut object.bytes, layout).is_ok() {
            object.align = align;
            object.content.resize(layout.size(), 0);
            self.verify(&self.objects[which]);
            let aligned = |chunk: &[u8]| chunk.as_ptr().addr() % align == 0;
            assert!(self.heap.chunks(&self.objects[which].bytes).all(aligned));
            if layout.size() > old {
                self.fill(which, old, layout.size() - old);
            }
        } else {
            assert_eq!(
                self.heap.usage().block_bytes,
                before,
                "a refusal changes no object"
            );
            self.verify(&self.objects[which]);
        }
    }

    fn write(&mut self, input: &mut Input<'_>) {
        if let Some(which) = self.which(input) {
            let len = self.objects[which].content.len();
            let offset = input.number() % (len + 1);
            let n = input.number() % (len - offset + 1);
            self.fill(which, offset, n);
        }
    }

    fn read(&mut self, input: &mut Input<'_>) {
        if let Some(which) = self.which(input) {
            let object = &self.objects[which];
            let offset = input.number() % (object.content.len() + 1);
            let mut read = vec![0; input.number() % (object.content.len() - offset + 1)];
            self.heap.read_at(&object.bytes, offset, &mut read);
            assert_eq!(read, object.content[offset..offset + read.len()]);
            let chunk = self.heap.chunk(&object.bytes, offset);
            assert_eq!(chunk, &object.content[offset..offset + chunk.len()]);
        }
    }

    // ---- values ---------------------------------------------------------------------------------

    fn insert(&mut self, input: &mut Input<'_>) {
        let number = self.steps;
        let value = match input.below(4) {
            0 => self
                .heap
                .insert(number as u8)
                .map(|h| Value::Small(h, number as u8))
                .ok(),
            1 => self
                .heap
                .insert(number)
                .map(|h| Value::Word(h, number))
                .ok(),
            2 => {
                let text = format!("{number}");
                self.heap
                    .insert(text.clone())
                    .map(|h| Value::Text(h, text))
                    .ok()
            }
            _ => self
                .heap
                .insert([number; 40])
                .map(|h| Value::Large(h, number))
                .ok(),
        };
        self.values.extend(value);
    }

    fn verify_value(&self, view: View<'_, W>, value: &Value) {
        match value {
            Value::Small(handle, held) => assert_eq!(view.get(handle), held),
            Value::Word(handle, held) => assert_eq!(view.get(handle), held),
            Value::Text(handle, held) => assert_eq!(view.get(handle), held),
            Value::Large(handle, held) => assert_eq!(view.get(handle), &[*held; 40]),
        }
    }

    fn take(&mut self, value: Value) {
        match value {
            Value::Small(handle, held) => assert_eq!(self.heap.remove(handle), held),
            Value::Word(handle, held) => assert_eq!(self.heap.remove(handle), held),
            Value::Text(handle, held) => assert_eq!(self.heap.remove(handle), held),
            Value::Large(handle, held) => {
                assert_eq!(self.heap.get(&handle), &[held; 40]);
                self.heap.free(handle);
            }
        }
    }

    fn remove(&mut self, input: &mut Input<'_>) {
        let n = self.values.len();
        if n == 0 {
            return;
        }
        let which = input.number() % n;
        if let Value::Text(handle, held) = &mut self.values[which] {
            self.heap.get_mut(handle).push('!');
            held.push('!');
        }
        let value = self.values.swap_remove(which);
        self.take(value);
    }

    // ---- the heap -------------------------------------------------------------------------------

    fn compact(&mut self, input: &mut Input<'_>) {
        let budget = u64::from(input.byte());
        let before = self.heap.stats();
        let moves = self.heap.compact(budget);
        let after = self.heap.stats();
        assert!(moves <= budget);
        assert_eq!(after.moves_total - before.moves_total, moves);
        assert_eq!(after.live_blocks, before.live_blocks);
        assert!(after.pages <= before.pages, "compaction never takes pages");
    }

    /// Questions, and whether the answers are kept.
    fn ask(&mut self, input: &mut Input<'_>) {
        let (size, align) = (input.size(), input.align());
        let largest = self.heap.details().largest_free();
        if largest > 0 {
            assert!(self.heap.can_allocate(largest, 1, 1));
        }
        let bytes = self.heap.details().largest_free_bytes();
        assert!(bytes == 0 || self.heap.can_allocate_bytes(bytes, 1));
        let count = input.below(64) as u32;
        if !self.heap.can_allocate(size, align, count) {
            return;
        }
        if count == 0 {
            return;
        }
        let layout = Layout::from_size_align(size, align).expect("the heap can serve it");
        self.keep_promise(layout, count);
        assert!(self.heap.details().degree_of_fragmentation(size) < 1 << 20);
        assert_eq!(
            self.heap.live_blocks().count(),
            self.heap.stats().live_blocks as usize
        );
    }

    /// The heap said that it serves so many contiguous objects of a layout: it must, if they are
    /// not in pieces.
    fn keep_promise(&mut self, layout: Layout, count: u32) {
        let served: Vec<_> = (0..count)
            .map_while(|_| self.heap.alloc_zeroed(layout).ok())
            .collect();
        let contiguous = served
            .first()
            .is_some_and(|bytes| self.heap.chunks(bytes).count() <= 1);
        if contiguous {
            assert_eq!(served.len(), count as usize, "the promise is kept");
        }
        self.heap.check().expect("every invariant holds");
        served
            .into_iter()
            .for_each(|bytes| self.heap.free_bytes(bytes));
    }
}
