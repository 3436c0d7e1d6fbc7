//! The papers' incremental automaton: source pages, emptying pages, and several moves in flight.
//!
//! | file | holds |
//! | --- | --- |
//! | `automaton` | the decisions and the bounds, as pure functions of a few numbers |
//! | `class` | pages and moves; allocate, free, step: a section each |
//! | `actions` | what may happen next, and what must be true |
//!
//! # Source
//! Craciunas et al., concurrent and incremental Compact-fit (2008, 2009), and their published
//! program, which decides what the papers leave open: which page a move takes a block from, and
//! what the bound κ counts.

mod actions;
pub mod automaton;
mod class;

pub use actions::Action;
pub use class::{Class, Freed, Order, Rules, Slip, Victim};
