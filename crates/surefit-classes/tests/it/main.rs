//! The tests of the size-classes, as one program.

mod attacks;
mod automaton;
mod geometry;
mod incremental;
mod sizes;
