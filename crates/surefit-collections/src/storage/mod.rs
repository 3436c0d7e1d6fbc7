//! Vectors as slots in byte objects of a heap. The only module with `unsafe`.

mod demand;
mod elements;
mod groups;
mod slices;

pub use elements::Vec;
pub(crate) use slices::Run;
pub use slices::{Slices, SlicesMut};
