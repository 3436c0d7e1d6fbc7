//! The tests of the free lists, as one program.

mod attacks;
mod bounds;
mod buddy;
mod bump_chunk;
mod double_free;
mod jamaica;
mod limits;
mod segregated;
mod shadow;
mod sweep;
