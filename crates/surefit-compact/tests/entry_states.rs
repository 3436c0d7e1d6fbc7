//! Every transition of an entry, by one thread. Each method is called in each state that can be
//! reached with up to three pins, and its answer is compared with a description in plain fields.

#[allow(
    dead_code,
    unused_imports,
    reason = "the library uses all of it, these tests a part"
)]
#[path = "../src/shared/machinery/entry.rs"]
mod entry;
#[allow(dead_code, reason = "as above")]
#[path = "../src/shared/machinery/sync.rs"]
mod sync;

use std::collections::{HashMap, VecDeque};

use entry::{Entry, Freed, GROUPS, NotPinned, PIN_LIMIT, Unpinned};

/// A new object, written.
fn activate(entry: &Entry, group: u32, location: u32) {
    entry.begin_construction_alone(group, location);
    entry.end_construction_alone();
}

/// As `activate`, in an entry that stale names may pin.
fn activate_keeping_pins(entry: &Entry, group: u32, location: u32) {
    entry.begin_construction(group, location);
    entry.end_construction();
}

const GROUP: u32 = 0xA5C;
const MOST_PINS: u32 = 3;

/// What an entry is, said plainly.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Debug)]
struct Plain {
    /// An object is there, and was not freed.
    live: bool,
    /// An object is there, was freed, and waits for pins or a move.
    held: bool,
    pins: u32,
    moving: bool,
    side: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Act {
    Activate,
    ActivateKeepingPins,
    Deactivate,
    DeactivateKeepingPins,
    MarkFreed,
    FreePinned,
    Pin,
    Unpin,
    Begin,
    Commit,
    Cancel,
}

const ACTS: [Act; 11] = [
    Act::Activate,
    Act::ActivateKeepingPins,
    Act::Deactivate,
    Act::DeactivateKeepingPins,
    Act::MarkFreed,
    Act::FreePinned,
    Act::Pin,
    Act::Unpin,
    Act::Begin,
    Act::Commit,
    Act::Cancel,
];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Answer {
    Done,
    No,
    Claimed,
    Moving,
    Deferred,
}

impl Plain {
    /// Whether a caller that keeps the rules may do it.
    fn allows(self, act: Act) -> bool {
        let dead = !self.live && !self.held;
        match act {
            Act::Activate => dead && self.pins == 0,
            Act::ActivateKeepingPins => dead,
            Act::Deactivate => self.live && self.pins == 0 && !self.moving,
            Act::DeactivateKeepingPins => self.live && !self.moving,
            Act::MarkFreed => self.live,
            Act::FreePinned => self.live && self.pins > 0,
            Act::Pin => self.pins < MOST_PINS,
            Act::Unpin => self.pins > 0,
            Act::Begin => true,
            Act::Commit | Act::Cancel => self.moving,
        }
    }

    /// A freed object that nothing holds back is claimed by the call that released it.
    fn settle(&mut self, otherwise: Answer) -> Answer {
        if self.held && self.pins == 0 && !self.moving {
            self.held = false;
            return Answer::Claimed;
        }
        otherwise
    }

    fn act(&mut self, act: Act) -> Answer {
        match act {
            Act::Activate | Act::ActivateKeepingPins => (self.live, self.side) = (true, 0),
            Act::Deactivate | Act::DeactivateKeepingPins => self.live = false,
            Act::FreePinned => (self.live, self.held) = (false, true),
            Act::MarkFreed => {
                (self.live, self.held) = (false, true);
                let waits = if self.pins > 0 {
                    Answer::Deferred
                } else {
                    Answer::Moving
                };
                return self.settle(waits);
            }
            Act::Pin => self.pins += 1,
            Act::Unpin => self.pins -= 1,
            Act::Begin if !self.live || self.pins > 0 || self.moving => return Answer::No,
            Act::Begin => self.moving = true,
            Act::Commit if !self.live || self.pins > 0 => return Answer::No,
            Act::Commit => (self.moving, self.side) = (false, 1 - self.side),
            Act::Cancel => self.moving = false,
        }
        match act {
            Act::Unpin | Act::Cancel => self.settle(Answer::Done),
            _ => Answer::Done,
        }
    }
}

fn answer_of(unpinned: Unpinned) -> Answer {
    match unpinned {
        Unpinned::Held => Answer::Done,
        Unpinned::Claimed(state) => {
            assert_eq!((state.group(), state.pins()), (GROUP, 0));
            Answer::Claimed
        }
    }
}

fn yes(done: bool) -> Answer {
    if done { Answer::Done } else { Answer::No }
}

/// The entry's own answer; an object is always at 10 + side.
fn act(entry: &Entry, act: Act) -> Answer {
    match act {
        Act::Activate => activate(entry, GROUP, 10),
        Act::ActivateKeepingPins => activate_keeping_pins(entry, GROUP, 10),
        Act::Deactivate => entry.deactivate(),
        Act::DeactivateKeepingPins => entry.deactivate_keeping_pins(),
        Act::FreePinned => return yes(entry.free_pinned()),
        Act::MarkFreed => {
            return match entry.mark_freed() {
                Freed::Now(state) => answer_of(Unpinned::Claimed(state)),
                Freed::Moving(_) => Answer::Moving,
                Freed::Deferred => Answer::Deferred,
            };
        }
        Act::Pin => {
            let (before, location) = entry.pin().expect("few pins");
            assert_eq!(entry.location(before), location);
            assert_eq!(entry.state().pins(), before.pins() + 1);
        }
        Act::Unpin => return answer_of(entry.unpin()),
        Act::Begin => {
            let begun = entry.begin_move();
            if begun {
                let target = 11 - u32::try_from(entry.state().side()).expect("0 or 1");
                entry.stage(target);
                assert_eq!(entry.deferred_next(), target);
            }
            return yes(begun);
        }
        Act::Commit => return yes(entry.commit()),
        Act::Cancel => return answer_of(entry.cancel_move()),
    }
    Answer::Done
}

/// The entry's word says what the plain fields say.
fn assert_is(entry: &Entry, plain: Plain, path: &[Act]) {
    let state = entry.state();
    let dead = !plain.live && !plain.held;
    assert_eq!(state.pins(), plain.pins, "{path:?}");
    assert_eq!(state.is_freed(), !plain.live, "{path:?}");
    assert_eq!(state.is_writer(), dead, "{path:?}");
    assert_eq!(state.is_moving(), plain.moving, "{path:?}");
    assert_eq!(state.is_dead(), dead && plain.pins == 0, "{path:?}");
    if !dead {
        assert_eq!(
            (state.group(), state.side()),
            (GROUP, plain.side),
            "{path:?}"
        );
        assert_eq!(entry.location(state) as usize, 10 + plain.side, "{path:?}");
    }
}

fn replay(path: &[Act]) -> Entry {
    let entry = Entry::new();
    for &step in path {
        act(&entry, step);
    }
    entry
}

#[test]
fn every_transition_is_the_described_one() {
    let mut paths = HashMap::from([(Plain::default(), Vec::new())]);
    let mut open = VecDeque::from([Plain::default()]);
    let mut transitions = 0;
    while let Some(plain) = open.pop_front() {
        for step in ACTS.into_iter().filter(|&step| plain.allows(step)) {
            let mut path = paths[&plain].clone();
            let entry = replay(&path);
            assert_is(&entry, plain, &path);
            path.push(step);
            let mut next = plain;
            assert_eq!(act(&entry, step), next.act(step), "{path:?} from {plain:?}");
            assert_is(&entry, next, &path);
            transitions += 1;
            paths.entry(next).or_insert_with(|| {
                open.push_back(next);
                path
            });
        }
    }
    assert_eq!((transitions, paths.len()), (176, 38), "transitions, states");
}

#[test]
fn the_pin_behind_the_last_is_refused_and_leaves_nothing() {
    let entry = Entry::new();
    activate(&entry, GROUP, 10);
    for _ in 0..PIN_LIMIT {
        entry.pin().expect("below the limit");
    }
    let refused = entry.pin().expect_err("at the limit");
    assert_eq!(refused, NotPinned(Unpinned::Held));
    assert_eq!(entry.state().pins(), PIN_LIMIT);
    assert_eq!(entry.unpin(), Unpinned::Held);
    entry.pin().expect("one is free again");
}

#[test]
fn each_group_is_told_apart() {
    for group in 0..GROUPS {
        let entry = Entry::new();
        activate_keeping_pins(&entry, group, 10);
        assert_eq!(entry.state().group(), group);
        entry.pin().expect("few pins");
        assert_eq!(entry.unpin(), Unpinned::Held);
        assert_eq!(entry.state().group(), group);
        entry.deactivate();
        activate(&entry, GROUPS - 1 - group, 10);
        assert_eq!(entry.state().group(), GROUPS - 1 - group);
    }
}

#[test]
fn links_do_not_touch_what_must_stay() {
    for moves in 0..2 {
        let entry = Entry::new();
        activate(&entry, GROUP, 10);
        for _ in 0..moves {
            assert!(entry.begin_move());
            entry.stage(11);
            assert!(entry.commit());
        }
        let Freed::Now(state) = entry.mark_freed() else {
            panic!("nothing holds it");
        };
        entry.set_deferred_next(77);
        assert_eq!(
            (entry.deferred_next(), entry.location(state)),
            (77, 10 + moves)
        );
        entry.set_next(88);
        assert_eq!(entry.next(), 88);
        assert!(entry.state().is_dead());
    }
}

#[test]
fn an_object_under_construction_is_not_moved() {
    let entry = Entry::new();
    entry.pin().expect("a stale name's");
    entry.begin_construction(GROUP, 10);
    assert!(!entry.begin_move());
    assert_eq!(entry.unpin(), Unpinned::Held);
    assert!(entry.state().is_writer() && !entry.state().is_freed());
    assert!(!entry.begin_move() && !entry.state().is_dead());
    entry.end_construction();
    let (state, location) = entry.pin().expect("written");
    assert_eq!((state.group(), state.pins(), location), (GROUP, 0, 10));
    assert_eq!(entry.unpin(), Unpinned::Held);
    assert!(entry.begin_move());
}
