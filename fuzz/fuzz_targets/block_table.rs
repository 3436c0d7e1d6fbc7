//! `BlockTableHeap` beside a model that remembers every byte of every object and where its frames
//! are.
#![no_main]

use std::alloc::Layout;

use surefit_compact::{Bound, Fraction, Narrow, Wide, Width};
use surefit_fuzz::input::Input;
use surefit_fuzz::region::Region;
use surefit_papers::block_table::{BlockTableConfig, BlockTableHeap, Bytes};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let mut input = Input::new(data);
    if input.byte() & 1 == 0 {
        run::<Wide>(&mut input, 1 << 20);
    } else {
        run::<Narrow>(&mut input, 64 << 10);
    }
});

/// A byte object, what it must hold, and where its frames are.
struct Object {
    bytes: Bytes<u8>,
    content: Vec<u8>,
    places: Vec<usize>,
}

struct Run<'m, W: Width<Generation = ()>> {
    heap: BlockTableHeap<'m, W>,
    objects: Vec<Object>,
    steps: usize,
}

fn run<W: Width<Generation = ()>>(input: &mut Input<'_>, most_bytes: usize) {
    let (frame, page) = (16 << input.below(7), 1024 << input.below(3));
    let Ok(config) = BlockTableConfig::with_pages::<W>(frame, bound(input), page) else {
        return;
    };
    let mut region = Region::new(input.region_bytes().min(most_bytes), page, input.below(9));
    let Ok(heap) = BlockTableHeap::<W>::new(region.memory(), &config) else {
        return;
    };
    let (objects, steps) = (Vec::new(), 0);
    let mut run = Run {
        heap,
        objects,
        steps,
    };
    while !input.is_empty() && run.steps < 2000 {
        run.step(input);
    }
    run.finish();
}

fn bound(input: &mut Input<'_>) -> Bound {
    match input.below(5) {
        0 => Bound::DEFAULT,
        1 => Bound::Pages(1 + input.below(4) as u32),
        2 => Bound::Unbounded,
        _ => Bound::Holes {
            base: input.below(9) as u32,
            fraction: Fraction::new(1, 2 + input.below(30) as u32).expect("at most one half"),
        },
    }
}

impl<W: Width<Generation = ()>> Run<'_, W> {
    fn step(&mut self, input: &mut Input<'_>) {
        self.steps += 1;
        match input.byte() % 12 {
            0..5 => self.allocate(input),
            5..8 => self.free(input),
            8 | 9 => self.resize(input),
            10 => self.write(input),
            _ => {
                let budget = u64::from(input.byte());
                assert!(self.heap.compact(budget) <= budget);
            }
        }
        self.heap.check().expect("every invariant holds");
        let frame = self.heap.frame_bytes();
        let frames = |object: &Object| object.content.len().max(1).div_ceil(frame);
        let held: usize = self.objects.iter().map(frames).sum();
        assert_eq!(self.heap.stats().live_frames as usize, held);
    }

    fn places(&self, bytes: &Bytes<u8>) -> Vec<usize> {
        let chunks = self.heap.chunks(bytes);
        chunks.map(|chunk| chunk.as_ptr().addr()).collect()
    }

    fn allocate(&mut self, input: &mut Input<'_>) {
        let (size, align) = (input.size(), input.align());
        let Ok(layout) = Layout::from_size_align(size, align) else {
            return;
        };
        let promised = self.heap.can_allocate(size, align);
        let before = self.heap.usage();
        let got = self.heap.alloc_zeroed(layout);
        assert_eq!(got.is_ok(), promised, "{layout:?}: {got:?}");
        let Ok(bytes) = got else {
            return assert_eq!(self.heap.usage(), before, "a refusal changes nothing");
        };
        let places = self.places(&bytes);
        assert!(places.iter().all(|place| place % align == 0));
        let content = vec![0; size];
        self.objects.push(Object {
            bytes,
            content,
            places,
        });
        self.verify(self.objects.len() - 1);
    }

    fn which(&self, input: &mut Input<'_>) -> Option<usize> {
        let n = self.objects.len();
        (n > 0).then(|| input.number() % n)
    }

    fn verify(&self, which: usize) {
        let object = &self.objects[which];
        assert_eq!(self.places(&object.bytes), object.places, "frames stay");
        let bytes = self.heap.chunks(&object.bytes).flatten();
        assert!(bytes.eq(&object.content), "an object lost its bytes");
    }

    fn free(&mut self, input: &mut Input<'_>) {
        if let Some(which) = self.which(input) {
            self.verify(which);
            self.heap.free_bytes(self.objects.swap_remove(which).bytes);
        }
    }

    fn resize(&mut self, input: &mut Input<'_>) {
        let Some(which) = self.which(input) else {
            return;
        };
        let Ok(layout) = Layout::from_size_align(input.size(), 1) else {
            return;
        };
        let before = self.heap.usage();
        let object = &mut self.objects[which];
        if self.heap.resize(&mut object.bytes, layout).is_err() {
            assert_eq!(self.heap.usage(), before, "a refusal changes nothing");
            return self.verify(which);
        }
        object.content.resize(layout.size(), 0);
        let places = self.places(&self.objects[which].bytes);
        let object = &mut self.objects[which];
        let common = places.len().min(object.places.len());
        assert_eq!(places[..common], object.places[..common], "frames stay");
        object.places = places;
        self.verify(which);
    }

    fn write(&mut self, input: &mut Input<'_>) {
        if let Some(which) = self.which(input) {
            let object = &mut self.objects[which];
            let offset = input.number() % (object.content.len() + 1);
            let end = offset + input.number() % (object.content.len() - offset + 1);
            let fresh: Vec<u8> = (offset..end)
                .map(|at| (self.steps + 7 * at) as u8)
                .collect();
            self.heap.write_at(&mut object.bytes, offset, &fresh);
            object.content[offset..end].copy_from_slice(&fresh);
        }
    }

    fn finish(mut self) {
        (0..self.objects.len()).for_each(|which| self.verify(which));
        for object in std::mem::take(&mut self.objects) {
            self.heap.free_bytes(object.bytes);
        }
        self.heap.check().expect("every invariant holds");
        let stats = self.heap.stats();
        assert_eq!(
            (stats.live_frames, stats.live_rows, stats.table_pages),
            (0, 0, 0)
        );
    }
}
