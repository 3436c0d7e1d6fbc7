//! If user code panics while a pin is held, or in a destructor, the heap stays as usable as before.

use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use surefit_compact::Config;
use surefit_compact::shared::{Local, PerClass, SharedConfig, SharedHeap};

use crate::work::Lock;

#[derive(Debug)]
struct Bomb(u64);

impl Drop for Bomb {
    fn drop(&mut self) {
        assert!(self.0 == 0, "armed");
    }
}

fn on_a_heap(act: impl FnOnce(&SharedHeap<'_, Lock>, &Local<'_, '_, Lock, PerClass>)) {
    let config = SharedConfig::new(Config::DEFAULT);
    let mut memory = vec![MaybeUninit::uninit(); 1 << 20];
    let heap = SharedHeap::new(&mut memory, &config).unwrap();
    let local = heap.register().unwrap();
    act(&heap, &local);
    heap.check(false).unwrap();
    assert_eq!(heap.stats().live_blocks, 0);
}

/// Panics without the message of a failed test.
fn panics(act: impl FnOnce()) {
    assert!(catch_unwind(AssertUnwindSafe(act)).is_err());
}

#[test]
fn a_panic_while_an_object_is_pinned() {
    on_a_heap(|heap, local| {
        let mut handle = local.insert([7_u64; 8]).unwrap();
        panics(|| {
            let mut pinned = heap.pin_mut(&mut handle).unwrap();
            pinned[0] = 8;
            resume_unwind(Box::new(()));
        });
        panics(|| {
            let _pinned = heap.pin(&handle).unwrap();
            resume_unwind(Box::new(()));
        });
        assert_eq!(local.remove(handle).unwrap()[..2], [8, 7]);
    });
}

#[test]
fn a_panic_in_a_destructor() {
    on_a_heap(|heap, local| {
        let (armed, mut harmless) = (
            local.insert(Bomb(1)).unwrap(),
            local.insert(Bomb(2)).unwrap(),
        );
        panics(|| local.free(armed).unwrap());
        heap.check(false).unwrap();
        heap.pin_mut(&mut harmless).unwrap().0 = 0;
        local.free(harmless).unwrap();
    });
}

#[test]
fn a_forgotten_guard_keeps_nothing_but_its_entry_from_moving() {
    on_a_heap(|heap, local| {
        let handle = local.insert(7_u64).unwrap();
        core::mem::forget(heap.pin(&handle).unwrap());
        assert_eq!(local.remove(handle).unwrap(), 7);
        // The entry serves again.
        let next = local.insert(8_u64).unwrap();
        heap.check(false).unwrap();
        assert_eq!(*heap.pin(&next).unwrap(), 8);
        local.free(next).unwrap();
    });
}
