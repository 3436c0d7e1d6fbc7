//! One size-class with moves in flight, section by section, without memory: its pages are numbers.
//!
//! | module | holds |
//! | --- | --- |
//! | [`ours`] | the pages of `surefit_compact`'s shared heaps, on `automaton::incremental` |
//! | [`papers`] | the incremental automaton of the papers, as pure functions, and its pages |
//!
//! Both are a [`SizeClass`]: what may happen next, what it leads to, and what must be true of every
//! state. So the same checker exhausts both (`tests/it/incremental.rs` of surefit-classes), and the
//! same experiments draw both and compare their transient fragmentation.
//!
//! No heap uses this crate. The papers' automaton stands here, and not in surefit-classes, because
//! no heap of surefit runs it.

pub mod ours;
pub mod papers;
mod size_class;

pub use size_class::{Label, Measured, Simulated, SizeClass};
