//! Threads that join while another one frees what arrived at an instance that nobody has.

use std::thread;

use super::source::Counted;
use super::*;

/// `purge` is called while an instance is served; it stops there until another thread has joined,
/// or for a while.
fn joined_meanwhile(leaves: bool) {
    let source = Counted::new(4 << 20);
    let heap = source.heap(Settings {
        threads: 2,
        delay: 0,
        ..SETTINGS
    });
    let (own, other) = (heap.join().unwrap(), heap.join().unwrap());
    let objects: Vec<_> = (0..7).map(|_| other.allocate(1100, 16).unwrap()).collect();
    drop(other);
    for object in objects {
        free(&own, object).unwrap();
    }
    let source = source.shared();
    thread::scope(|threads| {
        let joiner = threads.spawn(|| {
            source.wait_until_it_stops();
            let is_joined = heap.join().is_ok();
            source.go_on();
            is_joined
        });
        source.stop_at_the_next_purge();
        if leaves {
            drop(own);
        } else {
            own.trim();
        }
        let was_served = source.was_stopped();
        source.go_on();
        assert!(was_served);
        assert!(
            joiner.join().unwrap(),
            "two threads of two have an instance"
        );
    });
    check(&heap);
}

#[test]
fn a_thread_joins_while_its_instance_is_served() {
    joined_meanwhile(false);
    joined_meanwhile(true);
}
