//! What the safe interfaces forbid: programs that must not compile, with the compiler's message.
//!
//! Each program has a few lines, so that its message names little but the misuse. It lies in
//! `tests/ui` of the crate that forbids it: the folders here are links. After a change of compiler,
//! `TRYBUILD=overwrite cargo test -p surefit-misuse` updates the messages.

/// Compiles the programs of a folder.
fn compile(folder: &str) {
    trybuild::TestCases::new().compile_fail(format!("tests/{folder}/*.rs"));
}

mod compact {
    /// What the borrow checker forbids to who holds handles, keys and guards.
    #[test]
    fn misuse_does_not_compile() {
        super::compile("compact");
    }
}

mod gc {
    /// What brands and traits forbid to who holds references into an arena.
    #[test]
    fn misuse_does_not_compile() {
        super::compile("gc");
    }
}
