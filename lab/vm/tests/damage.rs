//! Damaged class files: whatever the machine makes of them, it neither panics nor runs for ever,
//! and the heap is sound afterwards.

use std::collections::HashMap;
use std::fs;
use std::io::sink;
use std::mem::MaybeUninit;
use std::path::Path;

use proptest::prelude::{ProptestConfig, any, proptest};
use proptest::sample::Index;
use surefit_clients::lists::{Finds, Lists, MERGES};
use surefit_vm::{Call, Collecting, Program, Refusal, Space, run};

const MAINS: [&str; 12] = [
    "Arrays2",
    "Dispatch",
    "Exceptions",
    "Initialisation",
    "Interned",
    "Memory",
    "Names",
    "OddCollections",
    "OddTexts",
    "Texts",
    "Threads",
    "Weak",
];

fn class(name: &str) -> Vec<u8> {
    let jar = Path::new(env!("CARGO_MANIFEST_DIR")).join("java/programs.jar");
    let program = Program::open(&jar).expect("a jar");
    program.class(name).expect("a class").into_owned()
}

/// A class in which another one, of a name as long, stands for one of its own.
fn renamed(name: &str, own: &str, other: &str) -> Vec<u8> {
    let mut bytes = class(name);
    let mut places = bytes.windows(own.len());
    let at = places.position(|bytes| bytes == own.as_bytes());
    let at = at.expect("its name");
    bytes[at..at + own.len()].copy_from_slice(other.as_bytes());
    bytes
}

/// Runs a class alone, for a while.
fn run_alone(name: &str, bytes: Vec<u8>) -> Result<i32, Refusal> {
    run_classes(name, HashMap::from([(name.to_owned(), bytes)]))
}

/// Runs the first of some classes, for a while.
fn run_classes(name: &str, classes: HashMap<String, Vec<u8>>) -> Result<i32, Refusal> {
    let program = Program::of_classes(classes);
    let space = Space::Segregated(Lists::usual(Finds::Bitmap, MERGES[2]));
    let call = Call {
        program: &program,
        main: name,
        arguments: &[],
        space: &space,
        collecting: Collecting::AtOnce,
        steps: 100_000,
    };
    let mut region = vec![MaybeUninit::uninit(); 512 << 10];
    run(&call, &mut region, &mut sink(), &mut sink()).map(|ran| ran.status)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn changed_bytes_end_in_an_answer(
        main in 0..MAINS.len(),
        edits in proptest::collection::vec((any::<Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = class(MAINS[main]);
        for (at, byte) in edits {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let _ = run_alone(MAINS[main], bytes);
    }
}

/// Code that javac does not write: it enters a monitor, and only drops the object then.
#[test]
fn a_thread_leaves_its_monitors_when_it_ends() {
    const ALOAD_1: u8 = 0x2B;
    const MONITOREXIT: u8 = 0xC3;
    const GOTO: u8 = 0xA7;
    const POP: u8 = 0x57;
    let name = |of: &str| format!("Entered{of}");
    let mut holder = class("Entered$Holder");
    let mut places = holder.windows(3);
    let at = places.position(|bytes| bytes == [ALOAD_1, MONITOREXIT, GOTO]);
    holder[at.expect("it leaves the monitor") + 1] = POP;
    let classes = [(name(""), class("Entered")), (name("$Holder"), holder)];
    let ran = run_classes("Entered", HashMap::from(classes));
    assert_eq!(ran.expect("the other thread enters it"), 0);
}

/// Code that javac does not write: a weak reference forgets its entry, and takes another one.
#[test]
fn weak_references_take_no_more_room_than_the_heap() {
    let refilled = renamed(
        "Refilled",
        "Refilled$StandReference",
        "java/lang/ref/Reference",
    );
    let status = run_alone("Refilled", refilled).expect("an error is thrown");
    assert_eq!(status, 1);
}

/// Code that javac does not write: an interned string gets another text, and is interned again.
#[test]
fn interned_strings_take_no_more_room_than_the_heap() {
    let reused = renamed("Reused", "Reused$StandInOf", "java/lang/String");
    let status = run_alone("Reused", reused).expect("an error is thrown");
    assert_eq!(status, 1);
}

#[test]
fn a_class_that_is_cut_short_is_damaged() {
    let bytes = class("Exceptions");
    for len in (0..bytes.len()).step_by(7) {
        let refused = run_alone("Exceptions", bytes[..len].to_vec());
        let refused = refused.expect_err("it is cut short").to_string();
        assert!(refused.starts_with("class Exceptions: "), "{refused}");
    }
}

#[test]
fn a_class_of_a_folder_that_cannot_be_read_is_not_missing() {
    let folder = std::env::temp_dir().join(format!("surefit-vm-damage-{}", std::process::id()));
    fs::create_dir_all(folder.join("Is\nFolder.class")).expect("a folder");
    let large = fs::File::create(folder.join("Large.class")).expect("a file");
    large.set_len((1 << 24) + 1).expect("a file with a hole");
    let program = Program::open(&folder).expect("a folder");
    let refused = |name| program.class(name).expect_err("it cannot be read");
    let (missing, is_folder, large) = (refused("None"), refused("Is\nFolder"), refused("Large"));
    fs::remove_dir_all(&folder).expect("it was made above");
    assert!(matches!(missing, Refusal::Missing(_)), "{missing}");
    assert!(
        matches!(is_folder, Refusal::Unreadable { .. }),
        "{is_folder}"
    );
    assert!(
        is_folder.to_string().contains("Is\\nFolder.class: "),
        "{is_folder}"
    );
    assert!(
        large.to_string().ends_with("Large.class: it is too large"),
        "{large}"
    );
}

#[test]
fn a_name_that_controls_a_terminal_is_one_line() {
    let refused = run_alone("No\n\u{1b}[2J", Vec::new()).expect_err("no class file");
    assert_eq!(
        refused.to_string(),
        "class No\\n\\u{1b}[2J: it ends too early"
    );
}
