//! The direct heap for threads, by real threads: objects go from hand to hand, and keep their
//! bytes.

use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::Mutex;
use std::thread;

use parking_lot::RawMutex;
use surefit_direct::shared::{GROUPS, Local, Settings, SharedDirect};
use surefit_testkit::Random;

type Heap<'m> = SharedDirect<'m, RawMutex>;

const SETTINGS: Settings = Settings {
    threads: 4,
    checks: false,
    delay: u32::MAX,
};

struct Object {
    at: NonNull<u8>,
    bytes: usize,
    mark: u8,
}

// SAFETY: an object goes to whoever has this value.
unsafe impl Send for Object {}

impl Object {
    fn new(local: &Local<'_, RawMutex>, bytes: usize, mark: u8) -> Self {
        let at = local.allocate(bytes, 16).expect("room");
        // SAFETY: it has so many bytes.
        unsafe { at.write_bytes(mark, bytes) };
        Self { at, bytes, mark }
    }

    fn free(self, local: &Local<'_, RawMutex>) {
        // SAFETY: it is live.
        let bytes = unsafe { std::slice::from_raw_parts(self.at.as_ptr(), self.bytes) };
        assert!(bytes.iter().all(|byte| *byte == self.mark));
        // SAFETY: as above.
        unsafe { local.try_free(self.at) }.expect("it is live");
    }
}

/// Steps of each thread. SUREFIT_STRESS multiplies them.
fn steps() -> usize {
    let factor = std::env::var("SUREFIT_STRESS")
        .ok()
        .and_then(|text| text.parse::<f64>().ok());
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "some thousands"
    )]
    let steps = (20_000.0 * factor.unwrap_or(1.0)) as usize;
    steps
}

/// Exchanges objects with a shared table: what one thread put there another frees.
fn exchange(heap: &Heap<'_>, table: &Mutex<Vec<Object>>, seed: u64) {
    let mut random = Random(seed);
    let mut random = |below| random.below(below);
    let mut local = heap.join().expect("a place");
    for step in 0..steps() {
        let bytes = [random(300), random(3000), random(60_000)][random(20).saturating_sub(17)];
        let new = Object::new(&local, bytes, step as u8);
        let old = {
            let mut table = table.lock().expect("no panics");
            let full = table.len() > 200;
            table.push(new);
            let place = random(table.len());
            full.then(|| table.swap_remove(place))
        };
        if let Some(old) = old {
            old.free(&local);
        }
        if random(500) == 0 {
            drop(local);
            local = heap.join().expect("a place");
        }
        if random(700) == 0 {
            heap.purge();
        }
    }
}

#[test]
fn objects_go_from_thread_to_thread_and_keep_their_bytes() {
    let mut memory = vec![MaybeUninit::uninit(); 64 << 20];
    let mut heap = Heap::new(&mut memory, SETTINGS).expect("a region");
    let table = Mutex::new(Vec::new());
    thread::scope(|threads| {
        for seed in 1..=3 {
            let (heap, table) = (&heap, &table);
            threads.spawn(move || exchange(heap, table, seed));
        }
        for step in 0..steps() / 10 {
            heap.grouped(step % (2 * GROUPS), |local| {
                Object::new(local, step % 500, 7).free(local)
            });
        }
    });
    heap.check().expect("sound");
    let local = heap.join().expect("a place");
    for object in table.into_inner().expect("no panics") {
        object.free(&local);
    }
    drop(local);
    for group in 0..GROUPS {
        heap.grouped(group, |local| local.trim());
    }
    heap.purge();
    heap.check().expect("sound");
    assert_eq!((heap.stats().allocated, heap.stats().active), (0, 0));
}

#[test]
fn an_instance_goes_with_its_value_to_another_thread() {
    let mut memory = vec![MaybeUninit::uninit(); 1 << 20];
    let heap = Heap::new(&mut memory, SETTINGS).expect("a region");
    let local = heap.join().expect("a place");
    let object = Object::new(&local, 100, 1);
    let number = local.number();
    let back = thread::scope(|threads| {
        let moved = threads.spawn(move || {
            object.free(&local);
            local
        });
        moved.join().expect("it ends")
    });
    assert_eq!(back.number(), number);
    back.trim();
    assert_eq!(heap.stats().allocated, 0);
}

#[test]
fn threads_join_while_others_free_of_the_instances_that_they_left() {
    let mut memory = vec![MaybeUninit::uninit(); 4 << 20];
    let settings = Settings {
        threads: 2,
        ..SETTINGS
    };
    let mut heap = Heap::new(&mut memory, settings).expect("a heap");
    let given = Mutex::new(Vec::new());
    let turns = steps() / 4;
    thread::scope(|threads| {
        for mark in [1, 2] {
            let (heap, given) = (&heap, &given);
            threads.spawn(move || {
                for _ in 0..turns {
                    // Two threads have at most two instances.
                    let local = heap.join().expect("an instance that nobody has");
                    let theirs: Vec<Object> = std::mem::take(&mut *given.lock().expect("whole"));
                    let own = (0..40).map(|_| Object::new(&local, 200, mark));
                    let own: Vec<_> = own.collect();
                    theirs.into_iter().for_each(|object| object.free(&local));
                    given.lock().expect("whole").extend(own);
                }
            });
        }
        threads.spawn(|| {
            for _ in 0..turns / 8 {
                heap.purge();
            }
        });
    });
    let left = given.into_inner().expect("whole");
    let local = heap.join().expect("an instance");
    left.into_iter().for_each(|object| object.free(&local));
    drop(local);
    heap.purge();
    heap.check().expect("sound");
    assert_eq!(heap.stats().allocated, 0);
}
