//! The longest way of small functions that were assembled by hand.

use std::path::PathBuf;

use crate::annotation::{Called, Fact, Known, LoopBound, NotCalled, Place};
use crate::image::Image;
use crate::longest;

/// Two lines that instructions of the tests come from.
const FIRST: Place = here("name = \"surefit-bound\"");
const SECOND: Place = here("edition = \"2024\"");

const fn here(text: &'static str) -> Place {
    Place {
        file: "bound/Cargo.toml",
        text,
    }
}

/// A listing of functions: a name, and instructions of two bytes each.
pub fn listing(functions: &[(&str, &[&str])]) -> String {
    let mut text = String::new();
    let mut address = 0x10;
    for (name, lines) in functions {
        text += &format!("{address:08x} <{name}>:\n");
        for line in *lines {
            text += &format!("  {address:x}:\t0000      \t{line}\n");
            address += 2;
        }
    }
    text
}

/// The instructions of the longest way of the first function; `lines` says which instructions come
/// from which place.
fn longest(
    functions: &[(&str, &[&str])],
    lines: &[(u32, Place)],
    known: &Known,
    per_byte: f64,
) -> anyhow::Result<u32> {
    let mut image = Image::of(&listing(functions))?;
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
    let text = std::fs::read_to_string(&path)?;
    for &(address, place) in lines {
        let line = text.lines().position(|line| line.contains(place.text));
        image.note(address, (path.clone(), line.expect("a place") as u32 + 1));
    }
    let root = image.at(0x10)?.clone();
    let reached = image.reached(&root, known, "")?;
    Ok(longest::of(&image, &reached, known, "", per_byte)?.instructions)
}

fn plain(functions: &[(&str, &[&str])]) -> anyhow::Result<u32> {
    longest(functions, &[], &Known::NOTHING, 0.0)
}

/// 10: one way has 3 instructions more.
const DIAMOND: &[&str] = &[
    "cmp\tr0, #0",
    "beq.n\t1a <f>",
    "nop",
    "nop",
    "b.n\t1c <f>",
    "nop",
    "bx\tlr",
];

/// 12 to 16: a loop.
const LOOP: &[&str] = &[
    "movs\tr0, #9",
    "nop",
    "subs\tr0, #1",
    "bne.n\t12 <f>",
    "bx\tlr",
];

const TEN_TIMES: LoopBound = LoopBound {
    place: FIRST,
    most: 9,
    bytes: 0,
    begins: false,
    because: "a test",
};

#[test]
fn the_longer_way_counts() {
    assert_eq!(plain(&[("f", DIAMOND)]).expect("a bound"), 6);
}

#[test]
fn a_loop_counts_as_often_as_its_bound_says() {
    let known = Known {
        loops: &[TEN_TIMES],
        ..Known::NOTHING
    };
    let bound = longest(&[("f", LOOP)], &[(0x12, FIRST)], &known, 0.0);
    assert_eq!(bound.expect("a bound"), 1 + 10 * 3 + 1);
}

#[test]
fn a_loop_without_a_bound_is_an_error() {
    let error = plain(&[("a::f", LOOP)]).expect_err("no bound");
    assert!(
        error
            .to_string()
            .contains("no bound of the loop at 0x12 of a::f"),
        "{error}"
    );
}

#[test]
fn a_bound_of_two_loops_is_an_error() {
    let twice: &[&str] = &["nop", "bne.n\t10 <f>", "nop", "bne.n\t14 <f>", "bx\tlr"];
    let known = Known {
        loops: &[TEN_TIMES],
        ..Known::NOTHING
    };
    let error = longest(
        &[("f", twice)],
        &[(0x10, FIRST), (0x14, FIRST)],
        &known,
        0.0,
    );
    let error = error.expect_err("two loops").to_string();
    assert!(error.contains("is in two loops of f"), "{error}");
}

#[test]
fn only_a_loop_that_retries_a_store_needs_no_bound() {
    let known = Known {
        retries: "a test",
        ..Known::NOTHING
    };
    let retry = |inside| {
        let lines: &[&str] = &[
            "ldrex\tr1, [r0]",
            inside,
            "strex\tr2, r1, [r0]",
            "cmp\tr2, #0",
            "bne.n\t10 <f>",
            "bx\tlr",
        ];
        longest(&[("f", lines)], &[], &known, 0.0)
    };
    assert_eq!(retry("adds\tr1, #1").expect("a bound"), 6);
    assert!(retry("str\tr1, [r3]").is_err());
    assert!(plain(&[("f", LOOP)]).is_err());
}

#[test]
fn two_bounds_of_a_loop_are_an_error() {
    const TWICE: LoopBound = LoopBound {
        place: SECOND,
        most: 1,
        ..TEN_TIMES
    };
    let known = Known {
        loops: &[TEN_TIMES, TWICE],
        ..Known::NOTHING
    };
    let lines = [(0x12, FIRST), (0x14, SECOND)];
    let error = longest(&[("a::f", LOOP)], &lines, &known, 0.0).expect_err("which one?");
    assert!(
        error
            .to_string()
            .contains("several bounds of the loop at 0x12 of a::f"),
        "{error}"
    );
}

#[test]
fn a_loop_that_must_begin_at_its_place_does() {
    let known = Known {
        loops: &[LoopBound {
            begins: true,
            ..TEN_TIMES
        }],
        ..Known::NOTHING
    };
    // The head has a second block behind it, of which the place is.
    let lines: &[&str] = &[
        "movs\tr0, #9",
        "nop",
        "beq.n\t1a <f>",
        "subs\tr0, #1",
        "b.n\t12 <f>",
        "bx\tlr",
    ];
    assert!(longest(&[("f", lines)], &[(0x12, FIRST)], &known, 0.0).is_ok());
    let error = longest(&[("f", lines)], &[(0x16, FIRST)], &known, 0.0).expect_err("turned");
    assert!(error.to_string().contains("does not begin at"), "{error}");
}

/// 10 to 18: an inner loop at 12 and 14 within an outer one.
const NESTED: &[&str] = &["nop", "nop", "bne.n\t12 <f>", "bne.n\t10 <f>", "bx\tlr"];

#[test]
fn an_inner_loop_counts_for_each_time_of_the_outer_one() {
    const INNER: LoopBound = LoopBound {
        place: SECOND,
        most: 2,
        ..TEN_TIMES
    };
    let known = Known {
        loops: &[TEN_TIMES, INNER],
        ..Known::NOTHING
    };
    let bound = longest(
        &[("f", NESTED)],
        &[(0x10, FIRST), (0x12, SECOND)],
        &known,
        0.0,
    );
    assert_eq!(bound.expect("a bound"), 10 * (1 + 3 * 2 + 1) + 1);
}

#[test]
fn a_loop_that_is_entered_in_two_places_is_an_error() {
    // Over the first instruction of the loop, or through it.
    let lines: &[&str] = &[
        "cbz\tr0, 14 <f>",
        "nop",
        "subs\tr0, #1",
        "bne.n\t12 <f>",
        "bx\tlr",
    ];
    let error = plain(&[("f", lines)]).expect_err("two heads").to_string();
    assert!(
        error.contains("f: a loop that is entered in 2 places"),
        "{error}"
    );
}

#[test]
fn a_call_of_what_is_no_function_is_an_error() {
    let into: &[(&str, &[&str])] = &[
        ("a::f", &["cbz\tr0, 14 <f>", "bl\t18 <a::g+0x2>", "bx\tlr"]),
        ("a::g", &["nop", "nop", "bx\tlr"]),
    ];
    let behind: &[(&str, &[&str])] = &[(
        "a::f",
        &["cbz\tr0, 14 <f>", "b.n\t40 <a::f+0x30>", "bx\tlr"],
    )];
    for functions in [into, behind] {
        let error = format!("{:#}", plain(functions).expect_err("no function"));
        assert!(error.contains("where no function begins"), "{error}");
    }
    // Also if it is called by a function that is called.
    let deep: &[(&str, &[&str])] = &[
        ("a::f", &["cbz\tr0, 14 <f>", "bl\t16 <a::g>", "bx\tlr"]),
        ("a::g", &["b.n\t40 <a::g+0x2a>"]),
    ];
    let error = format!("{:#}", plain(deep).expect_err("no function"));
    assert!(error.contains("where no function begins"), "{error}");
}

#[test]
fn a_way_through_the_end_of_a_function_is_an_error() {
    let functions: &[(&str, &[&str])] = &[
        ("a::f", &["cbz\tr0, 14 <f>", "bl\t16 <a::g>", "bx\tlr"]),
        ("a::g", &["nop"]),
        ("a::h", &["nop", "bx\tlr"]),
    ];
    let error = plain(functions)
        .expect_err("into the next function")
        .to_string();
    assert!(error.contains("a::g: no instruction at 0x18"), "{error}");
}

#[test]
fn copied_bytes_are_left_out() {
    let known = Known {
        loops: &[LoopBound {
            bytes: 4,
            ..TEN_TIMES
        }],
        ..Known::NOTHING
    };
    let at =
        |per_byte| longest(&[("f", LOOP)], &[(0x12, FIRST)], &known, per_byte).expect("a bound");
    // Three instructions for four bytes: at one for each byte, no iteration but the first counts.
    assert_eq!(at(0.75), 1 + 3 + 1);
    assert_eq!(at(1.0), 1 + 3 + 1);
    assert_eq!(at(0.5), 1 + 3 + 9 + 1);
}

#[test]
fn instructions_under_a_condition_count() {
    let lines: &[&str] = &[
        "cmp\tr0, #0",
        "itt\tne",
        "movne\tr0, #1",
        "bxne\tlr",
        "nop",
        "bx\tlr",
    ];
    assert_eq!(plain(&[("f", lines)]).expect("a bound"), 6);
}

#[test]
fn a_table_of_targets_leads_to_all_of_them() {
    let text = "00000010 <f>:\n  10:\te8df f000 \ttbb\t[pc, r0]\n  14:\t0301      \t.short\t0x0301\n  \
                16:\t4770      \tbx\tlr\n  18:\t0000      \tnop\n  1a:\t0000      \tnop\n  \
                1c:\t4770      \tbx\tlr\n";
    let image = Image::of(text).expect("a listing");
    let reached = image
        .reached(image.at(0x10).expect("f"), &Known::NOTHING, "")
        .expect("a graph");
    assert_eq!(reached.graphs[0].blocks[0].next.len(), 2);
    let bound = longest::of(&image, &reached, &Known::NOTHING, "", 0.0).expect("a bound");
    // The entries are 1 and 3, in steps of two bytes behind the instruction.
    assert_eq!(bound.instructions, 3);
}

#[test]
fn a_function_counts_each_time_it_is_called() {
    let caller: &[&str] = &["bl\t18 <g>", "bl\t18 <g>", "nop", "b.n\t18 <g>"];
    let functions: &[(&str, &[&str])] = &[("f", caller), ("a::g", &["nop", "bx\tlr"])];
    assert_eq!(plain(functions).expect("a bound"), 4 + 3 * 2);
    let once = Known {
        called: &[Called {
            events: &[],
            function: "a::g",
            least: 0,
            most: 1,
            because: "a test",
        }],
        ..Known::NOTHING
    };
    // Three calls lie on the only way.
    assert!(longest(functions, &[], &once, 0.0).is_err());
}

#[test]
fn ways_that_never_return_are_left_out() {
    let lines: &[&str] = &[
        "cbz\tr0, 16 <f>",
        "nop",
        "bx\tlr",
        "nop",
        "nop",
        "bl\t1c <stop>",
    ];
    let functions: &[(&str, &[&str])] = &[
        ("f", lines),
        ("a::stop", &["bkpt\t0x00ab", "b.n\t1c <stop>"]),
    ];
    assert_eq!(plain(functions).expect("a bound"), 3);
}

#[test]
fn what_is_not_called_is_left_out() {
    let lines: &[&str] = &["cbz\tr0, 16 <f>", "nop", "bx\tlr", "bl\t1a <g>", "bx\tlr"];
    let functions: &[(&str, &[&str])] = &[("f", lines), ("a::g", &["nop", "nop", "bx\tlr"])];
    assert_eq!(plain(functions).expect("a bound"), 6);
    let known = Known {
        not_called: &[NotCalled {
            events: &[],
            function: "a::g",
            from: "",
            because: "a test",
        }],
        ..Known::NOTHING
    };
    assert_eq!(longest(functions, &[], &known, 0.0).expect("a bound"), 3);
}

#[test]
fn two_places_that_exclude_each_other_do_not_both_count() {
    // Twice a branch over two instructions.
    let lines: &[&str] = &[
        "cbz\tr0, 16 <f>",
        "nop",
        "nop",
        "cbz\tr1, 1c <f>",
        "nop",
        "nop",
        "bx\tlr",
    ];
    let at = [(0x12, FIRST), (0x14, FIRST), (0x18, SECOND), (0x1a, SECOND)];
    assert_eq!(
        longest(&[("f", lines)], &at, &Known::NOTHING, 0.0).expect("a bound"),
        7
    );
    let known = Known {
        facts: &[Fact {
            events: &[],
            places: &[FIRST, SECOND],
            most: 1,
            because: "a test",
        }],
        ..Known::NOTHING
    };
    assert_eq!(
        longest(&[("f", lines)], &at, &known, 0.0).expect("a bound"),
        5
    );
}

#[test]
fn recursion_and_indirect_calls_are_errors() {
    let error =
        plain(&[("f", &["cbz\tr0, 14 <f>", "bl\t10 <f>", "bx\tlr"])]).expect_err("recursion");
    assert!(error.to_string().contains("recursion: f"), "{error}");
    let error = plain(&[("f", &["blx\tr3", "bx\tlr"])]).expect_err("an indirect call");
    assert!(
        format!("{error:#}").contains("a call of what a register says"),
        "{error:#}"
    );
}
