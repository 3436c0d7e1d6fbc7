//! Real recordings of heaptrack, and lines that it does not write.

use surefit_formats::import::{Kind, Notes};
use surefit_trace::{Call, Event, Op};

use crate::{called_from, import, refused, sizes};

const RAW: &[u8] = include_bytes!("recordings/raw.zst");
const RAW_GZIP: &[u8] = include_bytes!("recordings/raw.gz");
const INTERPRETED: &[u8] = include_bytes!("recordings/interpreted.zst");
const INTERPRETED_GZIP: &[u8] = include_bytes!("recordings/interpreted.gz");

#[test]
fn a_raw_recording_has_what_heaptrack_says_of_it() {
    let imported = import(RAW).expect("a recording");
    assert_eq!(
        (imported.name.as_deref(), imported.kind),
        (Some("lists"), Kind::HeaptrackRaw)
    );
    assert_eq!(imported.notes, Notes::default());
    let counts = imported.trace.header().counts;
    assert_eq!((counts.objects, counts.events), (270, 538));
    // heaptrack_print: 78.74K at the peak, 620 B leaked.
    assert_eq!((counts.peak_bytes, counts.live_at_end), (78_742, 2));
    let left: u64 = sizes(imported.trace.events())
        .iter()
        .map(|(begins, size)| if *begins { *size } else { size.wrapping_neg() })
        .fold(0, u64::wrapping_add);
    assert_eq!(left, 620);
}

#[test]
fn however_it_is_packed_it_is_the_same() {
    let raw = import(RAW).expect("a recording").trace;
    assert_eq!(import(RAW_GZIP).expect("a recording").trace, raw);
    let interpreted = import(INTERPRETED).expect("a recording");
    assert_eq!(interpreted.kind, Kind::HeaptrackInterpreted);
    assert_eq!(interpreted.name.as_deref(), Some("lists"));
    assert_eq!(interpreted.notes, Notes::default());
    let gzip = import(INTERPRETED_GZIP).expect("a recording");
    assert_eq!(gzip.trace, interpreted.trace);
    let plain = unpacked(INTERPRETED_GZIP);
    assert_eq!(
        import(&plain).expect("a recording").trace,
        interpreted.trace
    );
    // Which of several objects is freed is not known; which size and when is.
    assert_eq!(sizes(interpreted.trace.events()), sizes(raw.events()));
}

/// The program of the recordings, and places in it as heaptrack_interpret resolves them.
const LISTS: &str = "/src/lists";

#[test]
fn a_raw_recording_keeps_its_call_sites_as_addresses_of_modules() {
    let trace = import(RAW).expect("a recording").trace;
    let libc = "/lib/x86_64-linux-gnu/libc.so.6";
    // The second allocation, from main, from the program's start.
    assert_eq!(
        called_from(&trace, 1),
        [
            format!("? {LISTS} 12bc"),
            format!("? {libc} 27249"),
            format!("? {libc} 27304"),
            format!("? {LISTS} 10d0"),
        ]
    );
    assert_eq!(called_from(&trace, 5), Vec::<String>::new(), "a free");
    // As many lines of stacks are in the file.
    assert_eq!(trace.sites().expect("call sites").len(), 22);
}

#[test]
fn an_interpreted_recording_keeps_its_call_sites_with_names_and_what_is_inlined() {
    let trace = import(INTERPRETED).expect("a recording").trace;
    let frames = called_from(&trace, 1);
    assert_eq!(frames[0], format!("main {LISTS} 557c6f00f2bc"));
    let last = frames.last().map(String::as_str);
    assert_eq!(last, Some("_start /src/lists 557c6f00f0d0"));
    // push is inlined into work, which a thread runs.
    let inlined = called_from(&trace, 4);
    let names: Vec<_> = inlined.iter().map(|it| it.split(' ').next()).collect();
    assert_eq!(names[..2], [Some("push"), Some("work")], "{inlined:?}");
    // Both forms have the same stacks, but for what is inlined.
    let raw = import(RAW).expect("a recording").trace;
    for event in 0..raw.events().len() {
        let known = |trace: &surefit_trace::Trace| trace.stack(event).is_known();
        assert_eq!(known(&raw), known(&trace), "{event}");
    }
}

#[test]
fn lines_of_call_sites_are_read_with_and_without_lengths() {
    let text = "v 10400 3\nx a /bin/named\nm 1 -\nm 1 x 1000 0 100 200 100\nm 7 a b c d 8000 0 100\n\
                m 6 old.so 9000 0 10\nt 1010 0\nt 1205 1\nt 8020 2\nt 9999 0\nt zz 1\n\
                + 1 2 1\n+ 1 3 2\n+ 1 4 3\n+ 1 5 4\n+ 1 ff 5\n";
    let trace = import(text.as_bytes()).expect("a recording").trace;
    let first = ["function_205 /bin/named 205", "function_10 /bin/named 10"];
    assert_eq!(called_from(&trace, 0), first);
    assert_eq!(called_from(&trace, 1)[0], "? a b c d 20");
    assert_eq!(called_from(&trace, 2), ["?  9999"]);
    assert!(called_from(&trace, 3).is_empty() && called_from(&trace, 4).is_empty());
    // After another list of modules the same address is somewhere else.
    let text = "v 10100 1\nx /bin/named\nm x 1000 0 100\nt 1010 0\n+ 1 1 1\nm -\nm /lib/l.so 1000 0 100\n\
                t 1010 0\n+ 1 2 2\n";
    let trace = import(text.as_bytes()).expect("a recording").trace;
    assert_eq!(called_from(&trace, 0), ["function_10 /bin/named 10"]);
    assert_eq!(called_from(&trace, 1), ["? /lib/l.so 10"]);
    let text = "v 10400 3\ns 3 mod\ns f()\ni 7 1 2 2 5 9 2 6\ni 8 1\ni 9\nt 1 0\nt 2 1\nt 3 0\nt 4 0\n\
                a 1 1\na 1 2\na 1 3\na 1 4\n+ 0\n+ 1\n+ 2\n+ 3\n";
    let trace = import(text.as_bytes()).expect("a recording").trace;
    assert_eq!(called_from(&trace, 0), ["f() mod 7", "? mod 7"]);
    assert_eq!(called_from(&trace, 1), ["? mod 8", "f() mod 7", "? mod 7"]);
    assert_eq!(called_from(&trace, 2), ["?  9"]);
    assert!(called_from(&trace, 3).is_empty());
}

#[test]
fn the_programs_name_is_whole_whatever_blanks_it_and_its_folders_have() {
    let of = |lines: &str| {
        let text = format!("v 10400 3\n{lines}\n+ 1 0 1\n");
        import(text.as_bytes()).expect("a recording").name
    };
    for (file, command, name) in [
        (
            "/t/dir with space/my prog",
            "./dir with space/my prog",
            "my prog",
        ),
        (
            "/t/dir with space/my prog",
            "dir with space/my prog a b",
            "my prog",
        ),
        (
            "/t/dir with space/prog",
            "../dir with space/prog /x",
            "prog",
        ),
        ("/t/dir with space/prog", "/t/dir with space/prog", "prog"),
        ("/usr/bin/my prog", "my prog -v", "my prog"),
        ("/t/my", "./my prog", "my"),
        (
            "/usr/bin/python3.11",
            "python3 /usr/bin/python3.11",
            "python3",
        ),
        ("/t/prog", "", "prog"),
        ("/t/a b", "a b a b", "a b"),
        // A link of another name.
        ("/t/two words", "o words", "o"),
    ] {
        let [file_line, command_line] =
            [format!("x {:x} {file}", file.len()), format!("X {command}")];
        assert_eq!(
            of(&format!("{file_line}\n{command_line}")).as_deref(),
            Some(name),
            "{command}"
        );
        assert_eq!(
            of(&format!("{command_line}\n{file_line}")).as_deref(),
            Some(name),
            "{command}"
        );
        let before = format!("x {file}\n{command_line}");
        assert_eq!(of(&before).as_deref(), Some(name), "{command}, no length");
    }
    // Interpreted: the file is one of the strings.
    let of = |command: &str| {
        let text = format!(
            "v 10400 3\nX {command}\ns b /lib/a b.so\ns 19 /t/dir with space/my prog\ns 6 /t/one\na 1 0\n+ 0\n"
        );
        import(text.as_bytes()).expect("a recording").name
    };
    assert_eq!(of("./dir with space/my prog x").as_deref(), Some("my prog"));
    assert_eq!(of("./one my prog").as_deref(), Some("one"));
}

fn unpacked(gzip: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    let mut decoder = flate2::read::GzDecoder::new(gzip);
    std::io::Read::read_to_end(&mut decoder, &mut plain).expect("a sound file");
    plain
}

#[test]
fn every_cut_is_said_and_what_came_before_is_kept() {
    // Longer than the blocks of a packed file, which are unpacked one by one.
    let lines = (1..20_000).map(|n| format!("+ {:x} 1 {:x}\n", n % 1000, n * 4096));
    let plain = format!("v 10400 3\n{}", lines.collect::<String>()).into_bytes();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, &plain).expect("memory");
    let gzip = gzip.finish().expect("memory");
    let zstd = surefit_trace::graph::compressed(&plain, 1).expect("memory");
    let whole = import(&plain).expect("a recording").trace;
    for packed in [&plain, &gzip, &zstd] {
        assert_eq!(import(packed).expect("a recording").trace, whole);
        let mut longest = 0;
        for part in 1..12 {
            let cut = packed.len() * part / 12;
            let imported = match import(&packed[..cut]) {
                Ok(imported) => imported,
                Err(error) => {
                    assert!(error.to_string().contains("cut short"), "{error}");
                    continue;
                }
            };
            let events = imported.trace.events();
            assert!(whole.events().starts_with(events));
            // A cut between two lines of a plain file is none that anybody could see.
            let is_seen = packed[..cut].last() != Some(&b'\n');
            assert_eq!(imported.notes.is_cut, is_seen, "{cut} of {}", packed.len());
            longest = longest.max(events.len());
        }
        assert!(longest > 10_000);
    }
    assert!(refused(&RAW[..RAW.len() / 2]).contains("cut short"));
}

#[test]
fn damage_inside_a_packed_file_is_refused_or_said() {
    for packed in [RAW, RAW_GZIP] {
        for place in (0..packed.len()).step_by(11) {
            let mut bytes = packed.to_vec();
            bytes[place] ^= 0x10;
            // Whatever comes out is sound; and never as if nothing had happened, but for bits that
            // the packed form does not check: the date and the name in its header.
            let same = import(&bytes).is_ok_and(|it| !it.notes.is_cut);
            assert!(!same || place < 12, "{place} of {}", packed.len());
        }
    }
}

fn events(lines: &str) -> (Vec<Event>, Notes) {
    let text = format!("v 10400 3\n{lines}");
    let imported = import(text.as_bytes()).expect("a recording");
    (imported.trace.events().to_vec(), imported.notes)
}

fn alloc(id: u32, size: u64) -> Op {
    let call = Call::Malloc;
    Op::Alloc { id, size, call }
}

fn on_one_thread(ops: &[Op]) -> Vec<Event> {
    ops.iter().map(|op| Event::new(0, *op)).collect()
}

#[test]
fn of_two_objects_at_an_address_the_first_is_freed_first() {
    let (found, notes) = events("+ a 1 ff\n+ 14 1 ff\n- ff\n- ff\n- ff\n+ 0 0 ff\n");
    let expected = [
        alloc(0, 10),
        alloc(1, 20),
        Op::Free { id: 0 },
        Op::Free { id: 1 },
        alloc(2, 0),
    ];
    assert_eq!(found, on_one_thread(&expected));
    assert_eq!((notes.unknown_frees, notes.overlapping), (1, 1));
}

#[test]
fn an_interpreted_free_takes_the_oldest_of_its_kind() {
    let (found, notes) = events("a 8 1\n+ 0\n+ 0\na 9 1\n+ 1\n- 0\n- 1\n- 0\n- 0\n");
    let frees = [Op::Free { id: 0 }, Op::Free { id: 2 }, Op::Free { id: 1 }];
    let allocs = [alloc(0, 8), alloc(1, 8), alloc(2, 9)];
    assert_eq!(found, on_one_thread(&[&allocs[..], &frees].concat()));
    assert_eq!((notes.unknown_frees, notes.overlapping), (1, 0));
}

#[test]
fn an_attached_recording_says_so_and_a_name_may_have_no_length() {
    let text = "v 10100 1\nx /usr/bin/old one\nA\n- 1\n+ 1 1 1\n";
    let imported = import(text.as_bytes()).expect("a recording");
    assert_eq!(imported.name.as_deref(), Some("old one"));
    assert!(imported.notes.is_attached);
    assert_eq!(imported.notes.unknown_frees, 1);
    let text = b"v 10400 3\nx f /bin/check-tool\nX /bin/tool -l /etc\n+ 1 1 1\n";
    let called = import(text).expect("a recording");
    assert_eq!(called.name.as_deref(), Some("tool"));
    let named = import(b"v 10400 3\nX /bin/ls -l /etc\n").expect("a recording without events");
    assert_eq!(named.name.as_deref(), Some("ls"));
}

#[test]
fn what_heaptrack_does_not_write_is_refused_with_its_line() {
    let refuse = |lines: &str, says: &str| {
        let error = refused(format!("v 10400 3\n{lines}\n").as_bytes());
        assert!(error.contains(says), "{lines}: {error}");
    };
    refuse("+ 1 1", "line 2: should be `+` and one number or three");
    refuse("+ 1 1 x", "line 2: should be `+`");
    refuse("- ", "line 2: should be `-`");
    refuse("# ok\na 1", "line 3: should be `a` and two numbers");
    refuse("+ 0", "line 2: allocates an unknown size");
    refuse("+ 100000000000001 1 1", "line 2: allocates an unknown size");
    refuse("a 1 1\n+ 0\n+ 1 1 1", "line 4: is of a raw recording");
    refuse("Q", "line 2: begins with a letter");
    refuse("\u{e9}", "line 2: begins with a letter");
    let long = "s ".repeat(1 << 20);
    refuse(&long, "line 2: is longer than 1 MiB");
    assert!(refused(b"v 20000 4\n").contains("version 4 of heaptrack's format"));
    assert!(refused(b"v x\n").contains("line 1: should be `v`"));
    assert!(refused(b"v 1").contains("line 1: is cut short"));
}

#[test]
fn what_is_no_recording_is_refused() {
    assert!(refused(b"").contains("is empty"));
    assert!(refused(b"SFT1\x01").contains("is a trace of surefit already"));
    let packed = surefit_trace::Trace::new("x", Vec::new()).expect("sound");
    let mut bytes = Vec::new();
    packed
        .write_compressed(&mut bytes, 1, |_| {})
        .expect("memory");
    assert!(refused(&bytes).contains("is a trace of surefit already"));
    assert!(refused(b"event,thread\n0,0\n").contains("neither a recording of heaptrack nor"));
    assert!(refused(&[0x7e; 1000]).contains("0 sound frames among 0"));
    assert!(refused(&[0x1f, 0x8b]).contains("was cut short"));
}
