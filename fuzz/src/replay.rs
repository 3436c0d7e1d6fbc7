//! Recordings of arbitrary bytes, replayed in every space: each completes or runs out of room, and
//! no reference dangles.

use std::mem::MaybeUninit;

use surefit_clients::java::{Finds, Lists, Options, Program, Space, Stopped};
use surefit_freelist::When;
use surefit_gc::CompactFit;
use surefit_trace::TraceError;
use surefit_trace::graph::{Reader, Stats};

use crate::input::Input;

/// Objects and references of a recording that is replayed; longer ones take too long.
const MOST: u64 = 4096;

/// Reads an input's recording and replays it in a space of the input's choice.
pub fn run(data: &[u8]) {
    let (choices, bytes) = data.split_at(data.len().min(6));
    let mut input = Input::new(choices);
    let Ok(stats) = Reader::new(bytes).and_then(Stats::read) else {
        return;
    };
    if stats.allocations + stats.found + stats.references + stats.class_level > MOST {
        return;
    }
    let read: Result<_, TraceError> = Program::read(|| Reader::new(bytes));
    let program = read.expect("sound, so it can be read again");
    assert_eq!(program.allocations(), stats.allocations);
    let options = Options {
        check: true,
        large_from: [0, 64, 4096, usize::MAX][input.below(4)],
        ..Options::default()
    };
    let (space, length) = (space(&mut input), input.number() * 8);
    let mut region = vec![MaybeUninit::uninit(); length];
    match space.replay(&program, &mut region, &options) {
        Ok(outcome) => assert!(outcome.totals.allocations >= stats.allocations),
        Err(wrong @ Stopped::Corrupt { .. }) => panic!("{wrong}"),
        Err(Stopped::Region(_) | Stopped::Full { .. }) => {}
    }
}

fn space(input: &mut Input<'_>) -> Space {
    let lists = |finds, merges, is_tree, count| {
        Space::Segregated(Lists {
            finds,
            merges,
            is_tree,
            count,
        })
    };
    match input.below(9) {
        0 => Space::FirstFit,
        1 => Space::NextFit,
        2 => Space::TreeFit,
        3 => Space::HalfFit,
        4 => Space::Tlsf,
        5 => lists(Finds::Scan, When::Never, false, 256),
        6 => lists(Finds::NextHitTable, When::Deferred, true, 256),
        7 => lists(Finds::Bitmap, When::Immediate, true, 16),
        _ => Space::CompactFit(Box::new(CompactFit::CONFIG)),
    }
}
