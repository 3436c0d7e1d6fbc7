//! The cut of a recording that boards replay (firmware/trace) is what this test makes of it.
//! `SUREFIT_BLESS=1 cargo test -p surefit-trace --test cut` writes it anew.
//!
//! A cut keeps one object of many, from its allocation to its free, and of these the ones that were
//! never long. So lifetimes and sizes are as in the recording, and the live bytes fit a small
//! board.

#[path = "it/common/mod.rs"]
mod common;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::PathBuf;

use common::bundled;
use surefit_trace::{Call, Event, Op, Trace};

const NAME: &str = "python-a";
const ONE_OF: u32 = 40;
const LONGEST: u64 = 4096;

/// What the cut has at most, for the board that replays it: `Slots` of firmware/src/scale.rs, and
/// 64 KiB.
const SLOTS: usize = 640;
const LIVE_BYTES: u64 = 64 << 10;

const HEADER: &str = "python-a, one object of 40, none over 4096 bytes; \
    made by SUREFIT_BLESS=1 cargo test -p surefit-trace --test cut\n";

/// The live objects of the cut: their slots and sizes.
#[derive(Default)]
struct Live {
    objects: HashMap<u32, (usize, u64)>,
    vacant: BTreeSet<usize>,
    /// The most slots in use.
    slots: usize,
    bytes: u64,
    peak: u64,
}

impl Live {
    fn allocate(&mut self, id: u32) -> usize {
        let slot = self.vacant.pop_first().unwrap_or(self.slots);
        self.slots = self.slots.max(slot + 1);
        self.objects.insert(id, (slot, 0));
        slot
    }

    fn resize(&mut self, id: u32, size: u64) -> usize {
        let (slot, old) = self.objects.get_mut(&id).expect("a live object");
        self.bytes = self.bytes - *old + size;
        self.peak = self.peak.max(self.bytes);
        *old = size;
        *slot
    }

    fn free(&mut self, id: u32) -> usize {
        let (slot, size) = self.objects.remove(&id).expect("a live object");
        self.bytes -= size;
        self.vacant.insert(slot);
        slot
    }
}

/// The objects that were ever longer than a cut may have.
fn long_objects(events: &[Event]) -> HashSet<u32> {
    let size = |event: &Event| match event.op() {
        Op::Alloc { size, .. } | Op::Realloc { size, .. } => size,
        Op::Free { .. } => 0,
    };
    let long = events.iter().filter(|event| size(event) > LONGEST);
    long.map(|event| event.id()).collect()
}

/// The cut: its header, then for each event a number, 4·slot + 0 (free), 1 (allocate) or 2
/// (resize), and unless it is a free, the size. Numbers are of seven bits a byte, the lowest first;
/// a set top bit says that more follow.
fn cut(events: &[Event]) -> (Vec<u8>, Live) {
    let (long, mut live) = (long_objects(events), Live::default());
    let mut bytes = HEADER.as_bytes().to_vec();
    for event in events {
        if event.id() % ONE_OF != 0 || long.contains(&event.id()) {
            continue;
        }
        match event.op() {
            Op::Alloc { id, size, call } => {
                assert!(!matches!(call, Call::Aligned(_)), "no alignment is kept");
                let slot = live.allocate(id);
                live.resize(id, size);
                write(&mut bytes, 4 * slot as u64 + 1);
                write(&mut bytes, size);
            }
            Op::Realloc { id, size } => {
                write(&mut bytes, 4 * live.resize(id, size) as u64 + 2);
                write(&mut bytes, size);
            }
            Op::Free { id } => write(&mut bytes, 4 * live.free(id) as u64),
        }
    }
    (bytes, live)
}

fn write(bytes: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn path() -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join("firmware/trace").join(format!("{NAME}.cut"))
}

#[test]
fn the_boards_replay_a_cut_of_a_recording() {
    let trace = Trace::load(bundled(NAME)).expect("a sound trace");
    let (bytes, live) = cut(trace.events());
    if std::env::var_os("SUREFIT_BLESS").is_some() {
        fs::write(path(), &bytes).expect("the file can be written");
    }
    let kept = fs::read(path()).expect("the cut is kept");
    assert!(kept == bytes, "the cut is out of date: SUREFIT_BLESS=1");
    assert!(live.slots <= SLOTS, "{} slots", live.slots);
    assert!(live.peak <= LIVE_BYTES, "{} live bytes", live.peak);
    assert!(live.peak > LIVE_BYTES / 2, "a cut of {} bytes", live.peak);
}
