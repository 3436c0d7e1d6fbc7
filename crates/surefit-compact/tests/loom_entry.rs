//! Every interleaving, and every value that weak ordering allows, of the entry protocol with two or
//! three threads.
//!
//! The entry is the library's own file, on loom's atomics. Blocks are cells that loom watches: an
//! access that is not ordered after the last one fails the model, like a data race. Each block has
//! two words, which are copied in two steps. A block that is given back is overwritten at once, so
//! that a thread that still reads it is detected.
#![cfg(target_pointer_width = "64")] // loom needs 64-bit atomics

mod sync {
    pub(crate) use loom::sync::atomic::AtomicU32;
}
#[allow(
    dead_code,
    unused_imports,
    reason = "the library uses all of it, these models a part"
)]
#[path = "../src/shared/machinery/entry.rs"]
mod entry;
#[allow(
    dead_code,
    unused_imports,
    reason = "the library uses all of it, these models a part"
)]
#[path = "../src/shared/machinery/generation.rs"]
mod generation;
#[path = "loom_entry/world.rs"]
mod world;

use core::sync::atomic::Ordering::Relaxed;

use entry::{Freed, Unpinned, Why};
use loom::sync::Arc;
use loom::thread;
use sync::AtomicU32;
use world::{
    GROUP, JUNK, LIMIT, Seen, Steps, VALUE, World, activate, activate_keeping_pins, three,
    three_from, two,
};

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
fn a_write_after_a_move_that_a_reader_stopped_does_not_race_the_copying() {
    static STOPPED: Seen = Seen::never();
    three(
        3,
        |world| assert!(world.read_by_key(0).is_none_or(|value| value >= VALUE)),
        |world| {
            let written = world.write_exclusively();
            assert!(matches!(written, Ok(()) | Err(Why::Busy)));
        },
        |world| world.relocate(1, Steps::Together),
        |world| {
            let value = world.read_pinned();
            assert!([VALUE, VALUE + 1].contains(&value));
            STOPPED.when(world.entry.state().side() == 0 && value == VALUE + 1);
        },
    );
    assert!(STOPPED.at_least_once());
}

#[test]
fn a_free_against_a_pin_gives_back_once_and_after_the_reader() {
    static READ: Seen = Seen::never();
    static REFUSED: Seen = Seen::never();
    two(
        |world| assert!(world.free(0)),
        |world| {
            let read = world.read_by_key(0);
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
        |world| assert!(world.free(0)),
        |world| assert!(world.read_by_key(0).is_none_or(|value| value == VALUE)),
        |world| assert!(world.read_by_key(0).is_none_or(|value| value == VALUE)),
        World::assert_freed_once,
    );
}

#[test]
fn a_free_against_a_free_of_one_key_has_one_winner() {
    loom::model(|| {
        let world = World::new();
        let other = Arc::clone(&world);
        let first = thread::spawn(move || other.free(0));
        let second = world.free(0);
        let first = first.join().expect("no thread panics");
        assert!(first ^ second, "one of them frees");
        world.assert_freed_once();
    });
}

#[test]
fn a_free_against_a_move_gives_back_once() {
    for steps in [Steps::Together, Steps::Separate] {
        two(
            |world| assert!(world.free(0)),
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
        |world| assert!(world.free(0)),
        |world| world.relocate(1, Steps::Together),
        |world| assert!(world.read_by_key(0).is_none_or(|value| value == VALUE)),
        World::assert_freed_once,
    );
}

#[test]
fn an_exclusive_pin_against_shared_ones_is_alone() {
    three(
        3,
        |world| {
            let written = world.write_exclusively();
            assert!(matches!(written, Ok(()) | Err(Why::Busy)));
        },
        |world| assert!(world.read_by_key(0).is_none_or(|value| value >= VALUE)),
        |world| {
            let written = world.write_exclusively();
            assert!(matches!(written, Ok(()) | Err(Why::Busy)));
        },
        resting,
    );
}

#[test]
fn exclusive_pins_lose_no_update() {
    loom::model(|| {
        let world = World::new();
        let other = Arc::clone(&world);
        let first = thread::spawn(move || other.write_exclusively().is_ok());
        let second = world.write_exclusively().is_ok();
        let first = first.join().expect("no thread panics");
        assert!(first || second, "one of two succeeds");
        let written = u32::from(first) + u32::from(second);
        assert_eq!(world.read_pinned(), VALUE + written);
    });
}

#[test]
fn an_exclusive_pin_against_a_move_loses_no_update() {
    for steps in [Steps::Together, Steps::Separate] {
        two(
            move |world| world.relocate(1, steps),
            |world| {
                world
                    .write_exclusively()
                    .expect("a move does not make an object busy")
            },
            |world| assert_eq!(world.read_pinned(), VALUE + 1),
        );
    }
}

#[test]
fn a_free_against_an_exclusive_pin_gives_back_once_and_after_the_writer() {
    two(
        |world| assert!(world.free(0)),
        |world| {
            let written = world.write_exclusively();
            assert!(matches!(written, Ok(()) | Err(Why::Freed)));
        },
        World::assert_freed_once,
    );
}

/// Frees the first object, and, if the caller is the one who may give it back, puts a second one
/// into the entry.
fn free_and_reuse(world: &World, known: Option<&AtomicU32>) {
    world
        .generation
        .retire_or_next(0, LIMIT)
        .expect("one freer");
    let Freed::Now(state) = world.entry.mark_freed() else {
        return;
    };
    world.give_back(Unpinned::Released(state));
    world.entry.set_next(2);
    let next = world.entry.next();
    world.block(next).write(VALUE + 1);
    activate_keeping_pins(&world.entry, GROUP, next);
    if let Some(known) = known {
        known.store(1, Relaxed);
    }
}

#[test]
fn a_stale_key_never_reads_the_next_object_and_may_give_it_back() {
    static GAVE_BACK_THE_FIRST: Seen = Seen::never();
    static GAVE_BACK_THE_SECOND: Seen = Seen::never();
    two(
        |world| {
            free_and_reuse(world, None);
            if !world.entry.state().is_freed() {
                assert!(world.free(1));
            }
        },
        |world| {
            let (location, refused) = match world.entry.pin_shared() {
                Ok((_, location)) => (location, None),
                Err(refused) => (0, Some(refused.undone)),
            };
            if refused.is_none() && world.generation.current() == 0 {
                assert_eq!(world.block(location).read(), VALUE);
            }
            let unpinned = refused.unwrap_or_else(|| world.entry.unpin());
            if let Unpinned::Released(state) = unpinned {
                GAVE_BACK_THE_FIRST.when(world.entry.location(state) == 0);
                GAVE_BACK_THE_SECOND.when(world.entry.location(state) == 2);
            }
            world.give_back(unpinned);
        },
        |world| {
            let objects = world.generation.current();
            assert_eq!(
                world.released.load(Relaxed),
                objects,
                "each given back once"
            );
            assert!(world.entry.state().is_dead());
        },
    );
    assert!(GAVE_BACK_THE_FIRST.at_least_once());
    assert!(GAVE_BACK_THE_SECOND.at_least_once());
}

#[test]
fn a_stale_key_never_reads_an_object_that_the_last_unpin_made_room_for() {
    static REUSED: Seen = Seen::never();
    three(
        3,
        |world| {
            let pinned = world.entry.pin_shared();
            let unpinned = pinned.map_or_else(|refused| refused.undone, |_| world.entry.unpin());
            if unpinned != Unpinned::Held {
                world.give_back(unpinned);
                world.block(2).write(VALUE + 1);
                activate_keeping_pins(&world.entry, GROUP, 2);
                REUSED.when(true);
            }
        },
        |world| {
            let read = world.read_by_key(0);
            assert!(read.is_none_or(|value| value == VALUE), "{read:?}");
        },
        |world| assert!(world.free(0)),
        |world| assert_eq!(world.released.load(Relaxed), 1),
    );
    assert!(REUSED.at_least_once());
}

#[test]
fn a_key_learnt_without_synchronisation_reads_the_whole_new_object() {
    static READ: Seen = Seen::never();
    loom::model(|| {
        let world = World::new();
        let known = Arc::new(AtomicU32::new(0));
        let (other, tell) = (Arc::clone(&world), Arc::clone(&known));
        let first = thread::spawn(move || free_and_reuse(&other, Some(&tell)));
        if known.load(Relaxed) == 1 {
            let read = world.read_by_key(1);
            assert!(read.is_none_or(|value| value == VALUE + 1), "{read:?}");
            READ.when(read.is_some());
        }
        first.join().expect("no thread panics");
    });
    assert!(READ.at_least_once());
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
            let read = world.read_by_key(0);
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
                if let Unpinned::Released(_) = world.entry.cancel_move() {
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
