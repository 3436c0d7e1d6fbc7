//! ARCHITECTURE.md describes what the code does: each walk-through is performed here, step by step.
//!
//! A walk-through is a numbered list whose steps begin with a name in bold. The test of a
//! walk-through names the same steps in the same order and checks what each of them does. So a
//! change of the code fails the check of a step, and a change of the text alone fails the
//! comparison of the names. What the text cites exists: `citations`. Which words sources use:
//! `words`.
//!
//! The document is read when the tests run. In a packaged crate it is missing; then the
//! walk-throughs are performed all the same, and only the comparisons are left out.

mod allocation;
mod arena;
mod citations;
mod collection;
mod compacting_free;
mod compacting_free_pages;
mod heap;
mod lock;
mod pieces;
mod shared_free;
mod steps;
mod words;
