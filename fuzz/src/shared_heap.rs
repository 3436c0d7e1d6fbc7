//! `SharedHeap` from one thread beside a model: every lock and increment, pins held across
//! operations, slack.

use std::alloc::Layout;

use surefit_compact::Bytes;
use surefit_compact::shared::{
    Granularity, Local, PerClass, PerHeap, PerPage, SharedConfig, SharedHeap, Stepwise,
};

use crate::config::{config, slack};
use crate::input::Input;
use crate::region::Region;

type Lock = parking_lot::RawMutex;

/// The most objects pinned at once.
const PINS: usize = 3;

/// An object and what each of its bytes must be.
struct Object {
    bytes: Bytes<u8>,
    fill: u8,
}

struct Run<'h, 'm, G: Granularity> {
    heap: &'h SharedHeap<'m, Lock, G>,
    locals: [Local<'h, 'm, Lock, G>; 2],
    objects: Vec<Object>,
    most_copied: u64,
    region_bytes: usize,
}

/// Runs all operations of an input.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    match input.byte() % 5 {
        0 => run_locked(&mut input, shared::<PerPage>),
        1 => run_locked(&mut input, shared::<PerClass>),
        2 => run_locked(&mut input, shared::<PerHeap>),
        3 => run_locked(&mut input, stepwise::<PerClass>),
        _ => run_locked(&mut input, stepwise::<PerHeap>),
    }
}

fn shared<G: Granularity>(input: &mut Input<'_>) -> SharedConfig<G> {
    let config = config(input, 4);
    // Contiguous objects of any size, so that each can be pinned.
    let config = config.with_pieces(None).expect("no pieces are valid");
    SharedConfig::new(config)
        .with_pins(input.below(5) as u32)
        .with_locals(2, input.below(4) as u16)
        .and_then(|config| config.with_handle_buffer(1 + input.below(8) as u16))
        .expect("a valid configuration")
}

fn stepwise<G: Stepwise>(input: &mut Input<'_>) -> SharedConfig<G> {
    let config = shared(input);
    let steps = 1 + input.below(64) as u32;
    config.with_increment(16 * steps).expect("a multiple of 16")
}

fn run_locked<G: Granularity>(
    input: &mut Input<'_>,
    configured: fn(&mut Input<'_>) -> SharedConfig<G>,
) {
    let config = configured(input);
    let page = config.config().geometry().page_bytes();
    let region_bytes = input.region_bytes().min(256 << 10);
    let mut region = Region::new(region_bytes, page, input.below(9));
    let heap = match slack(input) {
        Some(bytes) => SharedHeap::with_slack(region.memory(), &config, bytes),
        None => SharedHeap::new(region.memory(), &config),
    };
    let Ok(heap) = heap else {
        return;
    };
    let registered = || heap.register().expect("two may register");
    let mut run = Run {
        heap: &heap,
        locals: [registered(), registered()],
        objects: Vec::new(),
        most_copied: match config.increment() {
            surefit_compact::shared::Increment::Whole => page as u64,
            surefit_compact::shared::Increment::Bytes(bytes) => u64::from(bytes.get()),
        },
        region_bytes,
    };
    let mut steps = 0;
    while !input.is_empty() && steps < 2000 {
        steps += 1;
        run.step(input);
        run.check();
    }
    run.finish();
}

impl<G: Granularity> Run<'_, '_, G> {
    fn check(&self) {
        // What pins kept frees from moving is owed until it is paid.
        self.heap.check(true).expect("every invariant holds");
        let stats = self.heap.stats();
        assert_eq!(stats.live_blocks as usize, self.objects.len());
        assert_eq!(stats.reserved_blocks, 0, "no move outlives its free");
        assert!(stats.copied_in_section_max <= self.most_copied, "{stats:?}");
        assert_eq!(self.heap.usage().total(), self.region_bytes);
    }

    fn step(&mut self, input: &mut Input<'_>) {
        match input.byte() % 8 {
            0..3 => self.insert(input),
            3 | 4 => self.free(input),
            5 => self.free_beside_pins(input),
            6 => self.write(input),
            _ => {
                self.heap.compact(u64::from(input.byte()));
            }
        }
    }

    fn insert(&mut self, input: &mut Input<'_>) {
        let (size, align) = (input.size(), input.align());
        let local = &self.locals[input.below(2)];
        let layout = Layout::from_size_align(size, align);
        let Some(bytes) = layout
            .ok()
            .and_then(|layout| local.alloc_zeroed(layout).ok())
        else {
            return;
        };
        let mut object = Object { bytes, fill: 0 };
        self.verify(&object);
        let pinned = self.heap.pin_bytes(&object.bytes).expect("live");
        assert_eq!(pinned.len(), size);
        assert_eq!(pinned.as_ptr().addr() % align, 0);
        drop(pinned);
        object.fill = input.byte();
        self.heap
            .pin_bytes_mut(&mut object.bytes)
            .expect("live")
            .fill(object.fill);
        self.objects.push(object);
    }

    fn verify(&self, object: &Object) {
        let pinned = self.heap.pin_bytes(&object.bytes).expect("live");
        assert!(
            pinned.iter().all(|&byte| byte == object.fill),
            "other bytes than were written"
        );
    }

    fn any(&mut self, input: &mut Input<'_>) -> Option<Object> {
        let which = input.number().checked_rem(self.objects.len())?;
        Some(self.objects.swap_remove(which))
    }

    fn free(&mut self, input: &mut Input<'_>) {
        if let Some(object) = self.any(input) {
            self.verify(&object);
            let local = &self.locals[input.below(2)];
            local
                .free_bytes(object.bytes)
                .expect("an object of this heap");
        }
    }

    /// Frees objects while others are pinned, which stay where they are.
    fn free_beside_pins(&mut self, input: &mut Input<'_>) {
        let count = 1 + input.below(PINS);
        let held: Vec<Object> = (0..count).map_while(|_| self.any(input)).collect();
        let pins: Vec<_> = held
            .iter()
            .map(|object| self.heap.pin_bytes(&object.bytes).expect("live"))
            .collect();
        let places: Vec<_> = pins.iter().map(|pinned| pinned.as_ptr()).collect();
        for _ in 0..input.below(6) {
            self.free(input);
            self.heap.check(true).expect("every invariant holds");
        }
        for ((pinned, object), place) in pins.iter().zip(&held).zip(places) {
            assert_eq!(pinned.as_ptr(), place);
            assert!(pinned.iter().all(|&byte| byte == object.fill));
        }
        drop(pins);
        self.objects.extend(held);
    }

    fn write(&mut self, input: &mut Input<'_>) {
        if let Some(mut object) = self.any(input) {
            self.verify(&object);
            object.fill = input.byte();
            self.heap
                .pin_bytes_mut(&mut object.bytes)
                .expect("live")
                .fill(object.fill);
            self.objects.push(object);
        }
    }

    fn finish(mut self) {
        self.heap.compact(u64::MAX);
        self.heap
            .check(false)
            .expect("a compaction pays every debt");
        for object in core::mem::take(&mut self.objects) {
            self.verify(&object);
            self.locals[0]
                .free_bytes(object.bytes)
                .expect("an object of this heap");
        }
        self.heap.check(false).expect("every invariant holds");
        let stats = self.heap.stats();
        assert_eq!((stats.live_blocks, stats.pages, stats.debt), (0, 0, 0));
    }
}
