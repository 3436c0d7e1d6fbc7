//! Vectors as slots in byte objects of a heap. The only module with `unsafe`.

mod check;
mod demand;
mod elements;
mod groups;
mod room;
mod slices;

pub use elements::Vec;
pub(crate) use slices::Run;
pub use slices::{Slices, SlicesMut};
