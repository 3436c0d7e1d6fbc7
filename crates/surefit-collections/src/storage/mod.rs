//! Vectors as slots in byte objects of a heap: the only module with `unsafe`, beside `short.rs`.

mod ahead;
mod check;
mod demand;
mod elements;
mod groups;
mod many;
mod room;
mod run;
mod slices;

pub(crate) use ahead::Ahead;
pub use elements::Vec;
pub(crate) use run::{FullRun, Run};
pub use slices::{Slices, SlicesMut};
