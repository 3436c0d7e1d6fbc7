//! The Java machine on class files that are almost sound, and on jars that are none.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::sink;
use std::mem::MaybeUninit;
use std::path::Path;
use std::sync::LazyLock;

use surefit_clients::lists::{Finds, Lists};
use surefit_vm::{Call, Collecting, Program, Space, run as run_program};

/// Programs whose class files are changed.
const MAINS: [&str; 8] = [
    "Arithmetic",
    "Arrays2",
    "Dispatch",
    "Exceptions",
    "Initialisation",
    "Memory",
    "Texts",
    "Compress",
];

static SOUND: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let jar = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lab/vm/java/programs.jar");
    let program = Program::open(&jar).expect("a jar");
    let class = |name: &&str| program.class(name).map(Cow::into_owned);
    MAINS
        .iter()
        .map(|name| class(name).expect("a class"))
        .collect()
});

/// The first byte chooses a class; each three bytes behind it say where a byte is changed, and to
/// what. Nothing panics, no run is endless, and the heap is sound afterwards.
pub fn run(data: &[u8]) {
    let Some((&first, edits)) = data.split_first() else {
        return;
    };
    if first == u8::MAX {
        return as_jar(edits);
    }
    let main = usize::from(first) % MAINS.len();
    let mut class = SOUND[main].clone();
    for edit in edits.chunks_exact(3) {
        let at = usize::from(u16::from_le_bytes([edit[0], edit[1]])) % class.len();
        class[at] = edit[2];
    }
    let program = Program::of_classes(HashMap::from([(MAINS[main].to_owned(), class)]));
    let space = Space::Segregated(Lists::usual(
        Finds::Bitmap,
        surefit_clients::lists::MERGES[2],
    ));
    let call = Call {
        program: &program,
        main: MAINS[main],
        arguments: &[],
        space: &space,
        collecting: Collecting::AtOnce,
        steps: 20_000,
    };
    let mut region = vec![MaybeUninit::uninit(); 256 << 10];
    if let Err(refusal) = run_program(&call, &mut region, &mut sink(), &mut sink()) {
        assert!(!refusal.to_string().contains('\n'), "a refusal is one line");
    }
}

fn as_jar(bytes: &[u8]) {
    if let Ok(program) = Program::of_jar(bytes.to_vec()) {
        let _ = program.class("Main");
    }
}
