//! Vectors as slots in byte objects of a heap. The only module with `unsafe`.

mod ahead;
mod check;
mod demand;
mod elements;
mod groups;
mod many;
mod room;
mod slices;

pub(crate) use ahead::Ahead;
pub use elements::Vec;
pub(crate) use slices::Run;
pub use slices::{Slices, SlicesMut};
