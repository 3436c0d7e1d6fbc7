//! What the safe face forbids: programs that must not compile, with the reason why not.
//!
//! Each is a few lines, so that its message names the misuse and little else. `TRYBUILD=overwrite cargo test -p surefit-gc
//! --test misuse` writes the messages anew after a change of compiler.

#[test]
fn misuse_does_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
