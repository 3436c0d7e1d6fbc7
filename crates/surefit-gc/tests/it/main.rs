//! The tests of the collectors, as one program.

mod access;
mod arena;
mod arena_ends;
mod attacks;
mod common;
mod compact_fit;
mod ends;
mod exhaustive;
mod exhaustive_compact_fit;
mod judge;
mod no_gc;
mod shapes;
mod survey;
mod traced;
mod words;
