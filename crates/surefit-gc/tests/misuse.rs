//! What the safe interface forbids: programs that must not compile, with the compiler's message.
//!
//! Each program has a few lines, so that the message names little but the misuse. After a change of
//! compiler, `TRYBUILD=overwrite cargo test -p surefit-gc --test misuse` updates the messages.

#[test]
fn misuse_does_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
