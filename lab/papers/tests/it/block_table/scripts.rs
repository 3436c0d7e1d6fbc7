//! Scripts of operations beside the test kit's model, with every invariant checked after each of
//! them.

use proptest::prelude::*;
use surefit_compact::{Bound, Narrow, PageOrder, Wide, Width};
use surefit_papers::block_table::{BlockTableConfig, BlockTableHeap, Bytes};
use surefit_testkit::{JunkRegion, ObjectId, Op, ShadowModel, Shape, ops_from_bytes, script};

use super::{bounds, config, layout, places};

/// An object, and where its bytes are.
struct Known {
    bytes: Bytes<u8>,
    places: Vec<usize>,
}

/// A heap beside the model, which remembers every byte and the address of every frame.
struct Run<'m, W: Width<Generation = ()>> {
    heap: BlockTableHeap<'m, W>,
    model: ShadowModel<Known>,
    frames: usize,
    refused: usize,
}

/// Writes an object's pattern from `from` on, where there must be zeros.
fn fill<W: Width<Generation = ()>>(
    heap: &BlockTableHeap<'_, W>,
    id: ObjectId,
    bytes: &mut Bytes<u8>,
    from: usize,
) {
    let mut at = 0;
    for chunk in heap.chunks_mut(bytes) {
        let skipped = from.saturating_sub(at).min(chunk.len());
        let gained = &mut chunk[skipped..];
        assert!(gained.iter().all(|&byte| byte == 0), "gained bytes are 0");
        id.fill(at + skipped, gained);
        at += skipped + gained.len();
    }
}

impl<'m, W: Width<Generation = ()>> Run<'m, W> {
    fn new(region: &'m mut JunkRegion, config: &'m BlockTableConfig) -> Self {
        Self {
            heap: BlockTableHeap::new(region.memory(), config).expect("large enough"),
            model: ShadowModel::new(),
            frames: 0,
            refused: 0,
        }
    }

    fn frames_of(&self, size: usize) -> usize {
        size.max(1).div_ceil(self.heap.frame_bytes())
    }

    fn step(&mut self, op: Op) {
        match op {
            Op::Alloc { size, align } => self.allocate(size, align),
            Op::Free(nth) => {
                if let Some(place) = self.model.place(nth) {
                    self.free(place);
                }
            }
            Op::Resize(nth, size) => {
                if let Some(place) = self.model.place(nth) {
                    self.resize(place, size);
                }
            }
        }
        self.heap.check().expect("every invariant holds");
        let stats = self.heap.stats();
        assert_eq!(stats.live_frames as usize, self.frames, "frames are exact");
        assert_eq!(stats.live_objects as usize, self.model.live_objects());
    }

    fn allocate(&mut self, size: usize, align: usize) {
        let align = align.min(self.heap.frame_bytes());
        // Gives back what is parked, as a refusal does.
        self.heap.compact(0);
        let before = (self.heap.stats(), self.heap.usage());
        let promised = self.heap.can_allocate(size, align);
        let got = self.heap.alloc_zeroed(layout(size, align));
        assert_eq!(got.is_ok(), promised, "{size} bytes");
        let Ok(bytes) = got else {
            assert_eq!(before, (self.heap.stats(), self.heap.usage()));
            self.refused += 1;
            return;
        };
        assert_eq!(self.heap.stats().moves_total, before.0.moves_total);
        let places = places(&self.heap, &bytes);
        assert!(places.iter().all(|place| place % align == 0));
        self.frames += self.frames_of(size);
        let id = self.model.insert(size, Known { bytes, places });
        let (_, _, known) = self.model.get_mut(self.model.live_objects() - 1);
        fill(&self.heap, id, &mut known.bytes, 0);
    }

    fn free(&mut self, place: usize) {
        let (id, size, known) = self.model.remove(place);
        self.verify(id, &known);
        self.frames -= self.frames_of(size);
        self.heap.free_bytes(known.bytes);
    }

    fn resize(&mut self, place: usize, size: usize) {
        // Gives back what is parked, as a refusal does.
        self.heap.compact(0);
        let before = (self.heap.stats(), self.heap.usage());
        let (id, old, known) = self.model.get_mut(place);
        if self.heap.resize(&mut known.bytes, layout(size, 1)).is_err() {
            assert_eq!(before, (self.heap.stats(), self.heap.usage()));
            assert_eq!(known.bytes.len(), old);
            self.refused += 1;
            return;
        }
        fill(&self.heap, id, &mut known.bytes, old);
        let now = places(&self.heap, &known.bytes);
        let common = now.len().min(known.places.len());
        assert_eq!(now[..common], known.places[..common], "frames stay");
        known.places = now;
        self.model.resize(place, size);
        self.frames = self.frames + self.frames_of(size) - self.frames_of(old);
    }

    fn verify(&self, id: ObjectId, known: &Known) {
        assert_eq!(
            places(&self.heap, &known.bytes),
            known.places,
            "frames stay"
        );
        let mut at = 0;
        for chunk in self.heap.chunks(&known.bytes) {
            id.verify(at, chunk).expect("no byte changed");
            at += chunk.len();
        }
        assert_eq!(at, known.bytes.len());
    }

    fn verify_all(&self) {
        let objects = self.model.iter();
        objects.for_each(|(id, _, known)| self.verify(id, known));
    }

    fn finish(mut self) -> (BlockTableHeap<'m, W>, usize) {
        self.verify_all();
        while let Some(place) = self.model.place(self.model.live_objects() / 2) {
            self.free(place);
        }
        self.heap.check().expect("every invariant holds");
        let stats = self.heap.stats();
        assert_eq!((stats.live_objects, stats.live_frames), (0, 0));
        assert_eq!((stats.live_rows, stats.table_pages, stats.holes), (0, 0, 0));
        (self.heap, self.refused)
    }
}

fn run<W: Width<Generation = ()>>(config: &BlockTableConfig, bytes: usize, ops: &[Op]) -> usize {
    let mut region = JunkRegion::misaligned(bytes, config.page_bytes(), 24, 7);
    let mut run = Run::<W>::new(&mut region, config);
    for (number, op) in ops.iter().enumerate() {
        run.step(*op);
        if number % 32 == 0 {
            run.verify_all();
        }
    }
    let (heap, refused) = run.finish();
    assert_eq!(heap.usage().total(), bytes);
    refused
}

#[test]
fn every_shape_of_script_runs() {
    let mut refused = 0;
    for (seed, shape) in (0..).zip(Shape::ALL) {
        for (bound, frame) in bounds().into_iter().zip([16, 32, 64, 128, 1024]) {
            let ops = script(shape, seed, 400, 900);
            refused += run::<Wide>(&config::<Wide>(frame, bound, 1024), 60_000, &ops);
        }
    }
    assert!(refused > 0, "some regions are too small on purpose");
}

#[test]
fn scripts_of_long_objects_run() {
    for (seed, shape) in (0..).zip(Shape::ALL) {
        let ops = script(shape, seed, 200, 60_000);
        for page in [1024, 4096] {
            run::<Wide>(&config::<Wide>(16, Bound::DEFAULT, page), 600_000, &ops);
        }
    }
}

#[test]
fn narrow_heaps_run() {
    for (seed, shape) in (0..).zip(Shape::ALL) {
        let ops = script(shape, seed, 300, 3000);
        for bound in [Bound::Pages(1), Bound::DEFAULT] {
            run::<Narrow>(&config::<Narrow>(32, bound, 1024), 70_000, &ops);
        }
    }
}

#[test]
fn the_original_order_runs() {
    let config = config::<Wide>(32, Bound::Pages(2), 1024);
    let config = config.with_order(PageOrder::Original).expect("valid");
    run::<Wide>(&config, 90_000, &script(Shape::Sawtooth, 5, 600, 700));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(11), ..ProptestConfig::default() })]

    #[test]
    fn any_script_runs(bytes in prop::collection::vec(any::<u8>(), 0..900), largest in 1_usize..20_000, which in 0_usize..5) {
        let (bound, frame) = (bounds()[which], 16 << which);
        run::<Wide>(&config::<Wide>(frame, bound, 1024), 80_000, &ops_from_bytes(&bytes, largest));
    }
}
