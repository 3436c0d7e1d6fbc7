//! A map whose entries are in the order of their last use.

mod cache;
mod change;
mod check;
mod demand;
mod keyed;
mod list;

pub use cache::LruCache;
