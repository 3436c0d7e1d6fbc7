//! What the borrow checker forbids: programs that must not compile, with the reason.
//!
//! Each program is a few lines long, so that its message names little more than the misuse.
//! `TRYBUILD=overwrite cargo test --test misuse` writes the messages again after a change of
//! compiler.

#[test]
fn misuse_does_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
