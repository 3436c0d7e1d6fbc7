//! The tests of the heaps of raw pointers, as one program.

mod attacks;
mod defrag_hint;
mod direct;
mod pooled;
mod shared;
mod sizes;
