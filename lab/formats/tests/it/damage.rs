//! Random damage: what is lost is counted, what remains is sound, and what was not touched is
//! there.

use proptest::prelude::{
    ProptestConfig, Strategy, any, prop, prop_assert, prop_assert_eq, proptest,
};
use proptest::test_runner::RngSeed;

use crate::import;
use crate::model::{self, Board};
use crate::sender::{Call, frames};

/// The calls of a program on a board.
fn program() -> impl Strategy<Value = Vec<Call>> {
    let step = (0..9_u8, any::<u16>(), 0..300_u64);
    prop::collection::vec(step, 20..300).prop_map(|steps| {
        let mut board = Board::new();
        for (kind, pick, size) in steps {
            board.step(kind, pick, size);
        }
        board.calls
    })
}

/// Damage inside a frame: its flags stay.
#[derive(Clone, Debug)]
enum Inside {
    Change(u8),
    Remove(u8),
    Insert(Vec<u8>),
    Whole,
}

fn inside() -> impl Strategy<Value = Inside> {
    proptest::prop_oneof![
        (1..=255_u8).prop_map(Inside::Change),
        (1..5_u8).prop_map(Inside::Remove),
        prop::collection::vec(any::<u8>(), 1..6).prop_map(Inside::Insert),
        proptest::strategy::Just(Inside::Whole),
    ]
}

fn damage(frame: &mut Vec<u8>, how: &Inside, at: usize) {
    let content = frame.len() - 2;
    let place = 1 + at % content;
    match how {
        Inside::Change(bits) => frame[place] ^= bits,
        Inside::Remove(count) => {
            let end = (place + usize::from(*count)).min(1 + content);
            frame.drain(place..end);
        }
        // Not beside a flag: a second flag there would leave the frame whole.
        Inside::Insert(bytes) => {
            let place = 2 + at % (content - 1);
            frame.splice(place..place, bytes.iter().copied());
        }
        Inside::Whole => frame.clear(),
    }
}

/// Damage anywhere: at a place of the stream, over some bytes.
#[derive(Clone, Debug)]
enum Anywhere {
    Remove,
    Repeat,
    Overwrite(u8),
    Insert(Vec<u8>),
}

fn anywhere() -> impl Strategy<Value = (Anywhere, usize, usize)> {
    let how = proptest::prop_oneof![
        proptest::strategy::Just(Anywhere::Remove),
        proptest::strategy::Just(Anywhere::Repeat),
        any::<u8>().prop_map(Anywhere::Overwrite),
        prop::collection::vec(any::<u8>(), 1..40).prop_map(Anywhere::Insert),
    ];
    (how, any::<usize>(), 1..60_usize)
}

/// Applies damage; `touched` gets the places of the undamaged stream that it changed.
fn apply(stream: &[u8], damages: &[(Anywhere, usize, usize)]) -> (Vec<u8>, Vec<bool>) {
    let mut touched = vec![false; stream.len()];
    let mut out = Vec::new();
    let mut all: Vec<_> = damages
        .iter()
        .map(|(how, at, count)| (at % stream.len(), *count, how))
        .collect();
    all.sort_by_key(|(at, ..)| *at);
    let mut next = 0;
    for (at, count, how) in all {
        if at < next {
            continue;
        }
        out.extend_from_slice(&stream[next..at]);
        let end = (at + count).min(stream.len());
        next = end;
        match how {
            Anywhere::Remove => touched[at..end].fill(true),
            // What is repeated ends where the copy begins: what lies around that place is changed.
            Anywhere::Repeat => {
                out.extend_from_slice(&stream[at..end]);
                out.extend_from_slice(&stream[at..end]);
                touched[end - 1] = true;
            }
            Anywhere::Overwrite(byte) => {
                out.extend(std::iter::repeat_n(*byte, end - at));
                touched[at..end].fill(true);
            }
            Anywhere::Insert(bytes) => {
                out.extend_from_slice(bytes);
                touched[at] = true;
                next = at;
            }
        }
    }
    out.extend_from_slice(&stream[next..]);
    (out, touched)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(17),
        ..ProptestConfig::default()
    })]

    #[test]
    fn without_damage_nothing_is_lost(calls in program()) {
        let imported = import(&frames(&calls).concat()).expect("a recording");
        prop_assert_eq!(imported.trace.events(), model::events(&calls));
        let board = imported.notes.board.expect("a board's");
        prop_assert_eq!(board.events, calls.len() as u64 - 1);
        prop_assert_eq!((board.lost_events, board.damaged_pieces, board.repeated_events), (0, 0, 0));
        prop_assert_eq!((imported.notes.unknown_frees, imported.notes.overlapping), (0, 0));
    }

    #[test]
    fn damaged_frames_are_lost_and_all_others_are_there(
        calls in program(),
        damages in prop::collection::vec((any::<prop::sample::Index>(), inside(), any::<usize>()), 1..80),
    ) {
        let mut sent = frames(&calls);
        let mut damaged = vec![false; calls.len()];
        for (index, how, at) in &damages {
            // The last one stays: nothing after it would say that it is missing.
            let index = index.index(calls.len() - 1);
            if !damaged[index] {
                damage(&mut sent[index], how, *at);
                damaged[index] = true;
            }
        }
        let imported = import(&sent.concat()).expect("a recording");
        let arrived: Vec<_> = calls.iter().zip(&damaged).filter(|(_, damaged)| !**damaged).collect();
        let arrived: Vec<_> = arrived.into_iter().map(|(call, _)| *call).collect();
        prop_assert_eq!(imported.trace.events(), model::events(&arrived));
        let board = imported.notes.board.expect("a board's");
        let lost = damaged.iter().filter(|damaged| **damaged).count() as u64;
        prop_assert_eq!(board.lost_events, lost);
        let begins = u64::from(!damaged[0]);
        prop_assert_eq!(board.events, arrived.len() as u64 - begins);
    }

    #[test]
    fn any_damage_leaves_a_sound_trace_with_all_that_was_not_touched(
        calls in program(),
        damages in prop::collection::vec(anywhere(), 1..40),
    ) {
        let sent = frames(&calls);
        let (bytes, touched) = apply(&sent.concat(), &damages);
        let mut place = 0;
        let mut intact = 0;
        for frame in &sent {
            intact += u64::from(!touched[place..place + frame.len()].contains(&true));
            place += frame.len();
        }
        let imported = match import(&bytes) {
            Ok(imported) => imported,
            Err(error) => {
                prop_assert_eq!(intact, 0, "{}", error);
                return Ok(());
            }
        };
        let board = imported.notes.board.expect("a board's");
        // That the board begins is a frame and no event.
        prop_assert!(board.events + board.restarts + 1 >= intact);
        if board.restarts == 0 {
            prop_assert!(board.events + board.lost_events <= calls.len() as u64);
        }
        let left_out = imported.notes.unknown_frees;
        let events = imported.trace.events().len() as u64;
        prop_assert!(events + left_out >= board.events);
    }

    #[test]
    fn any_bytes_are_imported_or_refused_in_one_line(
        bytes in prop::collection::vec(proptest::prop_oneof![any::<u8>(), proptest::strategy::Just(0x7e)], 0..400),
        text in "(v 1 3\n)?([+-] [0-9a-f]{1,3}( 1 [0-9]{1,2})?\n){0,20}[+-]?",
    ) {
        for bytes in [&bytes[..], text.as_bytes()] {
            if let Err(error) = import(bytes) {
                prop_assert!(!error.to_string().contains('\n'));
            }
        }
    }
}
