//! Random calls of three threads beside a naive model: each object keeps its bytes, and after each
//! call all invariants hold.

use super::Vec;
use core::ptr::NonNull;

use parking_lot::RawMutex;

use super::super::{Local, Settings, Source};
use super::source::{Counted, random};
use super::{Heap, check};

struct Object {
    at: NonNull<u8>,
    bytes: usize,
    align: usize,
    mark: u8,
}

impl Object {
    fn write(&self) {
        // SAFETY: the object is live and has so many bytes.
        unsafe { self.at.write_bytes(self.mark, self.bytes) };
    }

    fn read(&self, bytes: usize) {
        // SAFETY: as above.
        let all = unsafe { core::slice::from_raw_parts(self.at.as_ptr(), bytes) };
        assert!(all.iter().all(|byte| *byte == self.mark));
        assert_eq!(self.at.addr().get() % self.align.max(16), 0);
    }
}

fn size(random: &mut impl FnMut(usize) -> usize) -> usize {
    match random(20) {
        0 => random(300_000),
        1 | 2 => random(40_000),
        3..=5 => random(3000),
        _ => random(200),
    }
}

struct World<'h, S: Source> {
    heap: &'h Heap<'h, S>,
    locals: Vec<Local<'h, RawMutex, S>>,
    objects: Vec<Object>,
    mark: u8,
}

impl<S: Source> World<'_, S> {
    fn step(&mut self, random: &mut impl FnMut(usize) -> usize) {
        let thread = random(self.locals.len());
        match random(100) {
            0..=44 => self.allocate(thread, random),
            45..=84 if !self.objects.is_empty() => {
                let object = self.objects.swap_remove(random(self.objects.len()));
                object.read(object.bytes);
                // SAFETY: the object is live.
                unsafe { self.locals[thread].try_free(object.at) }.unwrap();
            }
            85..=95 if !self.objects.is_empty() => self.resize(thread, random),
            96 => self.locals[thread].trim(),
            97 => {
                drop(self.locals.swap_remove(thread));
                self.locals.push(self.heap.join().unwrap());
            }
            98 => {
                self.heap.purge();
            }
            _ => {}
        }
    }

    fn allocate(&mut self, thread: usize, random: &mut impl FnMut(usize) -> usize) {
        let (bytes, align) = (size(random), 1 << (random(21) * random(2) * random(2)));
        let local = &self.locals[thread];
        let zero = random(3) == 0;
        let at = if zero {
            local.allocate_zeroed(bytes, align)
        } else {
            local.allocate(bytes, align)
        };
        let Some(at) = at else {
            return;
        };
        let mut object = Object {
            at,
            bytes,
            align,
            mark: 0,
        };
        if zero {
            object.read(bytes);
        }
        self.mark = self.mark.wrapping_add(1);
        object.mark = self.mark;
        object.write();
        self.objects.push(object);
    }

    fn resize(&mut self, thread: usize, random: &mut impl FnMut(usize) -> usize) {
        let place = random(self.objects.len());
        let bytes = size(random);
        let object = &mut self.objects[place];
        // SAFETY: the object is live, and has this alignment.
        let new = unsafe { self.locals[thread].resize(object.at, bytes, object.align) }.unwrap();
        let Some(new) = new else {
            assert!(bytes > object.bytes);
            return object.read(object.bytes);
        };
        object.at = new;
        object.read(bytes.min(object.bytes));
        object.bytes = bytes;
        object.write();
    }
}

fn run(seed: u64, settings: Settings, bytes: usize, steps: usize, fail_at: Option<usize>) {
    let source = Counted::new(bytes);
    let heap = source.heap(settings);
    let mut random = random(seed);
    let locals = (0..3).map(|_| heap.join().unwrap()).collect();
    source.fail_at(fail_at.map_or(0, |fail_at| source.commits() + fail_at));
    let mut world = World {
        heap: &heap,
        locals,
        objects: Vec::new(),
        mark: 0,
    };
    for _ in 0..steps {
        world.step(&mut random);
        source.pass(1);
        check(&heap);
    }
    for object in world.objects.drain(..) {
        object.read(object.bytes);
        // SAFETY: the object is live.
        unsafe { world.locals[0].try_free(object.at) }.unwrap();
    }
    drop(world);
    heap.purge();
    check(&heap);
    assert_eq!((heap.stats().allocated, heap.stats().active), (0, 0));
}

const SETTINGS: Settings = Settings {
    threads: 3,
    checks: false,
    delay: 200,
};

#[test]
fn objects_keep_their_bytes_and_invariants_hold() {
    for seed in 1..=12 {
        run(seed, SETTINGS, 32 << 20, 1500, None);
    }
}

#[test]
fn a_full_heap_refuses_and_goes_on() {
    for seed in 20..=26 {
        run(seed, SETTINGS, 1 << 20, 1500, None);
    }
}

#[test]
fn a_source_that_fails_leaves_the_heap_sound() {
    for fail_at in 1..=6 {
        run(40, SETTINGS, 32 << 20, 800, Some(fail_at));
    }
}

#[test]
fn a_heap_that_checks_each_free_serves_the_same_calls() {
    for seed in 60..=63 {
        run(
            seed,
            Settings {
                checks: true,
                ..SETTINGS
            },
            32 << 20,
            800,
            None,
        );
    }
}
