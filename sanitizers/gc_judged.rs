//! The tests of the collectors that share a judge, and those at the limits of arenas: one program.

#[path = "../crates/surefit-gc/tests/it/access.rs"]
mod access;
#[path = "../crates/surefit-gc/tests/it/arena_ends.rs"]
mod arena_ends;
#[path = "../crates/surefit-gc/tests/it/common/mod.rs"]
mod common;
#[path = "../crates/surefit-gc/tests/it/compact_fit.rs"]
mod compact_fit;
#[path = "../crates/surefit-gc/tests/it/ends.rs"]
mod ends;
#[path = "../crates/surefit-gc/tests/it/shapes.rs"]
mod shapes;
