//! A Rust program whose allocator it is.
#![cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc, realloc};
use std::collections::{BTreeMap, HashMap};
use std::sync::mpsc;
use std::thread;

use surefit_malloc::SurefitMalloc;

#[global_allocator]
static ALLOCATOR: SurefitMalloc = SurefitMalloc;

#[test]
fn collections_and_threads_use_it() {
    let before = ALLOCATOR.stats().expect("a heap").allocated;
    let (send, receive) = mpsc::channel::<Vec<String>>();
    let senders: Vec<_> = (0..4)
        .map(|number| {
            let send = send.clone();
            thread::spawn(move || {
                for round in 0..200 {
                    let texts = (0..round).map(|it| format!("{number} {it}")).collect();
                    send.send(texts).expect("somebody listens");
                }
            })
        })
        .collect();
    drop(send);
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for texts in receive {
        for text in texts {
            *counts.entry(text).or_default() += 1;
        }
    }
    senders
        .into_iter()
        .for_each(|it| it.join().expect("it ends"));
    assert_eq!(counts.len(), 4 * 199);
    assert_eq!(counts["3 0"], 199);
    assert!(ALLOCATOR.stats().expect("a heap").allocated > before);
    let squares: HashMap<u32, u32> = (0..10_000).map(|it| (it, it * it % 1009)).collect();
    assert_eq!(squares[&5000], 5000 * 5000 % 1009);
}

#[test]
fn alignments_are_kept_when_the_size_changes() {
    for align in (0..22).map(|power| 1_usize << power) {
        let mut bytes = 1;
        let mut layout = Layout::from_size_align(bytes, align).expect("a layout");
        // SAFETY: of one byte at least.
        let mut object = unsafe { alloc(layout) };
        // SAFETY: as above.
        unsafe { object.write(7) };
        for next in [100, 5000, 300_000, 40, 9000, 64] {
            // SAFETY: the layout is the object's.
            object = unsafe { realloc(object, layout, next) };
            assert!(!object.is_null() && object.addr() % align == 0);
            // SAFETY: the first byte was written.
            assert_eq!(unsafe { object.read() }, 7);
            bytes = next;
            layout = Layout::from_size_align(bytes, align).expect("a layout");
            // SAFETY: so many bytes.
            unsafe { object.add(bytes - 1).write(7) };
        }
        // SAFETY: the layout is the object's.
        unsafe { dealloc(object, layout) };
        let layout = Layout::from_size_align(70_000, align).expect("a layout");
        // SAFETY: not of zero bytes.
        let zeros = unsafe { alloc_zeroed(layout) };
        // SAFETY: so many bytes, all written.
        let bytes = unsafe { std::slice::from_raw_parts(zeros, 70_000) };
        assert!(bytes.iter().all(|it| *it == 0));
        // SAFETY: the layout is the object's.
        unsafe { dealloc(zeros, layout) };
    }
}

#[test]
fn free_memory_goes_back_when_it_is_asked_for() {
    drop(vec![1_u8; 32 << 20]);
    ALLOCATOR.purge();
    let stats = ALLOCATOR.stats().expect("a heap");
    // What the other tests free meanwhile is less.
    assert!(stats.purges > 0 && stats.dirty < 16 << 20, "{stats:?}");
}
