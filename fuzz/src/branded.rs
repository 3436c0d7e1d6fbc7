//! Branded heaps beside a model: branded and checked handles of the same objects, and those of
//! another heap.

use std::alloc::Layout;

use surefit_compact::branded::{BrandedBytes, BrandedHandle, BrandedHeap, Scoped};
use surefit_compact::{Bytes, Handle, Heap, Medium, Narrow, Wide, Width};

use crate::config::{self, config};
use crate::input::Input;
use crate::region::Region;

/// What outlives a brand: checked handles.
#[derive(Default)]
struct Checked {
    texts: Vec<(Handle<String>, String)>,
    bytes: Vec<(Bytes<u8>, Vec<u8>)>,
}

/// What lives under a brand.
struct Run<'h, 'm, 'b, W: Width> {
    heap: &'h mut BrandedHeap<'m, Scoped<'b>, W>,
    other: &'h mut Heap<'m, W>,
    texts: Vec<(BrandedHandle<Scoped<'b>, String>, String)>,
    bytes: Vec<(BrandedBytes<Scoped<'b>>, Vec<u8>)>,
    steps: usize,
}

/// Runs all operations of an input.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    match input.byte() % 3 {
        0 => run_width::<Wide>(&mut input),
        1 => run_width::<Narrow>(&mut input),
        _ => run_width::<Medium>(&mut input),
    }
}

fn run_width<W: Width>(input: &mut Input<'_>) {
    let config = config(input, W::WORD_BYTES);
    let page = config.geometry().page_bytes();
    let bytes = input.region_bytes().min(128 << 10);
    let mut region = Region::new(bytes, page, input.below(9));
    let mut others = Region::new(bytes, page, 0);
    let slack = config::slack(input);
    if let (Ok(mut heap), Ok(mut other)) = (
        config::heap::<W>(region.memory(), &config, slack),
        config::heap::<W>(others.memory(), &config, None),
    ) {
        brands(input, &mut heap, &mut other);
    }
}

/// One brand after another: what lives goes from each to the next by checked handles.
fn brands<'m, W: Width>(input: &mut Input<'_>, heap: &mut Heap<'m, W>, other: &mut Heap<'m, W>) {
    let mut live = Checked::default();
    let mut steps = 0;
    while !input.is_empty() && steps < 1000 {
        let before = heap.stats();
        live = heap.branded(|heap| {
            let mut run = Run::new(heap, other, live, steps);
            assert_eq!(
                run.heap.as_heap().stats(),
                before,
                "a brand changes nothing"
            );
            for _ in 0..1 + input.below(64) {
                run.step(input);
                run.verify();
            }
            steps = run.steps;
            run.unbrand()
        });
        heap.check().expect("every invariant holds");
        for (handle, content) in &live.texts {
            assert_eq!(heap.get(handle), content);
        }
    }
    for (handle, content) in live.texts {
        assert_eq!(heap.remove(handle), content);
    }
    for (bytes, content) in live.bytes {
        assert!(heap.chunks(&bytes).flatten().eq(&content));
        heap.free_bytes(bytes);
    }
    heap.check().expect("every invariant holds");
    assert_eq!(heap.stats().live_blocks, 0);
    assert_eq!(other.stats().live_blocks, 0);
}

impl<'h, 'm, 'b, W: Width> Run<'h, 'm, 'b, W> {
    fn new(
        heap: &'h mut BrandedHeap<'m, Scoped<'b>, W>,
        other: &'h mut Heap<'m, W>,
        live: Checked,
        steps: usize,
    ) -> Self {
        let mut run = Self {
            heap,
            other,
            texts: Vec::new(),
            bytes: Vec::new(),
            steps,
        };
        for (handle, content) in live.texts {
            let handle = run.heap.brand(handle).expect("of this heap");
            run.texts.push((handle, content));
        }
        for (bytes, content) in live.bytes {
            let bytes = run.heap.brand_bytes(bytes).expect("of this heap");
            run.bytes.push((bytes, content));
        }
        run
    }

    fn unbrand(self) -> Checked {
        let mut live = Checked::default();
        for (handle, content) in self.texts {
            live.texts.push((self.heap.unbrand(handle), content));
        }
        for (bytes, content) in self.bytes {
            live.bytes.push((self.heap.unbrand_bytes(bytes), content));
        }
        live
    }

    fn step(&mut self, input: &mut Input<'_>) {
        self.steps += 1;
        match input.byte() % 16 {
            0 | 1 => self.insert(),
            2 | 3 => self.remove(input),
            4 => self.borrow(input),
            5..8 => self.allocate(input),
            8..10 => self.free(input),
            10 => self.resize(input),
            11 => self.write(input),
            12 => self.rename(input),
            13 => self.reject(),
            14 => self.alternate(input),
            _ => {
                let budget = u64::from(input.byte());
                assert!(self.heap.compact(budget) <= budget);
            }
        }
    }

    fn verify(&self) {
        let heap = self.heap.as_heap();
        heap.check().expect("every invariant holds");
        let view = self.heap.view();
        for (handle, content) in &self.texts {
            assert_eq!(view.get(handle), content);
        }
        for (bytes, content) in &self.bytes {
            assert_eq!(bytes.len(), content.len());
            assert_eq!(bytes.is_empty(), content.is_empty());
            let mut at = 0;
            while at < content.len() {
                let chunk = view.chunk(bytes, at);
                assert_eq!(chunk, &content[at..at + chunk.len()]);
                at += chunk.len();
            }
        }
    }

    // ---- values ---------------------------------------------------------------------------------

    fn insert(&mut self) {
        let content = format!("{}", self.steps);
        match self.heap.insert(content.clone()) {
            Ok(handle) => self.texts.push((handle, content)),
            Err(full) => assert_eq!(full.value, content),
        }
    }

    fn remove(&mut self, input: &mut Input<'_>) {
        if let Some(which) = input.number().checked_rem(self.texts.len()) {
            let (handle, content) = self.texts.swap_remove(which);
            if input.byte() % 2 == 0 {
                assert_eq!(self.heap.remove(handle), content);
            } else {
                self.heap.free(handle);
            }
        }
    }

    /// Two objects mutably at once.
    fn borrow(&mut self, input: &mut Input<'_>) {
        let Some(which) = input.number().checked_rem(self.texts.len()) else {
            return;
        };
        let (first, rest) = self.texts.split_at_mut(which);
        let (one, model) = &mut rest[0];
        let one = self.heap.get_mut(one);
        if let Some((two, model)) = first.first_mut() {
            self.heap.get_mut(two).push('?');
            model.push('?');
        }
        one.push('!');
        model.push('!');
    }

    /// Inserts and removes in turn: pairs are parked and taken.
    fn alternate(&mut self, input: &mut Input<'_>) {
        for _ in 0..input.below(64) {
            if input.byte() % 2 == 0 {
                self.insert();
            } else {
                self.remove(input);
            }
            self.heap.as_heap().check().expect("every invariant holds");
        }
    }

    // ---- bytes ----------------------------------------------------------------------------------

    fn fill(&mut self, which: usize, from: usize) {
        let (bytes, content) = &mut self.bytes[which];
        for (at, byte) in content.iter_mut().enumerate().skip(from) {
            *byte = (self.steps ^ (at * 7) ^ at >> 8) as u8;
        }
        self.heap.write_at(bytes, from, &content[from..]);
    }

    fn allocate(&mut self, input: &mut Input<'_>) {
        let Ok(layout) = Layout::from_size_align(input.size(), input.align()) else {
            return;
        };
        if let Ok(bytes) = self.heap.alloc_zeroed(layout) {
            self.bytes.push((bytes, vec![0; layout.size()]));
            self.fill(self.bytes.len() - 1, 0);
        }
    }

    fn free(&mut self, input: &mut Input<'_>) {
        if let Some(which) = input.number().checked_rem(self.bytes.len()) {
            let (bytes, _) = self.bytes.swap_remove(which);
            self.heap.free_bytes(bytes);
        }
    }

    fn resize(&mut self, input: &mut Input<'_>) {
        let Some(which) = input.number().checked_rem(self.bytes.len()) else {
            return;
        };
        let Ok(layout) = Layout::from_size_align(input.size(), 1) else {
            return;
        };
        let (bytes, content) = &mut self.bytes[which];
        let old = content.len();
        if self.heap.resize(bytes, layout).is_ok() {
            content.resize(layout.size(), 0);
            self.verify();
            self.fill(which, old.min(layout.size()));
        }
    }

    fn write(&mut self, input: &mut Input<'_>) {
        let Some(which) = input.number().checked_rem(self.bytes.len()) else {
            return;
        };
        let (bytes, content) = &mut self.bytes[which];
        let at = input.number() % (content.len() + 1);
        let chunk = self.heap.chunk_mut(bytes, at);
        chunk.fill(at as u8);
        let len = chunk.len();
        content[at..at + len].fill(at as u8);
        let mut read = vec![0; content.len() - at];
        self.heap.read_at(bytes, at, &mut read);
        assert_eq!(read, content[at..]);
    }

    // ---- names ----------------------------------------------------------------------------------

    /// A handle becomes a name, or a checked handle, and one of the brand again.
    fn rename(&mut self, input: &mut Input<'_>) {
        if let Some(which) = input.number().checked_rem(self.bytes.len()) {
            let (bytes, content) = self.bytes.swap_remove(which);
            let name = bytes.into_name();
            // SAFETY: S1: the length that the object had.
            let bytes = unsafe { name.with_len(content.len()) };
            let bytes = self.heap.unbrand_bytes(bytes);
            assert!(self.heap.as_heap().chunks(&bytes).flatten().eq(&content));
            let bytes = self.heap.brand_bytes(bytes).expect("of this heap");
            self.bytes.push((bytes, content));
        }
        if let Some(which) = input.number().checked_rem(self.texts.len()) {
            let (handle, content) = self.texts.swap_remove(which);
            let handle = self.heap.unbrand(handle);
            assert_eq!(self.heap.as_heap().get(&handle), &content);
            let handle = self.heap.brand(handle).expect("of this heap");
            self.texts.push((handle, content));
        }
    }

    /// Handles of another heap are not branded, and stay what they were.
    fn reject(&mut self) {
        if let Ok(handle) = self.other.insert(self.steps) {
            let handle = self.heap.brand(handle).expect_err("of another heap");
            assert_eq!(self.other.remove(handle), self.steps);
        }
        if let Ok(bytes) = self.other.alloc_zeroed(Layout::new::<[u8; 100]>()) {
            let bytes = self.heap.brand_bytes(bytes).expect_err("of another heap");
            self.other.free_bytes(bytes);
        }
    }
}
