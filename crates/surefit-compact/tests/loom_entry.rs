//! Every interleaving, and every value that weak ordering allows, of the entry protocol with two or
//! three threads.
//!
//! The entry is the library's own file, on loom's atomics. Blocks are cells that loom watches: an
//! access that is not ordered after the last one fails the model, like a data race. Each block has
//! two words, which are copied in two steps. A block that is given back is overwritten at once, so
//! that a thread that still reads it is detected.
#![cfg(target_pointer_width = "64")] // loom needs 64-bit atomics

#[allow(
    dead_code,
    unused_imports,
    reason = "the library uses all of it, these models a part"
)]
#[path = "../src/shared/machinery/entry.rs"]
mod entry;
#[path = "loom_entry/sync.rs"]
mod sync;
#[path = "loom_entry/world.rs"]
mod world;

use entry::{Freed, Unpinned};
use loom::sync::Arc;
use loom::thread;
use world::{GROUP, JUNK, Seen, Steps, VALUE, World, activate, three, three_from, two};

fn resting(world: &World) {
    let state = world.entry.state();
    assert!(!state.is_moving() && state.pins() == 0, "{state:?}");
    assert!(world.lock().is_none());
}

#[test]
fn a_pin_against_a_commit_sees_one_whole_object() {
    static COMMITTED: Seen = Seen::never();
    static ABORTED: Seen = Seen::never();
    for steps in [Steps::Together, Steps::Separate] {
        two(
            move |world| world.relocate(1, steps),
            |world| {
                assert_eq!(world.read_pinned(), VALUE);
                assert_eq!(world.read_pinned(), VALUE);
            },
            |world| {
                resting(world);
                COMMITTED.when(world.entry.state().side() == 1);
                ABORTED.when(world.entry.state().side() == 0);
            },
        );
    }
    assert!(COMMITTED.at_least_once() && ABORTED.at_least_once());
}

#[test]
fn a_pin_against_two_moves_sees_one_whole_object() {
    two(
        |world| {
            world.relocate(1, Steps::Together);
            let empty = 1 - world.entry.location(world.entry.state());
            world.relocate(empty, Steps::Together);
        },
        |world| assert_eq!(world.read_pinned(), VALUE),
        resting,
    );
}

#[test]
fn two_pins_and_a_move_see_one_whole_object() {
    three(
        3,
        |world| assert_eq!(world.read_pinned(), VALUE),
        |world| assert_eq!(world.read_pinned(), VALUE),
        |world| world.relocate(1, Steps::Separate),
        resting,
    );
}

#[test]
fn a_write_after_a_move_that_a_reader_stopped_does_not_race_the_copying() {
    static STOPPED: Seen = Seen::never();
    two(
        |world| world.relocate(1, Steps::Together),
        |world| {
            assert_eq!(world.read_pinned(), VALUE);
            world.write_pinned();
        },
        |world| {
            assert_eq!(world.read_pinned(), VALUE + 1);
            STOPPED.when(world.entry.state().side() == 0);
        },
    );
    assert!(STOPPED.at_least_once());
}

#[test]
fn a_write_under_a_pin_is_neither_lost_nor_copied_half() {
    static MOVED: Seen = Seen::never();
    static SETTLED: Seen = Seen::never();
    for steps in [Steps::Together, Steps::Separate] {
        two(
            move |world| world.relocate(1, steps),
            |world| world.write_pinned(),
            |world| {
                resting(world);
                assert_eq!(world.read_pinned(), VALUE + 1);
                MOVED.when(world.entry.state().side() == 1);
                SETTLED.when(world.entry.state().side() == 0);
            },
        );
    }
    assert!(MOVED.at_least_once() && SETTLED.at_least_once());
}

#[test]
fn a_write_before_the_unpin_is_in_the_copy() {
    two(
        |world| {
            world.write_pinned();
            world.write_pinned();
        },
        |world| world.relocate(1, Steps::Together),
        |world| assert_eq!(world.read_pinned(), VALUE + 2),
    );
}

#[test]
fn a_free_against_a_pin_gives_back_once_and_after_the_reader() {
    static READ: Seen = Seen::never();
    static REFUSED: Seen = Seen::never();
    two(
        |world| world.free(),
        |world| {
            let read = world.read_by_name();
            assert!(read.is_none_or(|value| value == VALUE), "{read:?}");
            READ.when(read.is_some());
            REFUSED.when(read.is_none());
        },
        World::assert_freed_once,
    );
    assert!(READ.at_least_once() && REFUSED.at_least_once());
}

#[test]
fn a_free_against_two_pins_gives_back_once() {
    three(
        3,
        |world| world.free(),
        |world| assert!(world.read_by_name().is_none_or(|value| value == VALUE)),
        |world| assert!(world.read_by_name().is_none_or(|value| value == VALUE)),
        World::assert_freed_once,
    );
}

#[test]
fn a_free_against_a_free_of_one_name_has_one_winner() {
    loom::model(|| {
        let world = World::new();
        let other = Arc::clone(&world);
        let first = thread::spawn(move || other.free_by_name());
        let second = world.free_by_name();
        let first = first.join().expect("no thread panics");
        assert!(first ^ second, "one of them frees");
        world.assert_freed_once();
    });
}

#[test]
fn a_free_against_a_move_gives_back_once() {
    for steps in [Steps::Together, Steps::Separate] {
        two(
            |world| world.free(),
            move |world| world.relocate(1, steps),
            |world| {
                world.assert_freed_once();
                resting(world);
            },
        );
    }
}

#[test]
fn a_free_against_a_move_and_a_pin_gives_back_once() {
    three(
        2,
        |world| world.free(),
        |world| world.relocate(1, Steps::Together),
        |world| assert!(world.read_by_name().is_none_or(|value| value == VALUE)),
        World::assert_freed_once,
    );
}

#[test]
fn an_object_under_construction_is_neither_moved_nor_read() {
    static MOVED: Seen = Seen::never();
    static READ: Seen = Seen::never();
    three_from(
        World::under_construction,
        3,
        |world| world.relocate(1, Steps::Together),
        |world| {
            let read = world.read_by_name();
            assert!(read.is_none_or(|value| value == VALUE + 1), "{read:?}");
            READ.when(read.is_some());
        },
        |world| {
            world.block(2).write(VALUE + 1);
            world.entry.end_construction();
        },
        |world| {
            resting(world);
            MOVED.when(world.entry.location(world.entry.state()) == 1);
            assert_eq!(world.read_pinned(), VALUE + 1);
        },
    );
    assert!(MOVED.at_least_once() && READ.at_least_once());
}

#[test]
fn the_deferred_link_and_the_location_survive_a_move_that_was_in_flight() {
    const LINK: u32 = 99;
    two(
        |world| {
            if let Freed::Now(_) = world.entry.mark_freed() {
                world.entry.set_deferred_next(LINK);
            }
        },
        |world| {
            let mut moving = world.lock();
            if !world.entry.begin_move() {
                return;
            }
            world.entry.stage(1);
            *moving = Some((0, 1));
            if !world.entry.commit() {
                *moving = None;
                if let Unpinned::Claimed(_) = world.entry.cancel_move() {
                    world.entry.set_deferred_next(LINK);
                }
            }
        },
        |world| {
            let state = world.entry.state();
            assert!(state.is_dead(), "{state:?}");
            assert_eq!(world.entry.deferred_next(), LINK);
            let moved = u32::from(state.side() == 1);
            assert_eq!(world.entry.location(state), moved);
        },
    );
}

#[test]
fn an_owned_object_freed_and_replaced_under_the_lock_needs_no_more_than_the_lock() {
    two(
        |world| {
            assert_eq!(world.read_pinned(), VALUE);
            let mut moving = world.lock();
            let unpinned = world.cancel(&mut moving);
            assert_eq!(unpinned, Unpinned::Held);
            world
                .block(world.entry.location(world.entry.state()))
                .write(JUNK);
            world.entry.deactivate();
            world.block(2).write(VALUE);
            activate(&world.entry, GROUP, 2);
            drop(moving);
            assert_eq!(world.read_pinned(), VALUE);
        },
        |world| {
            world.relocate(1, Steps::Separate);
        },
        resting,
    );
}
