
pub mod certify;
mod pieces;

mod direct;
pub use direct::DirectHeap;
