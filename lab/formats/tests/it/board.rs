//! Recordings of boards, hand-made: what the hook in C sends, and each kind of loss by itself.

use surefit_formats::import::{BoardNotes, Kind, Notes};
use surefit_trace::{Align, Call as By, Event, Op};

use crate::import;
use crate::model;
use crate::sender::{Call, frame, frames};

/// The program that tests the hook in C has the bytes that it must send.
const HOOK_TEST: &str = include_str!("../../../../crates/surefit-c/tests/c/trace/main.c");

fn bytes_of_the_hook() -> Vec<u8> {
    let (_, after) = HOOK_TEST.split_once("expected[] = {").expect("the bytes");
    let (bytes, _) = after.split_once("};").expect("their end");
    let without_comments = bytes
        .lines()
        .map(|line| line.split("/*").next().unwrap_or_default());
    let digits = without_comments.flat_map(|line| line.split("0x").skip(1));
    digits
        .map(|text| u8::from_str_radix(&text[..2], 16).expect("two digits"))
        .collect()
}

#[test]
fn what_the_hook_in_c_sends_is_read() {
    let imported = import(&bytes_of_the_hook()).expect("a recording");
    let alloc = |id, size, call| Op::Alloc { id, size, call };
    let align = Align::new(64).expect("a power of two");
    let expected = [
        (0, alloc(0, 40, By::Malloc)),
        (0, alloc(1, 125, By::Calloc)),
        (1, alloc(2, 1000, By::Aligned(align))),
        (
            1,
            Op::Realloc {
                id: 0,
                size: 70_000,
            },
        ),
        (2, Op::Free { id: 1 }),
        (2, alloc(3, 0, By::Malloc)),
        (2, Op::Free { id: 3 }),
    ];
    let expected = expected.map(|(thread, op)| Event::new(thread, op));
    assert_eq!(imported.trace.events(), expected);
    assert_eq!(imported.kind, Kind::Board);
    assert_eq!(imported.notes, whole(7));
}

#[test]
fn the_sender_of_these_tests_sends_the_same() {
    let calls = [
        Call::Begin,
        Call::Malloc {
            thread: 0,
            address: 0,
            size: 40,
        },
        Call::Calloc {
            thread: 0,
            address: 0x7e,
            size: 125,
        },
        Call::Aligned {
            thread: 3,
            log2: 6,
            address: 0x1000,
            size: 1000,
        },
        Call::Realloc {
            thread: 3,
            old: 0,
            address: 0x4000,
            size: 70_000,
        },
        Call::Free {
            thread: 40,
            address: 0x7e,
        },
        Call::Malloc {
            thread: 40,
            address: 8,
            size: 0,
        },
        Call::Free {
            thread: 40,
            address: 8,
        },
    ];
    assert_eq!(frames(&calls).concat(), bytes_of_the_hook());
}

/// The notes of a recording of which nothing was lost.
fn whole(events: u64) -> Notes {
    let board = BoardNotes {
        events,
        ..BoardNotes::default()
    };
    Notes {
        board: Some(board),
        ..Notes::default()
    }
}

fn notes(stream: &[Vec<u8>]) -> (Vec<Event>, Notes, BoardNotes) {
    let imported = import(&stream.concat()).expect("a recording");
    let board = imported.notes.board.expect("a board's");
    (imported.trace.events().to_vec(), imported.notes, board)
}

/// Objects 0 to 9 at 0, 100, 200 …, each of 50 bytes, then their frees.
fn ten() -> Vec<Call> {
    let alloc = |n: u64| Call::Malloc {
        thread: 0,
        address: n * 100,
        size: 50,
    };
    let free = |n: u64| Call::Free {
        thread: 0,
        address: n * 100,
    };
    let calls = std::iter::once(Call::Begin);
    calls
        .chain((0..10).map(alloc))
        .chain((0..10).map(free))
        .collect()
}

#[test]
fn a_lost_allocation_leaves_a_free_of_nobody() {
    let calls = ten();
    let mut sent = frames(&calls);
    sent.remove(3);
    let (events, notes, board) = notes(&sent);
    assert_eq!(
        (events.len(), notes.unknown_frees, notes.overlapping),
        (18, 1, 0)
    );
    assert_eq!(
        board,
        BoardNotes {
            events: 19,
            lost_events: 1,
            ..BoardNotes::default()
        }
    );
}

#[test]
fn a_lost_free_is_put_before_what_takes_the_place() {
    let mut calls = ten();
    calls.push(Call::Malloc {
        thread: 0,
        address: 90,
        size: 200,
    });
    let mut sent = frames(&calls);
    sent.drain(12..14); // the frees of objects 1 and 2
    let (events, notes, board) = notes(&sent);
    assert_eq!((notes.overlapping, board.lost_events), (2, 2));
    let frees: Vec<_> = events[events.len() - 3..events.len() - 1]
        .iter()
        .map(|it| it.op())
        .collect();
    assert_eq!(frees, [Op::Free { id: 2 }, Op::Free { id: 1 }]);
    assert_eq!(events.len(), 21);
}

#[test]
fn a_reallocation_makes_a_lost_object_known() {
    let calls = [
        Call::Begin,
        Call::Malloc {
            thread: 0,
            address: 8,
            size: 1,
        },
        Call::Realloc {
            thread: 0,
            old: 8,
            address: 64,
            size: 9,
        },
        Call::Free {
            thread: 0,
            address: 64,
        },
    ];
    let mut sent = frames(&calls);
    sent.remove(1);
    let (events, notes, board) = notes(&sent);
    assert_eq!(events.len(), 2);
    assert_eq!(
        (notes.unknown_frees, board.found_objects, board.lost_events),
        (0, 1, 1)
    );
}

#[test]
fn other_output_between_frames_costs_nothing() {
    let calls = ten();
    let texts = [&b"boot\r\n"[..], b"~", b"}", b"~~}", b"", b"\xff\x00"];
    let sent: Vec<_> = frames(&calls)
        .into_iter()
        .zip(texts.iter().cycle())
        .flat_map(|(frame, text)| [frame, text.to_vec()])
        .collect();
    let (events, _, board) = notes(&sent);
    assert_eq!(events, model::events(&calls));
    assert_eq!((board.events, board.lost_events), (20, 0));
    assert!(board.damaged_pieces > 0 && board.damaged_bytes > 0);
}

#[test]
fn what_comes_again_is_left_out() {
    let calls = ten();
    let sent = frames(&calls);
    let mut twice = sent[..8].to_vec();
    twice.extend_from_slice(&sent[4..]);
    let (events, _, board) = notes(&twice);
    assert_eq!(events, model::events(&calls));
    assert_eq!(
        (board.events, board.lost_events, board.repeated_events),
        (20, 0, 4)
    );
}

#[test]
fn one_flag_between_two_frames_is_enough() {
    let calls = ten();
    let mut bytes = vec![0x7e];
    for frame in frames(&calls) {
        bytes.extend_from_slice(&frame[1..]);
    }
    let (events, notes, _) = notes(&[bytes]);
    assert_eq!((events, notes), (model::events(&calls), whole(20)));
}

#[test]
fn a_reader_that_comes_late_counts_what_it_missed() {
    let calls = ten();
    let (events, notes, board) = notes(&frames(&calls)[5..]);
    assert_eq!(board.lost_events, 5);
    assert_eq!((events.len(), notes.unknown_frees), (6 + 6, 4));
}

#[test]
fn a_board_that_begins_anew_has_an_empty_heap() {
    let calls = [ten()[..6].to_vec(), ten()].concat();
    let first = frames(&calls[..6]);
    let (events, _, board) = notes(&[first.clone(), frames(&ten())].concat());
    assert_eq!(events, model::events(&calls));
    assert_eq!(
        (board.restarts, board.lost_events, board.events),
        (1, 0, 25)
    );
    // The same, and the frame that says so is lost; the calls of the second run differ.
    let mut second = ten();
    for call in &mut second {
        if let Call::Malloc { size, .. } = call {
            *size += 1;
        }
    }
    let calls = [&calls[..6], &second].concat();
    let (events, _, board) = notes(&[&first[..], &frames(&second)[1..]].concat());
    assert_eq!(events, model::events(&calls));
    assert_eq!((board.restarts, board.lost_events), (1, 1));
}

#[test]
fn a_number_that_cannot_be_is_damage_that_the_check_sequence_missed() {
    let calls = ten();
    for number in [3, 400_000, u32::MAX] {
        let mut sent = frames(&calls);
        sent.insert(
            9,
            frame(
                number,
                Call::Free {
                    thread: 9,
                    address: 300,
                },
            ),
        );
        let (events, _, board) = notes(&sent);
        assert_eq!(events, model::events(&calls), "{number}");
        assert_eq!(
            (board.lost_events, board.damaged_pieces),
            (0, 1),
            "{number}"
        );
    }
}

#[test]
fn numbers_go_on_after_the_largest() {
    let calls = ten();
    let numbers = (u32::MAX - 9..=u32::MAX).chain(0..11);
    let sent: Vec<_> = numbers
        .zip(&calls[1..])
        .map(|(number, call)| frame(number, *call))
        .collect();
    let (events, _, board) = notes(&sent);
    assert_eq!(events, model::events(&calls));
    assert_eq!(
        (board.lost_events, board.restarts),
        (u64::from(u32::MAX - 9), 0)
    );
}

#[test]
fn addresses_and_sizes_at_the_ends_of_what_they_can_be() {
    let calls = [
        Call::Malloc {
            thread: 70_000,
            address: u64::MAX,
            size: 0,
        },
        Call::Malloc {
            thread: 0,
            address: u64::MAX - 9,
            size: 1 << 48,
        },
        Call::Malloc {
            thread: u64::MAX,
            address: u64::MAX,
            size: 5,
        },
        Call::Free {
            thread: 0,
            address: u64::MAX,
        },
    ];
    let (events, notes, board) = notes(&frames(&calls));
    assert_eq!(
        board,
        BoardNotes {
            events: 4,
            ..BoardNotes::default()
        }
    );
    assert_eq!((events.len(), notes.overlapping), (6, 2));
    // One byte more is no request.
    let mut sent = frames(&ten());
    sent.push(frame(
        21,
        Call::Malloc {
            thread: 0,
            address: 0,
            size: (1 << 48) + 1,
        },
    ));
    sent.push(frame(
        22,
        Call::Aligned {
            thread: 0,
            log2: 31,
            address: 0,
            size: 1,
        },
    ));
    let imported = import(&sent.concat()).expect("a recording");
    assert_eq!(imported.notes.board.map(|it| it.damaged_pieces), Some(2));
}

/// A file without an end is no recording after some megabytes.
#[test]
fn what_has_no_frames_is_given_up() {
    use surefit_formats::import::{ImportError, Importer};
    for byte in [0, 0x7e, 0x7d] {
        let mut importer = Importer::new(Box::new(std::io::repeat(byte))).expect("it may be one");
        let error = importer.next_event().expect_err("no frame");
        assert!(
            matches!(error, ImportError::Unknown { sound: 0, .. }),
            "{error}"
        );
    }
}
