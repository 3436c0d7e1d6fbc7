//! The writers of both formats on events and steps that break every rule: what was refused has left
//! no trace.

use surefit_trace::graph::{self, Change, Class, Object, Reference, Step, Walk};
use surefit_trace::{
    Align, Call, Checker, Event, Header, MAX_SIZE, Op, Trace, Writer, check_bytes,
};

use crate::input::Input;

/// Writes a trace, or an object graph.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    match input.below(2) {
        0 => trace(&mut input),
        _ => recording(&mut input),
    }
}

/// An event of the object that is next or one that was, as a rule.
fn event(input: &mut Input<'_>, next: u32) -> Event {
    let near = u32::from(input.byte());
    let id = match near {
        0..100 => next,
        100..250 => next.wrapping_sub(near - 99),
        _ => u32::MAX - near,
    };
    let size = match input.byte() {
        scale @ 0..250 => input.size() as u64 >> (scale % 3),
        scale => MAX_SIZE.wrapping_add(u64::from(scale)).wrapping_sub(252),
    };
    let align = Align::from_log2(input.byte() % 31).expect("at most 30");
    let call = [Call::Malloc, Call::Calloc, Call::Aligned(align)][input.below(3)];
    let thread = u16::from(input.byte() / 64);
    let op = match input.below(4) {
        0 | 1 => Op::Alloc { id, size, call },
        2 => Op::Realloc { id, size },
        _ => Op::Free { id },
    };
    Event::new(thread, op)
}

fn trace(input: &mut Input<'_>) {
    let (mut checker, mut sound, mut all) = (Checker::new(), Vec::new(), Vec::new());
    while !input.is_empty() {
        let event = event(input, checker.counts().objects as u32);
        let before = (
            checker.counts(),
            checker.live_bytes(),
            checker.live_objects(),
        );
        match checker.accept(event) {
            Ok(()) => sound.push(event),
            Err(_) => assert_eq!(
                (
                    checker.counts(),
                    checker.live_bytes(),
                    checker.live_objects()
                ),
                before,
                "what is refused changes nothing"
            ),
        }
        all.push(event);
    }
    let (name, counts) = (String::from("fuzz"), checker.counts());
    let mut writer = Writer::new(Vec::new(), &Header { name, counts }).expect("a short name");
    let refused = all
        .iter()
        .filter(|&&event| writer.write(event).is_err())
        .count();
    assert_eq!(refused, all.len() - sound.len(), "checker and writer agree");
    let bytes = writer
        .finish()
        .expect("the header is that of the sound ones");
    assert_eq!(check_bytes(&bytes).expect("sound").counts, counts);
    let trace = Trace::new("fuzz", sound).expect("sound");
    assert_eq!(trace.to_bytes(), bytes);
}

fn id(input: &mut Input<'_>, next: u32) -> u32 {
    match input.byte() {
        byte @ 0..16 => u32::MAX.wrapping_add(u32::from(byte)),
        byte @ 16..128 => next.wrapping_sub(u32::from(byte) - 16),
        _ => next,
    }
}

fn recording(input: &mut Input<'_>) {
    let mut writer = graph::Writer::new(Vec::new());
    let (mut next, mut is_sound) = (1, true);
    while !input.is_empty() {
        let step = step(input, next);
        match writer.write(&step) {
            Ok(()) => next += u32::from(matches!(step, Step::Allocate(_) | Step::Find(_))),
            Err(error) => {
                assert!(!error.to_string().contains('\n'), "an error is one line");
                is_sound = false;
            }
        }
    }
    let Ok(bytes) = writer.finish() else { return };
    if is_sound && !bytes.is_empty() {
        let reader = graph::Reader::new(&bytes[..]).expect("bytes");
        assert!(reader.layouts().is_ok(), "what is written can be read");
    }
}

fn step(input: &mut Input<'_>, next: u32) -> Step {
    let object = Object {
        id: id(input, next),
        class: id(input, next).saturating_sub(u32::from(input.byte() % 2 == 0)),
        bytes: 16 + 8 * u32::from(input.byte()),
        slots: u32::from(input.byte() % 8),
    };
    match input.below(8) {
        0 => Step::Class(Class {
            id: object.id,
            fields: object.slots,
            signature: ["LA;", "[I", "[LA;", "", "\u{fffd}"][input.below(5)].to_owned(),
        }),
        1 | 2 => Step::Allocate(object),
        3 | 4 => Step::Find(object),
        5 => Step::Revive(object),
        _ => Step::Walk(Box::new(walk(input, next))),
    }
}

fn walk(input: &mut Input<'_>, next: u32) -> Walk {
    let mut walk = Walk::default();
    let mut ids = |most| {
        (0..input.below(most))
            .map(|_| id(input, next))
            .collect::<Vec<_>>()
    };
    (walk.roots_gained, walk.roots_lost, walk.dead) = (ids(4), ids(3), ids(3));
    for _ in 0..input.below(4) {
        let object = id(input, next);
        let references: Vec<_> = (0..input.below(4))
            .map(|_| Reference {
                slot: u32::from(input.byte() % 8),
                target: id(input, next),
            })
            .collect();
        let class_level: Vec<_> = (0..input.below(3)).map(|_| id(input, next)).collect();
        walk.add_change(Change {
            object,
            references: &references,
            class_level: &class_level,
        });
    }
    walk
}
