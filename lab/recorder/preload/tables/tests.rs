//! The reading of tables: examples written by hand, every function of this program, and hostile
//! bytes.

use std::fs;

use object::{Object as _, ObjectSection as _};

use super::bytes::{Cursor, Encoding, Part};
use super::rule::{BITS, Frame, Rule};
use super::{entry, header, program, rule};

/// Where the bytes of examples lie.
const START: usize = 0x1_0000;

/// The function of the example.
const FUNCTION: usize = 0x2_0000;
const FUNCTION_BYTES: u32 = 100;

/// A sorted table, what is shared, and one function with this program.
fn example(letters: &[u8], data: &[u8], shared: &[u8], own: &[u8]) -> (Vec<u8>, usize) {
    let mut bytes = Vec::new();
    // What is shared: steps of 1 and −8, and register 16.
    let mut body = vec![0, 0, 0, 0, 1];
    body.extend_from_slice(letters);
    body.extend_from_slice(&[0, 1, 0x78, 16]);
    body.extend_from_slice(data);
    body.extend_from_slice(shared);
    bytes.extend_from_slice(&length(&body));
    bytes.extend_from_slice(&body);
    let entry = bytes.len();
    let mut body = u32::try_from(entry + 4)
        .expect("small")
        .to_le_bytes()
        .to_vec();
    body.extend_from_slice(&(FUNCTION as u64).to_le_bytes());
    body.extend_from_slice(&u64::from(FUNCTION_BYTES).to_le_bytes());
    if letters.first() == Some(&b'z') {
        body.push(0);
    }
    body.extend_from_slice(own);
    bytes.extend_from_slice(&length(&body));
    bytes.extend_from_slice(&body);
    let header = bytes.len();
    bytes.extend_from_slice(&[1, 0x1b, 3, 0x3b, 0, 0, 0, 0, 1, 0, 0, 0]);
    for to in [FUNCTION, START + entry] {
        let from =
            i64::try_from(to).expect("small") - i64::try_from(START + header).expect("small");
        bytes.extend_from_slice(&i32::try_from(from).expect("near").to_le_bytes());
    }
    (bytes, START + header)
}

fn length(body: &[u8]) -> [u8; 4] {
    u32::try_from(body.len()).expect("small").to_le_bytes()
}

/// The rule of the example for a call so many bytes into the function.
fn rule_at(shared: &[u8], own: &[u8], into: usize) -> Option<Rule> {
    let (bytes, header) = example(b"", &[], shared, own);
    rule(Part::new(START, &bytes), header, FUNCTION + into + 1)
}

fn frame(from_frame_pointer: bool, end: i64, saved: Option<i64>) -> Option<Rule> {
    Frame::new(from_frame_pointer, end, saved).map(Rule::Frame)
}

/// At the beginning: the stack pointer plus 8, the return address below.
const USUAL: &[u8] = &[0x0c, 7, 8, 0x90, 1];

#[test]
fn a_prologue_is_followed_instruction_by_instruction() {
    // push rbp; mov rbp, rsp; …; leave
    let own = [
        0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x02, 50, 0x0a, 0xc6, 0x0c, 7, 8, 0x41, 0x0b,
    ];
    let at = |into| rule_at(USUAL, &own, into);
    assert_eq!(at(0), frame(false, 8, None));
    assert_eq!(at(1), frame(false, 16, Some(-16)));
    assert_eq!(at(3), frame(false, 16, Some(-16)));
    assert_eq!(at(4), frame(true, 16, Some(-16)));
    assert_eq!(at(53), frame(true, 16, Some(-16)));
    assert_eq!(at(54), frame(false, 8, None));
    // What was remembered holds again.
    assert_eq!(at(55), frame(true, 16, Some(-16)));
    assert_eq!(at(99), frame(true, 16, Some(-16)));
    assert_eq!(at(100), None);
    // A call that is the last instruction returns to the next function.
    let (bytes, header) = example(b"", &[], USUAL, &own);
    let part = Part::new(START, &bytes);
    assert_eq!(rule(part, header, FUNCTION), None);
    assert_eq!(
        rule(part, header, FUNCTION + 100),
        frame(true, 16, Some(-16))
    );
}

#[test]
fn what_is_no_plain_frame_is_left_to_others() {
    let other = Some(Rule::Other);
    // By an expression, from another register, at no whole words, the return address elsewhere.
    assert_eq!(rule_at(USUAL, &[0x0f, 2, 0x77, 8], 0), other);
    assert_eq!(rule_at(USUAL, &[0x0c, 10, 0], 0), other);
    assert_eq!(rule_at(USUAL, &[0x0e, 12], 0), other);
    assert_eq!(rule_at(USUAL, &[0x90, 2], 0), other);
    assert_eq!(rule_at(USUAL, &[0x10, 6, 1, 0x30], 0), other);
    assert_eq!(rule_at(USUAL, &[0x87, 3], 0), other);
    // The frame pointer in place of the return address.
    assert_eq!(rule_at(USUAL, &[0x86, 1], 0), other);
    // Larger than a rule can say; and just not.
    assert_eq!(rule_at(USUAL, &[0x0e, 0x80, 0x80, 0x80, 1], 0), other);
    assert_eq!(
        rule_at(USUAL, &[0x0e, 0xf8, 0xff, 0x7f], 0),
        frame(false, (1 << 21) - 8, None)
    );
    // Nobody called it.
    assert_eq!(rule_at(USUAL, &[0x07, 16], 0), Some(Rule::Last));
    // Other registers do not matter.
    assert_eq!(
        rule_at(USUAL, &[0x83, 4, 0x16, 3, 1, 0x30, 0x2e, 5], 0),
        frame(false, 8, None)
    );
}

#[test]
fn letters_say_what_there_is_more() {
    let with = |letters: &[u8], data: &[u8]| {
        let (bytes, header) = example(letters, data, USUAL, &[]);
        rule(Part::new(START, &bytes), header, FUNCTION + 1)
    };
    assert_eq!(with(b"z", &[0]), frame(false, 8, None));
    assert_eq!(
        with(b"zPLR", &[7, 3, 1, 2, 3, 4, 0x1b, 0]),
        frame(false, 8, None)
    );
    assert_eq!(with(b"zS", &[0]), Some(Rule::Other));
    assert_eq!(with(b"zX", &[0]), Some(Rule::Other));
    assert_eq!(with(b"eh", &[]), Some(Rule::Other));
}

#[test]
fn wrong_programs_are_left_to_others() {
    for wrong in [
        &[0x0b][..],
        &[0x0a; 9],
        &[0x3f],
        &[0x0f, 0xff, 0xff, 0x03],
        &[0x0e],
        &[
            0x0c, 7, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1,
        ],
        &[
            0x05, 6, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f,
        ],
        &[
            0x2f, 6, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1,
        ],
    ] {
        assert_eq!(rule_at(USUAL, wrong, 0), Some(Rule::Other), "{wrong:x?}");
    }
}

#[test]
fn numbers_are_read_as_they_are_written() {
    let read = |bytes: &[u8]| {
        let cursor = || Part::new(0, bytes).at(0).expect("the beginning");
        (cursor().unsigned(), cursor().signed())
    };
    assert_eq!(read(&[0x02]), (Some(2), Some(2)));
    assert_eq!(read(&[0x7f]), (Some(127), Some(-1)));
    assert_eq!(read(&[0x80, 0x7f]), (Some(16256), Some(-128)));
    assert_eq!(read(&[0xff; 9]), (None, None));
    let most = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
    assert_eq!(read(&most).0, Some(u64::MAX));
    let pointer = |encoding, bytes: &[u8]| {
        let mut cursor: Cursor<'_> = Part::new(1000, bytes).at(1000).expect("the beginning");
        cursor.pointer(Encoding(encoding))
    };
    assert_eq!(pointer(0x1b, &[0xff, 0xff, 0xff, 0xff]), Some(999));
    assert_eq!(pointer(0x12, &[1, 0]), Some(1001));
    assert_eq!(pointer(0x9b, &[0; 8]), None);
    assert_eq!(pointer(0xff, &[0; 8]), None);
}

#[test]
fn rules_survive_their_bits() {
    for rule in [
        frame(false, 8, None),
        frame(true, 16, Some(-16)),
        frame(false, (1 << 21) - 8, Some(-8184)),
        Some(Rule::Last),
        Some(Rule::Other),
    ] {
        let rule = rule.expect("it can be written");
        assert_eq!(Rule::from_bits(rule.bits()), rule);
        assert!(rule.bits() >> BITS == 0 && rule.bits() != 0);
    }
    let largest = Frame::new(false, (1 << 21) - 8, Some(-8184)).expect("it can be written");
    assert_eq!((largest.bytes(), largest.saved()), ((1 << 21) - 8, 8184));
    assert_eq!(Frame::new(false, 0, None), None);
    assert_eq!(Frame::new(false, 1 << 21, None), None);
    assert_eq!(Frame::new(false, 16, Some(-8)), None);
    assert_eq!(Frame::new(false, 16, Some(-8192)), None);
    assert_eq!(Frame::new(false, 16, Some(i64::MIN)), None);
    assert_eq!(Frame::new(false, -8, None), None);
}

/// The tables of this program's file: two sections that are read as one part.
fn own_tables() -> (Vec<u8>, usize, usize, Vec<(usize, usize)>) {
    let own = fs::read(std::env::current_exe().expect("a file")).expect("it can be read");
    let file = object::File::parse(&*own).expect("a program");
    let section = |name| {
        let section = file.section_by_name(name).expect("it has one");
        let at = usize::try_from(section.address()).expect("an address");
        (at, section.data().expect("bytes").to_vec())
    };
    let (header, sorted) = section(".eh_frame_hdr");
    let (frames, entries) = section(".eh_frame");
    let start = header.min(frames);
    let end = (header + sorted.len()).max(frames + entries.len());
    let mut bytes = vec![0; end - start];
    bytes[header - start..][..sorted.len()].copy_from_slice(&sorted);
    bytes[frames - start..][..entries.len()].copy_from_slice(&entries);
    let lines = sorted[12..].chunks_exact(8).map(|line| {
        let number = |at: usize| i32::from_le_bytes(line[at..at + 4].try_into().expect("four"));
        let from = |number: i32| header.wrapping_add_signed(number as isize);
        (from(number(0)), from(number(4)))
    });
    (bytes, start, header, lines.collect())
}

#[test]
fn every_function_of_this_program_has_a_rule() {
    let (bytes, start, header, lines) = own_tables();
    let part = Part::new(start, &bytes);
    let mut frames = 0;
    for (function, described) in &lines {
        assert_eq!(header::find(part, header, *function), Some(*described));
        let entry = entry::read(part, *described).expect("an entry");
        assert!(entry.holds(*function));
        let rule = program::run(&entry, *function);
        assert!(rule.is_some(), "{function:x}");
        frames += usize::from(matches!(rule, Some(Rule::Frame(_))));
    }
    assert!(
        lines.len() > 1000 && frames * 100 > lines.len() * 99,
        "{frames} of {}",
        lines.len()
    );
}

#[test]
fn hostile_tables_neither_panic_nor_run_on() {
    let (bytes, start, header, lines) = own_tables();
    let mut state = 1_u64;
    let mut random = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(state >> 33).expect("31 bits") % below
    };
    // Some thousand functions of the file, with bytes changed near what is read, or the end cut
    // off.
    for _ in 0..20_000 {
        let (function, described) = lines[random(lines.len())];
        let near = [described - start, described - start, header - start][random(3)];
        let from = near.saturating_sub(random(64));
        let mut broken = bytes[from.min(described - start).saturating_sub(4096)..].to_vec();
        broken.truncate(1 << 14);
        let begins = from.min(described - start).saturating_sub(4096) + start;
        for _ in 0..=random(4) {
            let at = (near + start - begins + random(40)).min(broken.len() - 1);
            broken[at] = u8::try_from(random(256)).expect("a byte");
        }
        broken.truncate(broken.len() - random(broken.len()) / (1 + random(50)));
        let part = Part::new(begins, &broken);
        let _ = rule(part, header, function + random(64));
        if let Some(entry) = entry::read(part, described) {
            let _ = program::run(&entry, function + random(64));
        }
    }
    // Nothing but chance.
    for _ in 0..20_000 {
        let (mut example, header) = example(b"zR", &[1, 0], USUAL, &[0; 40]);
        for _ in 0..=random(8) {
            let at = random(example.len());
            example[at] = u8::try_from(random(256)).expect("a byte");
        }
        example.truncate(1 + random(example.len() * 2));
        let _ = rule(Part::new(START, &example), header, FUNCTION + random(200));
    }
    for address in [0, 1, START, START + 1, usize::MAX, usize::MAX - 3] {
        let part = Part::new(START, &[0; 64]);
        assert_eq!(rule(part, address, FUNCTION), None);
        assert!(entry::read(part, address).is_none());
    }
}
