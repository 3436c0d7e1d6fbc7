//! What the safe interfaces forbid: programs that must not compile, with the compiler's message.
//!
//! Each program has a few lines, so that its message names little but the misuse. It lies in
//! `tests/ui` of the crate that forbids it: the folders here are links. After a change of compiler,
//! `TRYBUILD=overwrite cargo test -p surefit-misuse` updates the messages.

/// Compiles the programs of a folder, of which there are at least so many: a link that leads
/// nowhere would leave none.
fn compile(folder: &str, least: usize) {
    let entries = std::fs::read_dir(format!("tests/{folder}")).expect("a folder of programs");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let programs = names.filter(|name| name.to_string_lossy().ends_with(".rs"));
    let count = programs.count();
    assert!(count >= least, "{count} programs in {folder}");
    trybuild::TestCases::new().compile_fail(format!("tests/{folder}/*.rs"));
}

mod collections {
    /// What the derive forbids to who owns objects in a container.
    #[test]
    fn misuse_does_not_compile() {
        super::compile("collections", 4);
    }
}

mod compact {
    /// What the borrow checker forbids to who holds handles, keys and guards.
    #[test]
    fn misuse_does_not_compile() {
        super::compile("compact", 62);
    }
}

mod gc {
    /// What brands and traits forbid to who holds references into an arena.
    #[test]
    fn misuse_does_not_compile() {
        super::compile("gc", 60);
    }
}
